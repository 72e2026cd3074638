//! The core of simt-sim: PTX to a checked kernel, its code, and the SM that runs it.
//!
//! Data flows one way: text → tree → checked kernel → launch → machine → events → observers. It knows no file,
//! thread pool, terminal or picture. `docs/architecture.md` has the map, and a test holds the modules to it.

pub mod base;
pub mod checks;
pub mod code;
pub mod debug;
pub mod diag;
pub mod divergence;
pub mod event;
pub mod exec;
mod graph;
pub mod isa;
mod job;
pub mod kernel;
pub mod launch;
pub mod machine;
pub mod observe;
pub mod oracle;
mod program;
pub mod ptx;
pub mod ptxas;
pub mod schedules;
pub mod spec;

pub use job::{Job, PassageCounts};
pub use program::{NoKernel, Program};
