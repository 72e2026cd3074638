//! Issue of the steps that change only registers, which are the most.

use super::super::pricing::Cost;
use super::super::scheduler::{Port, Scheduler};
use super::super::warp::{Until, Warp};
use super::Issuer;
use super::native::dispatch;
use crate::base::{Cycle, LaneMask, Pc, WarpId};
use crate::event::{Event, Observer, Stall};
use crate::exec;

impl<O: Observer> Issuer<'_, O> {
    /// Issues a step whose cost is [simple](Cost::simple), in machine code if `NATIVE`.
    #[inline(always)]
    pub(super) fn issue_simple<const NATIVE: bool>(
        &mut self,
        scheduler: &mut Scheduler,
        warp: &mut Warp,
        w: usize,
        (pc, active): (Pc, LaneMask),
        cost: &Cost,
        now: Cycle,
    ) {
        self.attribute::<NATIVE>(scheduler, warp, w, pc, cost, now);
        if self.watch.tick() {
            self.watch.observe(w, warp, self.cx.program.ops, pc, active);
        }
        let lanes = match cost.predicate {
            None => active,
            Some(guard) => active & exec::predicate(&warp.registers, guard),
        };
        let (sm, slot) = (self.id, WarpId(w as u32));
        self.observer.control(sm, slot, &warp.control);
        self.observer.on(Event::Issue { cycle: now, sm, warp: slot, pc, active, lanes, slots: 1 });
        scheduler.accounted = now + 1;
        if NATIVE {
            dispatch(scheduler, cost, now);
        }
        let mut done = now + Cycle::from(cost.latency);
        if NATIVE && cost.queued {
            done += self.queue_simple(scheduler, warp, cost, lanes, now);
        } else {
            scheduler.occupy_for(cost.port, cost.interval, now);
        }
        (cost.lanes)(cost.op, lanes, &mut warp.registers);
        let next = if NATIVE {
            // The lanes stay together.
            warp.control.go(cost.next);
            debug_assert_eq!(warp.control.active(), Some((cost.next, active)));
            Some((cost.next, active))
        } else {
            warp.control.go_on(cost.next)
        };
        if let (Port::Uniform, Some(uniform)) = (cost.port, self.cx.spec.uniform) {
            let at = now + Cycle::from(uniform.branch);
            warp.wait_for_uniform(Until::new(at, Stall::Wait));
        }
        warp.write_back(cost, done);
        self.settle_at::<NATIVE, true>(scheduler, warp, w, next, now + 1, cost.gap.after(now));
    }
}
