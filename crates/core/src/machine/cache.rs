//! Set-associative LRU cache of 128-byte lines with four 32-byte sectors each.
//!
//! The cache keeps tags and arrival times only: data is always read from memory, which is never
//! stale here. Modeled: sectors, hits on sectors in flight (they count as hits and wait for the
//! fill), and dirty sectors. Not modeled: MSHR limits.

use crate::base::Cycle;

/// Bytes per line.
pub(super) const LINE: u64 = 128;
/// Bytes per sector.
pub(super) const SECTOR: u64 = 32;
/// Sectors per line.
pub(super) const SECTORS: u32 = (LINE / SECTOR) as u32;
/// Mask of all sectors of a line.
const ALL_SECTORS: u8 = (1 << SECTORS) - 1;
/// Bytes per word of [marks](Cache::marks), and the lowest bit of each.
const MARKS: usize = 8;
const LOW_BITS: u64 = 0x0101_0101_0101_0101;

/// Tags of one cache.
///
/// A set gets its ways when a line first maps to it: a large cache takes hardly any memory until it
/// is used.
#[derive(Clone)]
pub(super) struct Cache {
    ways: usize,
    /// One-based number of each set in `sets`; 0 = not allocated.
    places: Vec<u32>,
    sets: Vec<Set>,
    /// Ways of `sets`, set by set.
    lines: Vec<Way>,
    /// A byte of each way's tag, or 0 for an empty way: a lookup compares eight at once.
    marks: Vec<u64>,
    /// Dirty lines of earlier work in all new sets together.
    dirty_before: u64,
}

/// A set with ways.
#[derive(Clone, Copy)]
struct Set {
    /// Tag of the newest way: most lookups need no other line of the host's caches.
    tag: u64,
    /// Way that was used last, and the one used longest ago. The ways form a ring by use.
    newest: u16,
    oldest: u16,
    /// Number of dirty sectors, without earlier work.
    dirty: u32,
}

/// A way of a set.
#[derive(Clone, Copy)]
struct Way {
    /// Line number + 1; 0 = empty.
    tag: u64,
    /// Arrival cycle of the line's last fill.
    arrives: Cycle,
    /// Ways used just before and just after this one.
    older: u16,
    newer: u16,
    /// Bit per sector that is present or in flight.
    sectors: u8,
    /// Bit per sector that must be written back.
    dirty: u8,
}

/// Tag of a line of earlier work; no lookup matches it.
const EARLIER: u64 = u64::MAX;

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
    /// Creates a cache of `bytes` with `ways` (at most 1024) lines per set and at least one set.
    pub(super) fn new(bytes: u64, ways: u32) -> Cache {
        let ways = ways.max(1) as usize;
        let sets = (bytes / LINE / ways as u64).max(1);
        Cache {
            ways,
            places: vec![0; sets as usize],
            sets: Vec::with_capacity(sets as usize),
            lines: Vec::with_capacity(sets as usize * ways),
            marks: Vec::with_capacity(sets as usize * ways.div_ceil(MARKS)),
            dirty_before: 0,
        }
    }

    /// Adds dirty lines of earlier work, least recently used.
    ///
    /// `lines` is their number; they are spread evenly over the sets.
    pub(super) fn with_dirty_lines(self, lines: u64) -> Cache {
        let room = (self.places.len() * self.ways) as u64;
        Cache { dirty_before: lines.min(room), ..self }
    }

    /// Drops every line, including dirty ones.
    pub(super) fn clear(&mut self) {
        self.marks.fill(0);
        self.sets.iter_mut().for_each(|set| (set.tag, set.dirty) = (0, 0));
        self.lines.iter_mut().for_each(|way| (way.tag, way.sectors, way.dirty) = (0, 0, 0));
    }

    /// Returns the number of the set for `line`, and the mark of its tag.
    #[inline]
    fn number(&self, line: u64) -> (usize, u8) {
        // Fold the high bits in, so that power-of-two strides spread over the sets; then scale to
        // the number of sets.
        let folded = (line ^ (line >> 11) ^ (line >> 23)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let number = ((folded >> 32) * self.places.len() as u64) >> 32;
        (number as usize, (folded >> 24) as u8 | 1)
    }

    /// Returns a set's index among those with ways, if it has ways.
    #[inline]
    fn set(&self, number: usize) -> Option<usize> {
        (self.places[number] as usize).checked_sub(1)
    }

    /// Returns the words of marks of a set.
    #[inline]
    fn words(&self) -> usize {
        self.ways.div_ceil(MARKS)
    }

    /// Gives a set its ways: empty ones, except for dirty lines of earlier work.
    #[cold]
    fn add_set(&mut self, number: usize) -> usize {
        let set = self.sets.len();
        self.places[number] = set as u32 + 1;
        let up_to = |set: usize| set as u64 * self.dirty_before / self.places.len() as u64;
        let earlier = (up_to(number + 1) - up_to(number)).min(self.ways as u64) as usize;
        // From the oldest to the newest: empty ways go first.
        let ways = self.ways;
        self.lines.extend((0..ways).map(|way| {
            let (older, newer) = (((way + ways - 1) % ways) as u16, ((way + 1) % ways) as u16);
            Way { tag: 0, arrives: 0, older, newer, sectors: 0, dirty: 0 }
        }));
        for way in &mut self.lines[(set + 1) * ways - earlier..] {
            (way.tag, way.sectors, way.dirty) = (EARLIER, ALL_SECTORS, ALL_SECTORS);
        }
        self.marks.resize((set + 1) * self.words(), 0);
        let tag = if earlier > 0 { EARLIER } else { 0 };
        self.sets.push(Set { tag, newest: (ways - 1) as u16, oldest: 0, dirty: 0 });
        set
    }

    /// Returns the way of a set that holds the line with this tag and mark.
    #[inline]
    fn find(&self, set: usize, tag: u64, mark: u8) -> Option<usize> {
        let newest = &self.sets[set];
        if newest.tag == tag {
            return Some(newest.newest.into());
        }
        let words = self.words();
        let lines = &self.lines[set * self.ways..][..self.ways];
        for (word, &marks) in self.marks[set * words..][..words].iter().enumerate() {
            // The high bit of each byte that is equal, and perhaps of one after it.
            let unequal = marks ^ (LOW_BITS * u64::from(mark));
            let mut equal = unequal.wrapping_sub(LOW_BITS) & !unequal & LOW_BITS << 7;
            while equal != 0 {
                let way = word * MARKS + equal.trailing_zeros() as usize / 8;
                if lines.get(way).is_some_and(|line| line.tag == tag) {
                    return Some(way);
                }
                equal &= equal - 1;
            }
        }
        None
    }

    /// Sets the mark of a way.
    #[inline]
    fn mark(&mut self, set: usize, way: usize, mark: u8) {
        let shift = 8 * (way % MARKS);
        let word = set * self.words() + way / MARKS;
        let marks = &mut self.marks[word];
        *marks = *marks & !(0xff << shift) | u64::from(mark) << shift;
    }

    /// Moves a way, not the newest, to the place between newest and oldest in the ring.
    ///
    /// The caller makes it either of them.
    #[inline]
    fn move_up(&mut self, set: usize, way: usize) {
        let Set { newest, oldest, .. } = self.sets[set];
        if way == usize::from(oldest) {
            return;
        }
        let lines = &mut self.lines[set * self.ways..][..self.ways];
        let Way { older, newer, .. } = lines[way];
        lines[usize::from(older)].newer = newer;
        lines[usize::from(newer)].older = older;
        (lines[way].older, lines[way].newer) = (newest, oldest);
        lines[usize::from(newest)].newer = way as u16;
        lines[usize::from(oldest)].older = way as u16;
    }

    /// Looks up `wanted` sectors of `line`.
    ///
    /// With `allocate`, missing sectors become present; the caller sets their arrival with
    /// [`Cache::arrive`].
    #[inline]
    pub(super) fn access(&mut self, line: u64, wanted: u8, allocate: bool) -> Found {
        const NOT_FOUND: Found = Found { hits: 0, arrives: 0, place: None, evicted: 0, earlier: 0 };
        let tag = line + 1;
        let (number, mark) = self.number(line);
        let set = match self.set(number) {
            Some(set) => set,
            None if allocate => self.add_set(number),
            None => return NOT_FOUND,
        };
        let first = set * self.ways;
        if let Some(way) = self.find(set, tag, mark) {
            if way != usize::from(self.sets[set].newest) {
                self.move_up(set, way);
                let (newest, oldest) = (way as u16, self.lines[first + way].newer);
                self.sets[set] = Set { tag, newest, oldest, ..self.sets[set] };
            }
            let line = &mut self.lines[first + way];
            let hits = line.sectors & wanted;
            if allocate {
                line.sectors |= wanted;
            }
            return Found { hits, arrives: line.arrives, place: Some(first + way), ..NOT_FOUND };
        }
        if !allocate {
            return NOT_FOUND;
        }
        let victim = self.sets[set].oldest;
        let line = &mut self.lines[first + usize::from(victim)];
        let dirty = line.dirty;
        let (evicted, earlier) = if line.tag == EARLIER { (0, dirty) } else { (dirty, 0) };
        *line = Way { tag, arrives: 0, sectors: wanted, dirty: 0, ..*line };
        let (newest, oldest) = (victim, line.newer);
        let state = &mut self.sets[set];
        *state = Set { tag, newest, oldest, dirty: state.dirty - sectors_in(evicted) };
        self.mark(set, victim.into(), mark);
        Found { place: Some(first + usize::from(victim)), evicted, earlier, ..NOT_FOUND }
    }

    /// Sets the fill's arrival for the line just looked up.
    #[inline]
    pub(super) fn arrive(&mut self, found: Found, at: Cycle) {
        if let Some(place) = found.place {
            let arrives = &mut self.lines[place].arrives;
            *arrives = at.max(*arrives);
        }
    }

    /// Marks sectors of the line just looked up as dirty. Returns the number of sectors cleaned.
    ///
    /// If the set already had `most` dirty sectors (without earlier work), the least recently used
    /// dirty sectors are cleaned, two lines' worth.
    #[inline]
    pub(super) fn mark_dirty(&mut self, found: Found, sectors: u8, most: u32) -> u32 {
        let Some(place) = found.place else { return 0 };
        let (set, line) = (&mut self.sets[place / self.ways], &mut self.lines[place]);
        let before = set.dirty;
        set.dirty += sectors_in(sectors & !line.dirty);
        line.dirty |= sectors;
        if before < most {
            return 0;
        }
        let first = place - place % self.ways;
        let lines = &mut self.lines[first..][..self.ways];
        let mut written = 0;
        let mut way = usize::from(set.oldest);
        for _ in 0..self.ways {
            if written >= 2 * SECTORS {
                break;
            }
            if lines[way].tag != EARLIER && first + way != place {
                let cleaned = sectors_in(std::mem::take(&mut lines[way].dirty));
                written += cleaned;
                set.dirty -= cleaned;
            }
            way = usize::from(lines[way].newer);
        }
        written
    }

    /// Drops `line`, which must not be dirty.
    pub(super) fn evict(&mut self, line: u64) {
        let (number, mark) = self.number(line);
        let Some(set) = self.set(number) else { return };
        let Some(way) = self.find(set, line + 1, mark) else { return };
        self.lines[set * self.ways + way].tag = 0;
        self.mark(set, way, 0);
        // The oldest goes first.
        let lines = &self.lines[set * self.ways..][..self.ways];
        let state = &mut self.sets[set];
        if way == usize::from(state.newest) {
            state.newest = lines[way].older;
            state.tag = lines[usize::from(state.newest)].tag;
        } else {
            self.move_up(set, way);
        }
        self.sets[set].oldest = way as u16;
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

    /// Lines of one set, the least recently used first: a simple model of the replacement.
    #[derive(Default)]
    struct Plain(Vec<u64>);

    impl Plain {
        fn access(&mut self, line: u64, ways: usize, allocate: bool) -> bool {
            let found = self.0.iter().position(|&l| l == line);
            if found.is_none() && !allocate {
                return false;
            }
            match found {
                Some(i) => _ = self.0.remove(i),
                None if self.0.len() == ways => _ = self.0.remove(0),
                None => {}
            }
            self.0.push(line);
            found.is_some()
        }
    }

    #[test]
    fn many_accesses_hit_as_in_a_list_of_lines() {
        for ways in [1, 2, 3, 8, 20] {
            let mut cache = Cache::new(LINE * u64::from(ways), ways);
            let mut plain = Plain::default();
            let mut drawn = 1;
            for i in 0..2000 {
                drawn = crate::base::mix(drawn + i);
                let line = drawn % (2 * u64::from(ways) + 1);
                match drawn >> 40 & 15 {
                    0 => {
                        cache.evict(line);
                        plain.0.retain(|&l| l != line);
                    }
                    1 if i % 100 == 0 => {
                        cache.clear();
                        plain.0.clear();
                    }
                    way => {
                        let allocate = way > 3;
                        let hits = cache.access(line, 1, allocate).hits;
                        let expected = plain.access(line, ways as usize, allocate);
                        assert_eq!(hits == 1, expected, "{ways} ways, access {i}");
                    }
                }
            }
        }
    }
}
