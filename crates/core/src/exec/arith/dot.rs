//! Dot products as an H200's tensor cores compute them.
//!
//! Floats of up to 16 bits and tf32: the products are exact. They and the accumulator are aligned
//! to the largest exponent among them and truncated to 25 fraction bits; their sum is exact. It is
//! truncated to f32 or rounded to the nearest f16; beyond the largest number it is infinite. For
//! factors of 8 bits the terms have 13 fraction bits, and so has a sum of f32.
//! Exponents are those of the operands: a product in 2 to 4 has the exponent of one in 1 to 2, and
//! a subnormal the least exponent. One sum covers the whole `k` of a machine instruction: 16
//! products of f16 and bf16, 8 of tf32, 32 of 8-bit floats. A zero is +0, also of a sum below the
//! smallest number. Every NaN is `0x7fffffff` or `0x7fff`.
//!
//! Recorded on an H200: tests/observations/h200/tensor.txt; products of warpgroups have the same
//! sums (tests/observations/h200/warpgroups.txt). The form of the model is that of Fasi, Higham,
//! Mikaitis and Pranesh ("Numerical behavior of NVIDIA tensor cores", 2021).

use super::exact::{Exact, F16, F32};
use super::float::NAN32;
use super::half::NAN16;
use crate::isa::Round;
use crate::kernel::FactorType;

/// Most factors of a dot product.
pub(crate) const MOST_FACTORS: usize = 32;
/// Exponent of a zero: below that of every product.
const FAR: i32 = -(1 << 14);

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

    /// Decodes an e4m3, which has no infinity and one NaN of each sign.
    fn e4m3(bits: u32) -> Number {
        let decoded = Number::decode(bits, 4, 3);
        let kind = if bits & 0x7f == 0x7f { Kind::Nan } else { Kind::Finite };
        Number { kind, ..decoded }
    }

    /// Decodes a factor of a float type: bits from the lowest.
    ///
    /// Of tf32 the low 13 bits are ignored.
    pub(crate) fn factor(bits: u32, ty: FactorType) -> Number {
        match ty {
            FactorType::F16 => Number::decode(bits & 0xffff, 5, 10),
            FactorType::BF16 => Number::decode(bits & 0xffff, 8, 7),
            FactorType::E5M2 => Number::decode(bits & 0xff, 5, 2),
            FactorType::E4M3 => Number::e4m3(bits & 0xff),
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

    /// Returns the number, negated if `negated`.
    pub(crate) fn negated_if(self, negated: bool) -> Number {
        Number { negative: self.negative != negated, ..self }
    }

    const fn is_zero(self) -> bool {
        matches!(self.kind, Kind::Finite) && self.significand == 0
    }
}

/// Result of a dot product before it is rounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dot {
    /// `sum * 2^unit`, of terms with this many fraction bits.
    Finite { sum: i64, unit: i32, terms: u32 },
    /// Infinity; true if negative.
    Infinite(bool),
    /// NaN.
    Nan,
}

/// Row of A or column of B: factors of dot products.
#[derive(Clone)]
pub(crate) struct Factors {
    numbers: [Number; MOST_FACTORS],
    /// Exponents; of zeros `FAR`.
    exponents: [i32; MOST_FACTORS],
    /// Significands with their signs.
    significands: [i32; MOST_FACTORS],
    finite: bool,
}

impl Factors {
    /// Creates factors of up to 32 numbers; the others are zeros.
    pub(crate) fn of(numbers: impl IntoIterator<Item = Number>) -> Factors {
        let mut factors = Factors {
            numbers: [Number::default(); MOST_FACTORS],
            exponents: [FAR; MOST_FACTORS],
            significands: [0; MOST_FACTORS],
            finite: true,
        };
        for (i, number) in numbers.into_iter().take(MOST_FACTORS).enumerate() {
            let magnitude = number.significand as i32;
            factors.numbers[i] = number;
            factors.exponents[i] = if magnitude == 0 { FAR } else { number.exponent };
            factors.significands[i] = if number.negative { -magnitude } else { magnitude };
            factors.finite &= number.kind == Kind::Finite;
        }
        factors
    }
}

/// Precision of a sum of products.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Precision {
    /// Fraction bits of a product.
    product: u32,
    /// Fraction bits of the terms of a sum.
    terms: u32,
    /// Number of factors, a multiple of four.
    count: usize,
}

impl Precision {
    /// Returns the precision of products of rows with `count` factors of these types.
    pub(crate) fn of(factors: [FactorType; 2], count: usize) -> Precision {
        let fraction_bits = |ty| match ty {
            FactorType::E4M3 => 3,
            FactorType::E5M2 => 2,
            FactorType::BF16 => 7,
            _ => 10,
        };
        let product = factors.map(fraction_bits).iter().sum();
        let terms = if factors[0].bits() == 8 { 13 } else { 25 };
        Precision { product, terms, count: count.min(MOST_FACTORS) }
    }
}

/// Returns the sum of products of `a` and `b`, and of `c`, whose fraction has 23 bits.
#[inline(always)]
pub(crate) fn dot(a: &Factors, b: &Factors, precision: Precision, c: Number) -> Dot {
    if !(a.finite && b.finite && c.kind == Kind::Finite) {
        return special(a, b, c);
    }
    let Precision { product, terms, count } = precision;
    let mut largest = if c.significand == 0 { FAR } else { c.exponent };
    for (x, y) in a.exponents.iter().zip(&b.exponents).take(count) {
        largest = largest.max(x + y);
    }
    if largest <= FAR / 2 {
        return Dot::Finite { sum: 0, unit: 0, terms };
    }
    let shifted = (u64::from(c.significand) << terms >> 23) as i64;
    let shifted = shifted >> (largest - c.exponent).clamp(0, 63);
    let mut sum = if c.negative { -shifted } else { shifted };
    let factors = a.significands.iter().zip(&b.significands);
    let exponents = a.exponents.iter().zip(&b.exponents);
    for ((x, y), (e, f)) in factors.zip(exponents).take(count) {
        let product = (x * y) << (terms - product);
        let magnitude = product.abs() >> (largest - (e + f)).min(31);
        sum += i64::from(if product < 0 { -magnitude } else { magnitude });
    }
    Dot::Finite { sum, unit: largest - terms as i32, terms }
}

/// Returns the result with an operand that is infinite or NaN.
#[cold]
fn special(a: &Factors, b: &Factors, c: Number) -> Dot {
    let mut infinite = (c.kind == Kind::Infinite).then_some(c.negative);
    let mut nan = c.kind == Kind::Nan;
    for (x, y) in a.numbers.iter().zip(&b.numbers) {
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
            Dot::Finite { sum, unit, terms } => {
                let exact = Exact::scaled(sum < 0, sum.unsigned_abs(), unit);
                let bits = exact.round(F32, Round::Zero) as u32;
                // Truncation keeps the largest number where the hardware overflows.
                let top = 63 - sum.unsigned_abs().leading_zeros() as i32 + unit;
                let bits = if sum != 0 && top > 127 { bits + 1 } else { bits };
                let bits = bits >> 23_u32.saturating_sub(terms) << 23_u32.saturating_sub(terms);
                positive_zero(bits, 31)
            }
        }
    }

    /// Returns the nearest f16.
    pub(crate) fn half(self) -> u32 {
        match self {
            Dot::Nan => NAN16.into(),
            Dot::Infinite(negative) => u32::from(negative) << 15 | 0x7c00,
            Dot::Finite { sum, unit, .. } => {
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

    fn halves(values: &[u16]) -> Factors {
        Factors::of(values.iter().map(|&x| Number::factor(x.into(), FactorType::F16)))
    }

    fn dot_of(ty: FactorType, a: &Factors, b: &Factors, c: Number) -> Dot {
        dot(a, b, Precision::of([ty; 2], MOST_FACTORS), c)
    }

    #[test]
    fn terms_are_truncated_to_25_fraction_bits() {
        // 1.0 and 2^-12 in f16.
        let (one, small) = (0x3c00, 0x0c00);
        let sum = |c: f32, b: &[u16]| {
            let (a, b) = (halves(&vec![small; b.len()]), halves(b));
            f32::from_bits(dot_of(FactorType::F16, &a, &b, Number::single(c.to_bits())).single())
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
        let x = dot_of(FactorType::F16, &halves(&[0x7bff]), &halves(&[0x7bff]), c);
        assert_eq!(x.single(), f32::MAX.to_bits());
        let two = [Number::single(f32::MAX.to_bits()); 1];
        let big = dot_of(FactorType::F16, &halves(&[0]), &halves(&[0]), two[0]);
        assert_eq!(big.single(), f32::MAX.to_bits());
        assert_eq!(big.half(), 0x7c00);
        let one = Number::single(1.0f32.to_bits());
        assert_eq!(dot_of(FactorType::F16, &halves(&[0x7c00]), &halves(&[0]), one).single(), NAN32);
        assert_eq!(
            dot_of(FactorType::F16, &halves(&[0x7c00]), &halves(&[0xbc00]), one).single(),
            0xff80_0000
        );
        let zero = Number::single(1 << 31);
        assert_eq!(dot_of(FactorType::F16, &halves(&[0x8000]), &halves(&[0]), zero).single(), 0);
        // -2^-24 * 2^-24 is below the smallest f16; as bf16, their product is below the f32.
        let tiny = dot_of(FactorType::F16, &halves(&[0x8001]), &halves(&[0x0001]), zero);
        assert_eq!((tiny.single(), tiny.half()), (0xa780_0000, 0));
        let brain = |bits| Factors::of([Number::factor(bits, FactorType::BF16)]);
        assert_eq!(dot_of(FactorType::BF16, &brain(0x8001), &brain(0x0001), zero).single(), 0);
    }
}
