//! Devices, their properties, limits, errors and versions.

use super::context::{self, current, with_device};
use super::driver::{Driver, driver};
use super::{In, Out, Text, api, forward, missing};
use crate::errors::{self, Error, Result};
use crate::props::{Device, Version, properties};
use std::ffi::{c_char, c_void};

/// `cudaDeviceMapHost`, which every device has.
const MAP_HOST: u32 = 8;
/// Flags that a program may set: scheduling, mapped memory, local memory, synchronous copies.
const DEVICE_FLAGS: u32 = 0xff;

/// A device of the driver, for its properties.
struct Numbered {
    driver: &'static Driver,
    device: i32,
}

impl Device for Numbered {
    fn name(&self) -> Vec<u8> {
        let mut name = vec![0u8; 256];
        if self.driver.cuDeviceGetName(name.as_mut_ptr().cast(), 256, self.device).is_err() {
            return Vec::new();
        }
        name.truncate(name.iter().position(|&byte| byte == 0).unwrap_or(255));
        name
    }

    fn uuid(&self) -> [u8; 16] {
        let mut uuid = [0; 16];
        _ = self.driver.cuDeviceGetUuid_v2(&raw mut uuid, self.device);
        uuid
    }

    fn memory(&self) -> u64 {
        let mut bytes = 0;
        _ = self.driver.cuDeviceTotalMem_v2(&raw mut bytes, self.device);
        bytes as u64
    }

    fn attribute(&self, number: i32) -> i32 {
        attribute(self.driver, number, self.device).unwrap_or(0)
    }
}

/// Returns an attribute of a device.
pub(super) fn attribute(driver: &Driver, number: i32, device: i32) -> Result<i32> {
    let mut value = 0;
    let number = u32::try_from(number).map_err(|_| Error::INVALID_VALUE)?;
    driver.cuDeviceGetAttribute(&raw mut value, number, device)?;
    Ok(value)
}

fn write_properties(to: Out<u8>, device: i32, version: Version) -> Result<()> {
    let driver = with_device(device)?;
    to.set_bytes(&properties(&Numbered { driver, device }, version))
}

api! {
    cudaGetDeviceCount(count: Out<i32>) {
        let found = context::device_count()?;
        count.set(found)?;
        if found == 0 { Err(Error(100)) } else { Ok(()) }
    }

    cudaSetDevice(device: i32) {
        context::set_device(device)
    }

    cudaInitDevice(device: i32, _device_flags: u32, _flags: u32) {
        with_device(device).map(|_| ())
    }

    cudaGetDevice(device: Out<i32>) {
        device.set(context::device()?)
    }

    cudaGetDeviceProperties(properties: Out<u8>, device: i32) {
        // CUDA 12 has its own layout under another name, and keeps this one for older programs.
        let version = context::version();
        let version = if version == Version::V12 { Version::V11 } else { version };
        write_properties(properties, device, version)
    }

    cudaGetDeviceProperties_v2(properties: Out<u8>, device: i32) {
        write_properties(properties, device, Version::V12)
    }

    cudaDeviceGetAttribute(value: Out<i32>, number: i32, device: i32) {
        value.set(attribute(with_device(device)?, number, device)?)
    }

    cudaChooseDevice(device: Out<i32>, _properties: *const c_void) {
        with_device(0)?;
        device.set(0)
    }

    cudaSetValidDevices(_devices: *const i32, _count: i32) {
        Ok(())
    }

    cudaSetDeviceFlags(flags: u32) {
        driver()?;
        if flags & !DEVICE_FLAGS == 0 { Ok(()) } else { Err(Error::INVALID_VALUE) }
    }

    cudaGetDeviceFlags(flags: Out<u32>) {
        driver()?;
        flags.set(MAP_HOST)
    }

    cudaDeviceGetPCIBusId(text: *mut c_char, length: i32, device: i32) {
        with_device(device)?.cuDeviceGetPCIBusId(text, length, device)
    }

    cudaDeviceGetByPCIBusId(device: Out<i32>, text: Text) {
        let (text, mut found) = (text.get()?, 0);
        driver()?.cuDeviceGetByPCIBusId(&raw mut found, text.as_ptr())?;
        device.set(found)
    }

    cudaDeviceSynchronize() {
        current()?.cuCtxSynchronize()
    }

    cudaThreadSynchronize() {
        current()?.cuCtxSynchronize()
    }

    cudaDeviceReset() {
        context::reset()
    }

    cudaThreadExit() {
        context::reset()
    }

    cudaDeviceSetLimit(limit: u32, value: usize) {
        current()?.cuCtxSetLimit(limit, value)
    }

    cudaThreadSetLimit(limit: u32, value: usize) {
        current()?.cuCtxSetLimit(limit, value)
    }

    cudaDeviceGetLimit(value: Out<usize>, limit: u32) {
        let mut found = 0;
        current()?.cuCtxGetLimit(&raw mut found, limit)?;
        value.set(found)
    }

    cudaThreadGetLimit(value: Out<usize>, limit: u32) {
        let mut found = 0;
        current()?.cuCtxGetLimit(&raw mut found, limit)?;
        value.set(found)
    }

    // Preferences between L1 and shared memory, and for bank sizes that only Kepler had.
    cudaDeviceSetCacheConfig(preference: u32) {
        current()?.cuCtxSetCacheConfig(preference)
    }

    cudaThreadSetCacheConfig(preference: u32) {
        current()?.cuCtxSetCacheConfig(preference)
    }

    cudaDeviceGetCacheConfig(preference: Out<u32>) {
        let mut found = 0;
        current()?.cuCtxGetCacheConfig(&raw mut found)?;
        preference.set(found)
    }

    cudaThreadGetCacheConfig(preference: Out<u32>) {
        let mut found = 0;
        current()?.cuCtxGetCacheConfig(&raw mut found)?;
        preference.set(found)
    }

    cudaDeviceSetSharedMemConfig(_banks: u32) {
        current().map(|_| ())
    }

    cudaDeviceGetSharedMemConfig(banks: Out<u32>) {
        current()?;
        banks.set(1)
    }

    cudaCtxResetPersistingL2Cache() {
        current().map(|_| ())
    }

    cudaDeviceGetStreamPriorityRange(least: Out<i32>, greatest: Out<i32>) {
        let (mut low, mut high) = (0, 0);
        current()?.cuCtxGetStreamPriorityRange(&raw mut low, &raw mut high)?;
        least.set_if_wanted(low);
        greatest.set_if_wanted(high);
        Ok(())
    }

    cudaDeviceCanAccessPeer(able: Out<i32>, device: i32, peer: i32) {
        with_device(device)?;
        with_device(peer)?;
        able.set(0)
    }

    // No link between devices has any ability.
    cudaDeviceGetP2PAttribute(value: Out<i32>, _attribute: u32, device: i32, peer: i32) {
        with_device(device)?;
        with_device(peer)?;
        value.set(0)
    }

    cudaDeviceEnablePeerAccess(peer: i32, _flags: u32) {
        with_device(peer)?;
        Err(Error::PEER_UNSUPPORTED)
    }

    cudaDeviceDisablePeerAccess(peer: i32) {
        with_device(peer)?;
        Err(Error::PEER_NOT_ENABLED)
    }

    cudaDriverGetVersion(version: Out<i32>) {
        // Without a driver the answer is 0, not an error.
        let mut found = 0;
        if let Ok(driver) = driver() {
            driver.cuDriverGetVersion(&raw mut found)?;
        }
        version.set(found)
    }

    cudaRuntimeGetVersion(version: Out<i32>) {
        version.set(context::version().number())
    }

    cudaProfilerStart() {
        current()?.cuProfilerStart()
    }

    cudaProfilerStop() {
        current()?.cuProfilerStop()
    }

    cudaProfilerInitialize(_config: *const c_char, _output: *const c_char, _mode: u32) {
        Ok(())
    }

    // The per-thread variants differ in the driver's functions that a name selects by flags.
    cudaGetDriverEntryPoint [cudaGetDriverEntryPoint_ptsz] (
        name: Text, function: Out<usize>, flags: u64, found: Out<u32>,
    ) {
        entry_point(&name, function, context::version().number(), flags, found)
    }

    cudaGetDriverEntryPointByVersion [cudaGetDriverEntryPointByVersion_ptsz] (
        name: Text, function: Out<usize>, version: u32, flags: u64, found: Out<u32>,
    ) {
        let version = i32::try_from(version).map_err(|_| Error::INVALID_VALUE)?;
        entry_point(&name, function, version, flags, found)
    }
}

/// Looks a function of the driver up.
fn entry_point(
    name: &Text,
    function: Out<usize>,
    version: i32,
    flags: u64,
    found: Out<u32>,
) -> Result<()> {
    let name = name.get()?;
    let (mut address, mut status) = (0, 0);
    let looked = driver()?.cuGetProcAddress_v2(
        name.as_ptr(),
        &raw mut address,
        version,
        flags,
        &raw mut status,
    );
    function.set(address)?;
    found.set_if_wanted(status);
    // An unknown name is told by the status alone, if the caller asks for it.
    match looked {
        Err(Error::SYMBOL_NOT_FOUND) if !found.0.is_null() => Ok(()),
        looked => looked,
    }
}

#[unsafe(no_mangle)]
extern "C" fn cudaGetLastError() -> u32 {
    context::take_last_error()
}

#[unsafe(no_mangle)]
extern "C" fn cudaPeekAtLastError() -> u32 {
    context::last_error()
}

#[unsafe(no_mangle)]
extern "C" fn cudaGetErrorName(code: u32) -> *const c_char {
    errors::name(code).as_ptr()
}

#[unsafe(no_mangle)]
extern "C" fn cudaGetErrorString(code: u32) -> *const c_char {
    errors::text(code).as_ptr()
}

#[unsafe(no_mangle)]
extern "C" fn cudaGetExportTable(_table: *mut *const c_void, _id: In<[u8; 16]>) -> u32 {
    missing::report("cudaGetExportTable")
}

forward! {
    cudaLogsRegisterCallback =
        cuLogsRegisterCallback(function: usize, data: usize, callback: *mut usize);
    cudaLogsUnregisterCallback = cuLogsUnregisterCallback(callback: usize);
    cudaLogsCurrent = cuLogsCurrent(iterator: *mut u32, flags: u32);
    cudaLogsDumpToMemory = cuLogsDumpToMemory(
        iterator: *mut u32, buffer: *mut u8, bytes: *mut usize, flags: u32
    );
}
