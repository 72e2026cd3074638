//! Constant cache of an SM for machine code.
//!
//! It is cold at launch. The first access to a line waits for it: LDC by its result, other
//! instructions before they issue (`imc_miss`). Not modeled: capacity, as lines stay, and the two
//! levels of the hardware.

use crate::base::Cycle;
use crate::kernel::{Native, NativeKernel, Op};
use crate::spec::ConstantCache;

/// Lines of the constant banks that a kernel's operands use.
#[derive(Debug, Default)]
pub(super) struct ConstantLines {
    /// Bank, line, and true for LDC, which has a cache of its own.
    lines: Vec<(u8, u32, bool)>,
}

impl ConstantLines {
    /// Returns one more than the number of the line of an operation's constant; 0 without one.
    ///
    /// The line that comes with a launch is always present for other instructions than LDC.
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
        let size = cache.line.max(1);
        let line = (at.bank, at.offset / size, loads);
        if line == (0, cache.present / size, false) {
            return 0;
        }
        let number = self.lines.iter().position(|known| *known == line).unwrap_or_else(|| {
            self.lines.push(line);
            self.lines.len() - 1
        });
        u16::try_from(number + 1).unwrap_or(0)
    }
}

/// Constant cache of one SM.
#[derive(Clone, Debug, Default)]
pub(super) struct Constants {
    latency: Cycle,
    /// Arrival cycle by line; 0 for lines that were not requested.
    arrives: Vec<Cycle>,
}

impl Constants {
    pub(super) fn new(cache: Option<ConstantCache>) -> Constants {
        let latency = cache.map_or(0, |cache| cache.latency.into());
        Constants { latency, arrives: Vec::new() }
    }

    /// Returns the cycle at which line `number - 1`, requested at `now`, is present.
    #[inline]
    pub(super) fn fetch(&mut self, number: u16, now: Cycle) -> Cycle {
        let at = usize::from(number);
        if self.arrives.len() <= at {
            self.arrives.resize(at + 1, 0);
        }
        if self.arrives[at] == 0 {
            self.arrives[at] = now + self.latency;
        }
        self.arrives[at].max(now)
    }
}
