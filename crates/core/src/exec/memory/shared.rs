//! Shared memory of a block.

use super::Words;
use crate::base::{LaneMask, MAX_LANES};
use crate::exec::lanes::fill;

/// Returns the size in bytes of a block's shared memory.
/// Static variables come first; the dynamic part starts at the next multiple of 16.
pub fn block_shared_bytes(static_bytes: u32, dynamic: u32) -> u32 {
    match dynamic {
        0 => static_bytes,
        _ => static_bytes.checked_next_multiple_of(16).unwrap_or(u32::MAX).saturating_add(dynamic),
    }
}

/// The shared memory of one block.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SharedMemory {
    /// Offset in the shared window, in bytes.
    start: u64,
    bytes: u64,
    words: Vec<u32>,
}

impl SharedMemory {
    /// Creates `bytes` bytes of zeros.
    pub fn new(bytes: u32) -> SharedMemory {
        SharedMemory { start: 0, bytes: bytes.into(), words: vec![0; bytes.div_ceil(4) as usize] }
    }

    /// Moves it up in the shared window by the bytes that the system reserves.
    #[must_use]
    pub fn after(self, reserved: u32) -> SharedMemory {
        SharedMemory { start: reserved.into(), ..self }
    }

    /// Returns the offset in the shared window in bytes: generic addresses count from there.
    pub fn start(&self) -> u64 {
        self.start
    }

    /// Fills with zeros, the initial state for a new block. (PTX leaves it undefined.)
    pub fn clear(&mut self) {
        self.words.fill(0);
    }

    /// Returns the size in bytes.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns the content.
    pub fn words(&self) -> &[u32] {
        &self.words
    }

    /// Returns true if the `bytes` bytes at `address` are inside.
    #[inline(always)]
    pub(in crate::exec) fn holds(&self, address: u64, bytes: u64) -> bool {
        address < self.bytes && bytes <= self.bytes - address
    }
}

impl Words for SharedMemory {
    #[inline(always)]
    fn load(&self, _: usize, address: u64) -> u32 {
        self.words[(address >> 2) as usize]
    }
    #[inline(always)]
    fn update(&mut self, _: usize, address: u64, mut f: impl FnMut(u32) -> u32) -> (u32, u32) {
        let word = &mut self.words[(address >> 2) as usize];
        let old = *word;
        *word = f(old);
        (old, *word)
    }
    #[inline(always)]
    fn store(&mut self, _: usize, address: u64, value: u32) -> bool {
        std::mem::replace(&mut self.words[(address >> 2) as usize], value) != value
    }
    #[inline(always)]
    fn load_run(&self, address: u64, d: &mut [u32]) {
        d.copy_from_slice(&self.words[(address >> 2) as usize..][..d.len()]);
    }
    #[inline(always)]
    fn load_row(&self, address: u64, lanes: LaneMask, d: &mut [u32; MAX_LANES]) -> bool {
        let words = self.words.get((address >> 2) as usize..);
        let Some(row) = words.and_then(<[u32]>::first_chunk::<MAX_LANES>) else { return false };
        fill(d, lanes, |lane| row[lane]);
        true
    }
    #[inline(always)]
    fn store_row(
        &mut self,
        address: u64,
        lanes: LaneMask,
        values: &[u32; MAX_LANES],
    ) -> Option<bool> {
        let row = self.words.get_mut((address >> 2) as usize..)?.first_chunk_mut()?;
        let old = *row;
        fill(row, lanes, |lane| values[lane]);
        let difference = row.iter().zip(&old).fold(0, |all, (new, old)| all | (new ^ old));
        Some(difference != 0)
    }
}
