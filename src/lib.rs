//! A cycle-level SIMT warp simulator: which lanes of a warp worked, when, and why a warp waited.
//!
//! Data flows one way: text → tree → checked kernel → launch → machine → events → reports. `docs/architecture.md` has the
//! map, and a test holds the modules to it.

pub mod base;
pub mod diag;
pub mod divergence;
pub mod event;
pub mod exec;
pub mod isa;
pub mod kernel;
pub mod launch;
pub mod machine;
pub mod observe;
pub mod oracle;
pub mod pipeline;
pub mod report;
pub mod text;
