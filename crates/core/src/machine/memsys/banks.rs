//! Passes over the banks of shared memory.

use crate::base::{LaneMask, MAX_LANES};
use crate::exec::MemoryAccess;

/// Returns the passes that the banks need.
///
/// For each group of lanes that is served at once, that is the largest number of distinct words in
/// one bank. An H200 serves a warp at once at up to 4 bytes per lane, half of one at 8 and a quarter
/// at 16, and twice as many lanes if neighbours (or lanes two apart) have equal addresses.
pub(in crate::machine) fn wavefronts(
    access: MemoryAccess,
    addresses: &[u64; MAX_LANES],
    banks: u32,
) -> u32 {
    let words_per_lane = u32::from(access.bytes).div_ceil(4).max(1);
    let paired = |apart: u32| {
        let partner = |lane: u32| addresses[(lane ^ apart) as usize % MAX_LANES];
        let equal = |lane: u32| addresses[lane as usize % MAX_LANES] == partner(lane);
        access.lanes.lanes().all(|lane| !access.lanes.contains(lane ^ apart) || equal(lane))
    };
    let group = match words_per_lane {
        1 => return passes_of(access.lanes, 1, addresses, banks),
        words if paired(1) || paired(2) => 64 / words,
        words => 32 / words,
    };
    let mut passes = 0;
    for first in (0..32).step_by(group.max(1) as usize) {
        let lanes = access.lanes & LaneMask(LaneMask::first_n(group).0 << first);
        if !lanes.is_empty() {
            passes += passes_of(lanes, words_per_lane, addresses, banks);
        }
    }
    passes
}

/// Returns the passes of lanes that are served together.
fn passes_of(
    lanes: LaneMask,
    words_per_lane: u32,
    addresses: &[u64; MAX_LANES],
    banks: u32,
) -> u32 {
    let mut words = [0; 4 * MAX_LANES];
    let mut len = 0;
    let bank_of = |word: u64| {
        let banks = u64::from(banks);
        // A division takes longer than the rest of the loop.
        if banks.is_power_of_two() { word & (banks - 1) } else { word % banks }
    };
    // One bit per bank suffices while no two lanes conflict, which is the common case.
    let mut taken = 0_u64;
    let mut clash = false;
    let mut ascending = true;
    for lane in lanes.lanes() {
        for k in 0..u64::from(words_per_lane) {
            let word = addresses[lane as usize] / 4 + k;
            let bank = 1 << bank_of(word);
            let last = words[..len].last();
            if taken & bank != 0 {
                if last == Some(&word) {
                    continue;
                }
                clash = true;
            }
            ascending &= last.is_none_or(|last| *last < word);
            taken |= bank;
            words[len] = word;
            len += 1;
        }
    }
    if !clash {
        return u32::from(len > 0);
    }
    if !ascending {
        words[..len].sort_unstable();
    }
    let mut per_bank = [0_u32; 64];
    let mut last = None;
    for &word in &words[..len] {
        if last != Some(word) {
            per_bank[bank_of(word) as usize] += 1;
        }
        last = Some(word);
    }
    per_bank.into_iter().max().unwrap_or(1)
}

/// Returns the passes of the same bytes without conflicts.
pub(in crate::machine) fn ideal_wavefronts(access: MemoryAccess, banks: u32) -> u32 {
    let words = access.lanes.count() * u32::from(access.bytes).div_ceil(4).max(1);
    words.div_ceil(banks.max(1)).max(1)
}
