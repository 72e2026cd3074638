//! Sums and products of singles with `.ftz`: of whole warps, which vectorise, and of one value.

use super::{canonical_single, flush32, fma, fma_near, mul};
use crate::isa::Round;

/// Returns `a * b` with `.ftz`, applied before rounding.
/// A product below the normal numbers becomes zero, even where rounding would make it the smallest
/// normal number (seen on an H200). The product is exact in f64.
#[inline(always)]
pub(crate) fn mul_flushing(a: f32, b: f32, round: Round) -> f32 {
    let product = f64::from(a) * f64::from(b);
    if product.abs() < f64::from(f32::MIN_POSITIVE) { zero_of(product) } else { mul(a, b, round) }
}

/// Returns `a * b + c` with `.ftz`, as [`mul_flushing`].
#[inline(always)]
pub(crate) fn fma_flushing(a: f32, b: f32, c: f32, round: Round) -> f32 {
    let (sum, small) = flushed_sum(a, b, c);
    if small { zero_of(sum) } else { fma(a, b, c, round) }
}

/// Returns `a * b + c`, rounded to double, and true if it is below the normal singles, but not
/// zero.
#[inline(always)]
fn flushed_sum(a: f32, b: f32, c: f32) -> (f64, bool) {
    let least = f64::from(f32::MIN_POSITIVE);
    let (p, c) = (f64::from(a) * f64::from(b), f64::from(c));
    let sum = p + c;
    // The sum itself may have been rounded up to the smallest normal number.
    let (p, c) = if sum < 0.0 { (-p, -c) } else { (p, c) };
    (sum, (sum != 0.0) & ((sum.abs() < least) | ((sum.abs() == least) & (p < least - c))))
}

/// Returns `a + b` with `.ftz`, rounded to nearest, in a form that vectorises.
#[inline(always)]
pub(crate) fn add_flushing_near(a: f32, b: f32) -> f32 {
    flush32(canonical_single(flush32(a) + flush32(b)))
}

/// As [`mul_flushing`], rounded to nearest, with operands to flush, in a form that vectorises.
#[inline(always)]
pub(crate) fn mul_flushing_near(a: f32, b: f32) -> f32 {
    let (a, b) = (flush32(a), flush32(b));
    let product = f64::from(a) * f64::from(b);
    let small = product.abs() < f64::from(f32::MIN_POSITIVE);
    if small { zero_of(product) } else { canonical_single(a * b) }
}

/// As [`fma_flushing`], rounded to nearest, with operands to flush, in a form that vectorises.
/// `fused` is as in [`fma_near`].
#[inline(always)]
pub(crate) fn fma_flushing_near(a: f32, b: f32, c: f32, fused: bool) -> f32 {
    let (a, b, c) = (flush32(a), flush32(b), flush32(c));
    let (sum, small) = flushed_sum(a, b, c);
    if small { zero_of(sum) } else { fma_near(a, b, c, fused) }
}

/// Returns a zero with the sign of `x`.
#[inline(always)]
fn zero_of(x: f64) -> f32 {
    f32::from_bits((x.to_bits() >> 32) as u32 & 1 << 31)
}
