//! Loops that are compiled twice: for every processor, and for AVX2 with fused multiply-add.

use super::VECTOR;
use crate::base::LaneMask;
use crate::exec::RegisterFile;
use crate::kernel::Op;

/// Vector units of the processor. A register file knows them, so that no loop has to ask.
#[derive(Clone, Copy, Debug)]
pub struct Vectors(pulp::Arch);

impl Default for Vectors {
    fn default() -> Vectors {
        #[cfg(test)]
        if super::tests::BASELINE.get() {
            return Vectors(pulp::Arch::Scalar);
        }
        Vectors(pulp::Arch::new())
    }
}

/// They are no part of a warp's state: all values are equal.
impl PartialEq for Vectors {
    fn eq(&self, _: &Vectors) -> bool {
        true
    }
}

/// Runs loops, mostly over lanes, with AVX2 where the processor has it, else with what every
/// processor has.
///
/// Only code that is inlined gains from it, so `loops` is a closure with `#[inline(always)]`. It is
/// told whether they are compiled for AVX2 with fused multiply-add, a constant when it is compiled.
#[inline(always)]
pub(crate) fn vectorized<T>(vectors: Vectors, loops: impl FnOnce(bool) -> T) -> T {
    match vectors.0 {
        pulp::Arch::Scalar => with_baseline(loops),
        arch => arch.dispatch(Loops(loops)),
    }
}

/// Loops that are told whether they are compiled for AVX2.
struct Loops<F>(F);

impl<T, F: FnOnce(bool) -> T> pulp::WithSimd for Loops<F> {
    type Output = T;
    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) -> T {
        // The processors with AVX2 that pulp selects have FMA, too.
        self.0(S::U32_LANES >= VECTOR)
    }
}

/// Runs the loops of an instruction as [`vectorized`].
///
/// The operands are arguments of `loops`: the compiler writes a closure that captures them to
/// memory at each call.
#[inline(always)]
pub(in crate::exec) fn vectorized_lanes<F: FnOnce(&Op, LaneMask, &mut RegisterFile, bool)>(
    op: &Op,
    lanes: LaneMask,
    registers: &mut RegisterFile,
    loops: F,
) {
    match registers.vectors.0 {
        pulp::Arch::Scalar => with_baseline(|wide| loops(op, lanes, registers, wide)),
        arch => {
            // As 64 bits: a captured value of 32 would pass through memory.
            let word = u64::from(lanes.0);
            arch.dispatch(Loops(
                #[inline(always)]
                move |wide| loops(op, LaneMask(word as u32), registers, wide),
            ));
        }
    }
}

/// Runs loops with what every processor has. Not inlined: a function that runs loops with AVX2
/// saves no registers for these.
#[inline(never)]
fn with_baseline<T>(loops: impl FnOnce(bool) -> T) -> T {
    loops(false)
}
