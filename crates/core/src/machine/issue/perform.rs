//! Steps of less frequent kinds: what they do to registers, memory and control flow.

use super::meet::{gather_native, jump, members_meet};
use super::ways::{add_side, barrier_register, branch, sides};
use super::{After, Issue, Issuer, Times};
use crate::base::{Cycle, LaneMask, Pc, WarpId};
use crate::code::MicroOp;
use crate::divergence::{Flow, Side};
use crate::event::{Event, Observer, Printed, Stall};
use crate::exec;
use crate::exec::{Effect, Env, Fault};
use crate::isa::Space;
use crate::kernel::{JumpKind, Op};
use crate::machine::pricing::{Kind, Visibility};
use crate::machine::verdict::FaultReport;
use crate::machine::warp::{Arrival, Until, Warp};

impl<O: Observer> Issuer<'_, O> {
    /// Executes a step of a less frequent kind and advances the control flow.
    #[inline(never)]
    pub(super) fn perform(
        &mut self,
        warp: &mut Warp,
        issue: &Issue<'_>,
        times: &mut Times,
    ) -> Result<After, Box<FaultReport>> {
        let &Issue { w, pc, active, lanes, now, cost, step } = issue;
        let cx = self.cx;
        let (sm, slot, next) = (self.id, WarpId(w as u32), step.next);
        if matches!(cost.kind, Kind::Collective | Kind::Matrix) {
            let place = (sm, w, pc);
            let fault = members_meet((step, lanes), warp, place, &mut self.observer);
            if let Some(fault) = fault {
                return Err(self.fault(fault, warp, issue));
            }
        }
        if let Op::Join(join) = &step.inst.op {
            barrier_register(warp, *join, step, lanes, active);
            if cost.resolves > 0 && !lanes.is_empty() {
                let at = now + Cycle::from(cost.resolves);
                warp.resolves = Until::new(at, Stall::BranchResolving);
            }
            return Ok(After::Nothing);
        }
        let mut order = match &cx.accesses {
            Some(order) if cost.visibility != Visibility::Private => {
                let mut begun = order.begin();
                begun.keep(&step.inst.op, lanes, &warp.registers, cx.global);
                Some(begun)
            }
            _ => None,
        };
        let effect = match self.repeat(warp, issue) {
            Some(access) => Ok(Effect::Access(access)),
            None => self.execute(warp, step, pc, lanes, active, now),
        };
        let effect = effect.map_err(|fault| self.fault(fault, warp, issue))?;
        if !self.system.printed.is_empty() || self.system.heap_changed {
            self.report_system(warp, slot);
        }
        let mut after = After::Nothing;
        let empties_l1 = cost.empties_l1 && !lanes.is_empty();
        match effect {
            Effect::Done => {
                if let Op::Fence(scope) = step.inst.op {
                    times.resume = times.resume.max(self.fence(warp, scope, now));
                }
                warp.control.go(next)
            }
            Effect::Undefined { lanes, source } => self.undefined(warp, issue, lanes, source),
            Effect::Branch { taken } => {
                if step.inst.guard.is_some() {
                    self.observer.on(Event::Branch {
                        cycle: now,
                        sm,
                        warp: slot,
                        pc,
                        active,
                        taken,
                    });
                }
                warp.refetch = self.refetch(taken);
                warp.control.advance(branch(step, taken));
                self.resolve(warp, cost, (next, taken), now);
            }
            Effect::Switch { lanes } | Effect::Call { lanes } if lanes.is_empty() => {
                warp.control.go(next)
            }
            Effect::Jump { lanes } => {
                let jumping = (step, lanes, &*self.addresses);
                let place = (sm, w, pc);
                let apart = jump(jumping, warp, place, (now, active), &mut self.observer);
                let begins = self.jumps_free.max(now);
                self.jumps_free = begins + Cycle::from(cost.jumps);
                self.resolve(warp, cost, (next, lanes), begins);
                if apart {
                    let further = match &step.inst.op {
                        Op::Jump(jump) if jump.kind == JumpKind::Return => cx.program.ret_apart,
                        _ => 0,
                    };
                    let at = begins + Cycle::from(cost.resolves + further);
                    warp.resolves = Until::new(at, Stall::BranchResolving);
                }
            }
            Effect::Switch { lanes } => {
                let targets = match &step.inst.op {
                    Op::Switch(switch) => &switch.targets[..],
                    _ => &[],
                };
                let mut sides = sides(lanes, &self.addresses, |index| {
                    targets.get(index).copied().unwrap_or(next)
                });
                let taken = sides.first().map_or(LaneMask::EMPTY, |side| side.lanes);
                self.observer.on(Event::Branch { cycle: now, sm, warp: slot, pc, active, taken });
                add_side(&mut sides, next, active - lanes);
                warp.control.split(&sides, step.reconverge);
            }
            Effect::Call { lanes } => {
                let functions = &cx.program.functions;
                let sides =
                    sides(lanes, &self.addresses, |f| functions.get(f).copied().unwrap_or(next));
                warp.control.call(&sides, next);
            }
            Effect::Return { lanes } => {
                let steps = &cx.program.ops;
                let mut back = Vec::new();
                for Side { pc: site, lanes } in
                    sides(lanes, &self.addresses, |site| Pc(site as u32))
                {
                    let call = &steps[site.index()];
                    exec::finish_call(&call.inst, lanes, &mut warp.registers, &mut warp.local);
                    add_side(&mut back, call.next, lanes);
                }
                warp.control.ret(&back);
            }
            Effect::Gather { lanes } => {
                let place = (sm, w, pc);
                let parts = gather_native((step, lanes), warp, place, now, &mut self.observer);
                if let Some(sets) = parts {
                    self.meet_in_parts(warp, sets, now, times);
                }
            }
            Effect::EndCollective => warp.control.end_collective(next),
            Effect::Exit { lanes } if lanes.is_empty() => warp.control.go(next),
            Effect::Exit { lanes } => {
                after = After::Ended(lanes, pc);
                warp.control.advance(Flow::Exit { lanes, next });
                if self.native {
                    self.go_on_after_exit(warp, lanes == active, now, times);
                }
            }
            Effect::Access(access) => {
                // Local memory is private to the warp and part of the state that the hang detection
                // compares.
                let own =
                    matches!(&step.inst.op, Op::Store(store) if store.access.space == Space::Local);
                if access.changed && !own {
                    self.watch.progress();
                }
                if let Some(order) = order.take() {
                    order.end(access, cost.visibility, &self.addresses, (sm, now));
                }
                if !access.lanes.is_empty() {
                    let served = self.access(warp, issue, access);
                    times.done = served.done + Cycle::from(cost.wide);
                }
                self.proceed(warp, active, next);
            }
            Effect::Accesses => {
                let parts = std::mem::take(&mut self.system.parts);
                if parts.iter().any(|part| part.changed) {
                    self.watch.progress();
                }
                let common = parts.iter().find(|part| part.space == Space::Global);
                if let (Some(order), Some(&part)) = (order.take(), common) {
                    order.end(part, cost.visibility, &self.addresses, (sm, now));
                }
                times.done = self.accesses(warp, issue, &parts) + Cycle::from(cost.wide);
                self.proceed(warp, active, next);
            }
            Effect::Image(access) => {
                if access.changed {
                    self.watch.progress();
                }
                times.done = self.image(warp, issue, access).done;
                self.proceed(warp, active, next);
            }
            Effect::Copy(_)
            | Effect::ArriveByCopies(_)
            | Effect::WaitCopies { .. }
            | Effect::BulkCopies
            | Effect::WaitBulk { .. } => {
                unreachable!("a step of `Kind::Asynchronous`")
            }
            Effect::MatrixRead => unreachable!("a step of `Kind::Warpgroup`"),
            Effect::Barrier { lanes, .. } if lanes.is_empty() => warp.control.go(next),
            Effect::Barrier { lanes, id, count, wait } => {
                after = After::Arrived;
                self.arrive(warp, issue, Arrival { id, pc, lanes }, count, wait);
            }
            Effect::Sleep { ns } => {
                let cycles = u64::from(ns) * u64::from(cx.spec.clock_mhz) / 1000;
                times.resume = times.resume.max(Until::new(now + 1 + cycles, Stall::Sleeping));
                warp.control.advance(Flow::Yield { next });
            }
        }
        if empties_l1 {
            self.memory.empty_l1();
        }
        Ok(after)
    }

    /// Returns the report of a fault in the step that a warp issues.
    #[cold]
    pub(super) fn fault(&self, fault: Fault, warp: &Warp, issue: &Issue<'_>) -> Box<FaultReport> {
        let &Issue { active, now, step, .. } = issue;
        let place = (self.id, self.cx.spec.warp_size);
        Box::new(FaultReport::new(fault, place, warp, &step.inst, active, now))
    }

    /// Passes on the texts that lanes printed, and notes a change of the heap.
    #[cold]
    pub(super) fn report_system(&mut self, warp: &Warp, slot: WarpId) {
        if std::mem::take(&mut self.system.heap_changed) {
            self.watch.progress();
        }
        for (lane, text) in self.system.printed.drain(..) {
            let thread = warp.index * self.cx.spec.warp_size + lane;
            let (sm, block) = (self.id, warp.block_id);
            self.observer.printed(&Printed { sm, block, thread, warp: slot, lane, text: &text });
        }
    }

    /// Applies a step to registers and memory.
    #[inline(always)]
    pub(super) fn execute(
        &mut self,
        warp: &mut Warp,
        step: &MicroOp,
        pc: Pc,
        lanes: LaneMask,
        active: LaneMask,
        now: Cycle,
    ) -> Result<Effect, Fault> {
        let cx = self.cx;
        let mut env = Env {
            global: cx.global,
            shared: &mut self.blocks[warp.block].shared,
            local: &mut warp.local,
            params: &cx.params,
            functions: &cx.kernel.functions,
            warp_size: cx.spec.warp_size,
            live: warp.control.live(),
            pc: pc.0,
            clock: now,
            nanoseconds: match step.inst.op {
                Op::Clock { .. } => {
                    (u128::from(now) * 1000 / u128::from(cx.spec.clock_mhz.max(1))) as u64
                }
                _ => 0, // a division takes longer than most steps
            },
            addresses: &mut self.addresses,
            system: &mut self.system,
        };
        exec::step(&step.inst, lanes, active, &mut warp.registers, &mut env)
    }
}
