//! Sums, products and shifts.

use super::*;
use crate::kernel::Funnel;

impl Reader<'_, '_, '_> {
    /// `IADD3 R0, P0, P1, R1, R2, R3, P2, P3`: each predicate may be left out.
    pub(super) fn add3(&mut self) -> Result<(), Missing> {
        if self.take("64") {
            self.op.f = NativeFn::AddPairs;
            self.result(Width::Pair)?;
            return (0..3).try_for_each(|i| self.source(i, Width::Pair));
        }
        let extended = self.take("X");
        self.result(Width::Word)?;
        self.results(2)?;
        self.words(3)?;
        self.predicates(2)?;
        self.op.f = NativeFn::Add3 { extended };
        if !extended && self.op.p == [None; 2] {
            self.fewer_terms();
        }
        Ok(())
    }

    /// Makes a sum with a zero an addition of two, or a move.
    fn fewer_terms(&mut self) {
        let zeros = [0, 1, 2].map(|i| self.is_zero(i));
        let s = self.op.s;
        let (f, s) = match zeros {
            [false, true, true] => (NativeFn::Mov, [s[0]; 3]),
            [true, false, true] => (NativeFn::Mov, [s[1]; 3]),
            [true, true, _] => (NativeFn::Mov, [s[2]; 3]),
            [false, false, true] => (NativeFn::Add, [s[0], s[1], s[1]]),
            [false, true, false] => (NativeFn::Add, [s[0], s[2], s[2]]),
            [true, false, false] => (NativeFn::Add, [s[1], s[2], s[2]]),
            [false, false, false] => return,
        };
        (self.op.f, self.op.s) = (f, s);
    }

    pub(super) fn add(&mut self) -> Result<(), Missing> {
        self.op.f = if self.take("16x2") { NativeFn::AddHalves } else { NativeFn::Add };
        self.result(Width::Word)?;
        self.words(2)
    }

    /// `IMAD R0, P0, R1, R2, R3, P1`: each predicate may be left out.
    ///
    /// `.MOV`, `.SHL` and `.IADD` are names that the disassembler gives to special operands.
    pub(super) fn multiply(&mut self) -> Result<(), Missing> {
        let _ = self.take("MOV") || self.take("SHL") || self.take("IADD");
        let (wide, high) = (self.take("WIDE"), self.take("HI"));
        let (signed, extended) = (!self.take("U32"), self.take("X"));
        self.result(if wide { Width::Pair } else { Width::Word })?;
        self.results(1)?;
        let factor = self.peek(1);
        self.words(2)?;
        self.source(2, if wide || high { Width::Pair } else { Width::Word })?;
        self.predicates(usize::from(extended))?;
        self.op.f = match (wide, high) {
            (true, _) => NativeFn::MultiplyWide { signed },
            (_, true) => NativeFn::MultiplyHigh { signed },
            _ if extended || self.op.p[0].is_some() => NativeFn::MultiplyCarry,
            _ => {
                self.narrow_product(factor);
                return Ok(());
            }
        };
        let negated = self.op.s[0].negate || self.op.s[1].negate;
        if negated && (wide || high) { Err(Missing::Operands) } else { Ok(()) }
    }

    /// Sets the cheapest function that computes `a * b + c`, where `factor` is an immediate `b`.
    fn narrow_product(&mut self, factor: Option<i64>) {
        let [a, _, c] = self.op.s;
        let power = factor.map(|f| f as u32).filter(|f| f.is_power_of_two());
        (self.op.f, self.op.s) = if self.is_zero(0) || self.is_zero(1) {
            (NativeFn::Mov, [c; 3])
        } else if factor == Some(1) {
            (NativeFn::Add, [a, c, c])
        } else if let Some(power) = power.filter(|_| self.is_zero(2)) {
            (NativeFn::ShiftLeft { by: power.trailing_zeros() as u8 }, [a; 3])
        } else {
            (NativeFn::Multiply, self.op.s)
        };
    }

    /// `LEA.HI R0, P0, R1, R2, R3, 0x4, P1`: each predicate may be left out.
    pub(super) fn shift_add(&mut self) -> Result<(), Missing> {
        let (high, extended, extend) = (self.take("HI"), self.take("X"), self.take("SX32"));
        self.result(Width::Word)?;
        self.results(1)?;
        self.words(if high && !extend { 3 } else { 2 })?;
        let shift = self.number(32)?;
        self.predicates(usize::from(extended))?;
        self.op.f = match high {
            true => NativeFn::ShiftAddHigh { shift, extend },
            false => NativeFn::ShiftAdd { shift },
        };
        // The low word of `-a` shifted is that of the shifted value negated; others are not known.
        let known = !(self.op.s[0].invert || high && self.op.s[0].negate);
        if known { Ok(()) } else { Err(Missing::Operands) }
    }

    /// `SHF.R.U32.HI R0, R1, R2, R3`: `R3` is the high word, `R1` the low one.
    pub(super) fn shift(&mut self) -> Result<(), Missing> {
        let left = self.take("L");
        if !left && !self.take("R") {
            return Err(Missing::Modifier("neither L nor R".to_owned()));
        }
        let (wrap, high) = (self.take("W"), self.take("HI"));
        let (signed, long) = match () {
            () if self.take("U32") => (false, false),
            () if self.take("S32") => (true, false),
            () if self.take("U64") => (false, true),
            () => (self.take("S64"), true),
        };
        self.result(Width::Word)?;
        let count = self.peek(1).map(|count| count as u32);
        self.words(3)?;
        let f = Funnel { left, high, signed, long, wrap };
        let most = if long { 64 } else { 32 };
        let by = count.map(|count| if wrap { count & (most - 1) } else { count.min(most) });
        // A known count below 32 of one word needs no pair.
        let [low, _, top] = self.op.s;
        (self.op.f, self.op.s) = match by.and_then(|by| u8::try_from(by).ok()) {
            Some(by @ 0..=31) if left && !high => (NativeFn::ShiftLeft { by }, [low; 3]),
            Some(by @ 0..=31) if !left && high => (NativeFn::ShiftRight { by, signed }, [top; 3]),
            _ => (NativeFn::Funnel(f), self.op.s),
        };
        Ok(())
    }
}
