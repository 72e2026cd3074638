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

/// Defines functions of three f32 sources, of which they may ignore some.
macro_rules! singles {
    ($($(#[$doc:meta])* $name:ident = |$operands:pat_param, $fused:pat_param| $result:expr;)+) => {
        $($(#[$doc])*
        #[inline(always)]
        pub(in crate::exec::native) fn $name(
            op: &Native,
            lanes: LaneMask,
            registers: &mut RegisterFile,
            $fused: bool,
        ) {
            write_singles(
                op,
                lanes,
                registers,
                #[inline(always)]
                |$operands| $result,
            );
        })+
    };
}

singles! {
    /// Executes FADD.
    add_single = |[a, b, _], _| canonical_single(a + b);
    /// Executes FMUL.
    multiply_single = |[a, b, _], _| canonical_single(a * b);
    /// Executes FFMA.
    multiply_add_single = |[a, b, c], fused| fma_near(a, b, c, fused);
    /// Executes FADD.FTZ.
    add_flushing = |[a, b, _], _| add_flushing_near(a, b);
    /// Executes FMUL.FTZ.
    multiply_flushing = |[a, b, _], _| mul_flushing_near(a, b);
    /// Executes FFMA.FTZ.
    multiply_add_flushing = |[a, b, c], fused| fma_flushing_near(a, b, c, fused);
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
