//! Attributes of functions and kernels.

use std::collections::BTreeMap;
use std::ffi::CString;
use std::sync::{Mutex, PoisonError};

use super::entry_points;
use super::pointer::Out;
use crate::device::SHARED_DEFAULT;
use crate::error::Error;
use crate::state::at_once;
use crate::table::Handle;

/// Names that were handed out; they stay until the end of the process.
static NAMES: Mutex<BTreeMap<String, CString>> = Mutex::new(BTreeMap::new());

/// Returns the address of a name as a C string.
fn name_of(function: Handle) -> Result<usize, Error> {
    let name = at_once()?.symbol(function)?.to_owned();
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    let text = CString::new(name.as_str()).map_err(|_| Error::UNKNOWN)?;
    let kept = names.entry(name).or_insert(text);
    Ok(kept.as_ptr().expose_provenance())
}

/// Returns an attribute, a number of `CUfunction_attribute`.
fn attribute(number: u32, function: Handle) -> Result<i32, Error> {
    let driver = at_once()?;
    let kernel = driver.kernel(function)?;
    let asked = driver.functions.get(function)?.most_dynamic;
    let device = driver.devices.first().ok_or(Error::INVALID_DEVICE)?;
    let arch = kernel.native.as_ref().map_or(device.arch, |native| native.arch);
    let module = driver.modules.get(driver.functions.get(function)?.module)?;
    let ptx = module.ptx_target().filter(|_| kernel.native.is_none());
    let constants = module.program.variables.iter();
    let constants = constants.filter(|v| v.space == simt_core::isa::Space::Const);
    Ok(match number {
        0 => {
            let registers = u64::from(kernel.registers_per_thread.max(16));
            let lanes = u64::from(device.machine.warp_size.max(1));
            let fits = u64::from(device.machine.registers) / registers / lanes * lanes;
            let most = fits.min(device.machine.max_block_threads.into());
            most.min(kernel.most_threads().into()) as i32
        }
        1 => kernel.shared_bytes as i32,
        2 => constants.map(|v| v.bytes.len()).sum::<usize>() as i32,
        3 => kernel.local_bytes as i32,
        4 => kernel.registers_per_thread as i32,
        5 => ptx.unwrap_or(arch) as i32,
        6 => arch as i32,
        7 => 0,
        8 => {
            let default = SHARED_DEFAULT.saturating_sub(kernel.shared_bytes);
            asked.unwrap_or(default) as i32
        }
        9 => -1,
        10..=15 => 0,
        _ => return Err(Error::INVALID_VALUE),
    })
}

fn set_attribute(function: Handle, number: u32, value: i32) -> Result<(), Error> {
    let mut driver = at_once()?;
    let shared = driver.kernel(function)?.shared_bytes;
    let most = driver.devices.first().map_or(0, crate::device::Device::most_shared);
    match number {
        8 => {
            let value = u32::try_from(value).map_err(|_| Error::INVALID_VALUE)?;
            if value > most.saturating_sub(shared) {
                return Err(Error::INVALID_VALUE);
            }
            driver.functions.get_mut(function)?.most_dynamic = Some(value);
            Ok(())
        }
        // Percent of L1 for shared memory, or -1.
        9 if !(-1..=100).contains(&value) => Err(Error::INVALID_VALUE),
        9 | 14 | 15 => Ok(()),
        10..=13 => Err(Error::NOT_SUPPORTED), // clusters
        _ => Err(Error::INVALID_VALUE),
    }
}

fn parameter(
    function: Handle,
    index: usize,
    offset: Out<usize>,
    size: Out<usize>,
) -> Result<(), Error> {
    let (all, _) = at_once()?.parameters(function)?;
    let &(at, bytes) = all.get(index).ok_or(Error::INVALID_VALUE)?;
    offset.set(at as usize)?;
    size.set_if(bytes as usize)
}

entry_points! {
    fn cuFuncGetAttribute(value: Out<i32>, number: u32, function: Handle) {
        value.check()?;
        let found = attribute(number, function)?;
        value.set(found)
    }

    fn cuFuncSetAttribute(function: Handle, number: u32, value: i32) {
        set_attribute(function, number, value)
    }

    fn cuKernelGetAttribute(value: Out<i32>, number: u32, kernel: Handle, device: i32) {
        at_once()?.device(device)?;
        value.check()?;
        let found = attribute(number, kernel)?;
        value.set(found)
    }

    fn cuKernelSetAttribute(number: u32, value: i32, kernel: Handle, device: i32) {
        at_once()?.device(device)?;
        set_attribute(kernel, number, value)
    }

    fn cuFuncSetCacheConfig(function: Handle, config: u32) {
        at_once()?.functions.get(function)?;
        if config <= 3 { Ok(()) } else { Err(Error::INVALID_VALUE) }
    }

    fn cuKernelSetCacheConfig(kernel: Handle, config: u32, device: i32) {
        let mut driver = at_once()?;
        driver.device(device)?;
        driver.functions.get(kernel)?;
        if config <= 3 { Ok(()) } else { Err(Error::INVALID_VALUE) }
    }

    fn cuFuncSetSharedMemConfig(function: Handle, config: u32) {
        at_once()?.functions.get(function)?;
        if config <= 2 { Ok(()) } else { Err(Error::INVALID_VALUE) }
    }

    fn cuFuncGetModule(module: Out<Handle>, function: Handle) {
        let found = at_once()?.functions.get(function)?.module;
        module.set(found)
    }

    fn cuFuncGetName(name: Out<usize>, function: Handle) {
        name.check()?;
        name.set(name_of(function)?)
    }

    fn cuKernelGetName(name: Out<usize>, kernel: Handle) {
        name.check()?;
        name.set(name_of(kernel)?)
    }

    fn cuFuncGetParamInfo(function: Handle, index: usize, offset: Out<usize>, size: Out<usize>) {
        parameter(function, index, offset, size)
    }

    fn cuKernelGetParamInfo(kernel: Handle, index: usize, offset: Out<usize>, size: Out<usize>) {
        parameter(kernel, index, offset, size)
    }

    fn cuFuncIsLoaded(state: Out<u32>, function: Handle) {
        at_once()?.functions.get(function)?;
        state.set(1)
    }

    fn cuFuncLoad(function: Handle) {
        at_once()?.functions.get(function).map(|_| ())
    }
}
