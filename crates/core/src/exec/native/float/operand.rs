//! Operands of float instructions: rows of f32, pairs of rows of f64, and their signs.

use crate::base::{LaneMask, MAX_LANES};
use crate::exec::arith::float::Float;
use crate::exec::lanes::{Rows, fill, fill_double_pairs, fill_rows, vectorized};
use crate::exec::native::rows::{common, pair_of, word};
use crate::exec::{AlignedRows, RegisterFile};
use crate::kernel::{self, Native, Source};

/// Values of one operand in all lanes.
pub(super) type Row<T> = [T; MAX_LANES];

/// An instruction, its lanes, and the warp's registers.
pub(super) struct Lanes<'a> {
    /// The instruction.
    pub op: &'a Native,
    /// The active lanes.
    pub lanes: LaneMask,
    /// The warp's registers.
    pub registers: &'a mut RegisterFile,
}

impl Lanes<'_> {
    fn row(&self, row: kernel::Row) -> &Row<u32> {
        &self.registers.narrow[usize::from(row.0)]
    }

    /// Returns a source as it is in the register.
    #[inline(always)]
    pub(super) fn raw(&self, source: usize) -> Row<u32> {
        *self.row(self.op.s[source].row)
    }

    /// Returns the low and the high words of a 64-bit source.
    #[inline(always)]
    pub(super) fn raw_pair(&self, source: usize) -> Row<u64> {
        let row = self.op.s[source].row;
        let (low, high) = (self.row(row), self.row(kernel::Row(row.0 + 1)));
        let mut values = [0; MAX_LANES];
        for (value, (low, high)) in values.iter_mut().zip(low.iter().zip(high)) {
            *value = joined(*low, *high);
        }
        values
    }

    /// Writes the 32-bit result of the active lanes, unless it is RZ.
    #[inline(always)]
    pub(super) fn write_bits(&mut self, value: impl Fn(usize) -> u32) {
        let Some(d) = self.op.d else { return };
        let vectors = self.registers.vectors;
        let (row, lanes) = (&mut self.registers.narrow[usize::from(d.0)], self.lanes);
        vectorized(
            vectors,
            #[inline(always)]
            move |_| {
                let mut new = *row;
                for (lane, cell) in new.iter_mut().enumerate() {
                    *cell = value(lane);
                }
                fill(row, lanes, |lane| new[lane]);
            },
        );
    }

    /// As [`Lanes::write_bits`]; computes active lanes only.
    #[inline(always)]
    pub(super) fn write_bits_each(&mut self, value: impl Fn(usize) -> u32) {
        let new = self.each(value);
        self.write_bits(|lane| new[lane]);
    }

    /// As [`Lanes::write_bits_each`], for an expensive function of one row.
    ///
    /// It is computed once if the active lanes agree, as they do on a uniform operand.
    #[inline(always)]
    pub(super) fn write_function(&mut self, a: &Row<u32>, value: impl Fn(u32) -> u32) {
        match common(a, self.lanes) {
            Some(a) => {
                let new = value(a);
                self.write_bits(|_| new);
            }
            None if self.lanes == LaneMask::FULL => self.write_bits(|lane| value(a[lane])),
            None => self.write_bits_each(|lane| value(a[lane])),
        }
    }

    /// Writes the 64-bit result of the active lanes, unless it is RZ.
    #[inline(always)]
    pub(super) fn write_pair(&mut self, value: impl Fn(usize) -> u64) {
        let Some(d) = self.op.d else { return };
        let vectors = self.registers.vectors;
        let (narrow, lanes, d) = (&mut self.registers.narrow, self.lanes, usize::from(d.0));
        vectorized(
            vectors,
            #[inline(always)]
            move |_| {
                let mut new = [0_u64; MAX_LANES];
                for (lane, cell) in new.iter_mut().enumerate() {
                    *cell = value(lane);
                }
                fill_pair(narrow, d, lanes, &new);
            },
        );
    }

    /// As [`Lanes::write_pair`]; computes active lanes only.
    #[inline(always)]
    pub(super) fn write_pair_each(&mut self, value: impl Fn(usize) -> u64) {
        let new = self.each(value);
        self.write_pair(|lane| new[lane]);
    }

    /// Returns the values of the active lanes; 0 elsewhere.
    #[inline(always)]
    fn each<T: Default + Copy>(&self, value: impl Fn(usize) -> T) -> Row<T> {
        let mut new = [T::default(); MAX_LANES];
        for (lane, cell) in new.iter_mut().enumerate() {
            if self.lanes.0 >> lane & 1 != 0 {
                *cell = value(lane);
            }
        }
        new
    }
}

/// Writes a function of three f32 sources, of which it may ignore some; computes all lanes.
#[inline(always)]
pub(super) fn write_singles(
    op: &Native,
    lanes: LaneMask,
    registers: &mut RegisterFile,
    f: impl Fn([f32; 3]) -> f32,
) {
    let Some(d) = op.d else { return };
    let [a, b, c] = [Signed::new(op.s[0]), Signed::new(op.s[1]), Signed::new(op.s[2])];
    fill_rows(
        Rows::of(registers),
        d,
        lanes,
        #[inline(always)]
        |rows, lane| f([a.of(rows, lane), b.of(rows, lane), c.of(rows, lane)]).to_bits(),
    );
}

/// Writes a function of three f64 sources, of which it may ignore some; computes all lanes.
///
/// `near` is its result if that is a number; `operands` are those of other results, in the order of
/// [`canonical_double`](crate::exec::arith::float::canonical_double).
#[inline(always)]
pub(super) fn write_doubles(
    op: &Native,
    lanes: LaneMask,
    registers: &mut RegisterFile,
    near: impl Fn([f64; 3], usize) -> f64,
    operands: impl Fn([f64; 3]) -> [f64; 3],
) {
    let Some(d) = op.d else { return };
    let [a, b, c] = [SignedPair::new(op.s[0]), SignedPair::new(op.s[1]), SignedPair::new(op.s[2])];
    fill_double_pairs(
        Rows::of(registers),
        d,
        lanes,
        #[inline(always)]
        |rows, lane| near([a.number(rows, lane), b.number(rows, lane), c.number(rows, lane)], lane),
        |rows, lane| operands([a, b, c].map(|s| s.of(pair_of(rows, s.row, lane)))),
    );
}

#[inline(always)]
fn joined(low: u32, high: u32) -> u64 {
    u64::from(low) | u64::from(high) << 32
}

/// Writes the low and the high words of the active lanes to rows `d` and `d + 1`.
#[inline(always)]
fn fill_pair(narrow: &mut AlignedRows<u32>, d: usize, lanes: LaneMask, new: &Row<u64>) {
    fill(&mut narrow[d], lanes, |lane| new[lane] as u32);
    fill(&mut narrow[d + 1], lanes, |lane| (new[lane] >> 32) as u32);
}

/// Returns a 32-bit source with the signs of its float applied, also to NaN.
#[inline(always)]
pub(super) fn bits(on: &Lanes<'_>, source: usize) -> Row<u32> {
    let mut values = on.raw(source);
    if on.op.s[source].absolute {
        values.iter_mut().for_each(|value| *value &= 0x7fff_ffff);
    }
    if on.op.s[source].negate {
        values.iter_mut().for_each(|value| *value ^= 0x8000_0000);
    }
    values
}

/// Signs of an f32 source as masks of its bits.
#[derive(Clone, Copy)]
struct Signed {
    row: kernel::Row,
    kept: u32,
    flipped: u32,
}

impl Signed {
    #[inline(always)]
    fn new(source: Source) -> Signed {
        Signed {
            row: source.row,
            kept: if source.absolute { 0x7fff_ffff } else { u32::MAX },
            flipped: if source.negate { 0x8000_0000 } else { 0 },
        }
    }

    #[inline(always)]
    fn of(self, rows: &Rows<'_>, lane: usize) -> f32 {
        f32::from_bits(word(rows, self.row, lane) & self.kept ^ self.flipped)
    }
}

/// Signs of an f64 source as masks of its bits.
#[derive(Clone, Copy)]
struct SignedPair {
    /// Row of the low words.
    row: kernel::Row,
    kept: u64,
    flipped: u64,
}

impl SignedPair {
    #[inline(always)]
    fn new(source: Source) -> SignedPair {
        const SIGN: u64 = 1 << 63;
        SignedPair {
            row: source.row,
            kept: if source.absolute { !SIGN } else { u64::MAX },
            flipped: if source.negate { SIGN } else { 0 },
        }
    }

    /// Returns the value in a lane, which is a number or gives no number.
    #[inline(always)]
    fn number(self, rows: &Rows<'_>, lane: usize) -> f64 {
        f64::from_bits(pair_of(rows, self.row, lane) & self.kept ^ self.flipped)
    }

    /// Returns the value of a source's bits. A NaN keeps its sign, as in `neg.f64` and `sub.f64`.
    #[inline(always)]
    fn of(self, bits: u64) -> f64 {
        let value = f64::from_bits(bits);
        if value.is_nan() { value } else { f64::from_bits(bits & self.kept ^ self.flipped) }
    }
}

/// A float in one row or in two.
pub(super) trait Operand: Float {
    /// Reads a source and applies its signs.
    fn read(on: &Lanes<'_>, source: usize) -> Row<Self>;
    /// Writes the result of the active lanes; computes all lanes.
    fn write(on: &mut Lanes<'_>, value: impl Fn(usize) -> Self);
    /// Writes the result of the active lanes; computes active lanes only.
    fn write_each(on: &mut Lanes<'_>, value: impl Fn(usize) -> Self);
}

impl Operand for f32 {
    #[inline(always)]
    fn read(on: &Lanes<'_>, source: usize) -> Row<f32> {
        bits(on, source).map(f32::from_bits)
    }
    #[inline(always)]
    fn write(on: &mut Lanes<'_>, value: impl Fn(usize) -> f32) {
        on.write_bits(|lane| value(lane).to_bits());
    }
    #[inline(always)]
    fn write_each(on: &mut Lanes<'_>, value: impl Fn(usize) -> f32) {
        on.write_bits_each(|lane| value(lane).to_bits());
    }
}

impl Operand for f64 {
    #[inline(always)]
    fn read(on: &Lanes<'_>, source: usize) -> Row<f64> {
        let signed = SignedPair::new(on.op.s[source]);
        on.raw_pair(source).map(|bits| signed.of(bits))
    }
    #[inline(always)]
    fn write(on: &mut Lanes<'_>, value: impl Fn(usize) -> f64) {
        on.write_pair(|lane| value(lane).to_bits());
    }
    #[inline(always)]
    fn write_each(on: &mut Lanes<'_>, value: impl Fn(usize) -> f64) {
        on.write_pair_each(|lane| value(lane).to_bits());
    }
}
