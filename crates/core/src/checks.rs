//! Verdicts about how a program uses memory and synchronises, found while it runs.
//!
//! [`Checker`] is an observer: it sees every access of every lane, every barrier and every `.sync` instruction, and finds
//!
//! - **races** (`shadow`, `clocks`): two accesses to a byte, one of them a write, that nothing orders. Happens-before is built
//!   from program order, the lock-step of a warp before Volta, block barriers, warp barriers, and release and acquire through
//!   strong accesses; a run finds a race whichever of the two came first. The method is FastTrack's (Flanagan and Freund,
//!   PLDI'09) with the clocks of a GPU's hierarchy in place of vectors over all threads, as in BARRACUDA (Eizenberg et al., PLDI'17);
//! - **uninitialised reads** (`init`): registers, shared memory, local arrays;
//! - **barrier misuse** and **mask errors** (`sync`);
//! - with a fault, what lies next to the address (`bounds`).
//!
//! `steps` knows what each step of a stream means to these; `finding` is what is found, each pair of places once; `words` says it
//! to a reader. [`judge`] makes the diagnostics of a finished run.
//!
//! Not modelled: scopes (each strong access counts as one of the whole GPU), asynchronous copies, texture and surface memory. Global
//! buffers count as written: the launch fills them.

mod bounds;
mod clocks;
mod finding;
mod init;
mod observer;
mod parting;
mod shadow;
mod steps;
mod sync;
mod words;

#[cfg(test)]
mod tests;

pub use finding::{Does, Finding, Kind, Place};
pub use observer::{Checker, Checkers};
pub use words::{Account, judge};

pub use bounds::nearest;

/// Which checks are on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Checks {
    /// Data races.
    pub races: bool,
    /// Reads of what nothing has written.
    pub init: bool,
    /// Block barriers.
    pub barrier: bool,
    /// Masks of `.sync` instructions.
    pub sync: bool,
    /// Addresses out of bounds or misaligned.
    pub bounds: bool,
}

impl Checks {
    /// All of them.
    pub const ALL: Checks = Checks { races: true, init: true, barrier: true, sync: true, bounds: true };
    /// Their names.
    pub const NAMES: [&'static str; 5] = ["races", "init", "barrier", "sync", "bounds"];

    /// Those with these names.
    ///
    /// # Errors
    /// The first name that is none.
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

    /// The names of those that are on.
    pub fn names(&self) -> Vec<&'static str> {
        let on = [self.races, self.init, self.barrier, self.sync, self.bounds];
        Checks::NAMES.into_iter().zip(on).filter(|(_, on)| *on).map(|(name, _)| name).collect()
    }
}
