//! `--html` of `run` and `compare`.

use std::path::PathBuf;

use super::WindowChoice;

/// A page to write, and the part of the run that its timeline shows.
#[derive(clap::Args, Debug, Default)]
pub(crate) struct PageChoice {
    /// Write everything into one HTML file that needs no network: timeline, source, metrics
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    #[command(flatten, next_help_heading = "The part of the run that --html shows issue by issue")]
    pub(crate) window: WindowChoice,
}
