//! Logic, counts, fields and permutations of bits.

use super::*;
use crate::kernel::PrmtMode;

impl Reader<'_, '_, '_> {
    /// `LOP3.LUT P0, R0, R1, R2, R3, 0xc0, !PT`: the result predicate may be left out.
    pub(super) fn logic3(&mut self) -> Result<(), Missing> {
        self.take("LUT");
        let and = self.take("PAND");
        self.results(1)?;
        self.result(Width::Word)?;
        self.words(3)?;
        let table = self.number(256)?;
        self.predicates(1)?;
        let zeros = (0..3).filter(|&i| self.is_zero(i)).fold(0, |all, i| all | 4 >> i);
        self.op.f = NativeFn::Logic3 { table: without(table, zeros), and };
        Ok(())
    }

    pub(super) fn permute(&mut self) -> Result<(), Missing> {
        let modes = [
            ("F4E", PrmtMode::F4e),
            ("B4E", PrmtMode::B4e),
            ("RC8", PrmtMode::Rc8),
            ("ECL", PrmtMode::Ecl),
            ("ECR", PrmtMode::Ecr),
            ("RC16", PrmtMode::Rc16),
        ];
        let mode = modes.into_iter().find(|(name, _)| self.take(name));
        self.result(Width::Word)?;
        self.words(3)?;
        self.op.f = NativeFn::Permute(mode.map_or(PrmtMode::Index, |(_, mode)| mode));
        Ok(())
    }

    /// POPC, BREV, IABS.
    pub(super) fn unary(&mut self, name: &str) -> Result<(), Missing> {
        self.op.f = match name {
            "POPC" => NativeFn::CountOnes,
            "BREV" => NativeFn::Reverse,
            _ => NativeFn::Absolute,
        };
        self.result(Width::Word)?;
        self.words(1)
    }

    pub(super) fn find_leading(&mut self) -> Result<(), Missing> {
        let (signed, shift) = (!self.take("U32"), self.take("SH"));
        self.op.f = NativeFn::FindLeading { signed, shift };
        self.result(Width::Word)?;
        self.words(1)
    }

    pub(super) fn mask(&mut self) -> Result<(), Missing> {
        self.op.f = NativeFn::Mask { wrap: self.take("W") };
        self.result(Width::Word)?;
        self.words(2)
    }

    pub(super) fn extend(&mut self) -> Result<(), Missing> {
        let (signed, wrap) = (!self.take("U32"), self.take("W"));
        self.op.f = NativeFn::Extend { signed, wrap };
        self.result(Width::Word)?;
        self.words(2)
    }
}

/// Returns the table of the same function without the operands that are zero.
///
/// `zeros` has a bit for each of them, as in a row number: 4 for the first, 1 for the third.
fn without(table: u8, zeros: u8) -> u8 {
    (0..8).filter(|row| table >> (row & !zeros) & 1 == 1).fold(0, |all, row| all | 1 << row)
}
