//! Time accounting: one reason for each scheduler slot and each cycle of a resident warp.

use super::super::pricing::Cost;
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
        debug_assert!(cycle <= now, "the slot of an issue is not attributed");
        self.observer.stalled(cycle, self.id, number, stall, now - cycle);
    }

    /// Attributes the scheduler's lost slots and the warp's wait up to its issue, in machine code
    /// if `NATIVE`.
    #[inline(always)]
    pub(super) fn attribute<const NATIVE: bool>(
        &mut self,
        scheduler: &mut Scheduler,
        warp: &Warp,
        w: usize,
        pc: Pc,
        cost: &Cost,
        now: Cycle,
    ) {
        if NATIVE {
            self.attribute_native(scheduler, &warp.waiting, (w, pc), cost, now);
        } else {
            self.attribute_ptx(scheduler, &warp.waiting, (w, pc), cost, now);
        }
    }

    /// The wait is for the issue interval first, then for the fetch, dependences, the port (its
    /// last busy span) and other warps.
    #[inline(always)]
    fn attribute_ptx(
        &mut self,
        scheduler: &mut Scheduler,
        waiting: &Waiting,
        (w, pc): (usize, Pc),
        cost: &Cost,
        now: Cycle,
    ) {
        let &Waiting { from, before, until, further, fetched, .. } = waiting;
        let (sm, warp, stall, throttle) = (self.id, WarpId(w as u32), until.stall(), cost.throttle);
        let ready = until.cycle();
        debug_assert!((from..=now).contains(&ready), "a warp that issues is ready");
        let free = scheduler.free(cost.port, &self.shared).max(ready).min(now);
        self.stall_slots(scheduler, now, if free > ready { throttle } else { stall });
        let mut arrived = from;
        if further {
            arrived = fetched.min(ready);
            let resumed = before.cycle().min(arrived).max(from);
            let spans =
                [(before.stall(), resumed - from), (Stall::NoInstruction, arrived - resumed)];
            self.observer.waited(sm, warp, pc, spans);
        }
        let spans =
            [(stall, ready - arrived), (throttle, free - ready), (Stall::NotSelected, now - free)];
        self.observer.waited(sm, warp, pc, spans);
    }

    /// The wait is for the stall count first, then for the branch, the fetch, dependence counters,
    /// the pipe, the dispatch and other warps.
    #[inline(always)]
    fn attribute_native(
        &mut self,
        scheduler: &mut Scheduler,
        waiting: &Waiting,
        (w, pc): (usize, Pc),
        cost: &Cost,
        now: Cycle,
    ) {
        let &Waiting { from, before, until, further, .. } = waiting;
        let (sm, warp, stall, throttle) = (self.id, WarpId(w as u32), until.stall(), cost.throttle);
        let ready = until.cycle();
        debug_assert!(before <= until && ready <= now, "a warp that issues is ready");
        let wait = now - ready;
        // Cycles in which no warp could issue because registers were read.
        let stood = scheduler.ports.stood(ready);
        let (throttled, stood) = if throttle == Stall::MathPipeThrottle {
            (cost.of_others(wait - stood), stood)
        } else {
            let queued = scheduler.free(cost.port, &self.shared).clamp(ready, now) - ready;
            let throttled = if cost.port == Port::Sfu {
                // The same, and a warp with another instruction may issue first.
                let interval = Cycle::from(cost.queues.max(1));
                queued.min((wait - stood) * (interval - 1) / (interval + wait - queued))
            } else {
                queued
            };
            (throttled, stood.min(wait - throttled))
        };
        self.stall_slots(scheduler, now, if throttled > 0 { throttle } else { stall });
        let counted = before.cycle();
        debug_assert!(counted >= from, "a stall count ends after the issue");
        let before = (before.stall(), counted - from);
        let others = (Stall::NotSelected, wait - throttled - stood);
        let throttled = (throttle, throttled);
        let stood = (Stall::DispatchStall, stood);
        if !further {
            // The usual wait is for the stall count only.
            let spans = [before, (stall, ready - counted), throttled, stood, others];
            return self.observer.waited(sm, warp, pc, spans);
        }
        let &Waiting { resolves, fetched, .. } = waiting;
        let resolved = resolves.cycle().min(ready).max(counted);
        let arrived = fetched.min(ready).max(resolved);
        let resolves = (resolves.stall(), resolved - counted);
        let fetched = (Stall::NoInstruction, arrived - resolved);
        let depends = (stall, ready - arrived);
        let spans = [before, resolves, fetched, depends, throttled, stood, others];
        self.observer.waited(sm, warp, pc, spans);
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
        let (ready, stall) = (until.cycle(), until.stall());
        debug_assert!(ready <= now, "a warp that issues is ready");
        let free = scheduler.free(port, &self.shared).max(ready).min(now);
        self.stall_slots(scheduler, now, if free > ready { throttle } else { stall });
        let spans =
            [(stall, ready - from), (throttle, free - ready), (Stall::NotSelected, now - free)];
        self.observer.waited(self.id, WarpId(w as u32), pc, spans);
    }
}
