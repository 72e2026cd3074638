//! Teaching with simt-sim: questions with answers that are runs, quizzes, sweeps and graded
//! assignments.

pub mod ask;
pub mod grade;
pub mod quiz;
pub mod results;
pub mod sweep;
