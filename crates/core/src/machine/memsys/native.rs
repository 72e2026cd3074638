//! Times that only machine code has: translation of pages, tags of L1, distances to slices of L2.

use super::{InL2, LINE, MemorySystem, PAGE};
use crate::base::{Cycle, mix};
use crate::event::{AccessWay, MemoryKind};
use crate::exec::AccessKind;
use crate::machine::unevenness::lateness;
use crate::spec::Latencies;

/// Banks of the tags of L1.
const TAG_BANKS: usize = 4;

/// Returns the most lines that one bank of tags has, at least 1.
#[inline]
fn most_of_a_bank(lines: &[(u64, u8)], masks: [u32; 2]) -> usize {
    if lines.len() < 2 {
        return 1;
    }
    let mut banks = [0; TAG_BANKS];
    for &(line, _) in lines {
        banks[bank_of(line as u32, masks)] += 1;
    }
    banks.into_iter().max().unwrap_or(1)
}

/// Returns the bank of a line: the parities of what the masks leave of its number.
///
/// Both at once, as a processor without a count of bits takes long for each.
#[inline]
fn bank_of(line: u32, [low, high]: [u32; 2]) -> usize {
    let mut bits = u64::from(line & low) | u64::from(line & high) << 32;
    for distance in [16, 8, 4, 2, 1] {
        bits ^= bits >> distance;
    }
    (bits & 1 | bits >> 31 & 2) as usize
}

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

    /// Returns the cycles for which the lines of an access keep L1's tags busy.
    #[inline]
    pub(super) fn tag_cycles(&self, kind: AccessKind) -> Cycle {
        let count = self.lines.len.max(1);
        let turns = match (&self.native, kind) {
            (Some(times), AccessKind::Read) => most_of_a_bank(self.lines.lines(), times.tag_banks),
            (Some(_), AccessKind::Write) => count.div_ceil(TAG_BANKS),
            _ => count,
        };
        turns as Cycle * Cycle::from(self.spec.l1_line_interval)
    }

    /// Returns the cycles after which an access passes on its line at a position.
    #[inline]
    pub(super) fn port_delay(&self, kind: AccessKind, position: usize) -> Cycle {
        let at_once = match &self.native {
            Some(_) if kind == AccessKind::Write => TAG_BANKS,
            _ => 1,
        };
        (position / at_once) as Cycle * Cycle::from(self.spec.l1_line_interval)
    }

    /// Returns the cycles until data in L1 are there whose lines keep its tags busy for `tags`.
    #[inline]
    pub(super) fn l1_latency(&self, memory: MemoryKind, tags: Cycle) -> Cycle {
        match (&self.native, memory) {
            (Some(times), MemoryKind::Local) => Cycle::from(times.local.l1) + tags - 1,
            (Some(_), MemoryKind::Global) => self.hit() + tags - 1,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bank_of_a_line_is_two_parities() {
        let masks = [0x052b_7ab5, 0x07d2_d5da];
        for line in (0..100_000).chain([u32::MAX, 0x8000_0001]) {
            let [low, high] = masks.map(|mask| (line & mask).count_ones() as usize & 1);
            assert_eq!(bank_of(line, masks), low | high << 1, "line {line}");
        }
        let at = |stride: u64| -> Vec<(u64, u8)> { (0..32).map(|i| (i * stride, 1)).collect() };
        let turns = [0, 1, 2, 31, 33, 64].map(|stride| most_of_a_bank(&at(stride), masks));
        assert_eq!(turns, [32, 8, 8, 16, 16, 8]);
        assert_eq!(most_of_a_bank(&[], masks), 1);
    }
}
