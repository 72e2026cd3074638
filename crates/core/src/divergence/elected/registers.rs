//! Barrier registers: their participants, those that have arrived, and what BREAK and BMOV do.

use super::{Elected, Lanes, REGISTERS, Unseen, bit};
use crate::base::{JoinId, LaneMask, Pc};
use crate::divergence::GroupState;

impl Elected {
    /// Removes lanes from a barrier and lets the current group continue (BREAK).
    ///
    /// If the barrier now waits for no lane, the lanes blocked at it become ready, as the other
    /// side of a branch.
    pub(in crate::divergence) fn leave(&mut self, join: JoinId, lanes: LaneMask, next: Pc) {
        let took_part = self.register(join).intersects(lanes);
        *self.register(join) -= lanes;
        self.current = Lanes::at(next, self.current.lanes);
        if took_part {
            self.release_completed(join);
        }
    }

    /// Makes the lanes at a barrier that now waits for none ready, as the other side of a branch.
    fn release_completed(&mut self, join: JoinId) {
        let Some(pc) = self.waits_for_none(join) else { return };
        let released = self.release((join, pc));
        let current = self.current;
        if released.lanes.count() < current.lanes.count() {
            self.current = released;
            self.drop_sibling(Some(current));
        } else {
            self.drop_sibling(Some(released));
        }
    }

    /// Returns the mask of a barrier register, and clears it on request (BMOV).
    pub(in crate::divergence) fn barrier(
        &mut self,
        join: JoinId,
        clear: bool,
        next: Pc,
    ) -> LaneMask {
        self.current = Lanes::at(next, self.current.lanes);
        let register = self.register(join);
        let mask = *register;
        if clear {
            self.empty(join);
            self.set_twice(join, false);
        }
        mask
    }

    /// Sets the mask of a barrier register (BMOV).
    ///
    /// Lanes that have exited since the mask was saved no longer take part.
    pub(in crate::divergence) fn set_barrier(&mut self, join: JoinId, mask: LaneMask) {
        let mask = mask & self.live;
        *self.register(join) = mask;
        self.set_twice(join, !mask.is_empty());
        if !mask.is_empty() {
            self.parted |= bit(join);
        }
    }

    /// Removes all lanes from a barrier.
    pub(super) fn empty(&mut self, join: JoinId) {
        *self.register(join) = LaneMask::EMPTY;
        self.parted &= !bit(join);
    }

    /// Sets whether the BSYNC of a barrier executes again before its lanes go on.
    pub(super) fn set_twice(&mut self, join: JoinId, twice: bool) {
        self.twice = if twice { self.twice | bit(join) } else { self.twice & !bit(join) };
    }

    pub(super) fn register(&mut self, join: JoinId) -> &mut LaneMask {
        &mut self.registers[join.0 as usize % REGISTERS]
    }

    /// Returns the lanes that are blocked at a barrier by the BSYNC at `pc`.
    pub(super) fn arrived(&self, join: JoinId, pc: Pc) -> LaneMask {
        let state = GroupState::AtJoin(join);
        let there = self.blocked.iter().filter(|g| g.state == state && g.pc == pc);
        there.fold(LaneMask::EMPTY, |all, g| all | g.lanes)
    }

    /// Returns the participants of a barrier that are not among `arrived`.
    pub(super) fn missing(&self, join: JoinId, arrived: LaneMask) -> LaneMask {
        (self.registers[join.0 as usize % REGISTERS] & self.live) - arrived
    }

    /// Returns the lanes that are blocked at a barrier.
    pub(super) fn blocked_at(&self, join: JoinId) -> LaneMask {
        let there = self.blocked.iter().filter(|g| g.state == GroupState::AtJoin(join));
        there.fold(LaneMask::EMPTY, |all, g| all | g.lanes)
    }

    /// Returns true if the BSYNC of a barrier executes again, once; the lanes that then execute it
    /// were elected.
    ///
    /// The return comes before the changes: of one `bool` that is both stored and returned to an
    /// `if`, rustc 1.95 leaves the store without a value (optimized builds only).
    pub(super) fn executes_again(&mut self, join: JoinId) -> bool {
        if self.twice & bit(join) == 0 {
            return false;
        }
        self.set_twice(join, false);
        self.elected = Unseen(true);
        true
    }
}
