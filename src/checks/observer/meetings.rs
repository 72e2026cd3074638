//! Where lanes meet: `.sync` instructions, block barriers, and the moment that a barrier opens.

use super::super::clocks::{Meeting, block_barrier, leave};
use super::super::finding::{Does, Kind, Place};
use super::super::steps::What;
use super::super::sync::{Arrival, Phase, mask};
use super::{Checker, finding};
use crate::base::{LaneMask, Pc};

impl Checker {
    pub(super) fn collective(&mut self, slot: usize, pc: Pc, lanes: LaneMask, members: LaneMask) {
        let Checker { common, warps, blocks, found, .. } = self;
        let Some(Some(warp)) = warps.get_mut(slot) else { return };
        let Some(Some(block)) = blocks.get_mut(warp.block) else { return };
        let Some(facts) = common.steps.at(pc) else { return };
        let is_sync = facts.what == What::WarpSync;
        if common.checks.sync
            && let Some((kind, which)) = mask(members, lanes, warp.live, warp.started, is_sync && !common.lock_step)
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
        warp.met = if is_sync { named - lanes } else { LaneMask::EMPTY };
    }

    pub(super) fn barrier(&mut self, slot: usize, arrival: Arrival, lanes: LaneMask, arriving: LaneMask, id: u8) {
        let Checker { common, warps, blocks, found, .. } = self;
        let Some(Some(warp)) = warps.get_mut(slot) else { return };
        let Some(Some(block)) = blocks.get_mut(warp.block) else { return };
        let Some(facts) = common.steps.at(arrival.pc) else { return };
        let number = block.clock.id;
        if common.lock_step && common.checks.races {
            // Whatever the warp did before comes with it.
            warp.clock.lock_step(&mut block.clock);
        }
        let phase = &mut block.phases[usize::from(id) % 16];
        let misuse = phase.arrive(arrival, slot, lanes, common.threads);
        if arrival.sync {
            phase.waiting.push((slot, arriving));
        } else if common.checks.races {
            let told = phase.told.get_or_insert_with(Meeting::default);
            told.arrive(&mut warp.clock, &mut block.clock, arriving, warp.live);
        }
        if !common.checks.barrier {
            return;
        }
        let here = Place { pc: arrival.pc, block: number, warp: warp.index, lanes, does: Does::Is };
        let aligned = matches!(facts.what, What::Barrier { aligned: true, .. });
        let away = warp.live - lanes;
        if aligned && !away.is_empty() {
            let kind = Kind::BarrierInParts;
            return found.add(kind, [facts.line; 2], || finding(kind, here, None, away.list()));
        }
        if let Some(misuse) = misuse {
            let there = misuse.other.and_then(|(pc, slot, lanes)| {
                let warp = warps.get(slot)?.as_ref()?.index;
                Some(Place { pc, block: number, warp, lanes, does: Does::Is })
            });
            let line = there.map_or(facts.line, |place| common.steps.line(place.pc));
            found.add(misuse.kind, [facts.line, line], || finding(misuse.kind, here, there, misuse.detail));
        } else if let (Some(ended), None) = (block.ended, arrival.count) {
            let (kind, gone) = (Kind::BarrierAfterExit, block.gone);
            let lines = [facts.line, common.steps.line(ended.pc)];
            found.add(kind, lines, || finding(kind, here, Some(ended), gone.to_string()));
        }
    }

    pub(super) fn open(&mut self, block: u32, id: u8) {
        let Some(at) = self.blocks.iter().position(|b| b.as_ref().is_some_and(|b| b.clock.id == block)) else { return };
        let Some(Some(block)) = self.blocks.get_mut(at) else { return };
        let Phase { waiting, told, .. } = block.phases[usize::from(id) % 16].open();
        if !self.common.checks.races {
            return;
        }
        let mut here = self.warps.iter().enumerate().filter_map(|(slot, w)| w.as_ref().map(|w| (slot, w)));
        let waits =
            |slot: usize| waiting.iter().filter(|(s, _)| *s == slot).fold(LaneMask::EMPTY, |all, (_, l)| all | *l);
        let whole = told.is_none() && here.all(|(slot, w)| w.block != at || w.live.is_subset(waits(slot)));
        if whole {
            let clocks = self.warps.iter_mut().flatten().filter(|w| w.block == at).map(|w| &mut w.clock);
            return block_barrier(&mut block.clock, clocks);
        }
        let mut meeting = told.unwrap_or_default();
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
