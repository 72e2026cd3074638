//! Times that only machine code has: translation of pages, tags of L1, distances to slices of L2.

use super::{LINE, MemorySystem, PAGE};
use crate::base::{Cycle, mix};
use crate::exec::AccessKind;
use crate::spec::Latencies;

impl MemorySystem {
    /// Returns the cycle from which the address of a line, used at `now`, is known.
    #[inline]
    pub(super) fn translated(&mut self, line: u64, now: Cycle) -> Cycle {
        let Some(Latencies { page: latency, .. }) = self.native else { return now };
        let page = line / (PAGE / LINE);
        match self.pages.iter().find(|(known, _)| *known == page) {
            Some(&(_, from)) => from.max(now),
            None => {
                let from = now + Cycle::from(latency);
                self.pages.push((page, from));
                from
            }
        }
    }

    /// Returns the cycles for which an access to `lines` lines keeps L1's tags busy.
    #[inline]
    pub(super) fn tag_cycles(&self, kind: AccessKind, lines: usize) -> Cycle {
        let cycles = (lines as Cycle).max(1) * Cycle::from(self.spec.l1_line_interval);
        match &self.native {
            Some(times) if kind == AccessKind::Read => {
                cycles.div_ceil(Cycle::from(times.tags.max(1)))
            }
            _ => cycles,
        }
    }

    /// Returns the arrival of a line that arrives at `mean` over a way of mean length between the SM
    /// and its slice of L2.
    #[inline]
    pub(super) fn after_way(&self, line: u64, mean: Cycle) -> Cycle {
        let spread = self.native.map_or(0, |times| Cycle::from(times.spread));
        if spread == 0 {
            return mean;
        }
        let way = mix(line ^ u64::from(self.sm.0) << 40) % (2 * spread + 1);
        (mean + way).saturating_sub(spread)
    }
}
