//! Copies between any two places: device memory, memory of the process.

use super::entry_points;
use super::pointer::{self, In, is_plausible};
use crate::error::Error;
use crate::memory::AddressSpace;
use crate::state::{Driver, driver};
use crate::table::Handle;

/// Side of a copy in two or three dimensions.
#[derive(Clone, Copy, Debug)]
struct Side {
    /// Address of the first byte.
    address: u64,
    /// Bytes from one row to the next.
    pitch: u64,
    /// Rows from one layer to the next.
    height: u64,
}

/// `CUDA_MEMCPY2D`.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct Plane {
    src_x: usize,
    src_y: usize,
    src_type: u32,
    src_host: u64,
    src_device: u64,
    src_array: u64,
    src_pitch: usize,
    dst_x: usize,
    dst_y: usize,
    dst_type: u32,
    dst_host: u64,
    dst_device: u64,
    dst_array: u64,
    dst_pitch: usize,
    width: usize,
    height: usize,
}

/// `CUDA_MEMCPY3D`.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct Volume {
    src_x: usize,
    src_y: usize,
    src_z: usize,
    src_lod: usize,
    src_type: u32,
    src_host: u64,
    src_device: u64,
    src_array: u64,
    reserved0: u64,
    src_pitch: usize,
    src_height: usize,
    dst_x: usize,
    dst_y: usize,
    dst_z: usize,
    dst_lod: usize,
    dst_type: u32,
    dst_host: u64,
    dst_device: u64,
    dst_array: u64,
    reserved1: u64,
    dst_pitch: usize,
    dst_height: usize,
    width: usize,
    height: usize,
    depth: usize,
}

/// Returns the memory at an address, which has `bytes` bytes.
///
/// Simulated memory is checked; memory of the process must only be plausible.
pub(super) fn place(memory: &mut AddressSpace, address: u64, bytes: u64) -> Result<*mut u8, Error> {
    if AddressSpace::is_device(address) {
        return memory.device_bytes(address, bytes).map(<[u8]>::as_mut_ptr);
    }
    if let Some(found) = memory.find(address)
        && bytes > found.bytes - (address - found.address)
    {
        return Err(Error::INVALID_VALUE);
    }
    let last = address.checked_add(bytes.saturating_sub(1)).ok_or(Error::INVALID_VALUE)?;
    if !is_plausible(address) || !is_plausible(last) {
        return Err(Error::INVALID_VALUE);
    }
    Ok(std::ptr::with_exposed_provenance_mut(address as usize))
}

fn copy(driver: &mut Driver, to: u64, from: u64, bytes: u64) -> Result<(), Error> {
    if bytes == 0 {
        return Ok(());
    }
    let source = place(&mut driver.memory, from, bytes)?.cast_const();
    let target = place(&mut driver.memory, to, bytes)?;
    // SAFETY: device memory was checked and is only reached through the locked driver; the caller
    // promises as much memory of the process. `place` returns plain pointers, so no reference is
    // alive.
    unsafe { pointer::copy(target, source, bytes as usize) };
    driver.copied(to, from, bytes);
    Ok(())
}

/// Copies bytes in a context; `device` says which addresses must be of device memory.
fn checked(to: u64, from: u64, bytes: usize, device: [bool; 2]) -> Result<(), Error> {
    let mut driver = driver()?;
    driver.context()?;
    for (address, wanted) in [(to, device[0]), (from, device[1])] {
        let known = AddressSpace::is_device(address) || driver.memory.find(address).is_some();
        if wanted && bytes > 0 && !known {
            return Err(Error::INVALID_VALUE);
        }
    }
    copy(&mut driver, to, from, bytes as u64)
}

fn on_stream(stream: Handle) -> Result<(), Error> {
    driver()?.stream(stream)
}

/// Address of a side: host, device or either, by its type of memory.
fn base(kind: u32, host: u64, device: u64) -> Result<u64, Error> {
    match kind {
        1 => Ok(host),
        2 | 4 => Ok(device),
        3 => Err(Error::NOT_SUPPORTED), // arrays
        _ => Err(Error::INVALID_VALUE),
    }
}

fn side(base: u64, offset: [usize; 3], pitch: usize, height: usize) -> Result<Side, Error> {
    let [x, y, z] = offset.map(|n| n as u64);
    let (pitch, height) = (pitch as u64, height as u64);
    let rows = z.checked_mul(height).and_then(|rows| rows.checked_add(y));
    let offset = rows.and_then(|rows| rows.checked_mul(pitch)).and_then(|at| at.checked_add(x));
    let address = offset.and_then(|offset| base.checked_add(offset));
    Ok(Side { address: address.ok_or(Error::INVALID_VALUE)?, pitch, height })
}

fn block(to: Side, from: Side, size: [usize; 3]) -> Result<(), Error> {
    let [width, height, depth] = size.map(|n| n as u64);
    let mut driver = driver()?;
    driver.context()?;
    let rows = height.checked_mul(depth).ok_or(Error::INVALID_VALUE)?;
    if width == 0 || rows == 0 {
        return Ok(());
    }
    for side in [to, from] {
        if rows > 1 && side.pitch < width || depth > 1 && side.height < height {
            return Err(Error::INVALID_VALUE);
        }
    }
    for z in 0..depth {
        for y in 0..height {
            let at = |side: Side| {
                let row = z.checked_mul(side.height)?.checked_add(y)?;
                side.address.checked_add(row.checked_mul(side.pitch)?)
            };
            let (Some(to), Some(from)) = (at(to), at(from)) else {
                return Err(Error::INVALID_VALUE);
            };
            copy(&mut driver, to, from, width)?;
        }
    }
    Ok(())
}

fn plane(copy: In<Plane>) -> Result<(), Error> {
    let c = copy.get()?;
    let or = |pitch: usize| if pitch == 0 { c.width } else { pitch };
    let from = base(c.src_type, c.src_host, c.src_device)?;
    let to = base(c.dst_type, c.dst_host, c.dst_device)?;
    let from = side(from, [c.src_x, c.src_y, 0], or(c.src_pitch), 0)?;
    let to = side(to, [c.dst_x, c.dst_y, 0], or(c.dst_pitch), 0)?;
    block(to, from, [c.width, c.height, 1])
}

fn volume(copy: In<Volume>) -> Result<(), Error> {
    let c = copy.get()?;
    let pitch = |pitch: usize| if pitch == 0 { c.width } else { pitch };
    let height = |height: usize| if height == 0 { c.height } else { height };
    let from = base(c.src_type, c.src_host, c.src_device)?;
    let to = base(c.dst_type, c.dst_host, c.dst_device)?;
    let offset = [c.src_x, c.src_y, c.src_z];
    let from = side(from, offset, pitch(c.src_pitch), height(c.src_height))?;
    let offset = [c.dst_x, c.dst_y, c.dst_z];
    let to = side(to, offset, pitch(c.dst_pitch), height(c.dst_height))?;
    block(to, from, [c.width, c.height, c.depth])
}

entry_points! {
    fn cuMemcpy(to: u64, from: u64, bytes: usize) {
        checked(to, from, bytes, [false, false])
    }

    fn cuMemcpyAsync(to: u64, from: u64, bytes: usize, stream: Handle) {
        on_stream(stream)?;
        checked(to, from, bytes, [false, false])
    }

    fn cuMemcpyHtoD_v2(to: u64, from: u64, bytes: usize) {
        checked(to, from, bytes, [true, false])
    }

    fn cuMemcpyHtoDAsync_v2(to: u64, from: u64, bytes: usize, stream: Handle) {
        on_stream(stream)?;
        checked(to, from, bytes, [true, false])
    }

    fn cuMemcpyDtoH_v2(to: u64, from: u64, bytes: usize) {
        checked(to, from, bytes, [false, true])
    }

    fn cuMemcpyDtoHAsync_v2(to: u64, from: u64, bytes: usize, stream: Handle) {
        on_stream(stream)?;
        checked(to, from, bytes, [false, true])
    }

    fn cuMemcpyDtoD_v2(to: u64, from: u64, bytes: usize) {
        checked(to, from, bytes, [true, true])
    }

    fn cuMemcpyDtoDAsync_v2(to: u64, from: u64, bytes: usize, stream: Handle) {
        on_stream(stream)?;
        checked(to, from, bytes, [true, true])
    }

    fn cuMemcpyPeer(to: u64, to_context: Handle, from: u64, from_context: Handle, bytes: usize) {
        peers(to_context, from_context)?;
        checked(to, from, bytes, [true, true])
    }

    fn cuMemcpyPeerAsync(
        to: u64, to_context: Handle, from: u64, from_context: Handle, bytes: usize, stream: Handle,
    ) {
        on_stream(stream)?;
        peers(to_context, from_context)?;
        checked(to, from, bytes, [true, true])
    }

    fn cuMemcpy2D_v2(copy: In<Plane>) {
        plane(copy)
    }

    fn cuMemcpy2DUnaligned_v2(copy: In<Plane>) {
        plane(copy)
    }

    fn cuMemcpy2DAsync_v2(copy: In<Plane>, stream: Handle) {
        on_stream(stream)?;
        plane(copy)
    }

    fn cuMemcpy3D_v2(copy: In<Volume>) {
        volume(copy)
    }

    fn cuMemcpy3DAsync_v2(copy: In<Volume>, stream: Handle) {
        on_stream(stream)?;
        volume(copy)
    }
}

/// Checks that both contexts of a copy are of one device.
fn peers(to: Handle, from: Handle) -> Result<(), Error> {
    let driver = driver()?;
    let device =
        |context| driver.contexts.get(context).map(|c| c.device).or(Err(Error::INVALID_CONTEXT));
    if device(to)? == device(from)? { Ok(()) } else { Err(Error::PEER_ACCESS_UNSUPPORTED) }
}
