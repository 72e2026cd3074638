//! Which lanes of a warp run next: the reconvergence stack (`stack`) and independent thread scheduling (`independent`).
//!
//! Both answer to the same small interface, [`WarpControl`]; nobody else knows the mode. This module knows PCs and lane
//! masks only: no instruction, no cycle.
//!
//! The driver's loop: [`WarpControl::active`] names a PC and the active mask; the driver executes that step for these
//! lanes and tells the outcome as a [`Flow`] to [`WarpControl::advance`]. Blocked lanes come back by
//! [`WarpControl::release_barrier`], or by what other lanes of the warp do.
//!
//! The whole state is a finite value without counters (`Eq`, `Hash`): when the machine finds a warp in a state that it
//! has been in before, with registers and memory unchanged, it will never leave that cycle. Livelock proofs rest on this.

mod independent;
mod order;
mod stack;

pub use independent::Independent;
pub use order::NoSideOrder;
pub use stack::{Stack, StackEntry};

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
    /// The active lanes are participants of a join no longer, and go on (BREAK).
    Break {
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
    /// Active lanes wait, **at their present PC**, for all live lanes of `members` to wait likewise
    /// (WARPSYNC in front of `shfl.sync` and its kin); the other active lanes stay active. Only
    /// issued where [`WarpControl::gathered`] is false.
    Await {
        /// The lanes that wait; a subset of the active ones.
        lanes: LaneMask,
        /// The lanes they name.
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

/// Lanes that go one way where there may be several: a call, a return, a branch through a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Side {
    /// Where they go.
    pub pc: Pc,
    /// Who; never empty.
    pub lanes: LaneMask,
}

/// Which side of a divergent branch runs first. Of several sides (a branch through a table, an indirect call) the first and
/// the last in the table stand for the taken and the fall-through side; numbers of lanes decide as between two.
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
    /// Pseudo-random, from this seed: every run with the same seed is the same. The choice depends on the seed, the
    /// branch and the two sides only, so the same situation is always decided alike (see `order`).
    Random(u64),
}

/// What a group of lanes is doing.
///
/// A group is a set of lanes that share a PC and are issued together. The groups of a warp partition its live lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum GroupState {
    /// Issues. At most one group of a warp runs. Entered by being picked; left by blocking, yielding or exiting.
    Running,
    /// Could run, but another group of the warp has the issue slot. Entered by being the later side of a branch, or by
    /// being released from a wait; left by being picked, the youngest first.
    Ready,
    /// Could run, but gave way to the others ([`Flow::Yield`]); counts as arrived at every join. Left by being picked
    /// when no group is ready, the oldest first.
    Yielded,
    /// Waits at a join for the other participants ([`Flow::Sync`]); left when the join opens.
    AtJoin(JoinId),
    /// Stack only: waits at the reconvergence PC for the lanes higher in the stack; left when those have all come or
    /// exited.
    AtReconvergence,
    /// Waits at a block barrier ([`Flow::Barrier`]); left by [`WarpControl::release_barrier`].
    AtBarrier(u8),
    /// Waits for the other live lanes of this set ([`Flow::Await`]); left when they all wait for the same set.
    Gathering(LaneMask),
}

/// A group of lanes, for reports and hang verdicts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Group {
    /// The next step of its lanes.
    pub pc: Pc,
    /// Its lanes; never empty.
    pub lanes: LaneMask,
    /// What it is doing.
    pub state: GroupState,
}

/// A join in use, for reports and hang verdicts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Join {
    /// The register.
    pub id: JoinId,
    /// The lanes it gathers.
    pub participants: LaneMask,
    /// Those that wait at it.
    pub arrived: LaneMask,
}

/// The control state of one warp.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum WarpControl {
    /// Before Volta: one stack of lane masks a warp.
    Stack(Stack),
    /// Volta on: groups of lanes and convergence barriers.
    Independent(Independent),
}

impl WarpControl {
    /// A warp whose `lanes` start at `entry` under the reconvergence stack.
    pub fn stack(lanes: LaneMask, entry: Pc, order: SideOrder) -> WarpControl {
        WarpControl::Stack(Stack::new(lanes, entry, order))
    }

    /// A warp whose `lanes` start at `entry` under independent thread scheduling.
    pub fn independent(lanes: LaneMask, entry: Pc, order: SideOrder) -> WarpControl {
        WarpControl::Independent(Independent::new(lanes, entry, order))
    }

    /// What the warp issues next: a PC and the active mask. `None` when every live lane is blocked, or none lives.
    #[inline]
    pub fn active(&self) -> Option<(Pc, LaneMask)> {
        match self {
            WarpControl::Stack(s) => s.active(),
            WarpControl::Independent(i) => i.active(),
        }
    }

    /// Applies what the issued step did to control flow. Without effect while [`active`](Self::active) is `None`.
    #[inline]
    pub fn advance(&mut self, flow: Flow) {
        match self {
            WarpControl::Stack(s) => s.advance(flow),
            WarpControl::Independent(i) => i.advance(flow),
        }
    }

    /// The active lanes go apart: each of `sides` (disjoint, all active lanes, in the order of the table) to its target.
    /// They meet at `reconverge` (stack mode).
    pub fn split(&mut self, sides: &[Side], reconverge: Option<Pc>) {
        match self {
            WarpControl::Stack(s) => s.split(sides, reconverge),
            WarpControl::Independent(i) => i.split(sides),
        }
    }

    /// The lanes of `sides` (disjoint, active) call the functions that start there, and go on to `next` when these have
    /// returned. The other active lanes go to `next`; under the stack they wait there for those that call.
    pub fn call(&mut self, sides: &[Side], next: Pc) {
        match self {
            WarpControl::Stack(s) => s.call(sides, next),
            WarpControl::Independent(i) => i.call(sides, next),
        }
    }

    /// The active lanes return from their functions; `sides` says to where (all active lanes, disjoint).
    pub fn ret(&mut self, sides: &[Side]) {
        match self {
            WarpControl::Stack(s) => s.ret(),
            WarpControl::Independent(i) => i.ret(sides),
        }
    }

    /// As [`advance`](Self::advance) by [`Flow::Next`], which is what most steps do.
    #[inline]
    pub fn go(&mut self, next: Pc) {
        match self {
            WarpControl::Stack(s) => s.go(next),
            WarpControl::Independent(i) => i.go(next),
        }
    }

    /// Becomes `fresh`, the control of a warp that has not issued yet. Keeps the memory it has.
    pub fn restart(&mut self, fresh: WarpControl) {
        match (self, fresh) {
            (WarpControl::Stack(s), WarpControl::Stack(fresh)) => s.restart(fresh),
            (WarpControl::Independent(i), WarpControl::Independent(fresh)) => i.restart(fresh),
            (old, fresh) => *old = fresh,
        }
    }

    /// The lanes that have not exited.
    #[inline]
    pub fn live(&self) -> LaneMask {
        match self {
            WarpControl::Stack(s) => s.live(),
            WarpControl::Independent(i) => i.live(),
        }
    }

    /// The lanes that count as arrived when the active ones execute a block barrier: they alone (independent), or
    /// every live lane of the warp (stack: "as if all the threads in the warp have executed").
    pub fn arriving(&self) -> LaneMask {
        match self {
            WarpControl::Stack(s) => s.live(),
            WarpControl::Independent(i) => i.active().map_or(LaneMask::EMPTY, |(_, lanes)| lanes),
        }
    }

    /// Lets every lane that waits at block barrier `id` go on.
    pub fn release_barrier(&mut self, id: u8) {
        match self {
            WarpControl::Stack(s) => s.release_barrier(id),
            WarpControl::Independent(i) => i.release_barrier(id),
        }
    }

    /// The members of a gathered `.sync` instruction that take part from another PC: live, but not active. None under
    /// the stack, where absent lanes take no part.
    pub fn elsewhere(&self, members: LaneMask) -> LaneMask {
        match self {
            WarpControl::Stack(_) => LaneMask::EMPTY,
            WarpControl::Independent(i) => i.elsewhere(members),
        }
    }

    /// Whether the active lanes that name `members` at a `.sync` instruction may execute it now.
    /// `present`: these lanes and the active ones that do not execute it. Always under the stack;
    /// under independent scheduling when all live lanes of `members` are present, or have been
    /// gathered by [`Flow::Await`].
    #[inline]
    pub fn gathered(&self, present: LaneMask, members: LaneMask) -> bool {
        match self {
            WarpControl::Stack(_) => true,
            WarpControl::Independent(i) => i.gathered(present, members),
        }
    }

    /// The lanes of a warp that have ended and count as arrived at a counted barrier, of which
    /// `arrived` have come in its present phase. Counts are of whole warps: under the stack every
    /// arrival counts the full warp, under independent scheduling the last live lanes bring the
    /// ended ones with them, except those that came before they ended.
    pub fn ended_with(&self, arrived: LaneMask, warp: LaneMask) -> LaneMask {
        let ended = warp - self.live();
        match self {
            WarpControl::Stack(_) => ended,
            WarpControl::Independent(_) if self.live().is_subset(arrived) => ended - arrived,
            WarpControl::Independent(_) => LaneMask::EMPTY,
        }
    }

    /// The groups of the warp; they partition [`live`](Self::live). The running one comes first, then the others in the
    /// order in which they would be picked, then the blocked ones.
    pub fn groups(&self) -> Vec<Group> {
        match self {
            WarpControl::Stack(s) => s.groups(),
            WarpControl::Independent(i) => i.groups(),
        }
    }

    /// The reconvergence stack, bottom first; empty under independent scheduling.
    pub fn stack_entries(&self) -> Vec<StackEntry> {
        match self {
            WarpControl::Stack(s) => s.entries(),
            WarpControl::Independent(_) => Vec::new(),
        }
    }

    /// The joins in use, oldest first; empty under the stack.
    pub fn joins(&self) -> Vec<Join> {
        match self {
            WarpControl::Stack(_) => Vec::new(),
            WarpControl::Independent(i) => i.joins(),
        }
    }

    /// Entries on the stack, or groups of lanes under independent scheduling. 0 when no lane lives.
    pub fn depth(&self) -> usize {
        match self {
            WarpControl::Stack(s) => s.depth(),
            WarpControl::Independent(i) => i.depth(),
        }
    }
}
