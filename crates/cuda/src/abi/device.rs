//! Devices and their primary contexts.

use super::entry_points;
use super::pointer::{In, Out};
use crate::device::{Device, MOST_GRID, SHARED_DEFAULT};
use crate::error::Error;
use crate::state::{at_once, driver};

/// Flags of a context that a program may set.
pub(super) const CONTEXT_FLAGS: u32 = 0xff;

/// Properties of the oldest interface (`CUdevprop`).
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct Properties {
    threads: i32,
    block: [i32; 3],
    grid: [i32; 3],
    shared: i32,
    constant: i32,
    lanes: i32,
    pitch: i32,
    registers: i32,
    clock: i32,
    texture_align: i32,
}

fn ordinal(device: i32) -> Result<usize, Error> {
    usize::try_from(device).map_err(|_| Error::INVALID_DEVICE)
}

fn uuid(out: Out<[u8; 16]>, device: i32) -> Result<(), Error> {
    let uuid = at_once()?.device(device)?.uuid(ordinal(device)?);
    out.set(uuid)
}

fn release(device: i32) -> Result<(), Error> {
    let mut driver = driver()?;
    let found = driver.device(device)?;
    let primary = found.primary.filter(|_| found.retained > 0).ok_or(Error::INVALID_CONTEXT)?;
    found.retained -= 1;
    if found.retained == 0 { driver.end_context(primary) } else { Ok(()) }
}

fn reset(device: i32) -> Result<(), Error> {
    let mut driver = driver()?;
    let found = driver.device(device)?;
    let retained = found.retained;
    let Some(primary) = found.primary else {
        return Ok(());
    };
    driver.end_context(primary)?;
    driver.device(device)?.retained = retained;
    Ok(())
}

fn set_flags(device: i32, flags: u32) -> Result<(), Error> {
    let mut driver = at_once()?;
    let found = driver.device(device)?;
    if flags & !CONTEXT_FLAGS != 0 {
        return Err(Error::INVALID_VALUE);
    }
    found.flags = flags;
    Ok(())
}

entry_points! {
    fn cuDeviceGetCount(count: Out<i32>) {
        let devices = at_once()?.devices.len();
        count.set(devices as i32)
    }

    fn cuDeviceGet(device: Out<i32>, number: i32) {
        at_once()?.device(number)?;
        device.set(number)
    }

    fn cuDeviceGetName(name: Out<u8>, size: i32, device: i32) {
        let found = at_once()?.device(device)?.name();
        let size = usize::try_from(size).map_err(|_| Error::INVALID_VALUE)?;
        name.set_text(found.as_bytes(), size)
    }

    fn cuDeviceGetUuid(out: Out<[u8; 16]>, device: i32) {
        uuid(out, device)
    }

    fn cuDeviceGetUuid_v2(out: Out<[u8; 16]>, device: i32) {
        uuid(out, device)
    }

    fn cuDeviceTotalMem_v2(bytes: Out<usize>, device: i32) {
        let memory = at_once()?.device(device)?.memory;
        bytes.set(memory as usize)
    }

    fn cuDeviceGetAttribute(value: Out<i32>, attribute: u32, device: i32) {
        let found = at_once()?.device(device)?.attribute(attribute, ordinal(device)?)?;
        value.set(found)
    }

    fn cuDeviceComputeCapability(major: Out<i32>, minor: Out<i32>, device: i32) {
        let arch = at_once()?.device(device)?.arch as i32;
        major.set(arch / 10)?;
        minor.set(arch % 10)
    }

    fn cuDeviceGetProperties(properties: Out<Properties>, device: i32) {
        let mut driver = at_once()?;
        let device = driver.device(device)?;
        let threads = device.machine.max_block_threads as i32;
        properties.set(Properties {
            threads,
            block: [threads, threads, 64],
            grid: MOST_GRID.map(|n| n as i32),
            shared: SHARED_DEFAULT as i32,
            constant: 64 << 10,
            lanes: device.machine.warp_size as i32,
            pitch: i32::MAX,
            registers: device.machine.registers as i32,
            clock: device.machine.clock_mhz as i32 * 1000,
            texture_align: 512,
        })
    }

    fn cuDeviceGetPCIBusId(id: Out<u8>, size: i32, device: i32) {
        at_once()?.device(device)?;
        let size = usize::try_from(size).map_err(|_| Error::INVALID_VALUE)?;
        id.set_text(Device::bus_id(ordinal(device)?).as_bytes(), size)
    }

    fn cuDeviceGetByPCIBusId(device: Out<i32>, id: In<u8>) {
        let (id, count) = (id.text()?, at_once()?.devices.len());
        let found = (0..count).find(|&i| Device::bus_id(i).eq_ignore_ascii_case(&id));
        device.set(found.ok_or(Error::INVALID_DEVICE)? as i32)
    }

    fn cuDeviceCanAccessPeer(can: Out<i32>, device: i32, peer: i32) {
        let mut driver = at_once()?;
        driver.device(device)?;
        driver.device(peer)?;
        can.set(0)
    }

    fn cuDeviceGetP2PAttribute(value: Out<i32>, _attribute: u32, device: i32, peer: i32) {
        let mut driver = at_once()?;
        driver.device(device)?;
        driver.device(peer)?;
        if device == peer {
            return Err(Error::INVALID_DEVICE);
        }
        value.set(0)
    }

    fn cuDevicePrimaryCtxRetain(context: Out<u64>, device: i32) {
        let mut driver = at_once()?;
        context.check()?;
        let primary = driver.primary(device)?;
        driver.device(device)?.retained += 1;
        context.set(primary)
    }

    fn cuDevicePrimaryCtxRelease(device: i32) {
        release(device)
    }

    fn cuDevicePrimaryCtxRelease_v2(device: i32) {
        release(device)
    }

    fn cuDevicePrimaryCtxReset(device: i32) {
        reset(device)
    }

    fn cuDevicePrimaryCtxReset_v2(device: i32) {
        reset(device)
    }

    fn cuDevicePrimaryCtxSetFlags(device: i32, flags: u32) {
        set_flags(device, flags)
    }

    fn cuDevicePrimaryCtxSetFlags_v2(device: i32, flags: u32) {
        set_flags(device, flags)
    }

    fn cuDevicePrimaryCtxGetState(device: i32, flags: Out<u32>, active: Out<i32>) {
        let mut driver = at_once()?;
        let device = driver.device(device)?;
        flags.set(device.flags)?;
        active.set(i32::from(device.primary.is_some()))
    }
}
