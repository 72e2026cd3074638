//! Memory pools, and memory allocated in the order of a stream.

use super::entry_points;
use super::memory::free;
use super::pointer::{In, Out};
use crate::error::Error;
use crate::operation::{Allocation, Operation};
use crate::queue;
use crate::state::{at_once, driver};
use crate::table::Handle;

/// `CUmemPoolProps`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct Properties {
    kind: i32,
    handles: i32,
    place: i32,
    device: i32,
    security: usize,
    most: usize,
    usage: u64,
    reserved: [u64; 6],
}

/// `CU_MEM_ALLOCATION_TYPE_PINNED`, `CU_MEM_LOCATION_TYPE_DEVICE`.
const PINNED: i32 = 1;
const DEVICE: i32 = 1;

/// Allocates memory of a pool, or of the device's current one, in the order of a stream; that of a
/// captured stream is of its graph.
fn allocate_on(
    stream: Handle,
    out: Out<u64>,
    bytes: usize,
    pool: Option<Handle>,
) -> Result<(), Error> {
    let mut driver = at_once()?;
    driver.stream(stream)?;
    if driver.captured(stream)?.is_none() {
        driver.refuse_implicit(stream)?;
        driver.refuse_captures()?;
        out.check()?;
        if bytes == 0 {
            return out.set(0);
        }
        let mut driver = queue::finish(driver);
        let (context, found) = driver.context()?;
        let device = found.device;
        let address = driver.memory.allocate(bytes as u64, context)?;
        let pool = pool.unwrap_or_else(|| driver.pools.current_of(device));
        driver.pools.lend(pool, address, bytes as u64);
        return out.set(address);
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
        let mut driver = driver()?;
        driver.device(device)?;
        pool.set(driver.pools.default_of(device as usize))
    }

    fn cuDeviceGetMemPool(pool: Out<Handle>, device: i32) {
        pool.check()?;
        let mut driver = driver()?;
        driver.device(device)?;
        pool.set(driver.pools.current_of(device as usize))
    }

    fn cuDeviceSetMemPool(device: i32, pool: Handle) {
        let mut driver = driver()?;
        driver.device(device).map_err(|_| Error::INVALID_VALUE)?;
        driver.pools.choose(device as usize, pool)
    }

    fn cuMemPoolCreate(pool: Out<Handle>, properties: In<Properties>) {
        pool.check()?;
        let mut driver = driver()?;
        let Properties { kind, place, device, .. } = properties.get()?;
        if kind != PINNED || place != DEVICE || driver.device(device).is_err() {
            return Err(Error::INVALID_VALUE);
        }
        pool.set(driver.pools.add(device as usize))
    }

    fn cuMemPoolDestroy(pool: Handle) {
        driver()?.pools.remove(pool)
    }

    fn cuMemPoolTrimTo(pool: Handle, least: usize) {
        driver()?.pools.get(pool)?.trim(least as u64);
        Ok(())
    }

    fn cuMemPoolSetAttribute(pool: Handle, attribute: u32, value: usize) {
        let mut driver = driver()?;
        let pool = driver.pools.get(pool)?;
        let wide = || In::<u64>::at_address(value).get();
        match attribute {
            1..=3 => pool.reuse[attribute as usize - 1] = In::<i32>::at_address(value).get()? != 0,
            4 => pool.threshold = wide()?,
            6 | 8 if wide()? != 0 => return Err(Error::INVALID_VALUE),
            6 => pool.reserved.reset(),
            8 => pool.used.reset(),
            _ => return Err(Error::INVALID_VALUE),
        }
        Ok(())
    }

    fn cuMemPoolGetAttribute(pool: Handle, attribute: u32, value: usize) {
        let mut driver = driver()?;
        let pool = driver.pools.get(pool)?;
        let wide = match attribute {
            1..=3 => {
                let may = pool.reuse[attribute as usize - 1];
                return Out::<i32>::at_address(value).set(may.into());
            }
            4 => pool.threshold,
            5 => pool.reserved.now,
            6 => pool.reserved.most,
            7 => pool.used.now,
            8 => pool.used.most,
            _ => return Err(Error::INVALID_VALUE),
        };
        Out::<u64>::at_address(value).set(wide)
    }

    fn cuMemAllocAsync(out: Out<u64>, bytes: usize, stream: Handle) {
        allocate_on(stream, out, bytes, None)
    }

    fn cuMemAllocFromPoolAsync(out: Out<u64>, bytes: usize, pool: Handle, stream: Handle) {
        driver()?.pools.get(pool)?;
        allocate_on(stream, out, bytes, Some(pool))
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
        driver.pools.take_back(address);
        drop(driver);
        free(address)
    }
}
