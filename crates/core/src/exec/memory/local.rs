//! Local memory of a warp.

use super::Words;
use crate::base::MAX_LANES;
use crate::exec::{Fault, FaultKind};
use crate::isa::Space;
use crate::kernel::Kernel;
use crate::kernel::layout::LOCAL_LIMIT;

/// Local memory of one warp; calls make it grow.
/// It is interleaved as in hardware: word `i` of all lanes is contiguous.
///
/// PTX's grows upwards from 0. Machine code's is a stack whose pointer starts at the limit: it is
/// kept from the lowest address on that was needed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LocalMemory {
    /// Initial bytes per lane.
    initial: u64,
    /// Maximum bytes per lane.
    limit: u64,
    /// Bytes of the limit that hold the kernel's frame and one frame of each function.
    frames: u64,
    /// True if it grows towards address 0.
    is_stack: bool,
    /// Address of the first word.
    start: u64,
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
            frames: 0,
            is_stack: false,
            start: 0,
            bytes,
            words: vec![[0; MAX_LANES]; bytes_per_lane.div_ceil(4) as usize],
        }
    }

    /// Creates the memory of a warp of `kernel`, with a limit per lane ([`Kernel::local_limit`]).
    pub fn of(kernel: &Kernel, limit: u64) -> LocalMemory {
        let is_stack = kernel.native.is_some();
        let bytes = kernel.local_bytes;
        let bytes = if is_stack { bytes.min(limit as u32) } else { bytes };
        let has_frames = !is_stack && limit < LOCAL_LIMIT;
        let frames = if has_frames { kernel.local_limit(Some(0)) } else { 0 };
        let mut local = LocalMemory { limit, frames, is_stack, ..LocalMemory::new(bytes) };
        local.start = local.first();
        local
    }

    /// Returns the address of the first of its present bytes.
    fn first(&self) -> u64 {
        if self.is_stack { self.limit - self.bytes } else { 0 }
    }

    /// Fills with zeros, the initial state for a new warp. (PTX leaves it undefined.)
    pub fn clear(&mut self) {
        self.bytes = self.initial;
        self.start = self.first();
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

    /// Grows a stack to the address of a fault, or beyond. Returns true if it did.
    #[cold]
    pub(in crate::exec) fn deepen(&mut self, fault: &Fault) -> bool {
        let FaultKind::OutOfBounds { space: Space::Local, address, .. } = fault.kind else {
            return false;
        };
        if !self.is_stack || address >= self.start {
            return false;
        }
        let needed = self.limit - address / 4 * 4;
        let bytes = needed.max(2 * self.bytes).min(self.limit);
        let more = (bytes - self.bytes) / 4;
        self.words.splice(0..0, std::iter::repeat_n([0; MAX_LANES], more as usize));
        self.bytes = bytes;
        self.start = self.first();
        true
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

    /// Returns the index of the word at an address.
    #[inline(always)]
    fn index(&self, address: u64) -> usize {
        (address.wrapping_sub(self.start) >> 2) as usize
    }

    /// Returns the maximum bytes per lane.
    pub(in crate::exec) fn limit(&self) -> u64 {
        self.limit
    }

    /// Describes a call, or an allocation on the stack, that exceeds the limit.
    #[cold]
    pub(in crate::exec) fn overflow(&self, depth: usize) -> FaultKind {
        FaultKind::StackOverflow {
            depth: depth as u32,
            limit: self.limit - self.frames,
            has_frames: self.frames > 0,
        }
    }

    /// Returns the address of the first byte.
    #[inline(always)]
    pub(in crate::exec) fn start(&self) -> u64 {
        self.start
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
        self.words[self.index(address)][lane & (MAX_LANES - 1)]
    }
    #[inline(always)]
    fn update(&mut self, lane: usize, address: u64, mut f: impl FnMut(u32) -> u32) -> (u32, u32) {
        let index = self.index(address);
        let word = &mut self.words[index][lane & (MAX_LANES - 1)];
        let old = *word;
        *word = f(old);
        (old, *word)
    }
    #[inline(always)]
    fn store(&mut self, lane: usize, address: u64, value: u32) -> bool {
        let index = self.index(address);
        std::mem::replace(&mut self.words[index][lane & (MAX_LANES - 1)], value) != value
    }
}
