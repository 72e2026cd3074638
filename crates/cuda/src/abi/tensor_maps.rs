//! Tensor maps, which describe tensors to bulk copies of their tiles.

use simt_core::exec::{TensorElement, TensorMap};
use simt_core::kernel::MAX_RANK;

use super::entry_points;
use super::pointer::{In, Out};
use crate::error::Error;
use crate::state::driver;

/// `CUtensorMap` in words of 64 bits.
type Words = [u64; 16];

/// Reads the first `count` numbers of a list; the others are 1.
fn list<T: Copy + Default + From<u8>, const N: usize>(
    values: In<T>,
    count: usize,
) -> Result<[T; N], Error> {
    values.get()?;
    let mut all = [T::from(1); N];
    for (i, value) in all.iter_mut().enumerate().take(count) {
        *value = values.at(i)?;
    }
    Ok(all)
}

/// Returns a map that CUDA's driver would make.
fn checked(map: TensorMap) -> Result<TensorMap, Error> {
    match map.mistake() {
        None => Ok(map),
        Some(_) => Err(Error::INVALID_VALUE),
    }
}

entry_points! {
    fn cuTensorMapEncodeTiled(
        out: Out<Words>, element: u32, rank: u32, address: u64, sizes: In<u64>, strides: In<u64>,
        tile: In<u32>, steps: In<u32>, interleave: u32, swizzle: u32, promotion: u32, fill: u32,
    ) {
        driver()?.context()?;
        out.check()?;
        let element = TensorElement::ALL.get(element as usize).ok_or(Error::INVALID_VALUE)?;
        let count = (rank as usize).min(MAX_RANK);
        if fill > 1 {
            return Err(Error::INVALID_VALUE);
        }
        let map = checked(TensorMap {
            element: *element,
            rank: rank as usize,
            address,
            sizes: list(sizes, count)?,
            strides: list(strides, count.saturating_sub(1))?,
            tile: list(tile, count)?,
            steps: list(steps, count)?,
            interleave,
            swizzle,
            promotion,
            nan: fill == 1,
        })?;
        out.set(map.encode())
    }

    fn cuTensorMapReplaceAddress(map: In<Words>, address: u64) {
        driver()?.context()?;
        let mut words = map.get()?;
        if !address.is_multiple_of(16) || address >= 1 << 57 {
            return Err(Error::INVALID_VALUE);
        }
        words[0] = address;
        map.overwrite(words)
    }
}
