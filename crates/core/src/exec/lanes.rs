//! The lane loop, written once.
//!
//! A row is a fixed array of 32 cells, so the loops have a constant length, no bounds checks, and
//! vectorise. The results of all lanes are computed before one is written, because the result row
//! may be a source. Cheap functions compute all 32 lanes and keep the old value of inactive lanes
//! ([`fill`]). Expensive ones (division, square roots, software rounding) visit only active lanes.

use super::RegisterFile;
use super::arith::half::{Brain, Half};
use crate::base::{LaneMask, MAX_LANES};
use crate::kernel::{Predicate, PredicateUse, Row};

/// The cell of one lane in a row: 32 or 64 bits.
pub(super) trait Cell: Copy {
    /// True if vector units select lanes of this width by mask.
    /// This must hold on every processor (SSE2, NEON). If not, visiting lanes one by one is faster
    /// for some masks.
    const BLENDS: bool;
    /// Returns the row of this width.
    fn row(registers: &RegisterFile, row: Row) -> &[Self; MAX_LANES];
    /// Returns the row of this width, writable.
    fn row_mut(registers: &mut RegisterFile, row: Row) -> &mut [Self; MAX_LANES];
}

impl Cell for u32 {
    const BLENDS: bool = true;
    #[inline(always)]
    fn row(registers: &RegisterFile, row: Row) -> &[u32; MAX_LANES] {
        &registers.narrow[usize::from(row.0)]
    }
    #[inline(always)]
    fn row_mut(registers: &mut RegisterFile, row: Row) -> &mut [u32; MAX_LANES] {
        &mut registers.narrow[usize::from(row.0)]
    }
}

impl Cell for u64 {
    const BLENDS: bool = false;
    #[inline(always)]
    fn row(registers: &RegisterFile, row: Row) -> &[u64; MAX_LANES] {
        &registers.wide[usize::from(row.0)]
    }
    #[inline(always)]
    fn row_mut(registers: &mut RegisterFile, row: Row) -> &mut [u64; MAX_LANES] {
        &mut registers.wide[usize::from(row.0)]
    }
}

/// A scalar that lives in a cell.
/// 8- and 16-bit values are truncated when read and zero-extended when written, so the bits above
/// their width never matter.
pub(super) trait Element: Copy {
    /// The cell it lives in.
    type Cell: Cell;
    /// Reads the value from a cell.
    fn get(cell: Self::Cell) -> Self;
    /// Returns the cell that holds the value.
    fn put(self) -> Self::Cell;
}

macro_rules! integer_elements {
    ($($t:ident unsigned $u:ident in $cell:ident),+ $(,)?) => {$(
        impl Element for $t {
            type Cell = $cell;
            #[inline(always)]
            fn get(cell: $cell) -> $t {
                cell as $t
            }
            #[inline(always)]
            fn put(self) -> $cell {
                self as $u as $cell
            }
        }
    )+};
}
integer_elements!(
    u8 unsigned u8 in u32,
    i8 unsigned u8 in u32,
    u16 unsigned u16 in u32,
    i16 unsigned u16 in u32,
    u32 unsigned u32 in u32,
    i32 unsigned u32 in u32,
    u64 unsigned u64 in u64,
    i64 unsigned u64 in u64,
);

impl Element for f32 {
    type Cell = u32;
    #[inline(always)]
    fn get(cell: u32) -> f32 {
        f32::from_bits(cell)
    }
    #[inline(always)]
    fn put(self) -> u32 {
        self.to_bits()
    }
}

impl Element for f64 {
    type Cell = u64;
    #[inline(always)]
    fn get(cell: u64) -> f64 {
        f64::from_bits(cell)
    }
    #[inline(always)]
    fn put(self) -> u64 {
        self.to_bits()
    }
}

impl Element for Half {
    type Cell = u32;
    #[inline(always)]
    fn get(cell: u32) -> Half {
        Half(cell as u16)
    }
    #[inline(always)]
    fn put(self) -> u32 {
        self.0.into()
    }
}

impl Element for Brain {
    type Cell = u32;
    #[inline(always)]
    fn get(cell: u32) -> Brain {
        Brain(cell as u16)
    }
    #[inline(always)]
    fn put(self) -> u32 {
        self.0.into()
    }
}

/// Two 16-bit values, the first in the low half.
impl<T: Element<Cell = u32>> Element for [T; 2] {
    type Cell = u32;
    #[inline(always)]
    fn get(cell: u32) -> [T; 2] {
        [T::get(cell & 0xffff), T::get(cell >> 16)]
    }
    #[inline(always)]
    fn put(self) -> u32 {
        self[0].put() & 0xffff | self[1].put() << 16
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

/// Writes `lanes` of a row.
#[inline(always)]
fn write<C: Cell>(d: &mut [C; MAX_LANES], lanes: LaneMask, values: &[C; MAX_LANES]) {
    fill(d, lanes, |lane| values[lane]);
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
        let difference = row.iter().fold(0, |all, cell| all | (cell ^ row[0]));
        (difference == 0).then_some(row[0])
    }

    #[inline(always)]
    fn result<D: Element>(&mut self, row: Row) -> &mut [D::Cell; MAX_LANES] {
        D::Cell::row_mut(self.registers, row)
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
    ($some:expr;
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
                let mask = self.mask;
                if $some && mask != LaneMask::FULL {
                    for lane in mask.lanes() {
                        let lane = lane as usize & (MAX_LANES - 1);
                        let value = f($(self.cell::<$S>($s, lane)),+).put();
                        self.result::<D>(d)[lane] = value;
                    }
                    return;
                }
                // The result row may be a source: it changes at the end.
                let values: [D::Cell; MAX_LANES] = {
                    $(let $s = $S::Cell::row(self.registers, $s);)+
                    std::array::from_fn(|l| f($($S::get($s[l])),+).put())
                };
                write(self.result::<D>(d), mask, &values);
            }
            )+
        }
    };
}
loops!(
    !D::Cell::BLENDS;
    unary(a: A) of [a, ..],
    binary(a: A, b: B) of [a, b, ..],
    ternary(a: A, b: B, c: C) of [a, b, c, _]
);
loops!(
    false;
    binary_long(a: A, b: B) of [a, b, ..],
    ternary_long(a: A, b: B, c: C) of [a, b, c, _]
);
loops!(
    true;
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
    let mut bits = 0;
    for lane in 0..MAX_LANES {
        bits |= if f(A::get(a[lane]), A::get(b[lane])) { 1u32 << lane } else { 0 };
    }
    bits
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
