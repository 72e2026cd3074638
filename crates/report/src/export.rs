//! A recorded window in the formats of tools that people already use.
//!
//! All four say the same: what [`Recording`] holds, nothing is added or guessed. [`Format::Perfetto`] is JSON for Perfetto and
//! Chrome's trace viewer, [`Format::Kanata`] a log for the pipeline viewer Konata, [`Format::Trace`] a table for `less` and `grep`,
//! [`Format::Csv`] the columns of [`super::timeline::csv`]. Not in any of them: when an instruction's result arrives, since a
//! window does not record it; what is known is why the next one waited.

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
    /// A text table, a line for each issue.
    Trace,
    /// Comma-separated values, a row for each issue.
    Csv,
}

impl Format {
    /// Every format.
    pub const ALL: [Format; 4] = [Format::Perfetto, Format::Kanata, Format::Trace, Format::Csv];

    /// Its name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Format::Perfetto => "perfetto",
            Format::Kanata => "kanata",
            Format::Trace => "trace",
            Format::Csv => "csv",
        }
    }
}

/// The recording as the text of a file.
pub fn export(format: Format, recording: &Recording) -> String {
    match format {
        Format::Perfetto => perfetto::perfetto(recording),
        Format::Kanata => kanata::kanata(recording),
        Format::Trace => trace::trace(recording),
        Format::Csv => csv(recording),
    }
}

/// The waits of an issue, with the cycle at which each began and its length: before the issue, and between the machine
/// instructions of its step.
fn waits(issue: &Issue) -> impl Iterator<Item = (Cycle, Stall, Cycle)> {
    issue.spans().into_iter().filter_map(|span| Some((span.from, span.stall?, span.cycles())))
}

/// Text on one line, without control characters.
fn plain(text: &str) -> String {
    text.split(|c: char| c.is_whitespace() || c.is_control())
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}

/// The text of a step on one line.
fn step_text(recording: &Recording, pc: Pc) -> String {
    recording.step(pc).map_or_else(|| "?".to_owned(), |step| plain(&step.text))
}
