//! Uninitialized reads of registers, shared memory and local arrays.
//!
//! An instruction that names a register reads it, even if the value is not used. The value of a
//! shuffle may be unset in some lanes: a broadcast reads one lane only.
//! Registers and frames of device functions are not checked: a call clears them here.

use super::rows::{LINE, LINE_BYTES};
use super::steps::Use;
use crate::base::{LaneMask, MAX_LANES};

/// Last bytes of local memory per thread that are checked, at most.
const MOST_LOCAL: u32 = 1 << 16;

/// Registers and local memory that a warp has written.
#[derive(Clone, Debug, Default)]
pub(super) struct Own {
    /// Lanes that have written each checked register.
    registers: Vec<LaneMask>,
    /// Address of the first checked byte of local memory, and the lanes that have written each.
    first: u64,
    local: Vec<LaneMask>,
}

impl Own {
    /// Creates a record with nothing written: the last bytes of local memory are checked, which a
    /// stack uses first.
    pub(super) fn new(registers: usize, local_bytes: u32) -> Own {
        let checked = local_bytes.min(MOST_LOCAL);
        Own {
            registers: vec![LaneMask::EMPTY; registers],
            first: (local_bytes - checked).into(),
            local: vec![LaneMask::EMPTY; checked as usize],
        }
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
            let is_elsewhere = u.exchanged && unset != readers;
            if found.is_none() && !unset.is_empty() && !is_elsewhere {
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
                let index = byte.wrapping_sub(self.first) as usize;
                let Some(written) = self.local.get_mut(index) else { continue };
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

/// Written bytes of a block's shared memory.
#[derive(Clone, Debug, Default)]
pub(super) struct SharedWrites {
    /// Words of which every byte is written, by line.
    words: Vec<u32>,
    /// Written bytes of the other words, four bits each.
    bytes: Vec<u8>,
}

impl SharedWrites {
    /// Creates the writes of `bytes` bytes, of which the first `written` are written.
    pub(super) fn new(bytes: u32, written: u32) -> SharedWrites {
        let words = bytes.div_ceil(4) as usize;
        let mut writes =
            SharedWrites { words: vec![0; words.div_ceil(LINE)], bytes: vec![0; words] };
        for word in 0..u64::from(written / 4) {
            writes.touch(word, 0b1111, false, true);
        }
        writes
    }

    /// Returns true if these words of a line are written.
    #[inline]
    pub(super) fn has(&self, line: u64, words: u32) -> bool {
        self.words.get(line as usize).is_some_and(|written| words & !written == 0)
    }

    /// Records writes of words of a line.
    #[inline]
    pub(super) fn set(&mut self, line: u64, words: u32) {
        if let Some(written) = self.words.get_mut(line as usize) {
            *written |= words;
        }
    }

    /// Returns true if the whole words at these addresses are written.
    #[inline]
    pub(super) fn has_all(&self, lanes: LaneMask, addresses: &[u64; MAX_LANES]) -> bool {
        lanes.lanes().all(|lane| {
            let address = addresses[lane as usize % MAX_LANES];
            address.is_multiple_of(4) && self.has(address / LINE_BYTES, 1 << (address / 4 % 32))
        })
    }

    /// Records an access to `bytes` of a word. Returns the first byte read unset.
    #[inline]
    pub(super) fn touch(&mut self, word: u64, bytes: u8, reads: bool, writes: bool) -> Option<u32> {
        let some = self.bytes.get_mut(word as usize)?;
        let words = self.words.get_mut(word as usize / LINE)?;
        let bit = 1 << (word as usize % LINE);
        let written = if *words & bit == 0 { *some } else { 0b1111 };
        let unset = if reads { bytes & !written } else { 0 };
        if writes {
            *some = written | bytes;
            *words |= if *some == 0b1111 { bit } else { 0 };
        }
        (unset != 0).then(|| unset.trailing_zeros())
    }
}
