//! Arguments of `calibrate`.

use std::path::PathBuf;

use super::Format;

/// Runs small programs that each measure one property of a machine, on the simulator and, where there is one, on the GPU, and prints
/// both figures. Without a GPU the measured column is what an H200 did. Exit codes: 0; 1 a simulated figure is farther from the
/// measured one than its tolerance; 2 usage, or a refusal of the driver.
#[derive(clap::Args, Debug)]
pub(crate) struct CalibrateArgs {
    /// The experiments; without a name, all. `mad` means all whose names begin so
    pub(crate) names: Vec<String>,
    /// A preset or a machine file
    #[arg(long, value_name = "NAME|FILE.ron", default_value = "h200")]
    pub(crate) machine: String,
    /// List the experiments and run none
    #[arg(long, conflicts_with_all = ["names", "format", "record", "recorded"])]
    pub(crate) list: bool,
    /// Write what the GPU did into this file; figures of other experiments that are there stay
    #[arg(long, value_name = "FILE.ron", conflicts_with = "recorded")]
    pub(crate) record: Option<PathBuf>,
    /// Compare with the figures of this file, and run nothing on a GPU
    #[arg(long, value_name = "FILE.ron")]
    pub(crate) recorded: Option<PathBuf>,
    /// The day to write into a record [default: today]
    #[arg(long, value_name = "YYYY-MM-DD", requires = "record")]
    pub(crate) date: Option<String>,
    /// Seconds that a kernel may take on the GPU
    #[arg(long, value_name = "S", default_value_t = 10)]
    pub(crate) timeout: u64,
    /// How to print the result
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub(crate) format: Format,
}
