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
#[inline(always)]
pub(in crate::exec::native) fn permute(
    op: &Native,
    mode: PrmtMode,
    lanes: LaneMask,
    registers: &mut RegisterFile,
) {
    let [low, selectors, high] = op.s;
    let same = match op.s.iter().all(|&source| is_plain(source)) && mode == PrmtMode::Index {
        true => common(row(registers, selectors), lanes).and_then(bits::Bytes::new),
        false => None,
    };
    let Some(bytes) = same else {
        let (low, high) = (integer(registers, low), integer(registers, high));
        let selectors = integer(registers, selectors);
        return write(op, lanes, registers, |lane| {
            bits::prmt(low[lane], high[lane], selectors[lane], mode)
        });
    };
    write_words(
        op,
        lanes,
        registers,
        #[inline(always)]
        |rows, lane| bytes.of(word(rows, low.row, lane), word(rows, high.row, lane)),
    );
}
