//! End of the process.

use std::panic::catch_unwind;

use crate::state;

/// Makes the process wait for its launches before it ends, and print what they left.
pub(crate) fn at_exit() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        // SAFETY: the function takes no argument, returns, and does not unwind.
        unsafe { libc::atexit(finish) };
    });
}

extern "C" fn finish() {
    let _ = catch_unwind(|| {
        let Ok(driver) = state::driver() else { return };
        if driver.options.checks.is_some()
            && let Some(unfreed) = driver.memory.unfreed()
        {
            drop(driver);
            crate::say(&unfreed);
        }
    });
}
