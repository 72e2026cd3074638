//! Trace of the issues of chosen blocks in order, for tests and timelines.
//!
//! A trace grows with the run, so it is limited to chosen blocks and a number of issues.

use std::ops::Range;

use crate::base::{BlockId, Cycle, LaneMask, Pc, SmId};
use crate::event::{Event, Observer};

/// Issue of a traced warp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceEntry {
    /// Issue cycle.
    pub cycle: Cycle,
    /// SM of the warp.
    pub sm: SmId,
    /// Block of the warp.
    pub block: BlockId,
    /// Warp index in the block.
    pub warp: u32,
    /// Issued step.
    pub pc: Pc,
    /// Active mask.
    pub active: LaneMask,
    /// Active lanes whose guard is true.
    pub lanes: LaneMask,
}

/// Recorder of the issues of a range of blocks.
#[derive(Clone, Debug)]
pub struct Trace {
    blocks: Range<u32>,
    limit: usize,
    /// Block and index of the warp in each slot, if in a chosen block.
    slots: Vec<Option<(BlockId, u32)>>,
    entries: Vec<TraceEntry>,
}

impl Trace {
    /// Records the blocks `blocks` of the grid, by their linear index.
    pub fn new(blocks: Range<u32>) -> Trace {
        Trace::limited(blocks, usize::MAX)
    }

    /// Like [`Trace::new`], but done after `limit` issues on an SM.
    pub fn limited(blocks: Range<u32>, limit: usize) -> Trace {
        Trace { blocks, limit, slots: Vec::new(), entries: Vec::new() }
    }

    /// Returns the recorded issues by SM and, within an SM, by time.
    pub fn entries(&self) -> &[TraceEntry] {
        &self.entries
    }

    /// Returns the issues of one warp, in order of time.
    pub fn of_warp(&self, block: BlockId, warp: u32) -> impl Iterator<Item = &TraceEntry> {
        self.entries.iter().filter(move |e| e.block == block && e.warp == warp)
    }
}

impl Observer for Trace {
    fn on(&mut self, event: Event) {
        match event {
            Event::WarpStart { warp, block, index, .. } => {
                if self.slots.len() <= warp.index() {
                    self.slots.resize(warp.index() + 1, None);
                }
                self.slots[warp.index()] = self.blocks.contains(&block.0).then_some((block, index));
            }
            Event::Issue { cycle, sm, warp, pc, active, lanes, .. } => {
                if let Some(&Some((block, index))) = self.slots.get(warp.index())
                    && self.entries.len() < self.limit
                {
                    self.entries.push(TraceEntry {
                        cycle,
                        sm,
                        block,
                        warp: index,
                        pc,
                        active,
                        lanes,
                    });
                }
            }
            _ => {}
        }
    }

    fn is_done(&self) -> bool {
        self.entries.len() >= self.limit
    }

    fn merge(&mut self, other: Trace) {
        self.entries.extend(other.entries);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::WarpId;

    fn start(warp: u32, block: u32, index: u32) -> Event {
        let (cycle, sm, lanes) = (0, SmId(0), LaneMask::FULL);
        Event::WarpStart { cycle, sm, warp: WarpId(warp), block: BlockId(block), index, lanes }
    }

    fn issue(sm: u32, warp: u32, cycle: Cycle, pc: u32) -> Event {
        let (active, lanes) = (LaneMask(0xff), LaneMask(0xf));
        Event::Issue {
            cycle,
            sm: SmId(sm),
            warp: WarpId(warp),
            pc: Pc(pc),
            active,
            lanes,
            slots: 1,
        }
    }

    #[test]
    fn keeps_the_chosen_blocks_only_also_when_a_slot_changes_hands() {
        let mut trace = Trace::new(1..2);
        for event in [
            start(3, 0, 7),
            issue(0, 3, 1, 0),
            start(3, 1, 2),
            issue(0, 3, 5, 1),
            issue(0, 3, 6, 4),
        ] {
            trace.on(event);
        }
        let mut later_sm = Trace::new(1..2);
        for event in [start(0, 1, 3), issue(1, 0, 2, 9), issue(1, 9, 2, 9)] {
            later_sm.on(event);
        }
        trace.merge(later_sm);
        let got: Vec<_> =
            trace.entries().iter().map(|e| (e.sm.0, e.block.0, e.warp, e.cycle, e.pc.0)).collect();
        assert_eq!(got, [(0, 1, 2, 5, 1), (0, 1, 2, 6, 4), (1, 1, 3, 2, 9)]);
        assert_eq!(trace.of_warp(BlockId(1), 2).map(|e| e.pc.0).collect::<Vec<_>>(), [1, 4]);
        assert_eq!(
            (trace.entries()[0].active, trace.entries()[0].lanes),
            (LaneMask(0xff), LaneMask(0xf))
        );
    }
}
