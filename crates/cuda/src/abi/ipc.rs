//! Device memory and events that several processes use.
//!
//! A handle of memory names the process that made the memory, a file that this process has open,
//! and the file's number. Whoever may look into the process may open it. A handle of an event says
//! nothing: such an event is recorded when all work is done, so it is complete for whoever waits.

use std::fs::{File, OpenOptions};

use super::entry_points;
use super::pointer::Out;
use crate::error::Error;
use crate::state::driver;
use crate::stream::{DISABLE_TIMING, Event, INTERPROCESS};
use crate::table::Handle;

/// `CUipcMemHandle`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct MemoryHandle {
    mark: [u8; 8],
    process: u64,
    descriptor: u64,
    file: u64,
    bytes: u64,
    reserved: [u64; 3],
}

/// `CUipcEventHandle`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct EventHandle {
    mark: [u8; 8],
    process: u64,
    reserved: [u64; 6],
}

/// First bytes of a handle of memory, and of one of an event.
const MARK: [u8; 8] = *b"simt-sim";
const EVENT: [u8; 8] = *b"simt-evt";
/// Flag of an opening: lazy access between devices.
const LAZY_PEER_ACCESS: u32 = 1;

/// Returns descriptor and number of a file.
#[cfg(target_os = "linux")]
fn numbers(file: &File) -> Result<[u64; 2], Error> {
    use std::os::fd::AsRawFd;
    use std::os::unix::fs::MetadataExt;
    let number = file.metadata().map_err(|_| Error::INVALID_VALUE)?.ino();
    Ok([u64::try_from(file.as_raw_fd()).map_err(|_| Error::INVALID_VALUE)?, number])
}

#[cfg(not(target_os = "linux"))]
fn numbers(_file: &File) -> Result<[u64; 2], Error> {
    Err(Error::NOT_SUPPORTED)
}

fn get(handle: Out<MemoryHandle>, address: u64) -> Result<(), Error> {
    let mut driver = driver()?;
    driver.context()?;
    handle.check()?;
    let (bytes, file) = driver.memory.share(address)?;
    let [descriptor, file] = numbers(file)?;
    let process = u64::from(std::process::id());
    handle.set(MemoryHandle { mark: MARK, process, descriptor, file, bytes, reserved: [0; 3] })
}

fn open(out: Out<u64>, handle: MemoryHandle, flags: u32) -> Result<(), Error> {
    let mut driver = driver()?;
    let (context, _) = driver.context()?;
    out.check()?;
    if handle.mark != MARK || flags & !LAZY_PEER_ACCESS != 0 {
        return Err(Error::INVALID_VALUE);
    }
    if handle.process == u64::from(std::process::id()) {
        return Err(Error::INVALID_CONTEXT);
    }
    let path = format!("/proc/{}/fd/{}", handle.process, handle.descriptor);
    let file = OpenOptions::new().read(true).write(true).open(path);
    let file = file.map_err(|_| Error::INVALID_VALUE)?;
    let is_it = |file: &File| numbers(file).is_ok_and(|[_, number]| number == handle.file);
    if !is_it(&file) {
        return Err(Error::INVALID_VALUE); // the process has closed it
    }
    let address = driver.memory.import(file, handle.bytes, context, is_it)?;
    out.set(address)
}

entry_points! {
    fn cuIpcGetEventHandle(handle: Out<EventHandle>, event: Handle) {
        let mut driver = driver()?;
        driver.context()?;
        handle.check()?;
        if event == 0 {
            return Err(Error::INVALID_VALUE);
        }
        if driver.events.get(event)?.flags & INTERPROCESS == 0 {
            return Err(Error::INVALID_HANDLE);
        }
        let process = u64::from(std::process::id());
        handle.set(EventHandle { mark: EVENT, process, reserved: [0; 6] })
    }

    fn cuIpcOpenEventHandle(event: Out<Handle>, handle: EventHandle) {
        let mut driver = driver()?;
        let (context, _) = driver.context()?;
        event.check()?;
        if handle.mark != EVENT {
            return Err(Error::INVALID_VALUE);
        }
        if handle.process == u64::from(std::process::id()) {
            return Err(Error::INVALID_CONTEXT);
        }
        let flags = INTERPROCESS | DISABLE_TIMING;
        let made = driver.events.add(Event { context, flags, ..Event::default() });
        event.set(made)
    }

    fn cuIpcGetMemHandle(handle: Out<MemoryHandle>, address: u64) {
        get(handle, address)
    }

    fn cuIpcOpenMemHandle(out: Out<u64>, handle: MemoryHandle, flags: u32) {
        open(out, handle, flags)
    }

    fn cuIpcOpenMemHandle_v2(out: Out<u64>, handle: MemoryHandle, flags: u32) {
        open(out, handle, flags)
    }

    fn cuIpcCloseMemHandle(address: u64) {
        let mut driver = driver()?;
        driver.context()?;
        driver.memory.close(address)
    }
}
