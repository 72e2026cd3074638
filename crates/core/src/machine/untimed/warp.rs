//! Turn of a warp: steps until it blocks, its lanes end, or the turn is over.

use super::plan::{Plan, Step};
use super::tally::Tally;
use crate::base::{LaneMask, MAX_LANES, Pc, SmId, WarpId};
use crate::code::MicroOp;
use crate::event::{Event, Observer};
use crate::exec::{self, Effect, Env, Fault, SystemLog};
use crate::kernel::Op;
use crate::machine::block::Block;
use crate::machine::device::Context;
use crate::machine::issue::{branch, join};
use crate::machine::pricing::Kind;
use crate::machine::verdict::{FaultReport, Watch};
use crate::machine::warp::Warp;

/// State shared by the warps of an SM.
pub(super) struct Runner<'a, O> {
    pub id: SmId,
    pub cx: &'a Context<'a>,
    pub plan: &'a Plan<'a>,
    /// Resident blocks by slot.
    pub blocks: Vec<Block>,
    pub addresses: Box<[u64; MAX_LANES]>,
    pub system: SystemLog,
    pub watch: Watch,
    pub tally: Tally,
    pub observer: O,
    /// Micro-ops executed, and the number at which the turn ends.
    pub issued: u64,
    pub until: u64,
}

/// End of a warp's turn, or an effect on other warps.
pub(super) enum Stop {
    /// The turn is over.
    Turn,
    /// No lane can run.
    Blocked,
    /// Exit of these lanes.
    Ended(LaneMask),
    /// Arrival at a block barrier.
    Arrived,
}

/// Step that a warp executes.
pub(super) struct Issue<'a> {
    pub w: usize,
    pub pc: Pc,
    pub active: LaneMask,
    /// Active lanes whose guard is true.
    pub lanes: LaneMask,
    pub step: &'a MicroOp,
}

impl<'a, O: Observer> Runner<'a, O> {
    /// Creates the state of an SM with `blocks`.
    pub(super) fn new(
        cx: &'a Context<'a>,
        plan: &'a Plan<'a>,
        id: SmId,
        blocks: Vec<Block>,
        observer: O,
    ) -> Runner<'a, O> {
        Runner {
            id,
            cx,
            plan,
            blocks,
            addresses: Box::new([0; MAX_LANES]),
            system: SystemLog::default(),
            watch: Watch::new(),
            tally: Tally::new(plan.ops.len()),
            observer,
            issued: 0,
            until: 0,
        }
    }

    /// Tells the remaining events and returns the observer.
    pub(super) fn into_observer(self) -> O {
        let Runner { plan, tally, mut observer, .. } = self;
        tally.end(plan, &mut observer);
        observer
    }

    /// Runs a warp until its turn is over, or others are concerned.
    pub(super) fn turn(&mut self, warp: &mut Warp, w: usize) -> Result<Stop, Box<FaultReport>> {
        let plan = self.plan;
        loop {
            let Some((pc, active)) = warp.control.active() else { return Ok(Stop::Blocked) };
            if self.issued >= self.until {
                return Ok(Stop::Turn);
            }
            let step = &plan.steps[pc.index()];
            if !step.ahead
                && let Some(arrival) = warp.ahead.take()
            {
                warp.wait(arrival, pc);
                continue;
            }
            let quick = O::FOLDS && !self.watch.observes_next();
            match step.kind {
                _ if step.is_straight() => match quick {
                    true if warp.ahead.is_none() => self.straight(warp, step, pc, active),
                    true => self.straight_ahead(warp, step, active),
                    false => self.one_by_one(warp, w, step, active),
                },
                Kind::ConditionalBranch if quick => self.branch(warp, step, pc, active),
                Kind::Join if quick => self.join(warp, step, pc, active),
                Kind::Plain if quick && step.accesses => {
                    self.load_or_store(warp, w, step, pc, active)?;
                }
                _ => {
                    if let Some(stop) = self.step(warp, w, step, pc, active)? {
                        return Ok(stop);
                    }
                }
            }
        }
    }

    /// Executes a straight piece.
    #[inline(always)]
    fn straight(&mut self, warp: &mut Warp, step: &Step, pc: Pc, active: LaneMask) {
        let plan = self.plan;
        let piece = plan.piece(step);
        for op in piece {
            let mut lanes = active;
            if op.is_guarded {
                lanes = exec::guarded(op.inst, active, &warp.registers);
                let own = &plan.steps[op.pc.index()];
                self.tally.issue(own, &mut self.observer, op.pc, (active, lanes), op.slots);
            }
            (op.effect)(&op.inst.op, lanes, &mut warp.registers);
        }
        self.tally.piece(plan, &mut self.observer, pc, active);
        let count = piece.len() as u64;
        self.issued += count;
        self.watch.skip(count);
        if let Some(last) = piece.last() {
            warp.control.go(last.next);
        }
    }

    /// Executes the beginning of a straight piece, ahead of a deferred barrier.
    fn straight_ahead(&mut self, warp: &mut Warp, step: &Step, active: LaneMask) {
        let plan = self.plan;
        for op in plan.piece(step) {
            let own = &plan.steps[op.pc.index()];
            if !own.ahead {
                break; // the warp waits here
            }
            let lanes = exec::guarded(op.inst, active, &warp.registers);
            self.count(own, op.pc, (active, lanes));
            (op.effect)(&op.inst.op, lanes, &mut warp.registers);
            warp.control.go(op.next);
        }
    }

    /// Counts an execution of a step with the masks of its active and executing lanes.
    #[inline(always)]
    fn count(&mut self, step: &Step, pc: Pc, masks: (LaneMask, LaneMask)) {
        self.issued += 1;
        self.watch.skip(1);
        self.tally.issue(step, &mut self.observer, pc, masks, step.slots);
    }

    /// Counts an execution of a step for which states are not compared. Returns the micro-op and the
    /// lanes that execute it.
    #[inline(always)]
    fn begin_quick(
        &mut self,
        warp: &Warp,
        step: &Step,
        pc: Pc,
        active: LaneMask,
    ) -> (&'a MicroOp, LaneMask) {
        let op = &self.plan.ops[pc.index()];
        let lanes = exec::guarded(&op.inst, active, &warp.registers);
        self.count(step, pc, (active, lanes));
        (op, lanes)
    }

    /// Executes a conditional branch.
    #[inline(always)]
    fn branch(&mut self, warp: &mut Warp, step: &Step, pc: Pc, active: LaneMask) {
        let (op, lanes) = self.begin_quick(warp, step, pc, active);
        match step.target {
            Some(target) if lanes == active => warp.control.go(target),
            Some(_) if lanes.is_empty() => warp.control.go(op.next),
            _ => warp.control.advance(branch(op, lanes)),
        }
    }

    /// Executes a convergence operation.
    #[inline(always)]
    fn join(&mut self, warp: &mut Warp, step: &Step, pc: Pc, active: LaneMask) {
        let (op, _) = self.begin_quick(warp, step, pc, active);
        warp.control.advance(join(op));
    }

    /// Executes a load or store.
    #[inline(always)]
    fn load_or_store(
        &mut self,
        warp: &mut Warp,
        w: usize,
        step: &Step,
        pc: Pc,
        active: LaneMask,
    ) -> Result<(), Box<FaultReport>> {
        let (op, lanes) = self.begin_quick(warp, step, pc, active);
        let issue = Issue { w, pc, active, lanes, step: op };
        let effect = self.execute(warp, &issue).map_err(|f| self.fault(f, warp, &issue))?;
        if let Effect::Access(access) = effect {
            self.accessed(warp, &issue, access);
        }
        warp.control.go(op.next);
        Ok(())
    }

    /// Executes a straight piece one by one, so that a turn ends where it ends for a whole piece.
    #[inline(never)]
    fn one_by_one(&mut self, warp: &mut Warp, w: usize, step: &Step, active: LaneMask) {
        let plan = self.plan;
        for op in plan.piece(step) {
            let own = &plan.steps[op.pc.index()];
            if !own.ahead && warp.ahead.is_some() {
                break; // the warp waits here
            }
            self.one_of_straight(warp, w, own, op.pc, active);
        }
    }

    /// Executes one micro-op of a straight piece.
    #[inline(never)]
    fn one_of_straight(
        &mut self,
        warp: &mut Warp,
        w: usize,
        step: &Step,
        pc: Pc,
        active: LaneMask,
    ) {
        let op = &self.plan.ops[pc.index()];
        let lanes = exec::guarded(&op.inst, active, &warp.registers);
        self.begin(warp, w, step, pc, active);
        self.issue(warp, step, &Issue { w, pc, active, lanes, step: op }, step.slots);
        exec::element_wise(&op.inst.op, lanes, &mut warp.registers);
        warp.control.go(op.next);
        self.settled(warp, w);
    }

    /// Counts a micro-op and looks for livelocks.
    #[inline(always)]
    pub(super) fn begin(&mut self, warp: &Warp, w: usize, step: &Step, pc: Pc, active: LaneMask) {
        self.issued += 1;
        if step.is_free() {
            self.watch.pass(w, pc);
        } else if self.watch.tick() {
            self.watch.observe(w, warp, self.plan.ops, pc, active);
        }
    }

    /// Reports an execution of a step.
    #[inline(always)]
    pub(super) fn issue(&mut self, warp: &Warp, step: &Step, issue: &Issue<'_>, slots: u32) {
        let &Issue { w, pc, active, lanes, .. } = issue;
        if O::FOLDS {
            return self.tally.issue(step, &mut self.observer, pc, (active, lanes), slots);
        }
        let (cycle, sm, slot) = (0, self.id, WarpId(w as u32));
        self.observer.control(sm, slot, &warp.control);
        self.observer.on(Event::Issue { cycle, sm, warp: slot, pc, active, lanes, slots });
    }

    /// Shows the control state after a step.
    #[inline(always)]
    pub(super) fn settled(&mut self, warp: &Warp, w: usize) {
        if !O::FOLDS {
            self.observer.control(self.id, WarpId(w as u32), &warp.control);
        }
    }

    /// Applies a step to registers and memory.
    #[inline(always)]
    pub(super) fn execute(&mut self, warp: &mut Warp, issue: &Issue<'_>) -> Result<Effect, Fault> {
        let cx = self.cx;
        let &Issue { pc, active, lanes, step, .. } = issue;
        let mut env = Env {
            global: cx.global,
            shared: &mut self.blocks[warp.block].shared,
            local: &mut warp.local,
            params: &cx.params,
            functions: &cx.kernel.functions,
            warp_size: cx.spec.warp_size,
            pc: pc.0,
            clock: self.issued,
            nanoseconds: match step.inst.op {
                Op::Clock { .. } => {
                    (u128::from(self.issued) * 1000 / u128::from(cx.spec.clock_mhz.max(1))) as u64
                }
                _ => 0,
            },
            addresses: &mut self.addresses,
            system: &mut self.system,
        };
        exec::step(&step.inst, lanes, active, &mut warp.registers, &mut env)
    }

    /// Returns the report of a fault.
    #[cold]
    pub(super) fn fault(&self, fault: Fault, warp: &Warp, issue: &Issue<'_>) -> Box<FaultReport> {
        let place = (self.id, self.cx.spec.warp_size);
        Box::new(FaultReport::new(fault, place, warp, &issue.step.inst, issue.active, None))
    }
}
