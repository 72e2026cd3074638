//! CUDA arrays, and copies from and to them.

use super::copy::{Side, array, block};
use super::entry_points;
use super::pointer::{In, Out};
use crate::error::Error;
use crate::state::driver;
use crate::table::Handle;

/// `CUDA_ARRAY_DESCRIPTOR`.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct Flat {
    width: usize,
    height: usize,
    format: u32,
    channels: u32,
}

/// `CUDA_ARRAY3D_DESCRIPTOR`.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct Deep {
    width: usize,
    height: usize,
    depth: usize,
    format: u32,
    channels: u32,
    flags: u32,
}

fn described(of: Handle) -> Result<Deep, Error> {
    let driver = driver()?;
    let array = driver.arrays.get(of)?;
    let [width, height, depth] = array.size;
    let (format, flags, channels) = (array.format, array.flags, array.image.channels);
    Ok(Deep { width, height, depth, format, channels, flags })
}

/// Returns memory without rows.
fn memory(address: u64) -> Side {
    Side::Rows { address, pitch: 0, height: 0 }
}

/// Copies between memory and an array, whose rows follow each other from byte `offset` on.
fn rows(of: Handle, offset: usize, address: u64, bytes: usize, to: bool) -> Result<(), Error> {
    let row = {
        let driver = driver()?;
        let image = &driver.arrays.get(of)?.image;
        image.size[0] as usize * image.texel_bytes() as usize
    };
    let (mut at, mut done) = (offset, 0);
    while done < bytes {
        let count = (row - at % row).min(bytes - done);
        let side = array(of, [at % row, at / row, 0])?;
        let memory = memory(address.checked_add(done as u64).ok_or(Error::INVALID_VALUE)?);
        let (to, from) = if to { (&side, &memory) } else { (&memory, &side) };
        block(to, from, [count, 1, 1])?;
        (at, done) = (at + count, done + count);
    }
    Ok(())
}

entry_points! {
    fn cuArrayCreate_v2(out: Out<Handle>, descriptor: In<Flat>) {
        let mut driver = driver()?;
        out.check()?;
        let d = descriptor.get()?;
        out.set(driver.create_array([d.width, d.height, 0], d.format, d.channels, 0)?)
    }

    fn cuArray3DCreate_v2(out: Out<Handle>, descriptor: In<Deep>) {
        let mut driver = driver()?;
        out.check()?;
        let d = descriptor.get()?;
        let size = [d.width, d.height, d.depth];
        out.set(driver.create_array(size, d.format, d.channels, d.flags)?)
    }

    fn cuArrayDestroy(array: Handle) {
        driver()?.destroy_array(array)
    }

    fn cuArrayGetDescriptor_v2(out: Out<Flat>, array: Handle) {
        let Deep { width, height, format, channels, .. } = described(array)?;
        out.set(Flat { width, height, format, channels })
    }

    fn cuArray3DGetDescriptor_v2(out: Out<Deep>, array: Handle) {
        out.set(described(array)?)
    }

    fn cuMemcpyHtoA_v2(to: Handle, offset: usize, from: u64, bytes: usize) {
        rows(to, offset, from, bytes, true)
    }

    fn cuMemcpyHtoAAsync_v2(to: Handle, offset: usize, from: u64, bytes: usize, stream: Handle) {
        driver()?.stream(stream)?;
        rows(to, offset, from, bytes, true)
    }

    fn cuMemcpyDtoA_v2(to: Handle, offset: usize, from: u64, bytes: usize) {
        rows(to, offset, from, bytes, true)
    }

    fn cuMemcpyAtoH_v2(to: u64, from: Handle, offset: usize, bytes: usize) {
        rows(from, offset, to, bytes, false)
    }

    fn cuMemcpyAtoHAsync_v2(to: u64, from: Handle, offset: usize, bytes: usize, stream: Handle) {
        driver()?.stream(stream)?;
        rows(from, offset, to, bytes, false)
    }

    fn cuMemcpyAtoD_v2(to: u64, from: Handle, offset: usize, bytes: usize) {
        rows(from, offset, to, bytes, false)
    }

    fn cuMemcpyAtoA_v2(
        to: Handle, to_offset: usize, from: Handle, from_offset: usize, bytes: usize,
    ) {
        // Both have one row, as CUDA requires.
        let to = array(to, [to_offset, 0, 0])?;
        block(&to, &array(from, [from_offset, 0, 0])?, [bytes, 1, 1])
    }
}
