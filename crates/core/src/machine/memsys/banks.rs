//! Passes over the banks of shared memory.

use super::distinct::{Distinct, Repeats, of_close};
use crate::base::{LaneMask, MAX_LANES};
use crate::exec::{AccessKind, MemoryAccess};

/// Maximum number of banks.
const BANKS: u32 = 64;

/// Passes over the banks that an access takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::machine) struct Passes {
    /// All of them.
    pub all: u32,
    /// Those without bank conflicts: one for each group of lanes that is served at once.
    pub ideal: u32,
}

/// Returns the passes that the banks need.
///
/// For each group of lanes that is served at once, that is the largest number of distinct words in
/// one bank. An H200 serves a warp at once at up to 4 bytes per lane, half of one at 8 and a
/// quarter at 16, and loads of twice as many lanes if neighbours (or lanes two apart) have equal
/// addresses.
pub(in crate::machine) fn passes(
    access: MemoryAccess,
    addresses: &[u64; MAX_LANES],
    banks: u32,
) -> Passes {
    let words_per_lane = u32::from(access.bytes).div_ceil(4).max(1);
    if access.row && words_per_lane.is_power_of_two() && banks >= MAX_LANES as u32 {
        return Passes { all: words_per_lane, ideal: words_per_lane }; // groups of adjacent words
    }
    let paired = |apart: u32| {
        let partner = |lane: u32| addresses[(lane ^ apart) as usize % MAX_LANES];
        let equal = |lane: u32| addresses[lane as usize % MAX_LANES] == partner(lane);
        access.lanes.lanes().all(|lane| !access.lanes.contains(lane ^ apart) || equal(lane))
    };
    let group = match words_per_lane {
        1 => return Passes { all: passes_of(access.lanes, 1, addresses, banks), ideal: 1 },
        words if access.kind == AccessKind::Read && (paired(1) || paired(2)) => 64 / words,
        words => 32 / words,
    };
    let mut passes = Passes::default();
    for first in (0..32).step_by(group.max(1) as usize) {
        let lanes = access.lanes & LaneMask(LaneMask::first_n(group).0 << first);
        if !lanes.is_empty() {
            passes.all += passes_of(lanes, words_per_lane, addresses, banks);
            passes.ideal += 1;
        }
    }
    passes
}

/// Returns the passes of an atomic access, and the most lanes that access one word, at least 1.
pub(super) fn atomic_passes(
    access: MemoryAccess,
    addresses: &[u64; MAX_LANES],
    banks: u32,
) -> (Passes, u32) {
    if access.bytes <= 4 && !access.row {
        let words = words_of(access.lanes, 1, addresses, banks);
        return (Passes { all: words.longest, ideal: 1 }, words.most.max(1));
    }
    (passes(access, addresses, banks), same_word_lanes(access, addresses))
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
