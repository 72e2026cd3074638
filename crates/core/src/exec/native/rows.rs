//! Operands of machine instructions: sources with their modifiers, results, predicates.
//!
//! The loops over lanes have a constant length and no bounds checks, so that they vectorise.

use crate::base::{LaneMask, MAX_LANES};
use crate::exec::RegisterFile;
pub(super) use crate::exec::lanes::lanes_where;
use crate::exec::lanes::{Cell, Rows, fill, fill_pairs, fill_rows, set_predicate};
use crate::kernel::{Native, Row, Source};

/// Values of one source in all lanes.
pub(super) type Values = [u32; MAX_LANES];
/// Values of one 64-bit source in all lanes.
pub(super) type Pairs = [u64; MAX_LANES];

/// Returns the values of a function of the lane.
///
/// A loop, since functions of the standard library on arrays are not compiled for AVX2 with it.
#[inline(always)]
pub(super) fn values<T: Copy + Default>(value: impl Fn(usize) -> T) -> [T; MAX_LANES] {
    let mut values = [T::default(); MAX_LANES];
    for (lane, cell) in values.iter_mut().enumerate() {
        *cell = value(lane);
    }
    values
}

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
pub(super) fn row(registers: &RegisterFile, source: Source) -> &Values {
    &registers.narrow[usize::from(source.row.0)]
}

/// Returns true if an integer source has no modifiers.
#[inline(always)]
pub(super) fn is_plain(source: Source) -> bool {
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

/// Modifiers of a source as numbers: `-~x` is `(x ^ flip) - minus`.
#[derive(Clone, Copy)]
struct Modified {
    row: Row,
    flip: u32,
    minus: u32,
}

impl Modified {
    #[inline(always)]
    fn new(source: Source) -> Modified {
        let minus = u32::from(source.negate).wrapping_neg();
        let flip = u32::from(source.invert).wrapping_neg() ^ minus;
        Modified { row: source.row, flip, minus }
    }

    #[inline(always)]
    fn of(self, rows: &Rows<'_>, lane: usize) -> u32 {
        (u32::of(rows, self.row)[lane] ^ self.flip).wrapping_sub(self.minus)
    }
}

/// Defines functions that write a function of some sources.
///
/// Sources without modifiers, which are the most, have a loop of their own.
macro_rules! functions {
    ($($name:ident of [$($s:ident = $at:literal: $word:ty),+]),+ $(,)?) => {$(
        /// Writes a function of the sources.
        #[inline(always)]
        pub(super) fn $name(
            op: &Native,
            lanes: LaneMask,
            registers: &mut RegisterFile,
            f: impl Fn($($word),+) -> u32,
        ) {
            let Some(d) = op.d else { return };
            let rows = Rows::of(registers);
            if $(is_plain(op.s[$at]))&&+ {
                $(let $s = op.s[$at].row;)+
                fill_rows(
                    rows,
                    d,
                    lanes,
                    #[inline(always)]
                    |rows, lane| f($(word(rows, $s, lane)),+),
                );
            } else {
                $(let $s = Modified::new(op.s[$at]);)+
                fill_rows(
                    rows,
                    d,
                    lanes,
                    #[inline(always)]
                    |rows, lane| f($($s.of(rows, lane)),+),
                );
            }
        }
    )+};
}
functions!(
    write_unary of [a = 0: u32],
    write_binary of [a = 0: u32, b = 1: u32],
    write_ternary of [a = 0: u32, b = 1: u32, c = 2: u32],
);

/// Returns one lane of a row.
#[inline(always)]
pub(super) fn word(rows: &Rows<'_>, row: Row, lane: usize) -> u32 {
    u32::of(rows, row)[lane]
}

/// Returns one lane of a pair of rows.
#[inline(always)]
pub(super) fn pair_of(rows: &Rows<'_>, low: Row, lane: usize) -> u64 {
    u64::from(word(rows, Row(low.0 + 1), lane)) << 32 | u64::from(word(rows, low, lane))
}

/// Writes a 32-bit function of all rows and the lane, unless the result is RZ.
///
/// It reads no other lane.
#[inline(always)]
pub(super) fn write_words(
    op: &Native,
    lanes: LaneMask,
    registers: &mut RegisterFile,
    value: impl Fn(&Rows<'_>, usize) -> u32,
) {
    if let Some(d) = op.d {
        fill_rows(Rows::of(registers), d, lanes, value);
    }
}

/// As [`write_words`], of 64 bits.
#[inline(always)]
pub(super) fn write_pairs(
    op: &Native,
    lanes: LaneMask,
    registers: &mut RegisterFile,
    value: impl Fn(&Rows<'_>, usize) -> u64,
) {
    if let Some(d) = op.d {
        fill_pairs(Rows::of(registers), d, lanes, value);
    }
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
