//! Element-wise instructions of machine code (SASS).

mod integer;
mod warp;

use super::RegisterFile;
use super::lanes::fill;
use crate::base::{LaneMask, MAX_LANES};
use crate::kernel::{Native, NativeFn, Row, Source};

/// Values of one source in all lanes.
type Values = [u32; MAX_LANES];

/// Applies an element-wise machine instruction to `lanes`.
pub(super) fn native(op: &Native, lanes: LaneMask, registers: &mut RegisterFile) {
    let active = lanes;
    let lanes = match op.uniform {
        // Every lane holds the one value of the uniform datapath.
        true if !lanes.is_empty() => LaneMask(u32::MAX),
        _ => lanes,
    };
    match op.f {
        NativeFn::Mov => {
            let a = integer(registers, op.s[0]);
            write(op, lanes, registers, |lane| a[lane]);
        }
        NativeFn::MovPair => {
            let a = op.s[0].row;
            let pair = [a, Row(a.0 + 1)].map(|row| registers.narrow[usize::from(row.0)]);
            if let Some(d) = op.d {
                for (i, values) in (0..).zip(pair) {
                    fill(&mut registers.narrow[usize::from(d.0 + i)], lanes, |lane| values[lane]);
                }
            }
        }
        NativeFn::Shuffle(mode) => warp::shuffle(op, mode, lanes, registers),
        NativeFn::Vote(f) => warp::vote(op, f, active, registers),
        NativeFn::Match { all, wide } => warp::matching(op, all, wide, lanes, registers),
        NativeFn::Redux { f, signed } => warp::redux(op, f, signed, active, registers),
        NativeFn::Add3 { extended } => integer::add3(op, extended, lanes, registers),
    }
}

/// Reads a 32-bit integer source with its modifiers.
#[inline(always)]
fn integer(registers: &RegisterFile, source: Source) -> Values {
    let mut values = registers.narrow[usize::from(source.row.0)];
    if source.invert {
        values.iter_mut().for_each(|value| *value = !*value);
    }
    if source.negate {
        values.iter_mut().for_each(|value| *value = value.wrapping_neg());
    }
    values
}

/// Writes the 32-bit result of `lanes`, unless it is RZ.
#[inline(always)]
fn write(op: &Native, lanes: LaneMask, registers: &mut RegisterFile, value: impl Fn(usize) -> u32) {
    if let Some(d) = op.d {
        fill(&mut registers.narrow[usize::from(d.0)], lanes, value);
    }
}
