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
/// Bits of a scheduler's turn below its cycle in [`Sm::due`]; there are at most 64 schedulers.
const TURN_BITS: u32 = 6;

impl<O: Observer> Sm<'_, O> {
    /// Returns the cycle of the next possible issue, or `NEVER`.
    pub(in crate::machine) fn next_cycle(&self) -> Cycle {
        match self.first_due() {
            u64::MAX => NEVER,
            due => due >> TURN_BITS,
        }
    }

    /// Returns the earliest entry of `due`.
    #[inline(always)]
    fn first_due(&self) -> u64 {
        self.due.iter().fold(u64::MAX, |first, &[a, b, c, d]| first.min(a.min(b)).min(c.min(d)))
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
        self.next_due() >> TURN_BITS != self.last_turn >> TURN_BITS
    }

    /// Returns the next turn, as an entry of `due`.
    #[inline(always)]
    fn next_due(&self) -> u64 {
        let first = self.first_due();
        if first >= self.last_turn { first } else { self.rest_of_cycle().unwrap_or(first) }
    }

    /// Returns the next turn in the cycle of the last one, if an earlier one is due.
    ///
    /// A barrier without latency lets warps issue whose scheduler had its turn in this cycle.
    #[cold]
    fn rest_of_cycle(&self) -> Option<u64> {
        let cycle = self.last_turn >> TURN_BITS;
        (self.last_turn + 1..(cycle << TURN_BITS) + self.schedulers.len() as u64).find(|&then| {
            let s = self.rotated(then as usize % (1 << TURN_BITS), cycle);
            self.due[s / 4][s % 4] <= then
        })
    }

    /// Runs the next turn of a scheduler that may issue. Returns the end of the SM, if reached.
    ///
    /// The first claim on shared ports rotates by cycle. (In a box, the end needs a register.)
    #[inline(always)]
    pub(in crate::machine) fn turn(&mut self) -> Option<Box<Finish>> {
        self.turn_of(None)
    }

    /// As [`Sm::turn`]. `selected` is the scheduler's warp if it has just been asked.
    #[inline(always)]
    fn turn_of(&mut self, selected: Option<usize>) -> Option<Box<Finish>> {
        let due = self.next_due();
        let now = due >> TURN_BITS;
        // The limit of issues holds at the begin of a cycle.
        if now >= self.cx.max_cycles.min(NEVER >> TURN_BITS)
            || self.issued >= self.cx.max_issues
                && (now != self.last_turn >> TURN_BITS || self.issued == 0)
        {
            return self.begin_cycle().err().map(Box::new);
        }
        self.last_turn = due;
        let turn = due as usize % (1 << TURN_BITS);
        if let Err(fault) = self.issue(self.rotated(turn, now), now, selected) {
            return Some(Box::new(self.cx.fault(fault)));
        }
        self.end_cycle(now);
        None
    }

    /// Runs the next turn of a scheduler, and further ones as long as other SMs may run before or
    /// after their steps.
    pub(in crate::machine) fn turns_ahead(&mut self) -> Option<Finish> {
        let mut selected = None;
        let limit = self.issued + TURNS_AHEAD;
        loop {
            let finish = self.turn_of(selected);
            if finish.is_some() || self.issuer.watch.is_quiet() || self.issued >= limit {
                return finish.map(|finish| *finish);
            }
            match self.next_if_free() {
                Some(next) => selected = next,
                None => return None,
            }
        }
    }

    /// Returns the warp of the next turn of a scheduler, if it has one, and `None` if other SMs may
    /// have to run before its step.
    #[inline(always)]
    fn next_if_free(&mut self) -> Option<Option<usize>> {
        let due = self.next_due();
        if due == u64::MAX {
            return None;
        }
        let now = due >> TURN_BITS;
        let s = self.rotated(due as usize % (1 << TURN_BITS), now);
        let Some(local) = self.schedulers[s].select(now, &self.issuer.shared) else {
            return Some(None);
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
        is_free.then_some(Some(local))
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

    /// Returns the scheduler that has the `turn`-th turn of a cycle.
    #[inline(always)]
    fn rotated(&self, turn: usize, now: Cycle) -> usize {
        // Most machines have a power of two: no division.
        let count = self.schedulers.len();
        let first = now as usize;
        if count.is_power_of_two() {
            turn.wrapping_add(first) & (count - 1)
        } else {
            (turn + first % count) % count
        }
    }

    /// Finds the next issue of scheduler `s` again.
    #[inline(always)]
    pub(super) fn refresh(&mut self, s: usize) {
        let scheduler = &mut self.schedulers[s];
        scheduler.refresh(&self.issuer.shared);
        let (next, count) = (scheduler.next, self.schedulers.len());
        self.due[s / 4][s % 4] = if next == NEVER {
            u64::MAX
        } else if count.is_power_of_two() {
            (next << TURN_BITS) | ((s as u64).wrapping_sub(next) & (count as u64 - 1))
        } else {
            let count = count as u64;
            (next << TURN_BITS) | ((s as u64 + count - next % count) % count)
        };
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
        let s = self.rotated(turn, now);
        if self.schedulers[s].next <= now { self.issue(s, now, None) } else { Ok(()) }
    }

    /// Ends a cycle.
    #[inline]
    pub(in crate::machine) fn end_cycle(&mut self, now: Cycle) {
        self.now = self.now.max(now + 1);
    }
}
