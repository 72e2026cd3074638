//! Copies between any two places: device memory, memory of the process.

use super::entry_points;
use super::pointer::{self, In, is_plausible};
use simt_core::exec::Image;

use crate::error::Error;
use crate::memory::AddressSpace;
use crate::state::{Driver, driver};
use crate::table::Handle;

/// Side of a copy in two or three dimensions.
#[derive(Clone, Debug)]
pub(super) enum Side {
    /// Memory in rows.
    Rows {
        /// Address of the first byte.
        address: u64,
        /// Bytes from one row to the next.
        pitch: u64,
        /// Rows from one layer to the next.
        height: u64,
    },
    /// An array, from byte, row and slice on.
    Array(Box<Image>, [u64; 3]),
}

impl Side {
    /// Checks that a block of bytes, rows and slices lies inside.
    fn check(&self, [width, height, depth]: [u64; 3]) -> Result<(), Error> {
        let fits = match self {
            Side::Rows { pitch, height: rows, .. } => {
                !(height * depth > 1 && *pitch < width || depth > 1 && *rows < height)
            }
            Side::Array(image, at) => {
                let [x, y, z] = image.size.map(u64::from);
                let all = [x * image.texel_bytes(), y, z];
                let ends = at.iter().zip([width, height, depth]);
                let ends = ends.map(|(at, more)| at.checked_add(more));
                ends.zip(all).all(|(end, all)| end.is_some_and(|end| end <= all))
            }
        };
        if fits { Ok(()) } else { Err(Error::INVALID_VALUE) }
    }

    /// Returns the address of a byte of the block, and the bytes of the row that follow it there.
    fn piece(&self, x: u64, y: u64, z: u64) -> Option<(u64, u64)> {
        match self {
            Side::Rows { address, pitch, height } => {
                let row = z.checked_mul(*height)?.checked_add(y)?.checked_mul(*pitch)?;
                Some((address.checked_add(row)?.checked_add(x)?, u64::MAX))
            }
            Side::Array(image, at) => {
                let x = at[0] + x;
                let address = image.address + image.offset(x, at[1] + y, at[2] + z);
                Some((address, if image.tiled { 16 - x % 16 } else { u64::MAX }))
            }
        }
    }
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
    driver.transfer(|driver| copy(driver, to, from, bytes as u64))
}

fn on_stream(stream: Handle) -> Result<(), Error> {
    driver()?.stream(stream)
}

/// Memory of a side of a copy: its kind, and the fields for each kind.
struct Named {
    kind: u32,
    host: u64,
    device: u64,
    array: Handle,
    at: [usize; 3],
    pitch: usize,
    height: usize,
}

impl Named {
    fn side(&self) -> Result<Side, Error> {
        let base = match self.kind {
            1 => self.host,
            2 | 4 => self.device,
            3 => return array(self.array, self.at),
            _ => return Err(Error::INVALID_VALUE),
        };
        let [x, y, z] = self.at.map(|n| n as u64);
        let (pitch, height) = (self.pitch as u64, self.height as u64);
        let rows = z.checked_mul(height).and_then(|rows| rows.checked_add(y));
        let offset = rows.and_then(|rows| rows.checked_mul(pitch)).and_then(|at| at.checked_add(x));
        let address = offset.and_then(|offset| base.checked_add(offset));
        Ok(Side::Rows { address: address.ok_or(Error::INVALID_VALUE)?, pitch, height })
    }
}

/// Returns a place in an array.
pub(super) fn array(array: Handle, at: [usize; 3]) -> Result<Side, Error> {
    let driver = driver()?;
    let image = driver.arrays.get(array)?.image.clone();
    Ok(Side::Array(Box::new(image), at.map(|n| n as u64)))
}

/// Copies a block of bytes, rows and slices.
pub(super) fn block(to: &Side, from: &Side, size: [usize; 3]) -> Result<(), Error> {
    let [width, height, depth] = size.map(|n| n as u64);
    let mut driver = driver()?;
    driver.context()?;
    let rows = height.checked_mul(depth).ok_or(Error::INVALID_VALUE)?;
    if width == 0 || rows == 0 {
        return Ok(());
    }
    to.check([width, height, depth])?;
    from.check([width, height, depth])?;
    driver.transfer(|driver| {
        for row in 0..rows {
            let (y, z) = (row % height, row / height);
            let mut x = 0;
            while x < width {
                let (Some((target, room)), Some((source, left))) =
                    (to.piece(x, y, z), from.piece(x, y, z))
                else {
                    return Err(Error::INVALID_VALUE);
                };
                let bytes = (width - x).min(room).min(left);
                copy(driver, target, source, bytes)?;
                x += bytes;
            }
        }
        Ok(())
    })
}

fn plane(copy: In<Plane>) -> Result<(), Error> {
    let c = copy.get()?;
    let or = |pitch: usize| if pitch == 0 { c.width } else { pitch };
    let from = Named {
        kind: c.src_type,
        host: c.src_host,
        device: c.src_device,
        array: c.src_array,
        at: [c.src_x, c.src_y, 0],
        pitch: or(c.src_pitch),
        height: 0,
    };
    let to = Named {
        kind: c.dst_type,
        host: c.dst_host,
        device: c.dst_device,
        array: c.dst_array,
        at: [c.dst_x, c.dst_y, 0],
        pitch: or(c.dst_pitch),
        height: 0,
    };
    block(&to.side()?, &from.side()?, [c.width, c.height, 1])
}

fn volume(copy: In<Volume>) -> Result<(), Error> {
    let c = copy.get()?;
    let pitch = |pitch: usize| if pitch == 0 { c.width } else { pitch };
    let height = |height: usize| if height == 0 { c.height } else { height };
    let from = Named {
        kind: c.src_type,
        host: c.src_host,
        device: c.src_device,
        array: c.src_array,
        at: [c.src_x, c.src_y, c.src_z],
        pitch: pitch(c.src_pitch),
        height: height(c.src_height),
    };
    let to = Named {
        kind: c.dst_type,
        host: c.dst_host,
        device: c.dst_device,
        array: c.dst_array,
        at: [c.dst_x, c.dst_y, c.dst_z],
        pitch: pitch(c.dst_pitch),
        height: height(c.dst_height),
    };
    block(&to.side()?, &from.side()?, [c.width, c.height, c.depth])
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
