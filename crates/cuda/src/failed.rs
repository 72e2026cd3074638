//! Calls that fail, reported where checks are on.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{LazyLock, Mutex, PoisonError};

use crate::{error, options};

/// Results that a program may expect: work that is not done, a function that does not exist.
const ANSWERS: [u32; 2] = [600, 500];

/// True if failed calls are reported.
static ON: LazyLock<AtomicBool> = LazyLock::new(|| AtomicBool::new(options::checks_are_on()));

/// Leaves the reports to a runtime library that calls the driver. Returns true if it shall report.
pub(crate) fn leave_to_runtime() -> bool {
    options::checks_are_on() && {
        ON.store(false, Relaxed);
        true
    }
}

/// Reports a call that failed, the first time with this result.
pub(crate) fn report(name: &'static str, code: u32) {
    static TOLD: Mutex<BTreeSet<(&'static str, u32)>> = Mutex::new(BTreeSet::new());
    if code == 0 || ANSWERS.contains(&code) || !ON.load(Relaxed) {
        return;
    }
    if TOLD.lock().unwrap_or_else(PoisonError::into_inner).insert((name, code)) {
        let [known, text] = [error::name(code), error::text(code)].map(|word| word.unwrap_or("?"));
        crate::say(&format!("simt-sim: {name} failed: {known} ({code}), {text}\n"));
    }
}
