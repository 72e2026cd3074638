//! Operands of machine instructions: sources with their modifiers, results, predicates.
//!
//! The loops over lanes have a constant length and no bounds checks, so that they vectorise.

use crate::base::{LaneMask, MAX_LANES};
use crate::exec::RegisterFile;
use crate::exec::lanes::{fill, set_predicate};
use crate::kernel::{Native, Source};

/// Values of one source in all lanes.
pub(super) type Values = [u32; MAX_LANES];
/// Values of one 64-bit source in all lanes.
pub(super) type Pairs = [u64; MAX_LANES];

/// Reads a 32-bit integer source with its modifiers.
#[inline(always)]
pub(super) fn integer(registers: &RegisterFile, source: Source) -> Values {
    let mut values = registers.narrow[usize::from(source.row.0)];
    if source.invert {
        values.iter_mut().for_each(|value| *value = !*value);
    }
    if source.negate {
        values.iter_mut().for_each(|value| *value = value.wrapping_neg());
    }
    values
}

/// Reads a 64-bit integer source with its modifiers.
#[inline(always)]
pub(super) fn pair(registers: &RegisterFile, source: Source) -> Pairs {
    let row = usize::from(source.row.0);
    let mut values = join(&registers.narrow[row], &registers.narrow[row + 1]);
    if source.invert {
        values.iter_mut().for_each(|value| *value = !*value);
    }
    if source.negate {
        values.iter_mut().for_each(|value| *value = value.wrapping_neg());
    }
    values
}

/// Returns the 64-bit values of low and high words.
#[inline(always)]
pub(super) fn join(low: &Values, high: &Values) -> Pairs {
    let mut pairs = [0; MAX_LANES];
    for (pair, (&low, &high)) in pairs.iter_mut().zip(low.iter().zip(high)) {
        *pair = u64::from(high) << 32 | u64::from(low);
    }
    pairs
}

/// Returns a row without a copy of it.
#[inline(always)]
fn row(registers: &RegisterFile, source: Source) -> &Values {
    &registers.narrow[usize::from(source.row.0)]
}

/// Returns true if an integer source has no modifiers.
#[inline(always)]
fn is_plain(source: Source) -> bool {
    !(source.negate | source.invert)
}

/// Calls `f` with two sources. Those without modifiers are not copied.
#[inline(always)]
pub(super) fn with_two<T>(
    op: &Native,
    registers: &RegisterFile,
    f: impl FnOnce(&Values, &Values) -> T,
) -> T {
    let [a, b, _] = op.s;
    let (x, y);
    let (a, b) = if is_plain(a) && is_plain(b) {
        (row(registers, a), row(registers, b))
    } else {
        (x, y) = (integer(registers, a), integer(registers, b));
        (&x, &y)
    };
    f(a, b)
}

/// Writes a function of one source.
#[inline(always)]
pub(super) fn write_unary(
    op: &Native,
    lanes: LaneMask,
    registers: &mut RegisterFile,
    f: impl Fn(u32) -> u32,
) {
    let mut values = integer(registers, op.s[0]);
    values.iter_mut().for_each(|value| *value = f(*value));
    write(op, lanes, registers, |lane| values[lane]);
}

/// Writes a function of two sources.
#[inline(always)]
pub(super) fn write_binary(
    op: &Native,
    lanes: LaneMask,
    registers: &mut RegisterFile,
    f: impl Fn(u32, u32) -> u32,
) {
    let values = with_two(op, registers, |a, b| {
        let mut values = *a;
        values.iter_mut().zip(b).for_each(|(value, &b)| *value = f(*value, b));
        values
    });
    write(op, lanes, registers, |lane| values[lane]);
}

/// Writes a function of three sources.
#[inline(always)]
pub(super) fn write_ternary(
    op: &Native,
    lanes: LaneMask,
    registers: &mut RegisterFile,
    f: impl Fn(u32, u32, u32) -> u32,
) {
    let [a, b, c] = op.s;
    let copies;
    let [a, b, c] = if is_plain(a) && is_plain(b) && is_plain(c) {
        [row(registers, a), row(registers, b), row(registers, c)]
    } else {
        copies = op.s.map(|source| integer(registers, source));
        [&copies[0], &copies[1], &copies[2]]
    };
    let mut values = *a;
    for (value, (&b, &c)) in values.iter_mut().zip(b.iter().zip(c)) {
        *value = f(*value, b, c);
    }
    write(op, lanes, registers, |lane| values[lane]);
}

/// Writes the 32-bit result of `lanes`, unless it is RZ.
#[inline(always)]
pub(super) fn write(
    op: &Native,
    lanes: LaneMask,
    registers: &mut RegisterFile,
    value: impl Fn(usize) -> u32,
) {
    if let Some(d) = op.d {
        fill(&mut registers.narrow[usize::from(d.0)], lanes, value);
    }
}

/// Writes the 64-bit result of `lanes`, unless it is RZ.
#[inline(always)]
pub(super) fn write_pair(
    op: &Native,
    lanes: LaneMask,
    registers: &mut RegisterFile,
    values: &Pairs,
) {
    if let Some(d) = op.d {
        let d = usize::from(d.0);
        fill(&mut registers.narrow[d], lanes, |lane| values[lane] as u32);
        fill(&mut registers.narrow[d + 1], lanes, |lane| (values[lane] >> 32) as u32);
    }
}

/// Writes predicate result `i` of `lanes`, unless it is PT.
#[inline(always)]
pub(super) fn write_predicate(
    op: &Native,
    i: usize,
    lanes: LaneMask,
    registers: &mut RegisterFile,
    bits: u32,
) {
    if let Some(p) = op.p[i] {
        set_predicate(registers, p, lanes, bits);
    }
}

/// Returns the lanes for which `test` holds.
///
/// With all words in an array first, vector units compare four lanes at a time.
#[inline(always)]
pub(super) fn lanes_where(test: impl Fn(usize) -> bool) -> u32 {
    let mut words = [0_u32; MAX_LANES];
    for (lane, word) in words.iter_mut().enumerate() {
        *word = if test(lane) { 1 << lane } else { 0 };
    }
    words.iter().fold(0, |all, word| all | word)
}

/// Returns 1 in the lanes of a mask, 0 in others.
#[inline(always)]
pub(super) fn ones(bits: u32) -> Values {
    std::array::from_fn(|lane| u32::from(bits & 1 << lane != 0))
}

/// Returns the value of `lanes` if they agree.
#[inline(always)]
pub(super) fn common(values: &Values, lanes: LaneMask) -> Option<u32> {
    let first = values[lanes.lowest()? as usize % MAX_LANES];
    if lanes == LaneMask::FULL {
        let difference = values.iter().fold(0, |all, value| all | (value ^ first));
        return (difference == 0).then_some(first);
    }
    (lanes.0 & !lanes_where(|lane| values[lane] == first) == 0).then_some(first)
}
