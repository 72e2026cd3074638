//! Next step of a warp after an issue, and steps without an issue slot.

use super::super::pricing::Kind;
use super::super::scheduler::{NEVER, Port, Scheduler};
use super::super::warp::{Until, Waiting, Warp};
use super::meet::gather;
use super::{Issuer, branch, join};
use crate::base::{Cycle, LaneMask, Pc, WarpId};
use crate::divergence::Flow;
use crate::event::{Event, Observer, Stall};
use crate::exec::{self, Effect};

impl<O: Observer> Issuer<'_, O> {
    /// Finds the warp's next step and its earliest issue cycle.
    ///
    /// Executes steps without an issue slot first.
    #[inline(always)]
    pub(in crate::machine) fn settle(
        &mut self,
        scheduler: &mut Scheduler,
        warp: &mut Warp,
        w: usize,
        from: Cycle,
        resume: Until,
    ) {
        let active = warp.control.active();
        self.settle_at(scheduler, warp, w, active, from, resume);
    }

    /// As [`Issuer::settle`], for a warp with `active` PC and lanes.
    #[inline(always)]
    pub(super) fn settle_at(
        &mut self,
        scheduler: &mut Scheduler,
        warp: &mut Warp,
        w: usize,
        active: Option<(Pc, LaneMask)>,
        from: Cycle,
        resume: Until,
    ) {
        let cx = self.cx;
        let mut candidate = active;
        let next = loop {
            let Some((pc, active)) = candidate else { break None };
            let cost = &cx.program.costs[pc.index()];
            if !cost.ahead
                && let Some(arrival) = warp.ahead.take()
            {
                warp.wait(arrival, pc);
            } else if cost.kind < Kind::FreeJoin || self.prepare(warp, w, pc, active, from) {
                break Some((pc, active));
            }
            candidate = warp.control.active();
        };
        warp.next = next;
        self.observer.control(self.id, WarpId(w as u32), &warp.control);
        let (mut fetched, mut resolves) = (from, resume);
        let (at, until, port) = match next {
            Some((pc, _)) => {
                let cost = &cx.program.costs[pc.index()];
                let resume = match (cost.ahead, cost.branches) {
                    (true, _) => resume,
                    (false, false) => resume.max(warp.opens),
                    (false, true) => resume.max(warp.opens).max(warp.uniform),
                };
                let native = cx.kernel.native.is_some();
                if native {
                    resolves = resume.max(warp.resolves);
                }
                let asked = resume.max(resolves).cycle().max(from);
                fetched = match &mut self.native_fetch {
                    Some(fetch) => {
                        fetch.fetch(warp.home.0, cost.line, asked) + Cycle::from(warp.refetch)
                    }
                    None => self
                        .instructions
                        .fetch(cost.line, asked)
                        .max(asked + Cycle::from(warp.refetch)),
                };
                let mut until = warp.dependences(cost, resume).max(warp.resolves);
                if cost.waits {
                    until = self.native_waits(warp, cost, (from, asked), until);
                }
                if fetched > asked {
                    until = until.max(Until::new(fetched, Stall::NoInstruction));
                } else {
                    fetched = from;
                }
                (until.cycle(), until, cost.port)
            }
            None => {
                let stall = if warp.arrivals.is_empty() { Stall::Blocked } else { Stall::Barrier };
                (NEVER, Until::new(NEVER >> 8, stall), Port::Alu)
            }
        };
        warp.refetch = 0;
        warp.waiting = Waiting { from, before: resume, resolves, fetched, until };
        scheduler.set_ready(warp.home.1, at, port);
    }

    /// Executes a step without an issue slot. On a fault it changes nothing and leaves the step to
    /// be issued.
    fn free(&mut self, warp: &mut Warp, w: usize, pc: Pc, active: LaneMask, from: Cycle) -> bool {
        let cx = self.cx;
        let (step, cost) = (&cx.program.ops[pc.index()], &cx.program.costs[pc.index()]);
        let lanes = exec::guarded(&step.inst, active, &warp.registers);
        self.observer.control(self.id, WarpId(w as u32), &warp.control);
        match self.execute(warp, step, pc, lanes, active, from) {
            Ok(Effect::Branch { taken }) => warp.control.advance(branch(step, taken)),
            Ok(_) => warp.control.go(step.next),
            Err(_) => return true,
        }
        warp.pass_on(cost);
        self.watch.pass(w, pc);
        let (cycle, sm, warp_id) = (from, self.id, WarpId(w as u32));
        self.observer.on(Event::Issue { cycle, sm, warp: warp_id, pc, active, lanes, slots: 0 });
        false
    }

    /// Returns true if `active` lanes can issue the step at `pc`.
    ///
    /// Otherwise the warp's control state has changed.
    #[inline(never)]
    fn prepare(
        &mut self,
        warp: &mut Warp,
        w: usize,
        pc: Pc,
        active: LaneMask,
        from: Cycle,
    ) -> bool {
        let cx = self.cx;
        let step = &cx.program.ops[pc.index()];
        match cx.program.costs[pc.index()].kind {
            Kind::FreeJoin => {
                let (cycle, sm, warp_id) = (from, self.id, WarpId(w as u32));
                self.observer.control(sm, warp_id, &warp.control);
                self.observer.on(Event::Issue {
                    cycle,
                    sm,
                    warp: warp_id,
                    pc,
                    active,
                    lanes: active,
                    slots: 0,
                });
                warp.control.advance(join(step));
                false
            }
            Kind::Free => self.free(warp, w, pc, active, from),
            Kind::Collective => gather(step, warp, active),
            Kind::Matrix => {
                let more = &cx.program.more;
                if let Ok(i) = more.binary_search_by_key(&pc, |(at, _)| *at) {
                    warp.merge(&more[i].1);
                }
                gather(step, warp, active)
            }
            Kind::GuardedBarrier => {
                // Lanes with a false guard do not wait at the barrier: they diverge here.
                let lanes = exec::guarded(&step.inst, active, &warp.registers);
                if lanes.is_empty() || lanes == active {
                    return true;
                }
                let (sm, slot, passing) = (self.id, WarpId(w as u32), active - lanes);
                self.observer.on(Event::BarrierPassed { sm, warp: slot, pc, lanes: passing });
                let reconverge = Some(step.next);
                warp.control.advance(Flow::Branch {
                    taken: lanes,
                    target: pc,
                    next: step.next,
                    reconverge,
                });
                false
            }
            Kind::ElementWise
            | Kind::Join
            | Kind::ConditionalBranch
            | Kind::Plain
            | Kind::Asynchronous => true,
        }
    }
}
