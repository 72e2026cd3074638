//! Separate path of stores to L2, if the machine has one ([`StorePath`]).
//!
//! Two servers in series: the SM's own path, which takes one packet per cycle, and the SM's share
//! of L2's total packet rate. Both have queues. If the second queue is full, the first server
//! stalls; if the first is full, the load/store unit stalls. Measured: the experiments `store-..`
//! in docs/calibration.md. Lines of machine code wait before the first server, where later stores
//! can join them: the load/store unit stalls if a further line has no room there.

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
    link: Link,
    /// Lines that stores can join.
    waiting: Option<Combiner>,
}

/// The SM's own path to L2, and its share of L2.
#[derive(Clone)]
struct Link {
    path: StorePath,
    /// Fine time per packet in the SM's share of L2.
    share: u64,
    /// Fine time until which each server is busy.
    own_free: u64,
    share_free: u64,
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
        let share = (share * FINE as f64).ceil() as u64;
        Stores { link: Link { path, share, own_free: 0, share_free: 0 }, waiting: None }
    }

    /// Lets stores join others that still wait.
    pub(super) fn combining(self, times: Option<Combining>) -> Stores {
        Stores { waiting: times.map(Combiner::new), ..self }
    }

    /// Begins a store at `now` that keeps the banks busy for `busy` cycles and whose data are there
    /// after `there`.
    pub(super) fn begin(&mut self, now: Cycle, [busy, there]: [Cycle; 2]) {
        if let Some(waiting) = &mut self.waiting {
            waiting.begin(now, [busy, there], &mut self.link);
        }
    }

    /// Returns true if stores to parts of a line have joined and wait at `now`.
    pub(super) fn holds_parts(&mut self, line: u64, now: Cycle) -> bool {
        let waiting = self.waiting.as_mut();
        waiting.is_some_and(|waiting| waiting.holds_parts(line, now, &mut self.link))
    }

    /// Sends the sectors of one line at `now`, but those that wait there. Returns the others, one
    /// bit each.
    #[inline]
    pub(super) fn send(&mut self, now: Cycle, stored: Stored) -> u8 {
        let Stored { line, sectors, bytes, percent } = stored;
        let new = Content { sectors, bytes };
        match &mut self.waiting {
            Some(waiting) => sectors & !waiting.store(line, new, (now, percent), &mut self.link),
            None => {
                self.link.send(now, self.link.packets(new), percent);
                sectors
            }
        }
    }

    /// Takes fine time of the SM's share of L2 for a load at `now`. Returns the fine time when it
    /// has been served.
    #[inline]
    pub(super) fn share_of_l2(&mut self, now: Cycle, time: u64) -> u64 {
        let free = &mut self.link.share_free;
        *free = (*free).max(now * FINE) + time;
        *free
    }

    /// Returns the cycle at which every waiting packet has left the SM.
    #[inline]
    pub(super) fn sent_at(&self) -> Cycle {
        match &self.waiting {
            Some(waiting) => waiting.sent_at(&self.link),
            None => self.link.sent_at(),
        }
    }

    /// Returns the cycles at which the load/store unit can serve and take further requests.
    #[inline]
    pub(super) fn room_at(&self) -> [Cycle; 2] {
        let ahead = self.link.path.queue;
        match &self.waiting {
            Some(waiting) => waiting.room_at(ahead),
            None => [self.link.sent_at().saturating_sub(Cycle::from(ahead)); 2],
        }
    }
}

impl Link {
    /// Returns the packets of a line.
    fn packets(&self, content: Content) -> u64 {
        let header = if content.is_dense() { 0 } else { self.path.line };
        u64::from(header + sectors_in(content.sectors) * self.path.sector)
    }

    /// Sends packets that are there at `now`. Returns the fine time at which they have left the SM.
    #[inline]
    fn send(&mut self, now: Cycle, packets: u64, percent: u32) -> u64 {
        let room = self.share_free.saturating_sub(u64::from(self.path.l2_queue_cycles) * FINE);
        self.own_free = self.own_free.max(now * FINE).max(room) + packets * FINE;
        let each = self.share * u64::from(percent) / 100;
        self.share_free = self.share_free.max(now * FINE) + packets * each;
        self.own_free
    }

    /// Lets packets pass that do not leave the SM. Returns the fine time at which they have.
    fn pass(&mut self, now: Cycle, packets: u64) -> u64 {
        self.own_free = self.own_free.max(now * FINE) + packets * FINE;
        self.own_free
    }

    /// Returns the cycle at which what was sent has left the SM.
    fn sent_at(&self) -> Cycle {
        self.own_free / FINE
    }
}
