//! Bodies of the fuzz targets, and the invariants that hold for any input.
//!
//! The targets of cargo-fuzz (`fuzz_targets`) use them to search for inputs, the test suite
//! (`tests/suite/nonsense.rs`) to replay kept inputs and edits of them. Each body takes any bytes
//! and checks that there is no panic, no hang, no memory beyond the given limits, and what its own
//! documentation states.

mod arguments;
pub mod edit;
mod grading;
mod laws;
mod loaders;
mod programs;

pub use arguments::arguments;
pub use grading::{answers, assignment, submission};
pub use loaders::{machine, records};
pub use programs::{check, run, text};

/// A target: its name and its body.
pub type Target = (&'static str, fn(&[u8]));

/// Every target.
pub const TARGETS: [Target; 9] = [
    ("answers", answers),
    ("arguments", arguments),
    ("assignment", assignment),
    ("check", check),
    ("machine", machine),
    ("records", records),
    ("run", run),
    ("submission", submission),
    ("text", text),
];

/// Decodes the input. Files that are not UTF-8 are refused before parsing, so they need no fuzzing.
fn text_of(data: &[u8]) -> std::borrow::Cow<'_, str> {
    String::from_utf8_lossy(data)
}
