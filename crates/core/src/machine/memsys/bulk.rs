//! Bulk copies: the way between L2 and shared memory past L1 and the load/store unit.
//!
//! Loads share the link to L2 with those of the load/store unit, at a rate of their own; stores and
//! reductions have a path. A copy to global memory is done when its bytes have left the SM.

use super::{MemorySystem, fine_per_sector};
use crate::base::Cycle;
use crate::event::{AccessWay, MemoryKind, Traffic};
use crate::exec::BulkData;
use crate::machine::bulk::bulk_traffic;
use crate::machine::cache::{LINE, SECTOR};
use crate::machine::stores::FINE;
use crate::spec::BulkUnit;

impl MemorySystem {
    /// Serves a bulk copy issued at `now`.
    ///
    /// Returns the traffic at its source and at its destination, each with the address, and the
    /// cycle from which a waiting warp may go on.
    pub(in crate::machine) fn bulk(
        &mut self,
        now: Cycle,
        data: &BulkData,
    ) -> ([(Traffic, u64); 2], Cycle) {
        let mut all = bulk_traffic(data, &self.spec);
        let mut done = now;
        for (traffic, address) in &mut all {
            if traffic.memory == MemoryKind::Global {
                done = self.bulk_lines(now, *address, data.bytes(), traffic);
            }
        }
        (all, done)
    }

    /// Serves the lines of a bulk copy's global side. Returns the end of the last one.
    fn bulk_lines(&mut self, now: Cycle, address: u64, bytes: u64, traffic: &mut Traffic) -> Cycle {
        let unit = self.spec.bulk.unwrap_or(BulkUnit {
            load: self.spec.l2.latency,
            store: self.spec.shared_latency,
            reduce: self.spec.shared_latency,
            load_rate: self.spec.l2_bytes_per_cycle_sm,
            load_rate_all: self.spec.l2_bytes_per_cycle,
            store_rate: self.spec.l2_bytes_per_cycle_sm,
            reduce_rate: self.spec.l2_bytes_per_cycle_sm,
            store_rate_all: self.spec.l2_bytes_per_cycle,
        });
        let loads = traffic.kind == AccessWay::Load;
        let (rate, all) = match traffic.kind {
            AccessWay::Load => (unit.load_rate, unit.load_rate_all),
            AccessWay::Store => (unit.store_rate, unit.store_rate_all),
            AccessWay::Atomic => (unit.reduce_rate, unit.store_rate_all),
        };
        let cost = fine_per_sector(rate.min(all / f64::from(self.active_sms.max(1))));
        // Times of the load/store unit's paths do not hold for a copy.
        let kept = (self.stores.take(), self.times_in_l2.take(), self.link_cost, self.link_free);
        self.link_cost = cost;
        if !loads {
            self.link_free = self.bulk_stores_free;
        }
        let l2 = Cycle::from(self.spec.l2.latency);
        let end = address + bytes;
        let (mut at, mut last) = (address, now);
        while at < end {
            let line = at / LINE;
            let next = end.min((line + 1) * LINE);
            let (first, until) = (at % LINE / SECTOR, (next - 1) % LINE / SECTOR);
            let sectors = ((2_u32 << until) - (1 << first)) as u8;
            let missed = traffic.dram;
            let arrives = self.below_l1(now, line, sectors, true, None, traffic);
            // Distances of lines in L2 do not show in the times of copies.
            last = last.max(match traffic.dram == missed {
                true => self.link_free / FINE + l2,
                false => arrives,
            });
            if !loads && let Some(l1) = &mut self.l1 {
                l1.evict(line);
            }
            at = next;
        }
        let sent = now.max(self.link_free / FINE);
        let (stores, times_in_l2, link_cost, link_free) = kept;
        (self.stores, self.times_in_l2, self.link_cost) = (stores, times_in_l2, link_cost);
        if loads {
            return (last + Cycle::from(unit.load)).saturating_sub(l2);
        }
        self.bulk_stores_free = std::mem::replace(&mut self.link_free, link_free);
        let least = if traffic.kind == AccessWay::Atomic { unit.reduce } else { 0 };
        (sent + Cycle::from(unit.store)).max(now + Cycle::from(least))
    }
}
