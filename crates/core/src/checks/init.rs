//! Reads of what nothing has written: registers of the kernel that some path reads too early, shared memory, local arrays.
//!
//! A register counts as read when an instruction names it, whatever becomes of the value. Device functions' registers and frames are not
//! watched: a call clears them here.

use super::steps::Use;
use crate::base::{LaneMask, MAX_LANES};

/// Local memory of a thread that is watched, in bytes.
const MOST_LOCAL: u32 = 1 << 16;

/// What a warp has written of its own.
#[derive(Clone, Debug, Default)]
pub(super) struct Own {
    /// By watched register: the lanes that have written it.
    registers: Vec<LaneMask>,
    /// By byte of local memory: the lanes that have written it.
    local: Vec<LaneMask>,
}

impl Own {
    /// Nothing written yet, of so many watched registers and bytes.
    pub(super) fn new(registers: usize, local_bytes: u32) -> Own {
        let local = if local_bytes > MOST_LOCAL { 0 } else { local_bytes as usize };
        Own { registers: vec![LaneMask::EMPTY; registers], local: vec![LaneMask::EMPTY; local] }
    }

    /// A step with these uses is issued; the watched register that lanes read unset, and the lanes.
    pub(super) fn issue(&mut self, uses: &[Use], active: LaneMask, lanes: LaneMask) -> Option<(usize, LaneMask)> {
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

    /// Lanes access local memory; a byte that one of them reads unset, and the lane.
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

/// What of a block's shared memory has been written: a bit a byte, four a word.
#[derive(Clone, Debug, Default)]
pub(super) struct SharedWrites(Vec<u8>);

impl SharedWrites {
    pub(super) fn new(bytes: u32) -> SharedWrites {
        SharedWrites(vec![0; bytes.div_ceil(4) as usize])
    }

    /// `bytes` of a word are accessed; the first byte that is read unset.
    #[inline]
    pub(super) fn touch(&mut self, word: usize, bytes: u8, reads: bool, writes: bool) -> Option<u32> {
        let written = self.0.get_mut(word)?;
        let unset = if reads { bytes & !*written } else { 0 };
        if writes {
            *written |= bytes;
        }
        (unset != 0).then(|| unset.trailing_zeros())
    }
}
