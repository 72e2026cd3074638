//! Times that only machine code has: translation of pages, tags of L1, distances to slices of L2,
//! lines of local memory.

use super::{LINE, MemorySystem, PAGE, SECTOR};
use crate::base::{Cycle, mix};
use crate::event::{MemoryKind, Traffic};
use crate::exec::AccessKind;
use crate::machine::requests::Requests;
use crate::spec::{Latencies, Machine};

/// Cycles in which the banks of shared memory serve one pass for one scheduler. (They serve one pass
/// a cycle for several.)
const PASS: Cycle = 2;

/// Requests that the load/store unit has taken from the schedulers and serves in order.
#[derive(Clone)]
pub(super) struct UnitQueue {
    depth: u32,
    taken: Requests,
    /// Cycle from which it takes another request.
    takes_at: Cycle,
    /// Cycle until which the banks of shared memory serve each scheduler.
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

    /// Adds a request that the unit takes at `taken`, in `cycles`, and begins to serve at `start`.
    #[inline]
    pub(super) fn add(&mut self, taken: Cycle, cycles: Cycle, start: Cycle) {
        let room = self.taken.add(start, self.depth);
        self.takes_at = room.max(taken + cycles);
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

impl MemorySystem {
    /// Returns the cycle from which the address of a line, used at `now`, is known.
    #[inline]
    pub(super) fn translated(&mut self, line: u64, now: Cycle) -> Cycle {
        let Some(Latencies { page: latency, .. }) = self.native else { return now };
        let page = line / (PAGE / LINE);
        match self.pages.iter().find(|(known, _)| *known == page) {
            Some(&(_, from)) => from.max(now),
            None => {
                let from = now + Cycle::from(latency);
                self.pages.push((page, from));
                from
            }
        }
    }

    /// Returns the cycles for which an access to `lines` lines keeps L1's tags busy.
    #[inline]
    pub(super) fn tag_cycles(&self, kind: AccessKind, lines: usize) -> Cycle {
        let cycles = (lines as Cycle).max(1) * Cycle::from(self.spec.l1_line_interval);
        match &self.native {
            Some(times) if kind == AccessKind::Read => {
                cycles.div_ceil(Cycle::from(times.tags.max(1)))
            }
            _ => cycles,
        }
    }

    /// Returns the arrival of a line that arrives at `mean` over a way of mean length between the SM
    /// and its slice of L2.
    #[inline]
    pub(super) fn after_way(&self, line: u64, mean: Cycle) -> Cycle {
        let spread = self.native.map_or(0, |times| Cycle::from(times.spread));
        if spread == 0 {
            return mean;
        }
        let way = mix(line ^ u64::from(self.sm.0) << 40) % (2 * spread + 1);
        (mean + way).saturating_sub(spread)
    }
}

/// Returns the packets for which L2 takes longer than a store of `sectors` of a line has.
///
/// A line of local memory takes one more, and one more again if all of its sectors are written in
/// part.
#[inline]
pub(super) fn local_packets(times: Option<Latencies>, traffic: &Traffic, sectors: u8) -> u32 {
    match times {
        Some(times) if traffic.memory == MemoryKind::Local => {
            let partly = traffic.requested < SECTOR as u32 * traffic.sectors;
            times.local_line * if partly && sectors == 0b1111 { 2 } else { 1 }
        }
        _ => 0,
    }
}
