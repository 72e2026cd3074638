//! Constant caches of an SM for machine code.
//!
//! LDC has a cache of its own beside that of constant operands. Behind both is a second level that
//! they share. All are cold at launch. The first access to a line waits for it: LDC by its result,
//! other instructions before they issue (`imc_miss`). Bank 0, which has the parameters, comes with
//! the launch; the other banks are in memory. Measured on an H200 by stall samples per instruction
//! (docs/calibration.md). Not modeled: capacity, as lines stay.

use crate::base::Cycle;
use crate::kernel::{Native, NativeKernel, Op};
use crate::spec::ConstantCache;

/// Flag of a line that comes from memory.
const FAR: u16 = 1 << 15;

/// Lines of the constant banks that a kernel's operands use.
#[derive(Debug, Default)]
pub(super) struct ConstantLines {
    /// Bank and line.
    lines: Vec<(u8, u32)>,
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
        let line = (at.bank, at.offset / cache.line.max(1));
        let index = self.lines.iter().position(|known| *known == line).unwrap_or_else(|| {
            self.lines.push(line);
            self.lines.len() - 1
        });
        match u16::try_from(2 * index + usize::from(loads) + 1) {
            Ok(number) if number < FAR => number | if at.bank == 0 { 0 } else { FAR },
            _ => 0,
        }
    }
}

/// Constant caches of one SM.
#[derive(Clone, Debug, Default)]
pub(super) struct Constants {
    times: ConstantCache,
    /// Cycles by which the SM is later than the first one, which brings lines of all SMs to L2.
    late: u32,
    /// Arrival cycle by number of the line; 0 for lines that were not requested.
    arrives: Vec<Cycle>,
    /// The same in the second level, by line.
    shared: Vec<Cycle>,
}

impl Constants {
    /// Creates cold caches on an SM that is `late`, one of `active` of `sms` with work.
    pub(super) fn new(cache: Option<ConstantCache>, late: u32, active: u32, sms: u32) -> Constants {
        let times = cache.unwrap_or_default();
        let half = sms / 2;
        let added = times.launch.saturating_sub(times.launch_alone);
        let launch = times.launch_alone + added * active.saturating_sub(half) / (sms - half).max(1);
        Constants { times: ConstantCache { launch, ..times }, late, ..Constants::default() }
    }

    /// Returns the cycle at which a line, requested at `now`, is present.
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
        let line = at.saturating_sub(1) / 2;
        self.arrives.resize(self.arrives.len().max(at + 1), 0);
        self.shared.resize(self.shared.len().max(line + 1), 0);
        if self.shared[line] == 0 {
            let ConstantCache { launch, memory, .. } = self.times;
            let latency = if far { memory.saturating_sub(self.late).max(launch) } else { launch };
            self.shared[line] = now + Cycle::from(latency);
        }
        self.arrives[at] = self.shared[line].max(now) + Cycle::from(self.times.hit);
        self.arrives[at]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_access_to_a_line_waits_less() {
        let cache = ConstantCache { hit: 60, launch: 110, launch_alone: 10, memory: 600, line: 64 };
        let mut constants = Constants::new(Some(cache), 0, 132, 132);
        assert_eq!(constants.fetch(1, 1000), 1170);
        assert_eq!(constants.fetch(1, 1100), 1170, "in flight");
        assert_eq!(constants.fetch(2, 1200), 1260, "LDC has a cache of its own");
        assert_eq!(constants.fetch(2, 1300), 1300);
        assert_eq!(constants.fetch(FAR | 3, 2000), 2660, "bank 3 is in memory");
        let alone = |active| Constants::new(Some(cache), 0, active, 132).fetch(1, 1000);
        assert_eq!([1, 66, 99].map(alone), [1070, 1070, 1120]);
    }
}
