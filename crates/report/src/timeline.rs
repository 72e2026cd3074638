//! A recorded window of a run, as lane maps and as data.
//!
//! [`Recording`] is the value behind every view of lanes over time: the terminal maps
//! ([`lane_map`], [`transposed`]), CSV ([`csv`]) and the pictures of [`super::plot`].

mod data;
mod map;
mod transposed;

pub use data::csv;
pub use data::quoted;
pub use map::{lane_map, quoted_text};
pub use transposed::transposed;

use super::run::{Ending, StepInfo, Verdict};
use super::text::{Style, wrap};
use simt_core::base::{LaneMask, Pc};
use simt_core::observe::{Issue, LaneState, SlotSpan, Strip, Timeline};

/// A recorded window of a run, with the facts about the run that its views print.
#[derive(Clone, Debug)]
pub struct Recording {
    /// Program, as the user named it.
    pub program: String,
    /// Kernel name.
    pub kernel: String,
    /// `pre-volta` or `volta`.
    pub mode: String,
    /// Machine name.
    pub machine: String,
    /// Grid size in x, y, z.
    pub grid: [u32; 3],
    /// Block size in x, y, z.
    pub block: [u32; 3],
    /// Lanes per warp.
    pub warp_size: u32,
    /// Shared-memory banks, each 4 bytes wide.
    pub shared_banks: u32,
    /// True if join steps count as instructions, that is, if machine code runs.
    pub counts_joins: bool,
    /// Steps, by [`Pc`].
    pub steps: Vec<StepInfo>,
    /// Recorded issues.
    pub timeline: Timeline,
    /// Issue slots of that SM's schedulers in the window, by scheduler and time.
    pub schedulers: Vec<SlotSpan>,
    /// Outcome of the run; `None` if it was stopped after the window.
    pub finish: Option<Ending>,
    /// Reason for the outcome, unless the run finished.
    pub verdict: Option<Verdict>,
    /// True if the run ended within the window, not after it.
    pub ends_here: bool,
    /// Sentence about what was simulated.
    pub simulated: String,
}

/// Unit of the time axis of a view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Axis {
    /// One column per issued step.
    Issue,
    /// One column per cycle; waits between issues are shown, too.
    Cycle,
}

impl Axis {
    /// Returns `issue` or `cycle`.
    pub const fn name(self) -> &'static str {
        match self {
            Axis::Issue => "issue",
            Axis::Cycle => "cycle",
        }
    }
}

/// Least columns of a lane map.
pub const LEAST_WIDTH: usize = 60;

/// Letter of a lane that is ready while its warp waits for something other than lanes.
const STALLED: char = ':';

impl Recording {
    /// Returns `program: kernel, mode on machine`.
    pub fn title(&self) -> String {
        format!("{}: {}, {} on {}", self.program, self.kernel, self.mode, self.machine)
    }

    /// Returns the description of a step.
    pub fn step(&self, pc: Pc) -> Option<&StepInfo> {
        self.steps.get(pc.index())
    }

    /// Returns the source line of a step; 0 if unknown.
    pub fn line(&self, pc: Pc) -> u32 {
        self.step(pc).map_or(0, |step| step.line)
    }

    /// Returns the letters of an issue, lane by lane.
    fn letters(&self, issue: &Issue) -> String {
        issue.lane_states(self.warp_size).into_iter().map(LaneState::letter).collect()
    }

    /// Returns the letters of the waits between the machine instructions of a step.
    fn letters_between(&self, issue: &Issue) -> String {
        self.letters(issue).replace(LaneState::Active.letter(), &STALLED.to_string())
    }

    /// Returns the letters of the wait after an issue, lane by lane.
    fn letters_after(&self, issue: &Issue) -> String {
        let (join, barrier) = issue.after.blocked();
        let running =
            issue.after.groups.first().map_or(LaneMask::EMPTY, |g| g.lanes) - join - barrier;
        let live = issue.after.live();
        let letter = |lane: u32| match () {
            () if running.contains(lane) => STALLED,
            () if join.contains(lane) => LaneState::AtJoin.letter(),
            () if barrier.contains(lane) => LaneState::AtBarrier.letter(),
            () if live.contains(lane) => LaneState::MaskedOff.letter(),
            () => LaneState::Exited.letter(),
        };
        (0..self.warp_size.min(32)).map(letter).collect()
    }

    /// Returns outcome and reason of a run that did not finish.
    /// Every view of the run shows them.
    pub fn ending(&self) -> Option<String> {
        let finish = self.finish.filter(|&f| f != Ending::Ok)?;
        let message = self.verdict.as_ref().map_or("", |v| v.message.as_str());
        let place = if self.ends_here { "" } else { " after this window" };
        Some(format!("{}{place}: {message}", finish.title().to_uppercase()))
    }

    /// Returns the outcome alone: `LIVELOCK`, `DEADLOCK after this window`.
    pub fn ending_in_short(&self) -> Option<String> {
        let ending = self.ending()?;
        Some(ending.split(':').next().unwrap_or_default().to_owned())
    }
}

/// Names the issues and cycles that a strip shows.
fn span(strip: &Strip) -> String {
    let place = format!("block {} warp {} on {}", strip.block.0, strip.warp, strip.sm);
    let (Some(first), Some(last)) = (strip.issues.first(), strip.issues.last()) else {
        return format!("{place}: {}", nothing(strip));
    };
    let more = if strip.more { ", more follow" } else { "" };
    format!(
        "{place}: issues {} to {}, cycles {} to {}{more}",
        first.number, last.number, first.cycle, last.cycle
    )
}

/// Says that a warp issued nothing in the window, and when it ended.
pub(crate) fn nothing(strip: &Strip) -> String {
    let ended = |cycle| format!("; the warp ended at cycle {cycle}");
    format!("nothing issued in this window{}", strip.ended.map_or_else(String::new, ended))
}

/// Prints the head of a terminal view: title, legend.
fn head(recording: &Recording, axis: Axis, width: usize) -> String {
    let mut legend: Vec<(char, &str)> =
        LaneState::ALL.iter().map(|s| (s.letter(), s.name())).collect();
    if axis == Axis::Cycle {
        legend.insert(1, (STALLED, "ready, its warp waits"));
    }
    let mut out = String::new();
    let ending = recording.ending();
    for text in [&recording.title(), &recording.simulated].into_iter().chain(&ending) {
        out += &format!("{}\n", wrap(text, width, "", "  "));
    }
    let mut line = String::new();
    for (letter, name) in legend {
        let entry = format!("{letter} {name}");
        if !line.is_empty() && line.len() + 3 + entry.len() > width {
            out += &format!("{}\n", line.trim_end());
            line.clear();
        }
        line += &format!("{entry}   ");
    }
    out += &format!("{}\n", line.trim_end());
    let mut last = "n: lanes that execute the instruction; *: divergent branch".to_owned();
    if recording.steps.iter().any(|step| step.machine.is_some()) {
        last += "; cu: CUDA line; ptx: PTX line; /*..*/: address in the machine code";
    }
    out + &wrap(&last, width, "", "  ") + "\n"
}

/// Style of a terminal view.
#[derive(Clone, Copy, Debug)]
pub struct MapStyle {
    /// Width and colour.
    pub style: Style,
    /// Unit of a row or column.
    pub axis: Axis,
}

/// ANSI colours of the paths, in the order of [`Issue::path`].
/// They repeat after the last.
const PATH_COLOURS: [&str; 6] =
    ["\x1b[34m", "\x1b[33m", "\x1b[32m", "\x1b[35m", "\x1b[36m", "\x1b[31m"];

fn path_colour(path: u32) -> &'static str {
    PATH_COLOURS[path as usize % PATH_COLOURS.len()]
}

#[cfg(test)]
pub(crate) mod tests;
