//! Joins: lanes that take part, leave and arrive.

use super::{CALL, Independent, Runnable};
use crate::base::{JoinId, LaneMask, Pc};
use crate::divergence::{Group, GroupState, Join};

impl Independent {
    /// Moves the running lanes to a new join of this register.
    ///
    /// They leave their old join of the register, if any.
    pub(super) fn set(&mut self, id: JoinId, next: Pc) {
        let lanes = self.running.lanes;
        self.running = Runnable::at(next, lanes);
        self.leave(id);
        self.joins.push(Join { id, participants: lanes, arrived: LaneMask::EMPTY });
    }

    /// Removes the running lanes from the joins of their activation in this register.
    pub(super) fn leave(&mut self, id: JoinId) {
        let (mut own, mut left) = (self.running.lanes, false);
        for join in self.joins.iter_mut().rev() {
            if join.id == CALL {
                own -= join.participants;
            } else if join.id == id && join.participants.intersects(own) {
                join.participants -= own;
                left = true;
            }
        }
        if left {
            self.open_joins();
        }
    }

    /// Lets the running lanes arrive at their joins of this register.
    ///
    /// Lanes without a join pass.
    pub(super) fn sync(&mut self, id: JoinId, next: Pc) {
        let lanes = self.running.lanes;
        if self.sync_youngest(id, next) {
            return;
        }
        let (mut own, mut free) = (lanes, lanes);
        let first = self.blocked.len();
        for i in (0..self.joins.len()).rev() {
            if self.joins[i].id == CALL {
                own -= self.joins[i].participants;
                continue;
            }
            let here = self.joins[i].participants & own;
            if self.joins[i].id != id || here.is_empty() {
                continue;
            }
            own -= here;
            free -= here;
            self.joins[i].arrived |= here;
            // All younger joins are of this activation: a later call by one of these lanes would
            // have hidden this join behind its mark.
            for younger in &mut self.joins[i + 1..] {
                younger.participants -= here;
            }
            self.blocked
                .insert(first, Group { pc: next, lanes: here, state: GroupState::AtJoin(id) });
        }
        self.running = Runnable::at(next, free);
        self.open_joins();
        self.resume();
    }

    /// Does the work of [`Independent::sync`] in the usual cases: all running lanes participate in
    /// the youngest join, no lanes have yielded, and lanes that wait at the join continue together.
    ///
    /// Returns false if nothing is done.
    fn sync_youngest(&mut self, id: JoinId, next: Pc) -> bool {
        let lanes = self.running.lanes;
        let Some(join) = self.joins.last_mut() else { return false };
        if join.id != id || !lanes.is_subset(join.participants) || !self.yielding.is_empty() {
            return false;
        }
        let (waiting, arrived) = (join.arrived, join.arrived | lanes);
        if arrived != join.participants {
            join.arrived = arrived;
            self.block(next, GroupState::AtJoin(id));
            return true;
        }
        let together = Group { pc: next, lanes: waiting, state: GroupState::AtJoin(id) };
        if !waiting.is_empty() && self.blocked.pop_if(|group| *group == together).is_none() {
            return false;
        }
        self.joins.pop();
        self.running = Runnable::at(next, arrived);
        true
    }
}
