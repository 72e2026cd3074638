//! Local memory of a warp.

use super::Words;
use crate::base::MAX_LANES;
use crate::kernel::layout::LOCAL_LIMIT;

/// Local memory of one warp; calls make it grow.
/// It is interleaved as in hardware: word `i` of all lanes is contiguous.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LocalMemory {
    /// Initial bytes per lane.
    initial: u64,
    /// Maximum bytes per lane.
    limit: u64,
    bytes: u64,
    words: Vec<[u32; MAX_LANES]>,
}

impl LocalMemory {
    /// Creates `bytes_per_lane` bytes of zeros for each lane.
    pub fn new(bytes_per_lane: u32) -> LocalMemory {
        let bytes = bytes_per_lane.into();
        LocalMemory {
            initial: bytes,
            limit: LOCAL_LIMIT,
            bytes,
            words: vec![[0; MAX_LANES]; bytes_per_lane.div_ceil(4) as usize],
        }
    }

    /// As [`LocalMemory::new`], with a limit per lane.
    /// See [`crate::kernel::Kernel::local_limit`].
    pub fn limited(bytes_per_lane: u32, limit: u64) -> LocalMemory {
        LocalMemory { limit, ..LocalMemory::new(bytes_per_lane) }
    }

    /// Fills with zeros, the initial state for a new warp. (PTX leaves it undefined.)
    pub fn clear(&mut self) {
        self.bytes = self.initial;
        self.words.truncate(self.bytes.div_ceil(4) as usize);
        self.words.fill([0; MAX_LANES]);
    }

    /// Grows to `bytes` bytes per lane; new bytes are 0.
    pub(in crate::exec) fn grow(&mut self, bytes: u64) {
        if bytes > self.bytes {
            self.bytes = bytes;
            self.words.resize(bytes.div_ceil(4) as usize, [0; MAX_LANES]);
        }
    }

    /// Copies bytes of one lane. Both ranges are in bounds and do not overlap.
    pub(in crate::exec) fn copy(&mut self, lane: usize, from: u64, to: u64, bytes: u32) {
        if (from | to | u64::from(bytes)).is_multiple_of(4) {
            for at in (0..u64::from(bytes)).step_by(4) {
                let word = self.load(lane, from + at);
                self.store(lane, to + at, word);
            }
            return;
        }
        for at in 0..u64::from(bytes) {
            let byte = self.load(lane, from + at) >> (8 * ((from + at) & 3)) & 0xff;
            let shift = 8 * ((to + at) & 3);
            self.update(lane, to + at, |word| word & !(0xff << shift) | byte << shift);
        }
    }

    /// Returns the maximum bytes per lane.
    pub(in crate::exec) fn limit(&self) -> u64 {
        self.limit
    }

    /// Returns the size in bytes per lane.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }
}

impl Words for LocalMemory {
    const COMMON: bool = false;
    #[inline(always)]
    fn load(&self, lane: usize, address: u64) -> u32 {
        self.words[(address >> 2) as usize][lane & (MAX_LANES - 1)]
    }
    #[inline(always)]
    fn update(&mut self, lane: usize, address: u64, mut f: impl FnMut(u32) -> u32) -> (u32, u32) {
        let word = &mut self.words[(address >> 2) as usize][lane & (MAX_LANES - 1)];
        let old = *word;
        *word = f(old);
        (old, *word)
    }
    #[inline(always)]
    fn store(&mut self, lane: usize, address: u64, value: u32) -> bool {
        std::mem::replace(&mut self.words[(address >> 2) as usize][lane & (MAX_LANES - 1)], value)
            != value
    }
}
