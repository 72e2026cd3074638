//! Loads of constants (LDC) in an SM, for machine code.
//!
//! The unit takes loads in order and has several under way. Each looks up its addresses one after
//! another in a cache of its own, which has LRU sets. A missing line holds up its own load only,
//! which leaves its place to others meanwhile. A lookup takes the unit two cycles, so that those of
//! a load are further apart with all places taken. Measured on an H200:
//! `tests/observations/h200/constants`.

use super::requests::Requests;
use crate::base::{Cycle, MAX_LANES};
use crate::spec::{ConstantCache, ConstantLoads};

/// Cycles between two loads that the unit takes, and between two lookups.
const TURN: Cycle = 2;
/// Most loads under way at once.
const MOST: u32 = 32;

/// Unit of the loads of constants, and its cache.
#[derive(Clone, Default)]
pub(super) struct LoadUnit {
    times: ConstantLoads,
    cache: ConstantCache,
    /// Cycle from which it takes another load.
    takes: Cycle,
    /// Loads that it has taken and not begun.
    taken: Requests,
    /// Ends of the lookups of the last loads, one for each place.
    ends: Vec<Cycle>,
    /// Lines of the cache with their arrivals; the last used last.
    lines: Vec<(u64, Cycle)>,
}

/// Load of constants.
pub(super) struct Load {
    /// Cycle at which the unit takes it from the scheduler.
    pub taken: Cycle,
    /// Cycle at which an idle unit with all lines would begin it.
    pub begins: Cycle,
}

impl LoadUnit {
    /// Creates a unit whose cache has no lines.
    pub(super) fn new(times: ConstantLoads, cache: ConstantCache) -> LoadUnit {
        let ends = vec![0; times.at_once.min(MOST) as usize];
        LoadUnit { times, cache, ends, ..LoadUnit::default() }
    }

    /// Loads from `addresses`, which may be equal, when the scheduler offers it at `from`.
    ///
    /// `arrives` gives the arrival of a line in the second level, from its address and the cycle.
    pub(super) fn load(
        &mut self,
        from: Cycle,
        addresses: impl Iterator<Item = u64>,
        mut arrives: impl FnMut(u64, Cycle) -> Cycle,
    ) -> Load {
        let taken = from.max(self.takes);
        let place = (0..self.ends.len()).min_by_key(|&place| self.ends[place]);
        let begins = place.map_or(taken, |place| self.ends[place].max(taken));
        self.takes = (taken + TURN).max(self.taken.add(begins, self.times.waiting));
        let others = self.ends.iter().filter(|&&end| end > begins).count() as Cycle;
        let alone = Cycle::from(self.times.address);
        let lookup = alone.max(TURN * (others + 1));

        let mut end = begins;
        let mut seen = [0; MAX_LANES];
        let mut count = 0;
        for address in addresses {
            if !seen[..count].contains(&address) {
                seen[count % MAX_LANES] = address;
                count += 1;
                end = self.line(address, end, &mut arrives) + lookup;
            }
        }
        if let Some(place) = place {
            self.ends[place] = begins + lookup * count as Cycle;
        }
        Load { taken, begins: begins + (end - begins).saturating_sub(alone) }
    }

    /// Returns when the cache has the line of an address, looked up at `now`.
    fn line(
        &mut self,
        address: u64,
        now: Cycle,
        arrives: &mut impl FnMut(u64, Cycle) -> Cycle,
    ) -> Cycle {
        let ConstantCache { bytes, ways, line: size, hit, load, .. } = self.cache;
        if size == 0 {
            return now; // the machine has no such cache
        }
        let line = address / u64::from(size);
        let known = self.lines.iter().rposition(|&(known, _)| known == line);
        let entry = match known {
            Some(at) => self.lines.remove(at),
            None => {
                let sets = u64::from(bytes / size / ways.max(1)).max(1);
                let set = |line: u64| line % sets;
                let of_set = |&(known, _): &(u64, Cycle)| set(known) == set(line);
                if self.lines.iter().filter(|&entry| of_set(entry)).count() >= ways as usize
                    && let Some(oldest) = self.lines.iter().position(of_set)
                {
                    self.lines.remove(oldest);
                }
                // A line that the second level has to fetch comes through as operands do.
                let arrives = arrives(address - address % u64::from(size), now);
                (line, (arrives + Cycle::from(hit)).max(now + Cycle::from(load)))
            }
        };
        self.lines.push(entry);
        entry.1.max(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIMES: ConstantLoads =
        ConstantLoads { address: 11, at_once: 6, waiting: 8, register: 3, read: 6 };

    fn unit() -> LoadUnit {
        let cache =
            ConstantCache { line: 64, bytes: 2048, ways: 4, load: 70, ..ConstantCache::default() };
        LoadUnit::new(TIMES, cache)
    }

    fn at_once(_: u64, now: Cycle) -> Cycle {
        now
    }

    #[test]
    fn each_missing_line_holds_up_its_own_load() {
        let mut unit = unit();
        let lines = || (0..8).map(|line| 64 * line);
        assert_eq!(unit.load(1000, lines(), at_once).begins, 1000 + 8 * 81 - 11);
        assert_eq!(unit.load(2000, lines(), at_once).begins, 2000 + 7 * 11, "all are there");
        let mut waits =
            |from, line: u64| unit.load(from, [512 * line].into_iter(), at_once).begins - from;
        assert_eq!([1, 2, 3].map(|line| waits(3000 + 100 * line, line)), [70; 3]);
        assert_eq!(waits(4000, 0), 0, "a set has four lines");
        assert_eq!(waits(4100, 4), 70, "in place of the one used least recently");
        assert_eq!([0, 1].map(|line| waits(4200 + 100 * line, line)), [0, 70]);
    }

    #[test]
    fn six_loads_are_under_way_and_eight_wait() {
        let mut unit = unit();
        unit.load(0, [0].into_iter(), at_once);
        let mut load = || unit.load(1000, (0..8).map(|word| 4 * word), at_once);
        let loads: Vec<_> = (0..16).map(|_| load()).collect();
        let begins = [0, 1, 5, 6].map(|i: usize| loads[i].begins - 77);
        assert_eq!(begins, [1000, 1002, 1010 + 8 * 12 - 88, 1088 + 8], "two cycles a lookup");
        assert_eq!([13, 14, 15].map(|i: usize| loads[i].taken), [1026, 1088, 1090]);
    }
}
