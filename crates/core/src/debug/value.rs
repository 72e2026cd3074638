//! Register values as text, and back.
//!
//! Values of 16-bit floats appear as bits.

use crate::isa::Type;

/// Notation of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Base {
    /// Notation of the type: decimal, or with a fraction.
    Natural,
    /// Bits in hexadecimal.
    Hex,
}

/// Text that is not a value of a type.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected a value of type {ty}, found `{text}`")]
pub struct BadValue {
    /// Rejected text.
    pub text: String,
    /// Name of the type.
    pub ty: &'static str,
}

/// Formats a value of type `ty`.
pub fn format_value(bits: u64, ty: Type, base: Base) -> String {
    let bits = if ty.bits() < 64 { bits & ((1 << ty.bits()) - 1) } else { bits };
    match ty {
        Type::Pred => u8::from(bits != 0).to_string(),
        _ if base == Base::Hex => format!("{bits:x}"),
        Type::F32 => float(f64::from(f32::from_bits(bits as u32)), 6),
        Type::F64 => float(f64::from_bits(bits), 8),
        _ if ty.is_float() => format!("x{bits:x}"),
        _ if ty.is_signed() => {
            let unused = 64 - ty.bits();
            (((bits << unused) as i64) >> unused).to_string()
        }
        // Most 64-bit values are addresses.
        _ if bits >= 1 << 40 => format!("x{bits:x}"),
        _ => bits.to_string(),
    }
}

/// Formats a float with `digits` significant digits, without trailing zeros.
fn float(value: f64, digits: usize) -> String {
    let size = value.abs();
    if value == 0.0 || !value.is_finite() {
        return value.to_string();
    }
    if !(1e-3..1e6).contains(&size) {
        return format!("{value:.2e}");
    }
    let whole = size.log10().floor().max(0.0) as usize + 1;
    let text = format!("{value:.*}", digits.saturating_sub(whole));
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_string()
    } else {
        text
    }
}

/// Parses a value of type `ty`: decimal, a fraction for floats, or `0x` and hexadecimal bits.
///
/// # Errors
/// If the text is not such a value or does not fit the type.
pub fn parse_value(text: &str, ty: Type) -> Result<u64, BadValue> {
    let bad = || BadValue { text: text.to_string(), ty: ty.name() };
    let fits = |bits: u64| ty.bits() >= 64 || bits >> ty.bits() == 0;
    if let Some(digits) = text.strip_prefix("0x").or(text.strip_prefix("0X")) {
        return u64::from_str_radix(digits, 16).ok().filter(|&bits| fits(bits)).ok_or_else(bad);
    }
    match ty {
        Type::Pred => match text {
            "0" | "false" => Ok(0),
            "1" | "true" => Ok(1),
            _ => Err(bad()),
        },
        Type::F32 => text.parse::<f32>().map(|v| v.to_bits().into()).map_err(|_| bad()),
        Type::F64 => text.parse::<f64>().map(f64::to_bits).map_err(|_| bad()),
        _ if text.starts_with('-') => {
            let value = text.parse::<i64>().map_err(|_| bad())?;
            let unused = 64 - ty.bits().min(64);
            let kept = ((value as u64) << unused) as i64 >> unused;
            if kept == value && !ty.is_float() {
                Ok((value as u64) << unused >> unused)
            } else {
                Err(bad())
            }
        }
        _ if ty.is_float() => Err(bad()),
        _ => text.parse::<u64>().ok().filter(|&bits| fits(bits)).ok_or_else(bad),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_written_by_type() {
        for (bits, ty, text) in [
            (5, Type::U32, "5"),
            (u64::from(u32::MAX), Type::S32, "-1"),
            (u64::from(u32::MAX), Type::U32, "4294967295"),
            (0x8000, Type::S16, "-32768"),
            (1, Type::Pred, "1"),
            (0x0700_0000_0200, Type::U64, "x70000000200"),
            (48, Type::U64, "48"),
            (u64::from(1.5_f32.to_bits()), Type::F32, "1.5"),
            (u64::from(0.1_f32.to_bits()), Type::F32, "0.1"),
            (u64::from(1e20_f32.to_bits()), Type::F32, "1.00e20"),
            (u64::from(100_000_f32.to_bits()), Type::F32, "100000"),
            ((-2.25_f64).to_bits(), Type::F64, "-2.25"),
        ] {
            assert_eq!(format_value(bits, ty, Base::Natural), text);
        }
        assert_eq!(format_value(255, Type::U32, Base::Hex), "ff");
    }

    #[test]
    fn values_are_read_by_type() {
        for (text, ty, bits) in [
            ("42", Type::U32, Some(42)),
            ("-1", Type::S32, Some(0xffff_ffff)),
            ("-1", Type::U64, Some(u64::MAX)),
            ("0xff", Type::U16, Some(255)),
            ("0x10000", Type::U16, None),
            ("65536", Type::U16, None),
            ("-32769", Type::S16, None),
            ("1.5", Type::F32, Some(u64::from(1.5_f32.to_bits()))),
            ("1.5", Type::U32, None),
            ("-1.5", Type::F64, Some((-1.5_f64).to_bits())),
            ("true", Type::Pred, Some(1)),
            ("2", Type::Pred, None),
            ("", Type::U32, None),
            ("-", Type::S32, None),
            ("0x", Type::U64, None),
        ] {
            assert_eq!(parse_value(text, ty).ok(), bits, "{text} as {}", ty.name());
        }
    }
}
