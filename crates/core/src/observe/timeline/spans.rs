//! Time of a warp from issue to issue: slots taken and cycles waited.

use super::Issue;
use crate::base::Cycle;
use crate::event::Stall;

/// Further micro-op of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Issue cycle; it takes one slot.
    pub cycle: Cycle,
    /// Waits since the previous micro-op; the cycles add up to the gap.
    pub waits: Vec<(Stall, Cycle)>,
}

/// Span of a warp's time with one use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// First cycle.
    pub from: Cycle,
    /// Cycle after the last one.
    pub to: Cycle,
    /// Warp state; `None` while it issues.
    pub stall: Option<Stall>,
}

impl Span {
    /// Returns the length in cycles.
    pub fn cycles(&self) -> Cycle {
        self.to.saturating_sub(self.from)
    }
}

impl Issue {
    /// Returns the spans from the previous issue's end to the end of this one.
    ///
    /// Waits and micro-op issues follow each other without a gap. A step without a slot has no
    /// spans.
    ///
    /// Every view of time uses these spans. [`Counts`](super::super::Counts) charges the same waits
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
                None if slots > 0 => {
                    spans.push(Span { from: cycle, to: cycle + slots, stall: None })
                }
                None => {}
            }
        };
        let at_once = (self.slots as usize).saturating_sub(self.parts.len());
        add(&self.waits, self.cycle, at_once as Cycle);
        self.parts.iter().for_each(|part| add(&part.waits, part.cycle, 1));
        spans
    }

    /// Returns the span after the warp's last issue in which its stores were in flight.
    pub fn drain(&self) -> Option<Span> {
        let from = self.end();
        let span = Span { from, to: from + self.drains, stall: Some(Stall::Drain) };
        (self.drains > 0).then_some(span)
    }

    /// Returns the cycle after its last slot.
    pub fn end(&self) -> Cycle {
        self.parts.last().map_or(self.cycle + Cycle::from(self.slots), |part| part.cycle + 1)
    }

    /// Returns the cycles waited before and between the step's micro-ops.
    pub fn waited(&self) -> Cycle {
        self.spans().iter().filter(|span| span.stall.is_some()).map(Span::cycles).sum()
    }

    /// Returns the waits between the step's micro-ops, in the order of [`Stall::ALL`].
    pub fn waits_between(&self) -> Vec<(Stall, Cycle)> {
        summed(self.parts.iter().flat_map(|part| &part.waits))
    }

    /// Returns the state with the most waited cycles.
    pub fn main_stall(&self) -> Option<Stall> {
        let all = summed(self.waits.iter().chain(self.parts.iter().flat_map(|part| &part.waits)));
        // The first on a tie.
        all.into_iter().rev().max_by_key(|&(_, cycles)| cycles).map(|(stall, _)| stall)
    }
}

/// Sums waits by reason, and keeps those above zero.
fn summed<'a>(waits: impl Iterator<Item = &'a (Stall, Cycle)>) -> Vec<(Stall, Cycle)> {
    let mut sums = [0; Stall::ALL.len()];
    waits.for_each(|&(stall, cycles)| sums[stall as usize] += cycles);
    Stall::ALL.into_iter().zip(sums).filter(|&(_, cycles)| cycles > 0).collect()
}
