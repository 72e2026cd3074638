//! Time: SMs, schedulers, scoreboard, pipes, memory system, block dispatch.
//!
//! [`run`] takes a checked kernel, a launch and a [`MachineSpec`] and tells an [`Observer`](crate::event::Observer) what
//! happens; it keeps no counter of its own. What is modelled, and from which source, stands at the head of each file:
//! `sm` (the cycle), `issue` (one step), `lower` (machine instructions), `expansion` (several for one step), `scheduler`, `program` (prices), `warp` (scoreboard), `memsys`, `l2` and `cache`, `block` (admission, barriers),
//! `verdict` (hangs), `gpu` (many SMs), `session` (issue by issue, and back), `spec` (machine files).

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
