//! Approximations of PTX: MUFU, with the scaling that ptxas puts around it for sm_90.
//!
//! MUFU takes subnormal numbers for zeros. Without `.ftz`, ptxas scales operands and results by
//! powers of two, so that they stay normal numbers.

use super::float::{Float, NAN64, add, finish, fma, fma_flushing, mul, mul_flushing};
use super::mufu::function;
use crate::isa::{FloatMode, Round};
use crate::kernel::Approximation;

const NEAR: Round = Round::Nearest;
/// Below lie subnormal numbers.
const LEAST: f32 = f32::MIN_POSITIVE;
/// Numbers above it have a subnormal reciprocal.
const LARGE: f32 = f32::from_bits((127 + 126) << 23);
/// Makes a normal number of a subnormal one.
const UP: f32 = 16_777_216.0;
/// Turns per radian, as ptxas rounds it.
const TURNS: f32 = f32::from_bits(0x3e22_f983);

fn times(a: f32, b: f32) -> f32 {
    mul(a, b, NEAR)
}

/// Returns an angle in turns, rounded toward zero. The product is exact in f64.
fn turns(radians: f32) -> f32 {
    let exact = f64::from(radians) * f64::from(TURNS);
    let near = exact as f32;
    if f64::from(near).abs() > exact.abs() { f32::from_bits(near.to_bits() - 1) } else { near }
}

/// Returns MUFU's function of an f32.
fn unit(f: Approximation, a: f32) -> f32 {
    f32::from_bits(function(f)(a.to_bits()))
}

/// Returns an approximated f32 function; `Sine` and `Cosine` are those of radians.
pub(crate) fn approximate(f: Approximation, a: f32, ftz: bool) -> f32 {
    let small = !ftz && a.abs() < LEAST;
    match f {
        Approximation::Sine | Approximation::Cosine => unit(f, turns(a)),
        Approximation::Reciprocal if !ftz => {
            let scale = if a.abs() > LARGE {
                0.25
            } else if small {
                UP
            } else {
                1.0
            };
            times(scale, unit(f, times(a, scale)))
        }
        Approximation::Root if small => times(unit(f, times(a, UP)), 1.0 / 4096.0),
        Approximation::ReciprocalRoot if small => times(unit(f, times(a, UP)), 4096.0),
        Approximation::Logarithm if small => add(unit(f, times(a, UP)), -24.0, NEAR),
        Approximation::Exponential if !ftz && a < -126.0 => {
            let half = unit(f, times(a, 0.5));
            times(half, half)
        }
        _ => unit(f, a),
    }
}

/// Returns `div.approx`, or `div.full` if `full`: the product with a reciprocal.
pub(crate) fn divide(a: f32, b: f32, full: bool, ftz: bool) -> f32 {
    let [reciprocal, a] = factors(a, b, full, ftz);
    product(reciprocal, a, ftz)
}

/// Returns such a quotient plus `c`: its product and the sum are rounded once, as `mode` says.
pub(crate) fn divide_add([a, b, c]: [f32; 3], full: bool, mode: FloatMode) -> f32 {
    let [reciprocal, a] = factors(a, b, full, mode.ftz);
    let sum = match mode.ftz {
        true => fma_flushing(reciprocal.flush(), a.flush(), c.flush(), NEAR),
        false => fma(reciprocal, a, c, NEAR),
    };
    finish(sum, mode)
}

fn product(a: f32, b: f32, ftz: bool) -> f32 {
    if ftz { mul_flushing(a.flush(), b.flush(), NEAR) } else { times(a, b) }
}

/// Returns the reciprocal of `b` and `a`, both scaled, whose product is a quotient.
fn factors(a: f32, b: f32, full: bool, ftz: bool) -> [f32; 2] {
    let scale = if full && b.abs() > LARGE {
        0.25
    } else if !ftz && b.abs() < LEAST {
        UP
    } else {
        1.0
    };
    let reciprocal = unit(Approximation::Reciprocal, product(b, scale, ftz));
    [reciprocal, product(a, scale, ftz)]
}

/// Returns MUFU's function of the high word of an f64, with a low word of 0.
fn high(f: Approximation, a: f64) -> f64 {
    let high = (a.to_bits() >> 32) as u32;
    f64::from_bits(u64::from(function(f)(high)) << 32)
}

/// Returns `rcp.approx.ftz.f64`.
pub(crate) fn reciprocal(a: f64) -> f64 {
    high(Approximation::HighReciprocal, a)
}

/// Returns `rsqrt.approx.f64`: with `.ftz` MUFU's result, else corrected by a step of an iteration.
pub(crate) fn reciprocal_root(a: f64, ftz: bool) -> f64 {
    if ftz {
        return high(Approximation::HighReciprocalRoot, a);
    }
    if a == 0.0 {
        return f64::INFINITY.copysign(a);
    }
    if a.is_nan() {
        return add(a, a, NEAR);
    }
    if a < 0.0 {
        return f64::from_bits(NAN64);
    }
    if a == f64::INFINITY {
        return 0.0;
    }
    let (up, down) = (54_f64.exp2(), 27_f64.exp2());
    let subnormal = a.is_subnormal();
    let a = if subnormal { mul(a, up, NEAR) } else { a };
    let y = high(Approximation::HighReciprocalRoot, a);
    let error = fma(a, -mul(y, y, NEAR), 1.0, NEAR);
    let factor = fma(error, 0.375, 0.5, NEAR);
    let y = fma(factor, mul(y, error, NEAR), y, NEAR);
    if subnormal { mul(y, down, NEAR) } else { y }
}

#[cfg(test)]
mod tests;
