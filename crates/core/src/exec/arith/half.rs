//! f16 and bf16 arithmetic (PTX ISA, "Half Precision Floating-Point Instructions").
//!
//! Every operation runs in f64 and is rounded once more; sums and products of f16 run in f32, which
//! takes half the vectors. Products of two 16-bit floats are exact there. Sums are exact or, with
//! twice the bits and two more, rounded innocuously; the sum of an fma is rounded to odd first. PTX
//! rounds these forms only to nearest. Every NaN result is `0x7fff` in both formats, the manual's
//! canonical NaN.

use super::exact::{self, Format};
use super::float::{Float, finish, flushed, fma, mul, sum_to_odd, sum_to_odd32};
use crate::isa::{FloatMode, Round};
use std::cmp::Ordering;

/// NaN result of every f16 and bf16 instruction.
pub(crate) const NAN16: u16 = 0x7fff;

/// A binary16.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Half(pub(crate) u16);

/// A bfloat16.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Brain(pub(crate) u16);

/// A float of 16 bits.
pub(crate) trait Short: Float {
    /// Returns the exact value.
    fn widen(self) -> f64;
    /// Returns the nearest number; the canonical NaN for NaN.
    fn narrow(x: f64) -> Self;
}

/// Defines the function that returns the bits of a 16-bit float of `PRECISION` bits nearest to `x`,
/// for an `x` whose bits are a `$Bits` with a fraction of `$fraction` bits.
macro_rules! nearest {
    ($name:ident: $Wide:ty, $Bits:ty, $fraction:literal) => {
        #[inline(always)]
        fn $name<const PRECISION: u32, const BIAS: $Bits>(x: $Wide) -> u16 {
            const WIDE_BIAS: $Bits = <$Bits>::MAX >> ($fraction + 2);
            let fraction_bits = PRECISION - 1;
            let infinity = (2 * BIAS + 1) << fraction_bits;
            let (bits, magnitude) = (x.to_bits(), x.abs().to_bits());
            let sign = (bits >> (<$Bits>::BITS - 16)) as u16 & 0x8000;
            // Added to a subnormal, this leaves the value in units of the last place, rounded.
            let exponent = WIDE_BIAS + $fraction + 1 - BIAS - fraction_bits as $Bits;
            let unit = <$Wide>::from_bits(exponent << $fraction);
            let subnormal = (x.abs() + unit).to_bits().wrapping_sub(unit.to_bits());
            let shift = $fraction - fraction_bits;
            let rebased = magnitude.wrapping_sub((WIDE_BIAS - BIAS) << $fraction);
            let even = (1 << (shift - 1)) - 1 + (magnitude >> shift & 1);
            let tied = rebased.wrapping_add(even) >> shift;
            let least_normal = (WIDE_BIAS + 1 - BIAS) << $fraction;
            let rounded = if magnitude < least_normal { subnormal } else { tied.min(infinity) };
            if x.is_nan() { NAN16 } else { sign | rounded as u16 }
        }
    };
}
nearest!(nearest: f64, u64, 52);
nearest!(nearest_to_single: f32, u32, 23);

impl Half {
    /// Returns the exact value.
    #[inline(always)]
    fn single(self) -> f32 {
        let bits = u32::from(self.0);
        let (sign, magnitude) = ((bits & 0x8000) << 16, bits & 0x7fff);
        // The exponent counts from 15 and not from 127: times 2^112, also for a subnormal.
        let scaled = f32::from_bits(magnitude << 13) * f32::from_bits((127 + 112) << 23);
        let value = scaled.to_bits() | if magnitude < 0x7c00 { 0 } else { 0x7f80_0000 };
        f32::from_bits(sign | value)
    }

    /// Returns the nearest number.
    #[inline(always)]
    fn of_single(x: f32) -> Half {
        Half(nearest_to_single::<11, 15>(x))
    }
}

impl Short for Half {
    #[inline(always)]
    fn widen(self) -> f64 {
        self.single().into()
    }
    #[inline(always)]
    fn narrow(x: f64) -> Half {
        Half(nearest::<11, 15>(x))
    }
}

impl Short for Brain {
    #[inline(always)]
    fn widen(self) -> f64 {
        f32::from_bits(u32::from(self.0) << 16).into()
    }
    #[inline(always)]
    fn narrow(x: f64) -> Brain {
        Brain(nearest::<8, 127>(x))
    }
}

/// Returns the value of an f16 or, if `brain`, a bf16.
pub fn short_value(bits: u16, brain: bool) -> f64 {
    if brain { Brain(bits).widen() } else { Half(bits).widen() }
}

/// Returns the bits of the f16 or, if `brain`, the bf16 nearest to a number.
pub fn short_bits(x: f64, brain: bool) -> u16 {
    if brain { Brain::narrow(x).0 } else { Half::narrow(x).0 }
}

/// Implements [`Float`], with the functions for sums and products: exact value, nearest number, and
/// sum rounded to odd.
macro_rules! shorts {
    ($($t:ident $format:expr, $wide:ident, $near:ident, $odd:ident;)+) => {$(
        impl PartialEq for $t {
            #[inline(always)]
            fn eq(&self, other: &$t) -> bool {
                self.widen() == other.widen()
            }
        }
        impl PartialOrd for $t {
            #[inline(always)]
            fn partial_cmp(&self, other: &$t) -> Option<Ordering> {
                self.widen().partial_cmp(&other.widen())
            }
        }
        impl Float for $t {
            const FORMAT: Format = $format;
            #[inline(always)]
            fn from_bits64(bits: u64) -> $t {
                $t(bits as u16)
            }
            #[inline(always)]
            fn to_bits64(self) -> u64 {
                self.0.into()
            }
            #[inline(always)]
            fn nan(self) -> bool {
                Self::FORMAT.is_nan(self.0.into())
            }
            #[inline(always)]
            fn finite(self) -> bool {
                u64::from(self.0 & 0x7fff) < Self::FORMAT.infinity()
            }
            #[inline(always)]
            fn flip(self) -> $t {
                $t(self.0 ^ 0x8000)
            }
            #[inline(always)]
            fn magnitude(self) -> $t {
                $t(self.0 & 0x7fff)
            }
            #[inline(always)]
            fn canonical(result: $t, _: [$t; 3]) -> $t {
                if result.nan() { $t(NAN16) } else { result }
            }
            #[inline(always)]
            fn flush(self) -> $t {
                let subnormal = u64::from(self.0 & 0x7fff) < Self::FORMAT.least_normal();
                if subnormal { $t(self.0 & 0x8000) } else { self }
            }
            #[inline(always)]
            fn saturate(self) -> $t {
                if self.widen() > 0.0 { $t(self.0.min(Self::one().0)) } else { $t(0) }
            }
            #[inline(always)]
            fn add_near(a: $t, b: $t) -> $t {
                $t::$near(a.$wide() + b.$wide())
            }
            #[inline(always)]
            fn mul_near(a: $t, b: $t) -> $t {
                $t::$near(a.$wide() * b.$wide())
            }
            #[inline(always)]
            fn fma_near(a: $t, b: $t, c: $t) -> $t {
                $t::$near($odd(a.$wide() * b.$wide(), c.$wide()))
            }
            #[inline(always)]
            fn div_near(a: $t, b: $t) -> $t {
                $t::narrow(a.widen() / b.widen())
            }
            #[inline(always)]
            fn sqrt_near(a: $t) -> $t {
                $t::narrow(a.widen().sqrt())
            }
            #[inline(always)]
            fn one() -> $t {
                $t::narrow(1.0)
            }
            #[inline(always)]
            fn min_zero(a: $t, b: $t) -> $t {
                $t(a.0 | b.0)
            }
            #[inline(always)]
            fn max_zero(a: $t, b: $t) -> $t {
                $t(a.0 & b.0)
            }
        }
    )+};
}
shorts! {
    Half exact::F16, single, of_single, sum_to_odd32;
    Brain exact::BF16, widen, narrow, sum_to_odd;
}

/// Applies `.ftz` of a product, before rounding.
///
/// A result below the normal numbers becomes a zero of its sign, even where rounding would make it
/// the smallest normal number. Products and their sums of that size are exact in f64.
#[inline(always)]
fn small<H: Short>(exact: f64, ftz: bool) -> Option<H> {
    let least = H::from_bits64(H::FORMAT.least_normal()).widen();
    (ftz && exact.abs() < least).then(|| H::narrow(0.0_f64.copysign(exact)))
}

/// NaN of an access out of bounds, without its sign, as an f16 and as a bf16.
const OUT_OF_BOUNDS: u64 = 0x7ff7;

/// Returns `a * b` with the modifiers of `mode`.
#[inline(always)]
pub(crate) fn multiply<H: Short>(a: H, b: H, mode: FloatMode) -> H {
    let (a, b) = (flushed(a, mode.ftz), flushed(b, mode.ftz));
    let product = small(a.widen() * b.widen(), mode.ftz);
    finish(product.unwrap_or_else(|| mul(a, b, Round::Nearest)), mode)
}

/// Returns `a * b + c`, rounded once, with the modifiers of `mode`.
#[inline(always)]
pub(crate) fn multiply_add<H: Short>(a: H, b: H, c: H, mode: FloatMode) -> H {
    if mode.oob && [a, b].iter().any(|factor| factor.to_bits64() & 0x7fff == OUT_OF_BOUNDS) {
        return H::from_bits64(0);
    }
    let [a, b, c] = [a, b, c].map(|x| flushed(x, mode.ftz));
    let sum = small(a.widen() * b.widen() + c.widen(), mode.ftz);
    finish(sum.unwrap_or_else(|| fma(a, b, c, Round::Nearest)), mode)
}

#[cfg(test)]
mod tests;
