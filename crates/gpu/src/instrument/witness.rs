//! The counts of the probes, taken by an observer of a run of the kernel without probes.

use super::counts::instruction;
use super::pass::{Log, Probe, ProbeKind};
use super::sequence::{LaneLog, Passed, Sequence, merged};
use simt_core::base::{Cycle, LaneMask, MAX_LANES, Pc};
use simt_core::event::{Event, Observer};
use simt_core::kernel::Kernel;
use std::collections::BTreeMap;

/// Counts blocks at their first instructions and branches at their own.
#[derive(Clone, Debug)]
pub(super) struct Witness<'a> {
    probes: &'a [Probe],
    /// Block probe and branch probe of each instruction.
    at: &'a [[Option<u32>; 2]],
    warps_per_block: u32,
    log: Option<Log>,
    /// Number in the grid of the warp in each slot of this SM.
    slots: Vec<u64>,
    pub(super) counters: Vec<u64>,
    /// Logs of the lanes of each warp of the grid.
    logs: BTreeMap<u64, Vec<LaneLog>>,
}

/// Maps each instruction of `kernel` to its block probe and its branch probe.
pub(super) fn places(kernel: &Kernel, probes: &[Probe]) -> Vec<[Option<u32>; 2]> {
    let mut at = vec![[None; 2]; kernel.insts.len()];
    for (number, probe) in probes.iter().enumerate() {
        if let Some(inst) = instruction(kernel, probe) {
            at[inst][usize::from(probe.kind == ProbeKind::Branch)] = Some(number as u32);
        }
    }
    at
}

impl<'a> Witness<'a> {
    pub(super) fn new(
        probes: &'a [Probe],
        at: &'a [[Option<u32>; 2]],
        warps_per_block: u32,
        log: Option<Log>,
    ) -> Witness<'a> {
        let counters = probes.iter().map(|p| p.first + 4).max().unwrap_or(0);
        let (slots, logs) = (Vec::new(), BTreeMap::new());
        Witness { probes, at, warps_per_block, log, slots, counters: vec![0; counters], logs }
    }

    /// Probes passed by the logged warps.
    pub(super) fn sequences(&self) -> Vec<Sequence> {
        let warps = self.log.map_or(0, |log| log.warps);
        (0..u64::from(warps))
            .map(|warp| self.logs.get(&warp).map(|lanes| merged(lanes)).unwrap_or_default())
            .collect()
    }

    fn pass(
        &mut self,
        slot: usize,
        (cycle, pc): (Cycle, Pc),
        kind: ProbeKind,
        lanes: LaneMask,
        taken: LaneMask,
    ) {
        let here =
            self.at.get(pc.index()).and_then(|at| at[usize::from(kind == ProbeKind::Branch)]);
        let Some((number, probe)) = here.and_then(|n| Some((n, self.probes.get(n as usize)?)))
        else {
            return;
        };
        let mut add = |counter: usize, n: u64| self.counters[probe.first + counter] += n;
        add(0, 1);
        match kind {
            ProbeKind::Block => add(1, lanes.count().into()),
            ProbeKind::Branch => {
                add(1, u64::from(!taken.is_empty() && taken != lanes));
                add(2, lanes.count().into());
                add(3, taken.count().into());
            }
        }
        if let (Some(log), Some(&warp)) = (self.log, self.slots.get(slot))
            && warp < u64::from(log.warps)
        {
            let all = self.logs.entry(warp).or_insert_with(|| vec![LaneLog::default(); MAX_LANES]);
            let leader = lanes.lowest().and_then(|lane| all.get_mut(lane as usize));
            let Some(lane) = leader else { return };
            if lane.entries.len() < log.events as usize {
                // A block's first instruction may be the branch that ends it.
                let time = 2 * cycle.cast_signed() + i64::from(kind == ProbeKind::Branch);
                lane.entries.push((time, Passed { probe: number, lanes, taken }));
            } else {
                lane.overflown = true;
            }
        }
    }
}

impl Observer for Witness<'_> {
    fn on(&mut self, event: Event) {
        match event {
            Event::WarpStart { warp, block, index, .. } => {
                if self.slots.len() <= warp.index() {
                    self.slots.resize(warp.index() + 1, u64::MAX);
                }
                self.slots[warp.index()] =
                    u64::from(block.0) * u64::from(self.warps_per_block) + u64::from(index);
            }
            Event::Issue { cycle, warp, pc, active, .. } => {
                self.pass(warp.index(), (cycle, pc), ProbeKind::Block, active, LaneMask::EMPTY);
            }
            Event::Branch { cycle, warp, pc, active, taken, .. } => {
                self.pass(warp.index(), (cycle, pc), ProbeKind::Branch, active, taken);
            }
            _ => {}
        }
    }

    fn merge(&mut self, other: Self) {
        self.counters.iter_mut().zip(&other.counters).for_each(|(mine, theirs)| *mine += theirs);
        self.logs.extend(other.logs);
    }
}
