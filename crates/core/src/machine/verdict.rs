//! End of a run, and proofs of deadlock and livelock.
//!
//! *Deadlock*: every live warp is blocked (barrier, join, warp sync), and nothing can release one.
//!
//! *Livelock*: without a memory write in between, every live warp that still issues repeated a
//! state. A warp's next steps depend only on its own state and on memory, so it repeats these steps
//! forever. None of them changes memory, so the same holds for all other warps: the proof does not
//! depend on timing. The state consists of the control state, the return stack, the warp's local
//! memory, and the registers that the repeated steps use for control, addresses, stored values or
//! exchange between lanes. A counter that is only incremented does not hide a livelock.

use std::collections::BTreeSet;

use super::block::Block;
use super::device::Context;
use super::warp::Warp;
use crate::base::{BlockId, Cycle, LaneMask, Pc, SmId};
use crate::code::MicroOp;
use crate::divergence::{GroupState, WarpControl};
use crate::exec::{Assertion, Fault, FaultKind, LocalMemory, RegisterFile};
use crate::isa::Space;
use crate::kernel::{Inst, Op, Register};

/// End of a run.
#[derive(Clone, Debug)]
pub enum Finish {
    /// Every thread of the grid exited.
    Ok,
    /// No warp can ever issue again.
    Deadlock(Hang),
    /// Issuing warps repeat their states forever.
    Livelock(Hang),
    /// Reached a limit; nothing is proved.
    CycleLimit(Limit),
    /// Executed an undefined operation.
    Fault(Box<FaultReport>),
}

impl Finish {
    /// Returns the word used in reports and expectations.
    pub const fn name(&self) -> &'static str {
        match self {
            Finish::Ok => "ok",
            Finish::Deadlock(_) => "deadlock",
            Finish::Livelock(_) => "livelock",
            Finish::CycleLimit(_) => "cycle-limit",
            Finish::Fault(_) => "fault",
        }
    }
}

/// Limit at which a run was given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// Limit in cycles.
    Cycles(Cycle),
    /// Issue limit of an SM, its share of the run's limit.
    Issues {
        /// SM that reached it.
        sm: SmId,
        /// Instructions issued on the SM.
        issued: u64,
        /// Cycle of the last issue; `None` without a clock.
        cycle: Option<Cycle>,
    },
}

/// Hanging warps of an SM.
#[derive(Clone, Debug)]
pub struct Hang {
    /// SM with the hanging warps.
    pub sm: SmId,
    /// Number of hanging warps.
    pub warps: u32,
    /// Lane sets of the first hanging warps.
    pub lanes: Vec<StuckLanes>,
}

/// Lanes of one warp that hang together.
#[derive(Clone, Debug)]
pub struct StuckLanes {
    /// Block of the lanes.
    pub block: BlockId,
    /// Warp index in the block.
    pub warp: u32,
    /// Lanes of the set.
    pub lanes: LaneMask,
    /// Source lines (1-based) of the wait, or of the repeated loop.
    pub lines: Vec<u32>,
    /// Description of the wait or the loop.
    pub what: String,
    /// PC of the lanes.
    pub pc: Pc,
    /// Live lanes named by the mask of a `.sync` instruction but absent from it.
    pub missing: LaneMask,
    /// True if the condition of the repeated loop depends on no shared memory.
    pub fixed: bool,
}

/// Fault with its place.
#[derive(Clone, Debug)]
pub struct FaultReport {
    /// Fault and lane.
    pub fault: Fault,
    /// SM of the fault.
    pub sm: SmId,
    /// Block of the fault.
    pub block: BlockId,
    /// Warp index in the block.
    pub warp: u32,
    /// Index in the block of the warp's first thread.
    pub first_thread: u32,
    /// Active mask.
    pub active: LaneMask,
    /// Cycle of the fault; `None` without a clock.
    pub cycle: Option<Cycle>,
    /// Faulting instruction.
    pub inst: Inst,
}

impl FaultReport {
    pub(super) fn new(
        fault: Fault,
        (sm, warp_size): (SmId, u32),
        warp: &Warp,
        inst: &Inst,
        active: LaneMask,
        cycle: impl Into<Option<Cycle>>,
    ) -> FaultReport {
        FaultReport {
            fault,
            sm,
            block: warp.block_id,
            warp: warp.index,
            first_thread: warp.index * warp_size,
            active,
            cycle: cycle.into(),
            inst: inst.clone(),
        }
    }

    /// Returns the lines that CUDA prints for a failed `assert`, one for each thread.
    ///
    /// `None` for other faults.
    pub fn assertion(&self, grid: [u32; 3], block: [u32; 3]) -> Option<Vec<String>> {
        let FaultKind::Assertion(failed) = &self.fault.kind else { return None };
        let place = |index: u32, size: [u32; 3]| {
            let [x, y] = [size[0].max(1), size[1].max(1)];
            format!("[{},{},{}]", index % x, index / x % y, index / x / y)
        };
        let Assertion { message, file, line, function, lanes } = &**failed;
        let line = |lane: u32| {
            format!(
                "{file}:{line}: {function}: block: {}, thread: {} Assertion `{message}` failed.",
                place(self.block.0, grid),
                place(self.first_thread + lane, block)
            )
        };
        Some(lanes.lanes().map(line).collect())
    }
}

/// Issues of one SM without progress after which states are compared. Comparison is expensive and
/// progress frequent.
///
/// They are compared for as many issues, then not until there were eight times as many, and so on: a
/// long computation without a store pays for one issue in seven, and a loop of any length is found.
pub const QUIET: u64 = 1 << 14;

/// Returns true if states are compared after `quiet` issues without progress.
#[inline]
const fn compares(quiet: u64) -> bool {
    quiet >= QUIET && (quiet / QUIET).ilog2().is_multiple_of(3)
}

/// Returns the number of issues without progress, more than `quiet`, at which comparison begins next.
#[inline]
const fn next_comparison(quiet: u64) -> u64 {
    match (quiet / QUIET).checked_ilog2() {
        None => QUIET,
        Some(octave) => QUIET.saturating_mul(8_u64.saturating_pow(octave / 3 + 1)),
    }
}

/// Livelock detector of one SM.
#[derive(Clone)]
pub(super) struct Watch {
    /// Issues since the last progress.
    quiet: u64,
    /// True if progress was made since [`Watch::take_progress`].
    progressed: bool,
    /// Progress of all SMs that this one has been told of.
    known: u64,
    /// Snapshots to compare with, by warp slot.
    records: Vec<Option<Box<Record>>>,
    /// True if one of them repeats.
    repeats: bool,
    /// Steps of a loop, by PC, and the registers that matter in it, as found last: warps mostly run
    /// the same loop.
    matter: (Vec<bool>, Vec<Register>),
}

#[derive(Clone)]
struct Record {
    at: (Pc, LaneMask),
    control: WarpControl,
    registers: RegisterFile,
    local: LocalMemory,
    /// Steps issued since the snapshot, by PC.
    visited: Vec<bool>,
    repeats: bool,
    /// Returns of the warp to `at`, and the one at which the slow comparison is due.
    returns: u64,
    /// Issues since the snapshot, and the age of the next (Brent's cycle finding).
    age: u64,
    renew_at: u64,
}

impl Watch {
    pub(super) fn new() -> Watch {
        Watch {
            quiet: 0,
            progressed: false,
            known: 0,
            records: Vec::new(),
            repeats: false,
            matter: Default::default(),
        }
    }

    /// Records a change visible to other warps or to later iterations of a loop.
    #[inline]
    pub(super) fn progress(&mut self) {
        self.quiet = 0;
        self.progressed = true;
    }

    /// Returns true if there was progress since the last call.
    pub(super) fn take_progress(&mut self) -> bool {
        std::mem::take(&mut self.progressed)
    }

    /// Records the progress of all SMs so far, a number that grows with it.
    #[inline]
    pub(super) fn catch_up(&mut self, progress: u64) {
        if self.known != progress {
            (self.known, self.quiet) = (progress, 0);
        }
    }

    /// Returns true if the SM has been told of all progress so far.
    pub(super) fn knows(&self, progress: u64) -> bool {
        self.known == progress
    }

    /// Counts an issue. Returns true if states are compared now.
    #[inline]
    pub(super) fn tick(&mut self) -> bool {
        self.quiet += 1;
        self.quiet >= QUIET && self.begin_comparison()
    }

    /// Returns true if states are compared now, and forgets those that were not found to repeat
    /// before. Others still repeat: nothing has changed since.
    #[inline(never)]
    fn begin_comparison(&mut self) -> bool {
        if self.quiet == QUIET {
            self.records.clear();
            self.repeats = false;
        } else if compares(self.quiet) && !compares(self.quiet - 1) {
            for slot in &mut self.records {
                slot.take_if(|record| !record.repeats);
            }
        }
        compares(self.quiet)
    }

    /// Counts `n` issues that are not observed, up to the one before the next comparison.
    #[inline]
    pub(super) fn skip(&mut self, n: u64) {
        self.quiet += n.min(self.unobserved());
    }

    /// Returns the number of issues after which the next [`Watch::tick`] compares states.
    #[inline]
    pub(super) fn unobserved(&self) -> u64 {
        if compares(self.quiet + 1) { 0 } else { next_comparison(self.quiet) - 1 - self.quiet }
    }

    /// Returns true if states are compared.
    #[inline]
    pub(super) fn compares(&self) -> bool {
        compares(self.quiet)
    }

    /// Returns true if a warp repeats a state, so that all of them may.
    #[inline]
    pub(super) fn found_repetition(&self) -> bool {
        self.repeats && self.is_quiet()
    }

    /// Returns true if states are or were compared since the last progress.
    #[inline]
    pub(super) fn is_quiet(&self) -> bool {
        self.quiet >= QUIET
    }

    /// Observes the step that warp `w` is about to issue.
    pub(super) fn observe(
        &mut self,
        w: usize,
        warp: &Warp,
        steps: &[MicroOp],
        pc: Pc,
        active: LaneMask,
    ) {
        if self.records.len() <= w {
            self.records.resize_with(w + 1, || None);
        }
        let slot = &mut self.records[w];
        let renew_at = match slot {
            Some(record) if record.repeats => return,
            Some(record) => {
                let back = record.at == (pc, active) && record.control == warp.control;
                if back
                    && record.registers.calls == warp.registers.calls
                    && record.local == warp.local
                {
                    record.returns += 1;
                    // Exact comparison fails fast; the sliced comparison runs at every power of
                    // two.
                    record.repeats = record.registers == warp.registers
                        || record.returns.is_power_of_two() && {
                            if self.matter.0 != record.visited {
                                self.matter = (record.visited.clone(), record.matter(steps));
                            }
                            record.equals(&warp.registers, &self.matter.1)
                        };
                    self.repeats |= record.repeats;
                }
                record.visited[pc.index()] = true;
                record.age += 1;
                if record.repeats || record.age < record.renew_at {
                    return;
                }
                record.renew_at * 2
            }
            None => 64,
        };
        let mut visited = vec![false; steps.len()];
        visited[pc.index()] = true;
        *slot = Some(Box::new(Record {
            at: (pc, active),
            control: warp.control.clone(),
            registers: warp.registers.clone(),
            local: warp.local.clone(),
            visited,
            repeats: false,
            returns: 0,
            age: 0,
            renew_at,
        }));
    }

    /// Observes a step without an issue slot: its results may matter later.
    #[inline]
    pub(super) fn pass(&mut self, w: usize, pc: Pc) {
        if let Some(Some(record)) = self.records.get_mut(w) {
            record.visited[pc.index()] = true;
        }
    }

    /// Returns true if every live warp is blocked or repeats a state.
    ///
    /// At least one must repeat a state.
    pub(super) fn proves_livelock(&self, warps: &[Warp]) -> bool {
        self.is_quiet()
            && warps.iter().enumerate().all(|(w, warp)| warp.next.is_none() || self.repeats(w))
            && warps.iter().any(|warp| warp.next.is_some())
    }

    fn repeats(&self, w: usize) -> bool {
        matches!(self.records.get(w), Some(Some(record)) if record.repeats)
    }
}

impl Record {
    /// Returns the steps since the snapshot, by PC.
    fn visited<'s>(&'s self, steps: &'s [MicroOp]) -> impl Iterator<Item = &'s Inst> + Clone {
        steps.iter().zip(&self.visited).filter(|&(_, &visited)| visited).map(|(s, _)| &s.inst)
    }

    /// Returns the registers of the loop that matter. Those only used for counting do not.
    fn matter(&self, steps: &[MicroOp]) -> Vec<Register> {
        let acts = |inst: &&Inst| !inst.op.only_computes();
        origins(self.visited(steps).filter(acts), self.visited(steps))
    }

    /// Returns true if all registers that matter equal the snapshot.
    fn equals(&self, now: &RegisterFile, matter: &[Register]) -> bool {
        matter.iter().all(|r| match *r {
            Register::Narrow(row) => {
                self.registers.narrow[usize::from(row.0)] == now.narrow[usize::from(row.0)]
            }
            Register::Wide(row) => {
                self.registers.wide[usize::from(row.0)] == now.wide[usize::from(row.0)]
            }
            Register::Predicate(p) => {
                self.registers.predicates[usize::from(p.0)] == now.predicates[usize::from(p.0)]
            }
        })
    }

    /// Returns true if a branch of the loop depends on memory that others may write.
    fn awaits_memory(&self, steps: &[MicroOp]) -> bool {
        let branches = |inst: &&Inst| {
            matches!(inst.op, Op::Branch { .. } | Op::Switch(_) | Op::Exit | Op::Return)
        };
        let matter = origins(self.visited(steps).filter(branches), self.visited(steps));
        let decides = |inst: &&Inst| inst.writes.iter().any(|r| matter.binary_search(r).is_ok());
        self.visited(steps).filter(decides).any(|inst| match &inst.op {
            Op::Load(load) => {
                matches!(load.access.space, Space::Global | Space::Shared | Space::Generic)
            }
            op => op.atomic().is_some() || matches!(op, Op::Barrier(_) | Op::MBarrier(_)),
        })
    }
}

/// Returns the registers that steps `of` a loop read, and those from which they are computed, sorted.
fn origins<'i>(
    of: impl Iterator<Item = &'i Inst>,
    steps: impl Iterator<Item = &'i Inst> + Clone,
) -> Vec<Register> {
    let mut found: BTreeSet<Register> = of.flat_map(|inst| inst.reads.iter().copied()).collect();
    loop {
        let before = found.len();
        for inst in steps.clone() {
            if inst.writes.iter().any(|r| found.contains(r)) {
                found.extend(&inst.reads);
            }
        }
        if found.len() == before {
            return found.into_iter().collect();
        }
    }
}

/// Maximum number of lane sets listed.
const LISTED: usize = 12;

/// Describes the hanging lanes.
///
/// With a `watch`, running lanes are described by their repeated loop.
pub(super) fn describe(
    cx: &Context<'_>,
    sm: SmId,
    warps: &[Warp],
    blocks: &[Block],
    watch: Option<&Watch>,
) -> Hang {
    let line = |pc: Pc| cx.program.ops.get(pc.index()).map_or(0, |s| s.inst.line);
    let mut hang = Hang { sm, warps: 0, lanes: Vec::new() };
    for (w, warp) in warps.iter().enumerate().filter(|(_, warp)| !warp.control.live().is_empty()) {
        hang.warps += 1;
        let record =
            watch.and_then(|watch| watch.records.get(w)?.as_ref()).filter(|record| record.repeats);
        for group in warp.control.groups() {
            if hang.lanes.len() >= LISTED {
                break;
            }
            let mut lines = vec![line(group.pc)];
            let (mut missing, mut fixed) = (LaneMask::EMPTY, false);
            let what = match group.state {
                GroupState::Running | GroupState::Ready | GroupState::Yielded => {
                    if let Some(record) = record {
                        fixed = !record.awaits_memory(cx.program.ops);
                        let visited = record.visited.iter().enumerate().filter(|&(_, &v)| v);
                        lines =
                            visited.map(|(pc, _)| line(Pc(pc as u32))).filter(|&l| l > 0).collect();
                        lines.sort_unstable();
                        lines.dedup();
                    }
                    if record.is_some() { "repeating" } else { "never scheduled" }.to_string()
                }
                GroupState::AtReconvergence => "waiting at the reconvergence point".to_string(),
                GroupState::AtJoin(join) => {
                    format!("waiting at join {join} for lanes that never arrive")
                }
                GroupState::AtBarrier(id) => {
                    if let Some(arrival) =
                        warp.arrivals.iter().find(|a| a.id == id && a.lanes.intersects(group.lanes))
                    {
                        // The group's own PC is already past the barrier.
                        lines = vec![line(arrival.pc)];
                    }
                    let (arrived, awaited) = blocks[warp.block].progress(id);
                    format!("waiting at barrier {id}: {arrived} of {awaited} threads have arrived")
                }
                GroupState::Gathering(members) => {
                    missing = (members & warp.control.live()) - group.lanes;
                    format!(
                        "waiting for lanes {} to execute a matching `.sync` instruction",
                        members.list()
                    )
                }
            };
            let (block, warp, pc) = (warp.block_id, warp.index, group.pc);
            hang.lanes.push(StuckLanes {
                block,
                warp,
                lanes: group.lanes,
                lines,
                what,
                pc,
                missing,
                fixed,
            });
        }
    }
    hang
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_are_compared_in_spans_ever_farther_apart() {
        let mut watch = Watch::new();
        let mut spans = Vec::new();
        for quiet in 1..=20 * QUIET {
            let next = watch.unobserved();
            if watch.tick() {
                assert_eq!(next, 0, "{quiet}");
                match spans.last_mut() {
                    Some((_, last)) if *last + 1 == quiet => *last = quiet,
                    _ => spans.push((quiet, quiet)),
                }
            } else {
                assert!(next > 0, "{quiet}");
            }
        }
        assert_eq!(spans, [(QUIET, 2 * QUIET - 1), (8 * QUIET, 16 * QUIET - 1)]);
        // The same without a look at each issue.
        let mut watch = Watch::new();
        for span in [QUIET, 8 * QUIET, 64 * QUIET] {
            watch.skip(u64::MAX);
            assert!(watch.tick() && watch.quiet == span);
            watch.skip(1000);
            assert_eq!(watch.quiet, span, "each issue of a span is observed");
            (0..span).for_each(|_| {
                watch.tick();
            });
        }
    }
}
