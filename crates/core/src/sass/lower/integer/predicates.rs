//! Instructions on predicates.

use super::*;
use crate::kernel::Register;

impl Reader<'_, '_, '_> {
    /// `PLOP3.LUT P0, P1, P2, P3, P4, 0x80, 0x0`, or with signs: `R2.SIGN`.
    pub(super) fn predicate_logic3(&mut self) -> Result<(), Missing> {
        self.take("LUT");
        self.results(2)?;
        let (mut signs, mut third) = (0, NEVER);
        for i in 0..3 {
            if let Some(Operand::Register(_, marks) | Operand::Constant { marks, .. }) =
                self.l.text.operands.get_mut(self.at)
            {
                if marks.suffix.take() != Some("SIGN") {
                    return Err(Missing::Operands);
                }
                self.source(i, Width::Word)?;
                signs |= 1 << i;
                continue;
            }
            let used = self.l.predicate(self.at)?;
            self.at += 1;
            *self.op.q.get_mut(i).unwrap_or(&mut third) = used;
        }
        let tables = [self.number(256)?, self.number(256)?];
        self.op.f = NativeFn::PredicateLogic3 { tables, third, signs };
        Ok(())
    }

    /// `P2R.B1 R0, PR, R1, 0x7f`
    pub(super) fn pack_predicates(&mut self) -> Result<(), Missing> {
        let byte = (0..4).find(|i| self.take(["B0", "B1", "B2", "B3"][*i])).unwrap_or(0);
        self.result(Width::Word)?;
        self.file()?;
        self.words(1)?;
        let mask = self.number(256)?;
        for predicate in self.of_mask(mask) {
            record(&mut self.l.reads, predicate);
        }
        self.op.f = NativeFn::PackPredicates { mask, byte: byte as u8 };
        Ok(())
    }

    /// `R2P PR, R0.B1, 0x7f`, `UR2UP UPR, UR0.B3` with all predicates
    pub(super) fn unpack_predicates(&mut self) -> Result<(), Missing> {
        self.file()?;
        self.source(0, Width::Word)?;
        let byte = match self.op.s[0].part {
            Part::Whole | Part::B0 => 0,
            Part::B1 => 1,
            Part::B2 => 2,
            Part::B3 => 3,
            Part::H0 | Part::H1 | Part::H0Nh1 | Part::Single => return Err(Missing::Operands),
        };
        self.op.s[0].part = Part::Whole;
        let all = self.at == self.l.text.operands.len();
        let mask = if all { 0xff } else { self.number(256)? };
        for predicate in self.of_mask(mask) {
            record(&mut self.l.writes, predicate);
        }
        self.op.f = NativeFn::UnpackPredicates { mask, byte };
        Ok(())
    }

    /// Reads the predicate file.
    fn file(&mut self) -> Result<(), Missing> {
        let file = matches!(self.l.text.operands.get(self.at), Some(Operand::PredicateFile));
        self.at += 1;
        if file { Ok(()) } else { Err(Missing::Operands) }
    }

    /// Returns the predicates of a mask.
    fn of_mask(&self, mask: u8) -> impl Iterator<Item = Register> + use<> {
        let first = if self.op.uniform { 8 } else { 0 };
        (0..7)
            .filter(move |i| mask >> i & 1 == 1)
            .map(move |i| Register::Predicate(Predicate(first + i)))
    }
}
