//! State of a thread: its last error, its device, and the driver's context for it.

use super::driver::{Driver, driver};
use super::missing::warn;
use super::own;
use crate::errors::{self, Error, Result};
use crate::props::Version;
use crate::registry::Handle;
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::CStr;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// Handle that names the default stream of the calling thread (`cudaStreamPerThread`).
const PER_THREAD_STREAM: Handle = 2;

thread_local! {
    /// Code of the last error that a call returned, 0 for none.
    static LAST: Cell<u32> = const { Cell::new(0) };
    /// Device that `cudaSetDevice` chose.
    static DEVICE: Cell<i32> = const { Cell::new(0) };
    /// True inside of a call whose default stream is the thread's own.
    static OWN_STREAM: Cell<bool> = const { Cell::new(false) };
}

/// Primary contexts that this library retains, by device.
static CONTEXTS: Mutex<BTreeMap<i32, Handle>> = Mutex::new(BTreeMap::new());

/// Locks a mutex, also after a panic of another thread.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs a call and returns its code; an error becomes the thread's last.
pub(super) fn answer(name: &'static str, call: impl FnOnce() -> Result<()>) -> u32 {
    match call() {
        Ok(()) => 0,
        Err(error) => {
            if !error.is_an_answer() {
                LAST.set(error.0);
                report(name, error);
            }
            error.0
        }
    }
}

/// Reports a call that failed, the first time with this error, if the driver wants it.
fn report(name: &'static str, error: Error) {
    static TOLD: Mutex<BTreeSet<(&str, u32)>> = Mutex::new(BTreeSet::new());
    if driver().is_ok_and(Driver::wants_reports) && lock(&TOLD).insert((name, error.0)) {
        let [known, text] =
            [errors::name(error.0), errors::text(error.0)].map(CStr::to_string_lossy);
        let name = name.trim_start_matches("__");
        warn(&format!("simt-sim: {name} failed: {known} ({}), {text}", error.0));
    }
}

/// Runs a call in which the default stream is that of the thread.
pub(super) fn per_thread(call: impl FnOnce() -> u32) -> u32 {
    let before = OWN_STREAM.replace(true);
    let code = call();
    OWN_STREAM.set(before);
    code
}

/// Returns the driver's handle of a stream that a caller gave.
pub(super) fn stream(given: Handle) -> Handle {
    if given == 0 && OWN_STREAM.get() { PER_THREAD_STREAM } else { given }
}

/// Code of the thread's last error.
pub(super) fn last_error() -> u32 {
    LAST.get()
}

/// Returns the thread's last error and clears it. A context that a fault ended reports it again at
/// the next call.
pub(super) fn take_last_error() -> u32 {
    LAST.replace(0)
}

/// Returns the error of rows that are longer than their pitch.
pub(super) fn bad_pitch() -> Error {
    if version() < Version::V13 { Error::INVALID_PITCH } else { Error::INVALID_VALUE }
}

/// Version of the API that the library serves.
static VERSION: OnceLock<Version> = OnceLock::new();

/// Returns the version of the API that the library serves: that of the runtime for which it [stands
/// in](serve), else the one in the name of its file.
pub(super) fn version() -> Version {
    *VERSION.get_or_init(|| Version::of_path(&own::path()))
}

/// Serves a version of the API. Returns false if it serves another one already.
pub(super) fn serve(version: Version) -> bool {
    *VERSION.get_or_init(|| version) == version
}

/// Returns the driver with a context of the thread's device made current.
///
/// A context that the program made current through the driver API stays.
///
/// # Errors
/// Returns the error of the driver, of its initialization or of the new context.
pub(super) fn current() -> Result<&'static Driver> {
    let driver = driver()?;
    let mut context = 0;
    driver.cuCtxGetCurrent(&raw mut context)?;
    if context == 0 {
        enter(driver, DEVICE.get())?;
    }
    Ok(driver)
}

/// Makes the primary context of a device the thread's, and retains it at first use.
fn enter(driver: &Driver, device: i32) -> Result<()> {
    let mut contexts = lock(&CONTEXTS);
    let context = match contexts.get(&device) {
        Some(&context) => context,
        None => {
            let mut context = 0;
            driver.cuDevicePrimaryCtxRetain(&raw mut context, device)?;
            contexts.insert(device, context);
            context
        }
    };
    driver.cuCtxSetCurrent(context)
}

/// Number of devices.
///
/// # Errors
/// Returns an error if there is no driver.
pub(super) fn device_count() -> Result<i32> {
    let mut count = 0;
    driver()?.cuDeviceGetCount(&raw mut count)?;
    Ok(count)
}

/// Returns the driver if a device exists.
///
/// # Errors
/// Returns `cudaErrorInvalidDevice` for other numbers.
pub(super) fn with_device(device: i32) -> Result<&'static Driver> {
    if !(0..device_count()?).contains(&device) {
        return Err(Error::INVALID_DEVICE);
    }
    driver()
}

/// Makes a device the thread's.
///
/// # Errors
/// Returns `cudaErrorInvalidDevice` for an unknown one, else the error of its context.
pub(super) fn set_device(device: i32) -> Result<()> {
    let driver = with_device(device)?;
    enter(driver, device)?;
    DEVICE.set(device);
    Ok(())
}

/// Returns the device of the thread's context.
///
/// # Errors
/// Returns an error if there is no driver.
pub(super) fn device() -> Result<i32> {
    let driver = driver()?;
    let (mut context, mut device) = (0, DEVICE.get());
    driver.cuCtxGetCurrent(&raw mut context)?;
    // A failed kernel's context may not answer: it is that of the thread's device.
    if context != 0 && driver.cuCtxGetDevice(&raw mut device).is_err() {
        device = DEVICE.get();
    }
    Ok(device)
}

/// Ends the context of the thread's device; the next call starts anew.
///
/// Output that kernels printed is written first.
///
/// # Errors
/// Returns the driver's error.
pub(super) fn reset() -> Result<()> {
    let device = device()?;
    let driver = driver()?;
    let mut contexts = lock(&CONTEXTS);
    if contexts.remove(&device).is_none() {
        return Ok(());
    }
    // A failed kernel's error ends with the context.
    _ = driver.cuCtxSynchronize();
    let end = driver.cuDevicePrimaryCtxReset_v2(device);
    driver.cuCtxSetCurrent(0)?;
    LAST.set(0);
    end
}
