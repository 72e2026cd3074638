//! Checks of one warp access to shared or global memory: initialization, races, ordering.

use std::collections::BTreeMap;
use std::sync::PoisonError;

use super::super::clocks::{Past, Released};
use super::super::finding::{Does, Finding, Findings, Kind, Place};
use super::super::rows::{WarpAccess, runs};
use super::super::shadow::{Manner, Rules, Shadow, Touch, Witness};
use super::super::steps::{Facts, Role};
use super::{Block, Common, Global, Warp, finding};
use crate::base::{LaneMask, MAX_LANES, Pc};
use crate::event::{AccessWay, Cells, LaneAccess, MemoryKind};
use crate::kernel::layout::{BUFFER_BASE, GLOBAL_BASE, HEAP_BASE, WINDOW_BYTES};

/// Warp access to shared or global memory.
pub(super) struct Touching<'a> {
    pub common: &'a Common,
    pub warp: &'a mut Warp,
    pub block: &'a mut Block,
    pub found: &'a mut Findings,
    pub pc: Pc,
    pub facts: &'a Facts,
    pub access: &'a LaneAccess<'a>,
}

/// Memory region with its own shadow, and the manner of the access.
#[derive(Clone, Copy)]
struct Region {
    /// Address of the region's first byte.
    base: u64,
    rules: Rules,
    manner: Manner,
    write: bool,
}

impl Touching<'_> {
    pub(super) fn run(mut self) {
        let Role::Access { global, shared, order, generic } = self.facts.role else { return };
        let is_shared = self.access.memory == MemoryKind::Shared;
        // In a generic access, skip lanes that address another memory.
        let mut lanes = self.access.lanes;
        if generic {
            let there = |lane: u32| {
                let address = self.access.addresses[lane as usize % MAX_LANES];
                let limit = if is_shared { u64::from(self.common.shared_bytes) } else { 0 };
                if is_shared { address < limit } else { address >= WINDOW_BYTES }
            };
            lanes = lanes
                .lanes()
                .filter(|&l| there(l))
                .fold(LaneMask::EMPTY, |all, l| all | LaneMask::lane(l));
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
            if !self.keep(lanes, manner, writes) {
                let mut shadow = std::mem::take(&mut self.block.shadow);
                self.record_kept(lanes, &mut shadow);
                self.touch(lanes, manner, writes, &mut [(0, &mut shadow)]);
                self.block.shadow = shadow;
            }
        } else {
            let mut memory = common.global.lock().unwrap_or_else(PoisonError::into_inner);
            let Global { variables, heap, buffers, .. } = &mut *memory;
            self.touch(
                lanes,
                manner,
                writes,
                &mut [(GLOBAL_BASE, variables), (HEAP_BASE, heap), (BUFFER_BASE, buffers)],
            );
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

    /// Reports uninitialized reads of shared memory.
    fn unset(&mut self, lanes: LaneMask, reads: bool, writes: bool) {
        let access = self.access;
        let shared = &mut self.block.writes;
        if access.bytes == 4
            && is_aligned(lanes, access.addresses)
            && (!reads || shared.has_words(lanes, access.addresses))
        {
            if writes {
                shared.set_words(lanes, access.addresses);
            }
            return;
        }
        for (lane, _) in runs(lanes, access.addresses, reads) {
            let first = access.addresses[lane as usize % MAX_LANES];
            if access.bytes == 4 && first.is_multiple_of(4) {
                self.unset_word(lane, first / 4, 0b1111, reads, writes);
                continue;
            }
            for (word, bytes) in words(first, access.bytes) {
                self.unset_word(lane, word, bytes, reads, writes);
            }
        }
    }

    #[inline]
    fn unset_word(&mut self, lane: u32, word: u64, bytes: u8, reads: bool, writes: bool) {
        if let Some(byte) = self.block.writes.touch(word as usize, bytes, reads, writes) {
            let at = Some((MemoryKind::Shared, word * 4 + u64::from(byte)));
            let (here, line) = (self.place(lane), self.facts.line);
            let made = || Finding { at, ..finding(Kind::UnsetShared, here, None, String::new()) };
            self.found.add(Kind::UnsetShared, [line; 2], made);
        }
    }

    fn place(&self, lane: u32) -> Place {
        let (block, warp) = (self.block.clock.id, self.warp.index);
        Place { pc: self.pc, block, warp, lanes: LaneMask::lane(lane), does: does(self.access.way) }
    }

    fn rules(&self) -> Rules {
        let warps_per_block = self.common.warps_per_block;
        let apart = if self.access.memory == MemoryKind::Shared {
            self.common.warps_apart.then_some(1)
        } else {
            self.common.blocks_apart.then_some(warps_per_block)
        };
        Rules { warps_per_block, apart }
    }

    /// Keeps an access to shared memory by line, if it is to whole words and races with nothing.
    fn keep(&mut self, lanes: LaneMask, manner: Manner, write: bool) -> bool {
        let Touching { warp: Warp { clock, .. }, block, access, .. } = self;
        let values = match access.stored {
            [None, ..] if !write => None,
            [Some(Cells::Narrow(values)), None, ..] => Some(values),
            _ => return false,
        };
        let (Some(by), Some(lowest)) = (clock.by_barriers(&block.clock), lanes.lowest()) else {
            return false;
        };
        if manner == Manner::Atomic || access.bytes != 4 || !is_aligned(lanes, access.addresses) {
            return false;
        }
        let (addresses, stamp) = (access.addresses, clock.stamp(&block.clock, lowest));
        let access = WarpAccess { lanes, addresses, values, pc: self.pc.0, manner, by, stamp };
        block.rows.keep(&access, &block.clock)
    }

    /// Records kept accesses by word, in the lines of an access that follows.
    fn record_kept(&mut self, lanes: LaneMask, shadow: &mut Shadow) {
        let rules = self.rules();
        let Block { rows, clock, .. } = &mut *self.block;
        for lane in lanes.lanes() {
            let first = self.access.addresses[lane as usize % MAX_LANES];
            for (word, _) in words(first, self.access.bytes) {
                rows.record(word, shadow, rules, clock);
            }
        }
    }

    /// Records each lane's words in the last of `regions` that begins before them.
    fn touch(
        &mut self,
        lanes: LaneMask,
        manner: Manner,
        write: bool,
        regions: &mut [(u64, &mut Shadow)],
    ) {
        let addresses = self.access.addresses;
        let rules = self.rules();
        // Neighboring lanes that read one address in the same epoch are recorded as one reader.
        // Neighboring atomics are recorded as one if they add nothing to the records; races count
        // per lane.
        let alike = (!write || manner == Manner::Atomic) && self.warp.clock.is_together();
        for (first, run) in runs(lanes, addresses, alike) {
            let address = addresses[first as usize % MAX_LANES];
            let Some((base, shadow)) = regions.iter_mut().rev().find(|(base, _)| *base <= address)
            else {
                continue;
            };
            let region = Region { base: *base, rules, manner, write };
            let mut rest = run;
            while let Some(lane) = rest.lowest() {
                let lanes = if write { LaneMask::lane(lane) } else { rest };
                if lanes != rest && self.join(lane, rest, region, shadow) {
                    break;
                }
                self.touch_place(lane, lanes, region, shadow);
                rest -= lanes;
            }
        }
    }

    /// Describes the access of `lanes`, whose lowest lane is `lane`.
    #[inline]
    fn toucher(&self, lane: u32, lanes: LaneMask, region: Region) -> Touch {
        let Touching { warp: Warp { clock, .. }, block, pc, .. } = self;
        let past = Past { warp: clock.number, lane, stamp: clock.stamp(&block.clock, lane) };
        Touch { past, lanes, pc: pc.0, manner: region.manner, write: region.write, value: 0 }
    }

    /// Records one atomic access for all of `lanes` if that equals one record per lane. `lane` is
    /// the lowest of them. Returns false if it does not.
    fn join(&self, lane: u32, lanes: LaneMask, region: Region, shadow: &mut Shadow) -> bool {
        let touch = self.toucher(lane, lanes, region);
        let witness = Witness::new(&touch);
        let knows = |past: Past, of| {
            self.warp.clock.knows(&self.block.clock, witness.lane(&past), past, of)
        };
        let offset = self.access.addresses[lane as usize % MAX_LANES] - region.base;
        words(offset, self.access.bytes).all(|(word, bytes)| {
            bytes == 0b1111 && shadow.join(word as usize, &touch, region.rules, &knows)
        })
    }

    /// Records an access by one lane, or a read by several, to one address. `lane` is the lowest of
    /// `lanes`.
    #[inline]
    fn touch_place(&mut self, lane: u32, lanes: LaneMask, region: Region, shadow: &mut Shadow) {
        let mut touch = self.toucher(lane, lanes, region);
        let Touching { common, warp, block, found, pc, facts, access } = self;
        let (access, clock) = (*access, &warp.clock);
        let Region { base, rules, write, .. } = region;
        let first = access.addresses[lane as usize % MAX_LANES];
        let witness = Witness::new(&touch);
        let knows = |past: Past, of| clock.knows(&block.clock, witness.lane(&past), past, of);
        let stored = if write { stored(access, lane) } else { 0 };
        let mut each = |word: u64, bytes: u8, value: u32| {
            touch.value = value;
            shadow.touch(word as usize, bytes, &touch, rules, &knows, &mut |conflict| {
                let kind = match (conflict.same_value, access.memory == MemoryKind::Shared) {
                    (true, _) => Kind::RaceSameValue,
                    (false, true) => Kind::RaceShared,
                    (false, false) => Kind::RaceGlobal,
                };
                let there = common.other(&conflict);
                let byte = base + word * 4 + u64::from(conflict.byte);
                found.add(kind, [facts.line, common.steps.line(there.pc)], || {
                    let (lanes, does) =
                        (LaneMask::lane(witness.lane(&conflict.past)), does(access.way));
                    let here =
                        Place { pc: *pc, block: block.clock.id, warp: warp.index, lanes, does };
                    let at = Some((access.memory, byte.max(first)));
                    Finding { at, ..finding(kind, here, Some(there), String::new()) }
                });
            });
        };
        let offset = first - base;
        if access.bytes == 4 && offset.is_multiple_of(4) {
            each(offset / 4, 0b1111, stored as u32);
            return;
        }
        let mut shift = 0;
        for (word, bytes) in words(offset, access.bytes) {
            each(word, bytes, (stored << (8 * (first % 4)) >> shift) as u32);
            shift += 32;
        }
    }

    /// Acquires clocks at addresses that strong accesses read, releases at those they
    /// write.
    fn exchange(
        &mut self,
        lanes: LaneMask,
        released: &mut BTreeMap<u64, Released>,
        reads: bool,
        writes: bool,
    ) {
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
                // An atomic extends the release sequence; a store starts a new one.
                let before = released.remove(&address).filter(|_| reads);
                if let Some(known) = clock.release(lane, before) {
                    released.insert(address, known);
                }
            }
        }
    }
}

/// Returns true if the addresses are multiples of 4.
fn is_aligned(lanes: LaneMask, addresses: &[u64; MAX_LANES]) -> bool {
    lanes.lanes().fold(0, |all, lane| all | addresses[lane as usize % MAX_LANES]) % 4 == 0
}

const fn does(way: AccessWay) -> Does {
    match way {
        AccessWay::Load => Does::Reads,
        AccessWay::Store => Does::Writes,
        AccessWay::Atomic => Does::Updates,
    }
}

/// Returns the value that a lane stores, its elements from the lowest bits up.
#[inline]
fn stored(access: &LaneAccess<'_>, lane: u32) -> u128 {
    let count = access.stored.iter().flatten().count().max(1) as u32;
    let bits = access.bytes * 8 / count;
    let mask = u128::MAX >> (128 - bits.clamp(1, 128));
    let each = (0..).zip(access.stored.iter().flatten());
    each.fold(0, |value, (i, cells)| {
        value | (u128::from(cells.get(lane)) & mask) << (i * bits).min(127)
    })
}

/// Returns the words of `bytes` bytes at `address`, each with its byte mask.
fn words(address: u64, bytes: u32) -> impl Iterator<Item = (u64, u8)> {
    let end = address + u64::from(bytes);
    (address / 4..end.div_ceil(4)).map(move |word| {
        let first = address.saturating_sub(word * 4).min(4) as u32;
        let last = (end - word * 4).min(4) as u32;
        (word, ((1u16 << last) - (1u16 << first)) as u8)
    })
}
