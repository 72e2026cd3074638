//! The observer: from events to clocks, shadow memory and findings.
//!
//! There is one an SM. What they share, the shadow of global memory, is behind a lock; runs with checks go on one host thread, so that the
//! same run finds the same (which of two racing accesses came first decides how a finding reads, not whether there is one).

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::Checks;
use super::clocks::{BlockClock, Meeting, Past, Released, WarpClock, block_barrier, leave};
use super::finding::{Does, Finding, Findings, Kind, Place};
use super::init::{Own, SharedWrites};
use super::shadow::{Conflict, Manner, Rules, Shadow, Touch};
use super::steps::{Facts, Steps, What};
use super::sync::{Arrival, Phase, mask};
use crate::base::{LaneMask, MAX_LANES, Pc, WarpId};
use crate::event::{AccessWay, Event, LaneAccess, MemoryKind, Observer};
use crate::kernel::layout::{BUFFER_BASE, GLOBAL_BASE, WINDOW_BYTES};
use crate::kernel::{Kernel, Op, Register, Stream};
use crate::launch::Launch;

/// Makes the observers of one run.
#[derive(Clone)]
pub struct Checkers(Arc<Common>);

/// What is the same for all SMs.
struct Common {
    checks: Checks,
    steps: Steps,
    /// Registers that may be read before they are written, and what the author calls them.
    watched: Vec<Register>,
    names: Vec<String>,
    warps_per_block: u32,
    threads: u32,
    shared_bytes: u32,
    local_bytes: u32,
    /// Warps are in lock-step: before Volta.
    lock_step: bool,
    blocks_apart: bool,
    global: Mutex<Global>,
}

/// Device memory.
#[derive(Default)]
struct Global {
    variables: Shadow,
    buffers: Shadow,
    /// What strong writes have released, by address.
    released: BTreeMap<u64, Released>,
}

impl Checkers {
    /// For runs of `stream`, which is one of `kernel`. `lock_step`: the mode is that before Volta.
    pub fn new(
        kernel: &Kernel,
        stream: &Stream,
        launch: &Launch,
        warp_size: u32,
        lock_step: bool,
        checks: Checks,
    ) -> Checkers {
        let watched = if checks.init { kernel.read_unset() } else { Vec::new() };
        let name = |register: &Register| {
            let known = kernel.registers.names.iter().find(|(_, r, _)| r == register);
            known.map_or_else(|| "a condition code".to_owned(), |(name, ..)| name.clone())
        };
        let threads: u32 = launch.block.iter().product();
        let orders = |op: &Op| match op {
            Op::Load(load) => load.access.strong(),
            Op::Store(store) => store.access.strong(),
            Op::Atomic(_) => true,
            _ => false,
        };
        Checkers(Arc::new(Common {
            checks,
            steps: Steps::new(kernel, &stream.steps, &watched),
            names: watched.iter().map(name).collect(),
            watched,
            warps_per_block: threads.div_ceil(warp_size.max(1)).max(1),
            threads,
            shared_bytes: crate::exec::block_shared_bytes(kernel.shared_bytes, launch.dynamic_shared),
            local_bytes: kernel.local_bytes,
            lock_step,
            blocks_apart: !stream.steps.iter().any(|step| orders(&step.inst.op)),
            global: Mutex::default(),
        }))
    }

    /// The observer of one SM.
    pub fn observer(&self) -> Checker {
        Checker {
            common: self.0.clone(),
            warps: Vec::new(),
            blocks: Vec::new(),
            spare: Vec::new(),
            found: Findings::default(),
        }
    }
}

/// Watches the warps of one SM.
pub struct Checker {
    common: Arc<Common>,
    /// By warp slot.
    warps: Vec<Option<Warp>>,
    /// The resident blocks.
    blocks: Vec<Option<Block>>,
    /// Shadows of blocks that have ended, empty.
    spare: Vec<Shadow>,
    found: Findings,
}

struct Warp {
    /// Its block's place in [`Checker::blocks`].
    block: usize,
    index: u32,
    started: LaneMask,
    live: LaneMask,
    clock: WarpClock,
    own: Own,
    /// Lanes whose `bar.warp.sync` has been accounted for, because others that wait with them came first.
    met: LaneMask,
}

struct Block {
    clock: BlockClock,
    phases: [Phase; 16],
    shadow: Shadow,
    writes: SharedWrites,
    released: BTreeMap<u64, Released>,
    /// The first thread that ended.
    ended: Option<Place>,
    /// Threads that have ended.
    gone: u32,
}

impl Common {
    /// The place of an earlier access.
    fn other(&self, conflict: &Conflict) -> Place {
        let Conflict { past, pc, manner, write, .. } = *conflict;
        let does = match (manner, write) {
            (Manner::Atomic, _) => Does::Updates,
            (_, true) => Does::Writes,
            (_, false) => Does::Reads,
        };
        let (block, warp) = (past.warp / self.warps_per_block, past.warp % self.warps_per_block);
        Place { pc: Pc(pc), block, warp, lanes: LaneMask::lane(past.lane), does }
    }
}

impl Checker {
    /// What was found, and whether some memory was left unchecked because there was too much of it.
    pub fn finish(self) -> (Vec<Finding>, bool) {
        let global = self.common.global.lock().unwrap_or_else(PoisonError::into_inner);
        let full = global.variables.full || global.buffers.full;
        drop(global);
        (self.found.into_vec(), full)
    }

    /// Whether anything has been found yet.
    #[cfg(test)]
    pub(super) fn has_found(&self) -> bool {
        !self.found.is_empty()
    }

    fn start_warp(&mut self, slot: usize, block: u32, index: u32, lanes: LaneMask) {
        let common = &self.common;
        let Some(at) = self.blocks.iter().position(|b| b.as_ref().is_some_and(|b| b.clock.id == block)) else { return };
        if self.warps.len() <= slot {
            self.warps.resize_with(slot + 1, || None);
        }
        self.warps[slot] = Some(Warp {
            block: at,
            index,
            started: lanes,
            live: lanes,
            clock: WarpClock::new(block.wrapping_mul(common.warps_per_block).wrapping_add(index)),
            own: Own::new(common.watched.len(), if common.checks.init { common.local_bytes } else { 0 }),
            met: LaneMask::EMPTY,
        });
    }

    fn start_block(&mut self, id: u32) {
        let at = self.blocks.iter().position(Option::is_none).unwrap_or_else(|| {
            self.blocks.push(None);
            self.blocks.len() - 1
        });
        self.blocks[at] = Some(Block {
            clock: BlockClock::new(id),
            phases: Default::default(),
            shadow: self.spare.pop().unwrap_or_default(),
            writes: SharedWrites::new(self.common.shared_bytes),
            released: BTreeMap::new(),
            ended: None,
            gone: 0,
        });
    }

    fn issue(&mut self, slot: usize, pc: Pc, active: LaneMask, lanes: LaneMask) {
        let Checker { common, warps, blocks, found, .. } = self;
        let Some(Some(warp)) = warps.get_mut(slot) else { return };
        let Some(Some(block)) = blocks.get_mut(warp.block) else { return };
        let Some(facts) = common.steps.at(pc) else { return };
        let place = |lanes, does| Place { pc, block: block.clock.id, warp: warp.index, lanes, does };
        if !facts.uses.is_empty()
            && let Some((register, unset)) = warp.own.issue(&facts.uses, active, lanes)
        {
            let here = place(unset, Does::Reads);
            let detail = || common.names.get(register).cloned().unwrap_or_default();
            found.add(Kind::UnsetRegister, [facts.line; 2], || finding(Kind::UnsetRegister, here, None, detail()));
        }
        match facts.what {
            What::Exit if !lanes.is_empty() => {
                block.ended.get_or_insert(place(lanes, Does::Ends));
                block.gone += lanes.count();
                warp.live -= lanes;
            }
            What::Fence if common.checks.races && !lanes.is_empty() => {
                if common.lock_step {
                    warp.clock.lock_step(&mut block.clock);
                }
                warp.clock.fence(&mut block.clock, lanes, warp.live);
            }
            _ => {}
        }
    }

    fn collective(&mut self, slot: usize, pc: Pc, lanes: LaneMask, members: LaneMask) {
        let Checker { common, warps, blocks, found, .. } = self;
        let Some(Some(warp)) = warps.get_mut(slot) else { return };
        let Some(Some(block)) = blocks.get_mut(warp.block) else { return };
        let Some(facts) = common.steps.at(pc) else { return };
        let is_sync = facts.what == What::WarpSync;
        if common.checks.sync
            && let Some((kind, which)) = mask(members, lanes, warp.live, warp.started, is_sync && !common.lock_step)
        {
            let here = Place { pc, block: block.clock.id, warp: warp.index, lanes, does: Does::Is };
            let there = match kind {
                Kind::MaskEnded => block.ended,
                _ => None,
            };
            found.add(kind, [facts.line; 2], || finding(kind, here, there, which.list()));
        }
        if common.lock_step || !common.checks.races {
            return;
        }
        if lanes.is_subset(warp.met) {
            warp.met -= lanes;
            return;
        }
        let named = (members & warp.live) | lanes;
        warp.clock.warp_barrier(&mut block.clock, named, warp.live);
        warp.met = if is_sync { named - lanes } else { LaneMask::EMPTY };
    }

    fn barrier(&mut self, slot: usize, arrival: Arrival, lanes: LaneMask, arriving: LaneMask, id: u8) {
        let Checker { common, warps, blocks, found, .. } = self;
        let Some(Some(warp)) = warps.get_mut(slot) else { return };
        let Some(Some(block)) = blocks.get_mut(warp.block) else { return };
        let Some(facts) = common.steps.at(arrival.pc) else { return };
        let number = block.clock.id;
        if common.lock_step && common.checks.races {
            // Whatever the warp did before comes with it.
            warp.clock.lock_step(&mut block.clock);
        }
        let phase = &mut block.phases[usize::from(id) % 16];
        let misuse = phase.arrive(arrival, slot, lanes, common.threads);
        if arrival.sync {
            phase.waiting.push((slot, arriving));
        } else if common.checks.races {
            let told = phase.told.get_or_insert_with(Meeting::default);
            told.arrive(&mut warp.clock, &mut block.clock, arriving, warp.live);
        }
        if !common.checks.barrier {
            return;
        }
        let here = Place { pc: arrival.pc, block: number, warp: warp.index, lanes, does: Does::Is };
        let aligned = matches!(facts.what, What::Barrier { aligned: true, .. });
        let away = warp.live - lanes;
        if aligned && !away.is_empty() {
            let kind = Kind::BarrierInParts;
            return found.add(kind, [facts.line; 2], || finding(kind, here, None, away.list()));
        }
        if let Some(misuse) = misuse {
            let there = misuse.other.and_then(|(pc, slot, lanes)| {
                let warp = warps.get(slot)?.as_ref()?.index;
                Some(Place { pc, block: number, warp, lanes, does: Does::Is })
            });
            let line = there.map_or(facts.line, |place| common.steps.line(place.pc));
            found.add(misuse.kind, [facts.line, line], || finding(misuse.kind, here, there, misuse.detail));
        } else if let (Some(ended), None) = (block.ended, arrival.count) {
            let (kind, gone) = (Kind::BarrierAfterExit, block.gone);
            let lines = [facts.line, common.steps.line(ended.pc)];
            found.add(kind, lines, || finding(kind, here, Some(ended), gone.to_string()));
        }
    }

    fn open(&mut self, block: u32, id: u8) {
        let Some(at) = self.blocks.iter().position(|b| b.as_ref().is_some_and(|b| b.clock.id == block)) else { return };
        let Some(Some(block)) = self.blocks.get_mut(at) else { return };
        let Phase { waiting, told, .. } = block.phases[usize::from(id) % 16].open();
        if !self.common.checks.races {
            return;
        }
        let mut here = self.warps.iter().enumerate().filter_map(|(slot, w)| w.as_ref().map(|w| (slot, w)));
        let waits =
            |slot: usize| waiting.iter().filter(|(s, _)| *s == slot).fold(LaneMask::EMPTY, |all, (_, l)| all | *l);
        let whole = told.is_none() && here.all(|(slot, w)| w.block != at || w.live.is_subset(waits(slot)));
        if whole {
            let clocks = self.warps.iter_mut().flatten().filter(|w| w.block == at).map(|w| &mut w.clock);
            return block_barrier(&mut block.clock, clocks);
        }
        let mut meeting = told.unwrap_or_default();
        for (slot, lanes) in &waiting {
            if let Some(Some(warp)) = self.warps.get_mut(*slot) {
                meeting.arrive(&mut warp.clock, &mut block.clock, *lanes, warp.live);
            }
        }
        let open = meeting.open();
        for (slot, lanes) in &waiting {
            if let Some(Some(warp)) = self.warps.get_mut(*slot) {
                leave(&mut warp.clock, &mut block.clock, *lanes, warp.live, &open);
            }
        }
    }
}

impl Observer for Checker {
    #[inline]
    fn on(&mut self, event: Event) {
        match event {
            Event::Issue { warp, pc, active, lanes, .. } if self.common.steps.is_looked_at(pc) => {
                self.issue(warp.index(), pc, active, lanes);
            }
            Event::Collective { warp, pc, lanes, members, .. } => self.collective(warp.index(), pc, lanes, members),
            Event::Barrier { warp, pc, lanes, arriving, id, count, wait, .. } => {
                self.barrier(warp.index(), Arrival { pc, count, sync: wait }, lanes, arriving, id);
            }
            Event::BarrierOpen { block, id, .. } => self.open(block.0, id),
            Event::BlockStart { block, .. } => self.start_block(block.0),
            Event::WarpStart { warp, block, index, lanes, .. } => self.start_warp(warp.index(), block.0, index, lanes),
            Event::WarpEnd { warp, .. } => {
                if let Some(slot) = self.warps.get_mut(warp.index()) {
                    *slot = None;
                }
            }
            Event::BlockEnd { block, .. } => {
                let ended = self.blocks.iter_mut().find(|b| b.as_ref().is_some_and(|b| b.clock.id == block.0));
                if let Some(Block { mut shadow, .. }) = ended.and_then(Option::take) {
                    shadow.clear();
                    self.spare.push(shadow);
                }
            }
            _ => {}
        }
    }

    #[inline]
    fn access(&mut self, slot: WarpId, pc: Pc, access: &LaneAccess<'_>) {
        let Checker { common, warps, blocks, found, .. } = self;
        let Some(Some(warp)) = warps.get_mut(slot.index()) else { return };
        let Some(Some(block)) = blocks.get_mut(warp.block) else { return };
        let Some(facts) = common.steps.at(pc) else { return };
        match access.memory {
            MemoryKind::Const => {}
            MemoryKind::Local => {
                if common.checks.init
                    && let Some((byte, lane)) =
                        warp.own.local(access.way == AccessWay::Store, access.lanes, access.bytes, access.addresses)
                {
                    let lanes = LaneMask::lane(lane);
                    let here = Place { pc, block: block.clock.id, warp: warp.index, lanes, does: Does::Reads };
                    let at = Some((MemoryKind::Local, byte));
                    found.add(Kind::UnsetLocal, [facts.line; 2], || Finding {
                        at,
                        ..finding(Kind::UnsetLocal, here, None, String::new())
                    });
                }
            }
            MemoryKind::Shared | MemoryKind::Global => Touching { common, warp, block, found, pc, facts, access }.run(),
        }
    }

    fn merge(&mut self, other: Checker) {
        self.found.merge(other.found);
    }
}

fn finding(kind: Kind, here: Place, there: Option<Place>, detail: String) -> Finding {
    Finding { kind, here, there, at: None, detail, times: 0 }
}

/// One access of a warp to shared or global memory.
struct Touching<'a> {
    common: &'a Common,
    warp: &'a mut Warp,
    block: &'a mut Block,
    found: &'a mut Findings,
    pc: Pc,
    facts: &'a Facts,
    access: &'a LaneAccess<'a>,
}

impl Touching<'_> {
    fn run(mut self) {
        let What::Access { global, shared, order, generic } = self.facts.what else { return };
        let is_shared = self.access.memory == MemoryKind::Shared;
        // A generic access whose lanes are spread over several memories: those elsewhere are left out.
        let mut lanes = self.access.lanes;
        if generic {
            let there = |lane: u32| {
                let address = self.access.addresses[lane as usize % MAX_LANES];
                let limit = if is_shared { u64::from(self.common.shared_bytes) } else { 0 };
                if is_shared { address < limit } else { address >= WINDOW_BYTES }
            };
            lanes = lanes.lanes().filter(|&l| there(l)).fold(LaneMask::EMPTY, |all, l| all | LaneMask::lane(l));
        }
        let (reads, writes) = match self.access.way {
            AccessWay::Load => (true, false),
            AccessWay::Store => (false, true),
            AccessWay::Atomic => (true, true),
        };
        if is_shared && self.common.checks.init {
            self.unset(lanes, reads, writes);
        }
        if !self.common.checks.races {
            return;
        }
        if self.common.lock_step {
            self.warp.clock.lock_step(&mut self.block.clock);
        }
        let manner = if is_shared { shared } else { global };
        let common = self.common;
        if is_shared {
            let mut shadow = std::mem::take(&mut self.block.shadow);
            self.touch(lanes, manner, writes, &mut [(0, &mut shadow)]);
            self.block.shadow = shadow;
        } else {
            let mut memory = common.global.lock().unwrap_or_else(PoisonError::into_inner);
            let Global { variables, buffers, .. } = &mut *memory;
            self.touch(lanes, manner, writes, &mut [(GLOBAL_BASE, variables), (BUFFER_BASE, buffers)]);
            drop(memory);
        }
        if manner != Manner::Weak {
            if order.releases() {
                self.warp.clock.fence(&mut self.block.clock, lanes, self.warp.live);
            }
            if is_shared {
                let mut released = std::mem::take(&mut self.block.released);
                self.exchange(lanes, &mut released, reads, writes);
                self.block.released = released;
            } else {
                let mut memory = common.global.lock().unwrap_or_else(PoisonError::into_inner);
                self.exchange(lanes, &mut memory.released, reads, writes);
            }
        }
    }

    /// Finds bytes of shared memory that are read and that nothing has written.
    fn unset(&mut self, lanes: LaneMask, reads: bool, writes: bool) {
        for lane in lanes.lanes() {
            let first = self.access.addresses[lane as usize % MAX_LANES];
            for (word, bytes) in words(first, self.access.bytes) {
                if let Some(byte) = self.block.writes.touch(word as usize, bytes, reads, writes) {
                    let at = Some((MemoryKind::Shared, word * 4 + u64::from(byte)));
                    let here = self.place(lane);
                    let line = self.facts.line;
                    self.found.add(Kind::UnsetShared, [line; 2], || Finding {
                        at,
                        ..finding(Kind::UnsetShared, here, None, String::new())
                    });
                }
            }
        }
    }

    fn place(&self, lane: u32) -> Place {
        let does = match self.access.way {
            AccessWay::Load => Does::Reads,
            AccessWay::Store => Does::Writes,
            AccessWay::Atomic => Does::Updates,
        };
        let (block, warp) = (self.block.clock.id, self.warp.index);
        Place { pc: self.pc, block, warp, lanes: LaneMask::lane(lane), does }
    }

    /// Lets each lane's words be touched, in the last of `regions` that begins at or before them.
    fn touch(&mut self, lanes: LaneMask, manner: Manner, write: bool, regions: &mut [(u64, &mut Shadow)]) {
        let Touching { common, warp, block, found, pc, facts, access } = self;
        let Common { warps_per_block, blocks_apart, .. } = **common;
        let is_shared = access.memory == MemoryKind::Shared;
        let rules = Rules { warps_per_block, blocks_apart: blocks_apart && !is_shared };
        for lane in lanes.lanes() {
            let first = access.addresses[lane as usize % MAX_LANES];
            let Some((base, shadow)) = regions.iter_mut().rev().find(|(base, _)| *base <= first) else { continue };
            let past = Past { warp: warp.clock.number, lane, stamp: warp.clock.stamp(&block.clock, lane) };
            let stored = if write { stored(access, lane) } else { 0 };
            let mut shift = 0;
            for (word, bytes) in words(first - *base, access.bytes) {
                let value = (stored << (8 * (first % 4)) >> shift) as u32;
                shift += 32;
                let touch = Touch { past, pc: pc.0, manner, write, value };
                let knows = |past, of| warp.clock.knows(&block.clock, lane, past, of);
                shadow.touch(word as usize, bytes, &touch, rules, &knows, &mut |conflict| {
                    let kind = match (conflict.same_value, is_shared) {
                        (true, _) => Kind::RaceSameValue,
                        (false, true) => Kind::RaceShared,
                        (false, false) => Kind::RaceGlobal,
                    };
                    let there = common.other(&conflict);
                    let byte = *base + word * 4 + u64::from(conflict.byte);
                    found.add(kind, [facts.line, common.steps.line(there.pc)], || {
                        let does = match access.way {
                            AccessWay::Load => Does::Reads,
                            AccessWay::Store => Does::Writes,
                            AccessWay::Atomic => Does::Updates,
                        };
                        let lanes = LaneMask::lane(lane);
                        let here = Place { pc: *pc, block: block.clock.id, warp: warp.index, lanes, does };
                        let at = Some((access.memory, byte.max(first)));
                        Finding { at, ..finding(kind, here, Some(there), String::new()) }
                    });
                });
            }
        }
    }

    /// Strong accesses acquire what was released where they read, and release where they write.
    fn exchange(&mut self, lanes: LaneMask, released: &mut BTreeMap<u64, Released>, reads: bool, writes: bool) {
        let clock = &mut self.warp.clock;
        if released.is_empty() && !(writes && clock.has_fences()) {
            return;
        }
        for lane in lanes.lanes() {
            let address = self.access.addresses[lane as usize % MAX_LANES];
            if reads && let Some(there) = released.get(&address) {
                clock.acquire(lane, there, self.common.lock_step);
            }
            if writes {
                // An atomic goes on with what was released there, a store begins anew.
                let before = released.remove(&address).filter(|_| reads);
                if let Some(known) = clock.release(lane, before) {
                    released.insert(address, known);
                }
            }
        }
    }
}

/// What a lane stores, element by element from the lowest bits up.
#[inline]
fn stored(access: &LaneAccess<'_>, lane: u32) -> u128 {
    let count = access.stored.iter().flatten().count().max(1) as u32;
    let bits = access.bytes * 8 / count;
    let mask = u128::MAX >> (128 - bits.clamp(1, 128));
    let each = (0..).zip(access.stored.iter().flatten());
    each.fold(0, |value, (i, cells)| value | (u128::from(cells.get(lane)) & mask) << (i * bits).min(127))
}

/// The words that `bytes` from `address` on are in, each with the set of its bytes.
fn words(address: u64, bytes: u32) -> impl Iterator<Item = (u64, u8)> {
    let end = address + u64::from(bytes);
    (address / 4..end.div_ceil(4)).map(move |word| {
        let first = address.saturating_sub(word * 4).min(4) as u32;
        let last = (end - word * 4).min(4) as u32;
        (word, ((1u16 << last) - (1u16 << first)) as u8)
    })
}
