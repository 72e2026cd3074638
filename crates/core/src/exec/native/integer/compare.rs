//! Comparisons, minima and maxima.

use super::*;
use crate::isa::{BoolOp, Compare};
use crate::kernel::{CompareIntegers, MinMax, MinMaxOf};

/// Sign bit: signed order is the unsigned order of words with this bit flipped.
const SIGN: u32 = 1 << 31;

/// Compares integers.
pub(in crate::exec::native) fn compare(
    op: &Native,
    f: CompareIntegers,
    lanes: LaneMask,
    registers: &mut RegisterFile,
) {
    let flip = if f.signed { 0 } else { SIGN };
    let (holds, equal) = with_two(op, registers, |a, b| {
        let order = |values: &Values, lane: usize| (values[lane] ^ flip) as i32;
        let holds = match f.compare {
            Compare::Eq | Compare::Equ => lanes_where(|lane| a[lane] == b[lane]),
            Compare::Ne | Compare::Neu => lanes_where(|lane| a[lane] != b[lane]),
            Compare::Lt | Compare::Ltu => lanes_where(|lane| order(a, lane) < order(b, lane)),
            Compare::Le | Compare::Leu => lanes_where(|lane| order(a, lane) <= order(b, lane)),
            Compare::Gt | Compare::Gtu => lanes_where(|lane| order(a, lane) > order(b, lane)),
            Compare::Ge | Compare::Geu => lanes_where(|lane| order(a, lane) >= order(b, lane)),
            Compare::Num => u32::MAX,
            Compare::Nan => 0,
        };
        (holds, if f.extended { lanes_where(|lane| a[lane] == b[lane]) } else { 0 })
    });
    let holds = holds & !equal | predicate(registers, op.q[1]) & equal;
    write_comparison(op, f.combine, holds, lanes, registers);
}

/// Writes both results of a comparison that holds in some lanes.
#[inline(always)]
pub(in crate::exec::native) fn write_comparison(
    op: &Native,
    combine: BoolOp,
    holds: u32,
    lanes: LaneMask,
    registers: &mut RegisterFile,
) {
    let q = predicate(registers, op.q[0]);
    let combine = |bits: u32| match combine {
        BoolOp::And => bits & q,
        BoolOp::Or => bits | q,
        BoolOp::Xor => bits ^ q,
    };
    write_predicate(op, 0, lanes, registers, combine(holds));
    write_predicate(op, 1, lanes, registers, combine(!holds));
}

/// Computes a minimum or maximum.
#[inline(always)]
pub(in crate::exec::native) fn min_max(
    op: &Native,
    f: MinMax,
    lanes: LaneMask,
    registers: &mut RegisterFile,
) {
    let (a, b) = (integer(registers, op.s[0]), integer(registers, op.s[1]));
    // Only the functions of three operands have the third.
    let c = match f.of {
        MinMaxOf::Two => a,
        MinMaxOf::Three | MinMaxOf::Sum => integer(registers, op.s[2]),
    };
    let minimum = predicate(registers, op.q[0]);
    if f.halves {
        return min_max_halves(op, f, [&a, &b, &c], minimum, lanes, registers);
    }
    let flip = if f.signed { 0 } else { SIGN };
    let order = |word: u32| (word ^ flip) as i32;
    let [x, y, z] = match f.of {
        MinMaxOf::Sum => {
            let (sum, c) =
                (values(|lane| order(a[lane].wrapping_add(b[lane]))), values(|l| order(c[l])));
            [sum, c, c]
        }
        _ => {
            [values(|lane| order(a[lane])), values(|lane| order(b[lane])), values(|l| order(c[l]))]
        }
    };
    let floor = if f.relu { 0 } else { i32::MIN };
    let least = |lane: usize| x[lane].min(y[lane]).min(z[lane]);
    let most = |lane: usize| x[lane].max(y[lane]).max(z[lane]);
    let word = |value: i32| value.max(floor) as u32 ^ flip;
    // Mostly all lanes want the same.
    match minimum {
        u32::MAX => write(op, lanes, registers, |lane| word(least(lane))),
        0 => write(op, lanes, registers, |lane| word(most(lane))),
        _ => write(op, lanes, registers, |lane| {
            word(if minimum & 1 << lane != 0 { least(lane) } else { most(lane) })
        }),
    }
}

#[inline(never)]
fn min_max_halves(
    op: &Native,
    f: MinMax,
    [a, b, c]: [&Values; 3],
    minimum: u32,
    lanes: LaneMask,
    registers: &mut RegisterFile,
) {
    // Result of one half, and whether it is the first operand.
    let half = |lane: usize, at: u32| {
        let value = |word: u32| {
            let bits = (word >> at) as u16;
            if f.signed { i32::from(bits as i16) } else { i32::from(bits) }
        };
        let [mut x, mut y, z] = [a, b, c].map(|values| value(values[lane]));
        if f.of == MinMaxOf::Sum {
            (x, y) = (value(((x + y) as u32) << at), z);
        }
        let least = minimum & 1 << lane != 0;
        let first = if least { x <= y } else { x >= y };
        let chosen = if first { x } else { y };
        let chosen = match f.of {
            MinMaxOf::Three if least => chosen.min(z),
            MinMaxOf::Three => chosen.max(z),
            MinMaxOf::Two | MinMaxOf::Sum => chosen,
        };
        let chosen = if f.relu { chosen.max(0) } else { chosen };
        (chosen as u32 & 0xffff, first)
    };
    for (i, at) in [(0, 0), (1, 16)] {
        if op.p[i].is_some() {
            write_predicate(op, i, lanes, registers, lanes_where(|lane| half(lane, at).1));
        }
    }
    write(op, lanes, registers, |lane| half(lane, 16).0 << 16 | half(lane, 0).0);
}
