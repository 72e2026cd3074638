//! Cells of a row, and elements of a type in them.

use super::Rows;
use crate::base::MAX_LANES;
use crate::exec::RegisterFile;
use crate::exec::arith::half::{Brain, Half};
use crate::kernel::Row;

/// The cell of one lane in a row: 32 or 64 bits.
pub(in crate::exec) trait Cell: Copy + Default {
    /// True if the vector units of every processor (SSE2, NEON) select lanes of this width by mask.
    /// If not, and without AVX2, visiting lanes one by one is faster for some masks.
    const BLENDS: bool;
    /// Returns the row of this width.
    fn row(registers: &RegisterFile, row: Row) -> &[Self; MAX_LANES];
    /// Returns the row of this width, writable.
    fn row_mut(registers: &mut RegisterFile, row: Row) -> &mut [Self; MAX_LANES];
    /// Returns the row of this width.
    fn of<'a>(rows: &'a Rows<'_>, row: Row) -> &'a [Self; MAX_LANES];
    /// Returns the row of this width, writable.
    fn of_mut<'a>(rows: &'a mut Rows<'_>, row: Row) -> &'a mut [Self; MAX_LANES];
    /// Returns `new` if `chosen`, else `old`, without a branch.
    fn choose(chosen: bool, new: Self, old: Self) -> Self;
}

macro_rules! cells {
    ($($cell:ident in $file:ident blends $blends:literal),+) => {$(
        impl Cell for $cell {
            const BLENDS: bool = $blends;
            #[inline(always)]
            fn row(registers: &RegisterFile, row: Row) -> &[$cell; MAX_LANES] {
                &registers.$file[usize::from(row.0)]
            }
            #[inline(always)]
            fn row_mut(registers: &mut RegisterFile, row: Row) -> &mut [$cell; MAX_LANES] {
                &mut registers.$file[usize::from(row.0)]
            }
            #[inline(always)]
            fn of<'a>(rows: &'a Rows<'_>, row: Row) -> &'a [$cell; MAX_LANES] {
                &rows.$file[usize::from(row.0)].0
            }
            #[inline(always)]
            fn of_mut<'a>(rows: &'a mut Rows<'_>, row: Row) -> &'a mut [$cell; MAX_LANES] {
                &mut rows.$file[usize::from(row.0)].0
            }
            #[inline(always)]
            fn choose(chosen: bool, new: $cell, old: $cell) -> $cell {
                old ^ (old ^ new) & $cell::from(chosen).wrapping_neg()
            }
        }
    )+};
}
cells!(u32 in narrow blends true, u64 in wide blends false);

/// A scalar that lives in a cell.
/// 8- and 16-bit values are truncated when read and zero-extended when written, so the bits above
/// their width never matter.
pub(in crate::exec) trait Element: Copy {
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
