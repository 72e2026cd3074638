//! Counts, fields and permutations of bits.

use super::*;
use crate::exec::arith::bits;
use crate::kernel::PrmtMode;

/// Applies a function of one source.
#[inline(always)]
fn unary(op: &Native, lanes: LaneMask, registers: &mut RegisterFile, f: impl Fn(u32) -> u32) {
    let a = integer(registers, op.s[0]);
    write(op, lanes, registers, |lane| f(a[lane]));
}

/// Applies a function of two sources.
#[inline(always)]
fn binary(op: &Native, lanes: LaneMask, registers: &mut RegisterFile, f: impl Fn(u32, u32) -> u32) {
    let (a, b) = (integer(registers, op.s[0]), integer(registers, op.s[1]));
    write(op, lanes, registers, |lane| f(a[lane], b[lane]));
}

/// Computes `|a|`.
pub(in crate::exec::native) fn absolute(
    op: &Native,
    lanes: LaneMask,
    registers: &mut RegisterFile,
) {
    unary(op, lanes, registers, |a| (a as i32).wrapping_abs() as u32);
}

/// Counts the ones.
pub(in crate::exec::native) fn count_ones(
    op: &Native,
    lanes: LaneMask,
    registers: &mut RegisterFile,
) {
    unary(op, lanes, registers, u32::count_ones);
}

/// Finds the highest bit that differs from the sign.
pub(in crate::exec::native) fn find_leading(
    op: &Native,
    signed: bool,
    shift: bool,
    lanes: LaneMask,
    registers: &mut RegisterFile,
) {
    match signed {
        true => unary(op, lanes, registers, |a| bits::bfind(a as i32, shift)),
        false => unary(op, lanes, registers, |a| bits::bfind(a, shift)),
    }
}

/// Reverses the bits.
pub(in crate::exec::native) fn reverse(op: &Native, lanes: LaneMask, registers: &mut RegisterFile) {
    unary(op, lanes, registers, u32::reverse_bits);
}

/// Makes a mask of ones.
pub(in crate::exec::native) fn mask(
    op: &Native,
    wrap: bool,
    lanes: LaneMask,
    registers: &mut RegisterFile,
) {
    binary(op, lanes, registers, |a, b| bits::bmsk(a, b, wrap));
}

/// Extends a narrow integer.
pub(in crate::exec::native) fn extend(
    op: &Native,
    signed: bool,
    wrap: bool,
    lanes: LaneMask,
    registers: &mut RegisterFile,
) {
    binary(op, lanes, registers, |a, b| bits::szext(a, b, signed, wrap));
}

/// Selects four bytes of eight.
pub(in crate::exec::native) fn permute(
    op: &Native,
    mode: PrmtMode,
    lanes: LaneMask,
    registers: &mut RegisterFile,
) {
    let [low, selectors, high] = op.s.map(|source| integer(registers, source));
    let same = common(&selectors, lanes).filter(|s| mode == PrmtMode::Index && s & 0x8888 == 0);
    let Some(selector) = same else {
        return write(op, lanes, registers, |lane| {
            bits::prmt(low[lane], high[lane], selectors[lane], mode)
        });
    };
    let values = join(&low, &high);
    let at: [u32; 4] = std::array::from_fn(|i| (selector >> (4 * i) & 7) * 8);
    write(op, lanes, registers, |lane| {
        let byte = |i: usize| ((values[lane] >> at[i]) as u32 & 0xff) << (8 * i);
        byte(0) | byte(1) | byte(2) | byte(3)
    });
}
