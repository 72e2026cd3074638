//! Heap of the device: `malloc` and `free` of kernels.
//!
//! First fit, in steps of 16 bytes. Blocks with calls of `malloc` or `free` run interleaved in
//! cycle order, so addresses do not depend on the number of threads of the computer.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::{GlobalMemory, SegmentImage};
use crate::kernel::layout::HEAP_BASE;

/// Heap of the device between two launches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heap {
    bytes: u64,
    /// Content, little-endian; empty while a launch has it.
    pub(super) words: Vec<u32>,
    /// Unused pieces: offset and bytes.
    holes: BTreeMap<u64, u64>,
    /// Allocations: offset and bytes.
    used: BTreeMap<u64, u64>,
    /// True once something was allocated.
    was_used: bool,
}

/// Default of `cudaLimitMallocHeapSize` in bytes.
const DEFAULT_BYTES: u64 = 8 << 20;
/// Maximum size in bytes.
const MOST_BYTES: u64 = 4 << 30;
/// Alignment of allocations in bytes.
const ALIGN: u64 = 16;

impl Default for Heap {
    /// Returns an empty heap of CUDA's default size, 8 MiB.
    fn default() -> Heap {
        Heap::new(DEFAULT_BYTES)
    }
}

impl Heap {
    /// Returns an empty heap of `bytes` bytes, at most 4 GiB.
    pub fn new(bytes: u64) -> Heap {
        let bytes = bytes.min(MOST_BYTES) / ALIGN * ALIGN;
        let holes = if bytes > 0 { BTreeMap::from([(0, bytes)]) } else { BTreeMap::new() };
        Heap { bytes, words: Vec::new(), holes, used: BTreeMap::new(), was_used: false }
    }

    /// Returns the size in bytes.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns true once something was allocated.
    pub fn was_used(&self) -> bool {
        self.was_used
    }

    /// Returns the bytes of all allocations.
    pub fn allocated(&self) -> u64 {
        self.used.values().sum()
    }

    /// Allocates and returns the offset; `None` for no bytes, or if no hole is large enough.
    pub(super) fn allocate(&mut self, bytes: u64) -> Option<u64> {
        let bytes = bytes.checked_next_multiple_of(ALIGN).filter(|&bytes| bytes > 0)?;
        let (&at, &size) = self.holes.iter().find(|&(_, &size)| size >= bytes)?;
        self.holes.remove(&at);
        if size > bytes {
            self.holes.insert(at + bytes, size - bytes);
        }
        self.used.insert(at, bytes);
        self.was_used = true;
        Some(at)
    }

    /// Frees the allocation at an offset. Returns false if there is none.
    pub(super) fn free(&mut self, offset: u64) -> bool {
        let Some(mut bytes) = self.used.remove(&offset) else { return false };
        let mut at = offset;
        if let Some(after) = self.holes.remove(&(offset + bytes)) {
            bytes += after;
        }
        if let Some((&before, &size)) = self.holes.range(..offset).next_back()
            && before + size == offset
        {
            (at, bytes) = (before, bytes + size);
        }
        self.holes.insert(at, bytes);
        true
    }
}

impl GlobalMemory {
    /// Creates memory from segments, and from a heap with its content.
    ///
    /// # Panics
    /// As [`GlobalMemory::new`].
    pub fn with_heap(mut segments: Vec<SegmentImage>, heap: Option<Heap>) -> GlobalMemory {
        let heap = heap.map(|mut heap| {
            if heap.bytes() > 0 {
                segments.push((HEAP_BASE, heap.bytes(), std::mem::take(&mut heap.words), true));
            }
            heap
        });
        let mut memory = GlobalMemory::new(segments);
        memory.heap = Mutex::new(heap);
        memory
    }

    fn hold_heap(&self) -> MutexGuard<'_, Option<Heap>> {
        self.heap.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Allocates from the heap and returns the address; `None` if there is no room.
    pub(super) fn allocate(&self, bytes: u64) -> Option<u64> {
        self.hold_heap().as_mut()?.allocate(bytes).map(|offset| HEAP_BASE + offset)
    }

    /// Frees an allocation. Returns false if there is none at the address.
    pub(super) fn free(&self, address: u64) -> bool {
        let offset = address.checked_sub(HEAP_BASE);
        let mut heap = self.hold_heap();
        offset.zip(heap.as_mut()).is_some_and(|(offset, heap)| heap.free(offset))
    }

    /// Returns the allocations of the heap without their content.
    pub fn heap(&self) -> Option<Heap> {
        self.hold_heap().clone()
    }

    /// Sets the allocations of the heap to those of [`GlobalMemory::heap`] at an earlier time.
    pub fn set_heap(&self, heap: Option<Heap>) {
        *self.hold_heap() = heap;
    }

    /// Returns all segments with their content, sorted by address, and the heap with its own.
    pub fn into_parts(self) -> (Vec<SegmentImage>, Option<Heap>) {
        let mut heap = self.hold_heap().take();
        let mut segments = self.into_segments();
        if let Some(heap) = &mut heap
            && let Ok(at) = segments.binary_search_by_key(&HEAP_BASE, |segment| segment.0)
        {
            heap.words = segments.remove(at).2;
        }
        (segments, heap)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn freed_pieces_join_their_neighbours() {
        let mut heap = Heap::new(64);
        let all: Vec<_> = [1, 16, 17].map(|bytes| heap.allocate(bytes)).into();
        assert_eq!(all, [Some(0), Some(16), Some(32)]);
        assert_eq!((heap.allocate(1), heap.allocated()), (None, 64));
        assert!(heap.free(0) && heap.free(32) && !heap.free(32) && !heap.free(8));
        assert_eq!(heap.allocate(32), Some(32));
        assert!(heap.free(32) && heap.free(16));
        assert_eq!((heap.allocate(64), heap.allocate(0)), (Some(0), None));
        assert!(heap.was_used() && !Heap::new(64).was_used());
        assert_eq!(Heap::new(0).allocate(1), None);
        assert_eq!(Heap::new(u64::MAX).bytes(), MOST_BYTES);
    }
}
