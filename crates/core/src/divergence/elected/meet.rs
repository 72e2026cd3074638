//! Lanes of machine code that meet: WARPSYNC, its forms EXCLUSIVE and COLLECTIVE, and
//! ENDCOLLECTIVE.

use super::{Elected, Group, GroupState, Lanes};
use crate::base::{LaneMask, Pc};
use crate::divergence::Side;

/// Lanes of several PCs that execute instructions together.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Together {
    members: LaneMask,
    /// First of the instructions.
    pc: Pc,
    /// Where lanes go on afterwards; those that came last are first.
    sides: Vec<Side>,
}

impl Elected {
    /// Returns true if a set of current lanes, given with its mask, goes on with its WARPSYNC.
    pub(in crate::divergence) fn is_gathered(
        &self,
        (lanes, members): (LaneMask, LaneMask),
    ) -> bool {
        self.current.gathered == members || (members & self.live).is_subset(lanes)
    }

    /// Returns true if all members of a mask are among `lanes` or blocked by a WARPSYNC with it.
    pub(in crate::divergence) fn are_there(&self, lanes: LaneMask, members: LaneMask) -> bool {
        let there = self.yielded.iter().filter(|g| g.state == GroupState::Gathering(members));
        (members & self.live).is_subset(there.fold(lanes, |all, g| all | g.lanes))
    }

    /// Lets the lanes that are blocked by a WARPSYNC with this mask execute it again.
    fn wake_gathered(&mut self, members: LaneMask) {
        let there = |g: &mut Group| g.state == GroupState::Gathering(members);
        for Group { pc, lanes, .. } in self.yielded.extract_if(.., there).collect::<Vec<_>>() {
            self.drop(Lanes { gathered: members, ..Lanes::at(pc, lanes) });
        }
    }

    /// Blocks current lanes at their WARPSYNC. The last to come wake all of them.
    fn wait(&mut self, (lanes, members): (LaneMask, LaneMask)) {
        let Lanes { pc, lanes: current, .. } = self.current;
        self.current.lanes = current - lanes;
        self.yielded.push(Group { pc, lanes, state: GroupState::Gathering(members) });
        if self.are_there(LaneMask::EMPTY, members) {
            self.wake_gathered(members);
        }
    }

    /// Lets `lanes` of the current ones go on at `next` if no other lane lives or they have met, or
    /// wait at their PC for all others. The rest of the current lanes goes on (WARPSYNC.ALL).
    pub(in crate::divergence) fn align(&mut self, lanes: LaneMask, next: Pc) {
        let Lanes { pc, lanes: current, .. } = self.current;
        if self.is_gathered((lanes, LaneMask::FULL)) {
            self.current = Lanes::at(next, current);
            return;
        }
        self.yielded.push(Group { pc, lanes, state: GroupState::Aligning });
        self.current = Lanes::at(next, current - lanes);
        self.wake_aligned();
        self.resume_with((lanes, LaneMask::FULL));
    }

    /// Lets all live lanes execute their WARPSYNC.ALL again, if they wait at one PC.
    fn wake_aligned(&mut self) {
        let aligning = |g: &&Group| g.state == GroupState::Aligning;
        let Some(&Group { pc, .. }) = self.yielded.iter().find(aligning) else { return };
        let here = |g: &Group| g.state == GroupState::Aligning && g.pc == pc;
        let there = self.yielded.iter().filter(|g| here(g));
        if self.live.is_subset(there.fold(LaneMask::EMPTY, |all, g| all | g.lanes)) {
            for Group { lanes, .. } in self.yielded.extract_if(.., |g| here(g)).collect::<Vec<_>>()
            {
                self.drop(Lanes { gathered: LaneMask::FULL, ..Lanes::at(pc, lanes) });
            }
        }
    }

    /// Picks a group if none runs, after lanes came to a WARPSYNC: all of its lanes if these came
    /// last.
    fn resume_with(&mut self, (lanes, members): (LaneMask, LaneMask)) {
        if !self.current.lanes.is_empty() {
            return;
        }
        if self.pool.last().is_some_and(|last| last.gathered == members) {
            self.elect();
        } else {
            self.resume_after(lanes);
        }
    }

    /// Lets sets of current lanes, given with their masks, go on at `next` with those in no set, or
    /// wait (WARPSYNC).
    pub(in crate::divergence) fn gather(&mut self, sets: &[(LaneMask, LaneMask)], next: Pc) {
        let waiting = sets.iter().filter(|&&set| !self.is_gathered(set)).copied();
        let waiting: Vec<_> = waiting.collect();
        waiting.iter().for_each(|&set| self.wait(set));
        self.current = Lanes::at(next, self.current.lanes);
        let last = waiting.last().copied();
        self.resume_with(last.unwrap_or((LaneMask::EMPTY, LaneMask::EMPTY)));
    }

    /// Lets a set of current lanes go on at `next`, or wait, and the others stay at their PC
    /// (WARPSYNC.EXCLUSIVE).
    pub(in crate::divergence) fn gather_apart(&mut self, set: (LaneMask, LaneMask), next: Pc) {
        self.left |= self.current.lanes - set.0;
        self.part(set.0);
        if self.is_gathered(set) {
            self.left -= set.0;
            self.current = Lanes::at(next, set.0);
        } else {
            self.wait(set);
            self.resume_with(set);
        }
    }

    /// Returns true if the current lanes execute their instruction again.
    pub(in crate::divergence) fn are_left(&self) -> bool {
        self.current.lanes.intersects(self.left)
    }

    /// Makes the current lanes outside of a set the sibling.
    pub(super) fn part(&mut self, lanes: LaneMask) {
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
    pub(in crate::divergence) fn gather_together(
        &mut self,
        set: (LaneMask, LaneMask),
        next: Pc,
        end: Pc,
    ) {
        let (lanes, members) = set;
        self.part(lanes);
        if self.current.gathered != members {
            if !self.are_there(lanes, members) {
                self.wait(set);
                return self.resume_after(lanes);
            }
            self.wake_gathered(members);
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
        self.resume_with((lanes, members));
    }

    /// Lets the current lanes go on where their WARPSYNC.COLLECTIVE says, or at `next`.
    pub(in crate::divergence) fn end_collective(&mut self, next: Pc) {
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
    pub(super) fn end_gathers(&mut self) {
        let mut ended: Vec<LaneMask> = Vec::new();
        for group in &self.yielded {
            if let GroupState::Gathering(members) = group.state
                && !ended.contains(&members)
                && self.are_there(LaneMask::EMPTY, members)
            {
                ended.push(members);
            }
        }
        ended.into_iter().for_each(|members| self.wake_gathered(members));
        self.wake_aligned();
    }
}
