//! Sums and products that round to nearest without modifiers, the most frequent ones, or of singles
//! with `.FTZ`, as in divisions and roots.
//!
//! `fused` is true if the processor has a fused multiply-add.

use super::operand::{write_doubles, write_singles};
use crate::base::LaneMask;
use crate::exec::RegisterFile;
use crate::exec::arith::float::{
    add_flushing_near, canonical_single, fma_flushing_near, fma_near, mul_flushing_near,
};
use crate::kernel::Native;

/// Executes FADD.
#[inline(always)]
pub(in crate::exec::native) fn add_single(
    op: &Native,
    lanes: LaneMask,
    registers: &mut RegisterFile,
    _fused: bool,
) {
    write_singles(op, lanes, registers, |[a, b, _]| canonical_single(a + b));
}

/// Executes FMUL.
#[inline(always)]
pub(in crate::exec::native) fn multiply_single(
    op: &Native,
    lanes: LaneMask,
    registers: &mut RegisterFile,
    _fused: bool,
) {
    write_singles(op, lanes, registers, |[a, b, _]| canonical_single(a * b));
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

/// Executes FADD.FTZ.
#[inline(always)]
pub(in crate::exec::native) fn add_flushing(
    op: &Native,
    lanes: LaneMask,
    registers: &mut RegisterFile,
    _fused: bool,
) {
    write_singles(
        op,
        lanes,
        registers,
        #[inline(always)]
        |[a, b, _]| add_flushing_near(a, b),
    );
}

/// Executes FMUL.FTZ.
#[inline(always)]
pub(in crate::exec::native) fn multiply_flushing(
    op: &Native,
    lanes: LaneMask,
    registers: &mut RegisterFile,
    _fused: bool,
) {
    write_singles(
        op,
        lanes,
        registers,
        #[inline(always)]
        |[a, b, _]| mul_flushing_near(a, b),
    );
}

/// Executes FFMA.FTZ.
#[inline(always)]
pub(in crate::exec::native) fn multiply_add_flushing(
    op: &Native,
    lanes: LaneMask,
    registers: &mut RegisterFile,
    fused: bool,
) {
    write_singles(
        op,
        lanes,
        registers,
        #[inline(always)]
        |[a, b, c]| fma_flushing_near(a, b, c, fused),
    );
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
