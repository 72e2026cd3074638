//! Accesses to global and local memory: L1, the way to L2, and DRAM.

use super::banks::{Passes, passes, same_word_lanes};
use super::copies::cycles_of;
use super::queue::PASS;
use super::{MemorySystem, Served, blank};
use crate::base::{Cycle, MAX_LANES};
use crate::event::{AccessWay, MemoryKind, Traffic};
use crate::exec::{AccessKind, MemoryAccess};
use crate::machine::atomics::{AtomicUnits, Weight};
use crate::machine::cache::{LINE, SECTOR, sectors_in};
use crate::machine::shares::Place;
use crate::machine::stores::{FINE, Stored};
use crate::spec::{LocalLatencies, StorePolicy, Transactions};

impl MemorySystem {
    /// Serves the words of a local access one by one: word `w + 1` is a line after word `w`.
    pub(super) fn local(
        &mut self,
        now: Cycle,
        access: MemoryAccess,
        addresses: &[u64; MAX_LANES],
    ) -> Served {
        let words = access.bytes.div_ceil(4).max(1);
        let word = MemoryAccess { bytes: access.bytes.min(4), row: false, ..access };
        let mut served = self.global(now, word, addresses, MemoryKind::Local, None);
        let mut at = *addresses;
        for _ in 1..words {
            at.iter_mut().for_each(|a| *a = a.wrapping_add(4 * MAX_LANES as u64));
            let next = self.global(now + served.port, word, &at, MemoryKind::Local, None);
            served = served.with(&next);
            served.traffic.requested += next.traffic.requested;
        }
        served
    }

    pub(super) fn global(
        &mut self,
        now: Cycle,
        access: MemoryAccess,
        addresses: &[u64; MAX_LANES],
        memory: MemoryKind,
        atomics: Option<(&AtomicUnits, Weight)>,
    ) -> Served {
        self.lines.coalesce(access, addresses);
        self.lines_served(now, access, addresses, memory, atomics)
    }

    /// Serves the lines of an access.
    pub(super) fn lines_served(
        &mut self,
        now: Cycle,
        access: MemoryAccess,
        addresses: &[u64; MAX_LANES],
        memory: MemoryKind,
        atomics: Option<(&AtomicUnits, Weight)>,
    ) -> Served {
        let count = self.lines.len;
        let sectors = self.lines.sectors();
        let mut traffic = Traffic { memory, lines: count as u32, sectors, ..blank(access) };
        let looks_in_l1 = access.kind == AccessKind::Read && !access.bypass_l1;
        let passes = self.passes_of_lines(access, addresses, memory);
        let conflicts = Cycle::from(passes.all.max(1) - 1) * Cycle::from(self.spec.l1_conflict);
        let tags = self.tag_cycles(access.kind);
        let mut done = now + conflicts + self.l1_latency(memory, tags);
        let dense = access.kind == AccessKind::Write
            && u64::from(traffic.requested) >= SECTOR * u64::from(sectors);
        let in_banks = Cycle::from(passes.cycles());
        if let (Some(stores), AccessKind::Write) = (&mut self.stores, access.kind) {
            // A store of one pass leaves the banks free.
            let busy = if in_banks > 1 { PASS * in_banks } else { 0 };
            stores.begin(now, [busy, 2 * tags + PASS * in_banks]);
        }
        for position in 0..count {
            let (line, sectors) = self.lines.lines[position % MAX_LANES];
            let mut missing = sectors;
            let mut filled = None;
            if let Some(l1) = &mut self.l1 {
                if looks_in_l1 {
                    let fetched = if self.spec.fill_lines { 0b1111 } else { sectors };
                    let mut found = l1.access(line, fetched, true);
                    // A load gets parts that have joined from L2.
                    let is_local = memory == MemoryKind::Local;
                    if let Some(stores) = self.stores.as_mut().filter(|_| is_local)
                        && stores.holds_parts(line, now)
                    {
                        found.hits = 0;
                    }
                    traffic.l1_hits += sectors_in(found.hits & sectors);
                    missing = fetched & !found.hits;
                    if found.hits & sectors != 0 {
                        done = done.max(found.arrives);
                        if let Some(shares) = &mut self.shares {
                            shares.found(found.arrives > now);
                        }
                    }
                    filled = Some(found);
                } else if access.kind != AccessKind::Read
                    && self.spec.l1_store == StorePolicy::WriteEvict
                {
                    l1.evict(line);
                } else if access.kind == AccessKind::Write && memory == MemoryKind::Local {
                    // Only this SM sees local memory: what it stores is in its L1.
                    let found = l1.access(line, sectors, true);
                    if found.hits == 0
                        && let Some(times) = self.native
                        && further_percent(times.local, self.local_lines.len()) > 0
                    {
                        self.local_lines.insert(line);
                    }
                    filled = Some(found);
                }
            }
            if missing == 0 {
                continue;
            }
            let port_delay = self.port_delay(access.kind, position);
            let arrives =
                self.below_l1(now + port_delay, line, missing, dense, atomics, &mut traffic);
            done = done.max(arrives);
            // What is stored is in L1 at once.
            let usable = if access.kind == AccessKind::Write { 0 } else { arrives };
            if let (Some(l1), Some(found)) = (&mut self.l1, filled) {
                l1.arrive(found, usable);
            }
        }
        traffic.transactions = match self.spec.transactions {
            Transactions::Sectors => traffic.sectors,
            Transactions::Lines => traffic.lines,
        };
        if access.kind == AccessKind::Atomic {
            let conflicts = Cycle::from(same_word_lanes(access, addresses) - 1);
            let extra = conflicts * Cycle::from(self.spec.atomic_conflict);
            done = done.max(now + Cycle::from(self.spec.atomic_latency)) + extra;
        }
        let port = match self.copying {
            Some(_) => tags.max(cycles_of(in_banks)),
            None => tags.max(in_banks),
        };
        Served { traffic, done, port, in_banks, taken: now, begins: now }
    }

    /// Returns the passes over the banks of L1.
    fn passes_of_lines(
        &self,
        access: MemoryAccess,
        addresses: &[u64; MAX_LANES],
        memory: MemoryKind,
    ) -> Passes {
        if let Some(passes) = self.copying {
            return passes;
        }
        let one = Passes { all: 1, ideal: 1, visited: 1 };
        let several = match (&self.native, memory) {
            // A lane's words of local memory are in its own bank.
            (Some(_), MemoryKind::Local) => false,
            (Some(_), MemoryKind::Global) if access.bytes > 4 => true,
            // Within one line no two words share a bank.
            _ => self.lines.len > 1,
        };
        if self.spec.l1_conflict == 0 || !several {
            return one;
        }
        passes(access, addresses, self.spec.shared_banks)
    }

    /// Transfers sectors of one line over the link to L2 and, on L2 misses, from DRAM.
    pub(super) fn below_l1(
        &mut self,
        now: Cycle,
        line: u64,
        sectors: u8,
        dense: bool,
        atomics: Option<(&AtomicUnits, Weight)>,
        traffic: &mut Traffic,
    ) -> Cycle {
        let mut sectors = sectors;
        let through_link = match (&mut self.stores, traffic.kind) {
            (Some(stores), AccessWay::Store) => {
                let is_local = traffic.memory == MemoryKind::Local;
                // The times of PTX were fitted with a packet more for each part of a line.
                let dense = dense && (self.native.is_some() || is_local || sectors == 0b1111);
                let written = sectors_in(sectors);
                let bytes = if dense {
                    SECTOR as u32 * written
                } else {
                    // An equal part for each sector; a sector is never complete by it.
                    (traffic.requested * written / traffic.sectors.max(1))
                        .min(SECTOR as u32 * written - 1)
                };
                let further = self
                    .native
                    .filter(|_| is_local)
                    .map_or(0, |times| further_percent(times.local, self.local_lines.len()));
                let percent = further.saturating_add(100);
                let new = stores.send(now, Stored { line, sectors, bytes, percent });
                traffic.combined += written - sectors_in(new);
                sectors = new;
                stores.sent_at()
            }
            (stores, _) => {
                let sent = stores.as_ref().map_or(now, |stores| stores.sent_at().max(now));
                let count = u64::from(sectors_in(sectors));
                self.link_free = self.link_free.max(sent * FINE) + count * self.link_cost;
                let served = self.in_l2(sent, |times| match traffic.kind {
                    AccessWay::Atomic => count * times.atomic,
                    _ => times.request + count * times.sector,
                });
                self.link_free = self.link_free.max(served);
                let ahead = match (traffic.kind, atomics) {
                    (AccessWay::Load, Some((units, _))) => self.atomics.ahead(units, line),
                    _ => 0,
                };
                ahead.max(self.link_free / FINE)
            }
        };
        if sectors == 0 {
            return through_link + Cycle::from(self.spec.l2.latency);
        }
        if let Some(log) = &mut self.log {
            log.add(now, line, sectors, traffic.memory, traffic.kind);
        }
        let delay = self.translated(line, now, traffic.kind) - now;
        let found = match traffic.kind {
            AccessWay::Load => self.l2.read(self.sm, line, sectors),
            AccessWay::Store | AccessWay::Atomic => self.l2.write(self.sm, line, sectors),
        };
        traffic.l2_hits += sectors_in(found.hits);
        traffic.l2_crossed += sectors_in(found.crossed);
        traffic.written_back += found.written + found.earlier;
        self.dram.write(through_link, found.written);
        let mut arrives = (through_link + Cycle::from(self.spec.l2.latency)).max(found.arrives);
        let absent = sectors & !found.hits;
        // A store that misses in L2 is merged there under a byte mask: no read from DRAM.
        if absent != 0 && traffic.kind != AccessWay::Store {
            let count = sectors_in(absent);
            let units =
                atomics.filter(|_| traffic.kind == AccessWay::Atomic).map(|(units, _)| units);
            if let Some(at) = units.and_then(|units| units.brought(line)) {
                // Another SM's atomic has brought it.
                traffic.l2_hits += count;
                arrives = arrives.max(at);
            } else {
                let address = line * LINE;
                let shares = self.shares.as_mut().filter(|_| {
                    traffic.kind == AccessWay::Load && traffic.memory == MemoryKind::Global
                });
                let place =
                    shares.map_or(Place::Dram, |shares| shares.place(self.reader, address, absent));
                let [l2, dram] = [self.spec.l2.latency, self.spec.dram_latency].map(Cycle::from);
                let in_l2 = match (place, &self.shares) {
                    (Place::L2From(at), _) => Some(at.max(through_link + l2)),
                    (Place::L2, Some(shares)) => {
                        Some(through_link + l2 + shares.remains(dram.saturating_sub(l2)))
                    }
                    _ => None,
                };
                if let Some(at) = in_l2 {
                    traffic.l2_hits += count;
                    arrives = arrives.max(at);
                } else {
                    traffic.dram += count;
                    self.in_l2(through_link, |times| u64::from(count) * times.missing);
                    arrives = arrives.max(self.dram.read(through_link, line, count));
                    if let Some(units) = units {
                        units.bring(line, arrives);
                    }
                }
            }
            self.l2.arrive(&found, arrives);
            if let Some(shares) = &mut self.shares {
                shares.arrived(self.reader, line * LINE, absent, arrives);
            }
        }
        self.after_way(line, arrives + delay, traffic.kind)
    }
}

/// Returns the further time in L2 of a store to local memory by an SM that has stored to so many
/// lines, in percent.
fn further_percent(times: LocalLatencies, stored: usize) -> u32 {
    let part = f64::from(times.lines) / (stored as f64).max(times.lines.into()).max(1.0);
    (f64::from(times.uneven) * part) as u32
}
