//! Arguments of `timeline`, and the window of a run.

use std::path::PathBuf;

use clap::ValueEnum;

use super::plot::text_file;
use super::{ProgramChoice, RowFormat};

/// Window of a run: only the SM of the block is simulated, and only until the window ends.
#[derive(clap::Args, Debug, Default)]
pub(crate) struct WindowChoice {
    /// Select warps of the block: one, a range as in 0..3 (the first three), or all
    #[arg(long, value_name = "RANGE")]
    pub(crate) warp: Option<String>,
    /// Select the block by its linear index in the grid
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) block_id: u32,
    /// Start at this cycle
    #[arg(long, value_name = "CYCLE", default_value_t = 0)]
    pub(crate) from: u64,
    /// Stop before this cycle
    #[arg(long, value_name = "CYCLE")]
    pub(crate) to: Option<u64>,
    /// Show at most N steps of each warp, joins without an issue slot included; 0: no limit
    /// [default: 200; more on a page with few warps]
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum AxisArg {
    /// One step for each issue
    Issue,
    /// One step for each cycle, waits included
    Cycle,
}

#[derive(clap::Args, Debug)]
pub(crate) struct TimelineArgs {
    #[command(flatten)]
    pub(crate) program: ProgramChoice,
    #[command(flatten)]
    pub(crate) window: WindowChoice,
    /// Choose the step of a row
    #[arg(long, value_enum, default_value_t = AxisArg::Issue)]
    pub(crate) axis: AxisArg,
    /// Print a row for each lane and a column for each issue
    #[arg(long)]
    pub(crate) lanes: bool,
    /// Print lines of at most COLUMNS columns [default: the terminal's width]
    #[arg(long, value_name = "COLUMNS")]
    pub(crate) width: Option<usize>,
    /// Choose the format of the output
    #[arg(long, value_enum, default_value_t = RowFormat::Text)]
    pub(crate) format: RowFormat,
    /// Write the output to FILE instead of standard output
    #[arg(long, short, value_name = "FILE", value_parser = text_file())]
    pub(crate) output: Option<PathBuf>,
}
