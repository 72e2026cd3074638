//! Dot products as an H200's tensor cores compute them.
//!
//! Floats of up to 16 bits and tf32: the products are exact. They and the accumulator are aligned
//! to the largest exponent among them and truncated to 25 fraction bits; their sum is exact. It is
//! truncated to f32 or rounded to the nearest f16; beyond the largest number it is infinite.
//! Exponents are those of the operands: a product in 2 to 4 has the exponent of one in 1 to 2, and
//! a subnormal the least exponent. One sum covers the whole `k` of a machine instruction: 16
//! products of f16 and bf16, 8 of tf32. A zero is +0, also of a sum below the smallest number.
//! Every NaN is `0x7fffffff` or `0x7fff`.
//!
//! Recorded on an H200: tests/observations/h200/tensor.txt. The form of the model is that of Fasi,
//! Higham, Mikaitis and Pranesh ("Numerical behavior of NVIDIA tensor cores", 2021).

use super::exact::{Exact, F16, F32};
use super::float::NAN32;
use super::half::NAN16;
use crate::isa::Round;
use crate::kernel::FactorType;

/// Fraction bits of the terms of a sum.
const FRACTION_BITS: u32 = 25;

/// Kind of a number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Kind {
    #[default]
    Finite,
    Infinite,
    Nan,
}

/// Number as `(-1)^negative * significand * 2^(exponent - fraction bits of its format)`.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Number {
    kind: Kind,
    negative: bool,
    exponent: i32,
    significand: u32,
}

impl Number {
    /// Decodes a number with this many exponent and fraction bits.
    fn decode(bits: u32, exponent_bits: u32, fraction_bits: u32) -> Number {
        let negative = bits >> (exponent_bits + fraction_bits) & 1 != 0;
        let field = bits >> fraction_bits & ((1 << exponent_bits) - 1);
        let fraction = bits & ((1 << fraction_bits) - 1);
        let bias = (1 << (exponent_bits - 1)) - 1;
        let kind = match (field == (1 << exponent_bits) - 1, fraction) {
            (true, 0) => Kind::Infinite,
            (true, _) => Kind::Nan,
            _ => Kind::Finite,
        };
        let hidden = if field == 0 { 0 } else { 1 << fraction_bits };
        let exponent = (field as i32).max(1) - bias;
        Number { kind, negative, exponent, significand: fraction | hidden }
    }

    /// Decodes a factor of a float type: bits from the lowest.
    ///
    /// Of tf32 the low 13 bits are ignored.
    pub(crate) fn factor(bits: u32, ty: FactorType) -> Number {
        match ty {
            FactorType::F16 => Number::decode(bits & 0xffff, 5, 10),
            FactorType::BF16 => Number::decode(bits & 0xffff, 8, 7),
            _ => Number::decode(bits >> 13, 8, 10),
        }
    }

    /// Decodes an f32 accumulator.
    pub(crate) fn single(bits: u32) -> Number {
        Number::decode(bits, 8, 23)
    }

    /// Decodes an f16 accumulator, with the fraction bits of f32.
    pub(crate) fn half(bits: u32) -> Number {
        let half = Number::decode(bits & 0xffff, 5, 10);
        Number { significand: half.significand << 13, ..half }
    }

    const fn is_zero(self) -> bool {
        matches!(self.kind, Kind::Finite) && self.significand == 0
    }
}

/// Result of a dot product before it is rounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dot {
    /// `sum * 2^unit`
    Finite { sum: i64, unit: i32 },
    /// Infinity; true if negative.
    Infinite(bool),
    /// NaN.
    Nan,
}

/// Returns the sum of products of `a` and `b`, whose fractions have `fraction_bits` bits, and of
/// `c`, whose fraction has 23.
pub(crate) fn dot(a: &[Number], b: &[Number], fraction_bits: u32, c: Number) -> Dot {
    let plain = |x: &Number| x.kind == Kind::Finite;
    if !(a.iter().all(plain) && b.iter().all(plain) && plain(&c)) {
        return special(a, b, c);
    }
    let mut largest = if c.significand == 0 { i32::MIN } else { c.exponent };
    for (x, y) in a.iter().zip(b) {
        let exponent = x.exponent + y.exponent;
        let zero = x.significand == 0 || y.significand == 0;
        largest = if zero { largest } else { largest.max(exponent) };
    }
    if largest == i32::MIN {
        return Dot::Finite { sum: 0, unit: 0 };
    }
    let truncated = |negative: bool, magnitude: u64, exponent: i32| {
        let shifted = magnitude >> largest.wrapping_sub(exponent).clamp(0, 63);
        if negative { -(shifted as i64) } else { shifted as i64 }
    };
    let mut sum =
        truncated(c.negative, u64::from(c.significand) << (FRACTION_BITS - 23), c.exponent);
    let shift = FRACTION_BITS - 2 * fraction_bits;
    for (x, y) in a.iter().zip(b) {
        let magnitude = (u64::from(x.significand) * u64::from(y.significand)) << shift;
        sum += truncated(x.negative != y.negative, magnitude, x.exponent + y.exponent);
    }
    Dot::Finite { sum, unit: largest - FRACTION_BITS as i32 }
}

/// Returns the result with an operand that is infinite or NaN.
fn special(a: &[Number], b: &[Number], c: Number) -> Dot {
    let mut infinite = (c.kind == Kind::Infinite).then_some(c.negative);
    let mut nan = c.kind == Kind::Nan;
    for (x, y) in a.iter().zip(b) {
        nan |= x.kind == Kind::Nan || y.kind == Kind::Nan;
        if x.kind == Kind::Infinite || y.kind == Kind::Infinite {
            let negative = x.negative != y.negative;
            nan |= x.is_zero() || y.is_zero() || infinite.is_some_and(|other| other != negative);
            infinite = Some(negative);
        }
    }
    match infinite {
        Some(negative) if !nan => Dot::Infinite(negative),
        _ => Dot::Nan,
    }
}

impl Dot {
    /// Returns the f32, truncated.
    pub(crate) fn single(self) -> u32 {
        match self {
            Dot::Nan => NAN32,
            Dot::Infinite(negative) => u32::from(negative) << 31 | 0x7f80_0000,
            Dot::Finite { sum, unit } => {
                let exact = Exact::scaled(sum < 0, sum.unsigned_abs(), unit);
                let bits = exact.round(F32, Round::Zero) as u32;
                // Truncation keeps the largest number where the hardware overflows.
                let top = 63 - sum.unsigned_abs().leading_zeros() as i32 + unit;
                let bits = if sum != 0 && top > 127 { bits + 1 } else { bits };
                positive_zero(bits, 31)
            }
        }
    }

    /// Returns the nearest f16.
    pub(crate) fn half(self) -> u32 {
        match self {
            Dot::Nan => NAN16.into(),
            Dot::Infinite(negative) => u32::from(negative) << 15 | 0x7c00,
            Dot::Finite { sum, unit } => {
                let exact = Exact::scaled(sum < 0, sum.unsigned_abs(), unit);
                positive_zero(exact.round(F16, Round::Nearest) as u32, 15)
            }
        }
    }
}

/// Returns a number with this sign bit, +0 for -0: also a sum below the smallest number.
fn positive_zero(bits: u32, sign: u32) -> u32 {
    if bits == 1 << sign { 0 } else { bits }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn halves(values: &[u16]) -> Vec<Number> {
        values.iter().map(|&x| Number::factor(x.into(), FactorType::F16)).collect()
    }

    #[test]
    fn terms_are_truncated_to_25_fraction_bits() {
        // 1.0 and 2^-12 in f16.
        let (one, small) = (0x3c00, 0x0c00);
        let sum = |c: f32, b: &[u16]| {
            let (a, b) = (halves(&vec![small; b.len()]), halves(b));
            f32::from_bits(dot(&a, &b, 10, Number::single(c.to_bits())).single())
        };
        // 2^-24 is below the last bit of 1.0; two of them reach it.
        assert_eq!(sum(1.0, &[small]), 1.0);
        assert_eq!(sum(1.0, &[small, small]), 1.0 + f32::EPSILON);
        // Against 2.0 they are within 25 fraction bits, against 8.0 they are lost.
        assert_eq!(sum(2.0, &[small; 4]), 2.0 + 2.0 * f32::EPSILON);
        assert_eq!(sum(8.0, &[small; 16]), 8.0);
        assert_eq!(sum(-1.0, &[small]), -1.0 + f32::EPSILON / 2.0);
        assert_eq!(sum(0.5, &[one]), 0.5 + 1.0 / 4096.0);
    }

    #[test]
    fn overflow_and_specials() {
        let c = Number::single(f32::MAX.to_bits());
        let x = dot(&halves(&[0x7bff]), &halves(&[0x7bff]), 10, c);
        assert_eq!(x.single(), f32::MAX.to_bits());
        let two = [Number::single(f32::MAX.to_bits()); 1];
        let big = dot(&halves(&[0]), &halves(&[0]), 10, two[0]);
        assert_eq!(big.single(), f32::MAX.to_bits());
        assert_eq!(big.half(), 0x7c00);
        let one = Number::single(1.0f32.to_bits());
        assert_eq!(dot(&halves(&[0x7c00]), &halves(&[0]), 10, one).single(), NAN32);
        assert_eq!(dot(&halves(&[0x7c00]), &halves(&[0xbc00]), 10, one).single(), 0xff80_0000);
        let zero = Number::single(1 << 31);
        assert_eq!(dot(&halves(&[0x8000]), &halves(&[0]), 10, zero).single(), 0);
        // -2^-24 * 2^-24 is below the smallest f16; as bf16, their product is below the f32.
        let tiny = dot(&halves(&[0x8001]), &halves(&[0x0001]), 10, zero);
        assert_eq!((tiny.single(), tiny.half()), (0xa780_0000, 0));
        let brain = |bits| [Number::factor(bits, FactorType::BF16)];
        assert_eq!(dot(&brain(0x8001), &brain(0x0001), 7, zero).single(), 0);
    }
}
