//! Passes over the banks of shared memory.

use super::distinct::{Distinct, Repeats, of_close};
use crate::base::{LaneMask, MAX_LANES};
use crate::exec::MemoryAccess;

/// Maximum number of banks.
const BANKS: u32 = 64;

/// Returns the passes that the banks need.
///
/// For each group of lanes that is served at once, that is the largest number of distinct words in
/// one bank. An H200 serves a warp at once at up to 4 bytes per lane, half of one at 8 and a
/// quarter at 16, and twice as many lanes if neighbours (or lanes two apart) have equal addresses.
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

/// Returns the passes of an atomic access, and the most lanes that access one word, at least 1.
pub(super) fn atomic_wavefronts(
    access: MemoryAccess,
    addresses: &[u64; MAX_LANES],
    banks: u32,
) -> (u32, u32) {
    if access.bytes <= 4 && !access.row {
        let words = words_of(access.lanes, 1, addresses, banks);
        return (words.longest, words.most.max(1));
    }
    (wavefronts(access, addresses, banks), same_word_lanes(access, addresses))
}

/// Returns the most lanes that access the same word, at least 1.
pub(super) fn same_word_lanes(access: MemoryAccess, addresses: &[u64; MAX_LANES]) -> u32 {
    words_of(access.lanes, 1, addresses, BANKS).most.max(1)
}

/// Returns the passes of lanes that are served together.
fn passes_of(
    lanes: LaneMask,
    words_per_lane: u32,
    addresses: &[u64; MAX_LANES],
    banks: u32,
) -> u32 {
    words_of(lanes, words_per_lane, addresses, banks).longest
}

/// Returns the repeats of the words of lanes, by bank; at most 64 words are served together.
fn words_of(
    lanes: LaneMask,
    words_per_lane: u32,
    addresses: &[u64; MAX_LANES],
    banks: u32,
) -> Repeats {
    let banks = u64::from(banks); // a power of two
    let first = |lane: usize| addresses[lane % MAX_LANES] / 4;
    if words_per_lane == 1 {
        let close = if lanes == LaneMask::FULL {
            of_close((0..MAX_LANES).map(first), banks)
        } else {
            of_close(lanes.lanes().map(|lane| first(lane as usize)), banks)
        };
        if let Some(repeats) = close {
            return repeats;
        }
    }
    let mut words = Distinct::new();
    for lane in lanes.lanes() {
        let first = first(lane as usize);
        for word in first..first + u64::from(words_per_lane) {
            words.add(word & (banks - 1), word);
        }
    }
    words.repeats()
}

/// Returns the passes of the same bytes without conflicts.
pub(in crate::machine) fn ideal_wavefronts(access: MemoryAccess, banks: u32) -> u32 {
    let words = access.lanes.count() * u32::from(access.bytes).div_ceil(4).max(1);
    words.div_ceil(banks.max(1)).max(1)
}
