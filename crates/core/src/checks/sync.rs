//! Barriers and masks: who meets whom, and what of it goes wrong.
//!
//! Of a block barrier: branches keep lanes of a warp away though the instruction promises that they come together (`bar.sync`,
//! `.aligned`; see `parting`); threads meet from different instructions, or name different counts, or a count that the block cannot reach; threads of the
//! block have ended before. Warp-specialised kernels meet at counted barriers and with `bar.arrive` from different places on purpose:
//! that is no finding.

use super::clocks::Meeting;
use super::finding::{Finding, Kind};
use super::parting::Came;
use crate::base::{LaneMask, Pc};

/// One of a block's barriers, in its present phase.
#[derive(Clone, Debug, Default)]
pub(super) struct Phase {
    /// The lanes that wait, by warp slot.
    pub waiting: Vec<(usize, LaneMask)>,
    /// What those that went on have told.
    pub told: Option<Meeting>,
    /// Arrivals to which a branch may keep lanes from coming.
    pub came: Vec<Came<Finding>>,
    /// The first arrival.
    first: Option<(Arrival, usize, LaneMask)>,
}

/// An arrival, as far as others must agree with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Arrival {
    pub pc: Pc,
    pub count: Option<u32>,
    /// It waits.
    pub sync: bool,
    /// The lanes of a warp promise to come together.
    pub aligned: bool,
}

/// What is wrong with an arrival, and the other place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Misuse {
    pub kind: Kind,
    /// The first arrival of the phase: its step, warp slot and lanes.
    pub other: Option<(Pc, usize, LaneMask)>,
    pub detail: String,
}

impl Phase {
    /// Lanes of a warp arrive; `threads` are in the block, in warps of `warp_size` lanes.
    pub(super) fn arrive(
        &mut self,
        arrival: Arrival,
        slot: usize,
        lanes: LaneMask,
        (threads, warp_size): (u32, u32),
    ) -> Option<Misuse> {
        let &mut (first, whose, with) = self.first.get_or_insert((arrival, slot, lanes));
        let other = Some((first.pc, whose, with));
        let full = |count: Option<u32>| count.map_or("all threads".to_owned(), |n| format!("{n} threads"));
        if arrival.count != first.count {
            let detail = format!("{} here, {} there", full(arrival.count), full(first.count));
            return Some(Misuse { kind: Kind::BarrierCount, other, detail });
        }
        if let Some(count) = arrival.count
            && count > threads.next_multiple_of(warp_size.max(1))
        {
            let detail = format!("{count} threads, and the block has {threads}");
            return Some(Misuse { kind: Kind::BarrierCount, other: None, detail });
        }
        let aligned = arrival.aligned && first.aligned;
        let whole = aligned && arrival.count.is_none() && arrival.sync && first.sync;
        (whole && arrival.pc != first.pc).then(|| Misuse { kind: Kind::BarrierMixed, other, detail: String::new() })
    }

    /// The barrier opens: what it had gathered, ready for the next phase.
    pub(super) fn open(&mut self) -> Phase {
        std::mem::take(self)
    }
}

/// What is wrong with the mask of a `.sync` instruction that `lanes` execute: lanes that it names and that are elsewhere, lanes
/// that it names and that have ended. `started`: the lanes that the warp began with.
pub(super) fn mask(
    members: LaneMask,
    lanes: LaneMask,
    live: LaneMask,
    started: LaneMask,
    may_wait: bool,
) -> Option<(Kind, LaneMask)> {
    let absent = (members & live) - lanes;
    let ended = members & (started - live);
    match (absent.is_empty() || may_wait, ended.is_empty()) {
        (false, _) => Some((Kind::MaskAbsent, absent)),
        (true, false) => Some((Kind::MaskEnded, ended)),
        (true, true) => None,
    }
}
