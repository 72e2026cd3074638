//! Choice of the lanes that run next: ready ones, then ones that wait.

use super::{Elected, Group, GroupState, Lanes, Stop, Unseen, bit};
use crate::base::{JoinId, LaneMask, Pc};

impl Elected {
    /// Picks a group if none runs.
    pub(super) fn resume(&mut self) {
        if !self.take_ready() {
            self.resume_without(LaneMask::EMPTY);
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
        let seen = self.seen(next.lanes - own);
        self.search_from = self.first(if seen.is_empty() { next.lanes } else { seen });
        self.stops.clear();
        Some(next)
    }

    /// Searches the group that waits next, as lanes do that pass a BSYNC.
    pub(super) fn look_for_waiting(&mut self) {
        let holds = self.current.lanes.contains(self.search_from);
        if (holds || self.is_alone()) && self.search(LaneMask::EMPTY).is_none() {
            self.search_from = (self.search_from + 1) % LaneMask::FULL.count();
        }
    }

    /// Picks a group that waits, not `own` if there are others.
    pub(super) fn resume_without(&mut self, own: LaneMask) {
        let gathers = |g: &Group| matches!(g.state, GroupState::Gathering(_));
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
        let mut lanes = LaneMask::EMPTY;
        for group in self.blocked.extract_if(.., here).collect::<Vec<_>>() {
            lanes |= group.lanes;
            if let GroupState::AtJoin(join) = group.state {
                self.parted |= bit(join);
            }
        }
        lanes
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
        let first = self.waiting().all(|g| g.lanes.intersects(lanes));
        let mut hidden = lanes;
        if self.from_pool {
            let before = self.before(self.current.lanes);
            self.stops.iter_mut().for_each(|stop| stop.hidden &= before);
            hidden &= before;
        } else if first {
            hidden = LaneMask::EMPTY;
            if self.pool.is_empty() {
                self.search_from = self.first(lanes);
            }
        }
        self.hide(lanes, hidden);
    }

    /// Notes that lanes have stopped of which some are not seen.
    pub(super) fn hide(&mut self, lanes: LaneMask, hidden: LaneMask) {
        self.forget(lanes);
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

    /// Returns the place of lanes among those that wait: first those of which one is seen, in the
    /// order of the search, then those that stopped first.
    fn turn(&self, lanes: LaneMask) -> (bool, u32) {
        let seen = self.seen(lanes);
        if seen.is_empty() {
            let stopped = self.stops.iter().position(|stop| stop.lanes.intersects(lanes));
            return (true, stopped.map_or(u32::MAX, |at| at as u32));
        }
        (false, self.place(seen))
    }

    /// Wakes groups that are blocked at barriers or have yielded, if they have one of some lanes.
    pub(super) fn wake(&mut self, lanes: LaneMask) {
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
            self.current = sibling.on_the_way();
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
        self.stuck = !blocked.is_empty() && self.pool.is_empty();
        let lanes = lanes | blocked;
        let alone = Lanes { lanes, ..last };
        self.current =
            if lanes == last.lanes { alone.on_the_way() } else { Lanes { target: None, ..alone } };
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
