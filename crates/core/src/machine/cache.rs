//! Set-associative LRU cache of 128-byte lines with four 32-byte sectors each.
//!
//! The cache keeps tags and arrival times only: data is always read from memory, which is never
//! stale here. Modeled: sectors, hits on sectors in flight (they count as hits and wait for the
//! fill), and dirty sectors. Not modeled: MSHR limits.

use std::ops::Range;

use crate::base::Cycle;

/// Bytes per line.
pub(super) const LINE: u64 = 128;
/// Bytes per sector.
pub(super) const SECTOR: u64 = 32;
/// Sectors per line.
pub(super) const SECTORS: u32 = (LINE / SECTOR) as u32;
/// Mask of all sectors of a line.
const ALL_SECTORS: u8 = (1 << SECTORS) - 1;

/// Tags of one cache.
///
/// Each property of a line has its own column, ordered by set, so that a lookup compares adjacent
/// tags. A set gets its rows when a line first maps to it: a large cache costs little until it is
/// used.
#[derive(Clone)]
pub(super) struct Cache {
    ways: usize,
    /// One-based row group of each set in the columns; 0 = not allocated.
    places: Vec<u32>,
    clock: u64,
    /// Line number + 1; 0 = empty.
    tags: Vec<u64>,
    /// Time of last use, for replacement.
    used: Vec<u64>,
    /// Arrival cycle of the line's last fill.
    arrives: Vec<Cycle>,
    /// Bit per sector that is present or in flight.
    sectors: Vec<u8>,
    /// Bit per sector that must be written back.
    dirty: Vec<u8>,
    /// Number of dirty sectors by set, without earlier work.
    dirty_in_set: Vec<u32>,
    /// Dirty lines of earlier work in all new sets together.
    dirty_before: u64,
}

/// Tag of a line of earlier work; no lookup matches it.
const EARLIER: u64 = u64::MAX;
/// Time of use of lines of earlier work: after empty ways, before all others.
const EARLIER_USE: u64 = 1;

/// Result of a lookup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Found {
    /// Requested sectors that are present.
    pub hits: u8,
    /// Arrival cycle of these sectors; 0 if they arrived long ago.
    pub arrives: Cycle,
    /// Place of the line after the lookup; `None` if not allocated.
    place: Option<usize>,
    /// Dirty sectors of the evicted line.
    evicted: u8,
    /// Dirty sectors of an evicted line of earlier work.
    earlier: u8,
}

impl Found {
    /// Returns the number of sectors to write back for the evicted line.
    #[inline]
    pub(super) fn evicted(&self) -> u32 {
        sectors_in(self.evicted)
    }

    /// Returns the number of sectors to write back for an evicted line of earlier work.
    #[inline]
    pub(super) fn evicted_earlier(&self) -> u32 {
        sectors_in(self.earlier)
    }
}

/// Returns the number of sectors in a mask.
///
/// A table, because the base instruction set of x86-64 has no bit count.
#[inline]
pub(super) fn sectors_in(set: u8) -> u32 {
    const ONES: [u8; 16] = [0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4];
    ONES[usize::from(set % 16)].into()
}

impl Cache {
    /// Creates a cache of `bytes` with `ways` lines per set and at least one set.
    pub(super) fn new(bytes: u64, ways: u32) -> Cache {
        let ways = ways.max(1) as usize;
        let sets = (bytes / LINE / ways as u64).max(1);
        Cache {
            ways,
            places: vec![0; sets as usize],
            clock: 0,
            tags: Vec::new(),
            used: Vec::new(),
            arrives: Vec::new(),
            sectors: Vec::new(),
            dirty: Vec::new(),
            dirty_in_set: Vec::new(),
            dirty_before: 0,
        }
    }

    /// Adds dirty lines of earlier work, least recently used.
    ///
    /// `lines` is their number; they are spread evenly over the sets.
    pub(super) fn with_dirty_lines(self, lines: u64) -> Cache {
        let room = (self.places.len() * self.ways) as u64;
        Cache { dirty_before: lines.min(room), clock: EARLIER_USE, ..self }
    }

    /// Drops every line, including dirty ones.
    pub(super) fn clear(&mut self) {
        self.tags.fill(0);
        self.used.fill(0);
        self.sectors.fill(0);
        self.dirty.fill(0);
        self.dirty_in_set.fill(0);
    }

    /// Returns the number of the set for `line`.
    #[inline]
    fn number(&self, line: u64) -> usize {
        // Fold the high bits in, so that power-of-two strides spread over the sets; then scale to
        // the number of sets.
        let folded = (line ^ (line >> 11) ^ (line >> 23)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (((folded >> 32) * self.places.len() as u64) >> 32) as usize
    }

    /// Returns the rows of a set, if allocated.
    #[inline]
    fn set(&self, number: usize) -> Option<Range<usize>> {
        let end = self.places[number] as usize * self.ways;
        (end > 0).then(|| end - self.ways..end)
    }

    /// Allocates a set: empty ways, except for dirty lines of earlier work.
    #[cold]
    fn add_set(&mut self, number: usize) -> Range<usize> {
        let (first, end) = (self.tags.len(), self.tags.len() + self.ways);
        for column in [&mut self.tags, &mut self.used, &mut self.arrives] {
            column.resize(end, 0);
        }
        for column in [&mut self.sectors, &mut self.dirty] {
            column.resize(end, 0);
        }
        self.dirty_in_set.push(0);
        self.places[number] = (end / self.ways) as u32;
        let up_to = |set: usize| set as u64 * self.dirty_before / self.places.len() as u64;
        let earlier = (up_to(number + 1) - up_to(number)).min(self.ways as u64) as usize;
        for place in first..first + earlier {
            self.tags[place] = EARLIER;
            self.used[place] = EARLIER_USE;
            self.sectors[place] = ALL_SECTORS;
            self.dirty[place] = ALL_SECTORS;
        }
        first..end
    }

    /// Looks up `wanted` sectors of `line`.
    ///
    /// With `allocate`, missing sectors become present; the caller sets their arrival with
    /// [`Cache::arrive`].
    #[inline]
    pub(super) fn access(&mut self, line: u64, wanted: u8, allocate: bool) -> Found {
        self.clock += 1;
        let tag = line + 1;
        let number = self.number(line);
        let set = match self.set(number) {
            Some(set) => set,
            None if allocate => self.add_set(number),
            None => return Found { hits: 0, arrives: 0, place: None, evicted: 0, earlier: 0 },
        };
        let first = set.start;
        if let Some(i) = self.tags[set.clone()].iter().position(|&t| t == tag) {
            let place = first + i;
            let hits = self.sectors[place] & wanted;
            self.used[place] = self.clock;
            if allocate {
                self.sectors[place] |= wanted;
            }
            return Found {
                hits,
                arrives: self.arrives[place],
                place: Some(place),
                evicted: 0,
                earlier: 0,
            };
        }
        if !allocate {
            return Found { hits: 0, arrives: 0, place: None, evicted: 0, earlier: 0 };
        }
        // An empty way has time of use 0, so it is replaced first.
        let victim =
            self.used[set].iter().enumerate().min_by_key(|&(_, used)| used).map_or(0, |(i, _)| i);
        let place = first + victim;
        let dirty = self.dirty[place];
        let (evicted, earlier) = if self.tags[place] == EARLIER { (0, dirty) } else { (dirty, 0) };
        self.dirty_in_set[self.places[number] as usize - 1] -= sectors_in(evicted);
        self.tags[place] = tag;
        self.used[place] = self.clock;
        self.arrives[place] = 0;
        self.sectors[place] = wanted;
        self.dirty[place] = 0;
        Found { hits: 0, arrives: 0, place: Some(place), evicted, earlier }
    }

    /// Sets the fill's arrival for the line just looked up.
    #[inline]
    pub(super) fn arrive(&mut self, found: Found, at: Cycle) {
        if let Some(place) = found.place {
            self.arrives[place] = self.arrives[place].max(at);
        }
    }

    /// Marks sectors of the line just looked up as dirty. Returns the number of sectors cleaned.
    ///
    /// If the set already had `most` dirty sectors (without earlier work), the least recently used
    /// dirty sectors are cleaned, two lines' worth.
    #[inline]
    pub(super) fn mark_dirty(&mut self, found: Found, sectors: u8, most: u32) -> u32 {
        let Some(place) = found.place else { return 0 };
        let number = place / self.ways;
        let before = self.dirty_in_set[number];
        let more = sectors_in(sectors & !self.dirty[place]);
        self.dirty_in_set[number] += more;
        self.dirty[place] |= sectors;
        if before < most {
            return 0;
        }
        let (first, tags) = (number * self.ways, &self.tags);
        let set = first..first + self.ways;
        let own = |other: &usize| tags[*other] != EARLIER;
        let mut written = 0;
        while written < 2 * SECTORS {
            let others =
                set.clone().filter(own).filter(|&other| other != place && self.dirty[other] != 0);
            let Some(oldest) = others.min_by_key(|&other| self.used[other]) else { break };
            written += sectors_in(self.dirty[oldest]);
            self.dirty_in_set[number] -= sectors_in(self.dirty[oldest]);
            self.dirty[oldest] = 0;
        }
        written
    }

    /// Drops `line`, which must not be dirty.
    pub(super) fn evict(&mut self, line: u64) {
        let Some(set) = self.set(self.number(line)) else { return };
        let first = set.start;
        if let Some(i) = self.tags[set].iter().position(|&tag| tag == line + 1) {
            self.tags[first + i] = 0;
            self.used[first + i] = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sectors_miss_once_and_then_hit() {
        let mut cache = Cache::new(4096, 4);
        assert_eq!(cache.access(7, 0b0011, true).hits, 0);
        assert_eq!(cache.access(7, 0b0110, true).hits, 0b0010);
        assert_eq!(cache.access(7, 0b1111, true).hits, 0b0111);
        cache.evict(7);
        assert_eq!(cache.access(7, 0b1111, false).hits, 0);
        assert_eq!(
            cache.access(7, 0b1111, false).hits,
            0,
            "a lookup that does not allocate leaves nothing"
        );
    }

    #[test]
    fn dirty_lines_of_earlier_work_go_when_there_is_no_empty_way_left() {
        let mut cache = Cache::new(4 * LINE, 4).with_dirty_lines(1);
        let evicted: Vec<u32> =
            (0..6).map(|line| cache.access(line, 1, true).evicted_earlier()).collect();
        assert_eq!(evicted, [0, 0, 0, SECTORS, 0, 0]);
        let mut full = Cache::new(8 * LINE, 4).with_dirty_lines(u64::MAX);
        assert_eq!(
            full.access(0, 1, true).evicted_earlier(),
            SECTORS,
            "no more than there is room for"
        );
    }

    #[test]
    fn the_least_recently_used_line_goes_first() {
        let mut cache = Cache::new(2 * LINE, 2);
        for line in [1, 2, 1, 3] {
            cache.access(line, 1, true);
        }
        assert_eq!(cache.access(1, 1, false).hits, 1, "1 was used after 2");
        assert_eq!(cache.access(2, 1, false).hits, 0, "2 was the oldest");
    }
}
