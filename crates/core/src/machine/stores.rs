//! The way of stores to L2, where they have one of their own ([`StorePath`]).
//!
//! Two servers stand one behind the other: the SM's own way, a packet a cycle, and the SM's share of what L2 takes from all.
//! Both have queues. When the second one's is full the first stands, and when the first one's is full so does the load/store
//! unit. Measured: the experiments `store-..` of docs/calibration.md.

use super::cache::{LINE, SECTOR, sectors_in};
use crate::base::Cycle;
use crate::spec::StorePath;

/// Time is kept in 1/1024 cycles, so that fractional rates add up exactly.
pub(super) const FINE: u64 = 1024;

/// The stores of one SM that are on their way.
#[derive(Clone)]
pub(super) struct Stores {
    path: StorePath,
    /// Fine time a packet takes of the SM's share of L2.
    share: u64,
    /// Fine time until which each is busy.
    own_free: u64,
    share_free: u64,
}

impl Stores {
    /// Those of one of `active_sms` SMs that have work.
    pub(super) fn new(path: StorePath, active_sms: u32) -> Stores {
        let share = f64::from(active_sms.max(1)) / path.l2_packets_per_cycle;
        Stores { path, share: (share * FINE as f64).ceil() as u64, own_free: 0, share_free: 0 }
    }

    /// Sends the sectors of one line, one bit each, at `now`; `dense`: every byte of them is written. Returns when the last packet
    /// has left the SM.
    #[inline]
    pub(super) fn send(&mut self, now: Cycle, sectors: u8, dense: bool) -> Cycle {
        let header = if dense && sectors_in(sectors) * SECTOR as u32 == LINE as u32 { 0 } else { self.path.line };
        let packets = u64::from(header + sectors_in(sectors) * self.path.sector);
        let room = self.share_free.saturating_sub(u64::from(self.path.l2_queue_cycles) * FINE);
        self.own_free = self.own_free.max(now * FINE).max(room) + packets * FINE;
        self.share_free = self.share_free.max(now * FINE) + packets * self.share;
        self.sent_at()
    }

    /// When everything that waits has left the SM.
    #[inline]
    pub(super) fn sent_at(&self) -> Cycle {
        self.own_free / FINE
    }

    /// When the load/store unit can go on.
    #[inline]
    pub(super) fn room_at(&self) -> Cycle {
        (self.own_free / FINE).saturating_sub(u64::from(self.path.queue))
    }
}
