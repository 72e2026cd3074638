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
    write(op, lanes, registers, |lane| clamp(a[lane], to) as u32);
}

/// Clamps two values and packs them below the third.
pub(in crate::exec::native) fn pack_saturated(
    op: &Native,
    to: Narrow,
    lanes: LaneMask,
    registers: &mut RegisterFile,
) {
    let bits = if matches!(to, Narrow::U8 | Narrow::S8) { 8 } else { 16 };
    let mask = (1_u32 << bits) - 1;
    ternary(op, lanes, registers, |a, b, c| {
        let low = (clamp(a, to) as u32 & mask) << bits | clamp(b, to) as u32 & mask;
        if bits == 8 { c << 16 | low } else { low }
    });
}

/// Returns a signed integer clamped to a narrower type.
#[inline(always)]
fn clamp(value: u32, to: Narrow) -> i32 {
    let (least, most) = match to {
        Narrow::U8 => (0, 0xff),
        Narrow::S8 => (-0x80, 0x7f),
        Narrow::U16 => (0, 0xffff),
        Narrow::S16 => (-0x8000, 0x7fff),
    };
    (value as i32).clamp(least, most)
}
