//! Uninitialized reads of registers, shared memory and local arrays.
//!
//! An instruction that names a register reads it, even if the value is not used. Registers and
//! frames of device functions are not checked: a call clears them here.

use super::steps::Use;
use crate::base::{LaneMask, MAX_LANES};

/// Bytes of local memory per thread that are checked, at most.
const MOST_LOCAL: u32 = 1 << 16;

/// Registers and local memory that a warp has written.
#[derive(Clone, Debug, Default)]
pub(super) struct Own {
    /// Lanes that have written each checked register.
    registers: Vec<LaneMask>,
    /// Lanes that have written each byte of local memory.
    local: Vec<LaneMask>,
}

impl Own {
    /// Creates a record with nothing written.
    pub(super) fn new(registers: usize, local_bytes: u32) -> Own {
        let local = if local_bytes > MOST_LOCAL { 0 } else { local_bytes as usize };
        Own { registers: vec![LaneMask::EMPTY; registers], local: vec![LaneMask::EMPTY; local] }
    }

    /// Records an issue with these uses. Returns the first register read unset, and its lanes.
    pub(super) fn issue(
        &mut self,
        uses: &[Use],
        active: LaneMask,
        lanes: LaneMask,
    ) -> Option<(usize, LaneMask)> {
        let mut found = None;
        for u in uses.iter().filter(|u| !u.write) {
            let readers = if u.guard { active } else { lanes };
            let unset = readers - self.registers[u.register];
            if found.is_none() && !unset.is_empty() {
                found = Some((u.register, unset));
            }
        }
        for u in uses.iter().filter(|u| u.write) {
            self.registers[u.register] |= lanes;
        }
        found
    }

    /// Records an access to local memory. Returns the first byte read unset, and its lane.
    pub(super) fn local(
        &mut self,
        write: bool,
        lanes: LaneMask,
        bytes: u32,
        addresses: &[u64; MAX_LANES],
    ) -> Option<(u64, u32)> {
        let mut found = None;
        for lane in lanes.lanes() {
            let first = addresses[lane as usize % MAX_LANES];
            for byte in first..first + u64::from(bytes) {
                let Some(written) = self.local.get_mut(byte as usize) else { continue };
                if write {
                    *written |= LaneMask::lane(lane);
                } else if !written.contains(lane) && found.is_none() {
                    found = Some((byte, lane));
                }
            }
        }
        found
    }
}

/// Written bytes of a block's shared memory: one bit per byte, four per word.
#[derive(Clone, Debug, Default)]
pub(super) struct SharedWrites(Vec<u8>);

impl SharedWrites {
    pub(super) fn new(bytes: u32) -> SharedWrites {
        SharedWrites(vec![0; bytes.div_ceil(4) as usize])
    }

    /// Returns true if the words at these addresses are written.
    #[inline]
    pub(super) fn has_words(&self, lanes: LaneMask, addresses: &[u64; MAX_LANES]) -> bool {
        let is_written = |lane: u32| {
            self.0.get((addresses[lane as usize % MAX_LANES] / 4) as usize) == Some(&0b1111)
        };
        lanes.lanes().all(is_written)
    }

    /// Records writes of the words at these addresses.
    #[inline]
    pub(super) fn set_words(&mut self, lanes: LaneMask, addresses: &[u64; MAX_LANES]) {
        for lane in lanes.lanes() {
            if let Some(word) = self.0.get_mut((addresses[lane as usize % MAX_LANES] / 4) as usize)
            {
                *word = 0b1111;
            }
        }
    }

    /// Records an access to `bytes` of a word. Returns the first byte read unset.
    #[inline]
    pub(super) fn touch(
        &mut self,
        word: usize,
        bytes: u8,
        reads: bool,
        writes: bool,
    ) -> Option<u32> {
        let written = self.0.get_mut(word)?;
        let unset = if reads { bytes & !*written } else { 0 };
        if writes {
            *written |= bytes;
        }
        (unset != 0).then(|| unset.trailing_zeros())
    }
}
