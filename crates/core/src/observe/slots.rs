//! Issue slots of each scheduler, span by span, while a block is resident.
//!
//! A [`Timeline`](super::Timeline) records warps; this observer records the schedulers of the same
//! SM, which may also issue warps of other blocks. It starts with the block and ends with the run,
//! so it never prolongs a run ([`Observer::is_done`] is always true).

use std::ops::Range;

use crate::base::{BlockId, Cycle, Pc, WarpId};
use crate::event::{Event, Observer, SlotLoss};

/// Span of equal use of a scheduler's slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlotSpan {
    /// Scheduler index on the SM.
    pub scheduler: u32,
    /// First cycle.
    pub cycle: Cycle,
    /// Number of cycles, at least one.
    pub cycles: Cycle,
    /// Use of the slots.
    pub what: SlotUse,
}

/// Use of a scheduler's slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlotUse {
    /// Issue of a warp's step.
    Issued {
        /// Block of the warp.
        block: BlockId,
        /// Warp index in the block.
        warp: u32,
        /// PC of the step.
        pc: Pc,
    },
    /// Lost slot.
    Lost(SlotLoss),
}

/// Recorder of the slots of an SM's schedulers, from the start of one block on.
#[derive(Clone, Debug)]
pub struct Slots {
    block: BlockId,
    cycles: Range<Cycle>,
    /// Schedulers of the SM; warp slot `w` belongs to scheduler `w % schedulers`.
    schedulers: u32,
    started: bool,
    /// Block and index of the warp in each slot.
    warps: Vec<(BlockId, u32)>,
    spans: Vec<SlotSpan>,
}

impl Slots {
    /// Records the schedulers of the SM that runs `block`, within `cycles`.
    pub fn new(block: BlockId, cycles: Range<Cycle>, schedulers: u32) -> Slots {
        let (started, warps, spans) = (false, Vec::new(), Vec::new());
        Slots { block, cycles, schedulers: schedulers.max(1), started, warps, spans }
    }

    /// Returns the spans by scheduler and time; those of one scheduler do not overlap.
    pub fn into_spans(mut self) -> Vec<SlotSpan> {
        self.spans.sort_by_key(|span| (span.scheduler, span.cycle));
        self.spans
    }

    fn push(&mut self, scheduler: u32, cycle: Cycle, cycles: Cycle, what: SlotUse) {
        let from = cycle.max(self.cycles.start);
        let to = cycle.saturating_add(cycles).min(self.cycles.end);
        if self.started && from < to {
            self.spans.push(SlotSpan { scheduler, cycle: from, cycles: to - from, what });
        }
    }

    fn start(&mut self, slot: WarpId, block: BlockId, index: u32) {
        if self.warps.len() <= slot.index() {
            self.warps.resize(slot.index() + 1, (block, index));
        }
        self.warps[slot.index()] = (block, index);
    }
}

impl Observer for Slots {
    fn on(&mut self, event: Event) {
        match event {
            Event::BlockStart { cycle, block, .. } if block == self.block => {
                self.started = true;
                // A loss that began before the block is reported when it ends.
                self.cycles.start = self.cycles.start.max(cycle);
            }
            Event::WarpStart { warp, block, index, .. } => self.start(warp, block, index),
            Event::Issue { cycle, warp, pc, slots, .. } => {
                if let Some(&(block, index)) = self.warps.get(warp.index()) {
                    let what = SlotUse::Issued { block, warp: index, pc };
                    self.push(warp.0 % self.schedulers, cycle, Cycle::from(slots), what);
                }
            }
            Event::IssueMicroOp { cycle, warp, pc, .. } => {
                if let Some(&(block, index)) = self.warps.get(warp.index()) {
                    let what = SlotUse::Issued { block, warp: index, pc };
                    self.push(warp.0 % self.schedulers, cycle, 1, what);
                }
            }
            Event::SlotsLost { cycle, scheduler, reason, cycles, .. } => {
                self.push(scheduler, cycle, cycles, SlotUse::Lost(reason));
            }
            _ => {}
        }
    }

    fn is_done(&self) -> bool {
        true
    }

    fn merge(&mut self, other: Slots) {
        self.spans.extend(other.spans);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::{LaneMask, SmId};

    #[test]
    fn spans_begin_with_the_block_and_stay_in_the_window() {
        let (sm, lanes) = (SmId(0), LaneMask::FULL);
        let lost = |cycle, cycles| Event::SlotsLost {
            cycle,
            sm,
            scheduler: 1,
            reason: SlotLoss::NoWarp,
            cycles,
        };
        let issue = |cycle, slots| Event::Issue {
            cycle,
            sm,
            warp: WarpId(5),
            pc: Pc(7),
            active: lanes,
            lanes,
            slots,
        };
        let mut slots = Slots::new(BlockId(2), 0..30, 4);
        slots.on(lost(0, 5));
        slots.on(Event::BlockStart { cycle: 10, sm, block: BlockId(2), warps: 1 });
        slots.on(Event::WarpStart {
            cycle: 10,
            sm,
            warp: WarpId(5),
            block: BlockId(2),
            index: 1,
            lanes,
        });
        for event in
            [lost(5, 9), issue(14, 2), issue(16, 0), lost(16, 12), issue(28, 4), lost(32, 8)]
        {
            slots.on(event);
        }
        let spans: Vec<_> =
            slots.into_spans().iter().map(|s| (s.scheduler, s.cycle, s.cycles)).collect();
        assert_eq!(spans, [(1, 10, 4), (1, 14, 2), (1, 16, 12), (1, 28, 2)]);
    }
}
