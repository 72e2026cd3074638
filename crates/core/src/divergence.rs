//! Warp divergence: the reconvergence stack (`stack`) and independent thread scheduling
//! (`independent`).
//!
//! Both implement one small interface, [`WarpControl`]; no other module depends on the mode. This
//! module handles PCs and lane masks only, no instructions and no cycles.
//!
//! A driver repeats these steps: [`WarpControl::active`] returns a PC and the active mask; the
//! driver executes that step for these lanes and passes the outcome as a [`Flow`] to
//! [`WarpControl::advance`]. [`WarpControl::release_barrier`] or other lanes of the warp unblock
//! blocked lanes.
//!
//! The state is a finite value without counters (`Eq`, `Hash`). A warp that repeats a state with
//! unchanged registers and memory therefore never leaves that cycle; livelock proofs rely on this.

mod control;
mod elected;
mod independent;
mod order;
mod stack;

pub use control::WarpControl;
pub use elected::Elected;
pub use independent::Independent;
pub use order::NoSideOrder;
pub use stack::{Stack, StackEntry};

use crate::base::{JoinId, LaneMask, Pc};

/// Effect of an issued step on control flow. `next` is the step's fall-through PC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// All active lanes continue at `next`.
    Next {
        /// Next step.
        next: Pc,
    },
    /// Lanes in `taken`, any subset of the active ones, branch to `target`.
    Branch {
        /// Lanes that take the branch.
        taken: LaneMask,
        /// Target of the branch.
        target: Pc,
        /// PC of the lanes that fall through.
        next: Pc,
        /// Reconvergence PC (stack mode).
        reconverge: Option<Pc>,
    },
    /// Active lanes become the participants of a join and continue (BSSY).
    Set {
        /// Register of the join.
        join: JoinId,
        /// Next step.
        next: Pc,
    },
    /// Active lanes wait at a join for its other participants (BSYNC).
    Sync {
        /// Register of the join.
        join: JoinId,
        /// Next step, after the join opens.
        next: Pc,
    },
    /// Active lanes leave a join and continue (BREAK).
    Break {
        /// Register of the join.
        join: JoinId,
        /// Next step.
        next: Pc,
    },
    /// Active lanes yield to the other groups of the warp (YIELD, NANOSLEEP).
    Yield {
        /// Next step.
        next: Pc,
    },
    /// Active lanes wait at block barrier `id` for [`WarpControl::release_barrier`].
    Barrier {
        /// Barrier number.
        id: u8,
        /// Next step.
        next: Pc,
    },
    /// Active lanes wait at their **current PC** for all live lanes of `members`.
    ///
    /// As before `shfl.sync`; machine code has [`WarpControl::gather`] instead. The other active
    /// lanes stay active. Only issued where [`WarpControl::gathered`] is false.
    Await {
        /// Lanes that wait, a subset of the active ones.
        lanes: LaneMask,
        /// Member mask of the waiting lanes.
        members: LaneMask,
    },
    /// Lanes in `lanes`, a subset of the active ones, exit; the others continue.
    Exit {
        /// Lanes that exit.
        lanes: LaneMask,
        /// Next step of the remaining lanes.
        next: Pc,
    },
}

/// Lanes with a common target of a call, a return or a branch through a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Side {
    /// Target PC.
    pub pc: Pc,
    /// Lanes with this target; never empty.
    pub lanes: LaneMask,
}

/// Returns the lanes that go first where lanes of several sets execute one branch through a
/// register or one WARPSYNC: those of the lowest lane, or of the lowest other lane if the others
/// are fewer, as on an H200.
pub(crate) fn first_set(lanes: LaneMask, set_of: impl Fn(u32) -> LaneMask) -> LaneMask {
    let Some(lowest) = lanes.lowest() else { return LaneMask::EMPTY };
    let set = set_of(lowest);
    let others = lanes - set;
    match others.lowest() {
        Some(lane) if others.count() < set.count() => set_of(lane),
        _ => set,
    }
}

/// Returns the lanes of which [`Side`] go first, as [`first_set`].
pub(crate) fn first_side(lanes: LaneMask, sides: &[Side]) -> LaneMask {
    let side_of = |lane| sides.iter().find(|side| side.lanes.contains(lane));
    first_set(lanes, |lane| side_of(lane).map_or(LaneMask::EMPTY, |side| side.lanes))
}

/// Order in which the sides of a divergent branch run.
///
/// With several sides (a branch through a table, an indirect call), the first and last in the table
/// count as the taken and the fall-through side; orders by lane count compare pairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SideOrder {
    /// Taken side first.
    Taken,
    /// Fall-through side first.
    FallThrough,
    /// Side with fewer lanes first; fall-through on a tie (measured on an H200).
    Fewer,
    /// Side with more lanes first; on a tie the fall-through side.
    More,
    /// Pseudo-random order with a seed.
    ///
    /// The choice depends only on the seed, the branch and the two sides, so runs with one seed are
    /// identical and equal situations are decided alike (see `order`).
    Random(u64),
}

/// State of a lane group.
///
/// A group is a set of lanes that share a PC and issue together. The groups of a warp partition its
/// live lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum GroupState {
    /// Issues. At most one group of a warp runs, until it blocks, yields or exits.
    Running,
    /// Ready, while another group of the warp runs. Entered as the later side of a branch or on
    /// release from a wait; the youngest ready group is picked first.
    Ready,
    /// Yielded ([`Flow::Yield`]). Picked when no group is ready, the oldest first. Counts as
    /// arrived at every join. (Machine code has other rules for both: [`Elected`].)
    Yielded,
    /// Waits at a join for the other participants ([`Flow::Sync`]).
    AtJoin(JoinId),
    /// Stack only: waits at the reconvergence PC for the lanes higher in the stack.
    AtReconvergence,
    /// Waits at a block barrier ([`Flow::Barrier`]).
    AtBarrier(u8),
    /// Waits for the other live lanes of this member mask ([`Flow::Await`], or a WARPSYNC of
    /// machine code).
    Gathering(LaneMask),
    /// Machine code only: waits for all other live lanes at the same PC (WARPSYNC.ALL).
    Aligning,
}

/// Lane group, for reports and hang verdicts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Group {
    /// Next step of its lanes.
    pub pc: Pc,
    /// Lanes of the group; never empty.
    pub lanes: LaneMask,
    /// State of the group.
    pub state: GroupState,
}

/// Returns the blocked lanes that gather for lanes which wait at joins.
fn gathering_for_joins(blocked: &[Group], live: LaneMask) -> LaneMask {
    let union = |chosen: &dyn Fn(GroupState) -> bool| {
        let groups = blocked.iter().filter(|group| chosen(group.state));
        groups.fold(LaneMask::EMPTY, |all, group| all | group.lanes)
    };
    let joined = union(&|state| matches!(state, GroupState::AtJoin(_)));
    if joined.is_empty() {
        return LaneMask::EMPTY;
    }
    let waits = |group: &&Group| match group.state {
        GroupState::Gathering(members) => {
            let here = union(&|state| state == GroupState::Gathering(members));
            ((members & live) - here).intersects(joined)
        }
        _ => false,
    };
    blocked.iter().filter(waits).fold(LaneMask::EMPTY, |all, group| all | group.lanes)
}

/// Join in use, for reports and hang verdicts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Join {
    /// Register of the join.
    pub id: JoinId,
    /// Participants.
    pub participants: LaneMask,
    /// Participants that wait at the join.
    pub arrived: LaneMask,
}
