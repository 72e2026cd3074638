//! Steps that become several machine instructions ([`Expansion`]), issued one by one.

use super::super::expansion::Expansion;
use super::super::program::Cost;
use super::super::scheduler::{Port, Scheduler};
use super::super::warp::{Parts, Until, Waiting, Warp};
use super::Issuer;
use crate::base::{Cycle, LaneMask, WarpId};
use crate::event::{Event, Observer};

impl<'a, O: Observer> Issuer<'a, O> {
    /// The first machine instruction of a step that `lanes` of the warp execute has been issued; the others follow.
    #[inline]
    pub(super) fn begin_parts(
        &self,
        scheduler: &mut Scheduler,
        warp: &mut Warp,
        cost: &Cost,
        lanes: LaneMask,
        now: Cycle,
    ) {
        warp.parts = Parts { issued: 1, lanes };
        let expansion = self.expansion(cost);
        await_part(scheduler, warp, cost, expansion, expansion.part(0).gap, now);
    }

    /// Issues a further machine instruction of the step that the warp has begun; after the last the warp goes on.
    #[inline(never)]
    pub(super) fn issue_part(&mut self, scheduler: &mut Scheduler, warp: &mut Warp, w: usize, cost: &Cost, now: Cycle) {
        let Some((pc, active)) = warp.next else { return };
        let expansion = self.expansion(cost);
        let part = expansion.part(warp.parts.issued);
        self.attribute(scheduler, warp, w, pc, (part.port, cost.throttle), now);
        let (cycle, sm, lanes) = (now, self.id, warp.parts.lanes);
        self.observer.on(Event::IssuePart { cycle, sm, warp: WarpId(w as u32), pc, active, lanes });
        scheduler.accounted = now + 1;
        if part.port != Port::None {
            scheduler.occupy(part.port, now + Cycle::from(part.interval));
        }
        warp.parts.issued += 1;
        if warp.parts.issued < expansion.count {
            return await_part(scheduler, warp, cost, expansion, part.gap, now);
        }
        warp.parts.issued = 0;
        warp.write_back(cost, now + Cycle::from(cost.latency));
        self.settle(scheduler, warp, w, now + 1, cost.gap.after(now));
    }

    #[inline]
    fn expansion(&self, cost: &Cost) -> &'a Expansion {
        &self.cx.program.expansions[cost.expansion as usize - 1]
    }
}

/// Has the warp wait, `gap` cycles from now, until the next machine instruction of its step can be issued.
#[inline]
fn await_part(scheduler: &mut Scheduler, warp: &mut Warp, cost: &Cost, expansion: &Expansion, gap: u32, now: Cycle) {
    let until = Until::new(now + Cycle::from(gap), cost.result);
    warp.waiting = Waiting { from: now + 1, before: until, fetched: 0, until };
    scheduler.set_ready(warp.home.1, until.cycle(), expansion.part(warp.parts.issued).port);
}
