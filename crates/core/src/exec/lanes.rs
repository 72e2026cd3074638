//! The lane loop, written once.
//!
//! A row is a fixed array of 32 cells, so the loops have a constant length, no bounds checks, and
//! vectorise. The result row may be a source: eight lanes are read before their results are written
//! ([`fill_rows`]). Cheap functions compute all 32 lanes and keep the old value of inactive lanes.
//! Expensive ones (division, square roots, software rounding) visit only active lanes.

mod element;
mod vectors;

pub(super) use element::{Cell, Element};
pub use vectors::Vectors;
pub(crate) use vectors::vectorized;
pub(super) use vectors::vectorized_lanes;

use super::RegisterFile;
use super::aligned::AlignedRow;
use super::arith::float;
use crate::base::{LaneMask, MAX_LANES};
use crate::kernel::{Predicate, PredicateUse, Row};

/// Lanes of a vector of 32-bit cells with AVX2; two vectors with SSE2 or NEON.
const VECTOR: usize = 8;

/// The rows of a warp's registers.
pub(super) struct Rows<'a> {
    narrow: &'a mut [AlignedRow<u32>],
    wide: &'a mut [AlignedRow<u64>],
}

impl<'a> Rows<'a> {
    #[inline(always)]
    pub(super) fn of(registers: &'a mut RegisterFile) -> Rows<'a> {
        Rows { narrow: registers.narrow.as_mut_slice(), wide: registers.wide.as_mut_slice() }
    }
}

/// Sets `d[lane] = value(lane)` for `lanes`; computes `value` for all lanes.
#[inline(always)]
pub(super) fn fill<C: Cell>(d: &mut [C; MAX_LANES], lanes: LaneMask, value: impl Fn(usize) -> C) {
    if lanes == LaneMask::FULL {
        for (lane, cell) in d.iter_mut().enumerate() {
            *cell = value(lane);
        }
    } else {
        for (lane, cell) in d.iter_mut().enumerate() {
            let new = value(lane);
            *cell = if lanes.0 & (1 << lane) != 0 { new } else { *cell };
        }
    }
}

/// Sets `lanes` of row `d` to `value` of all rows and the lane; computes it for all lanes.
///
/// `value` reads no other lane.
#[inline(always)]
pub(super) fn fill_rows<C: Cell>(
    mut rows: Rows<'_>,
    d: Row,
    lanes: LaneMask,
    value: impl Fn(&Rows<'_>, usize) -> C,
) {
    for first in (0..MAX_LANES).step_by(VECTOR) {
        let mut new = [C::default(); VECTOR];
        for (i, new) in new.iter_mut().enumerate() {
            *new = value(&rows, first + i);
        }
        put(C::of_mut(&mut rows, d), first, lanes, new);
    }
}

/// As [`fill_rows`], for 64-bit values whose words go to narrow rows `d` and `d + 1`.
#[inline(always)]
pub(super) fn fill_pairs(
    mut rows: Rows<'_>,
    d: Row,
    lanes: LaneMask,
    value: impl Fn(&Rows<'_>, usize) -> u64,
) {
    if lanes.is_sparse() {
        for lane in lanes.lanes() {
            let lane = lane as usize & (MAX_LANES - 1);
            let new = value(&rows, lane);
            u32::of_mut(&mut rows, d)[lane] = new as u32;
            u32::of_mut(&mut rows, Row(d.0 + 1))[lane] = (new >> 32) as u32;
        }
        return;
    }
    for first in (0..MAX_LANES).step_by(VECTOR) {
        let mut new = [0; VECTOR];
        for (i, new) in new.iter_mut().enumerate() {
            *new = value(&rows, first + i);
        }
        put_pairs(&mut rows, d, first, lanes, &new);
    }
}

/// Returns the bits of `f64` results in [`VECTOR`] lanes from `first` on.
///
/// `near` computes them, `operands` tells those of a lane in the order of
/// [`float::canonical_double`], which only results that are not a number need.
#[inline(always)]
fn doubles(
    rows: &Rows<'_>,
    first: usize,
    near: &impl Fn(&Rows<'_>, usize) -> f64,
    operands: &impl Fn(&Rows<'_>, usize) -> [f64; 3],
) -> [u64; VECTOR] {
    let mut new = [0; VECTOR];
    for (i, new) in new.iter_mut().enumerate() {
        *new = near(rows, first + i).to_bits();
    }
    let is_nan = |bits: u64| float::is_nan_double(bits);
    if new.iter().fold(false, |any, &bits| any | is_nan(bits)) {
        for (i, new) in new.iter_mut().enumerate().filter(|(_, new)| is_nan(**new)) {
            *new = float::canonical_double(operands(rows, first + i)).to_bits();
        }
    }
    new
}

/// As [`fill_rows`], for [doubles] in wide row `d`.
#[inline(always)]
pub(super) fn fill_doubles(
    mut rows: Rows<'_>,
    d: Row,
    lanes: LaneMask,
    near: impl Fn(&Rows<'_>, usize) -> f64,
    operands: impl Fn(&Rows<'_>, usize) -> [f64; 3],
) {
    for first in (0..MAX_LANES).step_by(VECTOR) {
        let new = doubles(&rows, first, &near, &operands);
        put(u64::of_mut(&mut rows, d), first, lanes, new);
    }
}

/// As [`fill_pairs`], for [doubles].
#[inline(always)]
pub(super) fn fill_double_pairs(
    mut rows: Rows<'_>,
    d: Row,
    lanes: LaneMask,
    near: impl Fn(&Rows<'_>, usize) -> f64,
    operands: impl Fn(&Rows<'_>, usize) -> [f64; 3],
) {
    for first in (0..MAX_LANES).step_by(VECTOR) {
        let new = doubles(&rows, first, &near, &operands);
        put_pairs(&mut rows, d, first, lanes, &new);
    }
}

/// Writes the words of those of [`VECTOR`] lanes from `first` on that are in `lanes`.
#[inline(always)]
fn put_pairs(rows: &mut Rows<'_>, d: Row, first: usize, lanes: LaneMask, new: &[u64; VECTOR]) {
    let (mut low, mut high) = ([0; VECTOR], [0; VECTOR]);
    for (low, new) in low.iter_mut().zip(new) {
        *low = *new as u32;
    }
    put(u32::of_mut(rows, d), first, lanes, low);
    for (high, new) in high.iter_mut().zip(new) {
        *high = (*new >> 32) as u32;
    }
    put(u32::of_mut(rows, Row(d.0 + 1)), first, lanes, high);
}

/// Writes those of [`VECTOR`] lanes from `first` on that are in `lanes`.
#[inline(always)]
fn put<C: Cell>(d: &mut [C; MAX_LANES], first: usize, lanes: LaneMask, mut new: [C; VECTOR]) {
    if lanes != LaneMask::FULL {
        for (i, new) in new.iter_mut().enumerate() {
            let bit = 1 << (first + i);
            *new = C::choose(lanes.0 & bit == bit, *new, d[first + i]);
        }
    }
    d[first..first + VECTOR].copy_from_slice(&new);
}

/// Sets `d[lane] = value(lane)` for `lanes`; computes `value` only for them.
#[inline(always)]
pub(super) fn fill_each<C: Cell>(
    d: &mut [C; MAX_LANES],
    lanes: LaneMask,
    mut value: impl FnMut(usize) -> C,
) {
    if lanes == LaneMask::FULL {
        for (lane, cell) in d.iter_mut().enumerate() {
            *cell = value(lane);
        }
    } else {
        for lane in lanes.lanes() {
            d[lane as usize & (MAX_LANES - 1)] = value(lane as usize & (MAX_LANES - 1));
        }
    }
}

/// The registers and lanes of one element-wise instruction.
pub(super) struct Lanes<'a> {
    /// The warp's registers.
    pub(super) registers: &'a mut RegisterFile,
    /// The active lanes.
    pub(super) mask: LaneMask,
    /// True if the loop is compiled for AVX2.
    pub(super) wide: bool,
}

impl<'a> Lanes<'a> {
    /// Returns the lanes of an instruction whose loop is compiled for every processor.
    #[inline(always)]
    pub(super) fn of(registers: &'a mut RegisterFile, mask: LaneMask) -> Lanes<'a> {
        Lanes { registers, mask, wide: false }
    }
}

impl Lanes<'_> {
    #[inline(always)]
    fn source<A: Element>(&self, row: Row) -> [A::Cell; MAX_LANES] {
        *A::Cell::row(self.registers, row)
    }

    /// Returns one lane of a source.
    #[inline(always)]
    fn cell<A: Element>(&self, row: Row, lane: usize) -> A {
        A::get(A::Cell::row(self.registers, row)[lane])
    }

    /// Returns the value of a narrow row if all lanes agree.
    #[inline(always)]
    pub(super) fn uniform(&self, row: Row) -> Option<u32> {
        let row = u32::row(self.registers, row);
        // With a maximum, the loop vectorises as it stands; with `|` it becomes 32 comparisons.
        let difference = row.iter().fold(0, |most, cell| (cell ^ row[0]).max(most));
        (difference == 0).then_some(row[0])
    }

    #[inline(always)]
    fn result<D: Element>(&mut self, row: Row) -> &mut [D::Cell; MAX_LANES] {
        D::Cell::row_mut(self.registers, row)
    }

    /// Computes `d` of the first two or three `f64` sources by [`doubles`].
    #[inline(always)]
    pub(super) fn near_doubles(
        &mut self,
        d: Row,
        [a, b, c, _]: [Row; 4],
        near: impl Fn(f64, f64, f64) -> f64,
        operands: impl Fn(f64, f64, f64) -> [f64; 3],
    ) {
        let value = |rows: &Rows<'_>, row, lane: usize| f64::from_bits(u64::of(rows, row)[lane]);
        fill_doubles(
            Rows::of(self.registers),
            d,
            self.mask,
            #[inline(always)]
            |rows, lane| near(value(rows, a, lane), value(rows, b, lane), value(rows, c, lane)),
            |rows, lane| operands(value(rows, a, lane), value(rows, b, lane), value(rows, c, lane)),
        );
    }

    /// Computes `d = f(a, b, c, e)`; only `bfi` has four sources, the last two narrow.
    #[inline(always)]
    pub(super) fn quaternary<A: Element>(
        &mut self,
        d: Row,
        [a, b, c, e]: [Row; 4],
        f: impl Fn(A, A, u32, u32) -> A,
    ) {
        let (mask, a, b) = (self.mask, self.source::<A>(a), self.source::<A>(b));
        let (c, e) = (self.source::<u32>(c), self.source::<u32>(e));
        fill(self.result::<A>(d), mask, |l| f(A::get(a[l]), A::get(b[l]), c[l], e[l]).put());
    }
}

impl Lanes<'_> {
    /// Computes `d = {e, c, b, a}`, four 16-bit values in 64 bits.
    pub(super) fn pack_four(&mut self, d: Row, s: [Row; 4]) {
        let (mask, s) = (self.mask, s.map(|row| self.source::<u16>(row)));
        fill(self.result::<u64>(d), mask, |l| {
            (0..4).fold(0, |all, i| all | u64::from(s[i][l] & 0xffff) << (16 * i))
        });
    }

    /// Computes `d = {e, c, b, a}`, four bytes in 32 bits.
    pub(super) fn pack_bytes(&mut self, d: Row, s: [Row; 4]) {
        let (mask, s) = (self.mask, s.map(|row| self.source::<u8>(row)));
        fill(self.result::<u32>(d), mask, |l| {
            (0..4).fold(0, |all, i| all | (s[i][l] & 0xff) << (8 * i))
        });
    }
}
/// Defines the loops over one, two and three source rows.
/// If `$some` is true, some lanes are visited one by one; a lane's result depends on no other lane,
/// so nothing is copied first.
macro_rules! loops {
    (|$on:ident| $some:expr;
     $($name:ident($($s:ident: $S:ident),+) of [$($pattern:tt)+]),+ $(,)?) => {
        impl Lanes<'_> {
            $(
            /// Computes `d = f(a, ..)`.
            #[inline(always)]
            pub(super) fn $name<$($S: Element,)+ D: Element>(
                &mut self,
                d: Row,
                [$($pattern)+]: [Row; 4],
                f: impl Fn($($S),+) -> D,
            ) {
                let $on = &*self;
                let (mask, some) = ($on.mask, $some);
                if some && mask != LaneMask::FULL {
                    for lane in mask.lanes() {
                        let lane = lane as usize & (MAX_LANES - 1);
                        let value = f($(self.cell::<$S>($s, lane)),+).put();
                        self.result::<D>(d)[lane] = value;
                    }
                    return;
                }
                fill_rows(
                    Rows::of(self.registers),
                    d,
                    mask,
                    #[inline(always)]
                    |rows, lane| f($($S::get($S::Cell::of(rows, $s)[lane])),+).put(),
                );
            }
            )+
        }
    };
}
loops!(
    |on| !D::Cell::BLENDS && !on.wide;
    unary(a: A) of [a, ..],
    binary(a: A, b: B) of [a, b, ..],
    ternary(a: A, b: B, c: C) of [a, b, c, _]
);
loops!(
    |on| false;
    binary_long(a: A, b: B) of [a, b, ..],
    ternary_long(a: A, b: B, c: C) of [a, b, c, _]
);
loops!(
    |on| true;
    unary_each(a: A) of [a, ..],
    binary_each(a: A, b: B) of [a, b, ..],
    ternary_each(a: A, b: B, c: C) of [a, b, c, _]
);

/// Returns the lanes (of all 32) for which `f(a, b)` holds.
#[inline(always)]
pub(super) fn test<A: Element>(
    registers: &RegisterFile,
    a: Row,
    b: Row,
    f: impl Fn(A, A) -> bool,
) -> u32 {
    let (a, b) = (A::Cell::row(registers, a), A::Cell::row(registers, b));
    lanes_where(|lane| f(A::get(a[lane]), A::get(b[lane])))
}

/// Bit of each lane.
static BITS: [u32; MAX_LANES] = {
    let mut bits = [0; MAX_LANES];
    let mut lane = 0;
    while lane < MAX_LANES {
        bits[lane] = 1 << lane;
        lane += 1;
    }
    bits
};

/// Returns the lanes for which `test` holds.
///
/// With bits from a table, vector units compare several lanes at a time, whatever is done with the
/// result.
#[inline(always)]
pub(super) fn lanes_where(test: impl Fn(usize) -> bool) -> u32 {
    let mut all = 0;
    for (lane, &bit) in BITS.iter().enumerate() {
        all |= if test(lane) { bit } else { 0 };
    }
    all
}

/// Returns a predicate operand as a mask of all 32 lanes.
#[inline(always)]
pub(super) fn predicate(registers: &RegisterFile, p: PredicateUse) -> u32 {
    let bits = registers.predicates[usize::from(p.predicate.0)];
    if p.negated { !bits } else { bits }
}

/// Writes a predicate for `lanes`.
#[inline(always)]
pub(super) fn set_predicate(
    registers: &mut RegisterFile,
    p: Predicate,
    lanes: LaneMask,
    bits: u32,
) {
    let old = &mut registers.predicates[usize::from(p.0)];
    *old = (*old & !lanes.0) | (bits & lanes.0);
}

/// Writes one value to `lanes` of a narrow row.
#[inline(always)]
pub(super) fn splat(registers: &mut RegisterFile, d: Row, lanes: LaneMask, value: u32) {
    fill(u32::row_mut(registers, d), lanes, |_| value);
}

#[cfg(test)]
mod tests;
