//! Dot products, absolute differences and saturating conversions.

use super::*;
use crate::kernel::Narrow;

impl Reader<'_, '_, '_> {
    /// `IDP.4A.U8.S8 R0, R1, R2, R3`, `IDP.2A.HI.S16.U8 R0, R1, R2, R3`
    pub(super) fn dot(&mut self) -> Result<(), Missing> {
        let four = self.take("4A");
        if !four && !self.take("2A") {
            return Err(Missing::Modifier("neither 4A nor 2A".to_owned()));
        }
        let high = self.take("HI");
        self.take("LO");
        let signed = [self.signed_part()?, self.signed_part()?];
        self.op.f = match four {
            true => NativeFn::Dot4 { signed },
            false => NativeFn::Dot2 { signed, high },
        };
        self.result(Width::Word)?;
        self.words(3)
    }

    /// Removes the first modifier, the type of an operand's parts. Returns true if it is signed.
    fn signed_part(&mut self) -> Result<bool, Missing> {
        match self.l.text.modifiers.first().copied() {
            Some(ty @ ("S8" | "U8" | "S16" | "U16")) => {
                self.l.text.modifiers.remove(0);
                Ok(ty.starts_with('S'))
            }
            other => Err(Missing::Modifier(other.unwrap_or_default().to_owned())),
        }
    }

    pub(super) fn absolute_difference(&mut self) -> Result<(), Missing> {
        self.op.f = NativeFn::AbsoluteDifference { signed: !self.take("U32") };
        self.result(Width::Word)?;
        self.words(3)
    }

    pub(super) fn absolute_difference4(&mut self) -> Result<(), Missing> {
        let signed = self.take("S8") || !self.take("U8");
        self.op.f = NativeFn::AbsoluteDifference4 { signed, sum: self.take("ACC") };
        self.result(Width::Word)?;
        // Without `.ACC` the third operand has no effect.
        self.words(3)
    }

    /// `I2I.S8.S32.SAT R0, R1`
    pub(super) fn saturate(&mut self) -> Result<(), Missing> {
        self.op.f = NativeFn::Saturate(self.narrow()?);
        self.result(Width::Word)?;
        self.words(1)
    }

    /// `I2IP.S8.S32.SAT R0, R1, R2, R3`, `I2IP.U4.S32.SAT R0, R1, R2, R3.24`
    pub(super) fn pack_saturated(&mut self) -> Result<(), Missing> {
        let to = self.narrow()?;
        self.op.f = NativeFn::PackSaturated(to);
        // With 2 or 4 bits, the listing names the bits of the third source that stay.
        let kept = [(4, "24"), (2, "28")].into_iter().find(|(bits, _)| *bits == to.bits);
        if let (Some((_, kept)), Some(Operand::Register(_, marks))) =
            (kept, self.l.text.operands.get_mut(3))
            && marks.suffix == Some(kept)
        {
            marks.suffix = None;
        }
        self.result(Width::Word)?;
        self.words(3)?;
        if to.bits == 16 && !self.is_zero(2) { Err(Missing::Operands) } else { Ok(()) }
    }

    fn narrow(&mut self) -> Result<Narrow, Missing> {
        let types = [("U2", 2), ("U4", 4), ("U8", 8), ("U16", 16)];
        let signed = [("S2", 2), ("S4", 4), ("S8", 8), ("S16", 16)];
        let mut of = |types: [(&str, u8); 4], signed| {
            let (_, bits) = types.into_iter().find(|(name, _)| self.take(name))?;
            Some(Narrow { bits, signed })
        };
        match of(types, false).or_else(|| of(signed, true)) {
            Some(to) if self.take("S32") && self.take("SAT") => Ok(to),
            _ => Err(Missing::Modifier(self.l.text.modifiers.join("."))),
        }
    }
}
