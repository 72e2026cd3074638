//! Which lanes run next: those that are ready, then those that have yielded or wait.

use super::{Elected, Group, GroupState, Lanes, REGISTERS, Unseen};
use crate::base::{JoinId, LaneMask, Pc};

impl Elected {
    /// Picks a group if none runs.
    pub(super) fn resume(&mut self) {
        if !self.take_ready() && !self.take_yielded(false) && !self.take_completed() {
            self.take_stuck();
        }
    }

    /// Picks a group if none runs, after lanes wait at a WARPSYNC: a barrier may wait for none but them.
    pub(super) fn resume_after_warpsync(&mut self) {
        if !self.take_ready() && !self.take_completed() && !self.take_yielded(true) {
            self.take_stuck();
        }
    }

    /// Returns true if a group runs; picks one that is ready if none does.
    pub(super) fn take_ready(&mut self) -> bool {
        if !self.current.lanes.is_empty() {
            return true;
        }
        if let Some(sibling) = self.sibling.take() {
            self.current = sibling;
        } else {
            self.elect();
        }
        !self.current.lanes.is_empty()
    }

    /// Picks lanes of a completed barrier, which execute their BSYNC again. Returns false if there
    /// are none.
    pub(super) fn take_completed(&mut self) -> bool {
        let Some(at) = self.completed() else { return false };
        self.current = self.release(at);
        self.released = true;
        true
    }

    /// Picks lanes that have yielded or else gather; the latter execute their WARPSYNC again.
    ///
    /// With `last_is_own`, those that yielded last come last. Returns false if there are none, or if
    /// all of them gather and no barrier is complete: to execute WARPSYNC again would change nothing.
    pub(super) fn take_yielded(&mut self, last_is_own: bool) -> bool {
        let yielded = |group: &Group| group.state == GroupState::Yielded;
        let others = self.yielded.len() - usize::from(last_is_own && !self.yielded.is_empty());
        let progress = self.yielded.iter().any(yielded) || self.completed().is_some();
        let first = self.yielded[..others].iter().find(|group| yielded(group));
        let first = first.or_else(|| self.yielded.first().filter(|_| progress));
        let Some(&Group { pc, state, .. }) = first else { return false };
        let same = self.yielded.extract_if(.., |group| group.pc == pc && group.state == state);
        self.current = Lanes::at(pc, same.fold(LaneMask::EMPTY, |all, group| all | group.lanes));
        true
    }

    /// Lets the lanes that were blocked last go on if no lane can run.
    fn take_stuck(&mut self) {
        match self.blocked.last() {
            Some(&Group { pc, state: GroupState::AtJoin(join), .. }) => self.cut((join, pc)),
            _ => self.current = Lanes::NONE,
        }
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
            if let GroupState::AtJoin(join) = group.state
                && self.pool.is_empty()
            {
                self.set_twice(join, false);
            }
        }
        self.current = Lanes { lanes, ..last };
    }

    /// Returns a barrier at which lanes are blocked although it waits for none, and their PC.
    pub(super) fn completed(&self) -> Option<(JoinId, Pc)> {
        self.blocked.iter().find_map(|group| match group.state {
            GroupState::AtJoin(join) if self.is_complete(join, self.arrived(join, group.pc)) => {
                Some((join, group.pc))
            }
            _ => None,
        })
    }

    /// As [`Elected::completed`] after an exit of lanes that took part in the barriers of `left`, one
    /// bit each.
    ///
    /// Lanes at a WARPSYNC do not count as arrived, and the other barriers are looked at if no lane is
    /// ready.
    pub(super) fn completed_by_exit(&self, left: u16) -> Option<(JoinId, Pc)> {
        let is_idle = self.sibling.is_none() && self.pool.is_empty();
        let yielded = self.yielded.iter().filter(|group| group.state == GroupState::Yielded);
        let yielded = yielded.fold(LaneMask::EMPTY, |all, group| all | group.lanes);
        self.blocked.iter().find_map(|group| match group.state {
            GroupState::AtJoin(join)
                if is_idle || left >> (join.0 as usize % REGISTERS) & 1 == 1 =>
            {
                let missing = self.missing(join, self.arrived(join, group.pc));
                missing.is_subset(yielded).then_some((join, group.pc))
            }
            _ => None,
        })
    }

    /// Takes the lanes of a barrier that waits for none, which execute their BSYNC again.
    pub(super) fn release(&mut self, at: (JoinId, Pc)) -> Lanes {
        self.set_twice(at.0, false);
        self.take_parked(at)
    }

    /// Lets the lanes that are blocked at a barrier by the BSYNC at a PC execute it again, with a mask
    /// cut to them.
    pub(super) fn cut(&mut self, at: (JoinId, Pc)) {
        let parked = self.take_parked(at);
        *self.register(at.0) &= parked.lanes;
        self.current = parked;
    }

    /// Takes the lanes that are blocked at a barrier by the BSYNC at a PC.
    fn take_parked(&mut self, (join, pc): (JoinId, Pc)) -> Lanes {
        let state = GroupState::AtJoin(join);
        let parked = self.blocked.extract_if(.., |g| g.state == state && g.pc == pc);
        Lanes::at(pc, parked.fold(LaneMask::EMPTY, |all, group| all | group.lanes))
    }
}
