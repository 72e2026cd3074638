//! Standard output of kernels, in order with that of a C program.

use std::ffi::{c_int, c_void};

unsafe extern "C" {
    /// C's buffered standard output.
    static mut stdout: *mut c_void;
    fn fwrite(data: *const c_void, size: usize, count: usize, stream: *mut c_void) -> usize;
    fn fflush(stream: *mut c_void) -> c_int;
}

/// Prints bytes where C's `printf` prints, so that both keep their order.
///
/// They are handed to the system at once: a program in another language would not do so at its end.
pub(crate) fn print(bytes: &[u8]) {
    if bytes.is_empty() {
        return;
    }
    // SAFETY: `stdout` is set before any code of the process runs and stays open; the bytes are as
    // long as stated.
    unsafe {
        let stream = stdout;
        fwrite(bytes.as_ptr().cast(), 1, bytes.len(), stream);
        fflush(stream);
    }
}
