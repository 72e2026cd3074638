//! Independent thread scheduling of machine code (Volta and later): barrier registers and election.
//!
//! Machine code brings its own convergence barriers: BSSY, BSYNC, BREAK and BMOV name one of
//! sixteen registers of lane masks. The rules are those of an H200 and an H100, found with loops
//! that lanes leave in every order, with counters of each instruction and with logs of which lanes
//! were where (docs/elections.md):
//!
//! - A warp has one *current* group, at most one *sibling*, and a *pool* of lanes with PCs of their
//!   own. The later side of a divergent branch becomes the sibling. A sibling that was already
//!   there is dropped into the pool.
//! - BSSY adds the active lanes to its register: functions save and clear it first (BMOV.CLEAR). If
//!   the lanes of a BMOV have different masks, the lowest lane's is restored. So lanes that call a
//!   function from several places, or at several depths, may part for good.
//! - A BSYNC blocks its lanes while participants are missing that are ready or have yielded; their
//!   PC stays at the BSYNC. It does not wait for lanes that are blocked, at whatever barrier, and
//!   for none if no other lane is ready; but for those that have yielded if lanes that take no part
//!   came with participants. Lanes that take no part go on.
//! - The sibling runs next. Without one, a PC of the pool is elected: that of the lanes dropped
//!   last. All lanes at that PC join, also those that are blocked, have yielded or are woken.
//! - Lanes that pass a BSYNC take along those blocked at its barrier, wherever their BSYNC is. If
//!   the register came back through BMOV or was set again, only those with the same PC go on.
//! - When lanes pass a BSYNC, the remaining participants are *woken*: they run after all ready
//!   lanes, and other barriers wait for them.
//! - BREAK that completes a barrier makes participants blocked there ready that have the lowest
//!   lane's PC, as the other side of a branch; so does EXIT, for barriers of the lanes that exit.
//! - If no lane is ready, a group is *found* of those that wait: blocked, yielded, woken or at a
//!   WARPSYNC. Their lanes are searched upwards from a place, that of the lane found last, and
//!   round; *hidden* lanes come after the others. A search leaves none hidden.
//! - Lanes that stop while others are ready are hidden. If lanes are elected then, only those stay
//!   hidden that come before these in the order of the search; all do if the place was set by a
//!   search or a sibling, and others wait that are seen. If the sibling runs, and all that wait are
//!   hidden, none stays so, and unless the pool has lanes the place is the first of them.
//! - A blocked group that was found passes its BSYNC without lanes at other PCs, and wakes none; if
//!   it takes no part in the barrier any more, this is emptied. So do woken lanes that meet blocked
//!   ones at their PC, and the last of the pool that do if they were dropped at once.
//! - Lanes that execute a BSYNC and do not block move the place to the group that would be found,
//!   if no other lane is ready or, unless they take no part, the place was so set and none is
//!   hidden. If nothing waits, but others are ready and the place is one of their lanes, it moves
//!   on by one.
//! - A branch through a register takes the lowest lane's target first, or that of the lowest other
//!   lane if the others are fewer; lanes with other targets stay at the branch and execute it
//!   again.
//! - A BSYNC executes twice before its lanes go on if its register came back through BMOV with a
//!   mask, was set again, or had been emptied by an exit of all participants; but not for lanes
//!   that were found, or made ready by an exit.
//! - A block barrier (BAR) counts warps: lanes that execute it arrive for all lanes of the warp,
//!   none of which runs until the barrier opens.
//! - WARPSYNC blocks lanes whose members are not all active. Once all are there, they execute it
//!   again, those of one PC together.
//! - After WARPSYNC.EXCLUSIVE and WARPSYNC.COLLECTIVE only lanes with one mask go on; the others
//!   execute the instruction again.
//! - WARPSYNC.COLLECTIVE lets the lanes of a mask execute the instructions up to ENDCOLLECTIVE
//!   together, even if they reached it at several PCs. The lanes that come last do not block; the
//!   instructions are those after their PC. Then each group continues after its own ENDCOLLECTIVE:
//!   first the lanes that came last, then the others in the order of their lowest lanes.

mod meet;
mod next;
mod registers;

use super::{Flow, Group, GroupState, Join, Side, SideOrder, first_side};
use crate::base::{JoinId, LaneMask, Pc};
use meet::Together;

/// Barrier registers of a warp.
const REGISTERS: usize = 16;

/// Control state of one warp that runs machine code.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[repr(C)] // what every step needs comes first
pub struct Elected {
    /// Current group; without lanes if none runs.
    current: Lanes,
    live: LaneMask,
    /// Barriers, one bit each, whose BSYNC executes again before its lanes go on.
    twice: u16,
    /// Barriers, one bit each, from which only lanes of one PC go on together.
    parted: u16,
    /// True if the current lanes pass a BSYNC alone: they were found blocked, or met blocked lanes
    /// when no other was ready.
    stuck: bool,
    /// True if the lanes that began to run last came from the pool.
    from_pool: bool,
    /// Lanes that stopped to wait and are not seen by the next search.
    hidden: LaneMask,
    /// Lane from which the next group is searched, upwards and round.
    search_from: u32,
    /// True if this lane is that of the group that is found next, as far as is known.
    placed: bool,
    order: SideOrder,
    /// True if the current group was elected and [`Elected::take_election`] was not called since.
    elected: Unseen,
    sibling: Option<Lanes>,
    /// Lanes that can run, one entry for each PC; the last ones dropped are last.
    pool: Vec<Lanes>,
    /// Lanes that a barrier no longer waits for: they can run, but only after all others.
    woken: Vec<Lanes>,
    /// Yielded lanes and those that gather.
    yielded: Vec<Group>,
    /// Lanes at barriers, in order of arrival, and those that wait to execute together.
    blocked: Vec<Group>,
    /// Participants of each barrier.
    registers: [LaneMask; REGISTERS],
    /// Lanes that must execute their WARPSYNC.EXCLUSIVE, or branch through a register, again.
    left: LaneMask,
    /// Sets of lanes that execute instructions together, or are about to.
    together: Vec<Together>,
}

/// Flag that is no part of a warp's state: all values are equal.
#[derive(Clone, Copy, Debug, Default)]
struct Unseen(bool);

impl PartialEq for Unseen {
    fn eq(&self, _: &Unseen) -> bool {
        true
    }
}

impl Eq for Unseen {}

impl std::hash::Hash for Unseen {
    fn hash<H: std::hash::Hasher>(&self, _: &mut H) {}
}

/// Returns the bit of a barrier register.
const fn bit(join: JoinId) -> u16 {
    1 << (join.0 as usize % REGISTERS)
}

/// Lanes with a common PC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Lanes {
    pc: Pc,
    lanes: LaneMask,
    /// Mask of the WARPSYNC at `pc` for which all lanes have come; empty if none.
    gathered: LaneMask,
    /// True if they came to the pool at several times.
    merged: bool,
}

impl Lanes {
    /// The canonical empty value, so that equal states compare equal.
    const NONE: Lanes = Lanes::at(Pc(0), LaneMask::EMPTY);

    const fn at(pc: Pc, lanes: LaneMask) -> Lanes {
        Lanes { pc, lanes, gathered: LaneMask::EMPTY, merged: false }
    }
}

impl Elected {
    /// Creates a warp whose `lanes` start at `entry`.
    pub fn new(lanes: LaneMask, entry: Pc, order: SideOrder) -> Elected {
        Elected {
            current: Lanes::at(entry, lanes),
            live: lanes,
            sibling: None,
            pool: Vec::new(),
            woken: Vec::new(),
            yielded: Vec::new(),
            blocked: Vec::new(),
            registers: [LaneMask::EMPTY; REGISTERS],
            twice: 0,
            parted: 0,
            stuck: false,
            from_pool: false,
            hidden: LaneMask::EMPTY,
            search_from: 0,
            placed: false,
            order,
            elected: Unseen(false),
            left: LaneMask::EMPTY,
            together: Vec::new(),
        }
    }

    #[inline]
    pub(super) fn active(&self) -> Option<(Pc, LaneMask)> {
        let Lanes { pc, lanes, .. } = self.current;
        (!lanes.is_empty()).then_some((pc, lanes))
    }

    #[inline]
    pub(super) fn live(&self) -> LaneMask {
        self.live
    }

    /// Advances by [`Flow::Next`]. Returns what [`Elected::active`] then returns.
    #[inline]
    pub(super) fn go_on(&mut self, next: Pc) -> Option<(Pc, LaneMask)> {
        let (_, lanes) = self.active()?;
        self.current = Lanes::at(next, lanes);
        Some((next, lanes))
    }

    #[inline]
    pub(super) fn advance(&mut self, flow: Flow) {
        let lanes = self.current.lanes;
        if lanes.is_empty() {
            return;
        }
        match flow {
            Flow::Next { next } => self.current = Lanes::at(next, lanes),
            Flow::Branch { taken, target, next, .. } => {
                let taken = taken & lanes;
                if taken.is_empty() {
                    self.current = Lanes::at(next, lanes);
                } else if taken == lanes {
                    self.current = Lanes::at(target, lanes);
                } else {
                    let fall = lanes - taken;
                    let taken_first = self.order.taken_first(self.current.pc, taken, fall);
                    let (taken, fall) = (Lanes::at(target, taken), Lanes::at(next, fall));
                    let (first, second) = if taken_first { (taken, fall) } else { (fall, taken) };
                    self.current = first;
                    self.drop_sibling(Some(second));
                }
            }
            Flow::Set { join, next } => {
                if !self.register(join).is_empty() {
                    self.parted |= bit(join);
                    self.set_twice(join, true);
                }
                *self.register(join) |= lanes;
                self.current = Lanes::at(next, lanes);
            }
            Flow::Sync { join, next } => self.sync(join, next),
            Flow::Break { join, next } => self.leave(join, lanes, next),
            Flow::Yield { next } => self.give_way(next),
            Flow::Barrier { id, next } => {
                self.current = Lanes::NONE;
                self.blocked.push(Group { pc: next, lanes, state: GroupState::AtBarrier(id) });
            }
            // The instructions of machine code name no lanes.
            Flow::Await { .. } => {}
            Flow::Exit { lanes: ended, next } => self.exit(ended & lanes, next),
        }
    }

    /// Resets to `fresh`, which has only a current group.
    pub(super) fn restart(&mut self, fresh: Elected) {
        let mut pool = std::mem::take(&mut self.pool);
        let mut yielded = std::mem::take(&mut self.yielded);
        let mut blocked = std::mem::take(&mut self.blocked);
        let mut woken = std::mem::take(&mut self.woken);
        woken.clear();
        pool.clear();
        yielded.clear();
        blocked.clear();
        *self = Elected { pool, woken, yielded, blocked, ..fresh };
    }

    /// Branches through a register: lanes with one target ([`first_side`]) go on, the others keep
    /// the PC of the branch and execute it again.
    pub(super) fn split(&mut self, sides: &[Side]) {
        let lanes = self.current.lanes;
        let first = first_side(lanes, sides);
        let Some(&Side { pc, .. }) = sides.iter().find(|side| side.lanes == first) else { return };
        self.left = (self.left | lanes) - first;
        self.part(first);
        self.current = Lanes::at(pc, first);
    }

    /// Makes `second` the sibling and drops the former one into the pool.
    fn drop_sibling(&mut self, second: Option<Lanes>) {
        if let Some(former) = std::mem::replace(&mut self.sibling, second) {
            self.drop(former);
        }
    }

    /// Adds lanes to the pool.
    fn drop(&mut self, lanes: Lanes) {
        let key = |p: &Lanes| (p.pc, p.gathered);
        let same = self.pool.iter().position(|p| key(p) == key(&lanes));
        let same = same.map(|at| self.pool.remove(at));
        self.pool.push(match same {
            Some(there) => Lanes { lanes: lanes.lanes | there.lanes, merged: true, ..lanes },
            None => lanes,
        });
    }

    /// Returns true if no lane is ready but the current ones.
    fn is_alone(&self) -> bool {
        self.is_last() && self.woken.is_empty()
    }

    /// Returns the lanes that are ready, without the current ones, or have yielded.
    fn not_blocked(&self) -> LaneMask {
        let ready = self.sibling.iter().chain(&self.pool).chain(&self.woken).map(|l| l.lanes);
        let yielded = self.yielded.iter().map(|group| group.lanes);
        ready.chain(yielded).fold(LaneMask::EMPTY, |all, lanes| all | lanes)
    }

    fn sync(&mut self, join: JoinId, next: Pc) {
        let Lanes { pc, lanes, .. } = self.current;
        let members = *self.register(join);
        if !members.intersects(lanes) {
            self.look_past();
            if std::mem::take(&mut self.stuck) {
                self.set_twice(join, false);
                self.empty(join);
            }
            self.current.pc = next;
            return;
        }
        let there = self.blocked_at(join);
        let missing = self.missing(join, lanes | there);
        if !self.passes(members, missing) {
            return self.block(join, next);
        }
        self.look_for_waiting();
        let parted = self.parted & bit(join) != 0;
        let go_on = members & (lanes | if parted { self.arrived(join, pc) } else { there });
        for group in &mut self.blocked {
            if group.state == GroupState::AtJoin(join) {
                group.lanes -= go_on;
            }
        }
        self.blocked.retain(|group| !group.lanes.is_empty());
        self.current = Lanes::at(pc, lanes | go_on);
        if std::mem::take(&mut self.stuck) {
            self.set_twice(join, false);
        } else if self.executes_again(join) {
            return;
        } else {
            self.wake(members - go_on);
        }
        self.empty(join);
        self.current.pc = next;
    }

    /// Returns true if the current lanes pass the BSYNC of a barrier with these participants, of
    /// which some are `missing`.
    fn passes(&self, members: LaneMask, missing: LaneMask) -> bool {
        if missing.is_empty() || self.stuck {
            return true;
        }
        let yielded = self.yielded.iter().any(|group| group.lanes.intersects(missing));
        let waits_for_yielded = yielded && !self.current.lanes.is_subset(members);
        !self.not_blocked().intersects(missing) || self.is_alone() && !waits_for_yielded
    }

    /// Blocks the current lanes that take part in the barrier of their BSYNC. The others go on.
    fn block(&mut self, join: JoinId, next: Pc) {
        let Lanes { pc, lanes, .. } = self.current;
        let part = lanes & *self.register(join);
        self.blocked.push(Group { pc, lanes: part, state: GroupState::AtJoin(join) });
        self.current = Lanes::at(next, lanes - part);
        if self.current.lanes.is_empty() {
            self.resume_after(lanes);
        } else {
            self.hidden |= part;
        }
    }

    fn give_way(&mut self, next: Pc) {
        let lanes = self.current.lanes;
        self.current = Lanes::at(next, lanes);
        if self.is_alone() && self.yielded.is_empty() && self.blocked.is_empty() {
            return self.elected = Unseen(true); // no other group: this one is found again
        }
        self.yielded.push(Group { pc: next, lanes, state: GroupState::Yielded });
        self.current.lanes = LaneMask::EMPTY;
        self.resume_after(lanes);
    }

    fn exit(&mut self, lanes: LaneMask, next: Pc) {
        self.live -= lanes;
        self.current = Lanes::at(next, self.current.lanes - lanes);
        let mut left = 0;
        for (i, register) in self.registers.iter_mut().enumerate() {
            left |= u16::from(register.intersects(lanes)) << i;
            let emptied = register.intersects(lanes) && register.is_subset(lanes);
            self.twice |= u16::from(emptied) << i;
            *register -= lanes;
        }
        for join in (0..REGISTERS as u32).map(JoinId) {
            if left >> join.0 & 1 == 1
                && let Some(pc) = self.waits_for_none(join)
            {
                let released = self.release((join, pc));
                self.drop_sibling(Some(released));
                self.elected = Unseen(self.current.lanes.is_empty());
            }
        }
        self.end_gathers();
        self.resume();
    }

    pub(super) fn release_barrier(&mut self, id: u8) {
        let there = |group: &Group| group.state == GroupState::AtBarrier(id);
        if let Some(at) = self.blocked.iter().position(there) {
            let group = self.blocked.remove(at);
            self.current = Lanes::at(group.pc, group.lanes);
        }
    }

    /// Returns true if a group has been elected since the last call.
    pub(super) fn take_election(&mut self) -> bool {
        std::mem::take(&mut self.elected).0
    }

    /// Returns the number of lanes that wait at barriers.
    pub(super) fn joined(&self) -> u32 {
        let waiting = self.blocked.iter().filter(|g| matches!(g.state, GroupState::AtJoin(_)));
        waiting.map(|group| group.lanes.count()).sum()
    }

    pub(super) fn joins(&self) -> Vec<Join> {
        let used = (0..REGISTERS as u32).map(JoinId);
        used.filter(|id| !self.registers[id.0 as usize].is_empty())
            .map(|id| {
                let participants = self.registers[id.0 as usize];
                Join { id, participants, arrived: self.blocked_at(id) & participants }
            })
            .collect()
    }

    pub(super) fn depth(&self) -> usize {
        usize::from(!self.current.lanes.is_empty())
            + usize::from(self.sibling.is_some())
            + self.pool.len()
            + self.woken.len()
            + self.yielded.len()
            + self.blocked.len()
    }

    pub(super) fn groups(&self) -> Vec<Group> {
        let current =
            (!self.current.lanes.is_empty()).then_some((self.current, GroupState::Running));
        let ready = self.sibling.iter().chain(&self.pool).chain(&self.woken);
        let ready = ready.map(|&l| (l, GroupState::Ready));
        let runnable = current.into_iter().chain(ready);
        let runnable = runnable.map(|(l, state)| Group { pc: l.pc, lanes: l.lanes, state });
        runnable.chain(self.yielded.iter().chain(&self.blocked).copied()).collect()
    }
}

#[cfg(test)]
mod parting;
#[cfg(test)]
mod tests;
