//! Grading: measures a submitted kernel under an assignment's launches and gives points.
//!
//! An [`Assignment`] is a folder that the caller has read: launches, criteria, limits, and the
//! programs to compare with. [`measure`] runs a [`Submission`] and returns figures without
//! verdicts; [`judge`] compares them with the reference's and returns [`Graded`], which `show`
//! prints. The two are separate so that a submission can run in its own process, and the reference
//! only once.
//!
//! Everything that decides a grade comes from the assignment: the directives of its reference
//! program set grid, buffers, arguments and expectations. Of a submission's `//!` lines only
//! constants listed in `choices` count. `docs/grading.md` describes the format.
//!
//! Nothing here reads a file, starts a process or reads a clock; the caller does.

mod answers;
mod assignment;
mod estimate;
mod graded;
mod instructions;
mod judge;
mod measure;
mod record;
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
pub use measure::{Found, Measured, Ran, RunLimit, measure};
pub(crate) use measure::{replay, watch};
pub use record::Record;
pub use rules::{Answer, Band, Criterion, Rule, Than};
pub use sanitise::{one_line, plain, without_colour};
pub use submission::{Lines, Submission};
