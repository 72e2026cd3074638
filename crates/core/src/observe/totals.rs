//! Totals of a run: integers from which every metric is derived.
//!
//! Units: *steps* are instructions as written; *machine instructions* are the issue slots to which
//! a step expands on the machine (`rem.u32` is one step and 17 machine instructions on an H200).
//! NVIDIA's counters count machine instructions, and so do these totals, with the steps listed
//! separately. Convergence-barrier steps of the independent mode are counted separately everywhere,
//! so that both modes can be compared.

use crate::base::{Cycle, MAX_LANES};
use crate::event::{AccessWay, L2Traffic, MemoryKind, Stall};

/// Totals of one memory and direction, over all warp-level accesses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TrafficTotals {
    /// Warp-level accesses.
    pub requests: u64,
    /// Bytes requested by lanes.
    pub requested_bytes: u64,
    /// 32-byte sectors touched.
    pub sectors: u64,
    /// 128-byte lines touched.
    pub lines: u64,
    /// Transactions as the machine's generation counts them.
    pub transactions: u64,
    /// Sectors that hit in L1.
    pub l1_hits: u64,
    /// Sectors of stores that joined those of earlier stores in the SM.
    pub combined: u64,
    /// Sectors that hit in L2.
    pub l2_hits: u64,
    /// Sectors counted twice in L2 because they crossed to the other partition.
    pub l2_crossed: u64,
    /// Sectors read from DRAM.
    pub dram_sectors: u64,
    /// Older sectors that L2 wrote back to DRAM meanwhile.
    pub written_back: u64,
    /// Passes through shared memory.
    pub wavefronts: u64,
    /// Minimum passes for the same accesses.
    pub ideal_wavefronts: u64,
}

impl TrafficTotals {
    /// Adds the counts of `other`.
    pub fn add(&mut self, other: &TrafficTotals) {
        self.requests += other.requests;
        self.requested_bytes += other.requested_bytes;
        self.sectors += other.sectors;
        self.lines += other.lines;
        self.transactions += other.transactions;
        self.l1_hits += other.l1_hits;
        self.combined += other.combined;
        self.l2_hits += other.l2_hits;
        self.l2_crossed += other.l2_crossed;
        self.dram_sectors += other.dram_sectors;
        self.written_back += other.written_back;
        self.wavefronts += other.wavefronts;
        self.ideal_wavefronts += other.ideal_wavefronts;
    }

    /// Returns the requests and their bytes, sectors, lines and transactions without those of
    /// `part`.
    #[must_use]
    pub const fn without(mut self, part: &TrafficTotals) -> TrafficTotals {
        self.requests -= part.requests;
        self.requested_bytes -= part.requested_bytes;
        self.sectors -= part.sectors;
        self.lines -= part.lines;
        self.transactions -= part.transactions;
        self
    }

    /// Replaces hits in the SMs' L2 shares by hits in one L2. A sample is scaled to all.
    pub(super) fn found_in_one_l2(&mut self, way: AccessWay, found: &L2Traffic) {
        // Stores do not read missing sectors.
        let asked =
            if way == AccessWay::Store { self.sectors - self.combined } else { self.l2_sectors() };
        let of_all =
            |n: u64| (u128::from(n) * u128::from(asked) / u128::from(found.sectors.max(1))) as u64;
        self.l2_hits = of_all(found.hits);
        self.l2_crossed = of_all(found.crossed);
        self.written_back = of_all(found.written_back);
        self.dram_sectors = if way == AccessWay::Store { 0 } else { asked - self.l2_hits };
    }

    /// Returns the sectors requested from L2.
    ///
    /// These are the misses in L1 and, on machines that fill whole lines, the rest of their lines.
    pub const fn l2_sectors(&self) -> u64 {
        self.l2_hits + self.dram_sectors
    }

    /// Returns the wavefronts beyond the ideal, the cost of bank conflicts.
    pub const fn bank_conflicts(&self) -> u64 {
        self.wavefronts.saturating_sub(self.ideal_wavefronts)
    }
}

/// Totals of one step of the stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StepTotals {
    /// True for a convergence-barrier step, which is not in the source.
    pub is_join: bool,
    /// Executions by a warp.
    pub issues: u64,
    /// Issue slots taken, in machine instructions.
    pub slots: u64,
    /// Active lanes, summed over the issues.
    pub active_lanes: u64,
    /// Lanes whose guard is true, summed over the issues.
    pub executed_lanes: u64,
    /// Issues at which the guard is true for some but not all active lanes.
    pub mixed: u64,
    /// Executions as a conditional branch.
    pub branches: u64,
    /// Divergent executions as a branch.
    pub divergent: u64,
    /// Lanes that took the branch, summed.
    pub taken_lanes: u64,
    /// Warp-level memory accesses.
    pub requests: u64,
    /// 32-byte sectors of these accesses.
    pub sectors: u64,
    /// Cycles that warps waited to issue it, by `Stall as usize`.
    pub stalls: [u64; Stall::ALL.len()],
}

impl StepTotals {
    /// Returns the state with the most cycles before this step.
    ///
    /// `None` if warps never waited for it.
    pub fn main_stall(&self) -> Option<(Stall, Cycle)> {
        let best = Stall::ALL
            .iter()
            .map(|&s| (s, self.stalls[s as usize]))
            .rev()
            .max_by_key(|&(_, cycles)| cycles);
        best.filter(|&(_, cycles)| cycles > 0)
    }
}

/// Executions of machine instructions by kind of opcode, as a profiler counts them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OpcodeTotals {
    /// BRA, BRX, CALL and RET.
    pub branch_targets: u64,
    /// These, EXIT, BSYNC, BREAK and WARPSYNC.
    pub control: u64,
    /// LDS, with executions whose lanes are all predicated off.
    pub shared_loads: u64,
    /// STS, likewise.
    pub shared_stores: u64,
}

/// Totals of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Totals {
    /// Lanes per warp.
    pub warp_size: u32,
    /// False if the run had no clock: cycles, stalls, lost slots and hits in caches are then 0 and
    /// mean nothing.
    pub timed: bool,
    /// Totals by step, indexed by `Pc`.
    pub steps: Vec<StepTotals>,

    /// Instructions as written executed by warps, without join steps.
    pub steps_executed: u64,
    /// Machine instructions executed by warps. Includes join steps if machine code is issued, not
    /// as written.
    pub inst_executed: u64,
    /// Machine instructions x active lanes; join steps as in `inst_executed`.
    pub thread_inst_executed: u64,
    /// Machine instructions x lanes whose guard is true.
    ///
    /// Join steps as in `inst_executed`.
    pub not_predicated_off: u64,
    /// Machine instructions by number of active lanes.
    ///
    /// Join steps as in `inst_executed`.
    pub histogram: [u64; MAX_LANES + 1],
    /// Join steps executed by warps.
    pub join_steps: u64,
    /// Issue slots of join steps.
    pub join_slots: u64,

    /// Executions by kind of opcode; `None` for PTX, which does not show them.
    pub opcodes: Option<OpcodeTotals>,
    /// Conditional branches executed.
    pub branches: u64,
    /// Conditional branches taken by some but not all active lanes.
    pub divergent_branches: u64,
    /// Arrivals of warps at block barriers.
    pub barriers: u64,
    /// Memory accesses; see [`Totals::traffic`].
    pub traffic: [[TrafficTotals; 3]; MemoryKind::COUNT],
    /// Writes of asynchronous copies to shared memory, which are no stores in `traffic`.
    pub shared_copies: TrafficTotals,
    /// Accesses of bulk copies to global memory, by `AccessWay as usize`: a part of `traffic` that
    /// is no access of the load/store unit.
    pub bulk_copies: [TrafficTotals; 3],

    /// Blocks started.
    pub blocks: u64,
    /// Warps started.
    pub warps: u64,
    /// Threads started.
    pub threads: u64,
    /// Cycles of residence, from launch to exit, summed over warps.
    pub resident_warp_cycles: u64,
    /// Cycles of resident warps without issue, by `Stall as usize`, summed over warps.
    pub stalls: [u64; Stall::ALL.len()],

    /// Issue slots used, by program and join steps.
    pub slots_used: u64,
    /// Issue slots lost while every warp of the scheduler waited.
    ///
    /// By `Stall as usize` of the warp ready first.
    pub slots_stalled: [u64; Stall::ALL.len()],
    /// Issue slots lost because the scheduler had no warp.
    pub slots_no_warp: u64,
    /// Issue slots lost before the scheduler's warps were launched.
    pub slots_launch: u64,

    /// Cycles of the slowest SM.
    pub elapsed_cycles: Cycle,
    /// Cycles of all SMs, summed.
    pub active_cycles: u64,
    /// SMs that ran at least one cycle.
    pub active_sms: u32,
}

impl Totals {
    /// Returns the totals of one memory and direction.
    pub const fn traffic(&self, memory: MemoryKind, way: AccessWay) -> &TrafficTotals {
        &self.traffic[memory as usize][way as usize]
    }

    /// Returns the cycles that warps spent in one state.
    pub const fn stalled(&self, stall: Stall) -> u64 {
        self.stalls[stall as usize]
    }

    /// Returns the cycles that warps spent in any state but selected.
    pub fn stalled_total(&self) -> u64 {
        self.stalls.iter().sum()
    }

    /// Returns all issue slots, used and lost: schedulers x cycles.
    pub fn slots_total(&self) -> u64 {
        self.slots_used
            + self.slots_no_warp
            + self.slots_launch
            + self.slots_stalled.iter().sum::<u64>()
    }
}
