//! Families of questions: a bundled program, a rule for drawing its numbers, and an explanation of
//! the answer.
//!
//! - `edges`: warps split by a condition: bounds checks, an image border, alternating work
//! - `paths`: issue counts of lines: both sides of an if, early return, loops, many paths,
//!   reductions
//! - `resources`: sectors, banks, resident blocks
//!
//! Trivial cases (nothing diverges, everything fits) occur, but rarely.

mod edges;
mod paths;
mod resources;

pub(super) use edges::{picture_warps, ragged_end, warp_aligned};
pub(super) use paths::{early_return, k_paths, reductions, same_path, uniform_loop};
pub(super) use resources::{bank_conflicts, coalescing, occupancy};
