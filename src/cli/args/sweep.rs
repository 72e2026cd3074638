//! Arguments of `simt-sim sweep`.

use std::path::PathBuf;

use simt_teach::sweep::{Shard, Step};

use super::plot::picture_name;
use super::{Data, LaunchChoice, LimitChoice, MachineChoice};

/// Runs a program once for each combination of values. A name is a constant of the program, as for --set, or one of mode, machine,
/// warp-size, lowering, its-order, grid, block (sizes as in 32x2) where the program has no constant of that name.
#[derive(clap::Args, Debug)]
pub(crate) struct SweepArgs {
    /// The program: an .ir or .ptx file
    #[arg(required_unless_present = "merge")]
    pub(crate) file: Option<PathBuf>,
    /// Sweep a name over the numbers from FROM to TO
    #[arg(short = 'P', long = "scan", num_args = 3, value_names = ["NAME", "FROM", "TO"], allow_negative_numbers = true)]
    pub(crate) scan: Vec<String>,
    /// From one number to the next: N adds, xN multiplies [default: 1]; given again for the next -P
    #[arg(short = 'D', long = "step", value_name = "STEP", requires = "scan", allow_negative_numbers = true)]
    pub(crate) step: Vec<Step>,
    /// Sweep a name over these values
    #[arg(short = 'L', long = "list", num_args = 2, value_names = ["NAME", "VALUES"], allow_negative_numbers = true)]
    pub(crate) list: Vec<String>,
    /// The kernel to run, when the file has several
    #[arg(long, value_name = "NAME")]
    pub(crate) kernel: Option<String>,
    #[command(flatten)]
    pub(crate) machine: MachineChoice,
    #[command(flatten)]
    pub(crate) launch: LaunchChoice,
    #[command(flatten)]
    pub(crate) limit: LimitChoice,
    /// Runs at a time [default: as many as the host has threads for]; figures do not depend on it
    #[arg(long, short, value_name = "N", default_value_t = 0, hide_default_value = true)]
    pub(crate) jobs: usize,
    /// Keep every result here, a line of JSON each; a point that is there already is not run again
    #[arg(long, value_name = "FILE.jsonl")]
    pub(crate) out: Option<PathBuf>,
    /// Run also what --out has from another text, machine or option, and replace it
    #[arg(long, requires = "out", conflicts_with = "merge")]
    pub(crate) replace: bool,
    /// Run only part I of N equal parts, 1 to N: for the jobs of an array, each with its own --out
    #[arg(long, value_name = "I/N", conflicts_with = "merge")]
    pub(crate) shard: Option<Shard>,
    /// Run nothing: put the results of these files together (into --out, where given)
    #[arg(long, value_name = "FILE.jsonl", num_args = 1.., conflicts_with_all = ["file", "scan", "list", "set", "mode", "machine"])]
    pub(crate) merge: Vec<PathBuf>,
    /// The metrics to show, comma-separated, by nvprof or Nsight Compute name
    #[arg(
        long,
        value_name = "NAMES",
        value_delimiter = ',',
        default_value = "elapsed_cycles,divergent_branch,warp_execution_efficiency"
    )]
    pub(crate) metrics: Vec<String>,
    /// Print comma-separated values instead of the table
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(crate) data: Option<Data>,
    /// Draw the first of --metrics: a name that ends in .svg or .png
    #[arg(long, value_name = "FILE", value_parser = picture_name)]
    pub(crate) plot: Option<PathBuf>,
    /// The swept name that runs along the picture [default: the one with the most numbers]
    #[arg(long, value_name = "NAME", requires = "plot")]
    pub(crate) x: Option<String>,
}
