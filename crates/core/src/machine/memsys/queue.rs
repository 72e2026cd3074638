//! Queue of the load/store unit (machine code): requests that it has taken from the schedulers and
//! serves in order, and the banks of shared memory and of L1.

use crate::base::Cycle;
use crate::machine::requests::Requests;
use crate::spec::Machine;

/// Cycles in which the banks serve one pass for one scheduler. (They serve one pass a cycle for
/// several.)
pub(super) const PASS: Cycle = 2;

/// Requests that the load/store unit has taken from the schedulers and serves in order.
#[derive(Clone)]
pub(super) struct UnitQueue {
    depth: u32,
    taken: Requests,
    /// Cycle from which it takes another request.
    takes_at: Cycle,
    /// Cycle until which the banks serve each scheduler.
    banks: Vec<Cycle>,
}

impl UnitQueue {
    /// Creates the queue of a machine, if it has one.
    pub(super) fn new(spec: &Machine) -> Option<UnitQueue> {
        let requests = spec.sass.as_ref()?.requests?;
        Some(UnitQueue {
            depth: requests.unit,
            taken: Requests::default(),
            takes_at: 0,
            banks: vec![0; spec.schedulers as usize],
        })
    }

    /// Returns the cycle at which the unit takes a request that is there at `now`.
    #[inline]
    pub(super) fn takes(&self, now: Cycle) -> Cycle {
        now.max(self.takes_at)
    }

    /// Adds a request that the unit takes in `cycles` and begins to serve at `start`.
    ///
    /// It takes the unit's time from `since` on, which is its issue where it may wait in its
    /// scheduler's queue without delaying the other schedulers.
    #[inline]
    pub(super) fn add(&mut self, since: Cycle, cycles: Cycle, start: Cycle) {
        let room = self.taken.add(start, self.depth);
        self.takes_at = room.max(self.takes_at.max(since) + cycles);
    }

    /// Returns the cycle from which the banks can serve the scheduler of a warp.
    #[inline]
    pub(super) fn banks_free(&self, warp_slot: u32) -> Cycle {
        self.banks[warp_slot as usize % self.banks.len()]
    }

    /// Lets the banks serve the scheduler of a warp with `passes` from `start` on.
    #[inline]
    pub(super) fn pass_banks(&mut self, warp_slot: u32, start: Cycle, passes: Cycle) {
        let scheduler = warp_slot as usize % self.banks.len();
        self.banks[scheduler] = start + PASS * passes;
    }
}
