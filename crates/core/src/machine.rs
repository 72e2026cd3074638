//! Timing model: SMs, schedulers, scoreboard, pipes, memory system, block dispatch.
//!
//! [`run`] takes a checked kernel, a launch and a [`Machine`], and reports events to an
//! [`Observer`](crate::event::Observer); it keeps no counters. Each file's header states the model
//! and its sources: `sm` (cycles), `issue` (steps), `lower` (instruction lowering), `expansion`
//! (micro-ops of a step), `scheduler`, `program` (costs), `warp` (scoreboard), `memsys`, `l2` and
//! `cache`, `block` (admission, barriers), `verdict` (hangs), `gpu` (several SMs), `session`
//! (single steps, forwards and backwards), `spec` (machine files).

mod block;
mod cache;
mod dram;
mod expansion;
mod fetch;
mod gpu;
mod issue;
mod l2;
mod memsys;
mod program;
mod scheduler;
mod session;
mod sm;
mod stores;
mod verdict;
mod warp;

pub use block::{DoesNotFit, Occupancy};
pub use gpu::{Host, Options, Outcome, Watched, fits, run, watch};
pub use session::{Access, Saved, Session, WarpState, step_through};
pub use verdict::{FaultReport, Finish, Hang, Limit, QUIET, StuckLanes};
