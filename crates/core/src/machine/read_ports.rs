//! Dispatch of instructions and read ports of a scheduler's register file, for machine code.
//!
//! The file has two banks by register parity, and each reads one register of a warp in a cycle. An
//! instruction is dispatched before its operands are read; the dispatch stops while a bank lags by
//! more than one cycle. Measured on an H200 (docs/calibration.md): with 32 warps an SM, loops of
//! FFMA, HFMA2 and DFMA take as many cycles as the bank with more reads. After a product of 64 bits
//! the dispatch stops for some cycles, as warp states of kernels show (`dispatch_stall`).

use crate::base::Cycle;

/// Cycles by which a bank may lag the dispatch.
const LAG: Cycle = 1;

/// Registers that an instruction reads of the two banks, and cycles after it without a dispatch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct BankReads {
    even: u8,
    odd: u8,
    stands: u8,
}

impl BankReads {
    /// Counts distinct registers, given as `rows` of the register file.
    pub(super) fn of(rows: impl Iterator<Item = u16>) -> BankReads {
        let mut seen: Vec<u16> = rows.collect();
        seen.sort_unstable();
        seen.dedup();
        let odd = seen.iter().filter(|&row| row % 2 == 1).count();
        BankReads { even: (seen.len() - odd) as u8, odd: odd as u8, stands: 0 }
    }

    /// Returns true if the instruction holds up no other one, if both banks are idle.
    pub(super) fn pass_at_once(self) -> bool {
        self.even <= 1 && self.odd <= 1 && self.stands == 0
    }

    /// Adds cycles after the instruction in which nothing is dispatched.
    pub(super) fn with_stand(self, cycles: u32) -> BankReads {
        BankReads { stands: cycles.min(63) as u8, ..self }
    }
}

/// Read ports of one scheduler.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ReadPorts {
    /// Cycle until which each bank is busy: even, odd. One that is free for the next instruction
    /// may have been busy longer than this says.
    busy: [Cycle; 2],
    /// The later one.
    idle: Cycle,
    /// Cycle until which the dispatch stands still.
    until: Cycle,
    /// Cycles before `recorded` in which the dispatch stood still, the latest in bit 0.
    stood: u64,
    recorded: Cycle,
}

impl ReadPorts {
    /// Reads the operands of an instruction that issues at `now`.
    #[inline(always)]
    pub(super) fn read(&mut self, reads: BankReads, now: Cycle) {
        let [even, odd] = self.busy;
        let (even, odd) =
            (even.max(now) + Cycle::from(reads.even), odd.max(now) + Cycle::from(reads.odd));
        self.busy = [even, odd];
        self.idle = even.max(odd);
        let next = now + 1;
        // The lag is taken off last, so that no difference is below 0.
        self.until = self.idle.max(next + LAG + Cycle::from(reads.stands)) - LAG;
        let stands = self.until - next;
        if stands > 0 {
            let passed = self.until - self.recorded;
            let before = if passed < 64 { self.stood << passed } else { 0 };
            self.stood = before | ((1 << stands.min(63)) - 1);
            self.recorded = self.until;
        }
    }

    /// Returns true if both banks are idle at `now`.
    #[inline(always)]
    pub(super) fn are_idle(&self, now: Cycle) -> bool {
        self.idle <= now
    }

    /// Returns the cycle until which the dispatch stands still.
    #[inline]
    pub(super) fn until(&self) -> Cycle {
        self.until
    }

    /// Returns the number of cycles since `from` in which the dispatch stood still, of the last 64.
    ///
    /// Without a branch, which a processor could not predict. A stand never outlasts the next
    /// issue, so at an issue all recorded cycles have passed.
    #[inline(always)]
    pub(super) fn stood(&self, from: Cycle) -> Cycle {
        let cycles = self.recorded.saturating_sub(from);
        let recorded = self.stood & if cycles >= 64 { u64::MAX } else { (1 << cycles) - 1 };
        recorded.count_ones().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reads(even: u8, odd: u8) -> BankReads {
        BankReads { even, odd, stands: 0 }
    }

    #[test]
    fn rows_are_counted_once_and_by_parity() {
        assert_eq!(BankReads::of([4, 7, 4, 6].into_iter()), reads(2, 1));
    }

    #[test]
    fn a_bank_may_lag_by_one_cycle() {
        let mut ports = ReadPorts::default();
        ports.read(reads(2, 1), 100);
        assert_eq!(ports.until(), 101, "the next cycle is free");
        ports.read(reads(2, 1), 101);
        assert_eq!(ports.until(), 103, "four reads by 104");
        assert_eq!(ports.stood(101), 1);
        ports.read(reads(0, 1), 103);
        assert_eq!(ports.until(), 104, "the next cycle");
        ports.read(reads(3, 0), 104);
        assert_eq!(ports.until(), 106);
        assert_eq!(ports.stood(101), 2);
        assert_eq!(ports.stood(103), 1);
        assert_eq!(ports.stood(106), 0);
        ports.read(reads(1, 1).with_stand(2), 200);
        assert_eq!((ports.until(), ports.stood(200)), (203, 2));
        ports.read(reads(3, 3), 1000);
        assert_eq!(ports.stood(100), 1, "older ones are forgotten");
    }
}
