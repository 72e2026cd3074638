//! Constant caches of an SM for machine code.
//!
//! LDC has a cache of its own beside that of constant operands. Behind both is a second level that
//! they share, and which misses by blocks of several lines. All are cold at launch. The first
//! access to a line waits for it: LDC by its result, other instructions before they issue
//! (`imc_miss`). Bank 0, which has the parameters, comes with the launch; the other banks are in
//! memory. Measured on an H200 by stall samples per instruction and on an H100 by the clock
//! (docs/calibration.md). Not modeled: capacity but that of LDC's cache.

use std::collections::BTreeMap;

use crate::base::Cycle;
use crate::kernel::{Native, NativeKernel, Op};
use crate::machine::constant_loads::{Load, LoadUnit};
use crate::spec::{ConstantCache, SassTimes};

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
    pub(super) fn of(&mut self, op: &Op, native: &NativeKernel, cache: ConstantCache) -> u16 {
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
        match u16::try_from(index + 1) {
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
#[derive(Clone, Default)]
pub(super) struct Constants<'a> {
    /// Addresses of the lines of operands.
    lines: &'a [u64],
    /// Arrival cycle by number of the line; 0 for lines that were not requested.
    arrives: Vec<Cycle>,
    second: SecondLevel,
    loads: LoadUnit,
}

/// Second level of the constant caches.
#[derive(Clone, Debug, Default)]
struct SecondLevel {
    times: ConstantCache,
    /// Arrival of blocks by their address.
    blocks: BTreeMap<u64, Cycle>,
}

impl<'a> Constants<'a> {
    /// Creates cold caches on one of `active` SMs of `sms` with work.
    ///
    /// `lines` are the addresses of the lines of operands.
    pub(super) fn new(lines: &'a [u64], times: &SassTimes, active: u32, sms: u32) -> Constants<'a> {
        let cache = times.constants.unwrap_or_default();
        let half = sms / 2;
        // Between half and all of the SMs, times change with their number.
        let part = |alone: u32, all: u32| {
            let [alone, all] = [alone, all].map(i64::from);
            let [more, rest] = [active.saturating_sub(half), (sms - half).max(1)].map(i64::from);
            (alone + (all - alone) * more.min(rest) / rest) as u32
        };
        let launch = part(cache.launch_alone, cache.launch);
        let memory = part(cache.memory_alone, cache.memory);
        let cold = ConstantCache { launch, memory, ..cache };
        let second = SecondLevel { times: cold, ..Default::default() };
        let loads = LoadUnit::new(times.constant_loads, cache);
        Constants { lines, second, loads, ..Constants::default() }
    }

    /// Returns the cycle at which a line of operands, requested at `now`, is present.
    #[inline]
    pub(super) fn fetch(&mut self, number: u16, now: Cycle) -> Cycle {
        match self.arrives.get(usize::from(number & !FAR)) {
            Some(&arrives) if arrives > 0 => arrives.max(now),
            _ => self.miss(number, now),
        }
    }

    #[cold]
    fn miss(&mut self, number: u16, now: Cycle) -> Cycle {
        let (at, address) = (usize::from(number & !FAR), self.address(number));
        let hit = Cycle::from(self.second.times.hit);
        self.arrives.resize(self.arrives.len().max(at + 1), 0);
        self.arrives[at] = self.second.arrives(address, number & FAR != 0, now) + hit;
        self.arrives[at]
    }

    /// Returns the address of a line of operands.
    fn address(&self, number: u16) -> u64 {
        let line = usize::from(number & !FAR).saturating_sub(1);
        self.lines.get(line).copied().unwrap_or_default()
    }

    /// Loads an operand (LDC), whose line has this number, offered at `from`.
    ///
    /// Without a number it passes through the unit, as does a load without lanes.
    pub(super) fn load_operand(&mut self, number: u16, from: Cycle) -> Load {
        let address = (number > 0).then(|| self.address(number));
        self.load(from, address.into_iter(), number & FAR != 0)
    }

    /// Loads from addresses (LDC through a register), offered at `from`.
    ///
    /// `far` is true for banks in memory.
    pub(super) fn load(
        &mut self,
        from: Cycle,
        addresses: impl Iterator<Item = u64>,
        far: bool,
    ) -> Load {
        let Constants { loads, second, .. } = self;
        loads.load(from, addresses, |line, now| second.arrives(line, far, now))
    }
}

impl SecondLevel {
    /// Returns the cycle at which it has an address, requested at `now`.
    fn arrives(&mut self, address: u64, far: bool, now: Cycle) -> Cycle {
        let block = address - address % u64::from(self.times.block.max(1));
        let arrives = *self.blocks.entry(block).or_insert_with(|| {
            let ConstantCache { launch, memory, .. } = self.times;
            let latency = if far { memory } else { launch };
            now + Cycle::from(latency)
        });
        arrives.max(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::ConstantLoads;

    #[test]
    fn the_second_access_to_a_line_waits_less() {
        let cache = ConstantCache {
            hit: 60,
            launch: 110,
            launch_alone: 10,
            memory: 600,
            memory_alone: 700,
            line: 64,
            block: 256,
            bytes: 2048,
            ways: 4,
            load: 70,
        };
        let constant_loads = ConstantLoads { address: 11, at_once: 6, ..ConstantLoads::default() };
        let none = SassTimes { constant_loads, ..SassTimes::default() };
        let times = SassTimes { constants: Some(cache), ..none.clone() };
        let mut constants = Constants::new(&[0, 4096, 4160], &times, 132, 132);
        assert_eq!(constants.fetch(1, 1000), 1170);
        assert_eq!(constants.fetch(1, 1100), 1170, "in flight");
        let mut begins = |number, from| constants.load_operand(number, from).begins;
        assert_eq!(begins(1, 1200), 1270, "LDC has a cache of its own");
        assert_eq!(begins(1, 1300), 1300);
        assert_eq!(constants.fetch(FAR | 2, 2000), 2660, "bank 3 is in memory");
        assert_eq!(constants.fetch(FAR | 3, 2700), 2760, "came with the line before");
        let mut begins = |address, from| constants.load(from, [address].into_iter(), true).begins;
        assert_eq!(begins(4163, 2800), 2870, "LDC through a register");
        assert_eq!(begins(4096 + 256, 3000), 3660, "another block");
        let alone = |active| Constants::new(&[0], &times, active, 132).fetch(1, 1000);
        assert_eq!([1, 66, 99].map(alone), [1070, 1070, 1120]);
        let mut absent = Constants::new(&[], &none, 132, 132);
        let mut begins = |address, from| absent.load(from, [address].into_iter(), true).begins;
        let at = [0, 1, 2].map(|at| begins(4096 * at, 7 + 100 * at));
        assert_eq!(at, [7, 107, 207], "a machine without the cache keeps no lines");
    }
}
