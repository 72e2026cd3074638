//! What can be typed behind `simt-sim step`.

use super::ProgramChoice;

/// Steps through a run, forward and back, in the terminal. The SM of one block is simulated; all SMs where blocks can
/// communicate. Press ? for the keys.
#[derive(clap::Args, Debug)]
pub(crate) struct StepArgs {
    #[command(flatten)]
    pub(crate) program: ProgramChoice,
    /// The block to look at first, by its linear index in the grid
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) block_id: u32,
    /// The warp of the block to look at first
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) warp: u32,
    /// Press these keys and print the screen that they lead to, as in "10n d l63;" (; is the enter key); needs no terminal
    #[arg(long, value_name = "KEYS")]
    pub(crate) script: Option<String>,
    /// Columns and rows of the screen that --script prints
    #[arg(long, value_name = "CxR", default_value = "100x30", requires = "script")]
    pub(crate) size: String,
}
