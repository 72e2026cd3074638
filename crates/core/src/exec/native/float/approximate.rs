//! MUFU: approximated functions ([`mufu`]).
//!
//! The compiler surrounds MUFU by scaling where PTX keeps subnormal numbers.

use super::operand::{Lanes, bits};
use crate::exec::arith::half::{Brain, Half, Short};
use crate::exec::arith::mufu;
use crate::isa::Type;
use crate::kernel::{Approximation, Part};

/// Executes MUFU.
pub(super) fn approximate(on: &mut Lanes<'_>, f: Approximation, ty: Type) {
    let f = mufu::function(f);
    match ty {
        Type::F16 => short::<Half>(on, f),
        Type::BF16 => short::<Brain>(on, f),
        _ => {
            let a = bits(on, 0);
            on.write_function(&a, f);
        }
    }
}

/// Executes MUFU on a 16-bit float, which may be the high half of the source.
fn short<H: Short>(on: &mut Lanes<'_>, f: fn(u32) -> u32) {
    let (a, source) = (on.raw(0), on.op.s[0]);
    let shift = if source.part == Part::H1 { 16 } else { 0 };
    on.write_bits_each(|l| {
        let x = H::from_bits64(u64::from(a[l] >> shift & 0xffff));
        let x = if source.absolute { x.magnitude() } else { x };
        let x = if source.negate { x.flip() } else { x };
        mufu::short(x, f).to_bits64() as u32
    });
}
