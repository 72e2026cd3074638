//! Times that only machine code has: translation of pages, tags of L1, distances to slices of L2.

use super::{InL2, LINE, MemorySystem, PAGE};
use crate::base::{Cycle, mix};
use crate::event::{AccessWay, MemoryKind};
use crate::exec::AccessKind;
use crate::machine::unevenness::lateness;
use crate::spec::Latencies;

impl MemorySystem {
    /// Returns the cycle from which the address of a line, used at `now`, is known.
    #[inline]
    pub(super) fn translated(&mut self, line: u64, now: Cycle, kind: AccessWay) -> Cycle {
        let Some(Latencies { page, late, .. }) = self.native else { return now };
        let further = if kind == AccessWay::Load { lateness(self.sm, late) } else { 0 };
        let latency = page.saturating_add(further);
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

    /// Takes fine time of the SM's share of L2 at `now`. Returns the fine time when it has been
    /// taken; 0 without times of L2.
    #[inline]
    pub(super) fn in_l2(&mut self, now: Cycle, time: impl FnOnce(InL2) -> u64) -> u64 {
        match (self.times_in_l2, &mut self.stores) {
            (Some(times), Some(stores)) => stores.share_of_l2(now, time(times)),
            _ => 0,
        }
    }

    /// Returns the cycles for which an access to `lines` lines keeps L1's tags busy.
    #[inline]
    pub(super) fn tag_cycles(&self, kind: AccessKind, lines: usize) -> Cycle {
        let cycles = (lines as Cycle).max(1) * Cycle::from(self.spec.l1_line_interval);
        let at_once = match &self.native {
            Some(times) if kind != AccessKind::Atomic => times.tags,
            _ => 1,
        };
        cycles.div_ceil(Cycle::from(at_once.max(1)))
    }

    /// Returns the cycles after which an access passes on its line at a position.
    #[inline]
    pub(super) fn port_delay(&self, kind: AccessKind, position: usize) -> Cycle {
        let at_once = match &self.native {
            Some(times) if kind == AccessKind::Write => times.tags.max(1) as usize,
            _ => 1,
        };
        (position / at_once) as Cycle * Cycle::from(self.spec.l1_line_interval)
    }

    /// Returns the cycles until data of `lines` lines in L1 are there.
    #[inline]
    pub(super) fn l1_latency(&self, memory: MemoryKind, lines: usize) -> Cycle {
        let further = self.tag_cycles(AccessKind::Read, lines) - 1;
        match (&self.native, memory) {
            (Some(times), MemoryKind::Local) => Cycle::from(times.local.l1) + further,
            (Some(_), MemoryKind::Global) => self.hit() + further,
            _ => self.hit(),
        }
    }

    /// Returns the cycles of a load that hits in L1, or of L2 without one.
    fn hit(&self) -> Cycle {
        Cycle::from(self.spec.l1.map_or(self.spec.l2.latency, |c| c.latency))
    }

    /// Returns the arrival of a line that arrives at `mean` over a way of mean length between the
    /// SM and its slice of L2.
    #[inline]
    pub(super) fn after_way(&self, line: u64, mean: Cycle, kind: AccessWay) -> Cycle {
        let spread = self.native.map_or(0, |times| match kind {
            AccessWay::Atomic => Cycle::from(times.spread_atomic),
            AccessWay::Load | AccessWay::Store => Cycle::from(times.spread),
        });
        if spread == 0 {
            return mean;
        }
        let way = mix(line ^ u64::from(self.sm.0) << 40) % (2 * spread + 1);
        (mean + way).saturating_sub(spread)
    }
}
