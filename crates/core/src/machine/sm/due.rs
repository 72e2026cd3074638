//! Order in which an SM's schedulers have their turns: by cycle, the first one rotating by cycle.

use super::Sm;
use crate::base::{Cycle, LaneMask, Pc};
use crate::event::Observer;
use crate::exec;
use crate::machine::pricing::Visibility;
use crate::machine::scheduler::NEVER;
use crate::machine::verdict::{FaultReport, Finish, Limit};
use crate::machine::warp::Warp;

/// Issues of an SM in one turn ahead of others, at most.
const TURNS_AHEAD: u64 = 1 << 16;
/// Bits of a scheduler's turn, and of its number, in a [`Turn`]; there are at most 64 schedulers.
const BITS: u32 = 6;
/// Bits below the cycle of a [`Turn`].
const BELOW_CYCLE: u32 = 2 * BITS;
/// Cycle that no turn reaches.
pub(super) const LAST: Cycle = NEVER >> BELOW_CYCLE;

/// Turn of a scheduler, in their order: from the highest bit the cycle, the place in its order of
/// schedulers, and the scheduler.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Turn(u64);

impl Turn {
    /// Turn of a scheduler without a next issue.
    const NONE: Turn = Turn(u64::MAX);
    /// First turn of the first cycle.
    pub(super) const FIRST: Turn = Turn(0);

    #[inline(always)]
    fn cycle(self) -> Cycle {
        self.0 >> BELOW_CYCLE
    }

    #[inline(always)]
    fn scheduler(self) -> usize {
        self.0 as usize % (1 << BITS)
    }

    /// Returns its place in the order of the cycle.
    fn place(self) -> u64 {
        (self.0 >> BITS) % (1 << BITS)
    }
}

/// Next turn of each scheduler of an SM.
#[derive(Clone)]
pub(super) struct Due {
    /// Turns of the first four schedulers, and of four each of the others.
    first: [Turn; 4],
    more: Vec<[Turn; 4]>,
    /// Number of schedulers, and a mask of its bits if it is a power of two, else all ones.
    count: u64,
    mask: u64,
}

impl Due {
    pub(super) fn new(schedulers: u32) -> Due {
        let count = u64::from(schedulers.max(1));
        Due {
            first: [Turn::NONE; 4],
            more: vec![[Turn::NONE; 4]; (schedulers.div_ceil(4) as usize).saturating_sub(1)],
            count,
            mask: if count.is_power_of_two() { count - 1 } else { u64::MAX },
        }
    }

    /// Returns the earliest turn.
    #[inline(always)]
    fn earliest(&self) -> Turn {
        let least = |&[a, b, c, d]: &[Turn; 4]| a.min(b).min(c.min(d));
        if self.more.is_empty() {
            return least(&self.first);
        }
        self.more.iter().map(least).fold(least(&self.first), Turn::min)
    }

    /// Returns the turn of scheduler `s`.
    fn of(&self, s: usize) -> Turn {
        match s.checked_sub(4) {
            None => self.first[s % 4],
            Some(other) => self.more[other / 4][other % 4],
        }
    }

    /// Sets the cycle of the next issue of scheduler `s`.
    #[inline(always)]
    pub(super) fn set(&mut self, s: usize, next: Cycle) {
        let turn = if next == NEVER { Turn::NONE } else { self.at(s, next) };
        match s.checked_sub(4) {
            None => self.first[s % 4] = turn,
            Some(other) => self.more[other / 4][other % 4] = turn,
        }
    }

    /// Returns the turn of scheduler `s` in a cycle.
    #[inline(always)]
    fn at(&self, s: usize, cycle: Cycle) -> Turn {
        let number = s as u64;
        // Most machines have a power of two: no division.
        let place = match self.mask {
            u64::MAX => (number + self.count - cycle % self.count) % self.count,
            mask => number.wrapping_sub(cycle) & mask,
        };
        Turn(cycle << BELOW_CYCLE | place << BITS | number)
    }

    /// Returns the scheduler that has the `place`-th turn of a cycle.
    fn scheduler(&self, place: u64, cycle: Cycle) -> usize {
        ((place + cycle % self.count) % self.count) as usize
    }
}

impl<O: Observer> Sm<'_, O> {
    /// Returns the cycle of the next possible issue, or `NEVER`.
    pub(in crate::machine) fn next_cycle(&self) -> Cycle {
        match self.due.earliest() {
            Turn::NONE => NEVER,
            turn => turn.cycle(),
        }
    }

    /// Runs the next cycle in which a warp can issue. Returns the end of the SM, if reached.
    #[inline]
    pub(in crate::machine) fn cycle(&mut self) -> Option<Finish> {
        loop {
            let finish = self.turn();
            if finish.is_some() || self.cycle_is_over() {
                return finish.map(|finish| *finish);
            }
        }
    }

    /// Returns true if no scheduler has its turn any more in the cycle of the last turn.
    #[inline(always)]
    pub(in crate::machine) fn cycle_is_over(&self) -> bool {
        self.next_turn().cycle() != self.last_turn.cycle()
    }

    /// Returns the next turn.
    #[inline(always)]
    fn next_turn(&self) -> Turn {
        let first = self.due.earliest();
        if first >= self.last_turn { first } else { self.rest_of_cycle().unwrap_or(first) }
    }

    /// Returns the next turn in the cycle of the last one, if an earlier one is due.
    ///
    /// A barrier without latency lets warps issue whose scheduler had its turn in this cycle.
    #[cold]
    fn rest_of_cycle(&self) -> Option<Turn> {
        let cycle = self.last_turn.cycle();
        let rest = self.last_turn.place() + 1..self.schedulers.len() as u64;
        rest.map(|place| self.due.at(self.due.scheduler(place, cycle), cycle))
            .find(|&turn| self.due.of(turn.scheduler()) <= turn)
    }

    /// Runs the next turn of a scheduler that may issue. Returns the end of the SM, if reached.
    ///
    /// The first claim on shared ports rotates by cycle. (In a box, the end needs a register.)
    #[inline(always)]
    pub(in crate::machine) fn turn(&mut self) -> Option<Box<Finish>> {
        self.turn_of(self.next_turn(), None)
    }

    /// As [`Sm::turn`], of the next turn. `selected` is the scheduler's warp if it has just been asked.
    #[inline(always)]
    fn turn_of(&mut self, turn: Turn, selected: Option<usize>) -> Option<Box<Finish>> {
        let now = turn.cycle();
        // The limit of issues holds at the begin of a cycle.
        if now >= self.stop
            || self.issued >= self.cx.max_issues
                && (now != self.last_turn.cycle() || self.issued == 0)
        {
            return self.begin_cycle().err().map(Box::new);
        }
        self.last_turn = turn;
        if let Err(fault) = self.issue(turn.scheduler(), now, selected) {
            return Some(Box::new(self.cx.fault(fault)));
        }
        self.end_cycle(now);
        None
    }

    /// Runs the next turn of a scheduler, and further ones as long as other SMs may run before or
    /// after their steps.
    pub(in crate::machine) fn turns_ahead(&mut self) -> Option<Finish> {
        let mut next = (self.next_turn(), None);
        let limit = self.issued + TURNS_AHEAD;
        loop {
            let finish = self.turn_of(next.0, next.1);
            if finish.is_some() || self.issuer.watch.is_quiet() || self.issued >= limit {
                return finish.map(|finish| *finish);
            }
            match self.next_if_free() {
                Some(turn) => next = turn,
                None => return None,
            }
        }
    }

    /// Returns the next turn of a scheduler with its warp, if it has one, and `None` if other SMs may
    /// have to run before its step.
    #[inline(always)]
    fn next_if_free(&mut self) -> Option<(Turn, Option<usize>)> {
        let turn = self.next_turn();
        if turn == Turn::NONE {
            return None;
        }
        let (now, s) = (turn.cycle(), turn.scheduler());
        let Some(local) = self.schedulers[s].select(now, &self.issuer.shared) else {
            return Some((turn, None));
        };
        let warp = &self.warps[local * self.schedulers.len() + s];
        let is_free = warp.micro_ops.issued > 0
            || warp.next.is_some_and(|(pc, active)| {
                match self.cx.program.costs[pc.index()].visibility {
                    Visibility::Private => true,
                    Visibility::Weak => self.cx.accesses.is_some(),
                    Visibility::Reduction => self.is_free(warp, pc, active),
                    Visibility::Ordered => false,
                }
            });
        is_free.then_some((turn, Some(local)))
    }

    /// Returns true if a reduction takes the same time before and after those of other SMs.
    #[inline(never)]
    fn is_free(&self, warp: &Warp, pc: Pc, active: LaneMask) -> bool {
        let inst = &self.cx.program.ops[pc.index()].inst;
        let (Some(_), Some(atomic)) = (&self.cx.accesses, inst.op.atomic()) else { return false };
        let Some(units) = &self.cx.atomics else { return true };
        let lanes = exec::guarded(inst, active, &warp.registers);
        let addresses = exec::addresses(atomic.address, lanes, &warp.registers);
        units.are_settled(lanes, &addresses, self.cx.active_sms)
    }

    /// Finds the next issue of scheduler `s` again.
    #[inline(always)]
    pub(super) fn refresh(&mut self, s: usize) {
        let scheduler = &mut self.schedulers[s];
        scheduler.refresh(&self.issuer.shared);
        self.due.set(s, scheduler.next);
    }

    /// As [`Sm::refresh`], for changes by other warps.
    #[inline(never)]
    pub(super) fn refresh_again(&mut self, s: usize) {
        self.refresh(s);
    }

    /// Begins a cycle. Returns its number or the end of the SM.
    #[inline]
    pub(in crate::machine) fn begin_cycle(&mut self) -> Result<Cycle, Finish> {
        let now = self.next_cycle();
        if now == NEVER {
            return Err(if self.free.len() == self.issuer.blocks.len() {
                Finish::Ok
            } else {
                self.deadlock()
            });
        }
        if now >= self.cx.max_cycles {
            self.now = self.cx.max_cycles;
            return Err(Finish::CycleLimit(Limit::Cycles(self.now)));
        }
        if self.issued >= self.cx.max_issues {
            return Err(Finish::CycleLimit(Limit::Issues {
                sm: self.id,
                issued: self.issued,
                cycle: Some(self.now),
            }));
        }
        Ok(now)
    }

    /// Runs the `turn`-th scheduler's part of a cycle. The first claim on shared ports rotates by
    /// cycle.
    #[inline]
    pub(in crate::machine) fn issue_of(
        &mut self,
        turn: usize,
        now: Cycle,
    ) -> Result<(), Box<FaultReport>> {
        let s = self.due.scheduler(turn as u64, now);
        if self.schedulers[s].next <= now { self.issue(s, now, None) } else { Ok(()) }
    }

    /// Ends a cycle.
    #[inline]
    pub(in crate::machine) fn end_cycle(&mut self, now: Cycle) {
        self.now = self.now.max(now + 1);
    }
}
