//! Allocation, and questions about addresses.

use std::sync::MutexGuard;

use super::entry_points;
use super::host::HostMemory;
use super::pointer::{In, Out};
use crate::error::Error;
use crate::memory::Use;
use crate::state::{Driver, at_once, driver};
use crate::table::Handle;

/// Flags of `cuMemHostAlloc`: portable, mapped, write-combined.
const HOST_FLAGS: u32 = 7;
/// Flag of mapped memory.
const MAPPED: u32 = 2;
/// Flags of `cuMemHostRegister`: portable, mapped, device I/O, read-only.
const REGISTER_FLAGS: u32 = 15;
/// Alignment of the rows of pitched memory, in bytes.
const PITCH: usize = 512;

/// Returns the driver for a call that changes memory at once, which a capture does not allow.
fn changing() -> Result<MutexGuard<'static, Driver>, Error> {
    at_once()?.refuse_captures()?;
    driver()
}

/// Allocates memory of the process.
fn host(out: Out<u64>, bytes: usize, purpose: Use, flags: u32) -> Result<(), Error> {
    let mut driver = changing()?;
    let (context, _) = driver.context()?;
    out.check()?;
    if bytes == 0 && purpose == Use::Pinned {
        return out.set(0);
    }
    let address = driver.memory.adopt(HostMemory::allocate(bytes)?, purpose, context, flags)?;
    out.set(address)
}

/// Allocates device memory.
pub(super) fn allocate(out: Out<u64>, bytes: usize) -> Result<(), Error> {
    let mut driver = driver()?;
    let (context, _) = driver.context()?;
    out.check()?;
    let address = driver.memory.allocate(bytes as u64, context)?;
    out.set(address)
}

/// Frees what `cuMemAlloc` and its kin allocated.
pub(super) fn free(address: u64) -> Result<(), Error> {
    let mut driver = driver()?;
    driver.context()?;
    if address == 0 {
        return Ok(());
    }
    driver.graphs.unfreed.remove(&address);
    driver.memory.free_device(address)
}

/// Writes an attribute of a pointer. For an address that the driver does not know, most have none.
fn attribute(out: usize, attribute: u32, address: u64) -> Result<(), Error> {
    let mut driver = at_once()?;
    let device_of_context = |driver: &mut Driver, context| {
        driver.contexts.get(context).map_or(0, |context| context.device)
    };
    let Some(found) = driver.memory.find(address) else {
        return Err(Error::INVALID_VALUE);
    };
    let (base, bytes, purpose, context, id) =
        (found.address, found.bytes, found.purpose, found.context, found.id);
    let managed = found.is_managed();
    let on_device = !matches!(purpose, Use::Pinned | Use::Registered);
    let device = device_of_context(&mut driver, context);
    let number = |value: u32| Out::<u32>::at_address(out).set(value);
    let wide = |value: u64| Out::<u64>::at_address(out).set(value);
    match attribute {
        1 => wide(context),
        2 => number(if on_device { 2 } else { 1 }),
        3 => wide(address),
        4 if on_device && !managed => Err(Error::INVALID_VALUE),
        4 => wide(address),
        6 => number(0),
        7 => wide(id),
        8 => number(u32::from(managed)),
        9 => number(device as u32),
        10 | 15 => number(0),
        11 => wide(base),
        12 => wide(bytes),
        13 => number(1),
        14 => wide(0),
        16 => number(3),
        17 => wide(0),
        18 => wide(bytes),
        19 => wide(base),
        20 => wide(id),
        21 => number(0),
        5 => Err(Error::NOT_SUPPORTED),
        _ => Err(Error::INVALID_VALUE),
    }
}

entry_points! {
    fn cuMemGetInfo_v2(free: Out<usize>, total: Out<usize>) {
        let mut driver = at_once()?;
        driver.context()?;
        free.set(driver.memory.free_bytes() as usize)?;
        total.set(driver.memory.limit as usize)
    }

    fn cuMemAlloc_v2(out: Out<u64>, bytes: usize) {
        drop(changing()?);
        allocate(out, bytes)
    }

    fn cuMemAllocPitch_v2(
        out: Out<u64>, pitch: Out<usize>, width: usize, height: usize, element: u32,
    ) {
        pitch.check()?;
        if !matches!(element, 4 | 8 | 16) {
            return Err(Error::INVALID_VALUE);
        }
        drop(changing()?);
        let row = width.checked_next_multiple_of(PITCH).ok_or(Error::OUT_OF_MEMORY)?;
        allocate(out, row.checked_mul(height).ok_or(Error::OUT_OF_MEMORY)?)?;
        pitch.set(row)
    }

    fn cuMemFree_v2(address: u64) {
        drop(changing()?);
        free(address)
    }

    fn cuMemGetAddressRange_v2(base: Out<u64>, bytes: Out<usize>, address: u64) {
        let mut driver = at_once()?;
        driver.context()?;
        let found = driver.memory.find(address).ok_or(Error::NOT_FOUND)?;
        base.set_if(found.address)?;
        bytes.set_if(found.bytes as usize)
    }

    fn cuMemAllocHost_v2(out: Out<u64>, bytes: usize) {
        host(out, bytes, Use::Pinned, 0)
    }

    fn cuMemHostAlloc(out: Out<u64>, bytes: usize, flags: u32) {
        if flags & !HOST_FLAGS != 0 {
            return Err(Error::INVALID_VALUE);
        }
        host(out, bytes, Use::Pinned, flags)
    }

    fn cuMemFreeHost(address: u64) {
        let mut driver = changing()?;
        driver.context()?;
        if address == 0 {
            return Ok(());
        }
        driver.memory.free(address, &[Use::Pinned])
    }

    fn cuMemAllocManaged(out: Out<u64>, bytes: usize, flags: u32) {
        if !(1..=4).contains(&flags) || flags == 3 {
            return Err(Error::INVALID_VALUE);
        }
        host(out, bytes, Use::Managed, flags)
    }

    fn cuMemHostGetDevicePointer_v2(out: Out<u64>, address: u64, flags: u32) {
        let mut driver = at_once()?;
        driver.context()?;
        let found = driver.memory.find(address).ok_or(Error::INVALID_VALUE)?;
        if flags != 0 || !matches!(found.purpose, Use::Pinned | Use::Registered | Use::Managed) {
            return Err(Error::INVALID_VALUE);
        }
        out.set(address)
    }

    fn cuMemHostGetFlags(flags: Out<u32>, address: u64) {
        let mut driver = at_once()?;
        driver.context()?;
        let found = driver.memory.find(address).ok_or(Error::INVALID_VALUE)?;
        if found.purpose != Use::Pinned {
            return Err(Error::INVALID_VALUE);
        }
        // The device can access all of it.
        flags.set(found.flags | MAPPED)
    }

    fn cuMemHostRegister_v2(address: usize, bytes: usize, flags: u32) {
        let mut driver = changing()?;
        let (context, _) = driver.context()?;
        if flags & !REGISTER_FLAGS != 0 {
            return Err(Error::INVALID_VALUE);
        }
        let memory = HostMemory::of_program(address, bytes)?;
        driver.memory.adopt(memory, Use::Registered, context, flags).map(|_| ())
    }

    fn cuMemHostUnregister(address: u64) {
        let mut driver = changing()?;
        driver.context()?;
        let freed = driver.memory.free(address, &[Use::Registered]);
        freed.map_err(|_| Error::HOST_MEMORY_NOT_REGISTERED)
    }

    fn cuMemAdvise(address: u64, bytes: usize, _advice: u32, _device: i32) {
        known(address, bytes)
    }

    fn cuMemAdvise_v2(address: u64, bytes: usize, _advice: u32, _location: u64) {
        known(address, bytes)
    }

    fn cuMemPrefetchAsync(address: u64, bytes: usize, _device: i32, stream: Handle) {
        prefetch(address, bytes, stream)
    }

    fn cuMemPrefetchAsync_v2(
        address: u64, bytes: usize, _location: u64, _flags: u32, stream: Handle,
    ) {
        prefetch(address, bytes, stream)
    }

    fn cuPointerGetAttribute(out: usize, number: u32, address: u64) {
        Out::<u32>::at_address(out).check()?;
        attribute(out, number, address)
    }

    fn cuPointerGetAttributes(count: u32, numbers: In<u32>, out: In<usize>, address: u64) {
        for i in 0..count as usize {
            let (number, out) = (numbers.at(i)?, out.at(i)?);
            Out::<u32>::at_address(out).check()?;
            // Unlike the single question, this one answers 0 for an unknown address.
            if attribute(out, number, address).is_err() {
                match number {
                    1 | 3 | 4 | 7 | 11 | 12 | 14 | 17..=20 => Out::<u64>::at_address(out).set(0)?,
                    9 => Out::<i32>::at_address(out).set(-2)?,
                    2 | 6 | 8 | 10 | 13 | 15 | 16 | 21 => Out::<u32>::at_address(out).set(0)?,
                    _ => return Err(Error::INVALID_VALUE),
                }
            }
        }
        Ok(())
    }

    fn cuPointerSetAttribute(_value: usize, attribute: u32, address: u64) {
        let mut driver = at_once()?;
        driver.context()?;
        driver.memory.find(address).ok_or(Error::INVALID_VALUE)?;
        if attribute == 6 { Ok(()) } else { Err(Error::INVALID_VALUE) }
    }
}

/// Moves memory, which needs no move here.
fn prefetch(address: u64, bytes: usize, stream: Handle) -> Result<(), Error> {
    let mut driver = driver()?;
    driver.stream(stream)?;
    driver.refuse_on(stream)?;
    drop(driver);
    known(address, bytes)
}

/// Checks that a range of addresses is allocated.
fn known(address: u64, bytes: usize) -> Result<(), Error> {
    let mut driver = at_once()?;
    driver.context()?;
    let found = driver.memory.find(address).ok_or(Error::INVALID_VALUE)?;
    let left = found.bytes - (address - found.address);
    if bytes as u64 <= left { Ok(()) } else { Err(Error::INVALID_VALUE) }
}
