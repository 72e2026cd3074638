//! Place of this library in the process.

use std::ffi::{CStr, c_void};

/// Returns the path by which the library was loaded, or an empty text.
pub(super) fn path() -> String {
    let name = info().map_or(std::ptr::null(), |info| info.dli_fname);
    if name.is_null() {
        return String::new();
    }
    // SAFETY: the loader's text is zero-terminated and lives as long as the library.
    unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned()
}

/// Returns the address at which the library is loaded, or 0 if the loader does not know it.
pub(super) fn start() -> usize {
    info().map_or(0, |info| info.dli_fbase.addr())
}

fn info() -> Option<libc::Dl_info> {
    let mut found = libc::Dl_info {
        dli_fname: std::ptr::null(),
        dli_fbase: std::ptr::null_mut(),
        dli_sname: std::ptr::null(),
        dli_saddr: std::ptr::null_mut(),
    };
    let here = info as fn() -> Option<libc::Dl_info> as *const c_void;
    // SAFETY: the address is in this library, and the structure outlives the call.
    let is_known = unsafe { libc::dladdr(here, &raw mut found) };
    (is_known != 0).then_some(found)
}
