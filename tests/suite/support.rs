//! Helpers of several tests: those of the core's tests, and files that more than one test reads.

#[path = "../../crates/core/tests/model/support.rs"]
mod shared;

use std::path::PathBuf;

pub(crate) use shared::*;

/// Returns every `.ir` and `.ptx` file under `folder`, without the answers to assignments and the
/// unseen kernels: grading and `crosscheck` judge these.
pub(crate) fn texts(folder: &str) -> Vec<PathBuf> {
    let mut found = files(folder, &["ir", "ptx"]);
    found.retain(|path| {
        !path.starts_with("programs/assignments") && !path.starts_with("programs/unseen")
    });
    found
}
