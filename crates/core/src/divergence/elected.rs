//! Independent thread scheduling of machine code (Volta and later): barrier registers and election.
//!
//! Machine code brings its own convergence barriers: BSSY, BSYNC, BREAK and BMOV name one of
//! sixteen registers of lane masks. The rules are those of an H200, found with loops that lanes
//! leave in every order and with counters of each instruction (docs/divergence.md):
//!
//! - A warp has one *current* group, at most one *sibling*, and a *pool* of lanes with PCs of their
//!   own. The later side of a divergent branch becomes the sibling. A sibling that was already
//!   there is dropped into the pool.
//! - A BSYNC whose barrier is incomplete blocks its lanes; their PC stays at the BSYNC. Then the
//!   sibling runs. Without one, a PC of the pool is elected:
//!   that of the lanes dropped last.
//! - An election gathers all lanes at the elected PC, also lanes that are blocked there. So a BSYNC
//!   executes again with lanes that had already arrived.
//! - A branch through a register takes the lowest lane's target first; lanes with other targets
//!   stay at the branch and execute it again.
//! - A BSYNC whose register came back through BMOV executes twice.
//! - BREAK that completes a barrier makes the lanes blocked there ready, as the other side of a
//!   branch.
//! - BSSY adds the active lanes to its register: functions save and clear it first (BMOV.CLEAR).
//! - A yielded lane counts as arrived. Yielded lanes run when no other lane can.
//! - WARPSYNC blocks lanes whose members are not all active. Once all are there, they execute it
//!   again, those of one PC together.
//! - After WARPSYNC.EXCLUSIVE and WARPSYNC.COLLECTIVE only lanes with one mask go on; the others
//!   execute the instruction again.
//! - WARPSYNC.COLLECTIVE lets the lanes of a mask execute the instructions up to ENDCOLLECTIVE
//!   together, even if they reached it at several PCs. The lanes that come last do not block; the
//!   instructions are those after their PC. Then each group continues after its own ENDCOLLECTIVE:
//!   first the lanes that came last, then the others in the order of their lowest lanes.

use super::{Flow, Group, GroupState, Join, Side, SideOrder};
use crate::base::{JoinId, LaneMask, Pc};

/// Barrier registers of a warp.
const REGISTERS: usize = 16;

/// Control state of one warp that runs machine code.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[repr(C)] // what every step needs comes first
pub struct Elected {
    /// Current group; without lanes if none runs.
    current: Lanes,
    live: LaneMask,
    /// Registers set by BMOV since their last BSYNC, one bit each.
    restored: u16,
    order: SideOrder,
    /// True if the current group was elected and [`Elected::take_election`] was not called since.
    elected: Unseen,
    sibling: Option<Lanes>,
    /// Lanes that can run, one entry for each PC; the last ones dropped are last.
    pool: Vec<Lanes>,
    /// Yielded groups; the first is picked first.
    yielded: Vec<Lanes>,
    /// Lanes at barriers and gathers, in order of arrival.
    blocked: Vec<Group>,
    /// Participants of each barrier.
    registers: [LaneMask; REGISTERS],
    /// Lanes that must execute their WARPSYNC.EXCLUSIVE again.
    left: LaneMask,
    /// Sets of lanes that execute instructions together, or are about to.
    together: Vec<Together>,
}

/// Lanes of several PCs that execute instructions together.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Together {
    members: LaneMask,
    /// First of the instructions.
    pc: Pc,
    /// Where lanes go on afterwards; those that came last are first.
    sides: Vec<Side>,
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

/// Lanes with a common PC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Lanes {
    pc: Pc,
    lanes: LaneMask,
    /// Mask of the WARPSYNC at `pc` for which all lanes have come; empty if none.
    gathered: LaneMask,
}

impl Lanes {
    const fn at(pc: Pc, lanes: LaneMask) -> Lanes {
        Lanes { pc, lanes, gathered: LaneMask::EMPTY }
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
            yielded: Vec::new(),
            blocked: Vec::new(),
            registers: [LaneMask::EMPTY; REGISTERS],
            restored: 0,
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
                if taken.is_empty() || target == next {
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
                *self.register(join) |= lanes;
                self.current = Lanes::at(next, lanes);
            }
            Flow::Sync { join, next } => self.sync(join, next),
            Flow::Break { join, next } => self.leave(join, lanes, next),
            Flow::Yield { next } => self.give_way(next),
            Flow::Barrier { id, next } => self.block(next, lanes, GroupState::AtBarrier(id)),
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
        pool.clear();
        yielded.clear();
        blocked.clear();
        *self = Elected { pool, yielded, blocked, ..fresh };
    }

    pub(super) fn split(&mut self, sides: &[Side]) {
        if self.current.lanes.is_empty() {
            return;
        }
        if let [side] = sides {
            self.current = Lanes::at(side.pc, side.lanes);
            return;
        }
        let sorted = self.order.sorted(self.current.pc, sides);
        let mut sides = sorted.iter().map(|side| Lanes::at(side.pc, side.lanes));
        self.current = sides.next().unwrap_or(self.current);
        let second = sides.next();
        self.drop_sibling(second);
        sides.for_each(|side| self.drop(side));
    }

    /// Branches through a register: the lowest lane's target against the rest.
    ///
    /// Lanes with other targets keep the PC of the branch and execute it again.
    ///
    /// A return with two targets is an ordinary divergence.
    pub(super) fn jump(&mut self, sides: &[Side], returns: bool) {
        let lanes = self.current.lanes;
        if returns && sides.len() == 2 {
            return self.split(sides);
        }
        let leader = lanes.lowest().and_then(|lane| sides.iter().find(|s| s.lanes.contains(lane)));
        let Some(&Side { pc, lanes: with }) = leader else { return };
        let first = Lanes::at(pc, with);
        let rest = Lanes::at(self.current.pc, lanes - with);
        if rest.lanes.is_empty() {
            self.current = first;
            return;
        }
        let rest_first = rest.lanes.count() < with.count();
        let (now, later) = if rest_first { (rest, first) } else { (first, rest) };
        self.current = now;
        self.drop_sibling(Some(later));
    }

    /// Removes lanes from a barrier and lets the current group continue (BREAK).
    ///
    /// If the barrier now waits for no lane, the lanes blocked at it become ready, as the other
    /// side of a branch.
    pub(super) fn leave(&mut self, join: JoinId, lanes: LaneMask, next: Pc) {
        *self.register(join) -= lanes;
        self.current = Lanes::at(next, self.current.lanes);
        self.release_completed(join);
    }

    /// Makes the lanes at a barrier that now waits for none ready, as the other side of a branch.
    fn release_completed(&mut self, join: JoinId) {
        let Some(at) = self.completed().filter(|(completed, _)| *completed == join) else { return };
        let released = self.gathered_at(at);
        let current = self.current;
        if released.lanes.count() < current.lanes.count() {
            self.current = released;
            self.drop_sibling(Some(current));
        } else {
            self.drop_sibling(Some(released));
        }
    }

    /// Returns the mask of a barrier register, and clears it on request (BMOV).
    pub(super) fn barrier(&mut self, join: JoinId, clear: bool, next: Pc) -> LaneMask {
        self.current = Lanes::at(next, self.current.lanes);
        let register = self.register(join);
        let mask = *register;
        if clear {
            *register = LaneMask::EMPTY;
        }
        mask
    }

    /// Sets the mask of a barrier register (BMOV).
    ///
    /// Lanes that have exited since the mask was saved no longer take part.
    pub(super) fn set_barrier(&mut self, join: JoinId, mask: LaneMask) {
        let live = self.live;
        *self.register(join) = mask & live;
        self.restored |= 1 << (join.0 as usize % REGISTERS);
    }

    fn register(&mut self, join: JoinId) -> &mut LaneMask {
        &mut self.registers[join.0 as usize % REGISTERS]
    }

    /// Makes `second` the sibling and drops the former one into the pool.
    fn drop_sibling(&mut self, second: Option<Lanes>) {
        if let Some(former) = std::mem::replace(&mut self.sibling, second) {
            self.drop(former);
        }
    }

    /// Adds lanes to the pool.
    fn drop(&mut self, lanes: Lanes) {
        let same = self.pool.iter().position(|p| (p.pc, p.gathered) == (lanes.pc, lanes.gathered));
        let there = same.map_or(LaneMask::EMPTY, |at| self.pool.remove(at).lanes);
        self.pool.push(Lanes { lanes: lanes.lanes | there, ..lanes });
    }

    /// Returns the lanes that are blocked at a barrier by the BSYNC at `pc`.
    fn arrived(&self, join: JoinId, pc: Pc) -> LaneMask {
        let state = GroupState::AtJoin(join);
        let there = self.blocked.iter().filter(|g| g.state == state && g.pc == pc);
        there.fold(LaneMask::EMPTY, |all, g| all | g.lanes)
    }

    /// Returns true if a barrier waits for no lane but `arrived` and yielded ones.
    fn is_complete(&self, join: JoinId, arrived: LaneMask) -> bool {
        let yielding = self.yielded.iter().fold(LaneMask::EMPTY, |all, group| all | group.lanes);
        let participants = self.registers[join.0 as usize % REGISTERS] & self.live;
        ((participants - arrived) - yielding).is_empty()
    }

    fn sync(&mut self, join: JoinId, next: Pc) {
        let Lanes { pc, lanes, .. } = self.current;
        let arrived = lanes | self.arrived(join, pc);
        if !self.is_complete(join, arrived) {
            return self.block(pc, lanes, GroupState::AtJoin(join));
        }
        let released = *self.register(join) & arrived;
        let again = self.restored >> (join.0 as usize % REGISTERS) & 1 == 1;
        if again {
            self.restored &= !(1 << (join.0 as usize % REGISTERS));
            self.elected = Unseen(true);
        } else {
            *self.register(join) -= released;
        }
        for group in &mut self.blocked {
            if group.state == GroupState::AtJoin(join) && group.pc == pc {
                group.lanes -= released;
            }
        }
        self.blocked.retain(|group| !group.lanes.is_empty());
        self.current = Lanes::at(if again { pc } else { next }, lanes | released);
    }

    fn block(&mut self, pc: Pc, lanes: LaneMask, state: GroupState) {
        self.current.lanes -= lanes;
        self.blocked.push(Group { pc, lanes, state });
        self.resume();
    }

    fn give_way(&mut self, next: Pc) {
        self.current = Lanes::at(next, self.current.lanes);
        if self.sibling.is_none()
            && self.pool.is_empty()
            && self.yielded.is_empty()
            && self.blocked.is_empty()
        {
            return; // no other group: it would be picked again at once
        }
        self.yielded.push(self.current);
        self.current.lanes = LaneMask::EMPTY;
        self.resume();
    }

    /// Returns true if a set of current lanes, given with its mask, goes on with its WARPSYNC.
    pub(super) fn is_gathered(&self, (lanes, members): (LaneMask, LaneMask)) -> bool {
        self.current.gathered == members || (members & self.live).is_subset(lanes)
    }

    /// Returns true if all members of a mask are among `lanes` or blocked by a WARPSYNC with it.
    pub(super) fn are_there(&self, lanes: LaneMask, members: LaneMask) -> bool {
        let there = self.blocked.iter().filter(|g| g.state == GroupState::Gathering(members));
        (members & self.live).is_subset(there.fold(lanes, |all, g| all | g.lanes))
    }

    /// Lets the lanes that are blocked by a WARPSYNC with this mask execute it again.
    fn wake(&mut self, members: LaneMask) {
        let there = |g: &mut Group| g.state == GroupState::Gathering(members);
        for Group { pc, lanes, .. } in self.blocked.extract_if(.., there).collect::<Vec<_>>() {
            self.drop(Lanes { pc, lanes, gathered: members });
        }
    }

    /// Blocks current lanes at their WARPSYNC. The last to come wake all of them.
    fn wait(&mut self, (lanes, members): (LaneMask, LaneMask)) {
        let Lanes { pc, lanes: current, .. } = self.current;
        self.current.lanes = current - lanes;
        self.blocked.push(Group { pc, lanes, state: GroupState::Gathering(members) });
        if self.are_there(LaneMask::EMPTY, members) {
            self.wake(members);
        }
    }

    /// Picks lanes that execute their WARPSYNC with this mask again, if they came last.
    fn resume_with(&mut self, members: LaneMask) {
        let woken = self.pool.last().is_some_and(|last| last.gathered == members);
        if woken && self.current.lanes.is_empty() {
            self.elect();
        } else {
            self.resume();
        }
    }

    /// Lets sets of current lanes, given with their masks, go on at `next` with those in no set, or
    /// wait (WARPSYNC).
    pub(super) fn gather(&mut self, sets: &[(LaneMask, LaneMask)], next: Pc) {
        let waiting = sets.iter().filter(|&&set| !self.is_gathered(set)).copied();
        let waiting: Vec<_> = waiting.collect();
        waiting.iter().for_each(|&set| self.wait(set));
        self.current = Lanes::at(next, self.current.lanes);
        self.resume_with(waiting.last().map_or(LaneMask::EMPTY, |&(_, members)| members));
    }

    /// Lets a set of current lanes go on at `next`, or wait, and the others stay at their PC
    /// (WARPSYNC.EXCLUSIVE).
    pub(super) fn gather_apart(&mut self, set: (LaneMask, LaneMask), next: Pc) {
        self.left |= self.current.lanes - set.0;
        self.part(set.0);
        if self.is_gathered(set) {
            self.left -= set.0;
            self.current = Lanes::at(next, set.0);
        } else {
            self.wait(set);
            self.resume_with(set.1);
        }
    }

    /// Returns true if the current lanes execute their WARPSYNC.EXCLUSIVE again.
    pub(super) fn are_left(&self) -> bool {
        self.current.lanes.intersects(self.left)
    }

    /// Makes the current lanes outside of a set the sibling.
    fn part(&mut self, lanes: LaneMask) {
        let others = self.current.lanes - lanes;
        if !others.is_empty() {
            self.drop_sibling(Some(Lanes { lanes: others, ..self.current }));
            self.current.lanes = lanes;
        }
    }

    /// As [`Elected::gather_apart`], but together with members that wait elsewhere, up to
    /// [`Elected::end_collective`]; then the set goes on at `end` (WARPSYNC.COLLECTIVE).
    ///
    /// The set that comes last goes on after the others have executed their instruction again.
    pub(super) fn gather_together(&mut self, set: (LaneMask, LaneMask), next: Pc, end: Pc) {
        let (lanes, members) = set;
        self.part(lanes);
        if self.current.gathered != members {
            if !self.are_there(lanes, members) {
                self.wait(set);
                return self.resume();
            }
            self.wake(members);
        }
        let at = self.together.iter().position(|t| t.members == members).unwrap_or_else(|| {
            self.together.push(Together { members, pc: next, sides: Vec::new() });
            self.together.len() - 1
        });
        let Together { pc, sides, .. } = &mut self.together[at];
        let pc = *pc;
        sides.push(Side { pc: end, lanes });
        let all = sides.iter().fold(LaneMask::EMPTY, |all, side| all | side.lanes);
        if (members & self.live).is_subset(all) {
            self.blocked.retain(|group| !group.lanes.is_subset(all));
            self.current = Lanes::at(pc, all);
            return;
        }
        self.current.lanes = LaneMask::EMPTY;
        self.blocked.push(Group { pc: next, lanes, state: GroupState::Gathering(members) });
        self.resume_with(members);
    }

    /// Lets the current lanes go on where their WARPSYNC.COLLECTIVE says, or at `next`.
    pub(super) fn end_collective(&mut self, next: Pc) {
        let lanes = self.current.lanes;
        let here = |t: &Together| t.sides.iter().any(|side| side.lanes.intersects(lanes));
        let Some(at) = self.together.iter().position(here) else {
            self.current = Lanes::at(next, lanes);
            return;
        };
        let sides = self.together.remove(at).sides;
        let mut sides = sides.iter().map(|side| Lanes::at(side.pc, side.lanes));
        self.current = sides.next().unwrap_or(Lanes::at(next, lanes));
        let mut others: Vec<Lanes> = sides.collect();
        others.sort_unstable_by_key(|side| std::cmp::Reverse(side.lanes.lowest()));
        if let Some(second) = others.pop() {
            self.drop_sibling(Some(second));
            others.into_iter().for_each(|side| self.drop(side));
        }
    }

    /// Ends every gather whose live members all wait with the same mask.
    fn end_gathers(&mut self) {
        let mut ended: Vec<LaneMask> = Vec::new();
        for group in &self.blocked {
            if let GroupState::Gathering(members) = group.state
                && !ended.contains(&members)
                && self.are_there(LaneMask::EMPTY, members)
            {
                ended.push(members);
            }
        }
        ended.into_iter().for_each(|members| self.wake(members));
    }

    fn exit(&mut self, lanes: LaneMask, next: Pc) {
        self.live -= lanes;
        self.current = Lanes::at(next, self.current.lanes - lanes);
        for register in &mut self.registers {
            *register -= lanes;
        }
        self.end_gathers();
        self.resume();
    }

    pub(super) fn release_barrier(&mut self, id: u8) {
        let there = |group: &Group| group.state == GroupState::AtBarrier(id);
        while let Some(at) = self.blocked.iter().position(there) {
            let group = self.blocked.remove(at);
            self.drop(Lanes::at(group.pc, group.lanes));
        }
        self.resume();
        // The barrier decides which lanes go on.
        self.elected = Unseen(false);
    }

    /// Picks a group if none runs.
    fn resume(&mut self) {
        if !self.current.lanes.is_empty() {
            return;
        }
        if let Some(sibling) = self.sibling.take() {
            self.current = sibling;
        } else if !self.pool.is_empty() {
            self.elect();
        } else if let Some(at) = self.completed() {
            // Only now can its lanes go on: they execute their BSYNC again.
            self.current = self.gathered_at(at);
        } else if !self.yielded.is_empty() {
            let picked = self.yielded.remove(0);
            let same = self.yielded.extract_if(.., |group| group.pc == picked.pc);
            let lanes = same.fold(picked.lanes, |all, group| all | group.lanes);
            self.current = Lanes { lanes, ..picked };
        } else if let Some(stuck) = self.stuck() {
            self.current = stuck;
        } else {
            // The canonical empty value, so that equal states compare equal.
            self.current = Lanes::at(Pc(0), LaneMask::EMPTY);
        }
    }

    /// Takes lanes that wait at an incomplete barrier if no lane can run.
    ///
    /// Barriers of a compiler alone never deadlock on a GPU. Here they can:
    ///
    /// - Recursive calls of different depths share a register. Then the lanes that were blocked
    ///   last go on, and its mask is cut to them.
    /// - Lanes gather (WARPSYNC) for lanes that wait for them at a barrier. The former count as
    ///   yielded: the latter go on without them.
    fn stuck(&mut self) -> Option<Lanes> {
        let at_join = |group: &Group| matches!(group.state, GroupState::AtJoin(_));
        if !self.blocked.iter().all(at_join) {
            return self.past_gathering();
        }
        let Group { pc, lanes, state } = self.blocked.pop()?;
        if let GroupState::AtJoin(join) = state {
            *self.register(join) &= lanes;
        }
        Some(Lanes::at(pc, lanes))
    }

    /// Takes the lanes of a barrier that waits only for lanes that gather.
    fn past_gathering(&mut self) -> Option<Lanes> {
        let away = super::gathering_for_joins(&self.blocked, self.live);
        let (join, pc) = self.blocked.iter().rev().find_map(|group| match group.state {
            GroupState::AtJoin(join) => {
                let participants = self.registers[join.0 as usize % REGISTERS] & self.live;
                let missing = participants - self.arrived(join, group.pc);
                missing.is_subset(away).then_some((join, group.pc))
            }
            _ => None,
        })?;
        let released = self.gathered_at((join, pc));
        *self.register(join) &= released.lanes;
        Some(released)
    }

    /// Makes the lanes of one PC of the pool current, with those that are blocked there.
    ///
    /// It is the PC of the lanes that were dropped last.
    fn elect(&mut self) {
        let Some(last) = self.pool.pop() else { return };
        self.current = last;
        self.elected = Unseen(true);
        let pc = self.current.pc;
        let parked =
            self.blocked.extract_if(.., |g| g.pc == pc && matches!(g.state, GroupState::AtJoin(_)));
        self.current.lanes = parked.fold(self.current.lanes, |all, group| all | group.lanes);
    }

    /// Returns a barrier at which lanes are blocked although it waits for none, and their PC.
    fn completed(&self) -> Option<(JoinId, Pc)> {
        self.blocked.iter().find_map(|group| match group.state {
            GroupState::AtJoin(join) if self.is_complete(join, self.arrived(join, group.pc)) => {
                Some((join, group.pc))
            }
            _ => None,
        })
    }

    /// Takes the lanes that are blocked at a barrier by the BSYNC at a PC.
    fn gathered_at(&mut self, (join, pc): (JoinId, Pc)) -> Lanes {
        let state = GroupState::AtJoin(join);
        let parked = self.blocked.extract_if(.., |g| g.state == state && g.pc == pc);
        Lanes::at(pc, parked.fold(LaneMask::EMPTY, |all, group| all | group.lanes))
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
                let there = self.blocked.iter().filter(|g| g.state == GroupState::AtJoin(id));
                let arrived = there.fold(LaneMask::EMPTY, |all, g| all | g.lanes);
                Join { id, participants, arrived: arrived & participants }
            })
            .collect()
    }

    pub(super) fn depth(&self) -> usize {
        usize::from(!self.current.lanes.is_empty())
            + usize::from(self.sibling.is_some())
            + self.pool.len()
            + self.yielded.len()
            + self.blocked.len()
    }

    pub(super) fn groups(&self) -> Vec<Group> {
        let current =
            (!self.current.lanes.is_empty()).then_some((self.current, GroupState::Running));
        let ready = self.sibling.iter().chain(&self.pool).map(|&l| (l, GroupState::Ready));
        let yielded = self.yielded.iter().map(|&l| (l, GroupState::Yielded));
        let runnable = current.into_iter().chain(ready).chain(yielded);
        let runnable = runnable.map(|(l, state)| Group { pc: l.pc, lanes: l.lanes, state });
        runnable.chain(self.blocked.iter().copied()).collect()
    }
}

#[cfg(test)]
mod tests;
