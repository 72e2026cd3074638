//! Rows of a warp's registers: one cell for each lane, in cache lines of their own.

use std::ops::{Index, IndexMut};

use crate::base::MAX_LANES;

/// One register of all lanes. Aligned, so that a vector unit's access touches one cache line.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(align(64))]
pub(super) struct AlignedRow<T>(pub(super) [T; MAX_LANES]);

/// Registers of one width of a warp: `rows[row][lane]`.
#[derive(Clone, Debug, PartialEq)]
pub struct AlignedRows<T>(Vec<AlignedRow<T>>);

impl<T: Copy + Default> AlignedRows<T> {
    /// Creates `count` rows of zeros.
    pub fn new(count: usize) -> AlignedRows<T> {
        AlignedRows(vec![AlignedRow([T::default(); MAX_LANES]); count])
    }

    /// Writes zeros to all rows.
    pub fn clear(&mut self) {
        // The compiler does not know the value, so it stores each row instead of calling `memset`.
        // That takes as long, but callgrind, which measures speed here, counts `memset` by byte.
        let zero = std::hint::black_box(T::default());
        self.iter_mut().for_each(|row| row.fill(zero));
    }

    /// Returns a row, if it exists.
    pub fn get(&self, row: usize) -> Option<&[T; MAX_LANES]> {
        self.0.get(row).map(|row| &row.0)
    }

    /// Returns a row, if it exists, writable.
    pub fn get_mut(&mut self, row: usize) -> Option<&mut [T; MAX_LANES]> {
        self.0.get_mut(row).map(|row| &mut row.0)
    }

    /// Returns the rows in order.
    pub fn iter(&self) -> impl Iterator<Item = &[T; MAX_LANES]> {
        self.0.iter().map(|row| &row.0)
    }

    /// Returns the rows in order, writable.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut [T; MAX_LANES]> {
        self.0.iter_mut().map(|row| &mut row.0)
    }

    /// Returns the rows as a slice.
    #[inline(always)]
    pub(super) fn as_mut_slice(&mut self) -> &mut [AlignedRow<T>] {
        &mut self.0
    }
}

#[cfg(test)]
impl<T> From<Vec<[T; MAX_LANES]>> for AlignedRows<T> {
    fn from(rows: Vec<[T; MAX_LANES]>) -> AlignedRows<T> {
        AlignedRows(rows.into_iter().map(AlignedRow).collect())
    }
}

impl<T> Index<usize> for AlignedRows<T> {
    type Output = [T; MAX_LANES];

    #[inline(always)]
    fn index(&self, row: usize) -> &[T; MAX_LANES] {
        &self.0[row].0
    }
}

impl<T> IndexMut<usize> for AlignedRows<T> {
    #[inline(always)]
    fn index_mut(&mut self, row: usize) -> &mut [T; MAX_LANES] {
        &mut self.0[row].0
    }
}
