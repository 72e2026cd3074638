//! Shadow memory: earlier accesses to each word with which a later access could race.
//!
//! A word keeps its last weak write, and one record per warp and kind of all other accesses (reads,
//! strong writes, atomics). A new access is compared with these. It replaces the records that it
//! knows and covers, because whatever races with a replaced record also races with the new one
//! (FastTrack's argument, applied to each kind). An access smaller than a word splits the word into
//! bytes, so that neighbors do not race.
//!
//! A touched word takes 32 bytes, allocated in pages. Limits: [`MOST_RECORDS`] records per word
//! (with more readers between two barriers some are dropped, and a race can be missed) and
//! [`MOST_PAGES`] pages (memory beyond is not checked, and the run reports that).

use super::clocks::{Past, Stamp};
use super::pages::Pages;
use crate::base::LaneMask;

/// Maximum pages of shadow memory: 1 GiB, for 128 MiB of the program's memory.
pub(super) const MOST_PAGES: usize = 1 << 15;
/// Maximum records per word besides its last write.
pub(super) const MOST_RECORDS: usize = 64;

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
}

impl Manner {
    const ALL: [Manner; 4] = [Manner::Weak, Manner::Volatile, Manner::Strong, Manner::Atomic];

    /// Returns true if two unordered accesses conflict, given that one writes.
    fn conflicts(self, other: Manner) -> bool {
        let (less, more) = if (self as u8) < other as u8 { (self, other) } else { (other, self) };
        less == Manner::Weak || more == Manner::Volatile
    }

    /// Returns true if every access that conflicts with `other` conflicts with this.
    fn covers(self, other: Manner) -> bool {
        self as u8 <= other as u8 || (other == Manner::Strong && self == Manner::Atomic)
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
}

impl Touch {
    /// Returns true if `lane` is its only lane.
    fn is_of(&self, lane: u32) -> bool {
        self.lanes == LaneMask::lane(lane)
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

/// Rules of a region.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules {
    pub warps_per_block: u32,
    /// Warps per group, if only barriers of a whole block synchronize different groups.
    /// Two accesses of one kind by two groups then cover all later ones: whatever races with a
    /// later one races with one of the two.
    pub apart: Option<u32>,
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
    fn new(touch: &Touch) -> Tag {
        Tag(touch.pc << 8
            | (touch.past.lane & 31) << 3
            | (touch.manner as u32) << 1
            | u32::from(touch.write))
    }

    fn pc(self) -> u32 {
        self.0 >> 8
    }

    /// Returns manner and direction.
    fn kind(self) -> u32 {
        self.0 & 7
    }

    fn lane(self) -> u32 {
        self.0 >> 3 & 31
    }

    fn manner(self) -> Manner {
        Manner::ALL[(self.0 >> 1 & 3) as usize]
    }

    fn write(self) -> bool {
        self.0 & 1 == 1
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
struct Cell {
    write: Write,
    other: Record,
}

impl Cell {
    const EMPTY: Cell = Cell {
        write: Write { warp: NOBODY, stamp: 0, tag: Tag(0), value: 0 },
        other: Record { warp: NOBODY, stamp: 0, tag: Tag(0), lanes: LaneMask::EMPTY },
    };
}

/// Record lists of words with several records, and bytes of split words.
#[derive(Debug, Default)]
struct Aside {
    several: Vec<Vec<Record>>,
    split: Vec<[Cell; 4]>,
}

/// Shadow of a memory region that begins at 0.
#[derive(Debug, Default)]
pub(super) struct Shadow {
    cells: Pages<Cell>,
    aside: Aside,
    /// True if some memory was left out.
    pub full: bool,
}

impl Shadow {
    /// Clears all records.
    pub(super) fn clear(&mut self) {
        self.cells.fill(Cell::EMPTY);
        self.aside = Aside::default();
    }

    /// Records an access to `bytes`, a mask of the word's four bytes.
    ///
    /// `knows(past, block)` returns true if an earlier access happened before this one. `found`
    /// receives the accesses that did not.
    #[inline]
    pub(super) fn touch(
        &mut self,
        word: usize,
        bytes: u8,
        touch: &Touch,
        rules: Rules,
        knows: &impl Fn(Past, u32) -> bool,
        found: &mut impl FnMut(Conflict),
    ) {
        if self.cells.get(word).is_none() && !self.cells.add(word, Cell::EMPTY, MOST_PAGES) {
            self.full = true;
            return;
        }
        let Some(cell) = self.cells.get(word) else { return };
        let whole = bytes == 0b1111;
        if whole && cell.write.warp != SPLIT {
            return compare(cell, &mut self.aside.several, touch, rules, 0, knows, found);
        }
        let Aside { several, split } = &mut self.aside;
        if cell.write.warp != SPLIT {
            let at = split.len();
            // Each byte starts with the records of the word; lists are copied, as they may change
            // separately.
            let mut byte_cells = [*cell; 4];
            if cell.other.warp == SEVERAL {
                for cell in &mut byte_cells {
                    let copy = several.get(cell.other.stamp as usize).cloned().unwrap_or_default();
                    cell.other.stamp = several.len() as u32;
                    several.push(copy);
                }
            }
            for (byte, cell) in byte_cells.iter_mut().enumerate() {
                cell.write.value = cell.write.value >> (8 * byte) & 0xff;
            }
            split.push(byte_cells);
            cell.write.warp = SPLIT;
            cell.write.stamp = at as u32;
        }
        let Some(byte_cells) = split.get_mut(cell.write.stamp as usize) else { return };
        for (byte, cell) in (0..).zip(byte_cells).filter(|(byte, _)| bytes >> byte & 1 == 1) {
            let touch = Touch { value: touch.value >> (8 * byte) & 0xff, ..*touch };
            compare(cell, several, &touch, rules, byte, knows, found);
        }
    }

    /// Records one atomic access for several lanes if that equals one record per lane.
    ///
    /// This holds if no lane races and either a record of the same kind exists or records of other
    /// warps cover it. Otherwise nothing is recorded and false is returned; the caller then
    /// [touches](Shadow::touch) the word lane by lane.
    pub(super) fn join(
        &mut self,
        word: usize,
        touch: &Touch,
        rules: Rules,
        knows: &impl Fn(Past, u32) -> bool,
    ) -> bool {
        let Some(Cell { write, other }) = self.cells.get(word) else { return false };
        let written = Past { warp: write.warp, lane: write.tag.lane(), stamp: write.stamp };
        if write.warp == SPLIT
            || write.warp != NOBODY && !knows(written, write.warp / rules.warps_per_block)
        {
            return false;
        }
        let records = if other.warp == SEVERAL {
            self.aside.several.get_mut(other.stamp as usize).map_or(&mut [][..], Vec::as_mut_slice)
        } else {
            std::slice::from_mut(other)
        };
        let mut races = false;
        conflicts(records, touch, rules, 0, true, knows, &mut |_| races = true);
        if races {
            return false;
        }
        if let Some(same) = records.iter_mut().find(|record| joins(record, touch)) {
            same.lanes |= touch.lanes;
            return true;
        }
        // Records of its own warp count separately for each lane.
        is_covered(
            records.iter().filter(|record| record.warp != touch.past.warp),
            touch,
            rules,
            knows,
        )
    }
}

#[inline]
fn compare(
    cell: &mut Cell,
    several: &mut Vec<Vec<Record>>,
    touch: &Touch,
    rules: Rules,
    byte: u32,
    knows: &impl Fn(Past, u32) -> bool,
    found: &mut impl FnMut(Conflict),
) {
    let Write { warp, stamp, tag, value } = cell.write;
    let mut raced = false;
    if warp != NOBODY {
        let past = Past { warp, lane: tag.lane(), stamp };
        // The last weak write conflicts with any access.
        let own = past == touch.past && touch.is_of(past.lane);
        if !own && !knows(past, warp / rules.warps_per_block) {
            raced = true;
            let same_value = touch.write && touch.manner != Manner::Atomic && touch.value == value;
            found(Conflict {
                past,
                pc: tag.pc(),
                manner: tag.manner(),
                write: true,
                same_value,
                byte,
            });
        }
    }
    let weak_write = touch.write && touch.manner == Manner::Weak;
    let other = cell.other;
    if other.warp == NOBODY {
        if !weak_write {
            cell.other = record(touch);
        }
    } else if other.warp != SEVERAL {
        let one = std::slice::from_ref(&other);
        if touch.write || other.tag.write() {
            conflicts(one, touch, rules, byte, raced, knows, found);
        }
        if weak_write {
            cell.other.warp = NOBODY;
        } else if joins(&other, touch) {
            cell.other.lanes |= touch.lanes;
        } else if replaced(&other, touch, rules, knows) {
            cell.other = record(touch);
        } else {
            cell.other.warp = SEVERAL;
            cell.other.stamp = several.len() as u32;
            several.push(vec![other, record(touch)]);
        }
    } else {
        let Some(list) = several.get_mut(other.stamp as usize) else { return };
        if touch.write || list.iter().any(|record| record.tag.write()) {
            conflicts(list, touch, rules, byte, raced, knows, found);
        }
        if weak_write {
            list.clear();
        } else {
            insert(list, touch, rules, knows);
        }
    }
    if weak_write {
        cell.write = Write {
            warp: touch.past.warp,
            stamp: touch.past.stamp,
            tag: Tag::new(touch),
            value: touch.value,
        };
    }
}

/// Reports the records that race with the access. If the last write already races, one report
/// suffices.
fn conflicts(
    records: &[Record],
    touch: &Touch,
    rules: Rules,
    byte: u32,
    raced: bool,
    knows: &impl Fn(Past, u32) -> bool,
    found: &mut impl FnMut(Conflict),
) {
    for record in records {
        let (tag, warp, stamp) = (record.tag, record.warp, record.stamp);
        if !(touch.write || tag.write()) || !touch.manner.conflicts(tag.manner()) {
            continue;
        }
        let mine = touch.past.warp == warp;
        let others = record.lanes.lanes().filter(|&lane| !(mine && touch.is_of(lane)));
        let unknown = others
            .map(|lane| Past { warp, lane, stamp })
            .find(|&past| !knows(past, warp / rules.warps_per_block));
        if let Some(past) = unknown {
            found(Conflict {
                past,
                pc: tag.pc(),
                manner: tag.manner(),
                write: tag.write(),
                same_value: false,
                byte,
            });
            if raced {
                return;
            }
        }
    }
}

fn record(touch: &Touch) -> Record {
    let Past { warp, stamp, .. } = touch.past;
    Record { warp, stamp, tag: Tag::new(touch), lanes: touch.lanes }
}

/// Returns true if the access extends the record.
#[inline]
fn joins(record: &Record, touch: &Touch) -> bool {
    record.warp == touch.past.warp
        && record.stamp == touch.past.stamp
        && record.tag.kind() == Tag::new(touch).kind()
}

/// Returns true if the access covers the whole record from now on.
#[inline]
fn replaced(
    record: &Record,
    touch: &Touch,
    rules: Rules,
    knows: &impl Fn(Past, u32) -> bool,
) -> bool {
    let tag = record.tag;
    let covers = touch.manner.covers(tag.manner()) && (touch.write || !tag.write());
    let (warp, stamp) = (record.warp, record.stamp);
    let known = |lane: u32| {
        let past = Past { warp, lane, stamp };
        knows(past, warp / rules.warps_per_block)
    };
    // Each lane knows its own earlier accesses.
    covers
        && (warp == touch.past.warp && record.lanes.is_subset(touch.lanes)
            || record.lanes.lanes().all(known))
}

/// Returns true if records of two groups cover the access (see [`Rules::apart`]).
fn is_covered<'r>(
    records: impl Iterator<Item = &'r Record>,
    touch: &Touch,
    rules: Rules,
    knows: &impl Fn(Past, u32) -> bool,
) -> bool {
    let Some(warps) = rules.apart else { return false };
    let kind = Tag::new(touch).kind();
    let unordered = |r: &&Record| {
        let first = |lane| Past { warp: r.warp, lane, stamp: r.stamp };
        let known = |past| knows(past, r.warp / rules.warps_per_block);
        r.tag.kind() == kind && r.lanes.lowest().is_some_and(|lane| !known(first(lane)))
    };
    let mut groups = records.filter(unordered).map(|r| r.warp / warps);
    let first = groups.next();
    groups.any(|group| Some(group) != first)
}

fn insert(list: &mut Vec<Record>, touch: &Touch, rules: Rules, knows: &impl Fn(Past, u32) -> bool) {
    if let Some(same) = list.iter_mut().find(|record| joins(record, touch)) {
        same.lanes |= touch.lanes;
        return;
    }
    if is_covered(list.iter(), touch, rules, knows) {
        return;
    }
    list.retain(|record| !replaced(record, touch, rules, knows));
    if list.len() < MOST_RECORDS {
        list.push(record(touch));
    }
}
