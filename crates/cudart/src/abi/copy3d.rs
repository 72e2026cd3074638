//! Copies of rows and slices.

use super::array::texel_bytes;
use super::context::{self, current};
use super::copy::{Direction, Kind, resolve};
use super::driver::{DevicePtr, Driver};
use super::memory::{Extent, Pitched};
use super::{In, api};
use crate::errors::Result;
use crate::registry::Handle;

/// Memory types of the driver.
const HOST: u32 = 1;
const DEVICE: u32 = 2;
const ARRAY: u32 = 3;

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

impl Copy3d {
    /// Returns a copy of bytes that follow each other.
    pub(super) fn line(to: usize, from: usize, bytes: usize, direction: Direction) -> Copy3d {
        let (to_type, to_host, to_device) = end(direction.to_device, to);
        let (from_type, from_host, from_device) = end(direction.from_device, from);
        Copy3d {
            from_type,
            from_host,
            from_device,
            to_type,
            to_host,
            to_device,
            width: bytes,
            height: 1,
            depth: 1,
            ..Copy3d::default()
        }
    }
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
pub(super) struct Parameters {
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

/// End of a copy of rows: an array or memory.
#[derive(Clone, Copy)]
pub(super) enum End {
    /// Array, with the byte of the row and the row where the copy begins.
    Array(Handle, [usize; 2]),
    /// Pointer and bytes from row to row.
    Memory(usize, usize),
}

/// Copies rows between an array and another end.
pub(super) fn rectangle(
    to: End,
    from: End,
    (width, height): (usize, usize),
    kind: u32,
    stream: Option<Handle>,
) -> Result<()> {
    let driver = current()?;
    if width == 0 || height == 0 {
        return Ok(());
    }
    let pointer = |end: End| match end {
        End::Array(..) => 0,
        End::Memory(pointer, _) => pointer,
    };
    let kind = resolve(driver, pointer(to), pointer(from), Kind::of(kind)?);
    let mut copy = Copy2d { width, height, ..Copy2d::default() };
    match to {
        End::Array(array, [x, y]) => {
            (copy.to_type, copy.to_array, copy.to_x, copy.to_y) = (ARRAY, array, x, y);
        }
        End::Memory(pointer, pitch) => {
            (copy.to_type, copy.to_host, copy.to_device) = end(kind.to_device, pointer);
            copy.to_pitch = pitch;
        }
    }
    match from {
        End::Array(array, [x, y]) => {
            (copy.from_type, copy.from_array, copy.from_x, copy.from_y) = (ARRAY, array, x, y);
        }
        End::Memory(pointer, pitch) => {
            (copy.from_type, copy.from_host, copy.from_device) = end(kind.from_device, pointer);
            copy.from_pitch = pitch;
        }
    }
    match stream {
        None => driver.cuMemcpy2DUnaligned_v2(&raw const copy),
        Some(stream) => driver.cuMemcpy2DAsync_v2(&raw const copy, context::stream(stream)),
    }
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
        return Err(context::bad_pitch());
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
    let copy = box_of(driver, &given)?;
    if copy.width == 0 || copy.height == 0 || copy.depth == 0 {
        return Ok(());
    }
    match stream {
        None => driver.cuMemcpy3D_v2(&raw const copy),
        Some(stream) => driver.cuMemcpy3DAsync_v2(&raw const copy, context::stream(stream)),
    }
}

/// Returns the driver's copy of a box of pitched memory.
pub(super) fn box_of(driver: &Driver, given: &Parameters) -> Result<Copy3d> {
    let (to, from, mut extent) = (given.to, given.from, given.extent);
    let (to_array, from_array) = (given.to_array, given.from_array);
    // The width counts elements of an array, and so does a position in one.
    let texel = match (to_array, from_array) {
        (0, 0) => 1,
        (0, array) | (array, _) => texel_bytes(driver, array)?,
    };
    extent.width *= texel;
    let texel_of = |array: Handle| if array == 0 { 1 } else { texel };
    if to_array == 0 && extent.width > to.pitch || from_array == 0 && extent.width > from.pitch {
        return Err(context::bad_pitch());
    }
    let kind = resolve(driver, to.pointer, from.pointer, Kind::of(given.kind)?);
    let at = |array: Handle, on_device: bool, pointer: usize| match array {
        0 => end(on_device, pointer),
        _ => (ARRAY, 0, 0),
    };
    let (to_type, to_host, to_device) = at(to_array, kind.to_device, to.pointer);
    let (from_type, from_host, from_device) = at(from_array, kind.from_device, from.pointer);
    Ok(Copy3d {
        from_array,
        to_array,
        from_x: given.from_position.x * texel_of(from_array),
        from_y: given.from_position.y,
        from_z: given.from_position.z,
        from_type,
        from_host,
        from_device,
        from_pitch: from.pitch,
        from_height: from.height,
        to_x: given.to_position.x * texel_of(to_array),
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

/// Returns the box of pitched memory of a driver's copy.
pub(super) fn described(driver: &Driver, copy: &Copy3d) -> Result<Parameters> {
    let texel = |array| if array == 0 { Ok(1) } else { texel_bytes(driver, array) };
    let (to_texel, from_texel) = (texel(copy.to_array)?, texel(copy.from_array)?);
    // The driver takes 0 for rows and slices that follow each other, the runtime does not.
    let or = |given: usize, own: usize| if given == 0 { own } else { given };
    let memory = |host: usize, device: DevicePtr, pitch, height| Pitched {
        pointer: or(host, device as usize),
        pitch: or(pitch, copy.width),
        width: copy.width,
        height: or(height, copy.height),
    };
    let kind = match (copy.from_type == HOST, copy.to_type == HOST) {
        (true, true) => 0,
        (true, false) => 1,
        (false, true) => 2,
        (false, false) => 3,
    };
    Ok(Parameters {
        from_array: copy.from_array,
        from_position: Position { x: copy.from_x / from_texel, y: copy.from_y, z: copy.from_z },
        from: memory(copy.from_host, copy.from_device, copy.from_pitch, copy.from_height),
        to_array: copy.to_array,
        to_position: Position { x: copy.to_x / to_texel, y: copy.to_y, z: copy.to_z },
        to: memory(copy.to_host, copy.to_device, copy.to_pitch, copy.to_height),
        extent: Extent {
            width: copy.width / to_texel.max(from_texel),
            height: copy.height,
            depth: copy.depth,
        },
        kind,
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
