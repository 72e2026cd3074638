//! Helpers of several tests: those of the core's tests, and files that more than one test reads.

#[path = "../../crates/core/tests/model/support.rs"]
mod shared;

use std::path::{Path, PathBuf};

pub(crate) use shared::*;

/// Returns every `.ir` and `.ptx` file under `folder`, without those that other tests judge:
/// answers to assignments (grading), unseen kernels (`crosscheck`), `frontends`, and programs of
/// several launches (`launches`).
pub(crate) fn texts(folder: &str) -> Vec<PathBuf> {
    let mut found = files(folder, &["ir", "ptx"]);
    found.retain(|path| {
        let apart = ["assignments", "unseen", "frontends", "several"];
        !apart.iter().any(|folder| path.starts_with(Path::new("programs").join(folder)))
    });
    found
}

/// FNV-1a over the words of a buffer, with the offset of `programs/unseen/host.cu`.
pub(crate) fn hash(words: &[u32]) -> u64 {
    let step = |h: u64, &word: &u32| (h ^ u64::from(word)).wrapping_mul(1_099_511_628_211);
    words.iter().fold(1_469_598_103_934_665_603, step)
}
