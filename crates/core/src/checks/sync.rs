//! Misuse of block barriers and of member masks.
//!
//! Findings at a block barrier: divergent code around an aligned barrier (`bar.sync`, `.aligned`;
//! see `parting`), arrivals from different instructions, different thread counts, a count above the
//! block's threads, exited threads. Warp-specialized kernels use counted barriers and `bar.arrive`
//! from different places on purpose; these are not reported.

use super::clocks::Meeting;
use super::finding::{Finding, Kind};
use super::parting::AlignedArrival;
use crate::base::{LaneMask, Pc};

/// Current phase of a block's barrier.
#[derive(Clone, Debug, Default)]
pub(super) struct Phase {
    /// Waiting lanes by warp slot.
    pub waiting: Vec<(usize, LaneMask)>,
    /// Clocks of the lanes that arrived without waiting.
    pub arrived: Option<Meeting>,
    /// Arrivals at a barrier that may lie in divergent code.
    pub arrivals: Vec<AlignedArrival<Finding>>,
    /// First arrival.
    first: Option<(Arrival, usize, LaneMask)>,
}

/// Properties of an arrival that other arrivals must match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Arrival {
    pub pc: Pc,
    pub count: Option<u32>,
    /// True if it waits.
    pub sync: bool,
    /// True if the lanes of a warp must arrive together.
    pub aligned: bool,
}

/// Misuse of a barrier, with the other place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Misuse {
    pub kind: Kind,
    /// First arrival of the phase: step, warp slot and lanes.
    pub other: Option<(Pc, usize, LaneMask)>,
    pub detail: String,
}

impl Phase {
    /// Records an arrival at a barrier of a block with `threads` threads.
    pub(super) fn arrive(
        &mut self,
        arrival: Arrival,
        slot: usize,
        lanes: LaneMask,
        (threads, warp_size): (u32, u32),
    ) -> Option<Misuse> {
        let &mut (first, whose, with) = self.first.get_or_insert((arrival, slot, lanes));
        let other = Some((first.pc, whose, with));
        let full =
            |count: Option<u32>| count.map_or("all threads".to_owned(), |n| format!("{n} threads"));
        if arrival.count != first.count {
            let detail = format!("{} here, {} there", full(arrival.count), full(first.count));
            return Some(Misuse { kind: Kind::BarrierCount, other, detail });
        }
        if let Some(count) = arrival.count
            && count > threads.next_multiple_of(warp_size.max(1))
        {
            let detail = format!("{count} threads, but the block has {threads}");
            return Some(Misuse { kind: Kind::BarrierCount, other: None, detail });
        }
        let aligned = arrival.aligned && first.aligned;
        let whole = aligned && arrival.count.is_none() && arrival.sync && first.sync;
        (whole && arrival.pc != first.pc).then(|| Misuse {
            kind: Kind::BarrierMixed,
            other,
            detail: String::new(),
        })
    }

    /// Opens the barrier: returns its phase and starts the next one.
    pub(super) fn open(&mut self) -> Phase {
        std::mem::take(self)
    }
}

/// Checks the member mask of a `.sync` instruction executed by `lanes`.
///
/// Returns the kind of mistake and the lanes that are outside, absent or have exited. `started`
/// holds the lanes that the warp began with.
pub(super) fn mask(
    members: LaneMask,
    lanes: LaneMask,
    live: LaneMask,
    started: LaneMask,
    may_wait: bool,
) -> Option<(Kind, LaneMask)> {
    let outside = lanes - members;
    if !outside.is_empty() {
        return Some((Kind::MaskWithoutSelf, outside));
    }
    let absent = (members & live) - lanes;
    let ended = members & (started - live);
    match (absent.is_empty() || may_wait, ended.is_empty()) {
        (false, _) => Some((Kind::MaskAbsent, absent)),
        (true, false) => Some((Kind::MaskEnded, ended)),
        (true, true) => None,
    }
}
