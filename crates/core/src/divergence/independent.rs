//! Independent thread scheduling (Volta and later): lane groups and convergence barriers.
//!
//! Sources: US patent 10,067,768 (Diamos et al.) for participants that block, yield or leave; the
//! SASS operations BSSY, BSYNC, BREAK, YIELD and WARPSYNC for the structure; measurements on an
//! H200 for the remaining rules:
//!
//! - *Run to block.* The running group keeps the warp until it blocks, yields or exits. A memory
//!   access does not block it.
//! - The later side of a divergent branch becomes ready. The youngest ready group is picked first
//!   (depth first).
//! - A yielding group ranks after every ready group. Yielded groups are picked oldest first.
//! - A join opens when one participant has arrived and each other one has arrived, exited, left or
//!   yielded. The arrived lanes continue as one group, picked next; the yielded ones remain
//!   participants. This lets a spin lock finish: the winner waits at the loop's join only until the
//!   others have yielded.
//! - Lanes that gather ([`Flow::Await`]) for lanes at a join count as yielded once no group of the
//!   warp can run. A join is the compiler's, not the program's, so it never keeps a lane from a
//!   `.sync` instruction or from its exit. (ptxas places BSSY around `if (lane < 2) __syncwarp();`
//!   for sm_75 to sm_89, and Numba's reduction has this code.)
//! - Groups that yielded at the same PC merge. Other groups with equal PCs do not: only joins and
//!   [`Flow::Await`] merge. Lanes released from a block barrier stay in the groups in which they
//!   arrived.
//!
//! A lane that arrives at a join leaves every *younger* join (BREAK), since reaching the end of an
//! outer construct leaves the inner ones. Lanes therefore wait at younger joins only for lanes that
//! wait at still younger ones, and joins alone never deadlock, wherever they are placed.
//!
//! A *call* puts a mark with the calling lanes on the list of joins. An activation of a function
//! sees only the joins after its mark, so a recursion can reuse registers while outer joins wait.
//! The return removes the mark.
//!
//! Several disjoint sets of lanes may use one register at a time, each with its own join. Hardware
//! has one mask per register; its compiler separates such uses and spills registers past the
//! sixteenth. Neither limit is modeled.

mod joins;

use super::{Flow, Group, GroupState, Join, Side, SideOrder};
use crate::base::{JoinId, LaneMask, Pc};

/// Control state of a warp under independent thread scheduling.
///
/// Each state of [`GroupState`] has its own container.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[repr(C)] // what every step needs comes first
pub struct Independent {
    /// Running group; without lanes if none runs.
    running: Runnable,
    live: LaneMask,
    /// Ready groups; the last is picked first.
    ready: Vec<Runnable>,
    /// Yielded groups; the first is picked first. Short, so a vector serves as the queue.
    yielded: Vec<Runnable>,
    /// Lanes of `yielded`.
    yielding: LaneMask,
    /// Groups at joins, block barriers and gathers, in order of arrival.
    blocked: Vec<Group>,
    /// Joins in use and call marks, oldest first.
    ///
    /// Each has participants. Between two marks, a lane is in at most one join per register.
    joins: Vec<Join>,
    order: SideOrder,
}

/// Marks a call on the list of joins; no join has this number.
const CALL: JoinId = JoinId(u32::MAX);

/// Group that can issue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Runnable {
    pc: Pc,
    lanes: LaneMask,
    /// Lanes gathered by [`Flow::Await`] for the instruction at `pc`; empty if none.
    gathered: LaneMask,
}

impl Runnable {
    const fn at(pc: Pc, lanes: LaneMask) -> Runnable {
        Runnable { pc, lanes, gathered: LaneMask::EMPTY }
    }
}

impl Independent {
    /// Creates a warp whose `lanes` start at `entry`.
    pub fn new(lanes: LaneMask, entry: Pc, order: SideOrder) -> Independent {
        Independent {
            running: Runnable::at(entry, lanes),
            live: lanes,
            ready: Vec::new(),
            yielded: Vec::new(),
            yielding: LaneMask::EMPTY,
            blocked: Vec::new(),
            joins: Vec::new(),
            order,
        }
    }

    #[inline]
    pub(super) fn active(&self) -> Option<(Pc, LaneMask)> {
        if self.running.lanes.is_empty() {
            None
        } else {
            Some((self.running.pc, self.running.lanes))
        }
    }

    #[inline]
    pub(super) fn live(&self) -> LaneMask {
        self.live
    }

    #[inline]
    pub(super) fn gathered(&self, present: LaneMask, members: LaneMask) -> bool {
        (members & self.live).is_subset(present) || self.running.gathered == members
    }

    pub(super) fn elsewhere(&self, members: LaneMask) -> LaneMask {
        (members & self.live) - self.running.lanes
    }

    pub(super) fn joins(&self) -> Vec<Join> {
        self.joins.iter().copied().filter(|join| join.id != CALL).collect()
    }

    #[inline]
    pub(super) fn advance(&mut self, flow: Flow) {
        let lanes = self.running.lanes;
        if lanes.is_empty() {
            return;
        }
        match flow {
            Flow::Next { next } => self.running = Runnable::at(next, lanes),
            Flow::Branch { taken, target, next, .. } => {
                let taken = taken & lanes;
                if taken.is_empty() || target == next {
                    self.running = Runnable::at(next, lanes);
                } else if taken == lanes {
                    self.running = Runnable::at(target, lanes);
                } else {
                    self.diverge(Runnable::at(target, taken), Runnable::at(next, lanes - taken));
                }
            }
            Flow::Set { join, next } => self.set(join, next),
            Flow::Sync { join, next } => self.sync(join, next),
            Flow::Break { join, next } => {
                self.running = Runnable::at(next, lanes);
                self.leave(join);
            }
            Flow::Yield { next } => self.give_way(next),
            Flow::Barrier { id, next } => self.block(next, GroupState::AtBarrier(id)),
            Flow::Await { lanes, members } => self.gather(lanes & self.running.lanes, members),
            Flow::Exit { lanes: ended, next } => self.exit(ended & lanes, next),
        }
    }

    /// Advances by [`Flow::Next`].
    #[inline]
    pub(super) fn go(&mut self, next: Pc) {
        self.go_on(next);
    }

    /// Advances by [`Flow::Next`]. Returns what [`Independent::active`] then returns.
    #[inline]
    pub(super) fn go_on(&mut self, next: Pc) -> Option<(Pc, LaneMask)> {
        let (_, lanes) = self.active()?;
        self.running = Runnable::at(next, lanes);
        Some((next, lanes))
    }

    /// Resets to `fresh`, which has only a running group.
    pub(super) fn restart(&mut self, fresh: Independent) {
        let mut ready = std::mem::take(&mut self.ready);
        let mut yielded = std::mem::take(&mut self.yielded);
        let mut blocked = std::mem::take(&mut self.blocked);
        let mut joins = std::mem::take(&mut self.joins);
        ready.clear();
        yielded.clear();
        blocked.clear();
        joins.clear();
        *self = Independent { ready, yielded, blocked, joins, ..fresh };
    }

    pub(super) fn split(&mut self, sides: &[Side]) {
        if self.running.lanes.is_empty() {
            return;
        }
        if let [side] = sides {
            self.running = Runnable::at(side.pc, side.lanes);
            return;
        }
        let sorted = self.order.sorted(self.running.pc, sides);
        self.ready.extend(sorted.iter().rev().map(|side| Runnable::at(side.pc, side.lanes)));
        if let Some(first) = self.ready.pop() {
            self.running = first;
        }
    }

    pub(super) fn call(&mut self, sides: &[Side], next: Pc) {
        let lanes = sides.iter().fold(LaneMask::EMPTY, |all, side| all | side.lanes);
        if lanes.is_empty() {
            return self.go(next);
        }
        // One mark for all sides: the called functions share no joins, and their lanes are
        // disjoint.
        self.joins.push(Join { id: CALL, participants: lanes, arrived: LaneMask::EMPTY });
        let staying = self.running.lanes - lanes;
        if staying.is_empty() {
            return self.split(sides);
        }
        let mut all = sides.to_vec();
        all.push(Side { pc: next, lanes: staying });
        self.split(&all);
    }

    pub(super) fn ret(&mut self, sides: &[Side]) {
        // Returning lanes leave the remaining joins of their activation: all joins younger than its
        // mark.
        let mut returning = self.running.lanes;
        for join in self.joins.iter_mut().rev() {
            let here = join.participants & returning;
            join.participants -= here;
            if join.id == CALL {
                returning -= here;
            }
            if returning.is_empty() {
                break;
            }
        }
        self.split(sides);
        self.open_joins();
    }

    fn diverge(&mut self, taken: Runnable, fall: Runnable) {
        let taken_first = self.order.taken_first(self.running.pc, taken.lanes, fall.lanes);
        let (first, second) = if taken_first { (taken, fall) } else { (fall, taken) };
        self.ready.push(second);
        self.running = first;
    }

    fn give_way(&mut self, next: Pc) {
        self.running = Runnable::at(next, self.running.lanes);
        if self.ready.is_empty() && self.yielded.is_empty() && self.blocked.is_empty() {
            return; // no other group: it would be picked again at once
        }
        self.yielding |= self.running.lanes;
        self.yielded.push(self.running);
        self.running.lanes = LaneMask::EMPTY;
        self.open_joins();
        self.resume();
    }

    fn block(&mut self, pc: Pc, state: GroupState) {
        self.blocked.push(Group { pc, lanes: self.running.lanes, state });
        self.running.lanes = LaneMask::EMPTY;
        self.resume();
    }

    fn gather(&mut self, lanes: LaneMask, members: LaneMask) {
        if lanes.is_empty() {
            return;
        }
        let state = GroupState::Gathering(members);
        self.blocked.push(Group { pc: self.running.pc, lanes, state });
        self.running.lanes -= lanes;
        self.end_gathers();
    }

    fn exit(&mut self, lanes: LaneMask, next: Pc) {
        self.live -= lanes;
        self.running = Runnable::at(next, self.running.lanes - lanes);
        if !self.joins.is_empty() {
            for join in &mut self.joins {
                join.participants -= lanes;
            }
            self.open_joins();
        }
        self.end_gathers();
        self.resume();
    }

    pub(super) fn release_barrier(&mut self, id: u8) {
        // Mostly the whole warp waits there as one group.
        if let [Group { pc, lanes, state: GroupState::AtBarrier(at) }] = self.blocked[..]
            && at == id
            && self.running.lanes.is_empty()
            && self.ready.is_empty()
        {
            self.blocked.clear();
            self.running = Runnable::at(pc, lanes);
            return;
        }
        // In reverse, so that the group that arrived first is picked first.
        for i in (0..self.blocked.len()).rev() {
            if self.blocked[i].state == GroupState::AtBarrier(id) {
                let group = self.blocked.remove(i);
                self.ready.push(Runnable::at(group.pc, group.lanes));
            }
        }
        self.resume();
    }

    /// Picks a group if none runs.
    fn resume(&mut self) {
        if !self.running.lanes.is_empty() {
            return;
        }
        if let Some(group) = self.ready.pop() {
            self.running = group;
        } else if !self.yielded.is_empty() {
            let picked = self.yielded.remove(0);
            let same = |group: &Runnable| group.pc == picked.pc;
            let lanes = self
                .yielded
                .iter()
                .filter(|group| same(group))
                .fold(picked.lanes, |all, group| all | group.lanes);
            self.yielded.retain(|group| !same(group));
            self.running = Runnable { lanes, ..picked };
            self.yielding -= lanes;
        } else if let Some(group) = self.pass_gathering() {
            self.running = group;
        } else {
            // The canonical empty value, so that equal states compare equal.
            self.running = Runnable::at(Pc(0), LaneMask::EMPTY);
        }
    }

    /// Opens the joins that wait only for lanes that gather, and picks one of their groups.
    fn pass_gathering(&mut self) -> Option<Runnable> {
        let gathering = super::gathering_for_joins(&self.blocked, self.live);
        if !gathering.is_empty() {
            self.open_joins_past(gathering);
        }
        self.ready.pop()
    }

    /// Opens every join that waits for nobody, and drops joins without participants.
    fn open_joins(&mut self) {
        self.open_joins_past(self.yielding);
    }

    /// Opens every join that waits for `away` only, and drops joins without participants.
    fn open_joins_past(&mut self, away: LaneMask) {
        for i in 0..self.joins.len() {
            let Join { id, participants, arrived } = self.joins[i];
            if arrived.is_empty() || !(participants - arrived).is_subset(away) {
                continue;
            }
            self.joins[i].participants -= arrived;
            self.joins[i].arrived = LaneMask::EMPTY;
            self.ready_merged(LaneMask::EMPTY, |group| {
                group.state == GroupState::AtJoin(id) && group.lanes.intersects(arrived)
            });
        }
        self.joins.retain(|join| !join.participants.is_empty());
    }

    /// Ends every gather whose live members all wait with the same mask.
    fn end_gathers(&mut self) {
        let gathering = |group: &Group| match group.state {
            GroupState::Gathering(members) => Some(members),
            _ => None,
        };
        while let Some(members) = self.blocked.iter().filter_map(gathering).find(|&members| {
            let here = self.blocked.iter().filter(|g| gathering(g) == Some(members));
            let waiting = here.fold(LaneMask::EMPTY, |all, g| all | g.lanes);
            (members & self.live).is_subset(waiting)
        }) {
            self.ready_merged(members, |group| gathering(group) == Some(members));
        }
        self.resume();
    }

    /// Makes the chosen blocked groups ready and merges those with equal PCs.
    fn ready_merged(&mut self, gathered: LaneMask, chosen: impl Fn(&Group) -> bool) {
        let first = self.ready.len();
        let ready = &mut self.ready;
        self.blocked.retain(|group| {
            if !chosen(group) {
                return true;
            }
            match ready[first..].iter_mut().find(|r| r.pc == group.pc) {
                Some(same) => same.lanes |= group.lanes,
                None => ready.push(Runnable { pc: group.pc, lanes: group.lanes, gathered }),
            }
            false
        });
    }

    pub(super) fn depth(&self) -> usize {
        usize::from(!self.running.lanes.is_empty())
            + self.ready.len()
            + self.yielded.len()
            + self.blocked.len()
    }

    pub(super) fn groups(&self) -> Vec<Group> {
        let running =
            (!self.running.lanes.is_empty()).then_some((self.running, GroupState::Running));
        let ready = self.ready.iter().rev().map(|&r| (r, GroupState::Ready));
        let yielded = self.yielded.iter().map(|&r| (r, GroupState::Yielded));
        let runnable = running.into_iter().chain(ready).chain(yielded);
        let runnable = runnable.map(|(r, state)| Group { pc: r.pc, lanes: r.lanes, state });
        runnable.chain(self.blocked.iter().copied()).collect()
    }
}

#[cfg(test)]
mod tests;
