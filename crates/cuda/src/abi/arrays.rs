//! CUDA arrays, and copies from and to them.

use super::copy::{and_wait, in_order};
use super::entry_points;
use super::pointer::{In, Out};
use crate::copy::{BlockCopy, End, UNIFIED};
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

/// Rows of an array that follow each other from a byte on.
struct Rows {
    array: Handle,
    offset: usize,
}

/// Returns the copies between memory and an array, row by row.
fn copies(rows: &Rows, address: u64, bytes: usize, to: bool) -> Result<Vec<BlockCopy>, Error> {
    let row = {
        let driver = driver()?;
        let image = &driver.arrays.get(rows.array)?.image;
        image.size[0] as usize * image.texel_bytes() as usize
    };
    let (mut at, mut done, mut copies) = (rows.offset, 0, Vec::new());
    while done < bytes {
        let count = (row - at % row).min(bytes - done);
        let side = End::array(rows.array, [(at % row) as u64, (at / row) as u64, 0]);
        let memory = address.checked_add(done as u64).ok_or(Error::INVALID_VALUE)?;
        let memory = End::memory(UNIFIED, memory);
        let (to, from) = if to { (side, memory) } else { (memory, side) };
        copies.push(BlockCopy { to, from, size: [count as u64, 1, 1] });
        (at, done) = (at + count, done + count);
    }
    Ok(copies)
}

/// Copies from memory to an array, or back.
fn copy(array: Handle, offset: usize, address: u64, bytes: usize, to: bool) -> Result<(), Error> {
    let copies = copies(&Rows { array, offset }, address, bytes, to)?;
    copies.into_iter().try_for_each(and_wait)
}

/// Copies in the order of a stream.
fn copy_on(stream: Handle, rows: &Rows, address: u64, bytes: usize, to: bool) -> Result<(), Error> {
    driver()?.stream(stream)?;
    let mut copies = copies(rows, address, bytes, to)?.into_iter();
    copies.try_for_each(|copy| in_order(stream, copy))
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
        copy(to, offset, from, bytes, true)
    }

    fn cuMemcpyHtoAAsync_v2(to: Handle, offset: usize, from: u64, bytes: usize, stream: Handle) {
        copy_on(stream, &Rows { array: to, offset }, from, bytes, true)
    }

    fn cuMemcpyDtoA_v2(to: Handle, offset: usize, from: u64, bytes: usize) {
        copy(to, offset, from, bytes, true)
    }

    fn cuMemcpyAtoH_v2(to: u64, from: Handle, offset: usize, bytes: usize) {
        copy(from, offset, to, bytes, false)
    }

    fn cuMemcpyAtoHAsync_v2(to: u64, from: Handle, offset: usize, bytes: usize, stream: Handle) {
        copy_on(stream, &Rows { array: from, offset }, to, bytes, false)
    }

    fn cuMemcpyAtoD_v2(to: u64, from: Handle, offset: usize, bytes: usize) {
        copy(from, offset, to, bytes, false)
    }

    fn cuMemcpyAtoA_v2(
        to: Handle, to_offset: usize, from: Handle, from_offset: usize, bytes: usize,
    ) {
        // Both have one row, as CUDA requires.
        let [to, from] = [(to, to_offset), (from, from_offset)]
            .map(|(array, offset)| End::array(array, [offset as u64, 0, 0]));
        and_wait(BlockCopy { to, from, size: [bytes as u64, 1, 1] })
    }
}
