//! Memory allocated in the order of a stream. A pool is a name: all memory is of one space.

use super::entry_points;
use super::memory::{allocate, free};
use super::pointer::Out;
use crate::error::Error;
use crate::operation::{Allocation, Operation};
use crate::state::{at_once, driver};
use crate::table::Handle;

/// Returns the default pool of a device, which it makes first.
fn default_pool(device: i32) -> Result<Handle, Error> {
    let mut driver = driver()?;
    driver.device(device)?;
    let index = device as usize;
    let found = driver.pools.iter().find(|(_, of)| **of == index).map(|(pool, _)| pool);
    Ok(found.unwrap_or_else(|| driver.pools.add(index)))
}

/// Allocates memory in the order of a stream; that of a captured stream is of its graph.
fn allocate_on(stream: Handle, out: Out<u64>, bytes: usize) -> Result<(), Error> {
    let mut driver = at_once()?;
    driver.stream(stream)?;
    if driver.captured(stream)?.is_none() {
        driver.refuse_implicit(stream)?;
        driver.refuse_captures()?;
        drop(driver);
        return allocate(out, bytes);
    }
    out.check()?;
    let device = driver.current_device()? as i32;
    let bytes = bytes as u64;
    let address = driver.memory.reserve(bytes)?;
    driver.capture(stream, Operation::Allocate(Allocation { address, bytes, device }))?;
    out.set(address)
}

entry_points! {
    fn cuDeviceGetDefaultMemPool(pool: Out<Handle>, device: i32) {
        pool.check()?;
        pool.set(default_pool(device)?)
    }

    fn cuDeviceGetMemPool(pool: Out<Handle>, device: i32) {
        pool.check()?;
        pool.set(default_pool(device)?)
    }

    fn cuDeviceSetMemPool(device: i32, pool: Handle) {
        let mut driver = driver()?;
        driver.device(device)?;
        driver.pools.get(pool).map(|_| ())
    }

    fn cuMemPoolCreate(pool: Out<Handle>, _properties: usize) {
        pool.check()?;
        let made = driver()?.pools.add(0);
        pool.set(made)
    }

    fn cuMemPoolDestroy(pool: Handle) {
        driver()?.pools.remove(pool).map(|_| ())
    }

    fn cuMemPoolTrimTo(pool: Handle, _bytes: usize) {
        driver()?.pools.get(pool).map(|_| ())
    }

    fn cuMemPoolSetAttribute(pool: Handle, attribute: u32, _value: usize) {
        driver()?.pools.get(pool)?;
        if (1..=8).contains(&attribute) { Ok(()) } else { Err(Error::INVALID_VALUE) }
    }

    fn cuMemPoolGetAttribute(pool: Handle, attribute: u32, value: usize) {
        driver()?.pools.get(pool)?;
        match attribute {
            1..=3 => Out::<u32>::at_address(value).set(1),
            4..=8 => Out::<u64>::at_address(value).set(0),
            _ => Err(Error::INVALID_VALUE),
        }
    }

    fn cuMemAllocAsync(out: Out<u64>, bytes: usize, stream: Handle) {
        allocate_on(stream, out, bytes)
    }

    fn cuMemAllocFromPoolAsync(out: Out<u64>, bytes: usize, pool: Handle, stream: Handle) {
        driver()?.pools.get(pool)?;
        allocate_on(stream, out, bytes)
    }

    fn cuMemFreeAsync(address: u64, stream: Handle) {
        let mut driver = at_once()?;
        driver.stream(stream)?;
        if driver.captured(stream)?.is_some() {
            let graph = driver.graphs.captures.info(stream).map_or(0, |info| info.graph);
            driver.check_free(graph, address)?;
            return driver.capture(stream, Operation::Free(address)).map(|_| ());
        }
        driver.refuse_implicit(stream)?;
        driver.refuse_captures()?;
        drop(driver);
        if address == 0 { Err(Error::INVALID_VALUE) } else { free(address) }
    }
}
