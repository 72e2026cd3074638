//! Reconvergence stack of pre-Volta GPUs.
//!
//! The model follows GPGPU-Sim's `simt_stack` (Fung et al., MICRO 2007). An entry has a PC, a lane
//! mask and a reconvergence PC; only the top entry issues.
//!
//! - A divergent branch turns the top entry into the *join entry* (its PC becomes the reconvergence
//!   PC, its mask stays the union) and pushes both sides, the one to run first on top. A side that
//!   starts at the reconvergence PC is not pushed: the join entry covers its lanes.
//! - If the branch reconverges at the top entry's own reconvergence PC, the sides *replace* the
//!   top: a loop that lanes leave one by one does not grow the stack.
//! - A group that reaches its entry's reconvergence PC is popped without an instruction.
//! - Exiting lanes leave every entry; entries without lanes are removed.
//! - A branch without a reconvergence PC replaces the top by both sides. They reconverge where the
//!   top entry would have, if anywhere.
//! - A block barrier blocks the whole warp, independently of the top entry's lanes.
//!
//! This requires nested PCs: a lane that reaches the reconvergence PC of a lower entry must have
//! reached that of every entry above. `kernel::flow` proves this for the PCs that it assigns. The
//! typed SSY/PBK/PCNT entries of hardware are not modeled; they behave alike on structured code.
//!
//! *Calls* push a typed entry, as in GPGPU-Sim: the caller's entry moves on to the step after the
//! call. The call entry has no reconvergence PC; the return pops it. So a function's reconvergence
//! PCs never mix with its caller's, though they are equal in a recursion. An indirect call to
//! several functions pushes one call entry for each.

use super::{Flow, Group, GroupState, Side, SideOrder};
use crate::base::{LaneMask, Pc};

/// Entry of the reconvergence stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StackEntry {
    /// Next step of its lanes.
    pub pc: Pc,
    /// Lanes of the entry. A join entry also holds the lanes above that will reconverge in it.
    pub lanes: LaneMask,
    /// Reconvergence PC, at which its lanes merge into the entry below, if any.
    pub reconverge: Option<Pc>,
    /// True for an activation of a function, which the function's return ends.
    pub call: bool,
}

/// Control state of a warp under the reconvergence stack.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[repr(C)] // what every step needs comes first
pub struct Stack {
    /// Top entry, kept separate because every step uses it. Without lanes iff no lane of the warp
    /// is live.
    top: StackEntry,
    /// Entries below the top, bottom first; each has lanes.
    below: Vec<StackEntry>,
    /// Block barrier at which the warp waits.
    barrier: Option<u8>,
    live: LaneMask,
    order: SideOrder,
}

impl Stack {
    /// Creates a warp whose `lanes` start at `entry`.
    pub fn new(lanes: LaneMask, entry: Pc, order: SideOrder) -> Stack {
        Stack {
            top: StackEntry { pc: entry, lanes, reconverge: None, call: false },
            below: Vec::new(),
            barrier: None,
            live: lanes,
            order,
        }
    }

    #[inline]
    pub(super) fn active(&self) -> Option<(Pc, LaneMask)> {
        if self.top.lanes.is_empty() || self.barrier.is_some() {
            None
        } else {
            Some((self.top.pc, self.top.lanes))
        }
    }

    #[inline]
    pub(super) fn live(&self) -> LaneMask {
        self.live
    }

    #[inline]
    pub(super) fn advance(&mut self, flow: Flow) {
        if self.active().is_none() {
            return;
        }
        match flow {
            // Joins and yields belong to independent scheduling; in stack mode they only advance.
            Flow::Next { next }
            | Flow::Set { next, .. }
            | Flow::Sync { next, .. }
            | Flow::Break { next, .. }
            | Flow::Yield { next } => {
                self.move_to(next);
            }
            Flow::Branch { taken, target, next, reconverge } => {
                let taken = taken & self.top.lanes;
                if taken.is_empty() || target == next {
                    self.move_to(next);
                } else if taken == self.top.lanes {
                    self.move_to(target);
                } else {
                    self.diverge(taken, target, next, reconverge);
                }
            }
            Flow::Barrier { id, next } => {
                self.move_to(next);
                self.barrier = Some(id);
            }
            // Only the top entry's lanes participate in a `.sync` instruction.
            Flow::Await { .. } => {}
            Flow::Exit { lanes, next } => self.exit(lanes & self.top.lanes, next),
        }
    }

    /// Advances by [`Flow::Next`]. Returns what [`Stack::active`] then returns.
    #[inline]
    pub(super) fn go_on(&mut self, next: Pc) -> Option<(Pc, LaneMask)> {
        let (_, lanes) = self.active()?;
        self.top.pc = next;
        if self.top.reconverge != Some(next) {
            return Some((next, lanes));
        }
        self.pop();
        self.active()
    }

    /// Resets to `fresh`, which has nothing below its top.
    pub(super) fn restart(&mut self, fresh: Stack) {
        let mut below = std::mem::take(&mut self.below);
        below.clear();
        *self = Stack { below, ..fresh };
    }

    /// Moves the top entry to `next`, or pops it if it reconverges there.
    #[inline]
    fn move_to(&mut self, next: Pc) {
        self.top.pc = next;
        if self.top.reconverge == Some(next) {
            self.pop();
        }
    }

    fn pop(&mut self) {
        // An entry with a reconvergence PC always has a join entry below it, so the default never
        // has live lanes.
        self.top = self.below.pop().unwrap_or(StackEntry { lanes: LaneMask::EMPTY, ..self.top });
    }

    #[inline]
    fn diverge(&mut self, taken: LaneMask, target: Pc, next: Pc, reconverge: Option<Pc>) {
        let old = self.top;
        let fall = old.lanes - taken;
        let taken_first = self.order.taken_first(old.pc, taken, fall);
        let (taken, fall) = (Side { pc: target, lanes: taken }, Side { pc: next, lanes: fall });
        let (first, second) = if taken_first { (taken, fall) } else { (fall, taken) };
        match reconverge {
            // Without an else, or with an empty one: one side is there already.
            Some(meet)
                if old.reconverge != reconverge && (first.pc == meet || second.pc == meet) =>
            {
                let Side { pc, lanes } = if first.pc == meet { second } else { first };
                self.below.push(StackEntry { pc: meet, ..old });
                self.top = StackEntry { pc, lanes, reconverge, call: false };
            }
            _ => self.replace_top([first, second], reconverge),
        }
    }

    /// Replaces the top entry by several sides (at least two, the first to run first).
    fn replace_top(
        &mut self,
        sides: impl IntoIterator<Item = Side, IntoIter: DoubleEndedIterator>,
        reconverge: Option<Pc>,
    ) {
        let old = self.top;
        let (meet, call) = match reconverge {
            Some(meet) if old.reconverge != reconverge => {
                self.below.push(StackEntry { pc: meet, ..old });
                (Some(meet), false)
            }
            // Same reconvergence PC as the enclosing entry, or none: the sides replace the top.
            _ => (old.reconverge, old.call),
        };
        for Side { pc, lanes } in sides.into_iter().rev() {
            if meet != Some(pc) {
                self.below.push(StackEntry { pc, lanes, reconverge: meet, call });
            }
        }
        self.pop();
    }

    pub(super) fn split(&mut self, sides: &[Side], reconverge: Option<Pc>) {
        match sides {
            _ if self.active().is_none() => {}
            [] => {}
            [side] => self.move_to(side.pc),
            _ => {
                let sorted = self.order.sorted(self.top.pc, sides);
                self.replace_top(sorted, reconverge);
            }
        }
    }

    pub(super) fn call(&mut self, sides: &[Side], next: Pc) {
        if self.active().is_none() {
            return;
        }
        let sorted = self.order.sorted(self.top.pc, sides);
        // If the caller's entry reconverges at `next`, the entries below hold its lanes there.
        self.move_to(next);
        for &Side { pc, lanes } in sorted.iter().rev() {
            self.below.push(self.top);
            self.top = StackEntry { pc, lanes, reconverge: None, call: true };
        }
    }

    /// Returns all lanes of an activation together: the function's analysis has made them
    /// reconverge.
    pub(super) fn ret(&mut self) {
        let lanes = self.top.lanes;
        while self.depth() > 0 {
            let call = self.top.call;
            self.top.lanes -= lanes;
            if !self.top.lanes.is_empty() {
                return; // the activation's other lanes run first
            }
            self.pop();
            if call {
                return;
            }
        }
    }

    fn exit(&mut self, lanes: LaneMask, next: Pc) {
        self.live -= lanes;
        for entry in &mut self.below {
            entry.lanes -= lanes;
        }
        self.below.retain(|entry| !entry.lanes.is_empty());
        self.top.lanes -= lanes;
        if self.top.lanes.is_empty() {
            self.pop();
        } else {
            self.move_to(next);
        }
    }

    pub(super) fn release_barrier(&mut self, id: u8) {
        if self.barrier == Some(id) {
            self.barrier = None;
        }
    }

    pub(super) fn entries(&self) -> Vec<StackEntry> {
        let top = (!self.top.lanes.is_empty()).then_some(self.top);
        self.below.iter().copied().chain(top).collect()
    }

    pub(super) fn depth(&self) -> usize {
        if self.top.lanes.is_empty() { 0 } else { self.below.len() + 1 }
    }

    pub(super) fn groups(&self) -> Vec<Group> {
        let mut above = LaneMask::EMPTY;
        let mut groups = Vec::new();
        for (height, entry) in self.entries().into_iter().rev().enumerate() {
            let state = match (height, self.barrier) {
                (0, Some(id)) => GroupState::AtBarrier(id),
                (0, None) => GroupState::Running,
                // A join entry shares lanes with the entries above it; the later side of a branch
                // does not.
                _ if entry.lanes.intersects(above) => GroupState::AtReconvergence,
                _ => GroupState::Ready,
            };
            let lanes = entry.lanes - above;
            if !lanes.is_empty() {
                groups.push(Group { pc: entry.pc, lanes, state });
            }
            above |= entry.lanes;
        }
        groups
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stack() -> Stack {
        Stack::new(LaneMask(0b1111), Pc(0), SideOrder::Taken)
    }

    fn branch(taken: u32, target: u32, next: u32, meet: u32) -> Flow {
        Flow::Branch {
            taken: LaneMask(taken),
            target: Pc(target),
            next: Pc(next),
            reconverge: Some(Pc(meet)),
        }
    }

    fn next(pc: u32) -> Flow {
        Flow::Next { next: Pc(pc) }
    }

    #[track_caller]
    fn expect(stack: &mut Stack, script: &[(u32, u32, Flow)]) {
        for (i, &(pc, lanes, flow)) in script.iter().enumerate() {
            assert_eq!(stack.active(), Some((Pc(pc), LaneMask(lanes))), "step {i}");
            stack.advance(flow);
        }
    }

    #[test]
    fn if_else_runs_both_sides_and_rejoins() {
        let mut s = stack();
        expect(
            &mut s,
            &[(0, 0b1111, branch(0b0001, 5, 1, 9)), (5, 0b0001, next(9)), (1, 0b1110, next(9))],
        );
        assert_eq!(s.active(), Some((Pc(9), LaneMask(0b1111))));
        assert_eq!(s.depth(), 1);
    }

    #[test]
    fn if_without_else_pushes_one_side() {
        let mut s = stack();
        expect(&mut s, &[(0, 0b1111, branch(0b0001, 9, 1, 9))]);
        let entry = |pc, lanes, meet: Option<u32>| StackEntry {
            pc: Pc(pc),
            lanes: LaneMask(lanes),
            reconverge: meet.map(Pc),
            call: false,
        };
        assert_eq!(s.entries(), [entry(9, 0b1111, None), entry(1, 0b1110, Some(9))]);
        let waiting = Group { pc: Pc(9), lanes: LaneMask(1), state: GroupState::AtReconvergence };
        assert_eq!(s.groups()[1], waiting);
    }

    #[test]
    fn a_loop_left_lane_by_lane_does_not_grow_the_stack() {
        let mut s = stack();
        for round in 0..3 {
            let staying = 0b1111 << round & 0b1111;
            // PC 1 is the loop's test: one lane leaves to 9 in every round.
            expect(&mut s, &[(round.min(1), staying, branch(1 << round, 9, 1, 9))]);
            assert_eq!(s.depth(), 2);
        }
        expect(&mut s, &[(1, 0b1000, branch(0b1000, 9, 1, 9)), (9, 0b1111, next(10))]);
    }

    #[test]
    fn exits_leave_every_entry() {
        let mut s = stack();
        let exit = |lanes, pc| Flow::Exit { lanes: LaneMask(lanes), next: Pc(pc) };
        expect(
            &mut s,
            &[
                (0, 0b1111, branch(0b0011, 5, 1, 9)),
                (5, 0b0011, exit(0b0001, 6)),
                (6, 0b0010, next(9)),
            ],
        );
        expect(&mut s, &[(1, 0b1100, exit(0b1100, 2)), (9, 0b0010, exit(0b0010, 10))]);
        assert_eq!((s.active(), s.depth(), s.live()), (None, 0, LaneMask::EMPTY));
    }

    #[test]
    fn sides_without_a_meeting_point_meet_where_the_enclosing_branch_does() {
        let mut s = stack();
        let apart =
            Flow::Branch { taken: LaneMask(0b0001), target: Pc(7), next: Pc(6), reconverge: None };
        expect(
            &mut s,
            &[
                (0, 0b1111, branch(0b0011, 5, 9, 9)),
                (5, 0b0011, apart),
                (7, 1, next(9)),
                (6, 2, next(9)),
            ],
        );
        assert_eq!(s.active(), Some((Pc(9), LaneMask(0b1111))));
    }

    #[test]
    fn a_call_shields_the_reconvergence_pcs_of_its_caller() {
        // A function at 20 calls itself for lanes 0 and 1 on one side of a branch whose sides
        // reconverge at 29.
        let mut s = stack();
        let to = |pc, lanes| [Side { pc: Pc(pc), lanes: LaneMask(lanes) }];
        s.call(&to(20, 0b1111), Pc(1));
        expect(&mut s, &[(20, 0b1111, branch(0b0011, 25, 21, 29))]);
        assert_eq!(s.active(), Some((Pc(25), LaneMask(0b0011))));
        s.call(&to(20, 0b0011), Pc(29)); // continues where the sides reconverge
        expect(
            &mut s,
            &[(20, 0b0011, branch(0b0001, 25, 21, 29)), (25, 1, next(29)), (21, 2, next(29))],
        );
        assert_eq!(
            s.active(),
            Some((Pc(29), LaneMask(0b0011))),
            "the inner activation reconverges by itself"
        );
        s.ret();
        expect(&mut s, &[(21, 0b1100, next(29))]);
        assert_eq!(s.active(), Some((Pc(29), LaneMask(0b1111))));
        s.ret();
        assert_eq!((s.active(), s.depth()), (Some((Pc(1), LaneMask(0b1111))), 1));
    }

    #[test]
    fn an_indirect_call_runs_one_function_after_the_other() {
        let mut s = stack();
        let side = |pc, lanes| Side { pc: Pc(pc), lanes: LaneMask(lanes) };
        s.call(&[side(10, 0b0011), side(20, 0b0100)], Pc(1));
        for expected in [(10, 0b0011), (20, 0b0100)] {
            assert_eq!(s.active(), Some((Pc(expected.0), LaneMask(expected.1))));
            s.ret();
        }
        assert_eq!(s.active(), Some((Pc(1), LaneMask(0b1111))), "lane 3 did not call, and waited");
        s.split(&[side(5, 0b1001), side(6, 0b0010), side(9, 0b0100)], Some(Pc(9)));
        expect(&mut s, &[(5, 0b1001, next(9)), (6, 0b0010, next(9))]);
        assert_eq!((s.active(), s.depth()), (Some((Pc(9), LaneMask(0b1111))), 1));
    }

    #[test]
    fn a_barrier_blocks_the_whole_warp() {
        let mut s = stack();
        expect(
            &mut s,
            &[
                (0, 0b1111, branch(0b0011, 5, 1, 9)),
                (5, 0b0011, Flow::Barrier { id: 3, next: Pc(9) }),
            ],
        );
        s.advance(next(100));
        s.release_barrier(2);
        assert_eq!(s.active(), None);
        s.release_barrier(3);
        assert_eq!(s.active(), Some((Pc(1), LaneMask(0b1100))));
    }
}
