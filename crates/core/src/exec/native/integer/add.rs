//! Sums and their carries.

use super::*;

/// Computes `a + b`.
#[inline(always)]
pub(in crate::exec::native) fn add(op: &Native, lanes: LaneMask, registers: &mut RegisterFile) {
    write_binary(op, lanes, registers, u32::wrapping_add);
}

/// Negates both halves of a word.
fn negated_halves(word: u32) -> u32 {
    (word & 0xffff_0000).wrapping_neg() & 0xffff_0000 | word.wrapping_neg() & 0xffff
}

/// Computes `a + b` in both halves.
pub(in crate::exec::native) fn add_halves(
    op: &Native,
    lanes: LaneMask,
    registers: &mut RegisterFile,
) {
    let [a, b] = [op.s[0], op.s[1]].map(|source| {
        let words = integer(registers, Source { negate: false, ..source });
        if source.negate { words.map(negated_halves) } else { words }
    });
    write(op, lanes, registers, |lane| {
        let high = (a[lane] & 0xffff_0000).wrapping_add(b[lane] & 0xffff_0000);
        high | a[lane].wrapping_add(b[lane]) & 0xffff
    });
}

/// Computes `a + b + c`.
#[inline(always)]
pub(in crate::exec::native) fn sum_of_three(
    op: &Native,
    lanes: LaneMask,
    registers: &mut RegisterFile,
) {
    write_ternary(op, lanes, registers, |a, b, c| a.wrapping_add(b).wrapping_add(c));
}

/// Computes `a + b + c`, with carries if the instruction has any.
pub(in crate::exec::native) fn add3(
    op: &Native,
    extended: bool,
    lanes: LaneMask,
    registers: &mut RegisterFile,
) {
    if !extended && op.p == [None; 2] {
        return sum_of_three(op, lanes, registers);
    }
    let [a, b, c] = op.s.map(|source| integer(registers, source));
    let carry = match extended {
        true => op.q.map(|q| ones(predicate(registers, q))),
        false => [[0; MAX_LANES]; 2],
    };
    let carry: Values = std::array::from_fn(|lane| carry[0][lane] + carry[1][lane]);
    let first: Values = std::array::from_fn(|lane| a[lane].wrapping_add(b[lane]));
    let second: Values = std::array::from_fn(|lane| first[lane].wrapping_add(c[lane]));
    let sum: Values = std::array::from_fn(|lane| second[lane].wrapping_add(carry[lane]));
    if op.p != [None; 2] {
        let mut over: Values = std::array::from_fn(|lane| {
            u32::from(first[lane] < a[lane])
                + u32::from(second[lane] < c[lane])
                + u32::from(sum[lane] < carry[lane])
        });
        for (source, values) in op.s.iter().zip([&a, &b, &c]) {
            count_negated_zero(&mut over, *source, values);
        }
        for i in 0..2 {
            let bits = lanes_where(|lane| over[lane] > i);
            write_predicate(op, i as usize, lanes, registers, bits);
        }
    }
    write(op, lanes, registers, |lane| sum[lane]);
}

/// Adds the carry of `-x = ~x + 1`, which exists if `x` is 0.
#[inline(always)]
pub(super) fn count_negated_zero(over: &mut Values, source: Source, values: &Values) {
    if source.negate {
        for (over, value) in over.iter_mut().zip(values) {
            *over += u32::from(*value == 0);
        }
    }
}

/// Computes `(a << shift) + b`.
#[inline(always)]
pub(in crate::exec::native) fn shift_add(
    op: &Native,
    shift: u8,
    lanes: LaneMask,
    registers: &mut RegisterFile,
) {
    let shift = u32::from(shift) & 31;
    if op.p[0].is_none() && predicate(registers, op.q[0]) == 0 {
        return write_binary(op, lanes, registers, |a, b| (a << shift).wrapping_add(b));
    }
    let (mut a, b) = (integer(registers, op.s[0]), integer(registers, op.s[1]));
    a.iter_mut().for_each(|a| *a <<= shift);
    sum_of_two(op, [&a, &b], lanes, registers);
}

/// Computes the high word of `(c, a) << shift`, plus `b`.
#[inline(always)]
pub(in crate::exec::native) fn shift_add_high(
    op: &Native,
    shift: u8,
    extend: bool,
    lanes: LaneMask,
    registers: &mut RegisterFile,
) {
    let shift = u32::from(shift) & 31;
    let (a, b) = (integer(registers, op.s[0]), integer(registers, op.s[1]));
    let c = match extend {
        true => a.map(|a| (a as i32 >> 31) as u32),
        false => integer(registers, op.s[2]),
    };
    // Two shifts of 32-bit words are faster than one of 64 bits; the shift may be 0.
    let high: Values = std::array::from_fn(|lane| c[lane] << shift | a[lane] >> 1 >> (31 - shift));
    sum_of_two(op, [&high, &b], lanes, registers);
}

/// Writes `a + b + q` and its carry.
#[inline(always)]
fn sum_of_two(op: &Native, [a, b]: [&Values; 2], lanes: LaneMask, registers: &mut RegisterFile) {
    let carry = ones(predicate(registers, op.q[0]));
    let first: Values = std::array::from_fn(|lane| a[lane].wrapping_add(b[lane]));
    if op.p[0].is_some() {
        let mut over: Values = std::array::from_fn(|lane| {
            let sum = first[lane].wrapping_add(carry[lane]);
            u32::from(first[lane] < a[lane]) + u32::from(sum < carry[lane])
        });
        count_negated_zero(&mut over, op.s[0], a);
        count_negated_zero(&mut over, op.s[1], b);
        let bits = lanes_where(|lane| over[lane] > 0);
        write_predicate(op, 0, lanes, registers, bits);
    }
    write(op, lanes, registers, |lane| first[lane].wrapping_add(carry[lane]));
}
