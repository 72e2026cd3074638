//! Functions of simt-sim's own, for callers in the process.
//!
//! Texts that these functions return belong to the library. They stay valid until the next call
//! of the same function in the same thread.

use std::cell::RefCell;
use std::ffi::{CString, c_char};
use std::panic::catch_unwind;
use std::ptr::null;

use crate::failed;
use crate::state::driver;

thread_local! {
    static REPORT: RefCell<CString> = RefCell::new(CString::default());
}

/// Keeps a text for the thread and returns its address.
fn keep(text: String) -> *const c_char {
    let Ok(text) = CString::new(text) else {
        return null();
    };
    REPORT.with_borrow_mut(|kept| {
        *kept = text;
        kept.as_ptr()
    })
}

/// Returns the report of the last launch as JSON (`simt-sim/run/1`); null before the first launch.
// SAFETY: no other library has a function of this name.
#[unsafe(no_mangle)]
extern "C" fn simtReportLast() -> *const c_char {
    let report = catch_unwind(|| {
        let mut driver = driver().ok()?;
        driver.reports.last()?.to_json().ok()
    });
    report.ok().flatten().map_or(null(), keep)
}

/// Returns the number of launches so far in the process.
// SAFETY: no other library has a function of this name.
#[unsafe(no_mangle)]
extern "C" fn simtLaunchCount() -> u64 {
    driver().map_or(0, |driver| driver.reports.launches)
}

/// Tells the driver that a runtime library of simt-sim calls it. Returns 1 if that library shall
/// report calls that fail, as the driver does otherwise where checks are on.
// SAFETY: no other library has a function of this name.
#[unsafe(no_mangle)]
extern "C" fn simtServesRuntime() -> u32 {
    catch_unwind(failed::leave_to_runtime).map_or(0, u32::from)
}

/// Returns the version of simt-sim as text, as in `0.1.0`.
// SAFETY: no other library has a function of this name.
#[unsafe(no_mangle)]
extern "C" fn simtVersion() -> *const c_char {
    const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "\0");
    VERSION.as_ptr().cast()
}
