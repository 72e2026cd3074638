//! Turn of a warp: steps until it blocks, its lanes end, or the turn is over.

use super::pace::Pace;
use super::plan::{Plan, Step, Way};
use super::tally::Tally;
use crate::base::{LaneMask, MAX_LANES, Pc, SmId, WarpId};
use crate::code::MicroOp;
use crate::event::{Event, Observer};
use crate::exec::{self, Effect, Env, Fault, SystemLog};
use crate::kernel::Op;
use crate::machine::block::Block;
use crate::machine::device::Context;
use crate::machine::issue::branch;
use crate::machine::verdict::FaultReport;
use crate::machine::warp::{Arrival, Warp};

/// State shared by the warps of an SM.
pub(super) struct Runner<'a, O> {
    pub id: SmId,
    pub cx: &'a Context<'a>,
    pub plan: &'a Plan<'a>,
    /// Resident blocks by slot.
    pub blocks: Vec<Block>,
    pub addresses: Box<[u64; MAX_LANES]>,
    pub system: SystemLog,
    pub pace: Pace,
    pub tally: Tally,
    pub observer: O,
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
            pace: Pace::new(),
            tally: Tally::new(plan.ops.len()),
            observer,
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
        let mut at = warp.control.active();
        loop {
            let Some((pc, active)) = at else { return Ok(Stop::Blocked) };
            let quick = self.is_quick();
            if !quick && self.pace.is_over() {
                return Ok(Stop::Turn);
            }
            let step = &plan.steps[pc.index()];
            if warp.ahead.is_some()
                && !step.ahead
                && let Some(arrival) = warp.ahead.take()
            {
                warp.wait(arrival, pc);
                at = warp.control.active();
                continue;
            }
            at = match step.way {
                Way::Straight if quick && (warp.ahead.is_none() || step.all_ahead) => {
                    self.straight(warp, step, pc, active)
                }
                Way::Straight => self.straight_slowly(warp, w, step, active),
                Way::Branch if quick => self.branch(warp, step, pc, active),
                Way::Join if quick => self.join(warp, step, pc, active),
                Way::Access if quick => self.load_or_store(warp, w, step, pc, active)?,
                way => {
                    let stop = match way {
                        Way::Barrier if quick => self.barrier(warp, w, step, pc, active),
                        _ => self.step(warp, w, step, pc, active),
                    };
                    if let Some(stop) = stop? {
                        return Ok(stop);
                    }
                    warp.control.active()
                }
            };
        }
    }

    /// Returns true if the turn goes on and the next step needs no look at the state, for observers
    /// or livelocks.
    #[inline(always)]
    fn is_quick(&self) -> bool {
        O::FOLDS && self.pace.is_quick()
    }

    /// Executes a straight piece, and the branch after it. Returns the next step.
    #[inline(always)]
    fn straight(
        &mut self,
        warp: &mut Warp,
        step: &Step,
        pc: Pc,
        active: LaneMask,
    ) -> Option<(Pc, LaneMask)> {
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
        self.pace.skip(count);
        let next = piece.last().map_or(pc, |last| last.next);
        if step.to_branch && warp.ahead.is_none() && self.is_quick() {
            return self.branch(warp, &plan.steps[next.index()], next, active);
        }
        warp.control.go_on(next)
    }

    /// Executes a straight piece step by step. Returns the next step.
    #[inline(never)]
    fn straight_slowly(
        &mut self,
        warp: &mut Warp,
        w: usize,
        step: &Step,
        active: LaneMask,
    ) -> Option<(Pc, LaneMask)> {
        match self.is_quick() {
            true => self.straight_ahead(warp, step, active),
            false => self.one_by_one(warp, w, step, active),
        }
        warp.control.active()
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
        self.pace.skip(1);
        self.tally.issue(step, &mut self.observer, pc, masks, step.slots);
    }

    /// Counts an execution of a step for which states are not compared. Returns the micro-op and
    /// the lanes that execute it.
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

    /// Executes a conditional branch; the control state may be at the piece before it. Returns the
    /// next step.
    #[inline(always)]
    fn branch(
        &mut self,
        warp: &mut Warp,
        step: &Step,
        pc: Pc,
        active: LaneMask,
    ) -> Option<(Pc, LaneMask)> {
        let (op, lanes) = self.begin_quick(warp, step, pc, active);
        match step.target {
            Some(target) if lanes == active => warp.control.go_on(target),
            Some(_) if lanes.is_empty() => warp.control.go_on(op.next),
            _ => {
                warp.control.go(pc);
                warp.control.advance(branch(op, lanes));
                warp.control.active()
            }
        }
    }

    /// Executes a convergence operation. Returns the next step.
    #[inline(always)]
    fn join(
        &mut self,
        warp: &mut Warp,
        step: &Step,
        pc: Pc,
        active: LaneMask,
    ) -> Option<(Pc, LaneMask)> {
        self.begin_quick(warp, step, pc, active);
        warp.control.advance(step.flow);
        warp.control.active()
    }

    /// Executes a barrier without a guard. Returns [`Stop::Arrived`] if it is complete.
    #[inline(always)]
    fn barrier(
        &mut self,
        warp: &mut Warp,
        w: usize,
        step: &Step,
        pc: Pc,
        active: LaneMask,
    ) -> Result<Option<Stop>, Box<FaultReport>> {
        let op = &self.plan.ops[pc.index()].inst.op;
        let Some(id) = exec::waits_for_block(op, active, &warp.registers) else {
            return self.step(warp, w, step, pc, active);
        };
        let (step, lanes) = self.begin_quick(warp, step, pc, active);
        let issue = Issue { w, pc, active, lanes, step };
        self.arrive(warp, &issue, Arrival { id, pc, lanes }, None, true);
        Ok(self.blocks[warp.block].is_complete(id).then_some(Stop::Arrived))
    }

    /// Executes a load or store. Returns the next step.
    #[inline(always)]
    fn load_or_store(
        &mut self,
        warp: &mut Warp,
        w: usize,
        step: &Step,
        pc: Pc,
        active: LaneMask,
    ) -> Result<Option<(Pc, LaneMask)>, Box<FaultReport>> {
        let (op, lanes) = self.begin_quick(warp, step, pc, active);
        if !(step.repeats && self.repeat(warp, op, pc, lanes)) {
            self.access_anew(warp, &Issue { w, pc, active, lanes, step: op })?;
        }
        Ok(warp.control.go_on(op.next))
    }

    /// Executes a load or store that has a known pattern of addresses. Returns false if it has not.
    #[inline(always)]
    fn repeat(&mut self, warp: &mut Warp, op: &MicroOp, pc: Pc, lanes: LaneMask) -> bool {
        let (global, shared) = (self.cx.global, &mut self.blocks[warp.block].shared);
        let repeated = self.tally.repeat(pc, |pattern| {
            exec::repeat(&op.inst.op, lanes, pattern, &mut warp.registers, global, shared)
        });
        if repeated == Some(true) {
            self.pace.progress();
        }
        repeated.is_some()
    }

    /// Executes any load or store.
    #[inline(never)]
    fn access_anew(&mut self, warp: &mut Warp, issue: &Issue<'_>) -> Result<(), Box<FaultReport>> {
        let (op, lanes, params) = (&issue.step.inst.op, issue.lanes, &self.cx.params);
        if let Some(access) = exec::load_parameters(op, lanes, &mut warp.registers, params) {
            self.transfer(issue, access);
            return Ok(());
        }
        match self.execute(warp, issue).map_err(|f| self.fault(f, warp, issue))? {
            Effect::Access(access) => self.accessed(warp, issue, access),
            Effect::Accesses => self.accessed_parts(warp, issue),
            _ => {}
        }
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
            let pc = op.pc;
            let step = &plan.ops[pc.index()];
            let lanes = exec::guarded(op.inst, active, &warp.registers);
            self.begin(warp, w, own, pc, active);
            self.issue(warp, own, &Issue { w, pc, active, lanes, step }, own.slots);
            (op.effect)(&op.inst.op, lanes, &mut warp.registers);
            warp.control.go(op.next);
            self.settled(warp, w);
        }
    }

    /// Counts a micro-op and looks for livelocks.
    #[inline(always)]
    pub(super) fn begin(&mut self, warp: &Warp, w: usize, step: &Step, pc: Pc, active: LaneMask) {
        self.pace.step((w, warp), self.plan.ops, (pc, active), step.is_free());
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
            live: warp.control.live(),
            pc: pc.0,
            clock: self.pace.issued(),
            nanoseconds: match step.inst.op {
                Op::Clock { .. } => {
                    (u128::from(self.pace.issued()) * 1000 / u128::from(cx.spec.clock_mhz.max(1)))
                        as u64
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
