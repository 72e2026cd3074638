//! Output of `printf` in a report.

use serde::Serialize;
use simt_core::observe;

/// Output of `printf` in a kernel, by block and by time within a block.
#[derive(Clone, Debug, Serialize)]
pub struct Output {
    /// All texts, joined; bytes that are not UTF-8 are replaced.
    pub text: String,
    /// Texts of the single calls.
    pub calls: Vec<OutputCall>,
    /// Calls whose text did not fit into the buffer of 1 MiB.
    pub dropped: u64,
}

/// Text of one call of `printf`.
#[derive(Clone, Debug, Serialize)]
pub struct OutputCall {
    /// Block of the thread.
    pub block: u32,
    /// Thread index in the block.
    pub thread: u32,
    /// Text.
    pub text: String,
}

impl Output {
    /// Returns the output of a run; `None` if nothing was printed.
    pub(crate) fn of(output: &observe::Output) -> Option<Output> {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let calls = output.texts().map(|printed| OutputCall {
            block: printed.block.0,
            thread: printed.thread,
            text: text(&printed.text),
        });
        (!output.is_empty()).then(|| Output {
            text: text(&output.bytes()),
            calls: calls.collect(),
            dropped: output.dropped(),
        })
    }
}
