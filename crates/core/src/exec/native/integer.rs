//! Integer, logic and predicate instructions of machine code.

use super::{Values, integer, write};
use crate::base::{LaneMask, MAX_LANES};
use crate::exec::RegisterFile;
use crate::exec::lanes::{predicate, set_predicate};
use crate::kernel::{Native, Source};

pub(super) fn add3(op: &Native, extended: bool, lanes: LaneMask, registers: &mut RegisterFile) {
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
