//! Choice of the lanes that run next: ready ones, then ones that wait.

use super::{Elected, Group, GroupState, Lanes, Unseen, bit};
use crate::base::{JoinId, LaneMask, Pc};

impl Elected {
    /// Picks a group if none runs.
    pub(super) fn resume(&mut self) {
        if !self.current.lanes.is_empty() {
            return;
        }
        if !self.take_ready() {
            self.resume_without(LaneMask::EMPTY);
        } else if !self.from_pool {
            self.see_all();
        }
    }

    /// Returns the groups that wait: those blocked at barriers, yielded and woken.
    fn waiting(&self) -> impl Iterator<Item = Group> {
        let blocked = self.blocked.iter().filter(|g| matches!(g.state, GroupState::AtJoin(_)));
        let woken = self.woken.iter().map(|&Lanes { pc, lanes, .. }| Group {
            pc,
            lanes,
            state: GroupState::Ready,
        });
        blocked.chain(&self.yielded).copied().chain(woken)
    }

    /// Searches the next group that waits, not `own` if there are others.
    fn search(&mut self, own: LaneMask) -> Option<Group> {
        let turn = |g: &Group| (g.lanes.is_subset(own), self.turn(g.lanes - own));
        let next = self.waiting().min_by_key(turn)?;
        let seen = next.lanes - own - self.hidden;
        self.search_from = self.first(if seen.is_empty() { next.lanes } else { seen });
        (self.hidden, self.placed) = (LaneMask::EMPTY, true);
        Some(next)
    }

    /// Returns true if no lane is ready but the current ones and those that are woken.
    pub(super) fn is_last(&self) -> bool {
        self.sibling.is_none() && self.pool.is_empty()
    }

    /// Searches the group that waits next, as lanes do that go past the BSYNC of a barrier without
    /// them.
    pub(super) fn look_past(&mut self) {
        if self.is_last() {
            self.search(LaneMask::EMPTY);
        }
    }

    /// Searches the group that waits next, as lanes do that pass a BSYNC.
    pub(super) fn look_for_waiting(&mut self) {
        if self.waiting().next().is_some() {
            if self.is_last() || self.placed && self.hidden.is_empty() {
                self.search(LaneMask::EMPTY);
            }
        } else if !self.is_last() && self.current.lanes.contains(self.search_from) {
            self.search_from = (self.search_from + 1) % LaneMask::FULL.count();
        }
    }

    /// Picks a group that waits, not `own` if there are others.
    pub(super) fn resume_without(&mut self, own: LaneMask) {
        let gathers =
            |g: &Group| matches!(g.state, GroupState::Gathering(_) | GroupState::Aligning);
        // To execute WARPSYNC again would change nothing if all lanes do.
        let next = if self.waiting().all(|g| gathers(&g)) { None } else { self.search(own) };
        self.stuck = false;
        let Some(Group { pc, state, .. }) = next else {
            self.current = Lanes::NONE;
            return;
        };
        self.elected = Unseen(true);
        let mut lanes = LaneMask::EMPTY;
        match state {
            GroupState::AtJoin(join) => {
                lanes = self.take_parked((join, pc)).lanes;
                if !self.blocked_at(join).is_empty() {
                    self.parted |= bit(join);
                }
                self.stuck = true;
            }
            GroupState::Ready => {
                for group in self.blocked.iter().filter(|group| group.pc == pc) {
                    if let GroupState::AtJoin(join) = group.state {
                        self.parted |= bit(join);
                    }
                }
                lanes = self.take_blocked(pc);
                self.stuck = !lanes.is_empty();
            }
            _ => {}
        }
        let same = |g: &mut Group| g.pc == pc && (!gathers(g) || g.state == state);
        let yielded = self.yielded.extract_if(.., same).map(|group| group.lanes);
        let woken = self.woken.extract_if(.., |l| l.pc == pc).map(|l| l.lanes);
        let lanes = yielded.chain(woken).fold(lanes, |all, lanes| all | lanes);
        self.current = Lanes::at(pc, lanes);
    }

    /// Takes the lanes that are blocked at barriers by the BSYNC at a PC.
    fn take_blocked(&mut self, pc: Pc) -> LaneMask {
        let here = |g: &mut Group| g.pc == pc && matches!(g.state, GroupState::AtJoin(_));
        let blocked = self.blocked.extract_if(.., here).map(|group| group.lanes);
        blocked.fold(LaneMask::EMPTY, |all, lanes| all | lanes)
    }

    /// Picks a group after lanes have stopped to wait.
    pub(super) fn resume_after(&mut self, lanes: LaneMask) {
        if self.take_ready() {
            return self.stop(lanes);
        }
        self.resume_without(lanes);
    }

    /// Notes that lanes have stopped, and others run that were ready.
    fn stop(&mut self, lanes: LaneMask) {
        self.hidden |= lanes;
        if !self.from_pool {
            return self.see_all();
        }
        if !self.placed || !self.sees_any() {
            self.hidden &= self.before(self.current.lanes);
        }
    }

    /// Returns true if a lane that waits is seen.
    fn sees_any(&self) -> bool {
        self.waiting().any(|group| !(group.lanes - self.hidden).is_empty())
    }

    /// Lets all lanes that wait be seen if none is.
    fn see_all(&mut self) {
        let waiting = self.waiting().fold(LaneMask::EMPTY, |all, group| all | group.lanes);
        if waiting.is_empty() || self.sees_any() {
            return;
        }
        self.hidden = LaneMask::EMPTY;
        self.placed = self.pool.is_empty();
        if self.placed {
            self.search_from = self.first(waiting);
        }
    }

    /// Returns the place of the first of some lanes in the order of the search, at which it goes
    /// round.
    fn place(&self, lanes: LaneMask) -> u32 {
        lanes.0.rotate_right(self.search_from).trailing_zeros()
    }

    /// Returns the first of some lanes in the order of the search.
    fn first(&self, lanes: LaneMask) -> u32 {
        (self.search_from + self.place(lanes)) % LaneMask::FULL.count()
    }

    /// Returns the lanes that come before all of some lanes in the order of the search.
    fn before(&self, lanes: LaneMask) -> LaneMask {
        LaneMask(LaneMask::first_n(self.place(lanes)).0.rotate_left(self.search_from))
    }

    /// Returns the place of lanes among those that wait, in the order of the search: first those of
    /// which one is seen.
    fn turn(&self, lanes: LaneMask) -> (bool, u32) {
        let seen = lanes - self.hidden;
        (seen.is_empty(), self.place(if seen.is_empty() { lanes } else { seen }))
    }

    /// Wakes groups that are blocked at barriers or have yielded, if they have one of some lanes.
    pub(super) fn wake(&mut self, lanes: LaneMask) {
        if lanes.is_empty() {
            return;
        }
        let waits = |g: &mut Group| {
            matches!(g.state, GroupState::AtJoin(_) | GroupState::Yielded)
                && g.lanes.intersects(lanes)
        };
        let blocked = self.blocked.extract_if(.., waits);
        let woken = blocked.chain(self.yielded.extract_if(.., waits));
        self.woken.extend(woken.map(|Group { pc, lanes, .. }| Lanes::at(pc, lanes)));
    }

    /// Returns true if a group runs; picks one that is ready if none does.
    pub(super) fn take_ready(&mut self) -> bool {
        if !self.current.lanes.is_empty() {
            return true;
        }
        self.from_pool = false;
        self.stuck = false;
        if let Some(sibling) = self.sibling.take() {
            self.current = sibling;
        } else if !self.pool.is_empty() {
            self.elect();
            self.from_pool = true;
        } else {
            return false;
        }
        true
    }

    /// Makes the lanes of one PC of the pool current, with those that wait there.
    ///
    /// It is the PC of the lanes that were dropped last.
    pub(super) fn elect(&mut self) {
        let Some(last) = self.pool.pop() else { return };
        self.elected = Unseen(true);
        self.stuck = false;
        let yielded = self.yielded.extract_if(.., |group| group.pc == last.pc);
        let lanes = yielded.fold(last.lanes, |all, group| all | group.lanes);
        let woken = self.woken.extract_if(.., |l| l.pc == last.pc);
        let lanes = woken.fold(lanes, |all, l| all | l.lanes);
        let blocked = self.take_blocked(last.pc);
        self.stuck = !blocked.is_empty() && self.pool.is_empty() && !last.merged;
        self.current = Lanes { lanes: lanes | blocked, merged: false, ..last };
    }

    /// Returns the PC of the first lane that is blocked at a barrier, if the barrier waits for
    /// none.
    pub(super) fn waits_for_none(&self, join: JoinId) -> Option<Pc> {
        let members = self.registers[join.0 as usize % super::REGISTERS];
        let there = self.blocked.iter().filter(|g| g.state == GroupState::AtJoin(join));
        let there = there.filter(|g| g.lanes.intersects(members));
        let complete = self.missing(join, self.blocked_at(join)).is_empty();
        there.min_by_key(|g| g.lanes.lowest()).filter(|_| complete).map(|g| g.pc)
    }

    /// Takes the lanes of a barrier that waits for none, which execute their BSYNC again.
    pub(super) fn release(&mut self, (join, pc): (JoinId, Pc)) -> Lanes {
        self.set_twice(join, false);
        let parked = self.take_parked((join, pc));
        if !self.blocked_at(join).is_empty() {
            self.parted |= bit(join);
        }
        parked
    }

    /// Takes the lanes that are blocked at a barrier by the BSYNC at a PC.
    fn take_parked(&mut self, (join, pc): (JoinId, Pc)) -> Lanes {
        let state = GroupState::AtJoin(join);
        let parked = self.blocked.extract_if(.., |g| g.state == state && g.pc == pc);
        Lanes::at(pc, parked.fold(LaneMask::EMPTY, |all, group| all | group.lanes))
    }
}
