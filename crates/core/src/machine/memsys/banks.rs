//! Passes over the banks of shared memory.

use super::distinct::Distinct;
use crate::base::{LaneMask, MAX_LANES};
use crate::exec::MemoryAccess;

/// Maximum number of banks.
const BANKS: usize = 64;

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
    if access.row && words_per_lane.is_power_of_two() && banks >= MAX_LANES as u32 {
        return words_per_lane; // each group has adjacent words
    }
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
    let bank_of = |word: u64| (word & u64::from(banks - 1)) as usize % BANKS; // a power of two
    let words = lanes.lanes().flat_map(|lane| {
        let first = addresses[lane as usize % MAX_LANES] / 4;
        first..first + u64::from(words_per_lane)
    });
    // One word per bank suffices while no two words conflict, which is the common case.
    let (mut taken, mut held) = (0_u64, [0; BANKS]);
    let conflict = words.clone().any(|word| {
        let bank = bank_of(word);
        let free = taken >> bank & 1 == 0;
        if free {
            taken |= 1 << bank;
            held[bank] = word;
        }
        !free && held[bank] != word
    });
    if !conflict {
        return u32::from(taken != 0);
    }
    let (mut distinct, mut per_bank) = (Distinct::<{ 4 * MAX_LANES }>::new(), [0_u32; BANKS]);
    for word in words {
        per_bank[bank_of(word)] += u32::from(distinct.add(word) == 1);
    }
    per_bank.into_iter().max().unwrap_or(1)
}

/// Returns the passes of the same bytes without conflicts.
pub(in crate::machine) fn ideal_wavefronts(access: MemoryAccess, banks: u32) -> u32 {
    let words = access.lanes.count() * u32::from(access.bytes).div_ceil(4).max(1);
    words.div_ceil(banks.max(1)).max(1)
}
