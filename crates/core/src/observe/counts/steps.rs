//! Sums of one step: its issues, effects and stall cycles.

use crate::base::{LaneMask, MAX_LANES};
use crate::event::Stall;
use crate::isa::Space;
use crate::kernel::{ConvergenceOp, Op};
use crate::observe::totals::OpcodeTotals;

/// Issues of a step with equal masks, not yet added to the step's sums.
///
/// Warps mostly issue a step with the masks of its last issue, so an issue costs two additions. The
/// sums are no neighbors: a compiler adds to two of these at once, in more instructions.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(32))] // in one cache line
pub(super) struct Run {
    pub(super) issues: u64,
    pub(super) active: LaneMask,
    /// Lanes whose guard is true.
    pub(super) lanes: LaneMask,
    pub(super) slots: u64,
}

/// Sums of a step's runs.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct StepIssues {
    pub(super) issues: u64,
    pub(super) slots: u64,
    pub(super) active_lanes: u64,
    pub(super) executed_lanes: u64,
    /// Machine instructions x active lanes.
    pub(super) thread_slots: u64,
    /// Machine instructions x lanes whose guard is true.
    pub(super) guarded_slots: u64,
    /// Issues at which the guard is true for some but not all active lanes.
    pub(super) mixed: u64,
    pub(super) is_join: bool,
    /// True for a convergence operation of machine code, which is an instruction of the program.
    pub(super) converges: bool,
    pub(super) kind: OpcodeKind,
    /// True for saves and restores of a recursive function's registers.
    pub(super) is_spill: bool,
}

/// Machine instructions by `is_join` and number of active lanes.
pub(super) type Histogram = [[u64; MAX_LANES + 1]; 2];

impl StepIssues {
    /// Adds a run.
    #[inline(always)]
    pub(super) fn add(&mut self, ended: Run, histogram: &mut Histogram) {
        // The caller's loop may be compiled for a processor that counts bits in one instruction.
        self.add_lanes(ended, ended.active.count(), ended.lanes.count(), histogram);
    }

    /// Adds a run with `n` active lanes, of which `executed` have a guard that is true.
    #[inline(never)]
    fn add_lanes(&mut self, ended: Run, n: u32, executed: u32, histogram: &mut Histogram) {
        self.issues += ended.issues;
        self.slots += ended.slots;
        self.active_lanes += ended.issues * u64::from(n);
        self.executed_lanes += ended.issues * u64::from(executed);
        self.thread_slots += ended.slots * u64::from(n);
        self.guarded_slots += ended.slots * u64::from(executed);
        self.mixed += if executed != n && executed != 0 { ended.issues } else { 0 };
        histogram[usize::from(self.is_join)][n as usize] += ended.slots;
    }
}

/// Kind of a machine instruction, for [`OpcodeTotals`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum OpcodeKind {
    #[default]
    Other,
    Branch,
    Control,
    SharedLoad,
    SharedStore,
}

impl OpcodeKind {
    pub(super) fn of(op: &Op) -> OpcodeKind {
        match op {
            Op::Branch { .. } | Op::BranchTogether { .. } => OpcodeKind::Branch,
            Op::BranchByConvergence { .. } => OpcodeKind::Branch,
            Op::Jump(_) | Op::Exit | Op::Gather { .. } | Op::EndCollective => OpcodeKind::Control,
            Op::Join(ConvergenceOp::Sync(_) | ConvergenceOp::Break(_) | ConvergenceOp::Yield) => {
                OpcodeKind::Control
            }
            Op::Load(load) if load.access.space == Space::Shared => OpcodeKind::SharedLoad,
            Op::Store(store) if store.access.space == Space::Shared => OpcodeKind::SharedStore,
            _ => OpcodeKind::Other,
        }
    }

    /// Adds issues of a step, and the branches that a control instruction makes.
    pub(super) fn count(self, issues: u64, branches: u64, totals: &mut OpcodeTotals) {
        match self {
            OpcodeKind::Other => {}
            OpcodeKind::Branch => {
                totals.branch_targets += issues;
                totals.control += issues;
            }
            OpcodeKind::Control => {
                totals.branch_targets += branches;
                totals.control += issues;
            }
            OpcodeKind::SharedLoad => totals.shared_loads += issues,
            OpcodeKind::SharedStore => totals.shared_stores += issues,
        }
    }
}

/// Counters of a step that only branches and memory accesses update.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Effects {
    pub(super) branches: u64,
    pub(super) divergent: u64,
    pub(super) taken_lanes: u64,
    pub(super) requests: u64,
    pub(super) sectors: u64,
    pub(super) copies: CopyKind,
}

/// Kind of copy whose traffic a profiler counts apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum CopyKind {
    #[default]
    None,
    /// `cp.async`: a global load, whose write to shared memory is no store.
    Asynchronous,
    /// Bulk copy: no access of the load/store unit.
    Bulk,
}

impl CopyKind {
    pub(super) fn of(op: &Op) -> CopyKind {
        match op {
            Op::AsyncCopy(_) => CopyKind::Asynchronous,
            Op::BulkCopy(_) => CopyKind::Bulk,
            _ => CopyKind::None,
        }
    }
}

impl Effects {
    #[inline(always)]
    pub(super) fn branch(&mut self, active: LaneMask, taken: LaneMask, times: u64) {
        self.branches += times;
        self.divergent += if taken.is_empty() || taken == active { 0 } else { times };
        self.taken_lanes += times * u64::from(taken.count());
    }
}

pub(super) type StallCycles = [u64; Stall::ALL.len()];

/// Entries of [`StepStalls`] that states have, a power of two.
pub(super) const STALLS: usize = 32;
/// Entries of [`StepStalls`]. Their lines are not a power of two, so that a cache has room for the
/// first lines of many steps.
pub(super) const ENTRIES: usize = STALLS + 8;

/// Stall cycles of a step. The usual states have the first cache line.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(super) struct StepStalls(pub(super) [u64; ENTRIES]);

impl StepStalls {
    pub(super) const NONE: StepStalls = StepStalls([0; ENTRIES]);

    /// Entries by the number of the state. Those that each issue adds to have no neighbors there,
    /// as in [`Run`].
    const BY_STATE: [u8; STALLS] = {
        const USUAL: [Stall; 8] = [
            Stall::DispatchStall,
            Stall::Wait,
            Stall::ShortScoreboard,
            Stall::LongScoreboard,
            Stall::Barrier,
            Stall::BranchResolving,
            Stall::MathPipeThrottle,
            Stall::NotSelected,
        ];
        let mut entries = [u8::MAX; STALLS];
        let mut next = 0;
        while next < USUAL.len() {
            entries[USUAL[next] as usize] = next as u8;
            next += 1;
        }
        let mut state = 0;
        while state < STALLS {
            if entries[state] == u8::MAX {
                entries[state] = next as u8;
                next += 1;
            }
            state += 1;
        }
        entries
    };

    #[inline(always)]
    pub(super) fn of(&mut self, stall: Stall) -> &mut u64 {
        let entry = StepStalls::BY_STATE[stall as usize % STALLS];
        &mut self.0[usize::from(entry) % STALLS]
    }

    pub(super) fn by_state(mut self) -> StallCycles {
        Stall::ALL.map(|stall| *self.of(stall))
    }
}
