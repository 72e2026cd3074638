//! Data memory: words, bounds and the word of a lane's address. No cycles, no cache.
//!
//! Every memory is a little-endian array of 32-bit words. An element of 8 bytes or more is accessed
//! word by word, so another SM may see half of it, as PTX allows for vectors. 64-bit atomics on one
//! memory exclude each other.

mod lent;
mod local;
mod shared;

pub use lent::Lent;
pub use local::LocalMemory;
pub use shared::{SharedMemory, block_shared_bytes};

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

use lent::Content;

use super::heap::Heap;
use super::lanes::fill_each;
use super::segments::words_of;
use crate::base::{LaneMask, MAX_LANES};

/// A contiguous piece of device memory: address, bytes, content, writable.
pub type SegmentImage = (u64, u64, Vec<u32>, bool);

/// Device memory and constants, shared by all SMs of a grid.
///
/// Words are atomics with relaxed ordering, which compile to plain moves on common processors. SMs
/// may run on several threads, and no access of a simulated program can be a data race of the
/// simulator.
#[derive(Debug, Default)]
pub struct GlobalMemory {
    /// Sorted by address, without overlap.
    segments: Vec<Segment>,
    /// Memory beside the segments that kernels can reach, sorted by address.
    spare: Vec<Segment>,
    /// Bits of the lowest address in `spare` that was accessed, inverted; 0: none.
    accessed: AtomicU64,
    /// Lock held during a 64-bit read-modify-write, which spans two words.
    pairs: Mutex<()>,
    /// Allocations of `malloc`; their content is the segment at `HEAP_BASE`.
    pub(super) heap: Mutex<Option<Heap>>,
}

/// A buffer, or one or several variables.
#[derive(Debug)]
pub(super) struct Segment {
    pub(super) address: u64,
    pub(super) bytes: u64,
    pub(super) writable: bool,
    words: Content,
}

impl Segment {
    /// Creates a segment. Without words it holds zeros.
    fn new((address, bytes, mut words, writable): SegmentImage) -> Segment {
        assert!(address % 4 == 0, "segment at 0x{address:x} is not word-aligned");
        if words.is_empty() {
            // The operating system gives zeros on first touch.
            words = vec![0; bytes.div_ceil(4) as usize];
        }
        words.resize(bytes.div_ceil(4) as usize, 0);
        // Works in place: the standard library reuses the allocation for an element of the same
        // size.
        let words = Content::Own(words.into_iter().map(AtomicU32::new).collect());
        Segment { address, bytes, writable, words }
    }

    /// Returns its content, unless it is lent.
    fn into_image(self) -> Option<SegmentImage> {
        let Content::Own(words) = self.words else { return None };
        let words = words.into_iter().map(AtomicU32::into_inner).collect();
        Some((self.address, self.bytes, words, self.writable))
    }

    /// Returns true if the `bytes` bytes at `address` are inside.
    #[inline(always)]
    pub(super) fn holds(&self, address: u64, bytes: u64) -> bool {
        let offset = address.wrapping_sub(self.address);
        offset < self.bytes && bytes <= self.bytes - offset
    }
}

impl GlobalMemory {
    /// Creates memory from segments in any order.
    ///
    /// # Panics
    /// Panics if an address is not a multiple of 4 or segments overlap: the caller's layout is
    /// wrong.
    pub fn new(segments: Vec<SegmentImage>) -> GlobalMemory {
        let segments = segments.into_iter().map(Segment::new).collect();
        GlobalMemory::default().with_segments(segments)
    }

    /// Adds segments whose content is lent: address, bytes, words, writable.
    ///
    /// # Panics
    /// As [`GlobalMemory::new`].
    pub fn with_lent(self, lent: impl Iterator<Item = (u64, u64, Lent, bool)>) -> GlobalMemory {
        let segment = |(address, bytes, lent, writable)| Segment {
            address,
            bytes,
            writable,
            words: Content::Lent(lent, AtomicBool::new(false)),
        };
        self.with_segments(lent.map(segment).collect())
    }

    fn with_segments(mut self, new: Vec<Segment>) -> GlobalMemory {
        let segments = &mut self.segments;
        segments.extend(new);
        segments.sort_by_key(|s| s.address);
        for pair in segments.windows(2) {
            assert!(
                pair[1].address - pair[0].address >= 4 * pair[0].words.len() as u64,
                "segments at 0x{:x} and 0x{:x} overlap",
                pair[0].address,
                pair[1].address
            );
        }
        self
    }

    /// Adds memory beside the segments, which an access finds if no segment holds its address.
    pub fn with_spare(self, pieces: Vec<SegmentImage>) -> GlobalMemory {
        let mut spare: Vec<Segment> = pieces.into_iter().map(Segment::new).collect();
        spare.sort_by_key(|s| s.address);
        GlobalMemory { spare, ..self }
    }

    /// Takes that memory, with the lowest address in it that was accessed.
    pub fn take_spare(&mut self) -> (Vec<SegmentImage>, Option<u64>) {
        let lowest = Some(!*self.accessed.get_mut()).filter(|&lowest| lowest != u64::MAX);
        (self.spare.drain(..).filter_map(Segment::into_image).collect(), lowest)
    }

    /// Returns the current words of the segment that starts at `address`.
    pub fn words(&self, address: u64) -> Option<impl Iterator<Item = u32> + '_> {
        let i = self.segments.binary_search_by_key(&address, |s| s.address).ok()?;
        Some(self.segments[i].words.iter().map(|w| w.load(Relaxed)))
    }

    /// Copies words from `address`, a multiple of 4. Unmapped words stay unchanged.
    pub fn read(&self, address: u64, words: &mut [u32]) {
        for (i, cell) in self.cells(address, words.len()) {
            words[i] = cell.load(Relaxed);
        }
    }

    /// Overwrites words from `address`, a multiple of 4, even in read-only segments.
    /// Words without memory are dropped.
    pub fn write(&self, address: u64, words: &[u32]) {
        for (i, cell) in self.cells(address, words.len()) {
            cell.store(words[i], Relaxed);
        }
    }

    /// Iterates over the mapped words of `len` words from `address`, with indices.
    fn cells(&self, address: u64, len: usize) -> impl Iterator<Item = (usize, &AtomicU32)> {
        let end = address.saturating_add(4 * len as u64);
        let both = [&self.segments, &self.spare].into_iter();
        let there = both.flat_map(move |segments| {
            let first = segments.partition_point(|s| s.address <= address).saturating_sub(1);
            let from = segments.get(first..).unwrap_or_default();
            from.iter().take_while(move |s| s.address < end)
        });
        there.flat_map(move |s| {
            let skipped = (address.saturating_sub(s.address) / 4) as usize;
            let first = (s.address.max(address) - address) as usize / 4;
            s.words
                .get(skipped..)
                .unwrap_or_default()
                .iter()
                .zip(first..len)
                .map(|(cell, i)| (i, cell))
        })
    }

    /// Returns addresses and bytes of the segments, sorted by address.
    pub(crate) fn extents(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.segments.iter().map(|segment| (segment.address, segment.bytes))
    }

    /// Returns true if lent memory was accessed since the last call.
    pub(crate) fn take_lent_access(&self) -> bool {
        self.segments.iter().fold(false, |any, segment| any | segment.words.take_access())
    }

    /// Returns all segments with their content, sorted by address, but for lent ones.
    pub fn into_segments(self) -> Vec<SegmentImage> {
        self.segments.into_iter().filter_map(Segment::into_image).collect()
    }

    /// Returns the segment that holds `address`; if none does, the last one that starts below.
    #[inline(always)]
    pub(super) fn segment(&self, address: u64) -> Option<&Segment> {
        let after = match &self.segments[..] {
            // Most programs have few segments; a linear scan is then faster than a binary search.
            few if few.len() <= 8 => few.iter().take_while(|s| s.address <= address).count(),
            many => many.partition_point(|s| s.address <= address),
        };
        let last = after.checked_sub(1).and_then(|last| self.segments.get(last));
        if self.spare.is_empty() || last.is_some_and(|last| last.holds(address, 1)) {
            return last;
        }
        self.spare(address).or(last)
    }

    /// Returns the spare memory that holds `address`, and notes the access.
    #[cold]
    #[inline(never)]
    fn spare(&self, address: u64) -> Option<&Segment> {
        let after = self.spare.partition_point(|s| s.address <= address);
        let found = self.spare.get(after.checked_sub(1)?)?;
        found.holds(address, 1).then(|| {
            self.accessed.fetch_max(!address, Relaxed);
            found
        })
    }

    /// Returns a view of one segment.
    #[inline(always)]
    pub(super) fn view<'a>(&'a self, segment: &'a Segment) -> GlobalView<'a> {
        GlobalView { words: &segment.words, address: segment.address, pairs: &self.pairs }
    }
}

/// Access of lanes to words. Addresses are already checked.
/// `lane` matters to local memory only.
pub(super) trait Words {
    /// True if an address is one word for all lanes.
    const COMMON: bool = true;
    /// Returns the word that holds `address`.
    fn load(&self, lane: usize, address: u64) -> u32;
    /// Replaces the word by `f` of it atomically. Returns the words before and after.
    fn update(&mut self, lane: usize, address: u64, f: impl FnMut(u32) -> u32) -> (u32, u32);
    /// Overwrites the word. Returns true if it changed.
    fn store(&mut self, lane: usize, address: u64, value: u32) -> bool;
    /// As `update` for the two words at `address`.
    fn update_pair(
        &mut self,
        lane: usize,
        address: u64,
        mut f: impl FnMut(u64) -> u64,
    ) -> (u64, u64) {
        let old =
            u64::from(self.load(lane, address + 4)) << 32 | u64::from(self.load(lane, address));
        let new = f(old);
        self.store(lane, address, new as u32);
        self.store(lane, address + 4, (new >> 32) as u32);
        (old, new)
    }
    /// Loads adjacent words from `address` on.
    fn load_run(&self, address: u64, d: &mut [u32]) {
        for (word, cell) in d.iter_mut().enumerate() {
            *cell = self.load(0, address.wrapping_add(4 * word as u64));
        }
    }
    /// Loads words of `lanes`; lane `l` is `l` words after `address`.
    ///
    /// Returns false and does nothing if not all 32 words are in this memory in this order.
    fn load_row(&self, _address: u64, _lanes: LaneMask, _d: &mut [u32; MAX_LANES]) -> bool {
        false
    }
    /// Stores words of `lanes`; lane `l` is `l` words after `address`. Returns true if any changed.
    ///
    /// Returns `None` and does nothing if not all 32 words are in this memory in this order.
    fn store_row(
        &mut self,
        _address: u64,
        _lanes: LaneMask,
        _values: &[u32; MAX_LANES],
    ) -> Option<bool> {
        None
    }
}

/// One segment of device memory.
pub(super) struct GlobalView<'a> {
    words: &'a [AtomicU32],
    address: u64,
    pairs: &'a Mutex<()>,
}

impl GlobalView<'_> {
    #[inline(always)]
    fn word(&self, address: u64) -> &AtomicU32 {
        &self.words[(address.wrapping_sub(self.address) >> 2) as usize]
    }

    /// Returns 32 words from `address` on.
    #[inline(always)]
    fn row(&self, address: u64) -> Option<&[AtomicU32; MAX_LANES]> {
        let first = (address.wrapping_sub(self.address) >> 2) as usize;
        self.words.get(first..)?.first_chunk()
    }

    fn hold_pairs(&self) -> MutexGuard<'_, ()> {
        // A panic elsewhere breaks no invariant: the lock guards no data of its own.
        self.pairs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Words for GlobalView<'_> {
    #[inline(always)]
    fn load(&self, _: usize, address: u64) -> u32 {
        self.word(address).load(Relaxed)
    }
    #[inline(always)]
    fn update(&mut self, _: usize, address: u64, mut f: impl FnMut(u32) -> u32) -> (u32, u32) {
        let word = self.word(address);
        let mut old = word.load(Relaxed);
        loop {
            let new = f(old);
            match word.compare_exchange_weak(old, new, Relaxed, Relaxed) {
                Ok(_) => return (old, new),
                Err(now) => old = now,
            }
        }
    }
    #[inline(always)]
    fn store(&mut self, _: usize, address: u64, value: u32) -> bool {
        let word = self.word(address);
        let changed = word.load(Relaxed) != value;
        word.store(value, Relaxed);
        changed
    }
    fn update_pair(&mut self, _: usize, address: u64, mut f: impl FnMut(u64) -> u64) -> (u64, u64) {
        let _held = self.hold_pairs();
        let (low, high) = (self.word(address), self.word(address + 4));
        let old = u64::from(high.load(Relaxed)) << 32 | u64::from(low.load(Relaxed));
        let new = f(old);
        low.store(new as u32, Relaxed);
        high.store((new >> 32) as u32, Relaxed);
        (old, new)
    }
    #[inline(always)]
    fn load_run(&self, address: u64, d: &mut [u32]) {
        let first = (address.wrapping_sub(self.address) >> 2) as usize;
        let words = &self.words[first..][..d.len()];
        d.iter_mut().zip(words).for_each(|(cell, word)| *cell = word.load(Relaxed));
    }
    #[inline(always)]
    fn load_row(&self, address: u64, lanes: LaneMask, d: &mut [u32; MAX_LANES]) -> bool {
        let Some(row) = self.row(address) else { return false };
        fill_each(d, lanes, |lane| row[lane].load(Relaxed));
        true
    }
    #[inline(always)]
    fn store_row(
        &mut self,
        address: u64,
        lanes: LaneMask,
        values: &[u32; MAX_LANES],
    ) -> Option<bool> {
        let row = self.row(address)?;
        let mut difference = 0;
        let mut one = |lane: usize| {
            difference |= row[lane].load(Relaxed) ^ values[lane];
            row[lane].store(values[lane], Relaxed);
        };
        if lanes == LaneMask::FULL {
            (0..MAX_LANES).for_each(&mut one);
        } else {
            lanes.lanes().for_each(|lane| one(lane as usize & (MAX_LANES - 1)));
        }
        Some(difference != 0)
    }
}

/// The parameter block, read-only: its write functions are unreachable.
pub(super) struct ParamBlock<'a>(pub(super) &'a [u8]);

impl Words for ParamBlock<'_> {
    #[inline(always)]
    fn load(&self, _: usize, address: u64) -> u32 {
        let from = (address & !3) as usize;
        match self.0.get(from..from + 4) {
            Some(&[a, b, c, d]) => u32::from_le_bytes([a, b, c, d]),
            // The block may end within its last word.
            _ => words_of(self.0.get(from..).unwrap_or_default()).first().copied().unwrap_or(0),
        }
    }
    fn update(&mut self, _: usize, _: u64, _: impl FnMut(u32) -> u32) -> (u32, u32) {
        unreachable!("parameters are read-only, as checked before")
    }
    fn store(&mut self, _: usize, _: u64, _: u32) -> bool {
        unreachable!("parameters are read-only, as checked before")
    }
}

#[cfg(test)]
mod tests;
