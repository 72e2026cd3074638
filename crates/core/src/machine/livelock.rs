//! Proofs of livelock.
//!
//! *Livelock*: without a memory write in between, every live warp that still issues repeated a
//! state. A warp's next steps depend only on its own state and on memory, so it repeats these steps
//! forever. None of them changes memory, so the same holds for all other warps: the proof does not
//! depend on timing. The state consists of the control state, the return stack, the warp's local
//! memory, and the registers that the repeated steps use for control, addresses, stored values or
//! exchange between lanes. A counter that is only incremented does not hide a livelock. If warps
//! read memory that a program has lent, the program may yet change it, so the host decides.

use std::collections::BTreeSet;

use super::device::Context;
use super::host::Host;
use super::warp::Warp;
use crate::base::{LaneMask, Pc};
use crate::code::MicroOp;
use crate::divergence::WarpControl;
use crate::exec::{LocalMemory, RegisterFile};
use crate::isa::Space;
use crate::kernel::{Inst, Op, Register};

/// Issues of one SM without progress after which states are compared. Comparison is expensive and
/// progress frequent.
///
/// They are compared for as many issues, then not until there were eight times as many, and so on:
/// a loop of any length is found, and a long computation without a store pays little.
pub const QUIET: u64 = 1 << 14;

/// Returns true if states are compared after `quiet` issues without progress.
#[inline]
const fn compares(quiet: u64) -> bool {
    quiet >= QUIET && (quiet / QUIET).ilog2().is_multiple_of(3)
}

/// Returns the number of issues without progress, more than `quiet`, at which comparison begins
/// next.
#[inline]
const fn next_comparison(quiet: u64) -> u64 {
    match (quiet / QUIET).checked_ilog2() {
        None => QUIET,
        Some(octave) => QUIET.saturating_mul(8_u64.saturating_pow(octave / 3 + 1)),
    }
}

impl Context<'_> {
    /// Waits for lent memory to change, where all warps repeat their states. Returns false if none
    /// of them reads any, or the host does not wait.
    pub(super) fn may_change(&self, host: &dyn Host, progressed: bool) -> bool {
        self.global.take_lent_access() && host.waits(progressed)
    }
}

/// Livelock detector of one SM.
#[derive(Clone)]
pub(super) struct Watch {
    /// Issues since the last progress at which [`Watch::tick`] has more to do than to count: states
    /// are compared, or begin to be.
    due: u64,
    /// Issues until then, at least 1.
    left: u64,
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

/// Snapshot of a warp, and its steps since.
#[derive(Clone)]
pub(super) struct Record {
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
            due: QUIET,
            left: QUIET,
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
        self.look_again();
        self.progressed = true;
    }

    /// Compares states anew: memory may have changed.
    pub(super) fn look_again(&mut self) {
        (self.due, self.left) = (QUIET, QUIET);
    }

    /// Returns true if there was progress since the last call.
    pub(super) fn take_progress(&mut self) -> bool {
        std::mem::take(&mut self.progressed)
    }

    /// Records the progress of all SMs so far, a number that grows with it.
    #[inline]
    pub(super) fn catch_up(&mut self, progress: u64) {
        if self.known != progress {
            (self.known, self.due, self.left) = (progress, QUIET, QUIET);
        }
    }

    /// Returns true if the SM has been told of all progress so far.
    pub(super) fn knows(&self, progress: u64) -> bool {
        self.known == progress
    }

    /// Counts an issue. Returns true if states are compared now.
    #[inline]
    pub(super) fn tick(&mut self) -> bool {
        self.left -= 1;
        if self.left > 0 {
            return false;
        }
        self.begin_comparison();
        true
    }

    /// Forgets states that were not found to repeat in an earlier span of comparisons. Others still
    /// repeat: nothing has changed since.
    #[inline(never)]
    fn begin_comparison(&mut self) {
        let quiet = self.due;
        if quiet == QUIET {
            self.records.clear();
            self.repeats = false;
        } else if !compares(quiet - 1) {
            for slot in &mut self.records {
                slot.take_if(|record| !record.repeats);
            }
        }
        self.due = if compares(quiet + 1) { quiet + 1 } else { next_comparison(quiet) };
        self.left = self.due - quiet;
    }

    /// Returns the number of issues since the last progress.
    #[inline]
    fn quiet(&self) -> u64 {
        self.due - self.left
    }

    /// Counts `n` issues that are not observed, up to the one before the next comparison.
    #[inline]
    pub(super) fn skip(&mut self, n: u64) {
        self.left -= n.min(self.unobserved());
    }

    /// Returns the number of issues after which the next [`Watch::tick`] compares states.
    #[inline]
    pub(super) fn unobserved(&self) -> u64 {
        self.left - 1
    }

    /// Returns true if states are compared.
    #[inline]
    pub(super) fn compares(&self) -> bool {
        compares(self.quiet())
    }

    /// Returns true if a warp repeats a state, so that all of them may.
    #[inline]
    pub(super) fn found_repetition(&self) -> bool {
        self.repeats && self.is_quiet()
    }

    /// Returns true if states are or were compared since the last progress.
    #[inline]
    pub(super) fn is_quiet(&self) -> bool {
        self.quiet() >= QUIET
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
            && warps
                .iter()
                .enumerate()
                .all(|(w, warp)| warp.next.is_none() || self.repeated(w).is_some())
            && warps.iter().any(|warp| warp.next.is_some())
    }

    /// Returns the loop of a warp that repeats a state.
    pub(super) fn repeated(&self, w: usize) -> Option<&Record> {
        self.records.get(w)?.as_deref().filter(|record| record.repeats)
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

    /// Returns the PCs of the steps since the snapshot.
    pub(super) fn pcs(&self) -> impl Iterator<Item = Pc> {
        self.visited.iter().zip(0..).filter(|&(&visited, _)| visited).map(|(_, pc)| Pc(pc))
    }

    /// Returns true if a branch of the loop depends on memory that others may write.
    pub(super) fn awaits_memory(&self, steps: &[MicroOp]) -> bool {
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

/// Returns the registers that steps `of` a loop read, and those from which they are computed,
/// sorted.
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
            assert!(watch.tick() && watch.quiet() == span);
            watch.skip(1000);
            assert_eq!(watch.quiet(), span, "each issue of a span is observed");
            (0..span).for_each(|_| {
                watch.tick();
            });
        }
    }
}
