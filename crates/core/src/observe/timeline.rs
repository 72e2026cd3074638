//! A window of a run, issue by issue: which lanes worked, what the others did meanwhile, and why nothing was issued between.
//!
//! [`Timeline`] records the warps of one block between two cycles, and at most so many issues a warp; outside of the window an
//! event costs a comparison. It is done ([`Observer::is_done`]) when nothing more can come into the window, so that a picture of a
//! large run needs no large run.
//!
//! Each [`Issue`] keeps the control state of its warp before it ([`Issue::state`]) and when the warp had settled after it
//! ([`Issue::after`]). What is known between two issues is the reason of each waiting cycle, not the cycle in which a lane was
//! released: a lane that waits at a barrier is shown waiting until its warp issues again.

mod lanes;
mod paths;
mod spans;

use std::ops::Range;

use crate::base::{BlockId, Cycle, LaneMask, MAX_LANES, Pc, SmId, WarpId};
use crate::divergence::{Group, Join, StackEntry, WarpControl};
use crate::event::{Event, Observer, Stall, Traffic};

pub use lanes::LaneState;
use paths::Paths;
pub use spans::{Part, Span};

/// What to record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Window {
    /// The block, by its linear index in the grid.
    pub block: BlockId,
    /// The warps of the block.
    pub warps: Range<u32>,
    /// The cycles in which an issue counts.
    pub cycles: Range<Cycle>,
    /// The most issues recorded of a warp.
    pub limit: usize,
}

impl Window {
    /// The warps that a text names, of a block that has `warps`: a number, a range as in `0..3`, or `all`. A range may go beyond
    /// the last warp; the first must be there.
    pub fn warps_named(text: &str, warps: u32) -> Option<Range<u32>> {
        let number = |text: &str| text.trim().parse::<u32>().ok();
        let named = match text.split_once("..") {
            _ if text == "all" => 0..warps,
            Some((from, to)) => number(from)?..number(to)?,
            None => number(text).and_then(|n| Some(n..n.checked_add(1)?))?,
        };
        (named.start < named.end && named.start < warps).then(|| named.start..named.end.min(warps))
    }
}

/// The control state of a warp, as reports show it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Control {
    /// Its groups of lanes; they partition the live ones.
    pub groups: Vec<Group>,
    /// The reconvergence stack, bottom first; empty in volta mode.
    pub stack: Vec<StackEntry>,
    /// The joins in use, oldest first; empty in pre-volta mode.
    pub joins: Vec<Join>,
}

impl Control {
    fn of(control: &WarpControl) -> Control {
        Control { groups: control.groups(), stack: control.stack_entries(), joins: control.joins() }
    }

    /// Entries of the reconvergence stack; in volta mode, groups of lanes.
    pub fn depth(&self) -> usize {
        if self.stack.is_empty() { self.groups.len() } else { self.stack.len() }
    }

    /// The lanes that have not ended.
    pub fn live(&self) -> LaneMask {
        self.groups.iter().fold(LaneMask::EMPTY, |all, group| all | group.lanes)
    }
}

/// Where the lanes of a memory access went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Places {
    /// Contiguous bytes a lane.
    pub bytes: u32,
    /// The byte address of each lane that took part, as [`Observer::addresses`] has them; 0 of the others.
    pub addresses: [u64; MAX_LANES],
}

/// One issue of a warp.
#[derive(Clone, Debug, PartialEq)]
pub struct Issue {
    /// Its number among the issues of its warp, from 0. A step that takes no slot has that of the issue before it.
    pub number: u64,
    /// When.
    pub cycle: Cycle,
    /// The step.
    pub pc: Pc,
    /// The active mask.
    pub active: LaneMask,
    /// The active lanes whose guard held.
    pub executed: LaneMask,
    /// Issue slots taken, those of [`Issue::parts`] included; 0 for a join step that is free.
    pub slots: u32,
    /// The further machine instructions of a step that becomes several.
    pub parts: Vec<Part>,
    /// Which set of lanes this is since the warp was last whole: 0 the whole warp, then 1, 2, .. in order of first issue.
    pub path: u32,
    /// For a conditional branch: the lanes that branched.
    pub taken: Option<LaneMask>,
    /// For a memory access: what it did to the memory system.
    pub traffic: Option<Traffic>,
    /// For a memory access: where its lanes went.
    pub places: Option<Box<Places>>,
    /// What the warp waited for since its previous issue, in this order; the cycles add up to the gap. What it waited for
    /// between the machine instructions of this step is in [`Issue::parts`].
    pub waits: Vec<(Stall, Cycle)>,
    /// The warp's control state when this was issued.
    pub state: Control,
    /// The same when it had settled after this.
    pub after: Control,
}

impl Issue {
    /// Whether this is a branch whose lanes disagreed.
    pub fn diverges(&self) -> bool {
        self.taken.is_some_and(|taken| !taken.is_empty() && taken != self.active)
    }
}

/// One warp in the window.
#[derive(Clone, Debug, PartialEq)]
pub struct Strip {
    /// Its block.
    pub block: BlockId,
    /// Its index in the block.
    pub warp: u32,
    /// Where it ran.
    pub sm: SmId,
    /// Its lanes.
    pub lanes: LaneMask,
    /// When it became resident.
    pub started: Cycle,
    /// When its last lane ended, if that was in the window.
    pub ended: Option<Cycle>,
    /// What it issued in the window.
    pub issues: Vec<Issue>,
    /// Whether it issued more behind the window.
    pub more: bool,
}

/// Records a [`Window`].
#[derive(Clone, Debug)]
pub struct Timeline {
    window: Window,
    /// The strips in order of warp; complete when the block has started.
    strips: Vec<Strip>,
    /// By warp slot of the SM: its strip, while it holds one of the window's warps.
    slots: Vec<Option<usize>>,
    /// By strip.
    progress: Vec<Progress>,
    /// Warps of the window that the block has; known when it starts.
    expected: Option<usize>,
    /// Strips to which something can still come.
    open: usize,
}

/// What is known of a warp between two issues.
#[derive(Clone, Debug, Default)]
struct Progress {
    issued: u64,
    paths: Paths,
    waits: Vec<(Stall, Cycle)>,
    state: Control,
    /// Whether `after` of the last issue is still to be told.
    settling: bool,
    closed: bool,
}

impl Timeline {
    /// Records what happens in `window`.
    pub fn new(window: Window) -> Timeline {
        Timeline { window, strips: Vec::new(), slots: Vec::new(), progress: Vec::new(), expected: None, open: 0 }
    }

    /// The warps that were seen, in order.
    pub fn strips(&self) -> &[Strip] {
        &self.strips
    }

    /// The window.
    pub fn window(&self) -> &Window {
        &self.window
    }

    #[inline]
    fn strip(&self, warp: WarpId) -> Option<usize> {
        self.slots.get(warp.index()).copied().flatten()
    }

    fn start(&mut self, slot: WarpId, strip: Strip) {
        if self.slots.len() <= slot.index() {
            self.slots.resize(slot.index() + 1, None);
        }
        self.slots[slot.index()] = None;
        if strip.block == self.window.block && self.window.warps.contains(&strip.warp) {
            self.slots[slot.index()] = Some(self.strips.len());
            self.progress.push(Progress { paths: Paths::new(strip.lanes), ..Progress::default() });
            self.strips.push(strip);
            self.open += 1;
        }
    }

    fn close(&mut self, i: usize) {
        if !std::mem::replace(&mut self.progress[i].closed, true) {
            self.open -= 1;
        }
    }

    fn issue(&mut self, i: usize, mut issue: Issue) {
        let progress = &mut self.progress[i];
        progress.issued += u64::from(issue.slots > 0);
        issue.number = progress.issued.saturating_sub(1);
        issue.path = progress.paths.of(issue.active, progress.state.live());
        issue.waits = std::mem::take(&mut progress.waits);
        let recorded = self.strips[i].issues.len();
        if issue.cycle >= self.window.cycles.end || recorded >= self.window.limit {
            self.strips[i].more = true;
            self.close(i);
        } else if issue.cycle >= self.window.cycles.start {
            issue.state = std::mem::take(&mut progress.state);
            progress.settling = true;
            self.strips[i].issues.push(issue);
        }
    }

    /// The issue that the event of `slot` at `pc` belongs to, if it was recorded.
    fn last(&mut self, slot: WarpId, pc: Pc) -> Option<&mut Issue> {
        let i = self.strip(slot)?;
        let (strip, progress) = (&mut self.strips[i], &self.progress[i]);
        let latest = progress.issued.saturating_sub(1);
        strip.issues.last_mut().filter(|issue| !progress.closed && issue.pc == pc && issue.number == latest)
    }
}

impl Observer for Timeline {
    fn on(&mut self, event: Event) {
        match event {
            Event::BlockStart { block, warps, .. } if block == self.window.block => {
                let Range { start, end } = self.window.warps;
                self.expected = Some(end.min(warps).saturating_sub(start) as usize);
            }
            Event::WarpStart { cycle, sm, warp: slot, block, index: warp, lanes } => {
                let (ended, issues, more) = (None, Vec::new(), false);
                self.start(slot, Strip { block, warp, sm, lanes, started: cycle, ended, issues, more });
            }
            Event::WarpEnd { cycle, warp, .. } => {
                if let Some(i) = self.strip(warp) {
                    self.strips[i].ended = (!self.progress[i].closed).then_some(cycle);
                    self.close(i);
                    self.slots[warp.index()] = None;
                }
            }
            Event::Issue { cycle, warp, pc, active, lanes: executed, slots, .. } => {
                let Some(i) = self.strip(warp) else { return };
                if !self.progress[i].closed {
                    let (state, after) = Default::default();
                    let (taken, traffic, places, waits, parts) = (None, None, None, Vec::new(), Vec::new());
                    let (number, path) = (0, 0);
                    let issue = Issue {
                        number,
                        cycle,
                        pc,
                        active,
                        executed,
                        slots,
                        parts,
                        path,
                        taken,
                        traffic,
                        places,
                        waits,
                        state,
                        after,
                    };
                    self.issue(i, issue);
                }
            }
            Event::IssuePart { cycle, warp, pc, .. } => {
                let Some(i) = self.strip(warp) else { return };
                let waits = std::mem::take(&mut self.progress[i].waits);
                if cycle < self.window.cycles.end
                    && let Some(issue) = self.last(warp, pc)
                {
                    issue.slots += 1;
                    issue.parts.push(Part { cycle, waits });
                }
            }
            Event::Branch { warp, pc, taken, .. } => {
                if let Some(issue) = self.last(warp, pc) {
                    issue.taken = Some(taken);
                }
            }
            Event::Memory { warp, pc, traffic, .. } => {
                if let Some(issue) = self.last(warp, pc) {
                    issue.traffic = Some(traffic);
                }
            }
            Event::WarpStalled { warp, stall, cycles, .. } => {
                if let Some(i) = self.strip(warp) {
                    self.progress[i].waits.push((stall, cycles));
                }
            }
            _ => {}
        }
    }

    fn control(&mut self, _: SmId, warp: WarpId, control: &WarpControl) {
        let Some(i) = self.strip(warp) else { return };
        let progress = &mut self.progress[i];
        if progress.closed && !progress.settling {
            return;
        }
        progress.state = Control::of(control);
        if std::mem::take(&mut progress.settling)
            && let Some(issue) = self.strips[i].issues.last_mut()
        {
            issue.after = progress.state.clone();
        }
    }

    fn addresses(&mut self, warp: WarpId, pc: Pc, traffic: &Traffic, addresses: &[u64; MAX_LANES]) {
        if let Some(issue) = self.last(warp, pc) {
            let lanes = issue.executed;
            let of = |lane: usize| if lanes.contains(lane as u32) { addresses[lane] } else { 0 };
            issue.places =
                Some(Box::new(Places { bytes: traffic.bytes_per_lane(), addresses: std::array::from_fn(of) }));
        }
    }

    fn is_done(&self) -> bool {
        self.open == 0 && self.expected.is_some_and(|warps| self.strips.len() >= warps)
    }

    fn merge(&mut self, other: Timeline) {
        self.strips.extend(other.strips);
        self.progress.extend(other.progress);
        self.slots.clear();
        self.expected = self.expected.or(other.expected);
        self.open += other.open;
        self.strips.sort_by_key(|strip| strip.warp);
    }
}

#[cfg(test)]
mod tests;
