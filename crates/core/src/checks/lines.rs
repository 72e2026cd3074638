//! Records of a line of memory, each of one access of a warp.
//!
//! Most accesses of a warp reach a few lines in which nothing unordered conflicts with them. Such
//! an access makes one record for all of its words in a line. The records of each word are, in
//! order, those that its lanes would have made one by one (`cells`). Where that is not sure,
//! because the access may race, or where records become many, the words of the line get records of
//! their own.

use super::cells::{Aside, Cell, Manner, Touch};
use super::clocks::{ByBarriers, Past, Stamp};
use super::rows::{LINE, Row};
use super::slab::Slab;
use crate::base::LaneMask;

/// Records of a line, at most.
const MOST_RECORDS: usize = 16;
/// No record, or no values.
pub(super) const NONE: u32 = u32::MAX;

/// Warp that accesses memory, and how.
#[derive(Clone, Copy, Debug)]
pub(super) struct Accessor {
    /// Warp number in the grid.
    pub warp: u32,
    /// Epoch of its lanes.
    pub stamp: Stamp,
    pub pc: u32,
    pub manner: Manner,
    pub write: bool,
    /// See [`Touch::apart`].
    pub apart: Option<u32>,
    /// See [`Touch::observes`].
    pub observes: bool,
    /// All that its lanes know.
    pub knows: ByBarriers,
}

impl Accessor {
    fn knows(&self, record: &Record) -> bool {
        self.knows.has(record.warp, record.stamp)
    }

    /// Returns true if the access replaces all records of its words.
    fn replaces_all(&self) -> bool {
        self.write && self.manner == Manner::Weak
    }

    /// Returns true if lanes that access one word conflict with each other.
    fn conflicts_within(&self) -> bool {
        self.write && self.manner.conflicts(self.manner)
    }

    /// Returns true if the access is a strong write over the atomics of a record.
    fn overwrites(&self, record: &Record) -> bool {
        self.write
            && matches!(self.manner, Manner::Strong | Manner::Volatile)
            && record.manner == Manner::Atomic
    }

    fn conflicts(&self, record: &Record) -> bool {
        (self.write || record.write) && self.manner.conflicts(record.manner)
    }

    /// Returns true if the access is of a record's kind.
    fn is_like(&self, record: &Record) -> bool {
        self.manner == record.manner && self.write == record.write
    }

    /// Returns true if the access extends a record.
    fn joins(&self, record: &Record) -> bool {
        self.warp == record.warp && self.stamp == record.stamp && self.is_like(record)
    }

    /// Returns true if whatever races with the record's access races with this one.
    fn covers(&self, record: &Record) -> bool {
        !record.is_last_write()
            && self.manner.covers(record.manner)
            && (self.write || !record.write)
    }

    /// Returns true if the access observes the atomics of a record.
    fn observes(&self, record: &Record) -> bool {
        self.observes && record.manner == Manner::Atomic
    }

    /// Returns the lanes of a record of the access, of all that access a word.
    fn recorded(&self, lanes: u32) -> u32 {
        // Lanes execute in ascending order, and the last one observes the others.
        if self.observes { 1 << (31 - lanes.leading_zeros().min(31)) & lanes } else { lanes }
    }

    /// Returns the lanes that access a word first, of all that do.
    fn first(&self, lanes: u32) -> u32 {
        if self.write { lanes & lanes.wrapping_neg() } else { lanes }
    }
}

/// Accesses of a kind to words of a line by lanes of one warp in one epoch.
#[derive(Clone, Copy, Debug)]
pub(super) struct Record {
    /// Number of the next record of the line.
    next: u32,
    warp: u32,
    stamp: Stamp,
    pc: u32,
    manner: Manner,
    write: bool,
    words: u32,
    /// Number of the values of a weak write.
    values: u32,
    /// Lanes by word.
    lanes: [u32; LINE],
}

impl Record {
    const EMPTY: Record = Record {
        next: NONE,
        warp: 0,
        stamp: 0,
        pc: 0,
        manner: Manner::Weak,
        write: false,
        words: 0,
        values: NONE,
        lanes: [0; LINE],
    };

    /// Returns true if it is a weak write, of which a word has one record.
    fn is_last_write(&self) -> bool {
        self.write && self.manner == Manner::Weak
    }

    /// Returns true if one lane alone accessed each of `words` and alone accesses it again.
    fn is_of_lanes(&self, row: &Row, words: u32) -> bool {
        row.shared & words == 0 && differing(words, &self.lanes, &row.lanes, |a, b| a ^ b) == 0
    }
}

/// Returns those of `words` whose lanes differ by `f`.
fn differing(words: u32, old: &[u32; LINE], new: &[u32; LINE], f: impl Fn(u32, u32) -> u32) -> u32 {
    let differs = |word: usize| u32::from(f(old[word], new[word]) != 0) << word;
    if words.count_ones() < 8 {
        return LaneMask(words).lanes().fold(0, |all, word| all | differs(word as usize % LINE));
    }
    words & (0..LINE).fold(0, |all, word| all | differs(word))
}

/// Records of all lines.
#[derive(Debug, Default)]
pub(super) struct Records {
    records: Slab<Record>,
    /// Values written, by word.
    values: Slab<[u32; LINE]>,
}

/// What an access changes in the records of its line.
struct Change {
    /// Words by record, in order, that lose it.
    lose: [u32; MOST_RECORDS],
    /// Words of the new record.
    new: u32,
    /// True if no record has any of these words.
    is_simple: bool,
    /// Number of the last record.
    last: u32,
}

impl Records {
    pub(super) fn clear(&mut self) {
        self.records.clear();
        self.values.clear();
    }

    /// Returns the records of a line.
    fn of(&self, first: u32) -> impl Iterator<Item = &Record> + Clone {
        std::iter::successors(self.records.get(first), |record| self.records.get(record.next))
    }

    /// Adds the access of a row to the list that begins at `first`. Returns true if that changes
    /// the list, and `None` if the access may race, or if its words need records of their own.
    pub(super) fn take(
        &mut self,
        first: &mut u32,
        row: &Row,
        by: &Accessor,
        value: &impl Fn(u32, u64) -> u32,
    ) -> Option<bool> {
        let mut change = Change { lose: [0; MOST_RECORDS], new: 0, is_simple: true, last: NONE };
        self.change(*first, row, by, &mut change)?;
        let (extends, last) = match change.is_simple {
            true => (false, change.last),
            false => self.apply(first, row, by, &change),
        };
        if change.new != 0 {
            let new = self.add(row, by, change.new, value);
            match self.records.get_mut(last) {
                Some(last) => last.next = new,
                None => *first = new,
            }
        }
        Some(extends || change.new != 0)
    }

    /// Finds out what an access changes. Returns `None` where that is not sure.
    fn change(&self, first: u32, row: &Row, by: &Accessor, change: &mut Change) -> Option<()> {
        if row.shared != 0 && by.conflicts_within() {
            return None;
        }
        // Words that no record of the same kind, warp and epoch has yet.
        let mut new = row.words;
        let (mut met, mut count) = (0, 0);
        let (mut last, mut at) = (NONE, first);
        while let Some(record) = self.records.get(at) {
            (last, at, count) = (at, record.next, count + 1);
            let words = record.words & row.words;
            if words == 0 {
                continue;
            }
            met |= words;
            if by.overwrites(record) {
                return None;
            }
            if by.conflicts(record)
                && !by.knows(record)
                && !(record.warp == by.warp && record.is_of_lanes(row, words))
            {
                return None;
            }
            if by.joins(record) && !by.replaces_all() && !by.observes {
                new &= !words;
            }
        }
        (change.new, change.is_simple, change.last) = (new, met == 0, last);
        if met == 0 {
            return (count < MOST_RECORDS).then_some(());
        }
        if !by.replaces_all() && !by.observes && new != 0 && count > 1 {
            new &= !self.covered(first, new, by)?;
        }
        let mut left = 1;
        for (record, lose) in self.of(first).zip(&mut change.lose) {
            *lose = self.lost(record, new, row, by)?;
            left += usize::from(record.words & !*lose != 0);
        }
        change.new = new;
        (new == 0 || left <= MOST_RECORDS).then_some(())
    }

    /// Returns those of `words` that need no further record: accesses of their kind by two groups
    /// are unordered with this one. Returns `None` if that depends on lanes.
    fn covered(&self, first: u32, words: u32, by: &Accessor) -> Option<u32> {
        let Some(warps) = by.apart else { return Some(0) };
        let mut groups = [(0, 0); MOST_RECORDS];
        let (mut count, mut covered) = (0, 0);
        let unordered =
            |record: &&Record| record.words & words != 0 && by.is_like(record) && !by.knows(record);
        for record in self.of(first).filter(unordered) {
            if record.warp == by.warp {
                return None;
            }
            let (group, words) = (record.warp / warps, record.words & words);
            let others = groups[..count].iter().filter(|(other, _)| *other != group);
            covered |= others.fold(0, |all, (_, theirs)| all | theirs & words);
            groups[count] = (group, words);
            count += 1;
        }
        Some(covered)
    }

    /// Returns the words at which a record is replaced by that of an access to `words`, `None` if
    /// that depends on the order of its lanes.
    fn lost(&self, record: &Record, words: u32, row: &Row, by: &Accessor) -> Option<u32> {
        let words = words & record.words;
        if words == 0 || by.replaces_all() || by.observes(record) {
            return Some(words);
        }
        if !by.covers(record) {
            return Some(0);
        }
        if by.knows(record) {
            return Some(words);
        }
        if record.warp != by.warp {
            return Some(0);
        }
        if !by.write && row.scattered & words != 0 {
            return None;
        }
        let more = |old: u32, new| old & !by.first(new);
        Some(words & !differing(words, &record.lanes, &row.lanes, more))
    }

    /// Extends and shortens the records of a line. Returns true if it extends one, and the last of
    /// them.
    fn apply(&mut self, first: &mut u32, row: &Row, by: &Accessor, change: &Change) -> (bool, u32) {
        let (mut before, mut at, mut extends) = (NONE, *first, false);
        for lose in change.lose {
            let Some(record) = self.records.get_mut(at) else { break };
            let next = record.next;
            record.words &= !lose;
            let words = record.words & row.words;
            if words & !change.new != 0 && by.joins(record) && !by.replaces_all() {
                extends = true;
                for (word, (lanes, more)) in record.lanes.iter_mut().zip(&row.lanes).enumerate() {
                    *lanes |= more & 0_u32.wrapping_sub(words >> word & 1);
                }
            }
            if record.words == 0 {
                let values = record.values;
                self.records.remove(at);
                if values != NONE {
                    self.values.remove(values);
                }
                match self.records.get_mut(before) {
                    Some(before) => before.next = next,
                    None => *first = next,
                }
            } else {
                before = at;
            }
            at = next;
        }
        (extends, before)
    }

    /// Adds a record of some words of a row, and returns its number.
    fn add(
        &mut self,
        row: &Row,
        by: &Accessor,
        words: u32,
        value: &impl Fn(u32, u64) -> u32,
    ) -> u32 {
        let mut values = NONE;
        if by.replaces_all() {
            let (number, by_word) = self.values.place(&[0; LINE]);
            values = number;
            for word in LaneMask(words).lanes() {
                let lane = row.lanes[word as usize % LINE].trailing_zeros();
                by_word[word as usize % LINE] =
                    value(lane, row.line * LINE as u64 + u64::from(word));
            }
        }
        let (number, record) = self.records.place(&Record::EMPTY);
        let &Accessor { warp, stamp, pc, manner, write, .. } = by;
        (record.next, record.warp, record.stamp, record.pc) = (NONE, warp, stamp, pc);
        (record.manner, record.write) = (manner, write);
        (record.words, record.values) = (words, values);
        record.lanes = row.lanes.map(|lanes| by.recorded(lanes));
        number
    }

    /// Returns words that accesses of exactly two groups of warps read, all weakly and unordered
    /// with `by`, and these groups. Further groups' reads of these words need no record.
    pub(super) fn read_by_two(&self, first: u32, by: &Accessor) -> Option<(u32, [u32; 2])> {
        let group = |record: &Record| by.apart.map(|warps| record.warp / warps);
        let one = group(self.of(first).next()?)?;
        let two = self.of(first).filter_map(group).find(|group| *group != one)?;
        let [mut by_one, mut by_two, mut by_others] = [0; 3];
        for record in self.of(first) {
            let is_read = record.manner == Manner::Weak && !record.write && !by.knows(record);
            let words = match group(record).filter(|_| is_read) {
                Some(group) if group == one => &mut by_one,
                Some(group) if group == two => &mut by_two,
                _ => &mut by_others,
            };
            *words |= record.words;
        }
        Some((by_one & by_two & !by_others, [one, two]))
    }

    /// Takes the records of a line away and gives them to its words.
    pub(super) fn give(&mut self, first: u32, cells: &mut [Cell; LINE], aside: &mut Aside) {
        let mut at = first;
        while let Some(&record) = self.records.get(at) {
            let values = self.values.get(record.values).copied();
            for (word, cell) in cells.iter_mut().enumerate() {
                let lanes = LaneMask(record.lanes[word]);
                if record.words >> word & 1 == 0 {
                    continue;
                }
                let lane = lanes.lowest().unwrap_or(0);
                let past = Past { warp: record.warp, lane, stamp: record.stamp };
                let value = values.map_or(0, |values| values[word]);
                let Record { pc, manner, write, .. } = record;
                let (apart, observes) = (None, false);
                let touch = Touch { past, lanes, pc, manner, write, value, apart, observes };
                cell.add(aside, &touch);
            }
            at = record.next;
        }
        self.forget(first);
    }

    /// Forgets the records of a line.
    pub(super) fn forget(&mut self, first: u32) {
        let mut at = first;
        while let Some(&Record { next, values, .. }) = self.records.get(at) {
            self.records.remove(at);
            if values != NONE {
                self.values.remove(values);
            }
            at = next;
        }
    }
}
