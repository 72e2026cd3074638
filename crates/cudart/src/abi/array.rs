//! CUDA arrays, and copies of rows from and to them.

use super::context::current;
use super::copy3d::{End, rectangle};
use super::driver::Driver;
use super::memory::Extent;
use super::{In, Out, api};
use crate::errors::{Error, Result};
use crate::registry::Handle;

/// `CUDA_ARRAY3D_DESCRIPTOR`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub(super) struct ArrayDescriptor {
    width: usize,
    height: usize,
    depth: usize,
    format: u32,
    channels: u32,
    flags: u32,
}

/// `cudaChannelFormatDesc`: bits of each channel, and their kind.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct Channels {
    bits: [i32; 4],
    kind: u32,
}

/// Kinds of channels.
const SIGNED: u32 = 0;
const UNSIGNED: u32 = 1;
const FLOAT: u32 = 2;

/// Kinds and widths of channels with the driver's formats (`CUarray_format`).
const FORMATS: [(u32, i32, u32); 8] = [
    (UNSIGNED, 8, 1),
    (UNSIGNED, 16, 2),
    (UNSIGNED, 32, 3),
    (SIGNED, 8, 8),
    (SIGNED, 16, 9),
    (SIGNED, 32, 10),
    (FLOAT, 16, 16),
    (FLOAT, 32, 32),
];

impl Channels {
    /// Returns the driver's format and the number of channels.
    ///
    /// # Errors
    /// Returns `cudaErrorInvalidChannelDescriptor` for channels of unequal widths, or of others
    /// than 8, 16 and 32 bits.
    pub(super) fn format(&self) -> Result<(u32, u32)> {
        const INVALID: Error = Error(20);
        let count = self.bits.iter().take_while(|bits| **bits != 0).count();
        let all = self.bits[..count].iter().all(|bits| *bits == self.bits[0]);
        let rest = self.bits[count..].iter().all(|bits| *bits == 0);
        let found =
            FORMATS.iter().find(|(kind, bits, _)| (*kind, *bits) == (self.kind, self.bits[0]));
        match found {
            Some((.., format)) if all && rest && matches!(count, 1 | 2 | 4) => {
                Ok((*format, count as u32))
            }
            _ => Err(INVALID),
        }
    }

    /// Returns the channels of a driver's format.
    pub(super) fn of(format: u32, count: u32) -> Channels {
        let found = FORMATS.iter().find(|(.., number)| *number == format);
        let (kind, width) = found.map_or((UNSIGNED, 0), |(kind, bits, _)| (*kind, *bits));
        let bits = std::array::from_fn(|i| if i < count as usize { width } else { 0 });
        Channels { bits, kind }
    }
}

fn describe(driver: &Driver, array: Handle) -> Result<ArrayDescriptor> {
    let mut descriptor = ArrayDescriptor::default();
    driver.cuArray3DGetDescriptor_v2(&raw mut descriptor, array)?;
    Ok(descriptor)
}

/// Returns the bytes of an element of an array.
pub(super) fn texel_bytes(driver: &Driver, array: Handle) -> Result<usize> {
    let ArrayDescriptor { format, channels, .. } = describe(driver, array)?;
    let bits = Channels::of(format, channels).bits[0];
    Ok(bits as usize / 8 * channels as usize)
}

fn allocate(out: Out<Handle>, channels: &In<Channels>, size: [usize; 3], flags: u32) -> Result<()> {
    let driver = current()?;
    let (format, channels) = channels.get()?.format()?;
    let [width, height, depth] = size;
    let descriptor = ArrayDescriptor { width, height, depth, format, channels, flags };
    let mut array = 0;
    driver.cuArray3DCreate_v2(&raw mut array, &raw const descriptor)?;
    out.set(array)
}

/// Copies bytes between memory and the rows of an array, from a byte of a row on.
fn bytes(
    array: Handle,
    [x, y]: [usize; 2],
    pointer: usize,
    count: usize,
    (kind, to): (u32, bool),
    stream: Option<Handle>,
) -> Result<()> {
    let driver = current()?;
    let row = describe(driver, array)?.width * texel_bytes(driver, array)?;
    let (mut x, mut y, mut done) = (x, y, 0);
    while done < count {
        let part = (count - done).min(row.saturating_sub(x));
        if part == 0 {
            return Err(Error::INVALID_VALUE);
        }
        let (place, memory) = (End::Array(array, [x, y]), End::Memory(pointer + done, part));
        let (to, from) = if to { (place, memory) } else { (memory, place) };
        rectangle(to, from, (part, 1), kind, stream)?;
        (x, y, done) = (0, y + 1, done + part);
    }
    Ok(())
}

api! {
    cudaMallocArray(out: Out<Handle>, channels: In<Channels>, width: usize, height: usize,
        flags: u32) {
        allocate(out, &channels, [width, height, 0], flags)
    }

    cudaMalloc3DArray(out: Out<Handle>, channels: In<Channels>, extent: Extent, flags: u32) {
        allocate(out, &channels, [extent.width, extent.height, extent.depth], flags)
    }

    cudaFreeArray(array: Handle) {
        if array == 0 {
            return Ok(());
        }
        current()?.cuArrayDestroy(array)
    }

    cudaArrayGetInfo(channels: Out<Channels>, extent: Out<Extent>, flags: Out<u32>, array: Handle) {
        let found = describe(current()?, array)?;
        let (width, height, depth) = (found.width, found.height, found.depth);
        channels.set_if_wanted(Channels::of(found.format, found.channels));
        extent.set_if_wanted(Extent { width, height, depth });
        flags.set_if_wanted(found.flags);
        Ok(())
    }

    cudaGetChannelDesc(channels: Out<Channels>, array: Handle) {
        let found = describe(current()?, array)?;
        channels.set(Channels::of(found.format, found.channels))
    }

    cudaMemcpyToArray [cudaMemcpyToArray_ptds] (
        to: Handle, x: usize, y: usize, from: usize, count: usize, kind: u32,
    ) {
        bytes(to, [x, y], from, count, (kind, true), None)
    }

    cudaMemcpyToArrayAsync [cudaMemcpyToArrayAsync_ptsz] (
        to: Handle, x: usize, y: usize, from: usize, count: usize, kind: u32, stream: Handle,
    ) {
        bytes(to, [x, y], from, count, (kind, true), Some(stream))
    }

    cudaMemcpyFromArray [cudaMemcpyFromArray_ptds] (
        to: usize, from: Handle, x: usize, y: usize, count: usize, kind: u32,
    ) {
        bytes(from, [x, y], to, count, (kind, false), None)
    }

    cudaMemcpyFromArrayAsync [cudaMemcpyFromArrayAsync_ptsz] (
        to: usize, from: Handle, x: usize, y: usize, count: usize, kind: u32, stream: Handle,
    ) {
        bytes(from, [x, y], to, count, (kind, false), Some(stream))
    }

    cudaMemcpyArrayToArray [cudaMemcpyArrayToArray_ptds] (
        to: Handle, to_x: usize, to_y: usize, from: Handle, from_x: usize, from_y: usize,
        count: usize, kind: u32,
    ) {
        let (to, from) = (End::Array(to, [to_x, to_y]), End::Array(from, [from_x, from_y]));
        rectangle(to, from, (count, 1), kind, None)
    }

    cudaMemcpy2DToArray [cudaMemcpy2DToArray_ptds] (
        to: Handle, x: usize, y: usize, from: usize, pitch: usize, width: usize, height: usize,
        kind: u32,
    ) {
        let (to, from) = (End::Array(to, [x, y]), End::Memory(from, pitch));
        rectangle(to, from, (width, height), kind, None)
    }

    cudaMemcpy2DToArrayAsync [cudaMemcpy2DToArrayAsync_ptsz] (
        to: Handle, x: usize, y: usize, from: usize, pitch: usize, width: usize, height: usize,
        kind: u32, stream: Handle,
    ) {
        let (to, from) = (End::Array(to, [x, y]), End::Memory(from, pitch));
        rectangle(to, from, (width, height), kind, Some(stream))
    }

    cudaMemcpy2DFromArray [cudaMemcpy2DFromArray_ptds] (
        to: usize, pitch: usize, from: Handle, x: usize, y: usize, width: usize, height: usize,
        kind: u32,
    ) {
        let (to, from) = (End::Memory(to, pitch), End::Array(from, [x, y]));
        rectangle(to, from, (width, height), kind, None)
    }

    cudaMemcpy2DFromArrayAsync [cudaMemcpy2DFromArrayAsync_ptsz] (
        to: usize, pitch: usize, from: Handle, x: usize, y: usize, width: usize, height: usize,
        kind: u32, stream: Handle,
    ) {
        let (to, from) = (End::Memory(to, pitch), End::Array(from, [x, y]));
        rectangle(to, from, (width, height), kind, Some(stream))
    }

    cudaMemcpy2DArrayToArray [cudaMemcpy2DArrayToArray_ptds] (
        to: Handle, to_x: usize, to_y: usize, from: Handle, from_x: usize, from_y: usize,
        width: usize, height: usize, kind: u32,
    ) {
        let (to, from) = (End::Array(to, [to_x, to_y]), End::Array(from, [from_x, from_y]));
        rectangle(to, from, (width, height), kind, None)
    }
}
