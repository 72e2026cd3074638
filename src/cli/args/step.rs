//! Arguments of `simt-sim step`.

use super::ProgramChoice;

/// Step through a run in the terminal, forward and backward
///
/// Step through a run in the terminal. Only the SM of one block is simulated; if blocks can
/// communicate, all SMs are. Press ? for the keys.
#[derive(clap::Args, Debug)]
pub(crate) struct StepArgs {
    #[command(flatten)]
    pub(crate) program: ProgramChoice,
    /// Show this block first, by its linear index in the grid
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) block_id: u32,
    /// Show this warp of the block first
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) warp: u32,
    /// Press these keys and print the resulting screen, as in "10n d l63;" (; is the enter key); no
    /// terminal needed
    #[arg(long, value_name = "KEYS")]
    pub(crate) script: Option<String>,
    /// Set the columns and rows of the screen that --script prints
    #[arg(long, value_name = "CxR", default_value = "100x30", requires = "script")]
    pub(crate) size: String,
}
