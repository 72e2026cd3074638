//! What each fuzz target does with an input, and what must hold whatever the input is.
//!
//! Used twice: by the targets of cargo-fuzz (`fuzz_targets`), which look for inputs, and by the test suite
//! (`tests/suite/nonsense.rs`), which replays inputs that are kept and changes of them. Each body takes any bytes; what it asserts
//! is a promise of the program's: no panic, no hang, memory within the limits given, and what the body's own words say.

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

/// A target: its name, and what it does with an input.
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

/// The input as text. A file that is not UTF-8 is refused before anything reads it, so that needs no fuzzing.
fn text_of(data: &[u8]) -> std::borrow::Cow<'_, str> {
    String::from_utf8_lossy(data)
}
