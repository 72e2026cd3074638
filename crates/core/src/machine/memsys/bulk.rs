//! Bulk copies: the way between L2 and shared memory past L1 and the load/store unit.
//!
//! Loads share the link to L2 with those of the load/store unit, at a rate of their own; stores and
//! reductions have a path. A copy to global memory is done when its bytes have left the SM. Each
//! row of a tile passes line by line. As measured on an H200, a line that is loaded takes a cycle
//! at least, half a sector that is stored as long as two sectors, and a line that is reduced as
//! long as one more sector than it has.

use super::{MemorySystem, fine_per_sector};
use crate::base::Cycle;
use crate::event::{AccessWay, MemoryKind, Traffic};
use crate::exec::{AccessKind, BulkData};
use crate::machine::bulk::{bulk_spans, bulk_traffic};
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
        for (traffic, _) in &mut all {
            if traffic.memory == MemoryKind::Global {
                done = self.bulk_lines(now, data, traffic);
            }
        }
        (all, done)
    }

    /// Serves the lines of a bulk copy's global side. Returns the end of the last one.
    fn bulk_lines(&mut self, now: Cycle, data: &BulkData, traffic: &mut Traffic) -> Cycle {
        let unit = self.spec.bulk.unwrap_or(BulkUnit {
            load: self.spec.l2.latency,
            store: self.spec.shared_latency,
            reduce: self.spec.shared_latency,
            line: 1,
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
        if !loads {
            self.link_free = self.bulk_stores_free;
        }
        let l2 = Cycle::from(self.spec.l2.latency);
        let mut last = now;
        let kind = if loads { AccessKind::Read } else { AccessKind::Write };
        for part in bulk_spans(data, kind).into_iter().flat_map(lines) {
            let Part { line, sectors, halves } = part;
            let (count, missed) = (u64::from(sectors.count_ones()), traffic.dram);
            let takes = match traffic.kind {
                AccessWay::Load => (count * cost).max(u64::from(unit.line) * FINE),
                AccessWay::Store => (count + u64::from(halves)) * cost,
                AccessWay::Atomic => (count + 1) * cost * SECTORS / (SECTORS + 1),
            };
            self.link_cost = takes.div_ceil(count);
            let arrives = self.below_l1(now, line, sectors, true, None, traffic);
            // Distances of lines in L2 do not show in the times of copies.
            last = last.max(match traffic.dram == missed {
                true => self.link_free / FINE + l2,
                false => arrives,
            });
            if !loads && let Some(l1) = &mut self.l1 {
                l1.evict(line);
            }
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

/// Part of a line.
struct Part {
    line: u64,
    /// A bit for each sector.
    sectors: u8,
    /// Sectors of which it has half.
    halves: u32,
}

/// Sectors of a line.
const SECTORS: u64 = LINE / SECTOR;

/// Returns the lines that a span is in.
fn lines((address, bytes): (u64, u64)) -> impl Iterator<Item = Part> {
    let end = address + bytes;
    (address / LINE..=(end - 1) / LINE).map(move |line| {
        let (start, stop) = (address.max(line * LINE), end.min((line + 1) * LINE));
        let (first, until) = (start % LINE / SECTOR, (stop - 1) % LINE / SECTOR);
        let cut = [start, stop].map(|place| u32::from(!place.is_multiple_of(SECTOR)));
        let halves = (cut[0] + cut[1]).min((until - first + 1) as u32);
        Part { line, sectors: ((2_u32 << until) - (1 << first)) as u8, halves }
    })
}
