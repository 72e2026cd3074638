//! Integer, logic and predicate instructions, and their twins of the uniform datapath.

mod arithmetic;
mod bits;
mod compare;
mod predicates;
#[cfg(test)]
mod tests;
mod video;

use super::text::Operand;
use super::{FALSE, Lowering, Missing, Width, record};
use crate::kernel::{Native, NativeFn, Part, Predicate, PredicateUse, Source};

/// A predicate source that is false.
const NEVER: PredicateUse = PredicateUse { predicate: FALSE, negated: false };

/// Lowers an integer instruction; `Ok(None)` if the opcode is of another family.
pub(super) fn lower(l: &mut Lowering<'_, '_>) -> Result<Option<Native>, Missing> {
    let (uniform, name) = match l.text.name.strip_prefix('U') {
        Some(rest) => (true, rest),
        None => (false, l.text.name),
    };
    let mut reader = Reader { l, at: 0, op: native(uniform) };
    let r = &mut reader;
    match name {
        "MOV" => r.mov()?,
        "CS2R" if !uniform => r.zero()?,
        "SEL" => r.select()?,
        "R2UR" if !uniform => r.read_first()?,
        "IADD3" => r.add3()?,
        "VIADD" => r.add()?,
        "IMAD" => r.multiply()?,
        "LEA" => r.shift_add()?,
        "LOP3" => r.logic3()?,
        "SHF" => r.shift()?,
        "PRMT" => r.permute()?,
        "POPC" | "BREV" | "IABS" => r.unary(name)?,
        "FLO" => r.find_leading()?,
        "BMSK" => r.mask()?,
        "SGXT" => r.extend()?,
        "ISETP" => r.compare()?,
        "IMNMX" | "VIMNMX" | "VIMNMX3" | "VIADDMNMX" => r.min_max(name)?,
        "PLOP3" => r.predicate_logic3()?,
        "P2R" if !uniform => r.pack_predicates()?,
        "P2UR" if uniform => r.pack_predicates()?,
        "R2P" if !uniform => r.unpack_predicates()?,
        "R2UP" if uniform => r.unpack_predicates()?,
        "IDP" if !uniform => r.dot()?,
        "VABSDIFF" if !uniform => r.absolute_difference()?,
        "VABSDIFF4" if !uniform => r.absolute_difference4()?,
        "I2I" if !uniform => r.saturate()?,
        "I2IP" if !uniform => r.pack_saturated()?,
        _ => return Ok(None),
    }
    let all_read = reader.at == reader.l.text.operands.len();
    if all_read { Ok(Some(reader.op)) } else { Err(Missing::Operands) }
}

/// Creates an operation without operands.
pub(super) fn native(uniform: bool) -> Native {
    Native {
        f: NativeFn::Mov,
        d: None,
        p: [None; 2],
        s: [Source::default(); 3],
        q: [NEVER; 2],
        uniform,
    }
}

/// Operands of one instruction, read from left to right.
struct Reader<'l, 'r, 't> {
    l: &'l mut Lowering<'r, 't>,
    /// Index of the next operand.
    at: usize,
    /// Operation made so far.
    op: Native,
}

impl Reader<'_, '_, '_> {
    /// Reads the result register.
    fn result(&mut self, width: Width) -> Result<(), Missing> {
        self.op.d = self.l.result(self.at, width)?;
        self.at += 1;
        Ok(())
    }

    /// Reads up to `most` result predicates; each may be left out.
    fn results(&mut self, most: usize) -> Result<(), Missing> {
        for i in 0..most {
            if self.l.is_predicate(self.at) {
                self.op.p[i] = self.l.result_predicate(self.at)?;
                self.at += 1;
            }
        }
        Ok(())
    }

    /// Reads source `i` of the operation.
    fn source(&mut self, i: usize, width: Width) -> Result<(), Missing> {
        let source = self.l.source(self.at, width)?;
        if source.absolute {
            return Err(Missing::Operands);
        }
        self.op.s[i] = source;
        self.at += 1;
        Ok(())
    }

    /// Reads 32-bit sources in order; none may select a part of a register.
    fn words(&mut self, count: usize) -> Result<(), Missing> {
        for i in 0..count {
            self.source(i, Width::Word)?;
            if self.op.s[i].part != Part::Whole {
                return Err(Missing::Operands);
            }
        }
        Ok(())
    }

    /// Reads up to `most` predicate sources; each may be left out.
    fn predicates(&mut self, most: usize) -> Result<(), Missing> {
        for i in 0..most {
            if self.l.is_predicate(self.at) {
                self.op.q[i] = self.l.predicate(self.at)?;
                self.at += 1;
            }
        }
        Ok(())
    }

    /// Returns the next operand if it is an integer.
    fn peek(&self, ahead: usize) -> Option<i64> {
        match self.l.text.operands.get(self.at + ahead) {
            Some(&Operand::Integer(value)) => Some(value),
            _ => None,
        }
    }

    /// Reads an integer below `limit`.
    fn number(&mut self, limit: i64) -> Result<u8, Missing> {
        let value = self.peek(0).filter(|value| (0..limit).contains(value));
        self.at += 1;
        value.and_then(|value| u8::try_from(value).ok()).ok_or(Missing::Operands)
    }

    /// Returns true if a source is RZ or an immediate zero.
    fn is_zero(&self, i: usize) -> bool {
        self.op.s[i].row == self.l.rows.row(ZERO) && !self.op.s[i].invert
    }

    /// Removes a modifier. Returns true if it was there.
    fn take(&mut self, modifier: &str) -> bool {
        self.l.text.take(modifier)
    }

    fn mov(&mut self) -> Result<(), Missing> {
        self.op.f = NativeFn::Mov;
        self.result(Width::Word)?;
        self.words(1)
    }

    /// CS2R of zero; the clocks are not element-wise.
    fn zero(&mut self) -> Result<(), Missing> {
        let width = if self.take("32") { Width::Word } else { Width::Pair };
        self.op.f = if width == Width::Word { NativeFn::Mov } else { NativeFn::MovPair };
        self.result(width)?;
        self.op.s[0] = Source::of(self.l.rows.row(ZERO));
        self.at += 1;
        let zero = matches!(self.l.text.operands.get(1), Some(Operand::Word("SRZ")));
        if zero { Ok(()) } else { Err(Missing::Operands) }
    }

    fn select(&mut self) -> Result<(), Missing> {
        self.op.f = NativeFn::Select;
        self.result(Width::Word)?;
        self.words(2)?;
        self.predicates(1)
    }

    /// R2UR UR4, R4 or R2UR.OR P0, UR5, R5: lanes with another value, or with P0.
    fn read_first(&mut self) -> Result<(), Missing> {
        self.op.f = NativeFn::ReadFirst;
        self.op.uniform = true;
        if self.l.is_predicate(0) && self.l.text.take("OR") {
            self.op.q[0] = self.l.predicate(0)?;
        }
        self.results(1)?;
        self.result(Width::Word)?;
        self.words(1)
    }
}

/// RZ.
pub(super) const ZERO: super::RegisterName = super::RegisterName { number: 255, uniform: false };
