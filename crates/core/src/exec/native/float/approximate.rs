//! MUFU: approximated functions.
//!
//! The result is the function of the exact operand, rounded to nearest: more accurate than the
//! hardware's. The compiler surrounds MUFU by scaling where PTX keeps subnormal numbers.

use super::operand::{Lanes, bits};
use crate::exec::arith::float::{NAN32, approximate as rounded, rsqrt};
use crate::exec::arith::half::{Brain, Half, Short};
use crate::isa::Type;
use crate::kernel::{Approximation, Part};
use std::f64::consts::TAU;

/// Executes MUFU.
pub(super) fn approximate(on: &mut Lanes<'_>, f: Approximation, ty: Type) {
    match f {
        Approximation::HighReciprocal => return high(on, |x| 1.0 / x),
        Approximation::HighReciprocalRoot => return high(on, rsqrt),
        _ => {}
    }
    let f = function(f);
    match ty {
        Type::F16 => short::<Half>(on, f),
        Type::BF16 => short::<Brain>(on, f),
        _ => {
            let a = bits(on, 0);
            on.write_function(&a, |a| rounded(f32::from_bits(a), true, f).to_bits());
        }
    }
}

fn function(f: Approximation) -> fn(f64) -> f64 {
    match f {
        Approximation::Reciprocal | Approximation::HighReciprocal => |x| 1.0 / x,
        Approximation::ReciprocalRoot | Approximation::HighReciprocalRoot => rsqrt,
        Approximation::Root => f64::sqrt,
        Approximation::Exponential => f64::exp2,
        Approximation::Logarithm => f64::log2,
        Approximation::Sine => |x| turn(x, false),
        Approximation::Cosine => |x| turn(x, true),
        Approximation::Tangent => f64::tanh,
    }
}

/// Returns the sine or cosine of an angle in turns.
fn turn(x: f64, cosine: bool) -> f64 {
    if !x.is_finite() {
        return f64::NAN;
    }
    // The quarter and the rest are exact: an f32 has at most 24 bits.
    let quarters = (x * 4.0).round_ties_even();
    let rest = (x - quarters / 4.0) * TAU;
    let quarter = quarters.rem_euclid(4.0) as u8 + u8::from(cosine);
    match quarter % 4 {
        0 => rest.sin(),
        1 => rest.cos(),
        // Not `-sin`: half a turn has the sine +0.
        2 => 0.0 - rest.sin(),
        _ => -rest.cos(),
    }
}

/// Executes MUFU on a 16-bit float, which may be the high half of the source.
fn short<H: Short>(on: &mut Lanes<'_>, f: fn(f64) -> f64) {
    let (a, source) = (on.raw(0), on.op.s[0]);
    let shift = if source.part == Part::H1 { 16 } else { 0 };
    on.write_bits_each(|l| {
        let x = H::from_bits64(u64::from(a[l] >> shift & 0xffff));
        let x = if source.absolute { x.magnitude() } else { x };
        let x = if source.negate { x.flip() } else { x };
        H::narrow(f(x.widen())).to_bits64() as u32
    });
}

/// Executes RCP64H and RSQ64H: high words of f64.
///
/// The low word of the operand counts as 0, and the result is rounded to the bits of a high word.
fn high(on: &mut Lanes<'_>, f: fn(f64) -> f64) {
    let a = bits(on, 0);
    on.write_function(&a, |a| {
        let x = f64::from_bits(u64::from(a) << 32);
        let x = if x.is_subnormal() { 0.0_f64.copysign(x) } else { x };
        let result = f(x);
        if result.is_nan() {
            return NAN32;
        }
        if result.is_subnormal() {
            return (0.0_f64.copysign(result).to_bits() >> 32) as u32;
        }
        ((result.to_bits() + (1 << 31)) >> 32) as u32
    });
}
