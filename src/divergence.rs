//! Which lanes of a warp run next: the reconvergence stack (`stack`) and independent thread scheduling (`independent`).
//!
//! Both answer to the same small interface, [`WarpControl`]; nobody else knows the mode. This module knows PCs and lane
//! masks only: no instruction, no cycle.

use crate::base::{JoinId, LaneMask, Pc};

/// What the instruction just issued does to control flow. `next` is always the step's fall-through PC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// All active lanes go on to `next`.
    Next {
        /// The next step.
        next: Pc,
    },
    /// Lanes in `taken` (a subset of the active ones, perhaps empty or all) go to `target`, the others to `next`.
    Branch {
        /// The lanes that branch.
        taken: LaneMask,
        /// Where they go.
        target: Pc,
        /// Where the others go.
        next: Pc,
        /// Where the sides meet (stack mode).
        reconverge: Option<Pc>,
    },
    /// The active lanes become the participants of a join and go on (BSSY).
    Set {
        /// The join's register.
        join: JoinId,
        /// The next step.
        next: Pc,
    },
    /// The active lanes wait at a join for its other participants, then go on to `next` together (BSYNC).
    Sync {
        /// The join's register.
        join: JoinId,
        /// The next step.
        next: Pc,
    },
    /// The active lanes let the other groups of the warp go first (YIELD, NANOSLEEP).
    Yield {
        /// The next step.
        next: Pc,
    },
    /// The active lanes wait at block barrier `id` until [`WarpControl::release_barrier`].
    Barrier {
        /// The barrier's number.
        id: u8,
        /// The next step.
        next: Pc,
    },
    /// The active lanes wait, **at their present PC**, for all live lanes of `members` to wait likewise
    /// (WARPSYNC in front of `shfl.sync` and its kin). Only issued where [`WarpControl::gathered`] is false.
    Await {
        /// The lanes named.
        members: LaneMask,
    },
    /// Lanes in `lanes` (a subset of the active ones) end; the others go on to `next`.
    Exit {
        /// The lanes that end.
        lanes: LaneMask,
        /// The next step of the others.
        next: Pc,
    },
}

/// Which side of a divergent branch runs first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SideOrder {
    /// The side that branches.
    Taken,
    /// The side that falls through.
    FallThrough,
    /// The side with fewer lanes; on a tie the fall-through side (measured on an H200).
    Fewer,
    /// The side with more lanes; on a tie the fall-through side.
    More,
    /// Pseudo-random, from this seed: every run with the same seed is the same.
    Random(u64),
}

/// The control state of one warp.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct WarpControl {}

impl WarpControl {
    /// A warp whose `lanes` start at `entry` under the reconvergence stack.
    pub fn stack(lanes: LaneMask, entry: Pc, order: SideOrder) -> WarpControl {
        let _ = (lanes, entry, order);
        WarpControl {}
    }

    /// A warp whose `lanes` start at `entry` under independent thread scheduling.
    pub fn independent(lanes: LaneMask, entry: Pc, order: SideOrder) -> WarpControl {
        let _ = (lanes, entry, order);
        WarpControl {}
    }

    /// What the warp issues next: a PC and the active mask. `None` when every live lane is blocked, or none lives.
    pub fn active(&self) -> Option<(Pc, LaneMask)> {
        None
    }

    /// Applies what the issued step did to control flow.
    pub fn advance(&mut self, flow: Flow) {
        let _ = flow;
    }

    /// The lanes that have not exited.
    pub fn live(&self) -> LaneMask {
        LaneMask::EMPTY
    }

    /// The lanes that count as arrived when the active ones execute a block barrier: they alone (independent), or
    /// every live lane of the warp (stack: "as if all the threads in the warp have executed").
    pub fn arriving(&self) -> LaneMask {
        LaneMask::EMPTY
    }

    /// Lets every lane that waits at block barrier `id` go on.
    pub fn release_barrier(&mut self, id: u8) {
        let _ = id;
    }

    /// Whether a `.sync` instruction that names `members` may execute now: always under the stack; under independent
    /// scheduling when all live lanes of `members` are active, or have been gathered by [`Flow::Await`].
    pub fn gathered(&self, members: LaneMask) -> bool {
        let _ = members;
        true
    }
}
