//! Memory system as seen by one SM: coalescer, L1, L2 and DRAM shares, shared-memory banks.
//!
//! An access is served completely at issue, in the order of the load/store unit. The coalescer
//! splits it into 32-byte sectors of 128-byte lines, tags locate each sector, and rate limiters
//! (the link to L2, the store path, DRAM) give the arrival of the last one. Shared memory counts
//! the passes that its banks need. Sources: simt-facts E2/E3 (sectors, wavefronts), Accel-Sim
//! (sectored, write-through L1).
//!
//! Not modeled: MSHR limits, DRAM banks and rows, TLB, L2 slices.

mod banks;
mod bulk;
mod copies;
mod distinct;
mod global;
mod images;
mod lines;
mod native;
mod queue;
mod shape;

use std::collections::BTreeSet;

use banks::same_word_lanes;
pub(super) use banks::{Passes, atomic_passes, passes};
pub(super) use copies::CopyStore;
use images::TextureUnit;
pub(super) use images::{Fetch, Texels};
pub(super) use lines::Lines;
pub(super) use shape::Shape;

use queue::UnitQueue;

use super::atomics::{AtomicPath, AtomicUnits, Weight};
use super::cache::{Cache, LINE, SECTOR};
use super::dram::Dram;
use super::l2::L2;
use super::l2::replay::RequestLog;
use super::shares::{Reader, Shares};
use super::stores::{FINE, Stores};
use crate::base::{Cycle, MAX_LANES, Pc, SmId};
use crate::event::{AccessWay, MemoryKind, Traffic};
use crate::exec::{AccessKind, MemoryAccess};
use crate::isa::Space;
use crate::spec::{L2Rates, Latencies, Machine, Memory};

/// Bytes of a page.
const PAGE: u64 = 2 << 20;

/// Memory system of one SM.
#[derive(Clone)]
pub(super) struct MemorySystem {
    spec: Memory,
    sm: SmId,
    active_sms: u32,
    l1: Option<Cache>,
    l2: L2,
    dram: Dram,
    /// Fine time per sector on the link to L2.
    link_cost: u64,
    /// Fine times in the SM's share of L2 (machine code).
    times_in_l2: Option<InL2>,
    /// Fine time until which the link is busy.
    link_free: u64,
    /// Separate path of stores, if the machine has one.
    stores: Option<Stores>,
    /// Lines of local memory that were stored to (machine code), as many as matter.
    local_lines: BTreeSet<u64>,
    /// First cycle at which the in-order load/store unit accepts another access.
    in_order: Cycle,
    /// The same without the wait for room on the path of atomics, which holds issued instructions.
    issues_in_order: Cycle,
    /// Requests that the unit has taken from the schedulers (machine code).
    queue: Option<UnitQueue>,
    textures: TextureUnit,
    /// Path to the atomic units of L2.
    atomics: AtomicPath,
    /// Pages that the SM has used, with the cycle from which their addresses are known (machine
    /// code).
    pages: Vec<(u64, Cycle)>,
    /// Times of machine code.
    native: Option<Latencies>,
    /// Shares in the launch's buffers, to find lines of other SMs in L2.
    shares: Option<Shares>,
    /// Warp whose access is served (machine code).
    pub reader: Reader,
    /// Fine time until which the path of bulk stores is busy.
    bulk_stores_free: u64,
    /// Log of L2 requests, if enabled.
    log: Option<RequestLog>,
    /// Scratch: lines of the request being served.
    lines: Lines,
    /// Shape of a step's last access to shared memory, and its passes over the banks, by PC.
    in_banks: Vec<Option<Box<(Shape, Passes)>>>,
    /// True if the access to be served has the shape of the step's last one.
    pub has_last_shape: bool,
    /// Passes over the banks of the asynchronous copy whose source is to be read.
    pub copying: Option<Passes>,
}

/// Fine times that L2 takes for an SM, with those of all others.
#[derive(Clone, Copy)]
struct InL2 {
    /// Of the request for a line.
    request: u64,
    /// Of each sector of it.
    sector: u64,
    /// Further ones of each sector that comes from DRAM.
    missing: u64,
    /// Of each sector that an atomic changes.
    atomic: u64,
}

/// Service of an access.
pub(super) struct Served {
    /// Traffic for the counters.
    pub traffic: Traffic,
    /// Cycle from which a dependent instruction may issue.
    pub done: Cycle,
    /// Cycles for which the load/store unit is busy.
    pub port: Cycle,
    /// Cycles in which the banks serve it.
    pub in_banks: Cycle,
    /// Cycle at which the load/store unit takes it from the scheduler.
    pub taken: Cycle,
    /// Cycle at which its service begins, after the accesses before it.
    pub begins: Cycle,
}

impl Served {
    /// Adds the traffic and time of a further part of the access, but not the bytes requested.
    fn with(mut self, next: &Served) -> Served {
        let (all, one) = (&mut self.traffic, &next.traffic);
        all.sectors += one.sectors;
        all.lines += one.lines;
        all.transactions += one.transactions;
        all.l1_hits += one.l1_hits;
        all.combined += one.combined;
        all.l2_hits += one.l2_hits;
        all.l2_crossed += one.l2_crossed;
        all.dram += one.dram;
        all.written_back += one.written_back;
        self.done = self.done.max(next.done);
        self.port += next.port;
        self.in_banks += next.in_banks;
        self
    }
}

impl MemorySystem {
    /// Creates the memory system of SM `sm`, one of `active_sms` with work.
    ///
    /// With `logs` it records its L2 requests.
    pub(super) fn new(
        m: Memory,
        active_sms: u32,
        sm: SmId,
        logs: bool,
        shares: Option<Shares>,
    ) -> MemorySystem {
        let share = f64::from(active_sms.max(1));
        let link = m.l2_bytes_per_cycle_sm.min(m.l2_bytes_per_cycle / share);
        MemorySystem {
            spec: m,
            sm,
            l1: m.l1.map(|c| Cache::new(c.bytes, c.ways)),
            l2: L2::new(&m, active_sms),
            dram: Dram::new(&m, active_sms),
            active_sms,
            link_cost: fine_per_sector(link),
            times_in_l2: None,
            link_free: 0,
            stores: m.stores.map(|path| Stores::new(path, active_sms)),
            local_lines: BTreeSet::new(),
            in_order: 0,
            issues_in_order: 0,
            queue: None,
            textures: TextureUnit::default(),
            atomics: AtomicPath::default(),
            pages: Vec::new(),
            native: None,
            shares,
            reader: Reader::default(),
            bulk_stores_free: 0,
            log: logs.then(|| RequestLog::new(sm)),
            lines: Lines::default(),
            in_banks: Vec::new(),
            has_last_shape: false,
            copying: None,
        }
    }

    /// Serves machine code on a machine with times for it.
    ///
    /// Of L1, `carve_out` bytes are shared memory.
    pub(super) fn with_native(self, spec: &Machine, carve_out: u32) -> MemorySystem {
        let native = spec.sass.as_ref().and_then(|times| times.accesses);
        let combining = spec.sass.as_ref().and_then(|times| times.combining);
        let stores = self.stores.map(|stores| stores.combining(combining));
        let rates = spec.sass.as_ref().and_then(|times| times.l2_rates);
        let sms = f64::from(self.active_sms.max(1));
        let times_in_l2 = rates.map(|L2Rates { requests, sectors, missing, atomics }| {
            let [request, sector, missing, atomic] =
                [requests, sectors, missing, atomics].map(|rate| (sms / rate * FINE as f64) as u64);
            InL2 { request, sector, missing, atomic }
        });
        let link_cost = match times_in_l2 {
            Some(_) => fine_per_sector(spec.memory.l2_bytes_per_cycle_sm),
            None => self.link_cost,
        };
        let l1 = spec.memory.l1.filter(|_| carve_out > 0);
        let l1 = l1.map(|c| Cache::new(c.bytes.saturating_sub(carve_out.into()), c.ways));
        let (queue, l1) = (UnitQueue::new(spec), l1.or(self.l1));
        MemorySystem { native, queue, l1, stores, times_in_l2, link_cost, ..self }
    }

    /// Returns the log of L2 requests.
    pub(super) fn into_log(self) -> Option<RequestLog> {
        self.log
    }

    /// Returns the cycle at which the last packet of the stores so far has left the SM.
    #[inline]
    pub(super) fn stores_sent(&self) -> Cycle {
        self.stores.as_ref().map_or(0, Stores::sent_at)
    }

    /// Makes the load/store unit serve a request without an access, issued at `issued`, from `from`
    /// on.
    ///
    /// It takes `cycles`. Returns when the unit takes it, and when it begins.
    #[inline]
    pub(super) fn pass(&mut self, issued: Cycle, from: Cycle, cycles: Cycle) -> [Cycle; 2] {
        let taken = self.takes(from);
        let begins = taken.max(self.issues_in_order);
        self.issues_in_order = self.issues_in_order.max(issued) + cycles;
        self.in_order = self.in_order.max(issued) + cycles;
        if let Some(queue) = &mut self.queue {
            queue.add(issued, cycles, begins);
        }
        [taken, begins]
    }

    /// Returns the cycle at which the load/store unit takes a request that is there at `from`.
    #[inline]
    fn takes(&self, from: Cycle) -> Cycle {
        match &self.queue {
            Some(queue) => queue.takes(from),
            None => from.max(self.issues_in_order),
        }
    }

    /// Returns the first cycle at which the memory queue accepts another request.
    #[inline]
    pub(super) fn accepts_at(&self) -> Cycle {
        // Atomics wait in a queue of their own, which holds issued instructions.
        let link = if self.atomics.room > 0 { 0 } else { self.link_free / FINE };
        link.max(self.issues_in_order).saturating_sub(Cycle::from(self.spec.queue_cycles))
    }

    /// Serves an access issued at `issued` that is there at `now`.
    ///
    /// `addresses` are those of [`crate::exec::Env::addresses`] on entry, and addresses as the
    /// caches see them on return. `warp_slot` distinguishes the local memories.
    pub(super) fn serve(
        &mut self,
        (issued, now): (Cycle, Cycle),
        (pc, access): (Pc, MemoryAccess),
        addresses: &mut [u64; MAX_LANES],
        warp_slot: u32,
        price: Cycle,
        (weight, units): (Weight, Option<&AtomicUnits>),
    ) -> Served {
        if matches!(access.space, Space::Const | Space::Param) {
            return Served {
                traffic: Traffic { memory: MemoryKind::Const, ..blank(access) },
                done: now + price,
                port: 1,
                in_banks: 0,
                taken: now,
                begins: now,
            };
        }
        let taken = self.takes(now);
        let turn = taken.max(self.in_order).max(self.atomics.room);
        // Of what is ahead, only atomics without room on their path hold the queue of the unit.
        let held = taken.max(self.issues_in_order).max(self.atomics.room);
        let is_shared = access.space == Space::Shared;
        let passes_banks = is_shared || access.kind != AccessKind::Atomic;
        let mut now = turn;
        if let Some(queue) = self.queue.as_ref().filter(|_| passes_banks) {
            now = now.max(queue.banks_free(warp_slot));
        }
        let mut served = match access.space {
            Space::Shared => self.shared(now, (pc, access), addresses, weight),
            Space::Local => {
                interleave(access, addresses, (self.sm, warp_slot));
                self.local(now, access, addresses)
            }
            _ => {
                let atomics = units.map(|units| (units, weight));
                let mut served = self.global(now, access, addresses, MemoryKind::Global, atomics);
                if let Some(units) = units.filter(|_| access.kind == AccessKind::Atomic) {
                    served.done +=
                        self.atomics.send(units, weight, access, addresses, (self.sm, now));
                }
                served
            }
        };
        (served.taken, served.begins) = (taken, now);
        let [room, takes] = self.stores.as_ref().map_or([0; 2], Stores::room_at);
        // What waits for its scheduler's queue or banks does not hold up the other schedulers.
        let reads = access.kind == AccessKind::Read;
        let (since, free) = match passes_banks && self.queue.is_some() {
            true => (issued, self.in_order.max(issued)),
            false => (taken, turn),
        };
        self.in_order = room.max(free + served.port);
        // A load of several lines holds no others, as samples show.
        let copies = self.copying.take().is_some();
        let reads_lines = self.queue.is_some() && !is_shared && reads && !copies;
        let port = if reads_lines { served.port.min(2) } else { served.port };
        self.issues_in_order = takes.max(self.issues_in_order.max(since) + port);
        if let Some(queue) = &mut self.queue {
            queue.add(since, 1, held);
            if passes_banks {
                queue.pass_banks(warp_slot, now, served.in_banks);
            }
        }
        served
    }

    /// Empties L1.
    #[inline(never)]
    pub(super) fn empty_l1(&mut self) {
        if let Some(l1) = &mut self.l1 {
            l1.clear();
        }
    }

    /// Returns the passes over the banks of shared memory.
    ///
    /// A step's loads and stores, of which `access` is one, mostly have one shape.
    fn passes(&mut self, pc: Pc, access: MemoryAccess, addresses: &[u64; MAX_LANES]) -> Passes {
        let banks = self.spec.shared_banks;
        let has_last_shape = std::mem::take(&mut self.has_last_shape);
        if access.row && access.bytes == 4 {
            return passes(access, addresses, banks);
        }
        if self.in_banks.len() <= pc.index() {
            self.in_banks.resize_with(pc.index() + 1, || None);
        }
        match &mut self.in_banks[pc.index()] {
            Some(known) if has_last_shape || known.0.fits(access, addresses) => known.1,
            slot => {
                let passes = passes(access, addresses, banks);
                let new = (Shape::new(access, addresses), passes);
                match slot {
                    Some(known) => **known = new,
                    None => *slot = Some(Box::new(new)),
                }
                passes
            }
        }
    }

    /// Returns the shape of a step's last access to shared memory, unless it was of a row of words.
    #[inline]
    pub(super) fn last_shape(&self, pc: Pc) -> Option<&Shape> {
        self.in_banks.get(pc.index())?.as_ref().map(|known| &known.0)
    }

    fn shared(
        &mut self,
        now: Cycle,
        (pc, access): (Pc, MemoryAccess),
        addresses: &[u64; MAX_LANES],
        weight: Weight,
    ) -> Served {
        let spec = &self.spec;
        let [latency, conflict] = [spec.shared_latency, spec.shared_conflict].map(Cycle::from);
        let mut done = now + latency;
        let banks = spec.shared_banks;
        let (passes, port) = if access.kind == AccessKind::Atomic {
            // What a lane on the word takes beyond its pass.
            let further = spec.shared_atomic_conflict.saturating_sub(spec.shared_conflict);
            if further > 0 {
                done += Cycle::from(same_word_lanes(access, addresses) - 1) * Cycle::from(further);
            }
            let all = atomic_passes(access, addresses, banks, weight);
            // Without a queue of the unit, the oldest warps get each turn: while they spin on a
            // lock with long turns, a younger one could not release it.
            (all, if self.queue.is_some() { all } else { passes(access, addresses, banks) })
        } else {
            let passes = self.passes(pc, access, addresses);
            (passes, passes)
        };
        done += Cycle::from(passes.all.max(1) - 1) * conflict;
        let mut in_banks = Cycle::from(port.all.max(1));
        if self.queue.is_some() {
            in_banks = passes.cycles().into();
            done += Cycle::from(passes.visited.max(1) - 1);
        }
        let traffic = Traffic {
            memory: MemoryKind::Shared,
            wavefronts: passes.all,
            ideal_wavefronts: passes.ideal,
            ..blank(access)
        };
        Served { traffic, done, port: in_banks, in_banks, taken: now, begins: now }
    }
}

/// Returns the fine time of a sector at a rate in bytes per cycle.
fn fine_per_sector(rate: f64) -> u64 {
    ((SECTOR * FINE) as f64 / rate).ceil() as u64
}

/// Replaces the addresses of a local access by those that the caches see.
///
/// Word `w` of lane `l` is at `(w * 32 + l) * 4`, so that equal addresses coalesce. The warp slot
/// and the SM tell the warps' memories apart.
pub(super) fn interleave(
    access: MemoryAccess,
    addresses: &mut [u64; MAX_LANES],
    (sm, warp_slot): (SmId, u32),
) {
    let own = (1 << 56) + (u64::from(sm.0) << 44) + (u64::from(warp_slot) << 36);
    for lane in access.lanes.lanes() {
        let a = &mut addresses[lane as usize % MAX_LANES];
        *a = own + (*a / 4 * 32 + u64::from(lane)) * 4 + *a % 4;
    }
}

/// Returns the traffic of an access before it is served.
pub(super) fn blank(access: MemoryAccess) -> Traffic {
    Traffic {
        memory: MemoryKind::Global,
        kind: match access.kind {
            AccessKind::Read => AccessWay::Load,
            AccessKind::Write => AccessWay::Store,
            AccessKind::Atomic => AccessWay::Atomic,
        },
        lanes: access.lanes,
        requested: access.lanes.count() * u32::from(access.bytes),
        sectors: 0,
        lines: 0,
        transactions: 0,
        l1_hits: 0,
        combined: 0,
        l2_hits: 0,
        l2_crossed: 0,
        dram: 0,
        written_back: 0,
        wavefronts: 0,
        ideal_wavefronts: 0,
    }
}

#[cfg(test)]
mod tests;
