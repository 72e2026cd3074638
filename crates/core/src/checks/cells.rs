//! Earlier accesses to a word with which a later access could race.
//!
//! A word keeps its last weak write, and one record per warp and kind of all other accesses (reads,
//! strong writes, atomics). A new access is compared with these. It replaces the records that it
//! knows and covers, because whatever races with a replaced record also races with the new one
//! (FastTrack's argument, applied to each kind). An access smaller than a word splits the word into
//! bytes, so that neighbors do not race.
//!
//! An atomic that returns the old value observes the atomics before it, back to the last other
//! write. Whatever is ordered after it is ordered after those (causality order of the PTX memory
//! model), so it replaces their records. It orders nothing else that happened before them: an
//! atomic replaces atomics only.
//!
//! A word keeps [`MOST_RECORDS`] records at most: with more readers between two barriers some are
//! dropped, and a race can be missed.

mod records;

use records::{compare, conflicts, is_covered, joins, record, written};

use super::clocks::{ByBarriers, Past, Stamp};
use super::lines::Accessor;
use super::slab::Slab;
use crate::base::LaneMask;

/// Maximum records per word besides its last write.
const MOST_RECORDS: usize = 64;

/// Strength of an access. A weak access conflicts with any other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Manner {
    /// Ordinary access.
    Weak,
    /// `.volatile` access to shared memory. Two of them conflict: they are not ordered, so the
    /// value read depends on the schedule. They do not conflict with strong accesses.
    Volatile,
    /// Volatile or stronger access, meant for concurrent use.
    Strong,
    /// Atomic access.
    Atomic,
    /// Atomic access before a strong write: no later atomic observes it.
    Overwritten,
}

impl Manner {
    /// All manners, by number in three bits.
    const ALL: [Manner; 8] = {
        use Manner::{Atomic, Overwritten, Strong, Volatile, Weak};
        [Weak, Volatile, Strong, Atomic, Overwritten, Overwritten, Overwritten, Overwritten]
    };

    /// Returns true if two unordered accesses conflict, given that one writes.
    pub(super) fn conflicts(self, other: Manner) -> bool {
        let (less, more) = if (self as u8) < other as u8 { (self, other) } else { (other, self) };
        less == Manner::Weak || more == Manner::Volatile
    }

    /// Returns true if every access that conflicts with `other` conflicts with this, and is not
    /// ordered after this alone.
    pub(super) fn covers(self, other: Manner) -> bool {
        match self {
            Manner::Atomic => other == Manner::Atomic,
            _ => self as u8 <= other as u8,
        }
    }
}

/// Access of one lane, or of several indistinguishable lanes, to one word.
#[derive(Clone, Copy, Debug)]
pub(super) struct Touch {
    /// Identity and epoch of the lowest lane.
    pub past: Past,
    pub lanes: LaneMask,
    /// PC of the step.
    pub pc: u32,
    pub manner: Manner,
    pub write: bool,
    /// Value written, at its place in the word.
    pub value: u32,
    /// Warps per group, if only barriers of a whole block synchronize different groups.
    /// Two accesses of one kind by two groups then cover all later ones: whatever races with a
    /// later one races with one of the two.
    pub apart: Option<u32>,
    /// True for an atomic that returns the old value.
    pub observes: bool,
}

impl Touch {
    /// Returns true if `lane` is its only lane.
    fn is_of(&self, lane: u32) -> bool {
        self.lanes == LaneMask::lane(lane)
    }
}

/// Warp whose lanes access words weakly, one after the other.
#[derive(Debug)]
pub(super) struct Toucher {
    warp: u32,
    stamp: Stamp,
    /// Without a lane.
    tag: Tag,
    /// All that the lanes know.
    knows: ByBarriers,
}

impl Toucher {
    pub(super) fn new(by: &Accessor) -> Toucher {
        let &Accessor { warp, stamp, pc, manner, write, knows, .. } = by;
        Toucher { warp, stamp, tag: Tag::of(pc, 0, manner, write), knows }
    }
}

/// Lane that answers for a group of lanes whether it knows an earlier access. A lane knows its own
/// accesses, so another lane of the group answers for those.
#[derive(Clone, Copy)]
pub(super) struct Witness {
    warp: u32,
    lane: u32,
    other: u32,
}

impl Witness {
    pub(super) fn new(touch: &Touch) -> Witness {
        let Past { warp, lane, .. } = touch.past;
        Witness { warp, lane, other: (touch.lanes - LaneMask::lane(lane)).lowest().unwrap_or(lane) }
    }

    pub(super) fn lane(&self, past: &Past) -> u32 {
        if past.warp == self.warp && past.lane == self.lane { self.other } else { self.lane }
    }
}

/// Earlier access that races with the new one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Conflict {
    pub past: Past,
    pub pc: u32,
    pub manner: Manner,
    pub write: bool,
    /// True if both write the same value.
    pub same_value: bool,
    /// Byte offset in the word.
    pub byte: u32,
}

/// Marks an empty record.
const NOBODY: u32 = u32::MAX;
/// Marks a split word; `stamp` is the index of its bytes.
const SPLIT: u32 = u32::MAX - 1;
/// Marks several records; `stamp` is the index of their list.
const SEVERAL: u32 = u32::MAX - 2;

/// Step, lane, manner and direction of a record, packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Tag(u32);

impl Tag {
    fn of(pc: u32, lane: u32, manner: Manner, write: bool) -> Tag {
        Tag(pc << 9 | (lane & 31) << 4 | (manner as u32) << 1 | u32::from(write))
    }

    fn new(touch: &Touch) -> Tag {
        Tag::of(touch.pc, touch.past.lane, touch.manner, touch.write)
    }

    fn pc(self) -> u32 {
        self.0 >> 9
    }

    /// Returns manner and direction.
    fn kind(self) -> u32 {
        self.0 & 15
    }

    fn lane(self) -> u32 {
        self.0 >> 4 & 31
    }

    fn manner(self) -> Manner {
        Manner::ALL[(self.0 >> 1 & 7) as usize]
    }

    fn write(self) -> bool {
        self.0 & 1 == 1
    }

    /// Marks an atomic access as overwritten.
    fn overwrite(&mut self) {
        if self.manner() == Manner::Atomic {
            let Tag(bits) = *self;
            *self = Tag(bits & !0b1110 | (Manner::Overwritten as u32) << 1);
        }
    }
}

/// Last weak write.
#[derive(Clone, Copy, Debug)]
struct Write {
    warp: u32,
    stamp: Stamp,
    tag: Tag,
    value: u32,
}

/// Accesses of one kind by lanes of one warp in the same epoch.
#[derive(Clone, Copy, Debug)]
struct Record {
    warp: u32,
    stamp: Stamp,
    tag: Tag,
    lanes: LaneMask,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Cell {
    write: Write,
    other: Record,
}

impl Cell {
    pub(super) const EMPTY: Cell = Cell {
        write: Write { warp: NOBODY, stamp: 0, tag: Tag(0), value: 0 },
        other: Record { warp: NOBODY, stamp: 0, tag: Tag(0), lanes: LaneMask::EMPTY },
    };
}

/// Record lists of words with several records, and bytes of split words.
#[derive(Debug, Default)]
pub(super) struct Aside {
    several: Slab<Vec<Record>>,
    split: Slab<[Cell; 4]>,
}

impl Aside {
    pub(super) fn clear(&mut self) {
        self.several.clear();
        self.split.clear();
    }

    /// Frees what belongs to a cell.
    pub(super) fn free(&mut self, cell: &Cell) {
        if cell.write.warp == SPLIT {
            let bytes = self.split.get(cell.write.stamp).copied();
            bytes.iter().flatten().for_each(|byte| self.free(byte));
            self.split.remove(cell.write.stamp);
        } else if cell.other.warp == SEVERAL {
            self.several.remove(cell.other.stamp);
        }
    }
}

impl Cell {
    /// Records an access to `bytes`, a mask of the word's four bytes.
    ///
    /// `knows(past)` returns true if an earlier access happened before this one. `found` receives
    /// the accesses that did not.
    #[inline]
    pub(super) fn touch(
        &mut self,
        aside: &mut Aside,
        bytes: u8,
        touch: &Touch,
        knows: &impl Fn(Past) -> bool,
        found: &mut impl FnMut(Conflict),
    ) {
        if bytes == 0b1111 && self.write.warp != SPLIT {
            return compare(self, &mut aside.several, touch, 0, knows, found);
        }
        if self.write.warp != SPLIT {
            self.divide(aside);
        }
        let Some(byte_cells) = aside.split.get_mut(self.write.stamp) else { return };
        for (byte, cell) in (0..).zip(byte_cells).filter(|(byte, _)| bytes >> byte & 1 == 1) {
            let touch = Touch { value: touch.value >> (8 * byte) & 0xff, ..*touch };
            compare(cell, &mut aside.several, &touch, byte, knows, found);
        }
    }

    /// Records an access to the whole word. Returns false, and records nothing, if it may race or
    /// the word has several records. `lane` is the lowest of `lanes`, the only one of a write.
    #[inline]
    pub(super) fn touch_soon(
        &mut self,
        by: &Toucher,
        lane: u32,
        lanes: LaneMask,
        value: u32,
    ) -> bool {
        let Cell { write, other } = *self;
        let &Toucher { warp, stamp, ref knows, .. } = by;
        let tag = Tag(by.tag.0 | lane << 4);
        // A lane knows its own accesses.
        let is_mine = |its: u32, its_lanes: LaneMask| its == warp && its_lanes == lanes;
        let is_known = write.warp == NOBODY
            || knows.has(write.warp, write.stamp)
            || is_mine(write.warp, LaneMask::lane(write.tag.lane()));
        if !is_known || other.warp == SEVERAL {
            return false;
        }
        if tag.write() {
            let is_known = other.warp == NOBODY
                || knows.has(other.warp, other.stamp)
                || is_mine(other.warp, other.lanes);
            if is_known {
                self.write = Write { warp, stamp, tag, value };
                self.other.warp = NOBODY;
            }
            return is_known;
        }
        if other.warp == NOBODY {
            self.other = Record { warp, stamp, tag, lanes };
            return true;
        }
        if other.warp == warp && other.stamp == stamp && other.tag.kind() == tag.kind() {
            self.other.lanes |= lanes;
            return true;
        }
        let replaces = knows.has(other.warp, other.stamp)
            || other.warp == warp && other.lanes.is_subset(lanes);
        if other.tag.write() || !replaces {
            return false;
        }
        self.other = Record { warp, stamp, tag, lanes };
        true
    }

    /// Returns true if its bytes have records of their own.
    pub(super) fn is_divided(&self) -> bool {
        self.write.warp == SPLIT
    }

    /// Gives each byte records of its own.
    ///
    /// Each starts with the records of the word; lists are copied, as they may change separately.
    #[cold]
    pub(super) fn divide(&mut self, aside: &mut Aside) {
        let mut bytes = [*self; 4];
        for (byte, cell) in bytes.iter_mut().enumerate() {
            cell.write.value = cell.write.value >> (8 * byte) & 0xff;
            if byte > 0 && cell.other.warp == SEVERAL {
                let copy = aside.several.get(cell.other.stamp).cloned().unwrap_or_default();
                cell.other.stamp = aside.several.add(copy);
            }
        }
        self.write.warp = SPLIT;
        self.write.stamp = aside.split.add(bytes);
    }

    /// Records one atomic access for several lanes if that equals one record per lane.
    ///
    /// This holds if no lane races and either a record of the same kind exists or records of other
    /// warps cover it. Otherwise nothing is recorded and false is returned; the caller then
    /// [touches](Cell::touch) the word lane by lane.
    pub(super) fn join(
        &mut self,
        aside: &mut Aside,
        touch: &Touch,
        knows: &impl Fn(Past) -> bool,
    ) -> bool {
        let Cell { write, other } = self;
        let written = Past { warp: write.warp, lane: write.tag.lane(), stamp: write.stamp };
        if write.warp == SPLIT || write.warp != NOBODY && !knows(written) {
            return false;
        }
        let records = if other.warp == SEVERAL {
            aside.several.get_mut(other.stamp).map_or(&mut [][..], Vec::as_mut_slice)
        } else {
            std::slice::from_mut(other)
        };
        let mut races = false;
        conflicts(records, touch, 0, true, knows, &mut |_| races = true);
        if races {
            return false;
        }
        if touch.observes {
            self.observe(aside, touch, knows);
            return true;
        }
        if let Some(same) = records.iter_mut().find(|record| joins(record, touch)) {
            same.lanes |= touch.lanes;
            return true;
        }
        // Records of its own warp count separately for each lane.
        is_covered(records.iter().filter(|record| record.warp != touch.past.warp), touch, knows)
    }

    /// Records atomics of several lanes, which execute in ascending order, as that of the last.
    fn observe(&mut self, aside: &mut Aside, touch: &Touch, knows: &impl Fn(Past) -> bool) {
        let lane = 31 - touch.lanes.0.leading_zeros().min(31);
        let past = Past { lane, ..touch.past };
        let touch = Touch { past, lanes: LaneMask::lane(lane), ..*touch };
        compare(self, &mut aside.several, &touch, 0, knows, &mut |_| {});
    }

    /// Adds a record after all others. `touch` is a weak write, or of a kind or warp or epoch that
    /// no record of the word has.
    pub(super) fn add(&mut self, aside: &mut Aside, touch: &Touch) {
        if touch.write && touch.manner == Manner::Weak {
            self.write = written(touch);
        } else if self.other.warp == NOBODY {
            self.other = record(touch);
        } else if self.other.warp == SEVERAL {
            let list = aside.several.get_mut(self.other.stamp);
            list.into_iter().for_each(|list| list.push(record(touch)));
        } else {
            self.several(&mut aside.several, record(touch));
        }
    }

    /// Adds a second record.
    fn several(&mut self, several: &mut Slab<Vec<Record>>, second: Record) {
        let stamp = several.add(vec![self.other, second]);
        self.other.warp = SEVERAL;
        self.other.stamp = stamp;
    }
}
