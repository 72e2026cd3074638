//! Cycles of an SM: in each one its schedulers have their turns, the first one rotating by cycle.

use super::Sm;
use crate::base::{Cycle, LaneMask, Pc};
use crate::event::Observer;
use crate::exec;
use crate::machine::pricing::Visibility;
use crate::machine::scheduler::NEVER;
use crate::machine::verdict::{Finish, Limit};
use crate::machine::warp::Warp;

/// Issues of an SM at once, at most, ahead of others.
const ISSUES_AHEAD: u64 = 1 << 16;
/// Issues of an SM at once, at most, that runs alone.
const ISSUES_ALONE: u64 = 1 << 12;

/// Extent of the turns that an SM runs at once.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Extent {
    /// One turn.
    Turn,
    /// A cycle.
    Cycle,
    /// Whole cycles, many of them.
    Many,
    /// The next cycle, then turns as long as other SMs may run before or after their steps.
    Ahead,
}

/// Next turn of an SM: its cycle, and its place in the order of the cycle.
#[derive(Clone, Copy)]
pub(super) struct Position {
    cycle: Cycle,
    place: usize,
}

impl Position {
    /// Position before the first cycle of an SM.
    pub(super) const START: Position = Position { cycle: NEVER, place: usize::MAX };
}

impl<O: Observer> Sm<'_, O> {
    /// Returns the cycle of the next possible issue, or `NEVER`.
    pub(in crate::machine) fn next_cycle(&mut self) -> Cycle {
        loop {
            let soonest = self.soonest();
            let mut changed = false;
            for scheduler in self.schedulers.iter_mut().filter(|s| s.next == soonest) {
                scheduler.refresh(&self.issuer.shared);
                changed |= scheduler.next != soonest;
            }
            if !changed {
                return soonest;
            }
        }
    }

    /// Returns a cycle before which no scheduler can issue.
    #[inline(always)]
    fn soonest(&self) -> Cycle {
        self.schedulers.iter().fold(NEVER, |soonest, scheduler| soonest.min(scheduler.next))
    }

    /// Runs the next cycle in which a warp can issue. Returns the end of the SM, if reached.
    pub(in crate::machine) fn cycle(&mut self) -> Option<Finish> {
        self.turns(Extent::Cycle)
    }

    /// Runs some thousand issues in whole cycles. Returns the end of the SM, if reached.
    ///
    /// Stops early if states are to be compared or the observer is done.
    pub(in crate::machine) fn cycles(&mut self) -> Option<Finish> {
        self.turns(Extent::Many)
    }

    /// Runs the next turn of a scheduler, and further ones as long as other SMs may run before or
    /// after their steps.
    pub(in crate::machine) fn turns_ahead(&mut self) -> Option<Finish> {
        self.turns(Extent::Ahead)
    }

    /// Runs the `place`-th turn of cycle `now`.
    pub(in crate::machine) fn turn(&mut self, place: usize, now: Cycle) -> Option<Finish> {
        self.position = Position { cycle: now, place };
        self.turns(Extent::Turn)
    }

    /// Runs the turns of an extent. Returns the end of the SM, if reached.
    ///
    /// The first claim on shared ports rotates by cycle.
    #[inline(never)]
    fn turns(&mut self, extent: Extent) -> Option<Finish> {
        let count = self.schedulers.len();
        let ahead = extent == Extent::Ahead;
        let most = self.issued + if ahead { ISSUES_AHEAD } else { ISSUES_ALONE };
        // Other SMs wait for the turns of this cycle.
        let due = if ahead { self.next_cycle() } else { NEVER };
        loop {
            if self.position.place >= count
                && let Err(finish) = self.begin_turns()
            {
                return Some(finish);
            }
            let now = self.position.cycle;
            let first = rotation(now, count);
            while self.position.place < count {
                let s = first + self.position.place;
                let s = if s < count { s } else { s - count };
                self.position.place += 1;
                let scheduler = &mut self.schedulers[s];
                if scheduler.next <= now
                    && let Some(local) = scheduler.select(now, &self.issuer.shared)
                {
                    if ahead && now != due && !self.is_free(s, local) {
                        self.position.place -= 1;
                        return None;
                    }
                    if let Err(fault) = self.issue(s, local, now) {
                        return Some(self.cx.fault(fault));
                    }
                    if ahead && (self.issued >= most || self.issuer.watch.is_quiet()) {
                        return None;
                    }
                }
                if extent == Extent::Turn {
                    return None;
                }
            }
            let ends = match extent {
                Extent::Many => {
                    self.issued >= most
                        || self.issuer.watch.is_quiet()
                        || self.issuer.observer.is_done()
                }
                Extent::Cycle => self.next_cycle() != now,
                Extent::Turn | Extent::Ahead => false,
            };
            if ends {
                return None;
            }
        }
    }

    /// Begins the turns of the next cycle, or those of the same cycle again, in which a barrier
    /// without latency has let warps issue. Returns the end of the SM, if reached.
    #[inline(always)]
    fn begin_turns(&mut self) -> Result<(), Finish> {
        let mut next = self.soonest();
        let begins = next != self.position.cycle;
        // The limit of issues holds at the begin of a cycle.
        if next >= self.stop || begins && self.issued >= self.cx.max_issues {
            next = self.begin_cycle()?;
        }
        self.position = Position { cycle: next, place: 0 };
        Ok(())
    }

    /// Returns true if other SMs may run before and after the next step of a scheduler's warp.
    #[inline(always)]
    fn is_free(&self, s: usize, local: usize) -> bool {
        let warp = &self.warps[local * self.schedulers.len() + s];
        warp.micro_ops.issued > 0
            || warp.next.is_some_and(|(pc, active)| {
                match self.cx.program.costs[pc.index()].visibility {
                    Visibility::Private => true,
                    Visibility::Weak => self.cx.accesses.is_some(),
                    Visibility::Reduction => self.commutes(warp, pc, active),
                    Visibility::Ordered => false,
                }
            })
    }

    /// Returns true if a reduction takes the same time before and after those of other SMs.
    #[inline(never)]
    fn commutes(&self, warp: &Warp, pc: Pc, active: LaneMask) -> bool {
        let inst = &self.cx.program.ops[pc.index()].inst;
        let (Some(_), Some(atomic)) = (&self.cx.accesses, inst.op.atomic()) else { return false };
        let Some(units) = &self.cx.atomics else { return true };
        let lanes = exec::guarded(inst, active, &warp.registers);
        let addresses = exec::addresses(atomic.address, lanes, &warp.registers);
        units.are_settled(lanes, &addresses, self.cx.active_sms)
    }

    /// Begins a cycle. Returns its number or the end of the SM.
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
}

/// Returns the scheduler with the first turn of a cycle.
#[inline(always)]
fn rotation(cycle: Cycle, count: usize) -> usize {
    // Most machines have a power of two: no division.
    let count = count as u64;
    (if count.is_power_of_two() { cycle & (count - 1) } else { cycle % count }) as usize
}
