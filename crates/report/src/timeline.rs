//! A recorded window of a run, as lane maps and as data.
//!
//! [`Recording`] is the value that every view of lanes over time prints: the map for terminals ([`lane_map`],
//! [`transposed`]), CSV ([`csv`]) and the pictures of [`super::plot`].

mod data;
mod map;
mod transposed;

pub use data::csv;
pub use data::quoted;
pub use map::lane_map;
pub use transposed::transposed;

use super::run::{Finish, StepInfo, Verdict};
use super::text::{Style, wrap};
use simt_core::base::{LaneMask, Pc};
use simt_core::observe::{Issue, LaneState, SlotSpan, Strip, Timeline};

/// What was seen of a window, with what a reader must know of the run.
#[derive(Clone, Debug)]
pub struct Recording {
    /// The program, as the user named it.
    pub program: String,
    /// The kernel's name.
    pub kernel: String,
    /// `pre-volta` or `volta`.
    pub mode: String,
    /// The machine's name.
    pub machine: String,
    /// Blocks in x, y, z.
    pub grid: [u32; 3],
    /// Threads a block in x, y, z.
    pub block: [u32; 3],
    /// Lanes of a warp.
    pub warp_size: u32,
    /// Banks of the machine's shared memory, 4 bytes wide.
    pub shared_banks: u32,
    /// Whether join steps count as instructions: where machine code runs.
    pub counts_joins: bool,
    /// The steps that [`Pc`]s name.
    pub steps: Vec<StepInfo>,
    /// What was recorded.
    pub timeline: Timeline,
    /// What the schedulers of that SM did meanwhile, in order of scheduler and time.
    pub schedulers: Vec<SlotSpan>,
    /// How the run ended; `None` when it was stopped after the window and nothing is known of its end.
    pub finish: Option<Finish>,
    /// Why it ended so, when it did not end well.
    pub verdict: Option<Verdict>,
    /// Whether it ended within the window, rather than soon after it.
    pub ends_here: bool,
    /// What was simulated for this, a sentence.
    pub simulated: String,
}

/// What the columns of a view stand for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Axis {
    /// One a step issued.
    Issue,
    /// Time: the waits between issues are shown, too.
    Cycle,
}

impl Axis {
    /// `issue` or `cycle`.
    pub const fn name(self) -> &'static str {
        match self {
            Axis::Issue => "issue",
            Axis::Cycle => "cycle",
        }
    }
}

/// The letter of a lane that could run, while its warp waits for something else than lanes.
const STALLED: char = ':';

impl Recording {
    /// `program: kernel, mode on machine`
    pub fn title(&self) -> String {
        format!("{}: {}, {} on {}", self.program, self.kernel, self.mode, self.machine)
    }

    /// What a step is.
    pub fn step(&self, pc: Pc) -> Option<&StepInfo> {
        self.steps.get(pc.index())
    }

    /// The source line of a step; 0 when unknown.
    pub fn line(&self, pc: Pc) -> u32 {
        self.step(pc).map_or(0, |step| step.line)
    }

    /// Lane by lane, the letters of an issue.
    fn letters(&self, issue: &Issue) -> String {
        issue.lane_states(self.warp_size).into_iter().map(LaneState::letter).collect()
    }

    /// Lane by lane, the letters of the waits between the machine instructions of a step.
    fn letters_between(&self, issue: &Issue) -> String {
        self.letters(issue).replace(LaneState::Active.letter(), &STALLED.to_string())
    }

    /// Lane by lane, the letters of the wait behind an issue.
    fn letters_after(&self, issue: &Issue) -> String {
        let (join, barrier) = issue.after.blocked();
        let running = issue.after.groups.first().map_or(LaneMask::EMPTY, |g| g.lanes) - join - barrier;
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

    /// What every view of a run that did not end must say: that it did not, and why; nothing where all is well or unknown.
    pub fn ending(&self) -> Option<String> {
        let finish = self.finish.filter(|&f| f != Finish::Ok)?;
        let message = self.verdict.as_ref().map_or("", |v| v.message.as_str());
        let place = if self.ends_here { "" } else { " after this window" };
        Some(format!("{}{place}: {message}", finish.title().to_uppercase()))
    }

    /// The same in a word or two, for a title: `LIVELOCK`, `DEADLOCK after this window`.
    pub fn ending_in_short(&self) -> Option<String> {
        let ending = self.ending()?;
        Some(ending.split(':').next().unwrap_or_default().to_owned())
    }
}

/// Which part of a warp's life a strip shows, in words.
fn span(strip: &Strip) -> String {
    let place = format!("block {} warp {} on {}", strip.block.0, strip.warp, strip.sm);
    let (Some(first), Some(last)) = (strip.issues.first(), strip.issues.last()) else {
        return format!("{place}: nothing issued in this window");
    };
    let more = if strip.more { ", more follow" } else { "" };
    format!("{place}: issues {} to {}, cycles {} to {}{more}", first.number, last.number, first.cycle, last.cycle)
}

/// The head of every terminal view: what it shows, and what the letters mean.
fn head(recording: &Recording, axis: Axis, width: usize) -> String {
    let mut legend: Vec<(char, &str)> = LaneState::ALL.iter().map(|s| (s.letter(), s.name())).collect();
    if axis == Axis::Cycle {
        legend.insert(1, (STALLED, "would run, its warp waits"));
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
    out + &wrap("n: lanes that execute the instruction; *: a branch at which they part", width, "", "  ") + "\n"
}

/// How a terminal view is printed.
#[derive(Clone, Copy, Debug)]
pub struct MapStyle {
    /// Width and colour.
    pub style: Style,
    /// What a row or column stands for.
    pub axis: Axis,
}

/// ANSI colours of the paths, in the order of [`Issue::path`]; the same hue comes back after the last.
const PATH_COLOURS: [&str; 6] = ["\x1b[34m", "\x1b[33m", "\x1b[32m", "\x1b[35m", "\x1b[36m", "\x1b[31m"];

fn path_colour(path: u32) -> &'static str {
    PATH_COLOURS[path as usize % PATH_COLOURS.len()]
}

#[cfg(test)]
pub(crate) mod tests;
