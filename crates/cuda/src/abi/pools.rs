//! Memory allocated in the order of a stream. A pool is a name: all memory is of one space.

use super::entry_points;
use super::memory::{allocate, free};
use super::pointer::Out;
use crate::error::Error;
use crate::state::driver;
use crate::table::Handle;

/// Returns the default pool of a device, which it makes first.
fn default_pool(device: i32) -> Result<Handle, Error> {
    let mut driver = driver()?;
    driver.device(device)?;
    let index = device as usize;
    let found = driver.pools.iter().find(|(_, of)| **of == index).map(|(pool, _)| pool);
    Ok(found.unwrap_or_else(|| driver.pools.add(index)))
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
        driver()?.stream(stream)?;
        allocate(out, bytes)
    }

    fn cuMemAllocFromPoolAsync(out: Out<u64>, bytes: usize, pool: Handle, stream: Handle) {
        let driver = driver()?;
        driver.stream(stream)?;
        driver.pools.get(pool)?;
        drop(driver);
        allocate(out, bytes)
    }

    fn cuMemFreeAsync(address: u64, stream: Handle) {
        driver()?.stream(stream)?;
        if address == 0 { Err(Error::INVALID_VALUE) } else { free(address) }
    }
}
