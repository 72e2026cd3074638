//! Checks of one warp access to shared or global memory: initialization, races, ordering.

use std::collections::BTreeMap;
use std::sync::PoisonError;

use super::super::cells::{Manner, Touch, Witness};
use super::super::clocks::{Past, Released, Stamp};
use super::super::finding::{Does, Finding, Findings, Kind, Place, Reach};
use super::super::lines::Accessor;
use super::super::rows::{LINE_BYTES, Rows, runs};
use super::super::shadow::Shadow;
use super::super::steps::{Facts, Role};
use super::{Block, Common, Warp, finding};
use crate::base::{LaneMask, MAX_LANES, Pc};
use crate::event::{AccessWay, LaneAccess, MemoryKind};
use crate::kernel::MemoryOrder;

/// Warp access to shared or global memory.
pub(super) struct Touching<'a> {
    pub common: &'a Common,
    pub warp: &'a mut Warp,
    pub block: &'a mut Block,
    pub found: &'a mut Findings,
    pub rows: &'a mut Rows,
    pub pc: Pc,
    pub facts: &'a Facts,
    pub access: &'a LaneAccess<'a>,
}

/// What lanes do at their addresses.
#[derive(Clone, Copy)]
struct Doing {
    manner: Manner,
    write: bool,
    /// See [`Touch::apart`].
    apart: Option<u32>,
    /// See [`Touch::observes`].
    observes: bool,
}

impl Touching<'_> {
    /// Checks the access; `shared_memory` is that of its block.
    pub(super) fn run(mut self, shared_memory: &mut Shadow) {
        let (global, shared, order) = match (self.facts.role, self.access.way) {
            (Role::Access { global, shared, order }, _) => (global, shared, order),
            // Bytes arrive at an object in shared memory, or are reduced to global memory.
            (Role::BulkCopy, AccessWay::Atomic) => match self.access.memory {
                MemoryKind::Shared => (Manner::Atomic, Manner::Atomic, MemoryOrder::Release),
                _ => (Manner::Atomic, Manner::Atomic, MemoryOrder::Relaxed),
            },
            (Role::BulkCopy, _) => (Manner::Weak, Manner::Weak, MemoryOrder::Weak),
            _ => return,
        };
        let is_shared = self.access.memory == MemoryKind::Shared;
        let lanes = self.access.lanes;
        let (reads, writes) = match self.access.way {
            AccessWay::Load => (true, false),
            AccessWay::Store => (false, true),
            AccessWay::Atomic => (true, true),
        };
        let by_line = self.rows.split(lanes, self.access.addresses, self.access.bytes);
        if is_shared && self.common.checks.init {
            self.unset(lanes, by_line, reads, writes);
        }
        if !is_shared && !self.common.unset.is_empty() {
            self.unset_global(lanes, reads, writes);
        }
        if !self.common.checks.races {
            return;
        }
        if is_shared && (self.facts.copies || !self.block.in_flight.is_empty()) {
            self.in_flight(lanes);
        }
        if self.common.lock_step {
            self.warp.clock.lock_step(&mut self.block.clock);
        }
        let manner = if is_shared { shared } else { global };
        let observes = manner == Manner::Atomic && self.facts.returns;
        let doing = Doing { manner, write: writes, apart: self.apart(), observes };
        let common = self.common;
        if is_shared {
            self.touch(lanes, doing, by_line, shared_memory);
        } else {
            let mut memory = common.global.lock().unwrap_or_else(PoisonError::into_inner);
            self.touch(lanes, doing, by_line, &mut memory.shadow);
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
    fn unset(&mut self, lanes: LaneMask, by_line: bool, reads: bool, writes: bool) {
        let (access, shared) = (self.access, &mut self.block.writes);
        let rows = if by_line { self.rows.as_slice() } else { &[] };
        if by_line && (!reads || rows.iter().all(|row| shared.has(row.line, row.words))) {
            if writes {
                rows.iter().for_each(|row| shared.set(row.line, row.words));
            }
            return;
        }
        if access.bytes == 4 && !writes && shared.has_all(lanes, access.addresses) {
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
        if let Some(byte) = self.block.writes.touch(word, bytes, reads, writes) {
            let at = Some((MemoryKind::Shared, word * 4 + u64::from(byte)));
            let (here, line) = (self.place(lane), self.facts.line);
            let made = || Finding { at, ..finding(Kind::UnsetShared, here, None, String::new()) };
            self.found.add(Kind::UnsetShared, [line; 2], made);
        }
    }

    /// Reports uninitialized reads of device memory, and records writes.
    fn unset_global(&mut self, lanes: LaneMask, reads: bool, writes: bool) {
        let (access, common) = (self.access, self.common);
        for lane in lanes.lanes() {
            let first = access.addresses[lane as usize % MAX_LANES];
            let after = common.unset.partition_point(|(start, ..)| *start <= first);
            let Some((start, last, unset)) = after.checked_sub(1).map(|at| &common.unset[at])
            else {
                continue;
            };
            if first > *last || !unset.any() {
                continue;
            }
            let offset = first - start;
            let words = offset / 4..(offset + u64::from(access.bytes)).div_ceil(4);
            if reads && let Some(word) = words.clone().find(|&word| unset.has(word)) {
                let at = Some((MemoryKind::Global, first.max(start + 4 * word)));
                let (here, line) = (self.place(lane), self.facts.line);
                let made =
                    || Finding { at, ..finding(Kind::UnsetGlobal, here, None, String::new()) };
                self.found.add(Kind::UnsetGlobal, [line; 2], made);
            }
            if writes {
                unset.write(words);
            }
        }
    }

    /// Keeps the words of an asynchronous copy from its start to its thread's wait, which are both
    /// seen as stores. Reports other accesses to such words, those of the same thread included.
    fn in_flight(&mut self, lanes: LaneMask) {
        for lane in lanes.lanes() {
            let here = self.place(lane);
            let first = self.access.addresses[lane as usize % MAX_LANES];
            for (word, _) in words(first, self.access.bytes) {
                let in_flight = &mut self.block.in_flight;
                if self.facts.copies {
                    if in_flight.remove(&word) != Some(here) {
                        in_flight.insert(word, here);
                    }
                } else if let Some(&there) = in_flight.get(&word) {
                    let lines = [self.facts.line, self.common.steps.line(there.pc)];
                    let own = (here.block, here.warp);
                    let reach = Reach::between(own, (there.block, there.warp));
                    let at = Some((MemoryKind::Shared, first.max(word * 4)));
                    self.found.add_between(Kind::RaceShared, lines, reach, || Finding {
                        at,
                        ..finding(Kind::RaceShared, here, Some(there), String::new())
                    });
                }
            }
        }
    }

    fn place(&self, lane: u32) -> Place {
        let (block, warp) = (self.block.clock.id, self.warp.index);
        Place { pc: self.pc, block, warp, lanes: LaneMask::lane(lane), does: does(self.access.way) }
    }

    /// See [`Touch::apart`].
    fn apart(&self) -> Option<u32> {
        if self.access.memory == MemoryKind::Shared {
            self.common.warps_apart.then_some(1)
        } else {
            self.common.blocks_apart.then_some(self.common.warps_per_block)
        }
    }

    /// Records an access, by line where all lanes know the same.
    fn touch(&mut self, lanes: LaneMask, doing: Doing, by_line: bool, shadow: &mut Shadow) {
        let Some(lowest) = lanes.lowest() else { return };
        let Touching { access, warp: Warp { clock, .. }, block, .. } = self;
        let is_shared = access.memory == MemoryKind::Shared;
        let (ordered, now) =
            if is_shared { (block.clock.all(), block.clock.now()) } else { (0, 0) };
        let is_simple = clock.knows_barriers_only(&block.clock);
        let by = Accessor {
            warp: clock.number,
            stamp: clock.stamp(&block.clock, lowest),
            pc: self.pc.0,
            manner: doing.manner,
            write: doing.write,
            apart: doing.apart,
            observes: doing.observes,
            knows: clock.by_barriers(&block.clock),
        };
        let by_line = by_line && is_simple;
        if by_line {
            let value = |lane, word| written(access, lane, word);
            let mut taken = true;
            for row in self.rows.as_slice() {
                if !shadow.take(row, &by, ordered, &value) {
                    shadow.divide(row.line);
                    taken = false;
                }
            }
            if taken {
                return;
            }
        }
        if is_simple && doing.manner == Manner::Weak && access.bytes == 4 {
            let (mut rest, access) = (lanes, *access);
            let value = |lane| access.stored[0].map_or(0, |cells| cells.get(lane) as u32);
            while let Some((lane, lanes)) =
                shadow.touch_soon(&mut rest, access.addresses, &by, !by_line, now, &value)
            {
                self.touch_place(lane, lanes, doing, shadow, now);
            }
            return;
        }
        if !by_line {
            let mut last = None;
            for lane in lanes.lanes() {
                let first = access.addresses[lane as usize % MAX_LANES];
                let end = first + u64::from(access.bytes) - 1;
                for line in first / LINE_BYTES..=end / LINE_BYTES {
                    if last.replace(line) != Some(line) {
                        shadow.divide(line);
                    }
                }
            }
        }
        self.touch_words(lanes, doing, shadow, now);
    }

    /// Records each lane's words that have records of their own.
    fn touch_words(&mut self, lanes: LaneMask, doing: Doing, shadow: &mut Shadow, now: Stamp) {
        // Neighboring lanes that read one address in the same epoch are recorded as one reader.
        // Neighboring atomics are recorded as one if they add nothing to the records; races count
        // per lane.
        let Doing { manner, write, .. } = doing;
        let alike = (!write || manner == Manner::Atomic) && self.warp.clock.is_together();
        for (_, run) in runs(lanes, self.access.addresses, alike) {
            let mut rest = run;
            while let Some(lane) = rest.lowest() {
                let lanes = if write { LaneMask::lane(lane) } else { rest };
                if lanes != rest && self.join(lane, rest, doing, shadow, now) {
                    break;
                }
                self.touch_place(lane, lanes, doing, shadow, now);
                rest -= lanes;
            }
        }
    }

    /// Describes the access of `lanes`, whose lowest lane is `lane`.
    #[inline]
    fn touch_of(&self, lane: u32, lanes: LaneMask, doing: Doing) -> Touch {
        let Touching { warp: Warp { clock, .. }, block, pc, .. } = self;
        let past = Past { warp: clock.number, lane, stamp: clock.stamp(&block.clock, lane) };
        let Doing { manner, write, apart, observes } = doing;
        Touch { past, lanes, pc: pc.0, manner, write, value: 0, apart, observes }
    }

    /// Records one atomic access for all of `lanes` if that equals one record per lane. `lane` is
    /// the lowest of them. Returns false if it does not.
    fn join(
        &self,
        lane: u32,
        lanes: LaneMask,
        doing: Doing,
        shadow: &mut Shadow,
        now: Stamp,
    ) -> bool {
        let touch = self.touch_of(lane, lanes, doing);
        let witness = Witness::new(&touch);
        let knows =
            |past: Past| self.warp.clock.knows(&self.block.clock, witness.lane(&past), past);
        let address = self.access.addresses[lane as usize % MAX_LANES];
        words(address, self.access.bytes).all(|(word, bytes)| {
            bytes == 0b1111
                && shadow
                    .word(word, now)
                    .is_none_or(|(cell, aside)| cell.join(aside, &touch, &knows))
        })
    }

    /// Records an access by one lane, or a read by several, to one address. `lane` is the lowest of
    /// `lanes`.
    #[inline]
    fn touch_place(
        &mut self,
        lane: u32,
        lanes: LaneMask,
        doing: Doing,
        shadow: &mut Shadow,
        now: Stamp,
    ) {
        let mut touch = self.touch_of(lane, lanes, doing);
        let Touching { common, warp, block, found, pc, facts, access, .. } = self;
        let (access, clock) = (*access, &warp.clock);
        let first = access.addresses[lane as usize % MAX_LANES];
        let witness = Witness::new(&touch);
        let knows = |past: Past| clock.knows(&block.clock, witness.lane(&past), past);
        let stored = if doing.write { stored(access, lane) } else { 0 };
        let mut each = |word: u64, bytes: u8, value: u32| {
            let Some((cell, aside)) = shadow.word(word, now) else { return };
            touch.value = value;
            cell.touch(aside, bytes, &touch, &knows, &mut |conflict| {
                let kind = match (conflict.same_value, access.memory == MemoryKind::Shared) {
                    (true, _) => Kind::RaceSameValue,
                    (false, true) => Kind::RaceShared,
                    (false, false) => Kind::RaceGlobal,
                };
                let there = common.other(&conflict);
                let byte = word * 4 + u64::from(conflict.byte);
                let own = (block.clock.id, warp.index);
                let reach = Reach::between(own, (there.block, there.warp));
                let lines = [facts.line, common.steps.line(there.pc)];
                found.add_between(kind, lines, reach, || {
                    let (lanes, does) =
                        (LaneMask::lane(witness.lane(&conflict.past)), does(access.way));
                    let here =
                        Place { pc: *pc, block: block.clock.id, warp: warp.index, lanes, does };
                    let at = Some((access.memory, byte.max(first)));
                    Finding { at, ..finding(kind, here, Some(there), String::new()) }
                });
            });
        };
        if access.bytes == 4 && first.is_multiple_of(4) {
            each(first / 4, 0b1111, stored as u32);
            return;
        }
        let mut shift = 0;
        for (word, bytes) in words(first, access.bytes) {
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
            // An atomic extends the release sequence; a store starts a new one.
            if writes && (!reads || clock.releases(lane)) {
                let before = released.remove(&address).filter(|_| reads);
                if let Some(known) = clock.release(lane, before) {
                    released.insert(address, known);
                }
            }
        }
    }
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

/// Returns the value that a lane stores to a word of whole words.
#[inline]
fn written(access: &LaneAccess<'_>, lane: u32, word: u64) -> u32 {
    if let (4, [Some(cells), ..]) = (access.bytes, access.stored) {
        return cells.get(lane) as u32;
    }
    let first = access.addresses[lane as usize % MAX_LANES] / 4;
    (stored(access, lane) >> (32 * word.wrapping_sub(first)).min(127)) as u32
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
