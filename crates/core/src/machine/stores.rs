//! Separate path of stores to L2, if the machine has one ([`StorePath`]).
//!
//! Two servers in series: the SM's own path, which takes one packet per cycle, and the SM's share
//! of L2's total packet rate. Both have queues. If the second queue is full, the first server
//! stalls; if the first is full, the load/store unit stalls. Measured: the experiments `store-..`
//! in docs/calibration.md.

use super::cache::sectors_in;
use crate::base::Cycle;
use crate::spec::StorePath;

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
}

impl Stores {
    /// Creates the path of one of `active_sms` SMs with work.
    pub(super) fn new(path: StorePath, active_sms: u32) -> Stores {
        let share = f64::from(active_sms.max(1)) / path.l2_packets_per_cycle;
        Stores { path, share: (share * FINE as f64).ceil() as u64, own_free: 0, share_free: 0 }
    }

    /// Sends the sectors of one line at `now`, one bit per sector. Returns the cycle at which the
    /// last packet has left the SM.
    ///
    /// With `dense` every byte of the sectors is written. L2 takes `percent` of a packet's usual
    /// time.
    #[inline]
    pub(super) fn send(&mut self, now: Cycle, sectors: u8, dense: bool, percent: u32) -> Cycle {
        let header = if dense { 0 } else { self.path.line };
        let packets = u64::from(header + sectors_in(sectors) * self.path.sector);
        let room = self.share_free.saturating_sub(u64::from(self.path.l2_queue_cycles) * FINE);
        self.own_free = self.own_free.max(now * FINE).max(room) + packets * FINE;
        self.share_free =
            self.share_free.max(now * FINE) + packets * self.share * u64::from(percent) / 100;
        self.sent_at()
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
