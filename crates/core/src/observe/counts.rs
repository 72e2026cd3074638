//! Fold of the report's counters.
//!
//! It is hot: about five events per warp instruction, each a few additions to arrays indexed by
//! step or state.
//!
//! Sums over the table of steps are not counted separately; see [`Counts::finish`].

mod steps;

use std::collections::BTreeMap;

use super::output::Output;
use super::totals::{OpcodeTotals, StepTotals, Totals, TrafficTotals};
use crate::base::{Cycle, LaneMask, MAX_LANES, Pc, SmId, WarpId};
use crate::code::Code;
use crate::event::{Event, Issues, MemoryKind, Observer, Printed, SlotLoss, Stall, Traffic};
use crate::kernel::Op;
use steps::{CopyKind, Effects, Histogram, OpcodeKind, Run, StallCycles, StepIssues, StepStalls};

/// Counters for a report, one per SM. Merged in any order they give the same [`Totals`].
#[derive(Clone, Debug)]
pub struct Counts {
    warp_size: u32,
    /// False for a run without time.
    timed: bool,
    /// True if join steps count as machine instructions.
    counts_joins: bool,
    /// True for machine code, whose opcodes are counted as a profiler does.
    has_opcodes: bool,
    /// Issues by step that are not in its sums yet.
    runs: Vec<Run>,
    /// Issue counters by step.
    issues: Vec<StepIssues>,
    /// Branch and memory counters by step.
    effects: Vec<Effects>,
    /// Stall cycles by step.
    ///
    /// The entry past the last step is for warps that drain after their exit.
    stalls: Vec<StepStalls>,
    histogram: Histogram,
    traffic: [[TrafficTotals; 3]; MemoryKind::COUNT],
    shared_copies: TrafficTotals,
    bulk_copies: [TrafficTotals; 3],
    /// Shuffles from inactive lanes by step.
    undefined_shuffles: BTreeMap<Pc, u64>,
    barriers: u64,
    blocks: u64,
    warps: u64,
    threads: u64,
    resident: u64,
    /// Resident warps, and the sum of their launch cycles: a run cut short still counts them.
    open_warps: u64,
    open_since: u64,
    slots_stalled: StallCycles,
    slots_no_warp: u64,
    slots_launch: u64,
    elapsed: Cycle,
    active: u64,
    active_sms: u32,
    output: Output,
}

impl Counts {
    /// Creates counters for a code; see [`Counts::new`].
    pub fn of_code(code: &Code, warp_size: u32) -> Counts {
        let is_join: Vec<bool> = code.ops().iter().map(|step| step.source.is_none()).collect();
        let mut counts = Counts::new(&is_join, warp_size, code.is_machine_code());
        for (row, step) in counts.issues.iter_mut().zip(code.ops()) {
            row.converges = step.source.is_some() && matches!(step.inst.op, Op::Join(_));
            row.is_spill = matches!(step.inst.op, Op::Spill(_));
            row.kind = OpcodeKind::of(&step.inst.op);
        }
        for (effects, step) in counts.effects.iter_mut().zip(code.ops()) {
            effects.copies = CopyKind::of(&step.inst.op);
        }
        counts.has_opcodes = code.kernel().native.is_some();
        counts
    }

    /// Creates counters for a stream whose step `pc` is a join step iff `is_join[pc]`.
    ///
    /// Warps have `warp_size` lanes. With `counts_joins` the slots of join steps count as machine
    /// instructions, as in a profiler.
    pub fn new(is_join: &[bool], warp_size: u32, counts_joins: bool) -> Counts {
        Counts {
            warp_size,
            timed: true,
            counts_joins,
            has_opcodes: false,
            runs: vec![Run::default(); is_join.len()],
            issues: is_join
                .iter()
                .map(|&is_join| StepIssues { is_join, ..StepIssues::default() })
                .collect(),
            effects: vec![Effects::default(); is_join.len()],
            stalls: vec![StepStalls::NONE; is_join.len() + 1],
            histogram: [[0; MAX_LANES + 1]; 2],
            traffic: Default::default(),
            shared_copies: TrafficTotals::default(),
            bulk_copies: Default::default(),
            undefined_shuffles: BTreeMap::new(),
            barriers: 0,
            blocks: 0,
            warps: 0,
            threads: 0,
            resident: 0,
            open_warps: 0,
            open_since: 0,
            slots_stalled: [0; Stall::ALL.len()],
            slots_no_warp: 0,
            slots_launch: 0,
            elapsed: 0,
            active: 0,
            active_sms: 0,
            output: Output::default(),
        }
    }

    /// Makes the counters those of a run with a clock, or without one, in which no warp stalls.
    pub fn timed(self, timed: bool) -> Counts {
        let stalls = if timed { self.stalls } else { Vec::new() };
        Counts { timed, stalls, ..self }
    }

    /// Returns the texts that threads printed.
    pub fn output(&self) -> &Output {
        &self.output
    }

    /// Returns the shuffles that read inactive lanes, with their number of executions.
    pub fn undefined_shuffles(&self) -> impl Iterator<Item = (Pc, u64)> {
        self.undefined_shuffles.iter().map(|(&pc, &times)| (pc, times))
    }

    /// Counts issues of a step: 1, or 0 for a further micro-op of it.
    #[inline(always)]
    fn issue(&mut self, pc: usize, active: LaneMask, lanes: LaneMask, issues: u64, slots: u64) {
        let run = &mut self.runs[pc];
        if (run.active, run.lanes) != (active, lanes) {
            let ended = std::mem::replace(run, Run { active, lanes, issues: 0, slots: 0 });
            self.issues[pc].add(ended, &mut self.histogram);
        }
        run.issues += issues;
        run.slots += slots;
    }

    /// Adds all runs to the sums.
    fn end_runs(&mut self) {
        for (run, sums) in self.runs.iter_mut().zip(&mut self.issues) {
            sums.add(std::mem::take(run), &mut self.histogram);
        }
    }

    #[inline(always)]
    fn memory(&mut self, pc: usize, t: &Traffic, times: u64) {
        let step = &mut self.effects[pc];
        step.requests += times;
        step.sectors += times * u64::from(t.sectors);
        let traffic = TrafficTotals {
            requests: times * u64::from(t.requests()),
            requested_bytes: times * u64::from(t.requested),
            sectors: times * u64::from(t.sectors),
            lines: times * u64::from(t.lines),
            transactions: times * u64::from(t.transactions),
            l1_hits: times * u64::from(t.l1_hits),
            combined: times * u64::from(t.combined),
            l2_hits: times * u64::from(t.l2_hits),
            l2_crossed: times * u64::from(t.l2_crossed),
            dram_sectors: times * u64::from(t.dram),
            written_back: times * u64::from(t.written_back),
            wavefronts: times * u64::from(t.wavefronts),
            ideal_wavefronts: times * u64::from(t.ideal_wavefronts),
        };
        let shared = t.memory == MemoryKind::Shared;
        match step.copies {
            CopyKind::None => {}
            CopyKind::Asynchronous if shared => return self.shared_copies.add(&traffic),
            CopyKind::Asynchronous => {}
            CopyKind::Bulk if shared => return,
            CopyKind::Bulk => self.bulk_copies[t.kind as usize].add(&traffic),
        }
        self.traffic[t.memory as usize][t.kind as usize].add(&traffic);
    }

    /// Returns the totals.
    pub fn finish(mut self) -> Totals {
        self.end_runs();
        let mut totals = Totals {
            warp_size: self.warp_size,
            timed: self.timed,
            steps: Vec::new(),
            steps_executed: 0,
            inst_executed: 0,
            thread_inst_executed: 0,
            not_predicated_off: 0,
            histogram: if self.counts_joins { added(self.histogram) } else { self.histogram[0] },
            join_steps: 0,
            join_slots: 0,
            opcodes: self.has_opcodes.then(OpcodeTotals::default),
            branches: 0,
            divergent_branches: 0,
            barriers: self.barriers,
            traffic: self.traffic,
            shared_copies: self.shared_copies,
            bulk_copies: self.bulk_copies,
            blocks: self.blocks,
            warps: self.warps,
            threads: self.threads,
            resident_warp_cycles: self.resident,
            stalls: [0; Stall::ALL.len()],
            slots_used: 0,
            slots_stalled: self.slots_stalled,
            slots_no_warp: self.slots_no_warp,
            slots_launch: self.slots_launch,
            elapsed_cycles: self.elapsed,
            active_cycles: self.active,
            active_sms: self.active_sms,
        };
        let no_cycles = std::iter::repeat([0; Stall::ALL.len()]);
        let stalls = self.stalls.iter().map(|row| row.by_state()).chain(no_cycles);
        for ((row, effects), stalls) in self.issues.iter().zip(&self.effects).zip(stalls) {
            if row.is_join {
                totals.join_steps += row.issues;
                totals.join_slots += row.slots;
            } else if !row.is_spill {
                totals.steps_executed += row.issues;
                totals.join_steps += if row.converges { row.issues } else { 0 };
            }
            if !row.is_join || self.counts_joins {
                totals.inst_executed += row.slots;
                totals.thread_inst_executed += row.thread_slots;
                totals.not_predicated_off += row.guarded_slots;
            }
            totals.slots_used += row.slots;
            if let Some(opcodes) = &mut totals.opcodes {
                row.kind.count(row.issues, effects.branches, opcodes);
            }
            totals.branches += effects.branches;
            totals.divergent_branches += effects.divergent;
            totals.steps.push(StepTotals {
                is_join: row.is_join,
                issues: row.issues,
                slots: row.slots,
                active_lanes: row.active_lanes,
                executed_lanes: row.executed_lanes,
                mixed: row.mixed,
                branches: effects.branches,
                divergent: effects.divergent,
                taken_lanes: effects.taken_lanes,
                requests: effects.requests,
                sectors: effects.sectors,
                stalls,
            });
        }
        for cycles in &self.stalls {
            add(&mut totals.stalls, &cycles.by_state());
        }
        totals
    }
}

/// Adds the two histograms.
fn added([a, b]: [[u64; MAX_LANES + 1]; 2]) -> [u64; MAX_LANES + 1] {
    std::array::from_fn(|lanes| a[lanes] + b[lanes])
}

impl Observer for Counts {
    const FOLDS: bool = true;

    fn issues(&mut self, issues: &Issues) {
        let &Issues { pc, active, lanes, times, slots, is_branch } = issues;
        self.issue(pc.index(), active, lanes, times, slots);
        if is_branch {
            self.effects[pc.index()].branch(active, lanes, times);
        }
    }

    fn accesses(&mut self, pc: Pc, traffic: &Traffic, times: u64) {
        self.memory(pc.index(), traffic, times);
    }

    const EACH_MICRO_OP: bool = false;
    const EACH_SM_ALONE: bool = true;

    #[inline(always)]
    fn micro_ops(&mut self, pc: Pc, active: LaneMask, lanes: LaneMask, count: u32) {
        self.issue(pc.index(), active, lanes, 0, count.into());
    }

    #[inline(always)]
    fn on(&mut self, event: Event) {
        match event {
            Event::Issue { pc, active, lanes, slots, .. } => {
                self.issue(pc.index(), active, lanes, 1, slots.into())
            }
            Event::IssueMicroOp { pc, active, lanes, .. } => {
                self.issue(pc.index(), active, lanes, 0, 1)
            }
            Event::WarpStalled { pc, stall, cycles, .. } => {
                let last = self.stalls.len().saturating_sub(1);
                if let Some(row) = self.stalls.get_mut(pc.index().min(last)) {
                    *row.of(stall) += cycles;
                }
            }
            Event::SlotsLost { reason: SlotLoss::NoWarp, cycles, .. } => {
                self.slots_no_warp += cycles
            }
            Event::SlotsLost { reason: SlotLoss::Launch, cycles, .. } => {
                self.slots_launch += cycles
            }
            Event::SlotsLost { reason: SlotLoss::Stalled(stall), cycles, .. } => {
                self.slots_stalled[stall as usize] += cycles;
            }
            Event::Memory { pc, traffic, .. } => self.memory(pc.index(), &traffic, 1),
            Event::Branch { pc, active, taken, .. } => {
                self.effects[pc.index()].branch(active, taken, 1)
            }
            Event::Barrier { .. } => self.barriers += 1,
            Event::BlockStart { .. } => self.blocks += 1,
            Event::UndefinedShuffle { pc, .. } => {
                *self.undefined_shuffles.entry(pc).or_default() += 1
            }
            Event::BlockEnd { .. }
            | Event::BarrierOpen { .. }
            | Event::BarrierPassed { .. }
            | Event::Collective { .. } => {}
            Event::WarpStart { cycle, lanes, .. } => {
                self.warps += 1;
                self.threads += u64::from(lanes.count());
                self.open_warps += 1;
                self.open_since += cycle;
            }
            Event::WarpEnd { cycle, since, .. } => {
                self.resident += cycle.saturating_sub(since);
                self.open_warps = self.open_warps.saturating_sub(1);
                self.open_since = self.open_since.saturating_sub(since);
            }
            Event::SmEnd { cycle, .. } => {
                self.resident += (self.open_warps * cycle).saturating_sub(self.open_since);
                (self.open_warps, self.open_since) = (0, 0);
                self.elapsed = self.elapsed.max(cycle);
                self.active += cycle;
                self.active_sms += u32::from(cycle > 0);
            }
            Event::L2 { memory, way, found } => {
                self.traffic[memory as usize][way as usize].found_in_one_l2(way, &found);
            }
        }
    }

    #[inline(always)]
    fn waited<const N: usize>(&mut self, _: SmId, _: WarpId, pc: Pc, states: [(Stall, Cycle); N]) {
        // A state without cycles adds nothing: no branch.
        let row = &mut self.stalls[pc.index()];
        for (stall, cycles) in states {
            *row.of(stall) += cycles;
        }
    }

    #[inline(always)]
    fn stalled(&mut self, _: Cycle, _: SmId, _: u32, stall: Stall, cycles: Cycle) {
        self.slots_stalled[stall as usize] += cycles;
    }

    fn printed(&mut self, printed: &Printed<'_>) {
        self.output.printed(printed);
    }

    fn merge(&mut self, mut other: Counts) {
        self.end_runs();
        other.end_runs();
        self.output.merge(other.output);
        assert_eq!(self.issues.len(), other.issues.len(), "observers of two different streams");
        for (mine, theirs) in self.issues.iter_mut().zip(&other.issues) {
            mine.issues += theirs.issues;
            mine.slots += theirs.slots;
            mine.active_lanes += theirs.active_lanes;
            mine.executed_lanes += theirs.executed_lanes;
            mine.thread_slots += theirs.thread_slots;
            mine.guarded_slots += theirs.guarded_slots;
            mine.mixed += theirs.mixed;
        }
        for (mine, theirs) in self.effects.iter_mut().zip(&other.effects) {
            mine.branches += theirs.branches;
            mine.divergent += theirs.divergent;
            mine.taken_lanes += theirs.taken_lanes;
            mine.requests += theirs.requests;
            mine.sectors += theirs.sectors;
        }
        for (pc, times) in other.undefined_shuffles {
            *self.undefined_shuffles.entry(pc).or_default() += times;
        }
        for (mine, theirs) in self.stalls.iter_mut().zip(&other.stalls) {
            add(&mut mine.0, &theirs.0);
        }
        add(&mut self.slots_stalled, &other.slots_stalled);
        for (mine, theirs) in
            self.histogram.iter_mut().flatten().zip(other.histogram.iter().flatten())
        {
            *mine += theirs;
        }
        for (mine, theirs) in self.traffic.iter_mut().flatten().zip(other.traffic.iter().flatten())
        {
            mine.add(theirs);
        }
        self.shared_copies.add(&other.shared_copies);
        for (mine, theirs) in self.bulk_copies.iter_mut().zip(&other.bulk_copies) {
            mine.add(theirs);
        }
        self.slots_no_warp += other.slots_no_warp;
        self.slots_launch += other.slots_launch;
        self.barriers += other.barriers;
        self.blocks += other.blocks;
        self.warps += other.warps;
        self.threads += other.threads;
        self.resident += other.resident;
        self.open_warps += other.open_warps;
        self.open_since += other.open_since;
        self.elapsed = self.elapsed.max(other.elapsed);
        self.active += other.active;
        self.active_sms += other.active_sms;
    }
}

fn add<const N: usize>(sums: &mut [u64; N], more: &[u64; N]) {
    for (sum, cycles) in sums.iter_mut().zip(more) {
        *sum += cycles;
    }
}

#[cfg(test)]
mod tests;
