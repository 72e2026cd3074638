//! `--html` of `run` and `compare`.

use std::path::PathBuf;

use super::WindowChoice;

/// HTML page of a run, and the window of its timeline.
#[derive(clap::Args, Debug, Default)]
pub(crate) struct PageChoice {
    /// Write one self-contained HTML file: timeline, source, metrics
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    #[command(flatten, next_help_heading = "Window of the --html timeline")]
    pub(crate) window: WindowChoice,
}
