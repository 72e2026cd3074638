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
    let [low, count, high] = op.s.map(|source| integer(registers, source));
    let most = if f.long { 64 } else { 32 };
    let count = |lane: usize| if f.wrap { count[lane] & (most - 1) } else { count[lane].min(most) };
    let values = join(&low, &high);
    let word = |value: u64| if f.high { (value >> 32) as u32 } else { value as u32 };
    // A count of 64 takes two shifts.
    let shift = |value: u64, by: u32| match (f.left, f.signed) {
        (true, _) => value << (by >> 1) << (by - (by >> 1)),
        (false, false) => value >> (by >> 1) >> (by - (by >> 1)),
        (false, true) => (value as i64 >> (by >> 1) >> (by - (by >> 1))) as u64,
    };
    let counts: Values = std::array::from_fn(count);
    match common(&counts, lanes) {
        Some(by) => write(op, lanes, registers, |lane| word(shift(values[lane], by))),
        None => write(op, lanes, registers, |lane| word(shift(values[lane], counts[lane]))),
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
        return write_ternary(op, lanes, registers, |a, b, c| table_of(&table, a, b, c));
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
