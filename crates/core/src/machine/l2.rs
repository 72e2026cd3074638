//! L2 as seen by one SM: its share of the tags, partitions, and write-back to DRAM.
//!
//! *Partitions* (GA100 and GH100: two). Every line has its home in one partition. An SM is attached
//! to one; its requests are looked up there. Missing sectors with a home in the other partition are
//! forwarded to it: they count a second time and stay in both. Data used by one SM thus takes half
//! as much room again: a cache of 60 MB holds 40 MB of it (`l2-two-passes` in docs/calibration.md).
//! Stores write through to the home.
//!
//! *Write-back.* A stored sector is dirty until its line is evicted or its set has too many dirty
//! sectors: a store that finds the machine's maximum has the least recently used dirty sectors
//! written back, two lines' worth. They stay as clean sectors. The figures come from write streams
//! on an H200, not from kernels: written once, 29.7 MB stay dirty, which are 9.5 ways of 20 (nine
//! and ten in turn); written repeatedly, 26.8 down to 26.2 MB, which are 8.5 ways. Sectors that are
//! dirty at the end of a kernel have not been written back.
//!
//! *Earlier work.* Some lines are dirty before the kernel begins, and are written back once no
//! empty way is left. A profiler counts them for read-only launches, too. Measured with reads
//! alone: no write-back up to 25 MB read, 0.4 MB at 34 MB, all 2.3 MB at 50 MB.
//!
//! *Shares.* An SM's time depends on hits in its share. The counters of L2 and DRAM come from a
//! replay of all SMs' requests through one L2 ([`replay`]).
//!
//! Not modeled: slices, the real hash, the DRAM fill of a sector that was stored in part and never
//! read.

mod packed;
pub(super) mod replay;

use super::cache::{Cache, Found, LINE, SECTORS};
use crate::base::{Cycle, SmId};
use crate::spec::Memory;

/// Bits of a line number.
const LINE_BITS: u32 = 57;
/// Offset of a line number for its copy in the partition that is not its home.
const COPY: u64 = 1 << LINE_BITS;

/// L2 or an equal share of it: that of an SM, or the sets of a sample of lines.
#[derive(Clone)]
pub(super) struct L2 {
    tags: Cache,
    /// True if there are two partitions.
    halves: bool,
    /// Maximum dirty sectors per set.
    most_dirty: u32,
}

/// Result of a lookup.
pub(super) struct Answer {
    /// Sectors that were present.
    pub hits: u8,
    /// Arrival cycle of the present sectors; 0 if they arrived long ago.
    pub arrives: Cycle,
    /// Sectors forwarded to the other partition.
    pub crossed: u8,
    /// Sectors written back to DRAM, to make room or to limit dirty sectors.
    pub written: u32,
    /// Sectors among these that earlier work had left dirty.
    pub earlier: u32,
    home: Option<Found>,
    copy: Option<Found>,
}

impl L2 {
    /// Creates one of `shares` equal shares.
    pub(super) fn new(memory: &Memory, shares: u32) -> L2 {
        let dirty_ways = if memory.l2_dirty_ways == 0 { u32::MAX } else { memory.l2_dirty_ways };
        let shares = u64::from(shares.max(1));
        L2 {
            tags: Cache::new(memory.l2.bytes / shares, memory.l2.ways)
                .with_dirty_lines(memory.l2_dirty_before / LINE / shares),
            halves: memory.l2_partitions > 1,
            most_dirty: dirty_ways.saturating_mul(SECTORS),
        }
    }

    /// Looks up sectors of a line for an SM and makes them present.
    ///
    /// Sectors outside of [`Answer::hits`] arrive when the caller calls [`L2::arrive`].
    #[inline]
    pub(super) fn read(&mut self, sm: SmId, line: u64, sectors: u8) -> Answer {
        let mut answer = Answer {
            hits: 0,
            arrives: 0,
            crossed: 0,
            written: 0,
            earlier: 0,
            home: None,
            copy: None,
        };
        let mut wanted = sectors;
        let line = scatter(line);
        if self.is_far(sm, line) {
            let copy = self.tags.access(line | COPY, sectors, true);
            wanted &= !copy.hits;
            answer = Answer {
                hits: copy.hits,
                arrives: copy.arrives,
                crossed: wanted,
                copy: Some(copy),
                ..answer
            };
            answer.written += copy.evicted();
            answer.earlier += copy.evicted_earlier();
        }
        if wanted != 0 {
            let home = self.tags.access(line, wanted, true);
            answer.hits |= home.hits;
            answer.arrives = answer.arrives.max(home.arrives);
            answer.written += home.evicted();
            answer.earlier += home.evicted_earlier();
            answer.home = Some(home);
            self.arrive(&answer, home.arrives);
        }
        answer
    }

    /// Like [`L2::read`], and marks the sectors dirty.
    #[inline]
    pub(super) fn write(&mut self, sm: SmId, line: u64, sectors: u8) -> Answer {
        let (mut written, mut earlier) = (0, 0);
        let mut copy = None;
        let line = scatter(line);
        let far = self.is_far(sm, line);
        if far {
            let found = self.tags.access(line | COPY, sectors, true);
            written += found.evicted();
            earlier += found.evicted_earlier();
            copy = Some(found);
        }
        let home = self.tags.access(line, sectors, true);
        written += home.evicted() + self.tags.mark_dirty(home, sectors, self.most_dirty);
        earlier += home.evicted_earlier();
        let crossed = if far { sectors } else { 0 };
        Answer {
            hits: home.hits,
            arrives: home.arrives,
            crossed,
            written,
            earlier,
            home: Some(home),
            copy,
        }
    }

    /// Sets the arrival cycle of a lookup's missing sectors.
    #[inline]
    pub(super) fn arrive(&mut self, answer: &Answer, at: Cycle) {
        for found in [answer.home, answer.copy].into_iter().flatten() {
            self.tags.arrive(found, at);
        }
    }

    /// Returns true if a scattered line's home is the partition not attached to the SM.
    ///
    /// This holds for half of all lines. The attachment of real SMs is unknown.
    #[inline]
    fn is_far(&self, sm: SmId, line: u64) -> bool {
        self.halves && line >> (LINE_BITS - 1) != u64::from(sm.0 % 2)
    }
}

/// Scatters line numbers, so that neighboring lines are independent.
///
/// The real hash is unknown; an even one would spread dirty lines too evenly over the sets.
#[inline]
fn scatter(line: u64) -> u64 {
    let mixed = (line ^ line >> 28).wrapping_mul(0xff51_afd7_ed55_8ccd) & (COPY - 1);
    mixed ^ mixed >> 28
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::Machine;

    /// Sixteenth of the H200's L2: enough sets for averages, few enough lines for a test.
    const SHARES: u32 = 16;
    /// Lines of a block of 512 words.
    const BLOCK: u64 = 16;
    /// Line number of a second array.
    const OTHER: u64 = 1 << 30;

    fn h200() -> L2 {
        let text = Machine::preset_text("h200").expect("a preset");
        L2::new(&Machine::parse(text).expect("a machine").memory, SHARES)
    }

    fn blocks(mib: u64) -> impl Iterator<Item = u64> {
        (0..(mib << 20) / 2048 / u64::from(SHARES)).map(|block| block * BLOCK)
    }

    /// Returns the SM that runs the block of a line.
    fn of(line: u64) -> SmId {
        SmId((line / BLOCK % 132) as u32)
    }

    /// Converts sectors of a share to MB of the whole L2.
    fn megabytes(sectors: u64) -> f64 {
        sectors as f64 * 32.0 * f64::from(SHARES) / 1e6
    }

    /// Accesses of each block of a stream to its lines: whether it reads them, how many of them it
    /// then writes and how often, and whether it writes to a second array.
    struct Stream {
        reads: bool,
        lines: u64,
        times: u32,
        elsewhere: bool,
    }

    /// Returns the MB written back in a stream over `mib` MiB.
    fn written(mib: u64, stream: &Stream) -> f64 {
        let mut l2 = h200();
        let mut sectors = 0;
        for first in blocks(mib) {
            if stream.reads {
                sectors += (first..first + BLOCK)
                    .map(|line| u64::from(l2.read(of(line), line, 15).written))
                    .sum::<u64>();
            }
            let to = if stream.elsewhere { OTHER } else { 0 } + first;
            for _ in 0..stream.times {
                sectors += (to..to + stream.lines)
                    .map(|line| u64::from(l2.write(of(line), line, 15).written))
                    .sum::<u64>();
            }
        }
        megabytes(sectors)
    }

    /// `dram__bytes_write.sum` of streams on an H200, minus the 2.3 MB of earlier work. Each is the
    /// mean of two to eight runs, all within 0.3 MB of it.
    #[test]
    fn streams_are_written_back_as_on_an_h200() {
        let once = Stream { reads: true, lines: BLOCK, times: 1, elsewhere: false };
        for (what, stream, at_64, at_128) in [
            ("only written", Stream { reads: false, ..once }, 37.4, 104.5),
            ("read and written", Stream { ..once }, 37.5, 104.8),
            ("written twice", Stream { times: 2, ..once }, 40.3, 107.3),
            ("written four times", Stream { times: 4, ..once }, 40.5, 107.6),
            ("three quarters written", Stream { lines: 12, ..once }, 23.0, 73.6),
            ("half written", Stream { lines: 8, ..once }, 13.3, 47.1),
            ("a quarter written", Stream { lines: 4, ..once }, 6.3, 23.2),
            ("written elsewhere", Stream { elsewhere: true, ..once }, 45.6, 112.3),
        ] {
            for (mib, measured) in [(64, at_64), (128, at_128)] {
                let found = written(mib, &stream);
                let most = (0.03_f64 * measured).max(0.3);
                assert!(
                    (found - measured).abs() <= most,
                    "{what}, {mib} MiB: {found:.2} MB, measured {measured}"
                );
            }
        }
    }

    /// `dram__bytes_write.sum` of launches that read the given words.
    ///
    /// Measured under a profiler that empties the caches first. The real hash fills the sets more
    /// evenly, so its step is sharper.
    #[test]
    fn reading_writes_back_what_was_dirty_before() {
        for (million_words, measured) in
            [(4, 0.0), (6, 0.007), (8, 0.39), (12, 2.32), (16, 2.37), (32, 2.35)]
        {
            let mut l2 = h200();
            let lines = blocks(4 * million_words).flat_map(|first| first..first + BLOCK);
            let found =
                megabytes(lines.map(|line| u64::from(l2.read(of(line), line, 15).earlier)).sum());
            assert!(
                (found - measured).abs() < 0.5,
                "{million_words} x 2^20 words: {found:.2} MB, measured {measured}"
            );
        }
    }

    /// Returns the MB read from DRAM in the second pass when `mib` MiB are read twice.
    fn missed_again(mib: u64) -> f64 {
        let mut l2 = h200();
        let mut missed = || -> u64 {
            let lines = blocks(mib).flat_map(|first| first..first + BLOCK);
            lines.map(|line| u64::from((15 & !l2.read(of(line), line, 15).hits).count_ones())).sum()
        };
        missed();
        megabytes(missed())
    }

    /// L2 capacity of an H200 in data, by a second read.
    ///
    /// The H200 reads 0.2 MB again of 33.6, and all but 4 of 50.3: its 62.9 MB hold 42 MB of data.
    /// A worse hash than the real one makes the step softer.
    #[test]
    fn two_thirds_of_the_bytes_hold_data() {
        let [fits, nearly, most, all] = [24, 32, 48, 64].map(missed_again);
        assert!(fits < 1.5 && nearly < 8.0, "{fits:.2} {nearly:.2}");
        assert!(most > 30.0 && all > 60.0, "{most:.2} {all:.2}");
    }

    #[test]
    fn half_of_the_sectors_cross() {
        let mut l2 = h200();
        let crossed: u32 =
            (0..10_000).map(|line| l2.read(SmId(0), line, 15).crossed.count_ones()).sum();
        assert!((19_600..20_400).contains(&crossed), "{crossed}");
        let again: u32 =
            (9_900..10_000).map(|line| l2.read(SmId(0), line, 15).crossed.count_ones()).sum();
        assert_eq!(again, 0, "a copy is present now");
    }
}
