//! Sums and products without modifiers that round to nearest, the most frequent ones.
//!
//! `fused` is true if the processor has a fused multiply-add.

use super::operand::{write_doubles, write_singles};
use crate::base::LaneMask;
use crate::exec::RegisterFile;
use crate::exec::arith::float::{Float, fma_near};
use crate::kernel::Native;

/// Returns the result of f32 operands: NaN is the canonical one.
#[inline(always)]
fn single(result: f32) -> f32 {
    f32::canonical(result, [result; 3])
}

/// Executes FADD.
#[inline(always)]
pub(in crate::exec::native) fn add_single(
    op: &Native,
    lanes: LaneMask,
    registers: &mut RegisterFile,
    _fused: bool,
) {
    write_singles(op, lanes, registers, |[a, b, _]| single(a + b));
}

/// Executes FMUL.
#[inline(always)]
pub(in crate::exec::native) fn multiply_single(
    op: &Native,
    lanes: LaneMask,
    registers: &mut RegisterFile,
    _fused: bool,
) {
    write_singles(op, lanes, registers, |[a, b, _]| single(a * b));
}

/// Executes FFMA.
#[inline(always)]
pub(in crate::exec::native) fn multiply_add_single(
    op: &Native,
    lanes: LaneMask,
    registers: &mut RegisterFile,
    fused: bool,
) {
    write_singles(op, lanes, registers, |[a, b, c]| fma_near(a, b, c, fused));
}

/// Executes DADD.
#[inline(always)]
pub(in crate::exec::native) fn add_double(
    op: &Native,
    lanes: LaneMask,
    registers: &mut RegisterFile,
    _fused: bool,
) {
    write_doubles(op, lanes, registers, |[a, b, _], _| a + b, |[a, b, _]| [a, b, b]);
}

/// Executes DMUL.
#[inline(always)]
pub(in crate::exec::native) fn multiply_double(
    op: &Native,
    lanes: LaneMask,
    registers: &mut RegisterFile,
    _fused: bool,
) {
    write_doubles(op, lanes, registers, |[a, b, _], _| a * b, |[a, b, _]| [a, b, b]);
}

/// Executes DFMA.
#[inline(always)]
pub(in crate::exec::native) fn multiply_add_double(
    op: &Native,
    lanes: LaneMask,
    registers: &mut RegisterFile,
    fused: bool,
) {
    let near = |[a, b, c]: [f64; 3], lane: usize| match fused || lanes.contains(lane as u32) {
        true => a.mul_add(b, c),
        false => 0.0, // without the instruction a lane is expensive
    };
    write_doubles(op, lanes, registers, near, |operands| operands);
}
