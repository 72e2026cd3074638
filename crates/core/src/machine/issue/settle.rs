//! Next step of a warp after an issue, and steps without an issue slot.

use super::super::pricing::{Kind, NEEDS_PREPARATION};
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
        if self.native {
            self.settle_at::<true, false>(scheduler, warp, w, active, from, resume);
        } else {
            self.settle_at::<false, false>(scheduler, warp, w, active, from, resume);
        }
    }

    /// As [`Issuer::settle`], for a warp with `active` PC and lanes, of machine code if `NATIVE`.
    ///
    /// `STRAIGHT` is true after a step that changed only registers: nothing is to be resolved.
    #[inline(always)]
    pub(super) fn settle_at<const NATIVE: bool, const STRAIGHT: bool>(
        &mut self,
        scheduler: &mut Scheduler,
        warp: &mut Warp,
        w: usize,
        active: Option<(Pc, LaneMask)>,
        from: Cycle,
        resume: Until,
    ) {
        match active {
            Some((pc, lanes)) if self.issues_next(warp, pc) => {
                self.observer.control(self.id, WarpId(w as u32), &warp.control);
                self.await_issue::<NATIVE, STRAIGHT>(scheduler, warp, (pc, lanes), from, resume);
            }
            _ => self.settle_further(scheduler, warp, w, from, resume),
        }
    }

    /// Returns true if a warp at `pc` needs no preparation before it can issue.
    #[inline]
    fn issues_next(&self, warp: &Warp, pc: Pc) -> bool {
        let runs_ahead = u8::from(warp.ahead.is_some());
        // One branch, which is predictable, instead of three.
        self.costs[pc.index()].preparation + runs_ahead < NEEDS_PREPARATION
    }

    /// Finds the next step of a warp that needs preparation, or cannot go on.
    #[inline(never)]
    fn settle_further(
        &mut self,
        scheduler: &mut Scheduler,
        warp: &mut Warp,
        w: usize,
        from: Cycle,
        resume: Until,
    ) {
        // The stall count of a barrier precedes the wait there, that of a later step does not.
        let mut before = resume;
        let next = loop {
            let Some((pc, active)) = warp.control.active() else { break None };
            let cost = &self.costs[pc.index()];
            if !cost.ahead
                && let Some(arrival) = warp.ahead.take()
            {
                if arrival.pc.index() + 1 != pc.index() {
                    before = Until::new(from, Stall::Wait);
                }
                warp.wait(arrival, pc);
            } else if cost.kind < Kind::FreeJoin || self.prepare(warp, w, pc, active, from) {
                break Some((pc, active));
            }
        };
        self.observer.control(self.id, WarpId(w as u32), &warp.control);
        match next {
            Some(at) if self.native => {
                return self.await_issue::<true, false>(scheduler, warp, at, from, resume);
            }
            Some(at) => return self.await_issue::<false, false>(scheduler, warp, at, from, resume),
            None => {}
        }
        warp.next = None;
        warp.refetch = 0;
        let stall = if warp.arrivals.is_empty() { Stall::Blocked } else { Stall::Barrier };
        let until = Until::new(NEVER >> 8, stall);
        warp.waiting = Waiting { from, before, until, ..Waiting::default() };
        scheduler.set_ready(warp.local(), NEVER, Port::Alu);
    }

    /// Makes a warp wait to issue its next step, of machine code if `NATIVE`, `STRAIGHT` after the
    /// one before.
    #[inline(always)]
    fn await_issue<const NATIVE: bool, const STRAIGHT: bool>(
        &mut self,
        scheduler: &mut Scheduler,
        warp: &mut Warp,
        (pc, lanes): (Pc, LaneMask),
        from: Cycle,
        resume: Until,
    ) {
        warp.next = Some((pc, lanes));
        let cost = &self.costs[pc.index()];
        // A barrier may open in the cycle of the last arrival.
        let resume = if STRAIGHT { resume } else { resume.not_before(from) };
        let before = resume;
        let resume = warp.follows(cost, resume);
        // A warp issues nothing before its last branch is resolved.
        debug_assert!(!STRAIGHT || warp.refetch == 0 && resume.max(warp.resolves) == resume);
        let soonest = if STRAIGHT { resume } else { resume.max(warp.resolves) };
        let asked = if NATIVE { soonest } else { resume }.cycle();
        debug_assert!(asked >= from, "a warp waits for its slots");
        let mut until = match NATIVE {
            true => warp.counted(cost, soonest),
            false => warp.dependences(cost, soonest),
        };
        if NATIVE && cost.waits {
            until = self.native_waits(warp, cost, (from, asked), until);
        }
        let refetch = if STRAIGHT { 0 } else { std::mem::take(&mut warp.refetch).into() };
        let mut further = NATIVE && soonest > before;
        let mut fetched = from;
        if !(NATIVE && scheduler.lines.use_held(cost.line)) || refetch > 0 {
            let arrives = self.fetched::<NATIVE>(scheduler, cost.line, asked, refetch);
            if arrives > asked {
                (further, fetched) = (true, arrives);
                until = until.max(Until::new(arrives, Stall::NoInstruction));
            }
        }
        warp.waiting = Waiting { from, before, until, further, resolves: soonest, fetched };
        scheduler.set_ready(warp.local(), until.cycle(), cost.port);
    }

    /// Returns the cycle at which the warp has a line of code, asked for at `asked`, and `refetch`
    /// cycles have passed.
    #[inline(always)]
    fn fetched<const NATIVE: bool>(
        &mut self,
        scheduler: &mut Scheduler,
        line: u32,
        asked: Cycle,
        refetch: Cycle,
    ) -> Cycle {
        match &mut self.native_fetch {
            Some(fetch) if NATIVE => {
                let (number, since) = (scheduler.number as usize, scheduler.asked());
                fetch.fetch((number, &mut scheduler.lines), line, (since, asked)) + refetch
            }
            _ => self.instructions.fetch(line, asked).max(asked + refetch),
        }
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
            | Kind::Asynchronous
            | Kind::Warpgroup => true,
        }
    }
}
