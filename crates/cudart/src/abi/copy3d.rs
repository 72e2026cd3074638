//! Copies of rows and slices.

use super::context::{self, current};
use super::copy::{Kind, resolve};
use super::driver::{DevicePtr, Driver};
use super::memory::{Extent, Pitched};
use super::{In, api, missing};
use crate::errors::{Error, Result};
use crate::registry::Handle;

/// Memory types of the driver.
const HOST: u32 = 1;
const DEVICE: u32 = 2;

/// `CUDA_MEMCPY2D`: a rectangle of rows.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub(super) struct Copy2d {
    from_x: usize,
    from_y: usize,
    from_type: u32,
    from_host: usize,
    from_device: DevicePtr,
    from_array: Handle,
    from_pitch: usize,
    to_x: usize,
    to_y: usize,
    to_type: u32,
    to_host: usize,
    to_device: DevicePtr,
    to_array: Handle,
    to_pitch: usize,
    width: usize,
    height: usize,
}

/// `CUDA_MEMCPY3D`: a box of slices.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub(super) struct Copy3d {
    from_x: usize,
    from_y: usize,
    from_z: usize,
    from_level: usize,
    from_type: u32,
    from_host: usize,
    from_device: DevicePtr,
    from_array: Handle,
    from_reserved: usize,
    from_pitch: usize,
    from_height: usize,
    to_x: usize,
    to_y: usize,
    to_z: usize,
    to_level: usize,
    to_type: u32,
    to_host: usize,
    to_device: DevicePtr,
    to_array: Handle,
    to_reserved: usize,
    to_pitch: usize,
    to_height: usize,
    width: usize,
    height: usize,
    depth: usize,
}

/// `cudaPos`: a position in an array or in pitched memory.
#[repr(C)]
#[derive(Clone, Copy)]
struct Position {
    x: usize,
    y: usize,
    z: usize,
}

/// `cudaMemcpy3DParms`.
#[repr(C)]
#[derive(Clone, Copy)]
struct Parameters {
    from_array: Handle,
    from_position: Position,
    from: Pitched,
    to_array: Handle,
    to_position: Position,
    to: Pitched,
    extent: Extent,
    kind: u32,
}

/// Returns the memory type of an end, with its host or device address.
fn end(on_device: bool, pointer: usize) -> (u32, usize, DevicePtr) {
    if on_device { (DEVICE, 0, pointer as u64) } else { (HOST, pointer, 0) }
}

/// Copies rows: `to` and `from` are a pointer and a pitch in bytes, `size` bytes and rows.
fn rows(
    to: (usize, usize),
    from: (usize, usize),
    size: (usize, usize),
    kind: u32,
    stream: Option<Handle>,
) -> Result<()> {
    let driver = current()?;
    let (width, height) = size;
    if width == 0 || height == 0 {
        return Ok(());
    }
    if width > to.1 || width > from.1 {
        return Err(Error::INVALID_PITCH);
    }
    let kind = resolve(driver, to.0, from.0, Kind::of(kind)?);
    let (to_type, to_host, to_device) = end(kind.to_device, to.0);
    let (from_type, from_host, from_device) = end(kind.from_device, from.0);
    let copy = Copy2d {
        from_type,
        from_host,
        from_device,
        from_pitch: from.1,
        to_type,
        to_host,
        to_device,
        to_pitch: to.1,
        width,
        height,
        ..Copy2d::default()
    };
    match stream {
        None => driver.cuMemcpy2DUnaligned_v2(&raw const copy),
        Some(stream) => driver.cuMemcpy2DAsync_v2(&raw const copy, context::stream(stream)),
    }
}

/// Copies a box of pitched memory.
fn slices(parameters: &In<Parameters>, stream: Option<Handle>) -> Result<()> {
    let driver = current()?;
    let given = parameters.get()?;
    if given.from_array != 0 || given.to_array != 0 {
        return Err(Error(missing::report("cudaMemcpy3D with a CUDA array")));
    }
    let copy = box_of(driver, &given)?;
    if copy.width == 0 || copy.height == 0 || copy.depth == 0 {
        return Ok(());
    }
    match stream {
        None => driver.cuMemcpy3D_v2(&raw const copy),
        Some(stream) => driver.cuMemcpy3DAsync_v2(&raw const copy, context::stream(stream)),
    }
}

fn box_of(driver: &Driver, given: &Parameters) -> Result<Copy3d> {
    let (to, from, extent) = (given.to, given.from, given.extent);
    if extent.width > to.pitch || extent.width > from.pitch {
        return Err(Error::INVALID_PITCH);
    }
    let kind = resolve(driver, to.pointer, from.pointer, Kind::of(given.kind)?);
    let (to_type, to_host, to_device) = end(kind.to_device, to.pointer);
    let (from_type, from_host, from_device) = end(kind.from_device, from.pointer);
    Ok(Copy3d {
        from_x: given.from_position.x,
        from_y: given.from_position.y,
        from_z: given.from_position.z,
        from_type,
        from_host,
        from_device,
        from_pitch: from.pitch,
        from_height: from.height,
        to_x: given.to_position.x,
        to_y: given.to_position.y,
        to_z: given.to_position.z,
        to_type,
        to_host,
        to_device,
        to_pitch: to.pitch,
        to_height: to.height,
        width: extent.width,
        height: extent.height,
        depth: extent.depth,
        ..Copy3d::default()
    })
}

api! {
    cudaMemcpy2D [cudaMemcpy2D_ptds] (
        to: usize, to_pitch: usize, from: usize, from_pitch: usize, width: usize, height: usize,
        kind: u32,
    ) {
        rows((to, to_pitch), (from, from_pitch), (width, height), kind, None)
    }

    cudaMemcpy2DAsync [cudaMemcpy2DAsync_ptsz] (
        to: usize, to_pitch: usize, from: usize, from_pitch: usize, width: usize, height: usize,
        kind: u32, stream: Handle,
    ) {
        rows((to, to_pitch), (from, from_pitch), (width, height), kind, Some(stream))
    }

    cudaMemcpy3D [cudaMemcpy3D_ptds] (parameters: In<Parameters>) {
        slices(&parameters, None)
    }

    cudaMemcpy3DAsync [cudaMemcpy3DAsync_ptsz] (parameters: In<Parameters>, stream: Handle) {
        slices(&parameters, Some(stream))
    }
}
