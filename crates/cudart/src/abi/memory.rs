//! Memory: device, host, managed, pitched, stream-ordered, and what a pointer belongs to.

use super::context::{self, current, version};
use super::driver::Driver;
use super::{Out, api};
use crate::errors::{Error, Result};
use crate::registry::Handle;

/// Element size for which the driver aligns rows, in bytes.
const ELEMENT: u32 = 16;

/// `cudaPitchedPtr`: rows of memory.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct Pitched {
    /// First byte.
    pub(super) pointer: usize,
    /// Bytes from one row to the next.
    pub(super) pitch: usize,
    /// Bytes of a row.
    pub(super) width: usize,
    /// Rows of a slice.
    pub(super) height: usize,
}

/// `cudaExtent`: bytes of a row, rows, slices.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct Extent {
    pub(super) width: usize,
    pub(super) height: usize,
    pub(super) depth: usize,
}

/// Attributes of a pointer, as `cuda.h` numbers them.
mod of_pointer {
    pub(super) const MEMORY_TYPE: u32 = 2;
    pub(super) const DEVICE_POINTER: u32 = 3;
    pub(super) const HOST_POINTER: u32 = 4;
    pub(super) const IS_MANAGED: u32 = 8;
    pub(super) const DEVICE_ORDINAL: u32 = 9;
}

/// Kind of memory that an address belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// Host memory that the driver does not know.
    Pageable,
    /// Host memory that the driver allocated or registered.
    Pinned,
    /// Device memory.
    Device,
    /// Memory of both.
    Managed,
}

impl Place {
    /// Returns true for memory that a copy reaches by a device address.
    pub(super) fn is_device(self) -> bool {
        matches!(self, Place::Device | Place::Managed)
    }
}

/// Returns the memory that an address belongs to.
pub(super) fn place(driver: &Driver, pointer: usize) -> Place {
    let address = pointer as u64;
    let (mut kind, mut managed) = (0u32, 0u32);
    let known =
        driver.cuPointerGetAttribute((&raw mut kind).cast(), of_pointer::MEMORY_TYPE, address);
    if known.is_err() {
        return Place::Pageable;
    }
    let asked =
        driver.cuPointerGetAttribute((&raw mut managed).cast(), of_pointer::IS_MANAGED, address);
    match kind {
        // A driver writes one byte, or a word, for a truth value.
        _ if asked.is_ok() && managed & 0xff != 0 => Place::Managed,
        1 => Place::Pinned,
        _ => Place::Device,
    }
}

/// Allocates rows and returns the address and the bytes from one to the next.
fn rows(width: usize, height: usize) -> Result<(usize, usize)> {
    let driver = current()?;
    if width == 0 || height == 0 {
        return Ok((0, 0));
    }
    let (mut pointer, mut pitch) = (0, 0);
    driver.cuMemAllocPitch_v2(&raw mut pointer, &raw mut pitch, width, height, ELEMENT)?;
    Ok((pointer as usize, pitch))
}

fn allocate_host(pointer: Out<usize>, bytes: usize, flags: u32) -> Result<()> {
    let driver = current()?;
    let mut made = 0;
    if bytes > 0 {
        driver.cuMemHostAlloc(&raw mut made, bytes, flags)?;
    }
    pointer.set(made)
}

fn clear(to: usize, value: i32, bytes: usize, stream: Option<Handle>) -> Result<()> {
    let driver = current()?;
    let (to, value) = (to as u64, value as u8);
    match stream {
        _ if bytes == 0 => Ok(()),
        None => driver.cuMemsetD8_v2(to, value, bytes),
        Some(stream) => driver.cuMemsetD8Async(to, value, bytes, context::stream(stream)),
    }
}

fn clear_rows(rows: Pitched, value: i32, stream: Option<Handle>) -> Result<()> {
    let driver = current()?;
    let Pitched { pointer, pitch, width, height } = rows;
    if width > pitch && height > 1 {
        return Err(context::bad_pitch());
    }
    let (to, value) = (pointer as u64, value as u8);
    match stream {
        _ if width == 0 || height == 0 => Ok(()),
        None => driver.cuMemsetD2D8_v2(to, pitch, value, width, height),
        Some(stream) => {
            let stream = context::stream(stream);
            driver.cuMemsetD2D8Async(to, pitch, value, width, height, stream)
        }
    }
}

fn clear_slices(at: Pitched, value: i32, extent: Extent, stream: Option<Handle>) -> Result<()> {
    let slice = at.pitch.checked_mul(at.height).ok_or(Error::INVALID_VALUE)?;
    for z in 0..extent.depth {
        let pointer = slice.checked_mul(z).and_then(|offset| at.pointer.checked_add(offset));
        let pointer = pointer.ok_or(Error::INVALID_VALUE)?;
        let rows = Pitched { pointer, width: extent.width, height: extent.height, ..at };
        clear_rows(rows, value, stream)?;
        if extent.width == 0 || extent.height == 0 {
            break;
        }
    }
    Ok(())
}

/// Checks a hint about managed memory. Nothing moves: host and device share it.
fn hint(pointer: usize, bytes: usize) -> Result<()> {
    let driver = current()?;
    if bytes == 0 || place(driver, pointer) != Place::Managed {
        return Err(Error::INVALID_VALUE);
    }
    Ok(())
}

api! {
    cudaMalloc(pointer: Out<usize>, bytes: usize) {
        let driver = current()?;
        let mut made = 0;
        if bytes > 0 {
            driver.cuMemAlloc_v2(&raw mut made, bytes)?;
        }
        pointer.set(made as usize)
    }

    cudaFree(pointer: usize) {
        let driver = current()?;
        if pointer == 0 { Ok(()) } else { driver.cuMemFree_v2(pointer as u64) }
    }

    cudaMallocPitch(pointer: Out<usize>, pitch: Out<usize>, width: usize, height: usize) {
        let (made, bytes) = rows(width, height)?;
        pitch.set(bytes)?;
        pointer.set(made)
    }

    cudaMalloc3D(pitched: Out<Pitched>, extent: Extent) {
        let count = extent.height.checked_mul(extent.depth).ok_or(Error(2))?;
        let (pointer, pitch) = rows(extent.width, count)?;
        pitched.set(Pitched { pointer, pitch, width: extent.width, height: extent.height })
    }

    cudaMallocManaged(pointer: Out<usize>, bytes: usize, flags: u32) {
        let driver = current()?;
        let mut made = 0;
        if bytes > 0 {
            driver.cuMemAllocManaged(&raw mut made, bytes, flags)?;
        }
        pointer.set(made as usize)
    }

    cudaMallocAsync [cudaMallocAsync_ptsz] (pointer: Out<usize>, bytes: usize, stream: Handle) {
        let driver = current()?;
        let mut made = 0;
        if bytes > 0 {
            driver.cuMemAllocAsync(&raw mut made, bytes, context::stream(stream))?;
        }
        pointer.set(made as usize)
    }

    cudaFreeAsync [cudaFreeAsync_ptsz] (pointer: usize, stream: Handle) {
        let driver = current()?;
        if pointer == 0 {
            return Ok(());
        }
        driver.cuMemFreeAsync(pointer as u64, context::stream(stream))
    }

    cudaMallocHost(pointer: Out<usize>, bytes: usize) {
        allocate_host(pointer, bytes, 0)
    }

    cudaHostAlloc(pointer: Out<usize>, bytes: usize, flags: u32) {
        allocate_host(pointer, bytes, flags)
    }

    cudaFreeHost(pointer: usize) {
        let driver = current()?;
        if pointer == 0 { Ok(()) } else { driver.cuMemFreeHost(pointer) }
    }

    cudaHostRegister(pointer: usize, bytes: usize, flags: u32) {
        current()?.cuMemHostRegister_v2(pointer, bytes, flags)
    }

    cudaHostUnregister(pointer: usize) {
        current()?.cuMemHostUnregister(pointer)
    }

    cudaHostGetDevicePointer(device: Out<usize>, pointer: usize, flags: u32) {
        let mut found = 0;
        current()?.cuMemHostGetDevicePointer_v2(&raw mut found, pointer, flags)?;
        device.set(found as usize)
    }

    cudaHostGetFlags(flags: Out<u32>, pointer: usize) {
        let mut found = 0;
        current()?.cuMemHostGetFlags(&raw mut found, pointer)?;
        flags.set(found)
    }

    cudaMemGetInfo(free: Out<usize>, total: Out<usize>) {
        let (mut left, mut all) = (0, 0);
        current()?.cuMemGetInfo_v2(&raw mut left, &raw mut all)?;
        free.set_if_wanted(left);
        total.set_if_wanted(all);
        Ok(())
    }

    cudaPointerGetAttributes(attributes: Out<u8>, pointer: usize) {
        let driver = current()?;
        let place = place(driver, pointer);
        let kind: i32 = match place {
            Place::Pageable => 0,
            Place::Pinned => 1,
            Place::Device => 2,
            Place::Managed => 3,
        };
        let (mut device, mut on_device, mut on_host) = (-2i32, 0usize, pointer);
        if place != Place::Pageable {
            let address = pointer as u64;
            on_host = 0;
            // An attribute that a pointer lacks stays as it is.
            for (value, number) in [
                ((&raw mut device).cast(), of_pointer::DEVICE_ORDINAL),
                ((&raw mut on_device).cast(), of_pointer::DEVICE_POINTER),
                ((&raw mut on_host).cast(), of_pointer::HOST_POINTER),
            ] {
                _ = driver.cuPointerGetAttribute(value, number, address);
            }
        }
        let mut bytes = kind.to_ne_bytes().to_vec();
        bytes.extend(device.to_ne_bytes());
        bytes.extend(on_device.to_ne_bytes());
        bytes.extend(on_host.to_ne_bytes());
        bytes.resize(version().pointer_bytes(), 0);
        attributes.set_bytes(&bytes)
    }

    cudaMemset [cudaMemset_ptds] (to: usize, value: i32, bytes: usize) {
        clear(to, value, bytes, None)
    }

    cudaMemsetAsync [cudaMemsetAsync_ptsz] (
        to: usize, value: i32, bytes: usize, stream: Handle,
    ) {
        clear(to, value, bytes, Some(stream))
    }

    cudaMemset2D [cudaMemset2D_ptds] (
        pointer: usize, pitch: usize, value: i32, width: usize, height: usize,
    ) {
        clear_rows(Pitched { pointer, pitch, width, height }, value, None)
    }

    cudaMemset2DAsync [cudaMemset2DAsync_ptsz] (
        pointer: usize, pitch: usize, value: i32, width: usize, height: usize, stream: Handle,
    ) {
        clear_rows(Pitched { pointer, pitch, width, height }, value, Some(stream))
    }

    cudaMemset3D [cudaMemset3D_ptds] (at: Pitched, value: i32, extent: Extent) {
        clear_slices(at, value, extent, None)
    }

    cudaMemset3DAsync [cudaMemset3DAsync_ptsz] (
        at: Pitched, value: i32, extent: Extent, stream: Handle,
    ) {
        clear_slices(at, value, extent, Some(stream))
    }

    // CUDA 12 gives a device where CUDA 13 gives a location, and no flags: all of it is a hint.
    cudaMemPrefetchAsync [cudaMemPrefetchAsync_ptsz] (
        pointer: usize, bytes: usize, _where: u64, _flags_or_stream: usize, _stream: usize,
    ) {
        hint(pointer, bytes)
    }

    cudaMemPrefetchAsync_v2 [cudaMemPrefetchAsync_v2_ptsz] (
        pointer: usize, bytes: usize, _location: u64, _flags: u32, _stream: Handle,
    ) {
        hint(pointer, bytes)
    }

    cudaMemAdvise(pointer: usize, bytes: usize, _advice: u32, _where: u64) {
        hint(pointer, bytes)
    }

    cudaMemAdvise_v2(pointer: usize, bytes: usize, _advice: u32, _location: u64) {
        hint(pointer, bytes)
    }
}
