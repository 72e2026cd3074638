//! Choice of the lanes that run next: ready ones, then ones that wait.

use super::{Elected, Group, GroupState, Lanes, Stop, Unseen, bit};
use crate::base::{JoinId, LaneMask, Pc};
use std::cmp::Reverse;

impl Elected {
    /// Picks a group if none runs.
    pub(super) fn resume(&mut self) {
        if !self.take_ready() {
            self.resume_without(LaneMask::EMPTY);
        }
    }

    /// Picks lanes that are blocked at a barrier or have yielded, not `own` if there are others.
    pub(super) fn resume_without(&mut self, own: LaneMask) {
        let gathers = |g: &Group| matches!(g.state, GroupState::Gathering(_));
        let blocked = self.blocked.iter().filter(|g| matches!(g.state, GroupState::AtJoin(_)));
        let waiting = blocked.chain(&self.yielded);
        // To execute WARPSYNC again would change nothing if all lanes do.
        let progress = !waiting.clone().all(gathers);
        let turn = |g: &&Group| (g.lanes.is_subset(own), self.turn(g.lanes - own));
        let next = waiting.min_by_key(turn).filter(|_| progress).copied();
        if let Some(Group { lanes, .. }) = next {
            let seen = self.seen(lanes - own);
            self.search_from = self.first(if seen.is_empty() { lanes } else { seen });
        }
        self.stuck = false;
        match next {
            Some(Group { pc, state: GroupState::AtJoin(join), .. }) => {
                let parked = self.take_parked((join, pc)).lanes;
                let here = self.yielded.extract_if(.., |group| group.pc == pc);
                let lanes = here.fold(parked, |all, group| all | group.lanes);
                self.current = Lanes::at(pc, lanes);
                if !self.blocked_at(join).is_empty() {
                    self.parted |= bit(join);
                }
                self.stuck = true;
            }
            Some(Group { pc, state, .. }) => {
                let same = |g: &mut Group| g.pc == pc && g.state == state;
                let same = self.yielded.extract_if(.., same);
                self.current = Lanes::at(pc, same.fold(LaneMask::EMPTY, |all, g| all | g.lanes));
            }
            None => self.current = Lanes::NONE,
        }
        self.forget(self.current.lanes);
    }

    /// Picks a group after lanes have yielded or wait at a WARPSYNC.
    pub(super) fn resume_after(&mut self, lanes: LaneMask) {
        if self.take_ready() {
            return self.stop(lanes);
        }
        self.resume_without(lanes);
        self.stops.clear();
    }

    /// Notes that lanes have stopped, and others run.
    pub(super) fn stop(&mut self, lanes: LaneMask) {
        self.forget(lanes);
        let mut hidden = lanes;
        if self.from_pool {
            self.stops.clear();
            hidden &= self.before(self.current.lanes);
        }
        self.stops.push(Stop { lanes, hidden });
    }

    /// Lets lanes be seen again that run.
    fn forget(&mut self, lanes: LaneMask) {
        for stop in &mut self.stops {
            stop.lanes -= lanes;
            stop.hidden -= lanes;
        }
        self.stops.retain(|stop| !stop.lanes.is_empty());
    }

    /// Returns the lanes that are seen when a group is chosen.
    fn seen(&self, lanes: LaneMask) -> LaneMask {
        self.stops.iter().fold(lanes, |seen, stop| seen - stop.hidden)
    }

    /// Returns the place of the first of some lanes in the order of the search, at which it goes round.
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

    /// Returns the place of lanes among those that wait: first those of which one is seen, in the order
    /// of the search, then those that stopped first.
    fn turn(&self, lanes: LaneMask) -> (bool, u32) {
        let seen = self.seen(lanes);
        if seen.is_empty() {
            let stopped = self.stops.iter().position(|stop| stop.lanes.intersects(lanes));
            return (true, stopped.map_or(u32::MAX, |at| at as u32));
        }
        (false, self.place(seen))
    }

    /// Makes groups that are blocked at barriers or have yielded ready, if they have one of some lanes.
    pub(super) fn wake(&mut self, lanes: LaneMask) {
        let waits = |g: &mut Group| {
            matches!(g.state, GroupState::AtJoin(_) | GroupState::Yielded)
                && g.lanes.intersects(lanes)
        };
        let mut woken: Vec<Group> = self.blocked.extract_if(.., waits).collect();
        woken.extend(self.yielded.extract_if(.., waits));
        woken.sort_by_key(|group| Reverse(self.turn(group.lanes)));
        // They come after all lanes that were ready before.
        let ready = std::mem::take(&mut self.pool);
        for Group { pc, lanes, .. } in woken {
            self.forget(lanes);
            self.drop(Lanes::at(pc, lanes));
        }
        ready.into_iter().for_each(|lanes| self.drop(lanes));
    }

    /// Returns true if a group runs; picks one that is ready if none does.
    pub(super) fn take_ready(&mut self) -> bool {
        if !self.current.lanes.is_empty() {
            return true;
        }
        self.from_pool = false;
        if let Some(sibling) = self.sibling.take() {
            self.current = sibling;
        } else if !self.pool.is_empty() {
            self.elect();
            self.from_pool = true;
        } else {
            return false;
        }
        self.stuck = false;
        true
    }

    /// Makes the lanes of one PC of the pool current, with those that are blocked or have yielded there.
    ///
    /// It is the PC of the lanes that were dropped last.
    pub(super) fn elect(&mut self) {
        let Some(last) = self.pool.pop() else { return };
        self.elected = Unseen(true);
        let yielded = self.yielded.extract_if(.., |group| group.pc == last.pc);
        let mut lanes = yielded.fold(last.lanes, |all, group| all | group.lanes);
        let blocked =
            |group: &mut Group| group.pc == last.pc && matches!(group.state, GroupState::AtJoin(_));
        for group in self.blocked.extract_if(.., blocked).collect::<Vec<_>>() {
            lanes |= group.lanes;
            if let GroupState::AtJoin(join) = group.state {
                self.parted |= bit(join);
                if self.pool.is_empty() {
                    self.set_twice(join, false);
                }
            }
        }
        self.current = Lanes { lanes, ..last };
    }

    /// Returns the PC of the first lane that is blocked at a barrier, if the barrier waits for none.
    pub(super) fn waits_for_none(&self, join: JoinId) -> Option<Pc> {
        let there = self.blocked.iter().filter(|g| g.state == GroupState::AtJoin(join));
        let complete = self.missing(join, self.blocked_at(join)).is_empty();
        there.min_by_key(|g| self.place(g.lanes)).filter(|_| complete).map(|g| g.pc)
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
