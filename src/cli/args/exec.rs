//! Arguments of `simt-sim exec`.

use std::ffi::OsString;
use std::path::PathBuf;

use super::checks::CheckList;
use super::plot::text_file;
use super::{MachineChoice, PictureFile, TimingArg};

/// Run a program whose CUDA calls go to the simulator, and print its launches
///
/// Start any program (an executable, python, pytest, jupyter lab) with a CUDA driver whose GPU is
/// the simulator. The program needs no change: whatever loads `libcuda.so.1` finds ours. After the
/// run, print one row for each launch to standard error. The exit code is that of the program.
/// exec is no sandbox: the program runs with your rights.
#[derive(clap::Args, Debug)]
pub(crate) struct ExecArgs {
    /// Print these metrics of each launch, comma-separated, by nvprof or Nsight Compute name
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(crate) metrics: Vec<String>,
    #[command(flatten)]
    pub(crate) machine: MachineChoice,
    /// Model time, or count only; events then measure no kernel [default: cycles]
    #[arg(long, value_enum)]
    pub(crate) timing: Option<TimingArg>,
    /// Claim a compute capability [default: the machine's, 7.5 or later]
    #[arg(long, value_name = "sm_NN", value_parser = architecture)]
    pub(crate) arch: Option<String>,
    /// Run machine code where a program has both it and PTX; volta mode only [default: PTX]
    #[arg(long)]
    pub(crate) sass: bool,
    #[command(flatten)]
    pub(crate) list: CheckList,
    /// Print comma-separated values with a subset of the columns of `ncu --csv`
    #[arg(long, conflicts_with = "json")]
    pub(crate) csv: bool,
    /// Print JSON: a line for each launch, with its whole report
    #[arg(long)]
    pub(crate) json: bool,
    /// Write a page for each launch, and an index, to DIR
    #[arg(long, value_name = "DIR")]
    pub(crate) html: Option<PathBuf>,
    /// Draw a launch: KIND as in `simt-sim plot`, FILE ending in .svg or .png
    #[arg(long, value_name = "KIND=FILE", value_parser = PictureFile::parse)]
    pub(crate) plot: Vec<PictureFile>,
    /// Choose the launch for --html and --plot by its number [default: all for --html, 1 for
    /// --plot]
    #[arg(long, value_name = "N")]
    pub(crate) launch: Option<u64>,
    /// Write the rows to FILE instead of standard error
    #[arg(long, short, value_name = "FILE", value_parser = text_file())]
    pub(crate) output: Option<PathBuf>,
    /// Print no rows
    #[arg(long, short)]
    pub(crate) quiet: bool,
    /// Simulate SMs on N host threads [default: 0, all]
    #[arg(long, short, value_name = "N", default_value_t = 0, hide_default_value = true)]
    pub(crate) jobs: usize,
    /// Give the virtual GPU so much memory [default: 16]
    #[arg(long, value_name = "GIB")]
    pub(crate) max_memory: Option<u64>,
    /// Give a launch up after N cycles [default: 100000000000]
    #[arg(long, value_name = "N")]
    pub(crate) max_cycles: Option<u64>,
    /// Write the libraries to DIR and run nothing, for a process that loads them by itself
    #[arg(long, value_name = "DIR", conflicts_with = "program")]
    pub(crate) place: Option<PathBuf>,
    /// The program and its arguments
    #[arg(required_unless_present = "place", trailing_var_arg = true, value_name = "PROGRAM")]
    pub(crate) program: Vec<OsString>,
}

/// Checks the name of an architecture as the driver does.
fn architecture(text: &str) -> Result<String, String> {
    let digits = text.trim_start_matches("sm_").trim_start_matches("compute_");
    let known = digits.parse::<u32>().is_ok_and(|number| (50..=150).contains(&number));
    if known { Ok(text.to_owned()) } else { Err("expected sm_50 to sm_150".to_owned()) }
}
