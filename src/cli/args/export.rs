//! Arguments of `simt-sim export`.

use std::path::PathBuf;

use clap::ValueEnum;

use super::plot::text_file;
use super::{ProgramChoice, WindowChoice};

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportFormat {
    /// JSON for ui.perfetto.dev and chrome://tracing: a track for each warp and scheduler; 1 us = 1
    /// cycle
    Perfetto,
    /// A Kanata 0004 log for Konata: a row for each issued instruction
    Kanata,
    /// A text table for less and grep: cycle, warp, pc, masks, depth, instruction
    Trace,
}

#[derive(clap::Args, Debug)]
pub(crate) struct ExportArgs {
    /// The format of another tool
    #[arg(value_enum)]
    pub(crate) format: ExportFormat,
    #[command(flatten)]
    pub(crate) program: ProgramChoice,
    #[command(flatten)]
    pub(crate) window: WindowChoice,
    /// Write to FILE instead of standard output
    #[arg(long, short, value_name = "FILE", value_parser = text_file())]
    pub(crate) output: Option<PathBuf>,
}
