//! An issue's stretch of its warp's time: slots taken and cycles waited, one after the other.

use super::Issue;
use crate::base::Cycle;
use crate::event::Stall;

/// A further machine instruction of a step that becomes several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// When it was issued; it takes one slot.
    pub cycle: Cycle,
    /// What the warp waited for since the machine instruction before; the cycles add up to the gap.
    pub waits: Vec<(Stall, Cycle)>,
}

/// Cycles that a warp spent in one way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// The first cycle.
    pub from: Cycle,
    /// The cycle after the last.
    pub to: Cycle,
    /// What the warp waited for; `None` while it issued.
    pub stall: Option<Stall>,
}

impl Span {
    /// Its length.
    pub fn cycles(&self) -> Cycle {
        self.to.saturating_sub(self.from)
    }
}

impl Issue {
    /// The cycles from the end of the warp's previous issue to the end of this one, without a gap: what the warp waited for,
    /// and when it issued the machine instructions of the step. What takes no slot has no such cycle.
    ///
    /// Every view that speaks of time takes it from here. The waits are those that [`Counts`](super::super::Counts) charges
    /// to the step.
    pub fn spans(&self) -> Vec<Span> {
        let mut spans: Vec<Span> = Vec::with_capacity(1 + self.waits.len());
        let mut add = |waits: &[(Stall, Cycle)], cycle: Cycle, slots: Cycle| {
            let mut from = cycle.saturating_sub(waits.iter().map(|&(_, cycles)| cycles).sum());
            for &(stall, cycles) in waits {
                spans.push(Span { from, to: from + cycles, stall: Some(stall) });
                from += cycles;
            }
            match spans.last_mut().filter(|last| last.stall.is_none() && last.to == cycle) {
                Some(last) => last.to += slots,
                None if slots > 0 => spans.push(Span { from: cycle, to: cycle + slots, stall: None }),
                None => {}
            }
        };
        let at_once = (self.slots as usize).saturating_sub(self.parts.len());
        add(&self.waits, self.cycle, at_once as Cycle);
        self.parts.iter().for_each(|part| add(&part.waits, part.cycle, 1));
        spans
    }

    /// The cycle after its last slot.
    pub fn end(&self) -> Cycle {
        self.parts.last().map_or(self.cycle + Cycle::from(self.slots), |part| part.cycle + 1)
    }

    /// Cycles waited to issue the step: before its first machine instruction and between them.
    pub fn waited(&self) -> Cycle {
        self.spans().iter().filter(|span| span.stall.is_some()).map(Span::cycles).sum()
    }

    /// What the warp waited for between the machine instructions of the step, in the order of [`Stall::ALL`].
    pub fn waits_between(&self) -> Vec<(Stall, Cycle)> {
        summed(self.parts.iter().flat_map(|part| &part.waits))
    }

    /// The reason of most of the cycles waited.
    pub fn main_stall(&self) -> Option<Stall> {
        let all = summed(self.waits.iter().chain(self.parts.iter().flat_map(|part| &part.waits)));
        // The first of equals.
        all.into_iter().rev().max_by_key(|&(_, cycles)| cycles).map(|(stall, _)| stall)
    }
}

/// Waits added up by reason; those that there are.
fn summed<'a>(waits: impl Iterator<Item = &'a (Stall, Cycle)>) -> Vec<(Stall, Cycle)> {
    let mut sums = [0; Stall::ALL.len()];
    waits.for_each(|&(stall, cycles)| sums[stall as usize] += cycles);
    Stall::ALL.into_iter().zip(sums).filter(|&(_, cycles)| cycles > 0).collect()
}
