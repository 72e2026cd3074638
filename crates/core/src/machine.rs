//! Timing model: SMs, schedulers, scoreboard, units, memory system, block dispatch.
//!
//! [`run`] takes compiled code, a launch and a [`Machine`](crate::spec::Machine), and reports
//! events to an [`Observer`](crate::event::Observer); it keeps no counters. Each file's header
//! states the model and its sources: `sm` (cycles), `issue` (one issue), `expansion` (machine
//! instructions of a micro-op), `scheduler`, `pricing` (costs), `fetch` (instruction cache),
//! `constant_cache` and `constant_loads` (constants), `warp` (scoreboard), `memsys`, `cache`, `l2`,
//! `shares`, `atomics`, `dram` and `stores` (memory), `block` (admission, barriers), `launches`
//! (starts of blocks), `carve_out` (size of L1), `verdict` (ends), `livelock` (its proof), `device`
//! (several SMs), `host` (threads for them), `spares` (warps that one SM leaves to another),
//! `contents` (their memory), `access_order` (SMs that run ahead of each other), `session` (single
//! steps, forwards and backwards). `untimed` runs the same code without time.

mod access_order;
mod atomics;
mod block;
mod bulk;
mod cache;
mod carve_out;
mod constant_cache;
mod constant_loads;
mod constants;
mod contents;
mod device;
mod dram;
mod expansion;
mod fences;
mod fetch;
mod host;
mod interleaved;
mod issue;
mod l2;
mod launches;
mod livelock;
mod memsys;
mod native_fetch;
mod options;
mod partitions;
mod pricing;
mod products;
mod read_ports;
mod requests;
mod scheduler;
mod session;
mod shares;
mod sm;
mod spares;
mod stores;
mod turns;
mod unevenness;
mod untimed;
mod verdict;
mod warp;

pub use block::{DoesNotFit, Occupancy};
pub use device::{Outcome, Watched, fits, run, watch};
pub use host::Host;
pub use livelock::QUIET;
pub use options::{Options, Timing};
pub use session::{Access, Saved, Session, WarpState, step_through};
pub use verdict::{FaultReport, Finish, Hang, Limit, StuckLanes};
