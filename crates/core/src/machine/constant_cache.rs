//! Constant caches of an SM for machine code.
//!
//! LDC has a cache of its own beside that of constant operands. Behind both is a second level that
//! they share, and which misses by blocks of several lines. All are cold at launch. The first
//! access to a line waits for it: LDC by its result, other instructions before they issue
//! (`imc_miss`). Bank 0, which has the parameters, comes with the launch; the other banks are in
//! memory. Measured on an H200 by stall samples per instruction and on an H100 by the clock
//! (docs/calibration.md). Not modeled: capacity, as lines stay.

use std::collections::BTreeMap;

use crate::base::Cycle;
use crate::kernel::{Native, NativeKernel, Op};
use crate::spec::ConstantCache;

/// Flag of a line that comes from memory.
const FAR: u16 = 1 << 15;

/// Lines of the constant banks that a kernel's operands use.
#[derive(Debug, Default)]
pub(super) struct ConstantLines {
    /// Addresses of the lines. Bank 0 begins at address 0.
    lines: Vec<u64>,
}

impl ConstantLines {
    /// Returns the number of the line of an operation's constant; 0 without one.
    ///
    /// `loads` is true for LDC.
    pub(super) fn of(
        &mut self,
        op: &Op,
        loads: bool,
        native: &NativeKernel,
        cache: ConstantCache,
    ) -> u16 {
        let Op::Native(op) = op else { return 0 };
        let Native { s, .. } = &**op;
        let place = |row| native.constants.iter().find(|at| at.row == row);
        let Some(at) = s.iter().find_map(|source| place(source.row)) else { return 0 };
        let base = native.banks.iter().find(|(bank, _)| *bank == at.bank && *bank > 0);
        let line = base.map_or(0, |(_, base)| *base) + u64::from(at.offset);
        let line = line - line % u64::from(cache.line.max(1));
        let index = self.lines.iter().position(|known| *known == line).unwrap_or_else(|| {
            self.lines.push(line);
            self.lines.len() - 1
        });
        match u16::try_from(2 * index + usize::from(loads) + 1) {
            Ok(number) if number < FAR => number | if at.bank == 0 { 0 } else { FAR },
            _ => 0,
        }
    }

    /// Returns the addresses of the lines.
    pub(super) fn into_addresses(self) -> Vec<u64> {
        self.lines
    }
}

/// Constant caches of one SM.
#[derive(Clone, Debug, Default)]
pub(super) struct Constants<'a> {
    /// Addresses of the lines of operands.
    lines: &'a [u64],
    times: ConstantCache,
    /// Cycles by which the SM is later than the first one, which brings lines of all SMs to L2.
    late: u32,
    /// Arrival cycle by number of the line; 0 for lines that were not requested.
    arrives: Vec<Cycle>,
    /// Arrival of LDC's lines by their address.
    loaded: BTreeMap<u64, Cycle>,
    /// Arrival of blocks in the second level by their address.
    shared: BTreeMap<u64, Cycle>,
}

impl<'a> Constants<'a> {
    /// Creates cold caches on an SM that is `late`, one of `active` of `sms` with work.
    ///
    /// `lines` are the addresses of the lines of operands.
    pub(super) fn new(
        lines: &'a [u64],
        cache: Option<ConstantCache>,
        late: u32,
        active: u32,
        sms: u32,
    ) -> Constants<'a> {
        let times = cache.unwrap_or_default();
        let half = sms / 2;
        let added = times.launch.saturating_sub(times.launch_alone);
        let launch = times.launch_alone + added * active.saturating_sub(half) / (sms - half).max(1);
        Constants { lines, times: ConstantCache { launch, ..times }, late, ..Constants::default() }
    }

    /// Returns the cycle at which a line of operands, requested at `now`, is present.
    #[inline]
    pub(super) fn fetch(&mut self, number: u16, now: Cycle) -> Cycle {
        let at = usize::from(number & !FAR);
        match self.arrives.get(at) {
            Some(&arrives) if arrives > 0 => arrives.max(now),
            _ => self.miss(at, number & FAR != 0, now),
        }
    }

    #[cold]
    fn miss(&mut self, at: usize, far: bool, now: Cycle) -> Cycle {
        let line = at.saturating_sub(1);
        let address = self.lines.get(line / 2).copied().unwrap_or_default();
        self.arrives.resize(self.arrives.len().max(at + 1), 0);
        self.arrives[at] = match line % 2 {
            1 => self.load(address, far, now),
            _ => self.second_level(address, far, now),
        };
        self.arrives[at]
    }

    /// Returns the cycle at which LDC's cache has an address, requested at `now`.
    ///
    /// `far` is true for banks in memory.
    pub(super) fn load(&mut self, address: u64, far: bool, now: Cycle) -> Cycle {
        if self.times.line == 0 {
            return now; // the machine has no such cache
        }
        let line = address - address % u64::from(self.times.line);
        if let Some(&arrives) = self.loaded.get(&line) {
            return arrives.max(now);
        }
        let arrives = self.second_level(line, far, now);
        self.loaded.insert(line, arrives);
        arrives
    }

    fn second_level(&mut self, address: u64, far: bool, now: Cycle) -> Cycle {
        let block = address - address % u64::from(self.times.block.max(1));
        let arrives = *self.shared.entry(block).or_insert_with(|| {
            let ConstantCache { launch, memory, .. } = self.times;
            let latency = if far { memory.saturating_sub(self.late).max(launch) } else { launch };
            now + Cycle::from(latency)
        });
        arrives.max(now) + Cycle::from(self.times.hit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_access_to_a_line_waits_less() {
        let cache = ConstantCache {
            hit: 60,
            launch: 110,
            launch_alone: 10,
            memory: 600,
            line: 64,
            block: 256,
        };
        let mut constants = Constants::new(&[0, 4096, 4160], Some(cache), 0, 132, 132);
        assert_eq!(constants.fetch(1, 1000), 1170);
        assert_eq!(constants.fetch(1, 1100), 1170, "in flight");
        assert_eq!(constants.fetch(2, 1200), 1260, "LDC has a cache of its own");
        assert_eq!(constants.fetch(2, 1300), 1300);
        assert_eq!(constants.fetch(FAR | 3, 2000), 2660, "bank 3 is in memory");
        assert_eq!(constants.fetch(FAR | 6, 2700), 2760, "came with the line before");
        assert_eq!(constants.load(4163, true, 2800), 2800, "LDC through a register");
        assert_eq!(constants.load(4096 + 256, true, 3000), 3660, "another block");
        let alone = |active| Constants::new(&[0], Some(cache), 0, active, 132).fetch(1, 1000);
        assert_eq!([1, 66, 99].map(alone), [1070, 1070, 1120]);
        let mut absent = Constants::new(&[], None, 0, 132, 132);
        assert_eq!((0..99).map(|at| absent.load(at, true, 7)).max(), Some(7));
        assert!(absent.loaded.is_empty(), "a machine without the cache keeps no lines");
    }
}
