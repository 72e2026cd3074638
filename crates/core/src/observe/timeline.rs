//! Timeline of a window of a run: issues, lane states and wait reasons.
//!
//! [`Timeline`] records the warps of one block between two cycles, with a limit of issues per warp.
//! Outside of the window an event costs a comparison. The timeline is done ([`Observer::is_done`])
//! when nothing more can enter the window, so a picture of a large run does not need the whole run.
//!
//! Each [`Issue`] keeps its warp's control state before it ([`Issue::state`]) and after the warp
//! has settled ([`Issue::after`]). Between two issues the reason of each waiting cycle is known,
//! but not the cycle in which a lane was released: a lane at a barrier is shown as waiting until
//! its warp issues again.

mod lanes;
mod paths;
mod spans;

use std::ops::Range;

use crate::base::{BlockId, Cycle, LaneMask, MAX_LANES, Pc, SmId, WarpId};
use crate::divergence::{Group, Join, StackEntry, WarpControl};
use crate::event::{Event, Observer, Printed, Stall, Traffic};

pub use lanes::LaneState;
use paths::Paths;
pub use spans::{Part, Span};

/// Window to record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Window {
    /// Block, by its linear index in the grid.
    pub block: BlockId,
    /// Warps of the block.
    pub warps: Range<u32>,
    /// Cycles in which an issue counts.
    pub cycles: Range<Cycle>,
    /// Maximum recorded issues per warp.
    pub limit: usize,
}

impl Window {
    /// Parses a selection from the `warps` warps of a block: a number, a range `0..3`, or `all`.
    ///
    /// The first warp must exist; a range may extend past the last one.
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

/// Control state of a warp, as shown in reports.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Control {
    /// Lane groups, a partition of the live lanes.
    pub groups: Vec<Group>,
    /// Reconvergence stack, bottom first; empty in volta mode.
    pub stack: Vec<StackEntry>,
    /// Joins in use, oldest first; empty in pre-volta mode.
    pub joins: Vec<Join>,
}

impl Control {
    fn of(control: &WarpControl) -> Control {
        Control { groups: control.groups(), stack: control.stack_entries(), joins: control.joins() }
    }

    /// Returns the number of stack entries; in volta mode, of lane groups.
    pub fn depth(&self) -> usize {
        if self.stack.is_empty() { self.groups.len() } else { self.stack.len() }
    }

    /// Returns the lanes that have not exited.
    pub fn live(&self) -> LaneMask {
        self.groups.iter().fold(LaneMask::EMPTY, |all, group| all | group.lanes)
    }
}

/// Addresses of a memory access.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Places {
    /// Contiguous bytes per lane.
    pub bytes: u32,
    /// Byte address of each lane, as in [`Observer::addresses`].
    ///
    /// 0 for lanes that take no part.
    pub addresses: [u64; MAX_LANES],
}

/// Issue of a warp.
#[derive(Clone, Debug, PartialEq)]
pub struct Issue {
    /// Number among the issues of its warp, from 0. A step without a slot has the number of the
    /// issue before it.
    pub number: u64,
    /// Issue cycle.
    pub cycle: Cycle,
    /// Issued step.
    pub pc: Pc,
    /// Active mask.
    pub active: LaneMask,
    /// Active lanes whose guard is true.
    pub executed: LaneMask,
    /// Issue slots taken, including [`Issue::parts`]; 0 for a free join step.
    pub slots: u32,
    /// Further micro-ops of the step.
    pub parts: Vec<Part>,
    /// Number of this set of lanes since the warp was last whole: 0 for the whole warp, then 1, 2,
    /// .. in order of first issue.
    pub path: u32,
    /// For a conditional branch: the lanes that took it.
    pub taken: Option<LaneMask>,
    /// For a memory access: its traffic.
    pub traffic: Option<Traffic>,
    /// For a memory access: its addresses.
    pub places: Option<Box<Places>>,
    /// Bytes that each lane printed, in order.
    pub printed: Vec<(u32, Vec<u8>)>,
    /// Waits since the previous issue, in order; they add up to the gap.
    ///
    /// [`Issue::parts`] has the waits between the micro-ops.
    pub waits: Vec<(Stall, Cycle)>,
    /// Cycles after the warp's last issue with stores in flight ([`Stall::Drain`], machine code).
    pub drains: Cycle,
    /// Control state of the warp at the issue.
    pub state: Control,
    /// Control state of the warp after it has settled.
    pub after: Control,
}

impl Issue {
    /// Returns true for a divergent branch.
    pub fn diverges(&self) -> bool {
        self.taken.is_some_and(|taken| !taken.is_empty() && taken != self.active)
    }
}

/// Warp in the window.
#[derive(Clone, Debug, PartialEq)]
pub struct Strip {
    /// Block of the warp.
    pub block: BlockId,
    /// Warp index in the block.
    pub warp: u32,
    /// SM of the warp.
    pub sm: SmId,
    /// Lanes of the warp.
    pub lanes: LaneMask,
    /// Cycle of the launch.
    pub started: Cycle,
    /// Cycle of its last exit, if in the window.
    pub ended: Option<Cycle>,
    /// Issues in the window.
    pub issues: Vec<Issue>,
    /// True if it issued more after the window.
    pub more: bool,
}

/// Recorder of a [`Window`].
#[derive(Clone, Debug)]
pub struct Timeline {
    window: Window,
    /// Strips in order of warp; complete once the block has started.
    strips: Vec<Strip>,
    /// Strip of each warp slot of the SM that holds a warp of the window.
    slots: Vec<Option<usize>>,
    /// Progress by strip.
    progress: Vec<Progress>,
    /// Warps of the window in the block; known once it starts.
    expected: Option<usize>,
    /// Number of strips that can still grow.
    open: usize,
}

/// Known facts about a warp between two issues.
#[derive(Clone, Debug, Default)]
struct Progress {
    issued: u64,
    paths: Paths,
    waits: Vec<(Stall, Cycle)>,
    state: Control,
    /// True until `after` of the last issue is known.
    settling: bool,
    closed: bool,
}

impl Timeline {
    /// Creates a recorder of `window`.
    pub fn new(window: Window) -> Timeline {
        Timeline {
            window,
            strips: Vec::new(),
            slots: Vec::new(),
            progress: Vec::new(),
            expected: None,
            open: 0,
        }
    }

    /// Returns the recorded warps in order.
    pub fn strips(&self) -> &[Strip] {
        &self.strips
    }

    /// Returns the window.
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

    /// Returns the recorded issue to which an event of `slot` at `pc` belongs, if any.
    fn last(&mut self, slot: WarpId, pc: Pc) -> Option<&mut Issue> {
        let i = self.strip(slot)?;
        let (strip, progress) = (&mut self.strips[i], &self.progress[i]);
        let latest = progress.issued.saturating_sub(1);
        strip
            .issues
            .last_mut()
            .filter(|issue| !progress.closed && issue.pc == pc && issue.number == latest)
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
                self.start(
                    slot,
                    Strip { block, warp, sm, lanes, started: cycle, ended, issues, more },
                );
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
                    let (taken, traffic, places, waits, parts) =
                        (None, None, None, Vec::new(), Vec::new());
                    let (number, path, printed) = (0, 0, Vec::new());
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
                        printed,
                        waits,
                        drains: 0,
                        state,
                        after,
                    };
                    self.issue(i, issue);
                }
            }
            Event::IssueMicroOp { cycle, warp, pc, .. } => {
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
            Event::WarpStalled { warp, pc, stall: Stall::Drain, cycles, .. } => {
                if let Some(issue) = self.last(warp, pc) {
                    issue.drains = cycles;
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
            issue.places = Some(Box::new(Places {
                bytes: traffic.bytes_per_lane(),
                addresses: std::array::from_fn(of),
            }));
        }
    }

    fn printed(&mut self, printed: &Printed<'_>) {
        if let Some(i) = self.strip(printed.warp)
            && !self.progress[i].closed
            && let Some(issue) = self.strips[i].issues.last_mut()
        {
            issue.printed.push((printed.lane, printed.text.to_vec()));
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
