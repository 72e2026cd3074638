//! Contexts.

use simt_core::exec::Heap;

use super::device::CONTEXT_FLAGS;
use super::entry_points;
use super::pointer::Out;
use crate::error::Error;
use crate::state::{self, Driver, at_once, driver};
use crate::stream::PRIORITIES;
use crate::table::Handle;

/// Version of the interface that contexts report.
const API_VERSION: u32 = 3020;

fn create(context: Out<Handle>, flags: u32, device: i32) -> Result<(), Error> {
    let mut driver = driver()?;
    context.check()?;
    driver.device(device)?;
    if flags & !CONTEXT_FLAGS != 0 {
        return Err(Error::INVALID_VALUE);
    }
    let made = driver.create_context(device as usize, flags, false);
    state::push_current(made);
    context.set(made)
}

/// Flag that every context has: memory of the host can be mapped.
const MAP_HOST: u32 = 8;

/// Number of the limit of the heap.
pub(crate) const HEAP: u32 = 2;

/// Returns the default of a limit on the current device, as on an H200.
fn limit(driver: &mut Driver, number: u32) -> Result<u64, Error> {
    let device = driver.current_device()?;
    let device = driver.devices.get(device).ok_or(Error::INVALID_CONTEXT)?;
    Ok(match number {
        0 => 1024,                                       // stack of a thread
        1 => u64::from(device.machine.sms) * (64 << 10), // buffer of printf
        HEAP => 8 << 20,
        3 | 9 => return Err(Error::UNSUPPORTED_LIMIT),
        4 => 2048,
        5 => 64,
        6 | 8 => 0,
        7 => device.most_shared().into(),
        _ => return Err(Error::INVALID_VALUE),
    })
}

/// Returns the device of a context; 0 is the current one.
fn device_of(context: Handle) -> Result<i32, Error> {
    let mut driver = at_once()?;
    let device = match context {
        0 => driver.current_device()?,
        context => driver.contexts.get(context).map_err(|_| Error::INVALID_CONTEXT)?.device,
    };
    Ok(device as i32)
}

fn destroy(context: Handle) -> Result<(), Error> {
    let mut driver = driver()?;
    let found = driver.contexts.get(context).map_err(|_| Error::INVALID_CONTEXT)?;
    if found.is_primary {
        return Err(Error::INVALID_CONTEXT);
    }
    if state::current() == context {
        state::pop_current()?;
    }
    driver.end_context(context)
}

entry_points! {
    fn cuCtxCreate_v2(context: Out<Handle>, flags: u32, device: i32) {
        create(context, flags, device)
    }

    fn cuCtxCreate_v3(
        context: Out<Handle>, _affinity: usize, count: i32, flags: u32, device: i32,
    ) {
        if count != 0 {
            return Err(Error::NOT_SUPPORTED);
        }
        create(context, flags, device)
    }

    fn cuCtxCreate_v4(context: Out<Handle>, _parameters: usize, flags: u32, device: i32) {
        create(context, flags, device)
    }

    fn cuCtxDestroy_v2(context: Handle) {
        destroy(context)
    }

    // Nothing attaches to a context but its creator.
    fn cuCtxDetach(context: Handle) {
        destroy(context)
    }

    fn cuCtxPushCurrent_v2(context: Handle) {
        if context == 0 {
            return Err(Error::INVALID_VALUE);
        }
        at_once()?.contexts.get(context).map_err(|_| Error::INVALID_CONTEXT)?;
        state::push_current(context);
        Ok(())
    }

    fn cuCtxPopCurrent_v2(context: Out<Handle>) {
        drop(at_once()?);
        let popped = state::pop_current()?;
        context.set_if(popped)
    }

    fn cuCtxSetCurrent(context: Handle) {
        if context != 0 {
            at_once()?.contexts.get(context).map_err(|_| Error::INVALID_CONTEXT)?;
        } else {
            drop(at_once()?);
        }
        state::set_current(context);
        Ok(())
    }

    fn cuCtxGetCurrent(context: Out<Handle>) {
        drop(at_once()?);
        context.set(state::current())
    }

    fn cuCtxGetDevice(device: Out<i32>) {
        let found = device_of(0)?;
        device.set(found)
    }

    fn cuCtxGetDevice_v2(device: Out<i32>, context: Handle) {
        let found = device_of(context)?;
        device.set(found)
    }

    fn cuCtxSynchronize() {
        at_once()?.refuse_captures_of(state::current())?;
        let mut driver = driver()?;
        driver.trim_pools();
        driver.context().map(|_| ())
    }

    fn cuCtxSynchronize_v2(context: Handle) {
        let waits = if context == 0 { state::current() } else { context };
        at_once()?.refuse_captures_of(waits)?;
        let mut driver = driver()?;
        driver.trim_pools();
        if context == 0 {
            return driver.context().map(|_| ());
        }
        let found = driver.contexts.get(context).map_err(|_| Error::INVALID_CONTEXT)?;
        found.fault.map_or(Ok(()), Err)
    }

    fn cuCtxGetFlags(flags: Out<u32>) {
        let found = at_once()?.context()?.1.flags;
        flags.set(found | MAP_HOST)
    }

    fn cuCtxSetFlags(flags: u32) {
        let mut driver = driver()?;
        let (_, context) = driver.context()?;
        if flags & !CONTEXT_FLAGS != 0 {
            return Err(Error::INVALID_VALUE);
        }
        context.flags = flags;
        Ok(())
    }

    fn cuCtxGetApiVersion(context: Handle, version: Out<u32>) {
        device_of(context)?;
        version.set(API_VERSION)
    }

    fn cuCtxGetId(context: Handle, id: Out<u64>) {
        device_of(context)?;
        id.set(if context == 0 { state::current() } else { context })
    }

    fn cuCtxGetLimit(value: Out<usize>, number: u32) {
        let mut driver = at_once()?;
        let default = limit(&mut driver, number)?;
        let (_, context) = driver.context()?;
        value.set(context.limits.get(&number).copied().unwrap_or(default) as usize)
    }

    fn cuCtxSetLimit(number: u32, value: usize) {
        let mut driver = driver()?;
        limit(&mut driver, number)?;
        let (_, context) = driver.context()?;
        let value = match number {
            0 if value > 512 << 10 => return Err(Error::INVALID_VALUE),
            HEAP if context.heap.as_ref().is_some_and(Heap::was_used) => {
                return Err(Error::INVALID_VALUE);
            }
            5 if value > 128 => return Err(Error::INVALID_VALUE),
            // What an H200 grants.
            0 => value.next_multiple_of(16),
            1 => value.max(512 << 10),
            HEAP => value.max(4 << 20),
            _ => value,
        };
        if number == HEAP {
            context.heap = None; // the next launch that needs one makes it
        }
        context.limits.insert(number, value as u64);
        Ok(())
    }

    fn cuCtxGetCacheConfig(config: Out<u32>) {
        let mut driver = at_once()?;
        let (_, context) = driver.context()?;
        config.set(context.cache_config)
    }

    fn cuCtxSetCacheConfig(config: u32) {
        let mut driver = at_once()?;
        let (_, context) = driver.context()?;
        if config > 3 {
            return Err(Error::INVALID_VALUE);
        }
        context.cache_config = config;
        Ok(())
    }

    fn cuCtxGetSharedMemConfig(config: Out<u32>) {
        at_once()?.context()?;
        config.set(1)
    }

    fn cuCtxSetSharedMemConfig(config: u32) {
        at_once()?.context()?;
        if config <= 2 { Ok(()) } else { Err(Error::INVALID_VALUE) }
    }

    fn cuCtxGetStreamPriorityRange(least: Out<i32>, greatest: Out<i32>) {
        at_once()?.context()?;
        least.set_if(PRIORITIES[0])?;
        greatest.set_if(PRIORITIES[1])
    }

    fn cuCtxResetPersistingL2Cache() {
        driver()?.context().map(|_| ())
    }

    fn cuCtxEnablePeerAccess(context: Handle, flags: u32) {
        device_of(context)?;
        Err(if flags == 0 { Error::PEER_ACCESS_UNSUPPORTED } else { Error::INVALID_VALUE })
    }

    fn cuCtxDisablePeerAccess(context: Handle) {
        device_of(context)?;
        Err(Error::PEER_ACCESS_NOT_ENABLED)
    }
}
