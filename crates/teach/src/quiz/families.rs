//! Families of questions: a bundled program, a rule by which its numbers are drawn, and what explains the figure that comes out.
//!
//! - `edges`: which warps a condition splits: bounds checks, a picture's border, alternating work
//! - `paths`: how often lines are issued: both sides of an if, early return, loops, many paths, reductions
//! - `resources`: sectors, banks, what fits onto an SM
//!
//! Numbers are drawn so that trivial cases (nothing diverges, everything fits) occur, but not often.

mod edges;
mod paths;
mod resources;

pub(super) use edges::{picture_warps, ragged_end, warp_aligned};
pub(super) use paths::{early_return, k_paths, reductions, same_path, uniform_loop};
pub(super) use resources::{bank_conflicts, coalescing, occupancy};
