//! Synchronization of lanes: `.sync` instructions and block barriers.

use super::super::clocks::{Meeting, block_barrier, leave};
use super::super::finding::{Does, Finding, Findings, Kind, Place};
use super::super::parting::AlignedArrival;
use super::super::steps::{Facts, Role, Steps};
use super::super::sync::{Arrival, Phase, mask};
use super::{Checker, finding};
use crate::base::{LaneMask, Pc};

impl Checker {
    pub(super) fn collective(&mut self, slot: usize, pc: Pc, lanes: LaneMask, members: LaneMask) {
        let Checker { common, warps, blocks, found, .. } = self;
        let Some(Some(warp)) = warps.get_mut(slot) else { return };
        let Some(Some(block)) = blocks.get_mut(warp.block) else { return };
        let Some(facts) = common.steps.at(pc) else { return };
        let is_sync = facts.role == Role::WarpSync;
        if common.checks.sync
            && let Some((kind, which)) =
                mask(members, lanes, warp.live, warp.started, is_sync && !common.lock_step)
        {
            let here = Place { pc, block: block.clock.id, warp: warp.index, lanes, does: Does::Is };
            let there = match kind {
                Kind::MaskEnded => block.ended,
                _ => None,
            };
            found.add(kind, [facts.line; 2], || finding(kind, here, there, which.list()));
        }
        if common.lock_step || !common.checks.races {
            return;
        }
        if lanes.is_subset(warp.met) {
            warp.met -= lanes;
            return;
        }
        let named = (members & warp.live) | lanes;
        warp.clock.warp_barrier(&mut block.clock, named, warp.live);
        // Lanes with other masks may still be on their way to their own `bar.warp.sync`.
        warp.met -= named;
        if is_sync {
            warp.met |= named - lanes;
        }
    }

    pub(super) fn undefined_shuffle(&mut self, slot: usize, pc: Pc, lanes: LaneMask, source: u32) {
        let Checker { common, warps, blocks, found, .. } = self;
        let Some(Some(warp)) = warps.get_mut(slot) else { return };
        let Some(Some(block)) = blocks.get_mut(warp.block) else { return };
        let Some(facts) = common.steps.at(pc) else { return };
        let here = Place { pc, block: block.clock.id, warp: warp.index, lanes, does: Does::Is };
        let kind = Kind::UndefinedShuffle;
        found.add(kind, [facts.line; 2], || finding(kind, here, None, source.to_string()));
    }

    pub(super) fn barrier(
        &mut self,
        slot: usize,
        arrival: Arrival,
        lanes: LaneMask,
        arriving: LaneMask,
        id: u8,
    ) {
        let Checker { common, warps, blocks, found, .. } = self;
        let Some(Some(warp)) = warps.get_mut(slot) else { return };
        let Some(Some(block)) = blocks.get_mut(warp.block) else { return };
        let Some(facts) = common.steps.at(arrival.pc) else { return };
        let number = block.clock.id;
        if common.lock_step && common.checks.races {
            // In lock-step, an arrival orders all earlier accesses of the warp.
            warp.clock.lock_step(&mut block.clock);
        }
        let phase = &mut block.phases[usize::from(id) % 16];
        let misuse = phase.arrive(arrival, slot, lanes, (common.threads, common.warp_size));
        if arrival.sync {
            phase.waiting.push((slot, arriving));
        } else if common.checks.races {
            let arrived = phase.arrived.get_or_insert_with(Meeting::default);
            arrived.arrive(&mut warp.clock, &mut block.clock, arriving, warp.live);
        }
        if !common.checks.barrier {
            return;
        }
        let here = Place { pc: arrival.pc, block: number, warp: warp.index, lanes, does: Does::Is };
        let away = warp.live - lanes;
        if arrival.aligned && common.lock_step && !away.is_empty() {
            let kind = Kind::BarrierInParts;
            return found.add(kind, [facts.line; 2], || finding(kind, here, None, away.list()));
        }
        let otherwise = if let Some(misuse) = misuse {
            let there = misuse.other.and_then(|(pc, slot, lanes)| {
                let warp = warps.get(slot)?.as_ref()?.index;
                Some(Place { pc, block: number, warp, lanes, does: Does::Is })
            });
            Some(finding(misuse.kind, here, there, misuse.detail))
        } else if let (Some(ended), None) = (block.ended, arrival.count) {
            Some(finding(Kind::BarrierAfterExit, here, Some(ended), block.gone.to_string()))
        } else {
            None
        };
        let Some(Some(warp)) = warps.get(slot) else { return };
        if arrival.aligned && !facts.decided_by.is_empty() && !common.lock_step {
            let aligned =
                AlignedArrival::new((slot, arrival.pc, lanes), facts, &warp.decisions, otherwise);
            block.phases[usize::from(id) % 16].arrivals.push(aligned);
        } else if let Some(finding) = otherwise {
            add(&common.steps, found, finding);
        }
    }

    /// Records which lanes a branch or barrier guard sends to a barrier.
    pub(super) fn decide(&mut self, slot: usize, pc: Pc, lanes: LaneMask, taken: LaneMask) {
        if let Some(Facts { decision: Some(number), .. }) = self.common.steps.at(pc)
            && let Some(Some(warp)) = self.warps.get_mut(slot)
            && let Some(decisions) = warp.decisions.get_mut(*number)
        {
            decisions.decide(lanes, taken);
        }
    }

    /// Reports a barrier of machine code which only some lanes of a group execute.
    pub(super) fn passed(&mut self, slot: usize, pc: Pc, passing: LaneMask) {
        let Checker { common, warps, blocks, found, .. } = self;
        let Some(Some(warp)) = warps.get(slot) else { return };
        let Some(Some(block)) = blocks.get(warp.block) else { return };
        let Some(facts) = common.steps.at(pc).filter(|facts| facts.waits_whole) else { return };
        if common.checks.barrier {
            let lanes = warp.live - passing;
            let (block, warp) = (block.clock.id, warp.index);
            let here = Place { pc, block, warp, lanes, does: Does::Is };
            let kind = Kind::BarrierInParts;
            found.add(kind, [facts.line; 2], || finding(kind, here, None, passing.list()));
        }
    }

    /// Judges the arrivals at barriers that never opened, when a warp or the run ends.
    pub(super) fn never_opened(&mut self, slot: usize) {
        let Some(Some(warp)) = self.warps.get(slot) else { return };
        let Some(Some(block)) = self.blocks.get_mut(warp.block) else { return };
        let number = block.clock.id;
        let arrivals = block
            .phases
            .iter_mut()
            .flat_map(|phase| phase.arrivals.extract_if(.., |arrival| arrival.slot == slot));
        let arrivals: Vec<_> = arrivals.collect();
        self.judge(number, arrivals);
    }

    /// Reports warps that a branch keeps partly away from a block barrier.
    fn judge(&mut self, block: u32, mut arrivals: Vec<AlignedArrival<Finding>>) {
        let Checker { common, warps, found, .. } = self;
        while let Some(first) = arrivals.first() {
            let (slot, pc) = (first.slot, first.pc);
            let together: Vec<_> =
                arrivals.extract_if(.., |c| (c.slot, c.pc) == (slot, pc)).collect();
            let (Some(Some(warp)), Some(facts)) = (warps.get(slot), common.steps.at(pc)) else {
                continue;
            };
            let lanes = together.iter().fold(LaneMask::EMPTY, |all, c| all | c.lanes);
            let others = warp.started - lanes;
            let kept =
                |all, c: &AlignedArrival<_>| all | c.kept_away(facts, &warp.decisions, others);
            let away = together.iter().fold(LaneMask::EMPTY, kept);
            if away.is_empty() {
                together
                    .into_iter()
                    .filter_map(|c| c.otherwise)
                    .for_each(|f| add(&common.steps, found, f));
                continue;
            }
            let here = Place { pc, block, warp: warp.index, lanes, does: Does::Is };
            add(&common.steps, found, finding(Kind::BarrierInParts, here, None, away.list()));
        }
    }

    pub(super) fn open(&mut self, block: u32, id: u8) {
        let Some(at) =
            self.blocks.iter().position(|b| b.as_ref().is_some_and(|b| b.clock.id == block))
        else {
            return;
        };
        let Some(Some(block)) = self.blocks.get_mut(at) else { return };
        let Phase { waiting, arrived, arrivals, .. } = block.phases[usize::from(id) % 16].open();
        if !arrivals.is_empty() {
            let number = block.clock.id;
            self.judge(number, arrivals);
        }
        if !self.common.checks.races {
            return;
        }
        let Some(Some(block)) = self.blocks.get_mut(at) else { return };
        let mut here =
            self.warps.iter().enumerate().filter_map(|(slot, w)| w.as_ref().map(|w| (slot, w)));
        let waits = |slot: usize| {
            waiting.iter().filter(|(s, _)| *s == slot).fold(LaneMask::EMPTY, |all, (_, l)| all | *l)
        };
        let whole = arrived.is_none()
            && here.all(|(slot, w)| w.block != at || w.live.is_subset(waits(slot)));
        if whole {
            let clocks =
                self.warps.iter_mut().flatten().filter(|w| w.block == at).map(|w| &mut w.clock);
            return block_barrier(&mut block.clock, clocks);
        }
        let mut meeting = arrived.unwrap_or_default();
        for (slot, lanes) in &waiting {
            if let Some(Some(warp)) = self.warps.get_mut(*slot) {
                meeting.arrive(&mut warp.clock, &mut block.clock, *lanes, warp.live);
            }
        }
        let open = meeting.open();
        for (slot, lanes) in &waiting {
            if let Some(Some(warp)) = self.warps.get_mut(*slot) {
                leave(&mut warp.clock, &mut block.clock, *lanes, warp.live, &open);
            }
        }
    }
}

/// Adds a finding under the lines of its places.
fn add(steps: &Steps, found: &mut Findings, finding: Finding) {
    let line = |place: &Place| steps.line(place.pc);
    let here = line(&finding.here);
    let there = finding.there.as_ref().map_or(here, line);
    found.add(finding.kind, [here, there], || finding);
}
