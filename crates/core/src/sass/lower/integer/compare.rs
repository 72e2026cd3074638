//! Comparisons, minima and maxima.

use super::*;
use crate::isa::{BoolOp, Compare};
use crate::kernel::{CompareIntegers, MinMax, MinMaxOf};

impl Reader<'_, '_, '_> {
    /// `ISETP.LT.AND.EX P0, P1, R0, R1, P2, P3`: `P3` is the comparison of the low words.
    pub(super) fn compare(&mut self) -> Result<(), Missing> {
        let compares = [
            ("LT", Compare::Lt),
            ("EQ", Compare::Eq),
            ("LE", Compare::Le),
            ("GT", Compare::Gt),
            ("NE", Compare::Ne),
            ("GE", Compare::Ge),
            ("F", Compare::Nan),
            ("T", Compare::Num),
        ];
        let combines = [("AND", BoolOp::And), ("OR", BoolOp::Or), ("XOR", BoolOp::Xor)];
        let compare = compares.into_iter().find(|(name, _)| self.take(name));
        let combine = combines.into_iter().find(|(name, _)| self.take(name));
        let (Some((_, compare)), Some((_, combine))) = (compare, combine) else {
            return Err(Missing::Modifier(self.l.text.modifiers.join(".")));
        };
        let (signed, extended) = (!self.take("U32"), self.take("EX"));
        self.op.f =
            NativeFn::CompareIntegers(CompareIntegers { compare, combine, signed, extended });
        self.results(2)?;
        self.words(2)?;
        self.predicates(if extended { 2 } else { 1 })
    }

    /// `VIMNMX R0, P0, P1, R1, R2, PT`: only 16-bit lanes have result predicates.
    pub(super) fn min_max(&mut self, name: &str) -> Result<(), Missing> {
        let (of, sources) = match name {
            "VIMNMX3" => (MinMaxOf::Three, 3),
            "VIADDMNMX" => (MinMaxOf::Sum, 3),
            _ => (MinMaxOf::Two, 2),
        };
        let relu = self.take("RELU");
        let (signed, halves) = match () {
            () if self.take("U32") => (false, false),
            () if self.take("S16x2") => (true, true),
            () if self.take("U16x2") => (false, true),
            () => (true, false),
        };
        self.op.f = NativeFn::MinMax(MinMax { of, signed, halves, relu });
        self.result(Width::Word)?;
        self.results(if halves && of == MinMaxOf::Two { 2 } else { 0 })?;
        self.words(sources)?;
        self.predicates(1)
    }
}
