//! Control state of one warp: one of the schemes.

use super::{Elected, Flow, Group, Independent, Join, Side, SideOrder, Stack, StackEntry};
use crate::base::{JoinId, LaneMask, Pc};

/// Control state of one warp.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[repr(u8)] // the tag is beside what every step needs
pub enum WarpControl {
    /// Pre-Volta: a stack of lane masks per warp.
    Stack(Stack),
    /// Volta and later: lane groups and convergence barriers.
    Independent(Independent),
    /// Volta and later, machine code: barrier registers and election.
    Elected(Elected),
}

impl WarpControl {
    /// Creates a warp whose `lanes` start at `entry`, with a reconvergence stack.
    pub fn stack(lanes: LaneMask, entry: Pc, order: SideOrder) -> WarpControl {
        WarpControl::Stack(Stack::new(lanes, entry, order))
    }

    /// Creates a warp whose `lanes` start at `entry`, with independent scheduling.
    pub fn independent(lanes: LaneMask, entry: Pc, order: SideOrder) -> WarpControl {
        WarpControl::Independent(Independent::new(lanes, entry, order))
    }

    /// Creates a warp whose `lanes` start at `entry`, for machine code.
    pub fn elected(lanes: LaneMask, entry: Pc, order: SideOrder) -> WarpControl {
        WarpControl::Elected(Elected::new(lanes, entry, order))
    }

    /// Returns the mask of a barrier register, and clears it on request (BMOV).
    ///
    /// The active lanes continue at `next`.
    pub fn barrier(&mut self, join: JoinId, clear: bool, next: Pc) -> LaneMask {
        match self {
            WarpControl::Elected(e) => e.barrier(join, clear, next),
            WarpControl::Stack(_) | WarpControl::Independent(_) => LaneMask::EMPTY,
        }
    }

    /// Sets the mask of a barrier register (BMOV).
    pub fn set_barrier(&mut self, join: JoinId, mask: LaneMask) {
        if let WarpControl::Elected(e) = self {
            e.set_barrier(join, mask);
        }
    }

    /// Removes some of the active lanes from a join; all continue at `next`.
    pub fn leave(&mut self, join: JoinId, lanes: LaneMask, next: Pc) {
        match self {
            WarpControl::Elected(e) => e.leave(join, lanes, next),
            WarpControl::Stack(_) | WarpControl::Independent(_) => {
                self.advance(Flow::Break { join, next })
            }
        }
    }

    /// Returns the PC and active mask to issue next.
    ///
    /// Returns `None` if every live lane is blocked or no lane is live.
    #[inline]
    pub fn active(&self) -> Option<(Pc, LaneMask)> {
        match self {
            WarpControl::Stack(s) => s.active(),
            WarpControl::Independent(i) => i.active(),
            WarpControl::Elected(e) => e.active(),
        }
    }

    /// Applies the control flow of the issued step. No effect if [`active`](Self::active) is
    /// `None`.
    #[inline]
    pub fn advance(&mut self, flow: Flow) {
        match self {
            WarpControl::Stack(s) => s.advance(flow),
            WarpControl::Independent(i) => i.advance(flow),
            WarpControl::Elected(e) => e.advance(flow),
        }
    }

    /// Diverges the active lanes: each of `sides` continues at its target.
    ///
    /// The sides are disjoint, cover the active lanes and are in table order. They reconverge at
    /// `reconverge` (stack mode). In machine code, some lanes may stay at the branch.
    pub fn split(&mut self, sides: &[Side], reconverge: Option<Pc>) {
        match self {
            WarpControl::Stack(s) => s.split(sides, reconverge),
            WarpControl::Independent(i) => i.split(sides),
            WarpControl::Elected(e) => e.split(sides),
        }
    }

    /// Returns true if a group of machine code has been elected since the last call.
    #[inline]
    pub fn take_election(&mut self) -> bool {
        match self {
            WarpControl::Elected(e) => e.take_election(),
            WarpControl::Stack(_) | WarpControl::Independent(_) => false,
        }
    }

    /// Returns the number of lanes that wait at barriers of machine code; 0 for other code.
    #[inline]
    pub fn joined(&self) -> u32 {
        match self {
            WarpControl::Elected(e) => e.joined(),
            WarpControl::Stack(_) | WarpControl::Independent(_) => 0,
        }
    }

    /// Calls functions: the lanes of each side enter the one at its PC and return to `next`.
    ///
    /// The sides are disjoint sets of active lanes. The other active lanes go to `next`; in stack
    /// mode they wait there for the callers.
    pub fn call(&mut self, sides: &[Side], next: Pc) {
        match self {
            WarpControl::Stack(s) => s.call(sides, next),
            WarpControl::Independent(i) => i.call(sides, next),
            WarpControl::Elected(e) => e.split(sides),
        }
    }

    /// Returns all active lanes from their functions, each side to its PC.
    pub fn ret(&mut self, sides: &[Side]) {
        match self {
            WarpControl::Stack(s) => s.ret(),
            WarpControl::Independent(i) => i.ret(sides),
            WarpControl::Elected(e) => e.split(sides),
        }
    }

    /// Advances by [`Flow::Next`], as most steps do.
    #[inline]
    pub fn go(&mut self, next: Pc) {
        self.go_on(next);
    }

    /// Advances by [`Flow::Next`]. Returns what [`active`](Self::active) then returns.
    #[inline]
    pub fn go_on(&mut self, next: Pc) -> Option<(Pc, LaneMask)> {
        match self {
            WarpControl::Stack(s) => s.go_on(next),
            WarpControl::Independent(i) => i.go_on(next),
            WarpControl::Elected(e) => e.go_on(next),
        }
    }

    /// Resets to `fresh`, the control state of a new warp. Keeps allocated memory.
    pub fn restart(&mut self, fresh: WarpControl) {
        match (self, fresh) {
            (WarpControl::Stack(s), WarpControl::Stack(fresh)) => s.restart(fresh),
            (WarpControl::Independent(i), WarpControl::Independent(fresh)) => i.restart(fresh),
            (WarpControl::Elected(e), WarpControl::Elected(fresh)) => e.restart(fresh),
            (old, fresh) => *old = fresh,
        }
    }

    /// Returns the lanes that have not exited.
    #[inline]
    pub fn live(&self) -> LaneMask {
        match self {
            WarpControl::Stack(s) => s.live(),
            WarpControl::Independent(i) => i.live(),
            WarpControl::Elected(e) => e.live(),
        }
    }

    /// Returns the lanes that arrive when the active ones execute a block barrier.
    ///
    /// Independent: the active lanes. Stack and machine code: every live lane of the warp ("as if
    /// all the threads in the warp have executed").
    pub fn arriving(&self) -> LaneMask {
        match self {
            WarpControl::Stack(s) => s.live(),
            WarpControl::Elected(e) => e.live(),
            WarpControl::Independent(_) => {
                self.active().map_or(LaneMask::EMPTY, |(_, lanes)| lanes)
            }
        }
    }

    /// Releases every lane that waits at block barrier `id`.
    pub fn release_barrier(&mut self, id: u8) {
        match self {
            WarpControl::Stack(s) => s.release_barrier(id),
            WarpControl::Independent(i) => i.release_barrier(id),
            WarpControl::Elected(e) => e.release_barrier(id),
        }
    }

    /// Returns the live members of a gathered `.sync` instruction elsewhere.
    ///
    /// Always empty in stack mode, where absent lanes do not participate, and in machine code,
    /// which gathers lanes by WARPSYNC.
    pub fn elsewhere(&self, members: LaneMask) -> LaneMask {
        match self {
            WarpControl::Stack(_) | WarpControl::Elected(_) => LaneMask::EMPTY,
            WarpControl::Independent(i) => i.elsewhere(members),
        }
    }

    /// Returns true if the active lanes may execute a `.sync` instruction now.
    ///
    /// `members` is their member mask; `present` holds these lanes and the active ones that do not
    /// execute it. Always true in stack mode and in machine code. In independent mode all live
    /// lanes of `members` must be present or gathered by [`Flow::Await`].
    #[inline]
    pub fn gathered(&self, present: LaneMask, members: LaneMask) -> bool {
        match self {
            WarpControl::Stack(_) | WarpControl::Elected(_) => true,
            WarpControl::Independent(i) => i.gathered(present, members),
        }
    }

    /// Returns true if a set of active lanes, given with its mask, goes on with its WARPSYNC. It
    /// need not wait if all others are there and it `comes_last`. Only for machine code, as the
    /// next ones.
    pub fn is_gathered(&self, set: (LaneMask, LaneMask), comes_last: bool) -> bool {
        matches!(self, WarpControl::Elected(e)
            if e.is_gathered(set) || comes_last && e.are_there(set.0, set.1))
    }

    /// Lets sets of active lanes, given with their masks, go on at `next` with those in no set, or
    /// wait.
    pub fn gather(&mut self, sets: &[(LaneMask, LaneMask)], next: Pc) {
        if let WarpControl::Elected(e) = self {
            e.gather(sets, next);
        }
    }

    /// Lets `lanes` of the active ones go on at `next` if all live lanes have met there, or wait
    /// for the others, and the rest go on.
    pub fn align(&mut self, lanes: LaneMask, next: Pc) {
        if let WarpControl::Elected(e) = self {
            e.align(lanes, next);
        }
    }

    /// Returns true if the active lanes are those that [`gather_apart`](Self::gather_apart) or
    /// [`jump`](Self::jump) let stay.
    pub fn are_left(&self) -> bool {
        matches!(self, WarpControl::Elected(e) if e.are_left())
    }

    /// Lets a set of active lanes go on at `next` without the others, or wait. The others stay at
    /// their PC.
    pub fn gather_apart(&mut self, set: (LaneMask, LaneMask), next: Pc) {
        if let WarpControl::Elected(e) = self {
            e.gather_apart(set, next);
        }
    }

    /// As [`gather_apart`](Self::gather_apart), but a complete set goes on together with its
    /// members that wait at other PCs, up to [`end_collective`](Self::end_collective); then at
    /// `end`.
    pub fn gather_together(&mut self, set: (LaneMask, LaneMask), next: Pc, end: Pc) {
        if let WarpControl::Elected(e) = self {
            e.gather_together(set, next, end);
        }
    }

    /// Lets the active lanes go on at the ends that they named, or at `next` if they named none.
    pub fn end_collective(&mut self, next: Pc) {
        match self {
            WarpControl::Elected(e) => e.end_collective(next),
            WarpControl::Stack(_) | WarpControl::Independent(_) => self.go(next),
        }
    }

    /// Returns the exited lanes of a warp that count as arrived at a counted barrier.
    ///
    /// `arrived` holds the lanes that arrived in the current phase. Thread counts cover whole
    /// warps: in stack mode every arrival counts the full warp. In independent mode the last live
    /// lanes bring the exited ones, except lanes that arrived before they exited.
    pub fn ended_with(&self, arrived: LaneMask, warp: LaneMask) -> LaneMask {
        let ended = warp - self.live();
        match self {
            WarpControl::Stack(_) => ended,
            _ if self.live().is_subset(arrived) => ended - arrived,
            _ => LaneMask::EMPTY,
        }
    }

    /// Returns the lane groups of the warp, a partition of [`live`](Self::live).
    ///
    /// The running group comes first, then the others in picking order, then the blocked ones.
    pub fn groups(&self) -> Vec<Group> {
        match self {
            WarpControl::Stack(s) => s.groups(),
            WarpControl::Independent(i) => i.groups(),
            WarpControl::Elected(e) => e.groups(),
        }
    }

    /// Returns the reconvergence stack, bottom first; empty in independent mode.
    pub fn stack_entries(&self) -> Vec<StackEntry> {
        match self {
            WarpControl::Stack(s) => s.entries(),
            WarpControl::Independent(_) | WarpControl::Elected(_) => Vec::new(),
        }
    }

    /// Returns the joins in use, oldest first; empty in stack mode.
    pub fn joins(&self) -> Vec<Join> {
        match self {
            WarpControl::Stack(_) => Vec::new(),
            WarpControl::Independent(i) => i.joins(),
            WarpControl::Elected(e) => e.joins(),
        }
    }

    /// Returns the number of stack entries or lane groups; 0 if no lane is live.
    pub fn depth(&self) -> usize {
        match self {
            WarpControl::Stack(s) => s.depth(),
            WarpControl::Independent(i) => i.depth(),
            WarpControl::Elected(e) => e.depth(),
        }
    }
}
