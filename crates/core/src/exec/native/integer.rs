//! Integer, logic and predicate instructions of machine code.

mod add;
mod bits;
mod compare;
mod multiply;
mod predicates;
mod shift;
mod video;

pub(super) use add::*;
pub(super) use bits::*;
pub(super) use compare::*;
pub(super) use multiply::*;
pub(super) use predicates::*;
pub(super) use shift::*;
pub(super) use video::*;

use super::rows::{
    Pairs, Values, common, integer, is_plain, join, lanes_where, ones, pair, pair_of, row, values,
    with_two, word, write, write_binary, write_pair, write_pairs, write_predicate, write_ternary,
    write_unary, write_words,
};
use crate::base::{LaneMask, MAX_LANES};
use crate::exec::RegisterFile;
use crate::exec::alu::is_in;
use crate::exec::lanes::{predicate, splat};
use crate::isa::Space;
use crate::kernel::{Native, Source};

/// Moves 32 bits.
#[inline(always)]
pub(in crate::exec::native) fn mov(op: &Native, lanes: LaneMask, registers: &mut RegisterFile) {
    write_unary(op, lanes, registers, |a| a);
}

/// Moves 64 bits.
pub(in crate::exec::native) fn mov_pair(
    op: &Native,
    lanes: LaneMask,
    registers: &mut RegisterFile,
) {
    let a = pair(registers, op.s[0]);
    write_pair(op, lanes, registers, &a);
}

/// Adds three 64-bit values.
pub(in crate::exec::native) fn add_pairs(
    op: &Native,
    lanes: LaneMask,
    registers: &mut RegisterFile,
) {
    let [a, b, c] = op.s.map(|s| pair(registers, s));
    let sum = std::array::from_fn(|l| a[l].wrapping_add(b[l]).wrapping_add(c[l]));
    write_pair(op, lanes, registers, &sum);
}

/// Selects one of two values.
#[inline(always)]
pub(in crate::exec::native) fn select(op: &Native, lanes: LaneMask, registers: &mut RegisterFile) {
    let (a, b) = (integer(registers, op.s[0]), integer(registers, op.s[1]));
    let chosen = predicate(registers, op.q[0]);
    write(op, lanes, registers, |lane| if chosen & 1 << lane != 0 { a[lane] } else { b[lane] });
}

/// Tests whether generic addresses are in a space.
pub(in crate::exec::native) fn in_space(
    op: &Native,
    space: Space,
    offset: i32,
    lanes: LaneMask,
    registers: &mut RegisterFile,
) {
    let addresses = pair(registers, op.s[0]);
    let within = |lane: usize| is_in(addresses[lane].wrapping_add_signed(offset.into()), space);
    let bits = lanes_where(within);
    write_predicate(op, 0, lanes, registers, bits);
}

/// Copies the value of the lowest active lane to all lanes, and finds the lanes with another one.
pub(in crate::exec::native) fn read_first(
    op: &Native,
    active: LaneMask,
    registers: &mut RegisterFile,
) {
    let a = integer(registers, op.s[0]);
    let Some(lane) = active.lowest() else { return };
    let value = a[lane as usize % MAX_LANES];
    let others = lanes_where(|lane| a[lane] != value) | predicate(registers, op.q[0]);
    write_predicate(op, 0, active, registers, others);
    if let Some(d) = op.d {
        splat(registers, d, LaneMask::FULL, value);
    }
}
