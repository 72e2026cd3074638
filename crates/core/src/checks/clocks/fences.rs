//! Fences of a warp's lanes, and what strong writes after them release.

use std::sync::Arc;

use super::{BlockClock, Known, Past, Released, WarpClock};
use crate::base::{LaneMask, MAX_LANES};

impl WarpClock {
    /// Executes a fence: later strong writes of `lanes` release everything before it.
    pub(in super::super) fn fence(
        &mut self,
        block: &mut BlockClock,
        lanes: LaneMask,
        live: LaneMask,
    ) {
        let mut by_lane: Option<Released> = None;
        for lane in lanes.lanes() {
            let stamp = self.stamp(block, lane);
            // Lanes with equal knowledge share one release.
            let base = match &by_lane {
                Some(base) if self.apart.is_none() => base.clone(),
                _ => {
                    let mut known =
                        self.known(lane).map_or_else(Known::default, |known| (**known).clone());
                    if let Some(theirs) = &block.known {
                        known.add(theirs);
                    }
                    known.of_block(block.id, block.all);
                    known.of_warp(self.number, self.all);
                    Arc::new(known)
                }
            };
            by_lane = Some(base.clone());
            let fences = self.fences.get_or_insert_with(|| Box::new(std::array::from_fn(|_| None)));
            fences[lane as usize % MAX_LANES] = Some((base, stamp));
        }
        let epoch = block.tick();
        if live.is_subset(lanes) && self.apart.is_none() {
            self.epoch = epoch;
        } else {
            let apart = self.go_apart();
            lanes.lanes().for_each(|lane| apart[lane as usize % MAX_LANES].epoch = epoch);
        }
    }

    /// Returns true if any lane has executed a fence.
    pub(in super::super) fn has_fences(&self) -> bool {
        self.fences.is_some()
    }

    /// Returns true if a strong write of a lane releases anything.
    pub(in super::super) fn releases(&self, lane: u32) -> bool {
        self.fences.as_ref().is_some_and(|fences| fences[lane as usize % MAX_LANES].is_some())
    }

    /// Returns the release of a strong write: everything up to the lane's last fence.
    ///
    /// Without a fence the write releases nothing. An atomic adds to the earlier release `before`.
    pub(in super::super) fn release(
        &self,
        lane: u32,
        before: Option<Released>,
    ) -> Option<Released> {
        let Some((base, stamp)) =
            self.fences.as_ref().and_then(|fences| fences[lane as usize % MAX_LANES].as_ref())
        else {
            return before;
        };
        if let Some(before) = &before
            && before.covers(base)
            && before.has_lane(Past { warp: self.number, lane, stamp: *stamp })
        {
            return Some(before.clone());
        }
        let before = before.filter(|before| !base.covers(before));
        let mut released = before.unwrap_or_else(|| base.clone());
        let known = Arc::make_mut(&mut released);
        known.add(base);
        known.of_lane(self.number, lane, *stamp);
        Some(released)
    }

    /// Gives each of `lanes` what any of them has fenced: in machine code, one lane's atomic stands
    /// for those of all that have exchanged values with it.
    pub(in super::super) fn share_fences(&mut self, lanes: LaneMask) {
        if !self.has_fences() {
            return;
        }
        let all = lanes.lanes().fold(None, |all, lane| self.release(lane, all));
        if let (Some(all), Some(fences)) = (all, &mut self.fences) {
            for lane in lanes.lanes() {
                let own = &mut fences[lane as usize % MAX_LANES];
                let stamp = own.as_ref().map_or(0, |(_, stamp)| *stamp);
                *own = Some((all.clone(), stamp));
            }
        }
    }
}
