//! Number of steps of an SM: where turns end, and when to look for livelocks.
//!
//! Most steps need one comparison for both.

use crate::base::{LaneMask, Pc};
use crate::code::MicroOp;
use crate::machine::livelock::Watch;
use crate::machine::warp::Warp;

/// Steps of an SM.
pub(super) struct Pace {
    /// Micro-ops executed.
    issued: u64,
    /// Number of micro-ops at which the turn ends.
    until: u64,
    /// Number of micro-ops at which the turn ends or states are compared.
    quick: u64,
    /// Micro-ops that `watch` has counted.
    told: u64,
    watch: Watch,
}

impl Pace {
    pub(super) fn new() -> Pace {
        Pace { issued: 0, until: 0, quick: 0, told: 0, watch: Watch::new() }
    }

    /// Begins a turn that ends at a number of micro-ops.
    pub(super) fn begin_turn(&mut self, until: u64) {
        self.until = until;
        self.tell();
    }

    /// Returns the number of micro-ops executed.
    #[inline]
    pub(super) fn issued(&self) -> u64 {
        self.issued
    }

    /// Returns true if the turn is over.
    #[inline]
    pub(super) fn is_over(&self) -> bool {
        self.issued >= self.until
    }

    /// Returns true if the turn goes on and the next step needs no look at the states.
    #[inline]
    pub(super) fn is_quick(&self) -> bool {
        self.issued < self.quick
    }

    /// Counts micro-ops for which states are not compared.
    #[inline]
    pub(super) fn skip(&mut self, n: u64) {
        self.issued += n;
    }

    /// Counts a micro-op that takes an issue slot, unless it is free, and looks for livelocks.
    #[inline]
    pub(super) fn step(
        &mut self,
        (w, warp): (usize, &Warp),
        ops: &[MicroOp],
        (pc, active): (Pc, LaneMask),
        is_free: bool,
    ) {
        self.tell();
        if is_free {
            self.watch.pass(w, pc);
        } else if self.watch.tick() {
            self.watch.observe(w, warp, ops, pc, active);
        }
        self.issued += 1;
        self.told = self.issued;
        self.find_end();
    }

    /// Records a change visible to other warps or to later iterations of a loop.
    #[inline]
    pub(super) fn progress(&mut self) {
        self.watch.progress();
        self.told = self.issued;
        self.find_end();
    }

    /// Records the progress of all SMs so far, a number that grows with it.
    pub(super) fn catch_up(&mut self, progress: u64) {
        self.tell();
        self.watch.catch_up(progress);
    }

    /// Returns true if there was progress since the last call.
    pub(super) fn take_progress(&mut self) -> bool {
        self.watch.take_progress()
    }

    /// Compares states anew: memory may have changed.
    pub(super) fn look_again(&mut self) {
        self.tell();
        self.watch.look_again();
    }

    /// Returns the livelock detector.
    pub(super) fn watch(&self) -> &Watch {
        &self.watch
    }

    /// Tells the livelock detector of the micro-ops so far.
    #[inline]
    fn tell(&mut self) {
        self.watch.skip(self.issued - self.told);
        self.told = self.issued;
        self.find_end();
    }

    #[inline]
    fn find_end(&mut self) {
        self.quick = self.until.min(self.issued + self.watch.unobserved());
    }
}
