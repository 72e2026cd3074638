//! Issue of steps that expand to several micro-ops ([`Expansion`]), one at a time.

use super::super::expansion::Expansion;
use super::super::pricing::Cost;
use super::super::scheduler::{Port, Scheduler};
use super::super::warp::{MicroOps, Until, Waiting, Warp};
use super::Issuer;
use crate::base::{Cycle, LaneMask, WarpId};
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
        if let (first, Some(next)) = self.expansion(cost).part(0) {
            await_micro_op(scheduler, warp, cost, (first.gap, next.port), now);
        }
    }

    /// Issues the next micro-op of the warp's step.
    ///
    /// After the last one the warp continues.
    #[inline(never)]
    pub(super) fn issue_micro_op(
        &mut self,
        scheduler: &mut Scheduler,
        warp: &mut Warp,
        w: usize,
        cost: &Cost,
        now: Cycle,
    ) {
        let Some((pc, active)) = warp.next else { return };
        let (micro_op, next) = self.expansion(cost).part(warp.micro_ops.issued);
        self.attribute(scheduler, warp, w, pc, (micro_op.port, cost.throttle), now);
        let (cycle, sm, lanes) = (now, self.id, warp.micro_ops.lanes);
        self.observer.on(Event::IssueMicroOp {
            cycle,
            sm,
            warp: WarpId(w as u32),
            pc,
            active,
            lanes,
        });
        scheduler.accounted = now + 1;
        if micro_op.port != Port::None {
            scheduler.occupy(micro_op.port, now + Cycle::from(micro_op.interval));
        }
        if let Some(next) = next {
            warp.micro_ops.issued += 1;
            return await_micro_op(scheduler, warp, cost, (micro_op.gap, next.port), now);
        }
        warp.micro_ops.issued = 0;
        warp.write_back(cost, now + Cycle::from(cost.latency));
        self.settle(scheduler, warp, w, now + 1, cost.gap.after(now));
    }

    #[inline]
    fn expansion(&self, cost: &Cost) -> &'a Expansion {
        &self.cx.program.expansions[cost.expansion as usize - 1]
    }
}

/// Makes the warp wait `gap` cycles for the next micro-op of its step, which needs `port`.
#[inline]
fn await_micro_op(
    scheduler: &mut Scheduler,
    warp: &mut Warp,
    cost: &Cost,
    (gap, port): (u32, Port),
    now: Cycle,
) {
    let until = Until::new(now + Cycle::from(gap), cost.result);
    // The wait for its result is the only one.
    warp.waiting = Waiting { from: now + 1, fetched: 0, until, ..warp.waiting };
    scheduler.set_ready(warp.home.1, until.cycle(), port);
}
