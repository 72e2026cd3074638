//! Time accounting: one reason for each scheduler slot and each cycle of a resident warp.

use super::super::scheduler::{Port, Scheduler};
use super::super::warp::{Waiting, Warp};
use super::Issuer;
use crate::base::{Cycle, Pc, WarpId};
use crate::event::{Event, Observer, SlotLoss, Stall};

impl<O: Observer> Issuer<'_, O> {
    /// Attributes the scheduler's open slots up to `until` to `reason`.
    #[inline]
    pub(in super::super) fn lose_slots(
        &mut self,
        scheduler: &mut Scheduler,
        until: Cycle,
        reason: SlotLoss,
    ) {
        if until > scheduler.accounted {
            let (cycle, cycles) = (scheduler.accounted, until - scheduler.accounted);
            scheduler.accounted = until;
            self.observer.on(Event::SlotsLost {
                cycle,
                sm: self.id,
                scheduler: scheduler.number,
                reason,
                cycles,
            });
        }
    }

    /// Attributes the slots before an issue at `now`, if any were lost, to a state of its warp.
    #[inline(always)]
    fn stall_slots(&mut self, scheduler: &Scheduler, now: Cycle, stall: Stall) {
        let (cycle, number) = (scheduler.accounted, scheduler.number);
        self.observer.stalled(cycle, self.id, number, stall, now.saturating_sub(cycle));
    }

    /// Attributes the scheduler's lost slots and the warp's wait up to its issue.
    #[inline(always)]
    pub(super) fn attribute(
        &mut self,
        scheduler: &mut Scheduler,
        warp: &Warp,
        w: usize,
        pc: Pc,
        (port, throttle): (Port, Stall),
        now: Cycle,
    ) {
        let Waiting { from, before, resolves, fetched, until } = warp.waiting;
        let (sm, warp, stall) = (self.id, WarpId(w as u32), until.stall());
        // The wait is for the issue interval or, in machine code, the stall count first, then for
        // the branch, the fetch, dependences, the port (its last busy span) and other warps.
        let ready = until.cycle().max(from).min(now);
        // Cycles in which no warp could issue because registers were read.
        let stood = if self.native { scheduler.ports.stood(ready, now) } else { 0 };
        let free = if self.native && throttle == Stall::MathPipeThrottle {
            // Of each interval of the pipe, another warp issues in one cycle.
            let wait = now - ready - stood;
            ready
                + match self.cx.program.costs[pc.index()].interval {
                    0 | 1 => 0,
                    2 => wait / 2, // most pipes: no division
                    interval => wait * Cycle::from(interval - 1) / Cycle::from(interval),
                }
        } else {
            scheduler.free(port, &self.shared).max(ready).min(now)
        };
        self.stall_slots(scheduler, now, if free > ready { throttle } else { stall });
        let mut reported = from;
        let mut span = |until: Cycle| {
            let cycles = until.saturating_sub(reported);
            reported += cycles;
            cycles
        };
        let observer = &mut self.observer;
        if self.native && resolves.cycle() <= before.cycle() && fetched <= from {
            // The usual wait is for the stall count only.
            let before = (before.stall(), span(before.cycle().min(ready)));
            observer.waited(sm, warp, pc, [before]);
        } else if self.native || fetched > from {
            let fetched = fetched.min(ready);
            let own = if self.native { ready } else { fetched };
            let before = (before.stall(), span(before.cycle().min(own)));
            let resolves = (resolves.stall(), span(resolves.cycle().min(own)));
            let fetched = (Stall::NoInstruction, span(fetched));
            observer.waited(sm, warp, pc, [before, resolves, fetched]);
        }
        let (depends, throttled) = ((stall, span(ready)), (throttle, span(free)));
        let stood = (Stall::DispatchStall, span((free + stood).min(now)));
        if self.native {
            let others = (Stall::NotSelected, span(now));
            observer.waited(sm, warp, pc, [depends, throttled, stood, others]);
        } else {
            observer.waited(sm, warp, pc, [depends, throttled, (Stall::NotSelected, span(now))]);
        }
    }
    /// As [`Issuer::attribute`], for a further micro-op of a step.
    ///
    /// The warp has waited for the one before, the port and other warps.
    #[inline(always)]
    pub(super) fn attribute_micro_op(
        &mut self,
        scheduler: &mut Scheduler,
        warp: &Warp,
        w: usize,
        pc: Pc,
        (port, throttle): (Port, Stall),
        now: Cycle,
    ) {
        let Waiting { from, until, .. } = warp.waiting;
        let (ready, stall) = (until.cycle().min(now), until.stall());
        let free = scheduler.free(port, &self.shared).max(ready).min(now);
        self.stall_slots(scheduler, now, if free > ready { throttle } else { stall });
        let spans =
            [(stall, ready - from), (throttle, free - ready), (Stall::NotSelected, now - free)];
        self.observer.waited(self.id, WarpId(w as u32), pc, spans);
    }
}
