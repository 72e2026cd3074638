//! Element-wise instructions of machine code (SASS).

use super::RegisterFile;
use super::lanes::{fill, predicate, set_predicate};
use crate::base::{LaneMask, MAX_LANES};
use crate::kernel::{Native, NativeFn, Source};

/// Values of one source in all lanes.
type Values = [u32; MAX_LANES];

/// Applies an element-wise machine instruction to `lanes`.
pub(super) fn native(op: &Native, lanes: LaneMask, registers: &mut RegisterFile) {
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
        NativeFn::Add3 { extended } => add3(op, extended, lanes, registers),
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

fn add3(op: &Native, extended: bool, lanes: LaneMask, registers: &mut RegisterFile) {
    // In an extended addition `-` is the complement: the carry brings the one.
    let read = |source: Source| match extended && source.negate {
        true => integer(registers, Source { negate: false, invert: true, ..source }),
        false => integer(registers, source),
    };
    let [a, b, c] = op.s.map(read);
    let carry = op.q.map(|q| predicate(registers, q));
    let carries = |lane: usize| match extended {
        true => (carry[0] >> lane & 1) + (carry[1] >> lane & 1),
        false => 0,
    };
    if op.p != [None; 2] {
        // The carry of `-x` counts the one of the two's complement: `-0` carries.
        let negated_zero = |source: Source, values: &Values, lane: usize| {
            u64::from(!extended && source.negate && values[lane] == 0)
        };
        let mut out = [0_u32; 2];
        for lane in 0..MAX_LANES {
            let sum = u64::from(a[lane])
                + u64::from(b[lane])
                + u64::from(c[lane])
                + u64::from(carries(lane));
            let over = (sum >> 32)
                + negated_zero(op.s[0], &a, lane)
                + negated_zero(op.s[1], &b, lane)
                + negated_zero(op.s[2], &c, lane);
            out[0] |= u32::from(over > 0) << lane;
            out[1] |= u32::from(over > 1) << lane;
        }
        for (p, bits) in op.p.into_iter().zip(out) {
            if let Some(p) = p {
                set_predicate(registers, p, lanes, bits);
            }
        }
    }
    write(op, lanes, registers, |lane| {
        a[lane].wrapping_add(b[lane]).wrapping_add(c[lane]).wrapping_add(carries(lane))
    });
}
