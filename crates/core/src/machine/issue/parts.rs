//! Issue of steps that expand to several micro-ops ([`Expansion`]), one at a time.

use super::super::expansion::Expansion;
use super::super::pricing::Cost;
use super::super::scheduler::{Port, Scheduler};
use super::super::warp::{MicroOps, Until, Warp};
use super::Issuer;
use crate::base::{Cycle, LaneMask, Pc, WarpId};
use crate::event::{Event, Observer};

impl<'a, O: Observer> Issuer<'a, O> {
    /// Schedules the remaining micro-ops of a step after the first one.
    ///
    /// `lanes` execute the step.
    #[inline]
    pub(super) fn begin_micro_ops(
        &self,
        scheduler: &mut Scheduler,
        warp: &mut Warp,
        cost: &Cost,
        lanes: LaneMask,
        now: Cycle,
    ) {
        warp.micro_ops = MicroOps { issued: 1, lanes };
        let first = self.expansion(cost).part(0);
        if let Some(port) = first.next {
            await_micro_op(scheduler, warp, cost, (first.gap, port), now);
        }
    }

    /// Issues the next micro-op of the warp's step.
    ///
    /// After the last one the warp continues.
    #[inline(always)]
    pub(super) fn issue_micro_op(
        &mut self,
        scheduler: &mut Scheduler,
        warp: &mut Warp,
        w: usize,
        (pc, active): (Pc, LaneMask),
        cost: &Cost,
        now: Cycle,
    ) {
        let MicroOps { issued, lanes } = warp.micro_ops;
        let part = self.expansion(cost).part(issued);
        self.attribute_micro_op(scheduler, warp, w, pc, (part.port, cost.throttle), now);
        if O::EACH_MICRO_OP {
            let (cycle, sm, warp) = (now, self.id, WarpId(w as u32));
            self.observer.on(Event::IssueMicroOp { cycle, sm, warp, pc, active, lanes });
        }
        scheduler.accounted = now + 1;
        // No port is always free.
        let busy = now + Cycle::from(part.interval);
        scheduler.occupy(part.port, if part.port == Port::None { 0 } else { busy });
        if let Some(port) = part.next {
            warp.micro_ops.issued += 1;
            return await_micro_op(scheduler, warp, cost, (part.gap, port), now);
        }
        self.tell_micro_ops(warp, issued);
        warp.micro_ops.issued = 0;
        warp.write_back(cost, now + Cycle::from(cost.latency));
        let next = warp.control.active();
        self.settle_at::<false, true>(scheduler, warp, w, next, now + 1, cost.gap.after(now));
    }

    /// Tells an observer that does not hear each micro-op of the further ones of the warp's step.
    #[inline]
    pub(in crate::machine) fn tell_micro_ops(&mut self, warp: &Warp, further: u32) {
        if !O::EACH_MICRO_OP
            && further > 0
            && let Some((pc, active)) = warp.next
        {
            self.observer.micro_ops(pc, active, warp.micro_ops.lanes, further);
        }
    }

    #[inline]
    fn expansion(&self, cost: &Cost) -> &'a Expansion {
        &self.cx.program.expansions[cost.expansion as usize - 1]
    }
}

/// Makes the warp wait `gap` cycles for the next micro-op of its step, which needs `port`.
#[inline(always)]
fn await_micro_op(
    scheduler: &mut Scheduler,
    warp: &mut Warp,
    cost: &Cost,
    (gap, port): (u32, Port),
    now: Cycle,
) {
    let until = Until::new(now + Cycle::from(gap), cost.result);
    // The wait for its result is the only one.
    (warp.waiting.from, warp.waiting.further, warp.waiting.until) = (now + 1, false, until);
    scheduler.set_ready(warp.local(), until.cycle(), port);
}
