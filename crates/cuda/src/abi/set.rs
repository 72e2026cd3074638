//! Memory filled with a value.

use super::copy::place;
use super::entry_points;
use crate::error::Error;
use crate::memory::AddressSpace;
use crate::state::{Driver, driver};
use crate::table::Handle;

/// Writes `count` values of `width` bytes.
fn row(driver: &mut Driver, address: u64, width: u64, value: u32, count: u64) -> Result<(), Error> {
    let bytes = count.checked_mul(width).ok_or(Error::INVALID_VALUE)?;
    if bytes == 0 {
        return Ok(());
    }
    let known = AddressSpace::is_device(address) || driver.memory.find(address).is_some();
    if !known || !address.is_multiple_of(width) {
        return Err(Error::INVALID_VALUE);
    }
    let target = place(&mut driver.memory, address, bytes)?;
    // SAFETY: the range lies in an allocation that the driver knows, and the driver is locked.
    let target = unsafe { std::slice::from_raw_parts_mut(target, bytes as usize) };
    match (width, value.to_le_bytes()) {
        (1, [a, ..]) => target.fill(a),
        (2, [a, b, ..]) => target.chunks_exact_mut(2).for_each(|c| c.copy_from_slice(&[a, b])),
        (_, all) => target.chunks_exact_mut(4).for_each(|c| c.copy_from_slice(&all)),
    }
    driver.filled(address, bytes);
    Ok(())
}

fn set(address: u64, width: u64, value: u32, count: usize, stream: Handle) -> Result<(), Error> {
    plane(address, 0, width, value, [count, 1], stream)
}

fn plane(
    address: u64,
    pitch: usize,
    width: u64,
    value: u32,
    [columns, rows]: [usize; 2],
    stream: Handle,
) -> Result<(), Error> {
    let mut driver = driver()?;
    driver.context()?;
    driver.stream(stream)?;
    let bytes = (columns as u64).checked_mul(width).ok_or(Error::INVALID_VALUE)?;
    if bytes == 0 {
        return Ok(());
    }
    if rows > 1 && (pitch as u64) < bytes {
        return Err(Error::INVALID_VALUE);
    }
    driver.transfer(|driver| {
        for y in 0..rows as u64 {
            let at = y.checked_mul(pitch as u64).and_then(|offset| address.checked_add(offset));
            row(driver, at.ok_or(Error::INVALID_VALUE)?, width, value, columns as u64)?;
        }
        Ok(())
    })
}

entry_points! {
    fn cuMemsetD8_v2(address: u64, value: u8, count: usize) {
        set(address, 1, value.into(), count, 0)
    }

    fn cuMemsetD8Async(address: u64, value: u8, count: usize, stream: Handle) {
        set(address, 1, value.into(), count, stream)
    }

    fn cuMemsetD16_v2(address: u64, value: u16, count: usize) {
        set(address, 2, value.into(), count, 0)
    }

    fn cuMemsetD16Async(address: u64, value: u16, count: usize, stream: Handle) {
        set(address, 2, value.into(), count, stream)
    }

    fn cuMemsetD32_v2(address: u64, value: u32, count: usize) {
        set(address, 4, value, count, 0)
    }

    fn cuMemsetD32Async(address: u64, value: u32, count: usize, stream: Handle) {
        set(address, 4, value, count, stream)
    }

    fn cuMemsetD2D8_v2(address: u64, pitch: usize, value: u8, width: usize, height: usize) {
        plane(address, pitch, 1, value.into(), [width, height], 0)
    }

    fn cuMemsetD2D8Async(
        address: u64, pitch: usize, value: u8, width: usize, height: usize, stream: Handle,
    ) {
        plane(address, pitch, 1, value.into(), [width, height], stream)
    }

    fn cuMemsetD2D16_v2(address: u64, pitch: usize, value: u16, width: usize, height: usize) {
        plane(address, pitch, 2, value.into(), [width, height], 0)
    }

    fn cuMemsetD2D16Async(
        address: u64, pitch: usize, value: u16, width: usize, height: usize, stream: Handle,
    ) {
        plane(address, pitch, 2, value.into(), [width, height], stream)
    }

    fn cuMemsetD2D32_v2(address: u64, pitch: usize, value: u32, width: usize, height: usize) {
        plane(address, pitch, 4, value, [width, height], 0)
    }

    fn cuMemsetD2D32Async(
        address: u64, pitch: usize, value: u32, width: usize, height: usize, stream: Handle,
    ) {
        plane(address, pitch, 4, value, [width, height], stream)
    }
}
