//! Dot products, absolute differences and saturating conversions.

use super::*;
use crate::exec::arith::bits;
use crate::kernel::Narrow;

/// Applies a function of three sources.
#[inline(always)]
fn ternary(
    op: &Native,
    lanes: LaneMask,
    registers: &mut RegisterFile,
    f: impl Fn(u32, u32, u32) -> u32,
) {
    let [a, b, c] = op.s.map(|source| integer(registers, source));
    write(op, lanes, registers, |lane| f(a[lane], b[lane], c[lane]));
}

/// Adds the products of four bytes.
pub(in crate::exec::native) fn dot4(
    op: &Native,
    signed: [bool; 2],
    lanes: LaneMask,
    registers: &mut RegisterFile,
) {
    ternary(op, lanes, registers, |a, b, c| bits::dp4a(a, b, c, signed));
}

/// Adds the products of two halves and two bytes.
pub(in crate::exec::native) fn dot2(
    op: &Native,
    signed: [bool; 2],
    high: bool,
    lanes: LaneMask,
    registers: &mut RegisterFile,
) {
    ternary(op, lanes, registers, |a, b, c| bits::dp2a(a, b, c, signed, high));
}

/// Adds an absolute difference.
pub(in crate::exec::native) fn absolute_difference(
    op: &Native,
    signed: bool,
    lanes: LaneMask,
    registers: &mut RegisterFile,
) {
    ternary(op, lanes, registers, |a, b, c| {
        let difference = if signed { (a as i32).abs_diff(b as i32) } else { a.abs_diff(b) };
        difference.wrapping_add(c)
    });
}

/// Computes the absolute differences of four bytes.
pub(in crate::exec::native) fn absolute_difference4(
    op: &Native,
    signed: bool,
    sum: bool,
    lanes: LaneMask,
    registers: &mut RegisterFile,
) {
    ternary(op, lanes, registers, |a, b, c| bits::absdiff4(a, b, c, [signed; 2], sum));
}

/// Clamps to a narrower type.
pub(in crate::exec::native) fn saturate(
    op: &Native,
    to: Narrow,
    lanes: LaneMask,
    registers: &mut RegisterFile,
) {
    let a = integer(registers, op.s[0]);
    write(op, lanes, registers, |lane| bits::clamp(a[lane], to));
}

/// Clamps two values and packs them below the third.
pub(in crate::exec::native) fn pack_saturated(
    op: &Native,
    to: Narrow,
    lanes: LaneMask,
    registers: &mut RegisterFile,
) {
    ternary(op, lanes, registers, |a, b, c| bits::pack_saturated(a, b, c, to));
}
