//! What a run adds up to: integers that every metric is derived from.
//!
//! Units: *steps* are instructions as the author wrote them; *machine instructions* are the issue slots that a step
//! expands to on the machine (`rem.u32` is one step and 17 machine instructions on an H200). NVIDIA's counters count
//! machine instructions, so do the totals here, with the steps beside them. The convergence-barrier steps that the
//! independent mode inserts are counted apart everywhere, so that both modes can be compared.

use crate::base::{Cycle, MAX_LANES};
use crate::event::{AccessWay, L2Traffic, MemoryKind, Stall};

/// How one memory was used in one way: sums over all warp-level accesses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TrafficTotals {
    /// Warp-level accesses.
    pub requests: u64,
    /// Bytes asked for by lanes.
    pub requested_bytes: u64,
    /// 32-byte sectors touched.
    pub sectors: u64,
    /// 128-byte lines touched.
    pub lines: u64,
    /// Transactions as the machine's generation counts them.
    pub transactions: u64,
    /// Sectors found in L1.
    pub l1_hits: u64,
    /// Sectors found in L2.
    pub l2_hits: u64,
    /// Sectors that L2 counts a second time, because they crossed to its other partition.
    pub l2_crossed: u64,
    /// Sectors that were read from DRAM.
    pub dram_sectors: u64,
    /// Older sectors that L2 wrote back to DRAM meanwhile.
    pub written_back: u64,
    /// Passes through shared memory.
    pub wavefronts: u64,
    /// The fewest passes the same accesses could have taken.
    pub ideal_wavefronts: u64,
}

impl TrafficTotals {
    /// Adds what `other` counted.
    pub fn add(&mut self, other: &TrafficTotals) {
        self.requests += other.requests;
        self.requested_bytes += other.requested_bytes;
        self.sectors += other.sectors;
        self.lines += other.lines;
        self.transactions += other.transactions;
        self.l1_hits += other.l1_hits;
        self.l2_hits += other.l2_hits;
        self.l2_crossed += other.l2_crossed;
        self.dram_sectors += other.dram_sectors;
        self.written_back += other.written_back;
        self.wavefronts += other.wavefronts;
        self.ideal_wavefronts += other.ideal_wavefronts;
    }

    /// Puts what the accesses of all SMs found in one L2 in the place of what those of each found in its share. A sample stands for all.
    pub(super) fn found_in_one_l2(&mut self, way: AccessWay, found: &L2Traffic) {
        // Stores do not read what they miss.
        let asked = if way == AccessWay::Store { self.sectors } else { self.l2_sectors() };
        let of_all = |n: u64| (u128::from(n) * u128::from(asked) / u128::from(found.sectors.max(1))) as u64;
        self.l2_hits = of_all(found.hits);
        self.l2_crossed = of_all(found.crossed);
        self.written_back = of_all(found.written_back);
        self.dram_sectors = if way == AccessWay::Store { 0 } else { asked - self.l2_hits };
    }

    /// Sectors asked of L2: those that L1 did not have, and on machines that fill whole lines the rest of their lines.
    pub const fn l2_sectors(&self) -> u64 {
        self.l2_hits + self.dram_sectors
    }

    /// Wavefronts beyond the ideal: what bank conflicts cost.
    pub const fn bank_conflicts(&self) -> u64 {
        self.wavefronts.saturating_sub(self.ideal_wavefronts)
    }
}

/// What one step of the stream did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StepTotals {
    /// Whether the step is a convergence-barrier step, which no author wrote.
    pub is_join: bool,
    /// Times a warp executed it.
    pub issues: u64,
    /// Issue slots it took: machine instructions.
    pub slots: u64,
    /// Active lanes, summed over the issues.
    pub active_lanes: u64,
    /// Lanes whose guard held, summed over the issues.
    pub executed_lanes: u64,
    /// Issues at which the guard held for some of the active lanes, but not for all.
    pub mixed: u64,
    /// Times it was executed as a conditional branch.
    pub branches: u64,
    /// Of those, how often some but not all active lanes branched.
    pub divergent: u64,
    /// Lanes that branched, summed.
    pub taken_lanes: u64,
    /// Warp-level memory accesses.
    pub requests: u64,
    /// 32-byte sectors of those.
    pub sectors: u64,
    /// Cycles that warps waited to issue it, by `Stall as usize`.
    pub stalls: [u64; Stall::ALL.len()],
}

impl StepTotals {
    /// The state warps spent most time in before this step, with its cycles; `None` if they never waited for it.
    pub fn main_stall(&self) -> Option<(Stall, Cycle)> {
        let best = Stall::ALL.iter().map(|&s| (s, self.stalls[s as usize])).rev().max_by_key(|&(_, cycles)| cycles);
        best.filter(|&(_, cycles)| cycles > 0)
    }
}

/// Everything that was counted in a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Totals {
    /// Lanes of a warp.
    pub warp_size: u32,
    /// By step: the index is the `Pc`.
    pub steps: Vec<StepTotals>,

    /// Instructions as written that warps executed; no join steps.
    pub steps_executed: u64,
    /// Machine instructions that warps executed. Join steps are among them where machine code is issued, not as written.
    pub inst_executed: u64,
    /// Machine instructions x active lanes; join steps as in `inst_executed`.
    pub thread_inst_executed: u64,
    /// Machine instructions x lanes whose guard held; join steps as in `inst_executed`.
    pub not_predicated_off: u64,
    /// Machine instructions by number of active lanes; join steps as in `inst_executed`.
    pub histogram: [u64; MAX_LANES + 1],
    /// Join steps that warps executed.
    pub join_steps: u64,
    /// Issue slots that join steps took.
    pub join_slots: u64,

    /// Conditional branches executed.
    pub branches: u64,
    /// Conditional branches of which some but not all active lanes were taken.
    pub divergent_branches: u64,
    /// Arrivals of warps at block barriers.
    pub barriers: u64,
    /// Memory accesses, see [`Totals::traffic`].
    pub traffic: [[TrafficTotals; 3]; 4],

    /// Blocks started.
    pub blocks: u64,
    /// Warps started.
    pub warps: u64,
    /// Threads started.
    pub threads: u64,
    /// Cycles that warps were resident, from launch to exit, summed over warps.
    pub resident_warp_cycles: u64,
    /// Cycles that resident warps did not issue, by `Stall as usize`, summed over warps.
    pub stalls: [u64; Stall::ALL.len()],

    /// Issue slots used, by program and join steps.
    pub slots_used: u64,
    /// Issue slots lost because every warp of the scheduler waited, by `Stall as usize` of the one ready first.
    pub slots_stalled: [u64; Stall::ALL.len()],
    /// Issue slots lost because the scheduler had no warp.
    pub slots_no_warp: u64,
    /// Issue slots lost because the scheduler's warps were not launched yet.
    pub slots_launch: u64,

    /// Cycles of the SM that took longest.
    pub elapsed_cycles: Cycle,
    /// Cycles of all SMs, summed.
    pub active_cycles: u64,
    /// SMs that ran at least one cycle.
    pub active_sms: u32,
}

impl Totals {
    /// How `memory` was used in one `way`.
    pub const fn traffic(&self, memory: MemoryKind, way: AccessWay) -> &TrafficTotals {
        &self.traffic[memory as usize][way as usize]
    }

    /// Cycles that warps spent in one state.
    pub const fn stalled(&self, stall: Stall) -> u64 {
        self.stalls[stall as usize]
    }

    /// Cycles that warps spent in any state but selected.
    pub fn stalled_total(&self) -> u64 {
        self.stalls.iter().sum()
    }

    /// All issue slots, used and lost. A machine that attributes each slot once makes this its schedulers x its cycles.
    pub fn slots_total(&self) -> u64 {
        self.slots_used + self.slots_no_warp + self.slots_launch + self.slots_stalled.iter().sum::<u64>()
    }
}
