//! Passes over the banks of shared memory and of L1.

use super::distinct::{Distinct, Repeats, of_close};
use crate::base::{LaneMask, MAX_LANES};
use crate::exec::{AccessKind, MemoryAccess};
use crate::isa::Space;
use crate::machine::atomics::Weight;

/// Maximum number of banks.
const BANKS: u32 = 64;

/// Passes over the banks that an access takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::machine) struct Passes {
    /// All of them.
    pub all: u32,
    /// Those without bank conflicts: one for each group of lanes that is served at once.
    pub ideal: u32,
    /// Groups that a load visits, with lanes or without.
    pub visited: u32,
}

impl Passes {
    /// Returns the cycles in which the banks serve the access.
    pub(super) fn cycles(self) -> u32 {
        self.all.max(self.visited).max(1)
    }
}

/// Returns the passes that the banks need.
///
/// For each group of lanes that is served at once, that is the largest number of distinct words in
/// one bank. An H200 serves a warp at once at up to 4 bytes per lane, half of one at 8 and a
/// quarter at 16, and loads from shared memory of twice as many lanes if neighbours (or lanes two
/// apart) have equal addresses. A load takes time for groups without lanes, too.
pub(in crate::machine) fn passes(
    access: MemoryAccess,
    addresses: &[u64; MAX_LANES],
    banks: u32,
) -> Passes {
    let words_per_lane = u32::from(access.bytes).div_ceil(4).max(1);
    if access.row && words_per_lane.is_power_of_two() && banks >= MAX_LANES as u32 {
        let words = words_per_lane; // groups of adjacent words
        return Passes { all: words, ideal: words, visited: words };
    }
    let paired = |apart: u32| {
        let partner = |lane: u32| addresses[(lane ^ apart) as usize % MAX_LANES];
        let equal = |lane: u32| addresses[lane as usize % MAX_LANES] == partner(lane);
        access.lanes.lanes().all(|lane| !access.lanes.contains(lane ^ apart) || equal(lane))
    };
    let reads = access.kind == AccessKind::Read;
    let group = match words_per_lane {
        1 => {
            let all = passes_of(access.lanes, 1, addresses, banks);
            return Passes { all, ideal: 1, visited: 1 };
        }
        words if reads && access.space == Space::Shared && (paired(1) || paired(2)) => 64 / words,
        words => 32 / words,
    };
    let visited = if reads { 32 / group.max(1) } else { 0 };
    let mut passes = Passes { visited, ..Passes::default() };
    for first in (0..32).step_by(group.max(1) as usize) {
        let lanes = access.lanes & LaneMask(LaneMask::first_n(group).0 << first);
        if !lanes.is_empty() {
            passes.all += passes_of(lanes, words_per_lane, addresses, banks);
            passes.ideal += 1;
        }
    }
    passes
}

/// Returns the passes of an atomic access.
///
/// An H200 serves the lanes on one bank one after another, whether they are on one word or not. A
/// compare-and-swap passes twice for each lane, of which one pass is a bank conflict; one that
/// serves a lane of each bank passes twice. Lanes that are counted pass together if they are on one
/// word. Measured: `tests/observations/h200/atoms`.
pub(in crate::machine) fn atomic_passes(
    access: MemoryAccess,
    addresses: &[u64; MAX_LANES],
    banks: u32,
    weight: Weight,
) -> Passes {
    if weight == Weight::Count {
        return passes(access, addresses, banks);
    }
    let width = u64::from(access.bytes).div_ceil(4).max(1);
    let group = (32 / width).max(1) as usize;
    let places = (u64::from(banks) / width).max(1);
    let (mut turns, mut groups) = (0, 0);
    for first in (0..MAX_LANES).step_by(group) {
        let lanes = access.lanes & LaneMask(LaneMask::first_n(group as u32).0 << first);
        if lanes.is_empty() {
            continue;
        }
        let mut on_bank = [0_u8; BANKS as usize];
        for lane in lanes.lanes() {
            let place = addresses[lane as usize % MAX_LANES] / (4 * width) % places;
            on_bank[place as usize % BANKS as usize] += 1;
        }
        turns += u32::from(on_bank.iter().fold(0, |most, &lanes| lanes.max(most)));
        groups += 1;
    }
    match weight {
        Weight::Compare => Passes { all: 2 * turns, ideal: turns + groups, visited: 0 },
        Weight::Cast => Passes { all: 2 * groups, ideal: 2 * groups, visited: 0 },
        _ => Passes { all: turns, ideal: groups, visited: 0 },
    }
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
