//! Dynamic checks of memory accesses and synchronization.
//!
//! [`Checker`] is an observer. It sees every access of every lane, every barrier and every `.sync`
//! instruction, and reports
//!
//! - **data races** (`shadow`, `clocks`): two unsynchronized accesses to a byte, at least one of
//!   them a write. Happens-before follows from program order, pre-Volta lock-step, block barriers,
//!   warp barriers, and release and acquire through strong accesses. A run finds a race in either
//!   order of its accesses. The method is FastTrack (Flanagan and Freund, PLDI'09) with clocks per
//!   level of the GPU hierarchy instead of vectors over all threads, as in BARRACUDA (Eizenberg et
//!   al., PLDI'17);
//! - **uninitialized reads** (`init`): registers, shared memory, local arrays;
//! - **barrier misuse** and **mask errors** (`sync`);
//! - for a memory fault, the nearest allocation (`bounds`).
//!
//! `steps` precomputes the role of each step in a stream. `finding` holds the findings, one per
//! pair of places. `words` words them. [`judge`] makes the diagnostics of a finished run.
//!
//! Not modeled: scopes (every strong access counts as GPU-wide), texture and
//! surface memory. Global buffers count as written, since the launch fills them.

mod bounds;
mod cells;
mod clocks;
mod finding;
mod init;
mod lines;
mod observer;
mod pages;
mod parting;
mod rows;
mod shadow;
mod slab;
mod steps;
mod sync;
mod words;

#[cfg(test)]
mod tests;

pub use finding::{Does, Finding, Kind, Place};
pub use observer::{Checker, Checkers};
pub use words::{Account, judge};

pub use bounds::nearest;

/// Selection of checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Checks {
    /// Data races.
    pub races: bool,
    /// Uninitialized reads.
    pub init: bool,
    /// Block barriers.
    pub barrier: bool,
    /// Masks of `.sync` instructions.
    pub sync: bool,
    /// Addresses out of bounds or misaligned.
    pub bounds: bool,
}

impl Checks {
    /// Every check.
    pub const ALL: Checks =
        Checks { races: true, init: true, barrier: true, sync: true, bounds: true };
    /// Names of the checks.
    pub const NAMES: [&'static str; 5] = ["races", "init", "barrier", "sync", "bounds"];

    /// Selects checks by name; `all` selects every check.
    ///
    /// # Errors
    /// The first unknown name.
    pub fn named<'n>(names: impl IntoIterator<Item = &'n str>) -> Result<Checks, &'n str> {
        let mut checks = Checks::default();
        for name in names {
            match name {
                "all" => checks = Checks::ALL,
                "races" => checks.races = true,
                "init" => checks.init = true,
                "barrier" => checks.barrier = true,
                "sync" => checks.sync = true,
                "bounds" => checks.bounds = true,
                unknown => return Err(unknown),
            }
        }
        Ok(checks)
    }

    /// Returns the names of the selected checks.
    pub fn names(&self) -> Vec<&'static str> {
        let on = [self.races, self.init, self.barrier, self.sync, self.bounds];
        Checks::NAMES.into_iter().zip(on).filter(|(_, on)| *on).map(|(name, _)| name).collect()
    }
}
