//! Export of a recorded window in the formats of other tools.
//!
//! All formats have the contents of [`Recording`] and nothing else. [`Format::Perfetto`] is JSON
//! for Perfetto and Chrome's trace viewer, [`Format::Kanata`] a log for the pipeline viewer Konata,
//! [`Format::Trace`] a table for `less` and `grep`, [`Format::Csv`] the columns of
//! [`super::timeline::csv`]. None has the time at which an instruction's result arrives, because a
//! window does not record it; the wait of the next instruction shows its reason.

mod kanata;
mod perfetto;
mod trace;

use super::timeline::{Recording, csv};
use simt_core::base::{Cycle, Pc};
use simt_core::observe::{Issue, Stall};

/// A file format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Trace Event JSON, for Perfetto and `chrome://tracing`.
    Perfetto,
    /// A Kanata 0004 log, for Konata.
    Kanata,
    /// Text table, a line per issue.
    Trace,
    /// Comma-separated values, a row per issue.
    Csv,
}

impl Format {
    /// All formats.
    pub const ALL: [Format; 4] = [Format::Perfetto, Format::Kanata, Format::Trace, Format::Csv];

    /// Returns the name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Format::Perfetto => "perfetto",
            Format::Kanata => "kanata",
            Format::Trace => "trace",
            Format::Csv => "csv",
        }
    }
}

/// Returns the recording as the text of a file.
pub fn export(format: Format, recording: &Recording) -> String {
    match format {
        Format::Perfetto => perfetto::perfetto(recording),
        Format::Kanata => kanata::kanata(recording),
        Format::Trace => trace::trace(recording),
        Format::Csv => csv(recording),
    }
}

/// Returns the waits of an issue, with start cycle and length.
/// They are before the issue, and between the machine instructions of its step.
fn waits(issue: &Issue) -> impl Iterator<Item = (Cycle, Stall, Cycle)> {
    issue.spans().into_iter().filter_map(|span| Some((span.from, span.stall?, span.cycles())))
}

/// Returns text on one line, without control characters.
fn plain(text: &str) -> String {
    text.split(|c: char| c.is_whitespace() || c.is_control())
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}

/// Returns the text of a step on one line.
fn step_text(recording: &Recording, pc: Pc) -> String {
    recording.step(pc).map_or_else(|| "?".to_owned(), |step| plain(&step.text))
}
