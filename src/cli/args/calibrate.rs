//! Arguments of `calibrate`.

use std::path::PathBuf;

use super::Format;
use super::plot::text_file;

/// Measure machine parameters on the simulator and on a GPU
///
/// Run small programs that each measure one property of a machine, on the simulator and on the GPU,
/// and print both figures. Without a GPU, the measured column has the figures of an H200. Exit
/// codes: 0 all within tolerance; 1 a simulated figure is outside of its tolerance; 2 usage, or the
/// driver refuses a kernel.
#[derive(clap::Args, Debug)]
pub(crate) struct CalibrateArgs {
    /// The experiments, by name or prefix: `mad` runs all that begin with mad [default: all]
    pub(crate) names: Vec<String>,
    /// Simulate a preset or a machine file
    #[arg(long, value_name = "NAME|FILE.ron", default_value = "h200")]
    pub(crate) machine: String,
    /// List the experiments
    #[arg(long, conflicts_with_all = ["names", "format", "record", "recorded"])]
    pub(crate) list: bool,
    /// Record the figures of the GPU in this file; keep its figures of other experiments
    #[arg(long, value_name = "FILE.ron", conflicts_with = "recorded")]
    pub(crate) record: Option<PathBuf>,
    /// Compare with the figures of this file instead of a GPU
    #[arg(long, value_name = "FILE.ron")]
    pub(crate) recorded: Option<PathBuf>,
    /// Date the record [default: today]
    #[arg(long, value_name = "YYYY-MM-DD", requires = "record")]
    pub(crate) date: Option<String>,
    /// Stop a kernel on the GPU after S seconds
    #[arg(long, value_name = "S", default_value_t = 10)]
    pub(crate) timeout: u64,
    /// Choose the format of the result
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub(crate) format: Format,
    /// Write the result to FILE instead of standard output
    #[arg(long, short, value_name = "FILE", value_parser = text_file())]
    pub(crate) output: Option<PathBuf>,
}
