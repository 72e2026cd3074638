//! Separate path of stores to L2, if the machine has one ([`StorePath`]).
//!
//! Two servers in series: the SM's own path, which takes one packet per cycle, and the SM's share
//! of L2's total packet rate. Both have queues. If the second queue is full, the first server
//! stalls; if the first is full, the load/store unit stalls. Measured: the experiments `store-..`
//! in docs/calibration.md. Machine code's stores may join others that still wait.

mod combining;

use combining::{Combiner, Content};

use super::cache::sectors_in;
use crate::base::Cycle;
use crate::spec::{Combining, StorePath};

/// Fine time units per cycle, so that fractional rates add up exactly.
pub(super) const FINE: u64 = 1024;

/// Stores of one SM in flight.
#[derive(Clone)]
pub(super) struct Stores {
    path: StorePath,
    /// Fine time per packet in the SM's share of L2.
    share: u64,
    /// Fine time until which each server is busy.
    own_free: u64,
    share_free: u64,
    /// Lines that stores can join.
    waiting: Option<Combiner>,
}

/// Sectors of one line that a store writes.
#[derive(Clone, Copy)]
pub(super) struct Stored {
    pub line: u64,
    /// One bit per sector.
    pub sectors: u8,
    /// Bytes written. With all those of the sectors the packets have no header.
    pub bytes: u32,
    /// Percent of a packet's usual time that L2 takes.
    pub percent: u32,
}

impl Stores {
    /// Creates the path of one of `active_sms` SMs with work.
    pub(super) fn new(path: StorePath, active_sms: u32) -> Stores {
        let share = f64::from(active_sms.max(1)) / path.l2_packets_per_cycle;
        Stores {
            path,
            share: (share * FINE as f64).ceil() as u64,
            own_free: 0,
            share_free: 0,
            waiting: None,
        }
    }

    /// Lets stores join others that still wait.
    pub(super) fn combining(self, times: Option<Combining>) -> Stores {
        Stores { waiting: times.map(Combiner::new), ..self }
    }

    /// Begins a store at `now` whose data pass for `cycles`.
    pub(super) fn begin(&mut self, now: Cycle, cycles: Cycle) {
        if let Some(waiting) = &mut self.waiting {
            waiting.begin(now, cycles);
        }
    }

    /// Returns true if stores to parts of a line have joined and wait at `now`.
    pub(super) fn holds_parts(&mut self, line: u64, now: Cycle) -> bool {
        self.waiting.as_mut().is_some_and(|waiting| waiting.holds_parts(line, now))
    }

    /// Sends the sectors of one line at `now`, but those that wait there. Returns the others, one
    /// bit each.
    #[inline]
    pub(super) fn send(&mut self, now: Cycle, stored: Stored) -> u8 {
        let Stored { line, sectors, bytes, percent } = stored;
        let new = Content { sectors, bytes };
        let [before, after] = match &mut self.waiting {
            Some(waiting) => waiting.store(line, new, now),
            None => [Content::default(), new],
        };
        let room = self.share_free.saturating_sub(u64::from(self.path.l2_queue_cycles) * FINE);
        // A store that completes the sectors of a line saves its header.
        let [was, packets] = [before, after].map(|content| self.packets(content));
        let add = |free: u64, each: u64| (free + packets * each).saturating_sub(was * each);
        self.own_free = add(self.own_free.max(now * FINE).max(room), FINE);
        let each = self.share * u64::from(percent) / 100;
        self.share_free = add(self.share_free.max(now * FINE), each);
        sectors & !before.sectors
    }

    /// Returns the packets of a line.
    fn packets(&self, content: Content) -> u64 {
        let header = if content.is_dense() { 0 } else { self.path.line };
        u64::from(header + sectors_in(content.sectors) * self.path.sector)
    }

    /// Returns the cycle at which every waiting packet has left the SM.
    #[inline]
    pub(super) fn sent_at(&self) -> Cycle {
        self.own_free / FINE
    }

    /// Returns the cycle at which the load/store unit can continue.
    #[inline]
    pub(super) fn room_at(&self) -> Cycle {
        (self.own_free / FINE).saturating_sub(u64::from(self.path.queue))
    }
}
