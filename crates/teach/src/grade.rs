//! Grading: a submitted kernel is measured under an assignment's launches, and points are given for what was measured.
//!
//! An [`Assignment`] is a folder that the caller has read: launches, criteria, limits, and the programs to compare with. [`measure`]
//! runs a [`Submission`] and keeps figures, no verdicts; [`judge`] holds them against those of the reference and gives [`Graded`],
//! which `show` prints. The two are apart so that a submission can run in a process of its own, and the reference only once.
//!
//! What is judged comes from the assignment alone: the directives of its reference program decide grid, buffers, arguments and
//! expectations. Of a submission's `//!` lines nothing counts but constants that the assignment leaves to choose. The format is
//! described in `docs/grading.md`.
//!
//! Nothing here reads a file, starts a process or knows the time: the caller does.

mod answers;
mod assignment;
mod estimate;
mod graded;
mod instructions;
mod judge;
mod measure;
mod rules;
mod sanitise;
pub mod show;
mod submission;

#[cfg(test)]
mod tests;

pub use answers::answers;
pub use assignment::{Assignment, Case, Faults, LeaderboardEntry, Limits, Site, Spec};
pub use estimate::footprint;
pub use graded::{Failed, Graded, Leader, Mark};
pub use instructions::{Pattern, Used};
pub(crate) use judge::number;
pub use judge::{Answers, Reader, judge};
pub use measure::{Found, Measured, Ran, measure};
pub(crate) use measure::{replay, watch};
pub use rules::{Answer, Band, Criterion, Rule, Than};
pub use sanitise::{one_line, plain, without_colour};
pub use submission::{Lines, Submission};
