//! Shadow memory: for each word the earlier accesses with which a later access could race.
//!
//! A line of 32 words has records of whole accesses (`lines`) until they do not suffice; then each
//! of its words has its own (`cells`). Once a barrier of the whole block has opened, all earlier
//! accesses to shared memory are ordered before all later ones, and a line forgets them.
//!
//! A record of an access takes 160 bytes, a line by word 1 KiB. Limit: [`MOST_PAGES`] pages (memory
//! beyond is not checked, and the run reports that).

use super::cells::{Aside, Cell, Manner, Toucher};
use super::clocks::Stamp;
use super::lines::{Accessor, NONE, Records};
use super::pages::Pages;
use super::rows::{LINE, LINE_BYTES, Row, next_run};
use super::slab::Slab;
use crate::base::{LaneMask, MAX_LANES};

/// Maximum pages of lines: 128 MiB of the program's memory.
const MOST_PAGES: usize = 1 << 14;
/// Words of a row for which a line that is recorded by word is not worth a new start.
const FEW: u32 = 3;

/// Line of memory.
#[derive(Clone, Copy, Debug)]
struct Line {
    /// Number of its first record, if it has records of whole accesses.
    first: u32,
    /// Number of its cells, if each word has its own records.
    cells: u32,
    /// Latest stamp of any access, in shared memory.
    last: Stamp,
    /// Words whose records are weak reads by exactly two groups of warps, and these groups. A read
    /// by another group needs no record.
    read: u32,
    groups: [u32; 2],
    /// Words that an access divided into bytes; races are counted for each byte from then on.
    divided: u32,
}

impl Line {
    const EMPTY: Line =
        Line { first: NONE, cells: NONE, last: 0, read: 0, groups: [0; 2], divided: 0 };
}

/// Shadow of a memory.
#[derive(Debug, Default)]
pub(super) struct Shadow {
    lines: Pages<Line>,
    records: Records,
    cells: Slab<[Cell; LINE]>,
    aside: Aside,
    /// True if some memory was left out.
    pub full: bool,
    /// True if every access is recorded by word, for comparison.
    #[cfg(test)]
    pub by_word: bool,
}

impl Shadow {
    /// Clears all records.
    pub(super) fn clear(&mut self) {
        self.lines.fill(Line::EMPTY);
        self.records.clear();
        self.cells.clear();
        self.aside.clear();
    }

    /// Forgets the accesses to a line.
    #[inline]
    fn forget(
        line: &mut Line,
        records: &mut Records,
        cells: &mut Slab<[Cell; LINE]>,
        aside: &mut Aside,
    ) {
        records.forget(line.first);
        let mut divided = line.divided;
        if let Some(words) = cells.get(line.cells) {
            for (word, cell) in words.iter().enumerate() {
                divided |= u32::from(cell.is_divided()) << word;
                aside.free(cell);
            }
            cells.remove(line.cells);
        }
        *line = Line { divided, ..Line::EMPTY };
    }

    /// Records an access to a row. Returns false, and records nothing, if that must be done by
    /// word.
    ///
    /// `ordered` is the stamp up to which all accesses are ordered before all later ones, 0 if
    /// there is none. `value(lane, word)` is the value that a weak write writes.
    pub(super) fn take(
        &mut self,
        row: &Row,
        by: &Accessor,
        ordered: Stamp,
        value: &impl Fn(u32, u64) -> u32,
    ) -> bool {
        #[cfg(test)]
        if self.by_word {
            return false;
        }
        let Shadow { lines, records, cells, aside, full, .. } = self;
        let Some(line) = lines.at(row.line, Line::EMPTY, MOST_PAGES) else {
            *full = true;
            return true;
        };
        let is_ordered = line.last <= ordered && line.last > 0;
        let is_read = !by.write && by.manner == Manner::Weak;
        if is_read
            && !is_ordered
            && row.words & !line.read == 0
            && by.apart.is_some_and(|warps| !line.groups.contains(&(by.warp / warps)))
        {
            return true;
        }
        if is_ordered && (line.cells == NONE || row.words.count_ones() >= FEW) {
            Shadow::forget(line, records, cells, aside);
        }
        if line.cells != NONE {
            return false;
        }
        let Some(changed) = records.take(&mut line.first, row, by, value) else { return false };
        line.last = line.last.max(by.stamp);
        if changed {
            line.read = 0;
        } else if is_read {
            (line.read, line.groups) = records.read_by_two(line.first, by).unwrap_or_default();
        }
        true
    }

    /// Gives each word of a line records of its own.
    pub(super) fn divide(&mut self, number: u64) {
        let Some(line) = self.lines.at(number, Line::EMPTY, MOST_PAGES) else {
            self.full = true;
            return;
        };
        if line.cells != NONE {
            return;
        }
        let mut words = [Cell::EMPTY; LINE];
        self.records.give(line.first, &mut words, &mut self.aside);
        for word in LaneMask(line.divided).lanes() {
            words[word as usize % LINE].divide(&mut self.aside);
        }
        let cells = self.cells.add(words);
        *line = Line { cells, first: NONE, read: 0, ..*line };
    }

    /// Records weak accesses of lanes to whole words, up to the first that is not simple: that may
    /// race, or whose word has several records. Returns it, and leaves those after it in `rest`.
    ///
    /// Lines that have no records by word are left out, or, with `divide`, get them.
    pub(super) fn touch_soon(
        &mut self,
        rest: &mut LaneMask,
        addresses: &[u64; MAX_LANES],
        by: &Accessor,
        divide: bool,
        now: Stamp,
        value: &impl Fn(u32) -> u32,
    ) -> Option<(u32, LaneMask)> {
        let (mut last, mut cells) = (None, NONE);
        let toucher = Toucher::new(by);
        loop {
            let (lane, lanes) = match by.write {
                true => (rest.lowest()?, LaneMask(rest.0 & rest.0.wrapping_neg())),
                false => next_run(rest, addresses)?,
            };
            *rest -= lanes;
            let address = addresses[lane as usize % MAX_LANES];
            let (word, line) = ((address / 4) as usize % LINE, address / LINE_BYTES);
            if last != Some(line) {
                last = Some(line);
                cells = self.cells_of(line, divide, now);
            }
            let Some(cells) = self.cells.get_mut(cells) else { continue };
            if !address.is_multiple_of(4)
                || !cells[word].touch_soon(&toucher, lane, lanes, value(lane))
            {
                return Some((lane, lanes));
            }
        }
    }

    /// Returns the number of a line's cells, which change at the stamp `now`. With `divide` it gets
    /// some.
    #[inline]
    fn cells_of(&mut self, number: u64, divide: bool, now: Stamp) -> u32 {
        if let Some(line) = self.lines.get(number)
            && (line.cells != NONE || !divide)
        {
            line.last = line.last.max(now);
            return line.cells;
        }
        if !divide {
            return NONE;
        }
        self.divide(number);
        self.lines.get(number).map_or(NONE, |line| {
            line.last = line.last.max(now);
            line.cells
        })
    }

    /// Returns the records of a word, if it has its own, which change at the stamp `now`.
    #[inline]
    pub(super) fn word(&mut self, word: u64, now: Stamp) -> Option<(&mut Cell, &mut Aside)> {
        let line = self.lines.get(word / LINE as u64)?;
        let cells = self.cells.get_mut(line.cells)?;
        line.last = now;
        Some((&mut cells[word as usize % LINE], &mut self.aside))
    }
}
