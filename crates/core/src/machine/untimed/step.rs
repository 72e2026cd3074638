//! Steps that do more than change registers: control flow, memory, barriers, collectives.

use super::plan::Step;
use super::traffic;
use super::warp::{Issue, Runner, Stop};
use crate::base::{LaneMask, Pc, WarpId};
use crate::divergence::{Flow, Side};
use crate::event::{Event, Observer, Printed};
use crate::exec::{self, Effect, MemoryAccess};
use crate::isa::Space;
use crate::kernel::Op;
use crate::machine::block::Votes;
use crate::machine::issue::{
    add_side, asked, barrier_register, branch, gather, gather_native, jump, members_meet,
    show_read, sides, votes_of,
};
use crate::machine::memsys::Texels;
use crate::machine::pricing::Kind;
use crate::machine::verdict::FaultReport;
use crate::machine::warp::{Arrival, Warp};

impl<O: Observer> Runner<'_, O> {
    /// Executes the step at `pc`, which is not straight. Returns its effect on other warps.
    #[inline(never)]
    pub(super) fn step(
        &mut self,
        warp: &mut Warp,
        w: usize,
        step: &Step,
        pc: Pc,
        active: LaneMask,
    ) -> Result<Option<Stop>, Box<FaultReport>> {
        let op = &self.plan.ops[pc.index()];
        match step.kind {
            Kind::Collective | Kind::Matrix if !gather(op, warp, active) => return Ok(None),
            Kind::GuardedBarrier if self.pass_barrier(warp, w, pc, active) => return Ok(None),
            _ => {}
        }
        self.begin(warp, w, step, pc, active);
        let lanes = match step.kind {
            Kind::FreeJoin => active,
            _ => exec::guarded(&op.inst, active, &warp.registers),
        };
        // A `.sync` instruction issues once for each distinct mask of its lanes.
        let masks = match step.kind {
            Kind::Collective => {
                exec::members(&op.inst, lanes, &warp.registers).count().max(1) as u32
            }
            _ => 1,
        };
        let issue = Issue { w, pc, active, lanes, step: op };
        self.issue(warp, step, &issue, step.slots * masks);
        let stop = match step.kind {
            Kind::ConditionalBranch => {
                if !O::FOLDS {
                    self.branched(&issue, lanes);
                }
                warp.control.advance(branch(op, lanes));
                None
            }
            Kind::Join | Kind::FreeJoin => {
                warp.control.advance(step.flow);
                None
            }
            Kind::Asynchronous => {
                self.start(warp, &issue)?;
                None
            }
            Kind::Warpgroup => {
                let effect = self.execute(warp, &issue).map_err(|f| self.fault(f, warp, &issue))?;
                if !O::FOLDS {
                    show_read(effect, &self.system, (WarpId(w as u32), pc), &mut self.observer);
                }
                warp.control.go(op.next);
                None
            }
            Kind::Free => {
                match self.execute(warp, &issue).map_err(|f| self.fault(f, warp, &issue))? {
                    Effect::Branch { taken } => warp.control.advance(branch(op, taken)),
                    _ => warp.control.go(op.next),
                }
                None
            }
            _ => self.perform(warp, step, &issue)?,
        };
        self.settled(warp, w);
        Ok(stop)
    }

    /// Lets lanes whose guard fails pass a block barrier: they diverge here.
    ///
    /// Returns false if all lanes or none do.
    fn pass_barrier(&mut self, warp: &mut Warp, w: usize, pc: Pc, active: LaneMask) -> bool {
        let op = &self.plan.ops[pc.index()];
        let lanes = exec::guarded(&op.inst, active, &warp.registers);
        if lanes.is_empty() || lanes == active {
            return false;
        }
        let (sm, slot, passing) = (self.id, WarpId(w as u32), active - lanes);
        self.observer.on(Event::BarrierPassed { sm, warp: slot, pc, lanes: passing });
        let (next, reconverge) = (op.next, Some(op.next));
        warp.control.advance(Flow::Branch { taken: lanes, target: pc, next, reconverge });
        true
    }

    /// Executes a step of a less frequent kind and advances the control flow.
    #[inline(always)]
    fn perform(
        &mut self,
        warp: &mut Warp,
        step: &Step,
        issue: &Issue<'_>,
    ) -> Result<Option<Stop>, Box<FaultReport>> {
        let &Issue { w, pc, active, lanes, step: op } = issue;
        let next = op.next;
        if matches!(step.kind, Kind::Collective | Kind::Matrix)
            && let Some(fault) =
                members_meet((op, lanes), warp, (self.id, w, pc), &mut self.observer)
        {
            return Err(self.fault(fault, warp, issue));
        }
        if let Op::Join(join) = &op.inst.op {
            barrier_register(warp, *join, op, lanes, active);
            return Ok(None);
        }
        let effect = self.execute(warp, issue).map_err(|f| self.fault(f, warp, issue))?;
        if !self.system.printed.is_empty() || self.system.heap_changed {
            self.report_system(warp, WarpId(w as u32));
        }
        match effect {
            Effect::Access(access) => {
                self.accessed(warp, issue, access);
                warp.control.go(next);
            }
            Effect::Accesses => {
                self.accessed_parts(warp, issue);
                warp.control.go(next);
            }
            Effect::Image(access) => {
                if access.changed {
                    self.pace.progress();
                }
                self.image(warp, issue, access);
                warp.control.go(next);
            }
            Effect::Barrier { lanes, id, count, wait } if !lanes.is_empty() => {
                self.arrive(warp, issue, Arrival { id, pc, lanes }, count, wait);
                return Ok(Some(Stop::Arrived));
            }
            Effect::Exit { lanes } if !lanes.is_empty() => {
                warp.control.advance(Flow::Exit { lanes, next });
                return Ok(Some(Stop::Ended(lanes)));
            }
            other => self.flow(warp, issue, other),
        }
        Ok(None)
    }

    /// Advances the control flow after a step with a less frequent effect.
    fn flow(&mut self, warp: &mut Warp, issue: &Issue<'_>, effect: Effect) {
        let &Issue { w, pc, active, step: op, .. } = issue;
        let (sm, slot, next) = (self.id, WarpId(w as u32), op.next);
        match effect {
            Effect::Undefined { lanes, source } => {
                self.observer.on(Event::UndefinedShuffle { sm, warp: slot, pc, lanes, source });
                warp.control.go(next);
            }
            Effect::Branch { taken } => {
                if op.inst.guard.is_some() {
                    self.branched(issue, taken);
                }
                warp.control.advance(branch(op, taken));
            }
            Effect::Jump { lanes } => {
                let jumping = (op, lanes, &*self.addresses);
                jump(jumping, warp, (sm, w, pc), (0, active), &mut self.observer);
            }
            Effect::Switch { lanes } if !lanes.is_empty() => {
                let targets = match &op.inst.op {
                    Op::Switch(switch) => &switch.targets[..],
                    _ => &[],
                };
                let target = |index: usize| targets.get(index).copied().unwrap_or(next);
                let mut sides = sides(lanes, &self.addresses, target);
                self.branched(issue, sides.first().map_or(LaneMask::EMPTY, |side| side.lanes));
                add_side(&mut sides, next, active - lanes);
                warp.control.split(&sides, op.reconverge);
            }
            Effect::Call { lanes } if !lanes.is_empty() => {
                let functions = &self.cx.program.functions;
                let entry = |f: usize| functions.get(f).copied().unwrap_or(next);
                warp.control.call(&sides(lanes, &self.addresses, entry), next);
            }
            Effect::Return { lanes } => {
                let mut back = Vec::new();
                for Side { pc: site, lanes } in
                    sides(lanes, &self.addresses, |site| Pc(site as u32))
                {
                    let call = &self.plan.ops[site.index()];
                    exec::finish_call(&call.inst, lanes, &mut warp.registers, &mut warp.local);
                    add_side(&mut back, call.next, lanes);
                }
                warp.control.ret(&back);
            }
            Effect::Gather { lanes } => {
                gather_native((op, lanes), warp, (sm, w, pc), 0, &mut self.observer);
            }
            Effect::EndCollective => warp.control.end_collective(next),
            Effect::Sleep { .. } => warp.control.advance(Flow::Yield { next }),
            _ => warp.control.go(next),
        }
    }

    /// Reports a branch that `taken` take.
    fn branched(&mut self, issue: &Issue<'_>, taken: LaneMask) {
        let &Issue { w, pc, active, .. } = issue;
        let (cycle, sm, warp) = (0, self.id, WarpId(w as u32));
        self.observer.on(Event::Branch { cycle, sm, warp, pc, active, taken });
    }

    /// Notes the progress that an access makes, and reports it.
    #[inline(always)]
    pub(super) fn accessed(&mut self, warp: &Warp, issue: &Issue<'_>, access: MemoryAccess) {
        // Local memory is private to the warp and part of the state that the hang detection
        // compares.
        let own = matches!(&issue.step.inst.op, Op::Store(s) if s.access.space == Space::Local);
        if access.changed && !own {
            self.pace.progress();
        }
        if !access.lanes.is_empty() {
            self.access(warp, issue, access);
        }
    }

    /// As [`Runner::accessed`], for the parts of an access to several memories.
    #[inline(never)]
    pub(super) fn accessed_parts(&mut self, warp: &Warp, issue: &Issue<'_>) {
        for access in std::mem::take(&mut self.system.parts) {
            self.accessed(warp, issue, access);
        }
    }

    /// Shows an access to observers and reports its traffic.
    #[inline(always)]
    pub(super) fn access(&mut self, warp: &Warp, issue: &Issue<'_>, access: MemoryAccess) {
        if !O::FOLDS {
            let lanes = asked(&issue.step.inst.op, access, &self.addresses, &warp.registers);
            self.observer.access(WarpId(issue.w as u32), issue.pc, &lanes);
        }
        self.transfer(issue, access);
    }

    /// Reports an access to a texture or surface.
    fn image(&mut self, warp: &Warp, issue: &Issue<'_>, access: MemoryAccess) {
        let &Issue { w, pc, .. } = issue;
        let (sm, slot) = (self.id, WarpId(w as u32));
        let lanes = asked(&issue.step.inst.op, access, &self.addresses, &warp.registers);
        let kind = lanes.memory;
        if !O::FOLDS {
            self.observer.access(slot, pc, &lanes);
        }
        let taps = std::mem::take(&mut self.system.taps);
        let memory = &self.cx.memory;
        let (group, one_by_one) = (self.system.group, self.system.one_by_one);
        let texels = Texels { first: &self.addresses, taps: &taps, group, one_by_one };
        let traffic = traffic::of_image(access, texels, kind, memory);
        if O::FOLDS {
            self.observer.accesses(pc, &traffic, 1);
            return;
        }
        self.observer.on(Event::Memory { cycle: 0, sm, warp: slot, pc, traffic });
        self.observer.addresses(slot, pc, &traffic, &self.addresses);
    }

    /// Reports the traffic of an access.
    #[inline(always)]
    pub(super) fn transfer(&mut self, issue: &Issue<'_>, access: MemoryAccess) {
        let &Issue { w, pc, step, .. } = issue;
        let (cycle, sm, slot) = (0, self.id, WarpId(w as u32));
        let memory = &self.cx.memory;
        let of =
            |addresses: &mut _| traffic::of(&step.inst.op, access, addresses, memory, (sm, slot.0));
        if O::FOLDS {
            self.tally.access(&mut self.observer, pc, access, &mut self.addresses, of);
            return;
        }
        let traffic = of(&mut self.addresses);
        self.observer.on(Event::Memory { cycle, sm, warp: slot, pc, traffic });
        self.observer.addresses(slot, pc, &traffic, &self.addresses);
    }

    /// Lets lanes arrive at a block barrier for `count` threads, or all if `None`.
    ///
    /// With `wait` they wait there.
    #[inline(always)]
    pub(super) fn arrive(
        &mut self,
        warp: &mut Warp,
        issue: &Issue<'_>,
        arrival: Arrival,
        count: Option<u32>,
        wait: bool,
    ) {
        let Arrival { id, pc, lanes } = arrival;
        let (cycle, sm, slot, next) = (0, self.id, WarpId(issue.w as u32), issue.step.next);
        let arriving = warp.control.arriving();
        let passing = issue.active - lanes;
        if !passing.is_empty() {
            self.observer.on(Event::BarrierPassed { sm, warp: slot, pc, lanes: passing });
        }
        let event = Event::Barrier { cycle, sm, warp: slot, pc, lanes, arriving, id, count, wait };
        self.observer.on(event);
        let votes = votes_of(issue.step, lanes, &warp.registers);
        // Thread counts cover whole warps, so exited lanes may count, too.
        let threads = match count {
            Some(_) => warp.come(id, arriving, self.cx.spec.warp_size),
            None => arriving.count(),
        };
        self.blocks[warp.block].arrive(id, threads, count, votes, 0);
        if !wait {
            self.pace.progress();
            warp.control.go(next);
        } else if self.cx.spec.barrier.deferred
            && arriving == warp.control.live()
            && votes == Votes::default()
        {
            warp.ahead = Some(arrival);
            warp.control.go(next);
        } else {
            warp.wait(arrival, next);
        }
    }

    /// Passes on the texts that lanes printed, and notes a change of the heap.
    #[cold]
    fn report_system(&mut self, warp: &Warp, slot: WarpId) {
        if std::mem::take(&mut self.system.heap_changed) {
            self.pace.progress();
        }
        for (lane, text) in self.system.printed.drain(..) {
            let thread = warp.index * self.cx.spec.warp_size + lane;
            let (sm, block) = (self.id, warp.block_id);
            self.observer.printed(&Printed { sm, block, thread, warp: slot, lane, text: &text });
        }
    }
}
