//! Arguments of `simt-sim sweep`.

use std::path::PathBuf;

use simt_teach::sweep::{Shard, Step};

use super::plot::{picture_name, text_file};
use super::{
    ArrayChoice, LaunchChoice, LimitChoice, MachineChoice, RowFormat, SassChoice, TimingArg,
};

/// Run a program for each combination of values; tabulate, record and draw the results
///
/// Run a program once for each combination of values. A swept NAME is a constant of the program, as
/// for --set; a field of the machine file, as in machine.l1.bytes; or one of mode, machine,
/// warp-size, lowering, its-order, grid, block (sizes as in 32x2) if the program has no constant of
/// that name.
#[derive(clap::Args, Debug)]
pub(crate) struct SweepArgs {
    /// The program: an .ir, .ptx, .sass, .cubin or .cu file, or - for standard input
    #[arg(required_unless_present = "merge")]
    pub(crate) file: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) sass: SassChoice,
    /// Sweep NAME over the numbers FROM to TO, or over a list: -P NAME=VALUE,VALUE
    #[arg(
        short = 'P',
        long = "scan",
        num_args = 3,
        value_names = ["NAME", "FROM", "TO"],
        allow_negative_numbers = true
    )]
    pub(crate) scan: Vec<String>,
    /// Lists of -P, moved here by [`crate::cli::typed`]
    #[arg(long = "list", hide = true, value_name = "NAME=VALUES")]
    pub(crate) list: Vec<String>,
    /// Step from one number to the next: N adds, xN multiplies [default: 1]; repeat for the next -P
    #[arg(
        short = 'D',
        long = "step",
        value_name = "STEP",
        requires = "scan",
        allow_negative_numbers = true
    )]
    pub(crate) step: Vec<Step>,
    /// Choose the kernel of a file that has several
    #[arg(long, value_name = "NAME")]
    pub(crate) kernel: Option<String>,
    #[command(flatten)]
    pub(crate) machine: MachineChoice,
    #[command(flatten)]
    pub(crate) launch: LaunchChoice,
    #[command(flatten)]
    pub(crate) limit: LimitChoice,
    /// Model time, or count only [default: cycles]
    #[arg(long, value_enum, conflicts_with = "merge")]
    pub(crate) timing: Option<TimingArg>,
    /// Run N points at a time [default: all host threads]; figures depend on N only where blocks
    /// race through plain loads and stores
    #[arg(long, short, value_name = "N", default_value_t = 0, hide_default_value = true)]
    pub(crate) jobs: usize,
    /// Record every result in FILE, one line of JSON each, and skip points that FILE has already
    #[arg(long, value_name = "FILE.jsonl")]
    pub(crate) results: Option<PathBuf>,
    /// Rerun and replace points that --results has from another text, machine or option
    #[arg(long, requires = "results", conflicts_with_all = ["merge", "slurm"])]
    pub(crate) replace: bool,
    /// Run only part I of N equal parts, 1 to N, for jobs of an array with separate --results
    #[arg(long, value_name = "I/N", conflicts_with = "merge")]
    pub(crate) shard: Option<Shard>,
    /// Merge the results of these files (into --results, if given) and run nothing
    #[arg(
        long,
        value_name = "FILE.jsonl",
        num_args = 1..,
        conflicts_with_all = ["file", "scan", "list", "set", "mode", "machine"]
    )]
    pub(crate) merge: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) array: ArrayChoice,
    /// Show these metrics, comma-separated, by nvprof or Nsight Compute name
    #[arg(
        long,
        value_name = "NAMES",
        value_delimiter = ',',
        default_value = "elapsed_cycles,divergent_branch,warp_execution_efficiency",
        default_value_if(
            "timing",
            "off",
            "inst_executed,divergent_branch,warp_execution_efficiency"
        )
    )]
    pub(crate) metrics: Vec<String>,
    /// Choose the format of the table
    #[arg(long, value_enum, default_value_t = RowFormat::Text)]
    pub(crate) format: RowFormat,
    /// Write the table to FILE instead of standard output
    #[arg(long, short, value_name = "FILE", value_parser = text_file())]
    pub(crate) output: Option<PathBuf>,
    /// Draw the first of --metrics to FILE, ending in .svg or .png
    #[arg(long, value_name = "FILE", value_parser = picture_name)]
    pub(crate) plot: Option<PathBuf>,
    /// Draw over this swept name [default: the one with the most numbers]
    #[arg(long, value_name = "NAME", requires = "plot")]
    pub(crate) x: Option<String>,
}
