//! Literals as the bits of a type.
//!
//! An integer must fit its type as a signed or an unsigned value. PTX truncates silently; here an
//! integer out of range is an error. A complement such as `~0` has 64 bits, of which the upper ones
//! may be cut off. A decimal float in an f32 operand is rounded to nearest.

use crate::diag::{Diagnostic, Span};
use crate::isa::Type;
use crate::ptx::tree::Operand;

/// Returns the bits of a literal in type `ty`, zero-extended.
///
/// `None` for other operands.
pub(super) fn literal(operand: &Operand, ty: Type) -> Option<Result<u64, Diagnostic>> {
    match *operand {
        Operand::Int { value, unsigned, span } => Some(integer(value, unsigned, ty, span)),
        Operand::Double { bits, span } => Some(double(bits, ty, span)),
        Operand::Single { bits, span } => Some(single(bits, ty, span)),
        _ => None,
    }
}

fn integer(value: i64, unsigned: bool, ty: Type, span: Span) -> Result<u64, Diagnostic> {
    if ty.is_float() {
        let message = format!("expected `.{}`, found integer", ty.name());
        let help = format!("write `{value}.0`");
        return Err(Diagnostic::error("literal-type", span, message).help(help));
    }
    let bits = ty.bits();
    if bits == 64 {
        return Ok(value as u64);
    }
    let (low, high) = (-(1i64 << (bits - 1)), (1i64 << bits) - 1);
    // `~0x80000000` has 64 bits: ones above the complement of the intended 32.
    let complement = unsigned && (!value as u64) >> bits == 0;
    if !complement && (value < low || value > high) {
        let written = if unsigned { (value as u64).to_string() } else { value.to_string() };
        let message = format!("literal {written} out of range for `.{}`", ty.name());
        let help = format!("use a value from {low} to {high}");
        return Err(Diagnostic::error("literal-range", span, message).help(help));
    }
    Ok(value as u64 & ((1u64 << bits) - 1))
}

fn double(bits: u64, ty: Type, span: Span) -> Result<u64, Diagnostic> {
    match ty {
        Type::F64 | Type::B64 => Ok(bits),
        Type::F32 => Ok(u64::from((f64::from_bits(bits) as f32).to_bits())),
        _ => Err(misplaced(ty, span)),
    }
}

fn single(bits: u32, ty: Type, span: Span) -> Result<u64, Diagnostic> {
    match ty {
        Type::F32 | Type::B32 => Ok(u64::from(bits)),
        Type::F64 => Ok(f64::from(f32::from_bits(bits)).to_bits()),
        _ => Err(misplaced(ty, span)),
    }
}

fn misplaced(ty: Type, span: Span) -> Diagnostic {
    let message = format!("expected `.{}`, found float", ty.name());
    let error = Diagnostic::error("literal-type", span, message);
    match ty {
        Type::B32 => {
            error.help("write the bits of the single-precision value: `0f3F800000` is 1.0")
        }
        Type::F16 | Type::B16 => {
            error.help("write the bits of the half-precision value: `0x3C00` is 1.0")
        }
        _ => error.help("write an integer"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_fit_as_signed_or_unsigned() {
        let at = Span::new(0, 1);
        for (value, unsigned, ty, expected) in [
            (-1, false, Type::U16, Some(0xffff)),
            (65535, false, Type::S16, Some(0xffff)),
            (65536, false, Type::U16, None),
            (-32769, false, Type::S16, None),
            (0xffff_ffff, false, Type::S32, Some(0xffff_ffff)),
            (-1, true, Type::U32, Some(0xffff_ffff)),
            (!0x8000, true, Type::U16, Some(0x7fff)),
            (!0x1_0000, true, Type::U16, None),
            (1 << 32, true, Type::U32, None),
            (-1, true, Type::U64, Some(u64::MAX)),
            (i64::MIN, false, Type::S64, Some(1 << 63)),
            (-129, false, Type::B8, None),
            (-128, false, Type::B8, Some(0x80)),
            (1, false, Type::F32, None),
        ] {
            assert_eq!(integer(value, unsigned, ty, at).ok(), expected, "{value} as {ty:?}");
        }
    }

    #[test]
    fn floats_go_where_floats_or_their_bits_go() {
        let at = Span::new(0, 1);
        assert_eq!(double(0.1f64.to_bits(), Type::F32, at).ok(), Some(u64::from(0.1f32.to_bits())));
        assert_eq!(single(0x3f80_0000, Type::F64, at).ok(), Some(1.0f64.to_bits()));
        assert!(double(0, Type::U32, at).is_err() && double(0, Type::B32, at).is_err());
        assert!(single(0, Type::S32, at).is_err() && single(0, Type::B64, at).is_err());
    }
}
