//! Shifts and three-input logic.

use super::*;
use crate::kernel::Funnel;

/// Computes `a << by`.
#[inline(always)]
pub(in crate::exec::native) fn shift_left(
    op: &Native,
    by: u8,
    lanes: LaneMask,
    registers: &mut RegisterFile,
) {
    let by = u32::from(by) & 31;
    write_unary(op, lanes, registers, |a| a << by);
}

/// Computes `a >> by`.
#[inline(always)]
pub(in crate::exec::native) fn shift_right(
    op: &Native,
    by: u8,
    signed: bool,
    lanes: LaneMask,
    registers: &mut RegisterFile,
) {
    let by = u32::from(by) & 31;
    if signed {
        write_unary(op, lanes, registers, |a| (a as i32 >> by) as u32);
    } else {
        write_unary(op, lanes, registers, |a| a >> by);
    }
}

/// Shifts a pair and takes one word.
#[inline(always)]
pub(in crate::exec::native) fn funnel(
    op: &Native,
    f: Funnel,
    lanes: LaneMask,
    registers: &mut RegisterFile,
) {
    let [low, count, high] = op.s;
    let pairs = join(&integer(registers, low), &integer(registers, high));
    let count = integer(registers, count);
    let most = if f.long { 64 } else { 32 };
    let counts = match f.wrap {
        true => values(|lane| count[lane] & (most - 1)),
        false => values(|lane| count[lane].min(most)),
    };
    match common(&counts, lanes) {
        Some(by) => shift_pairs(op, f, lanes, registers, (&pairs, |_| by)),
        None => shift_pairs(op, f, lanes, registers, (&pairs, |lane: usize| counts[lane])),
    }
}

/// Writes one word of shifted pairs; each form of shift has a loop of its own.
#[inline(always)]
fn shift_pairs(
    op: &Native,
    f: Funnel,
    lanes: LaneMask,
    registers: &mut RegisterFile,
    (pairs, by): (&Pairs, impl Fn(usize) -> u32),
) {
    // A count of 64 takes two shifts.
    let half = |lane| by(lane) >> 1;
    let rest = |lane| by(lane) - half(lane);
    let shifted = match (f.left, f.signed) {
        (true, _) => values(|lane| pairs[lane] << half(lane) << rest(lane)),
        (false, false) => values(|lane| pairs[lane] >> half(lane) >> rest(lane)),
        (false, true) => values(|lane| (pairs[lane] as i64 >> half(lane) >> rest(lane)) as u64),
    };
    match f.high {
        true => write(op, lanes, registers, |lane| (shifted[lane] >> 32) as u32),
        false => write(op, lanes, registers, |lane| shifted[lane] as u32),
    }
}

/// Applies a truth table bit by bit.
#[inline(always)]
pub(in crate::exec::native) fn logic3(
    op: &Native,
    table: u8,
    and: bool,
    lanes: LaneMask,
    registers: &mut RegisterFile,
) {
    if op.p[0].is_none() {
        match table {
            0xc0 => return write_binary(op, lanes, registers, |a, b| a & b),
            0xfc => return write_binary(op, lanes, registers, |a, b| a | b),
            0x3c => return write_binary(op, lanes, registers, |a, b| a ^ b),
            0x96 => return write_ternary(op, lanes, registers, |a, b, c| a ^ b ^ c),
            _ => {}
        }
    }
    let table: [u32; 8] = std::array::from_fn(|row| (u32::from(table) >> row & 1).wrapping_neg());
    if op.p[0].is_none() {
        return write_ternary(
            op,
            lanes,
            registers,
            #[inline(always)]
            |a, b, c| table_of(&table, a, b, c),
        );
    }
    let [a, b, c] = op.s.map(|source| integer(registers, source));
    let values: Values = std::array::from_fn(|lane| table_of(&table, a[lane], b[lane], c[lane]));
    let q = predicate(registers, op.q[0]);
    let set = lanes_where(|lane| values[lane] != 0);
    write_predicate(op, 0, lanes, registers, if and { set & q } else { set | q });
    write(op, lanes, registers, |lane| values[lane]);
}

/// Returns the truth table's result for 32 triples of bits.
///
/// `rows` has all ones where the table has a one: `a` selects one half of it, `b` of that, `c`.
#[inline(always)]
pub(super) fn table_of(rows: &[u32; 8], a: u32, b: u32, c: u32) -> u32 {
    let choose = |bit: u32, zero: u32, one: u32| zero ^ (bit & (zero ^ one));
    let low = choose(b, choose(c, rows[0], rows[1]), choose(c, rows[2], rows[3]));
    let high = choose(b, choose(c, rows[4], rows[5]), choose(c, rows[6], rows[7]));
    choose(a, low, high)
}
