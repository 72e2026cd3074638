//! Issue of one step: accounting, execution, and the warp's next wait.
//!
//! [`exec::step`] applies the semantics at issue; the scoreboard decides when dependents may issue.
//! [`After`] reports effects on other warps (a barrier arrival, exited lanes) to the SM.

mod account;
mod asynchronous;
mod meet;
mod memory;
mod native;
mod parts;
mod perform;
mod settle;
mod simple;
mod warpgroup;
mod ways;

pub(super) use asynchronous::{fails, written};
pub(super) use meet::{gather, gather_native, jump, members_meet, votes_of};
pub(super) use memory::asked;
pub(super) use warpgroup::show_read;
pub(super) use ways::{add_side, barrier_register, branch, join, sides, split};

use super::block::Block;
use super::constant_cache::Constants;
use super::device::Context;
use super::fences::FenceUnit;
use super::fetch::Instructions;
use super::l2::replay::RequestLog;
use super::livelock::Watch;
use super::memsys::MemorySystem;
use super::native_fetch::NativeFetch;
use super::partitions::Reached;
use super::pricing::{Cost, Kind};
use super::requests::{Request, queue_of};
use super::scheduler::{Port, Scheduler, SharedPorts};
use super::verdict::FaultReport;
use super::warp::{Until, Warp};
use crate::base::{Cycle, LaneMask, MAX_LANES, Pc, SmId, WarpId};
use crate::code::MicroOp;
use crate::event::{Event, Observer, Stall};
use crate::exec::{self, SystemLog};
use crate::spec::SassTimes;

/// State shared by the warps of an SM at issue.
#[derive(Clone)]
pub(super) struct Issuer<'a, O> {
    pub id: SmId,
    pub cx: &'a Context<'a>,
    /// Costs by PC, as in the context.
    costs: &'a [Cost<'a>],
    /// True for machine code.
    native: bool,
    /// Resident blocks by slot.
    pub blocks: Vec<Block>,
    memory: MemorySystem,
    pub instructions: Instructions,
    /// Instruction caches for machine code, instead of `instructions`.
    pub native_fetch: Option<NativeFetch>,
    /// Constant cache, for machine code.
    pub constants: Constants<'a>,
    /// State shared by the SM's schedulers.
    pub shared: SharedPorts,
    /// Request that the issuing step makes, and when the unit of special registers takes the next
    /// one (machine code).
    request: Request,
    registers_free: Cycle,
    /// Cycle at which the SM's unit of jumps through registers is idle (machine code).
    jumps_free: Cycle,
    /// Cycle at which the barrier unit accepts the next arrival.
    barrier_free: Cycle,
    /// Fences beyond the block (machine code).
    fences: FenceUnit,
    /// Partitions of L2 that the SM has reached since its last fence (machine code with fences).
    reached: Reached,
    /// Cycle until which stores and atomics of the SM wait for atomics before them.
    behind_atomics: Cycle,
    addresses: Box<[u64; MAX_LANES]>,
    system: SystemLog,
    pub watch: Watch,
    pub observer: O,
}

impl<'a, O: Observer> Issuer<'a, O> {
    /// Creates the issue state of an SM with `blocks`.
    pub(super) fn new(
        cx: &'a Context<'a>,
        id: SmId,
        blocks: Vec<Block>,
        observer: O,
    ) -> Issuer<'a, O> {
        let native = cx.spec.sass.as_ref().filter(|_| cx.kernel.native.is_some());
        let memory = MemorySystem::new(cx.memory, cx.active_sms, id, cx.logs_l2, cx.shares(id));
        Issuer {
            id,
            cx,
            costs: &cx.program.costs,
            native: cx.kernel.native.is_some(),
            blocks,
            memory: match native {
                Some(_) => memory.with_native(cx.spec, cx.occupancy.carve_out),
                None => memory,
            },
            instructions: Instructions::new(cx.spec.instruction_cache, cx.program.lines),
            native_fetch: native
                .and_then(|times| times.fetch)
                .map(|times| NativeFetch::new(times, cx.program.lines, cx.spec.schedulers)),
            constants: Constants::new(
                &cx.program.constant_lines,
                native.unwrap_or(&SassTimes::default()),
                cx.active_sms,
                cx.spec.sms,
            ),
            shared: SharedPorts::default(),
            request: Request::default(),
            registers_free: 0,
            jumps_free: 0,
            barrier_free: 0,
            fences: FenceUnit::default(),
            reached: Reached::default(),
            behind_atomics: 0,
            addresses: Box::new([0; MAX_LANES]),
            system: SystemLog::default(),
            watch: Watch::new(),
            observer,
        }
    }

    /// Returns the observer and the logged L2 requests.
    pub(super) fn into_seen(self) -> (O, Option<RequestLog>) {
        (self.observer, self.memory.into_log())
    }

    /// Issues the next step of `warp` in slot `w`, one of `scheduler`'s warps.
    #[inline(always)]
    pub(super) fn issue(
        &mut self,
        scheduler: &mut Scheduler,
        warp: &mut Warp,
        w: usize,
        now: Cycle,
    ) -> Result<After, Box<FaultReport>> {
        let Some((pc, active)) = warp.next else {
            unreachable!("a warp that has nothing to issue is never ready");
        };
        let cost = &self.costs[pc.index()];
        if self.native {
            if cost.simple {
                self.issue_simple::<true>(scheduler, warp, w, (pc, active), cost, now);
                return Ok(After::Nothing);
            }
            return self.issue_other::<true>(scheduler, warp, w, (pc, active), cost, now);
        }
        if cost.simple {
            self.issue_simple::<false>(scheduler, warp, w, (pc, active), cost, now);
            return Ok(After::Nothing);
        }
        if warp.micro_ops.issued > 0 {
            self.issue_micro_op(scheduler, warp, w, (pc, active), cost, now);
            return Ok(After::Nothing);
        }
        self.issue_other::<false>(scheduler, warp, w, (pc, active), cost, now)
    }

    /// Issues a step that is neither simple nor a further micro-op.
    ///
    /// `NATIVE` is true for machine code, which has a code path of its own.
    #[inline(always)]
    fn issue_other<const NATIVE: bool>(
        &mut self,
        scheduler: &mut Scheduler,
        warp: &mut Warp,
        w: usize,
        (pc, active): (Pc, LaneMask),
        cost: &Cost,
        now: Cycle,
    ) -> Result<After, Box<FaultReport>> {
        let cx = self.cx;
        let step = &cx.program.ops[pc.index()];
        self.attribute::<NATIVE>(scheduler, warp, w, pc, cost, now);
        if self.watch.tick() {
            self.watch.observe(w, warp, cx.program.ops, pc, active);
        }
        let lanes = exec::guarded(&step.inst, active, &warp.registers);
        let (sm, slot) = (self.id, WarpId(w as u32));
        debug_assert!(!NATIVE || cost.kind != Kind::Collective, "machine code has no `.sync`");
        // A `.sync` instruction issues once for each distinct mask of its lanes.
        let masks = match cost.kind {
            Kind::Collective if !NATIVE => {
                exec::members(&step.inst, lanes, &warp.registers).count().max(1) as u32
            }
            _ => 1,
        };
        let slots = cost.slots * masks;
        self.observer.control(sm, slot, &warp.control);
        self.observer.on(Event::Issue { cycle: now, sm, warp: slot, pc, active, lanes, slots });
        let used = now + Cycle::from(slots.max(1));
        scheduler.accounted = used;
        if NATIVE {
            native::dispatch(scheduler, cost, now);
        }
        let queues = NATIVE || cost.port == Port::Texture;
        let queue = if queues { queue_of(cost.port) } else { None };
        if let Some(queue) = queue {
            let from = scheduler.requests[queue].free.max(now);
            self.request = Request { from, ..Request::default() };
        } else if cost.port.is_shared() {
            let interval = cx.spec.lsu_interval.max(cost.interval);
            self.shared.occupy_lsu(now + Cycle::from(interval * masks));
        } else if !(NATIVE && cost.queues > 0) {
            scheduler.occupy_for(cost.port, cost.interval * masks, now);
        }

        let last = now + Cycle::from(cost.slots.max(cost.interval) * (masks - 1));
        let mut times =
            Times { resume: cost.gap.after(last), done: last + Cycle::from(cost.latency), turn: 0 };
        if NATIVE && cost.queues > 0 {
            let (passes, own) = self.matched(&step.inst.op, lanes, warp);
            times.done += own + self.queue_special(scheduler, cost, passes, now);
        }
        let after = match cost.kind {
            Kind::ElementWise => {
                (cost.lanes)(cost.op, lanes, &mut warp.registers);
                warp.control.go(step.next);
                if !NATIVE && cost.expansion > 0 {
                    self.begin_micro_ops(scheduler, warp, cost, lanes, now);
                    return Ok(After::Nothing);
                }
                After::Nothing
            }
            Kind::ConditionalBranch => {
                self.observer.on(Event::Branch {
                    cycle: now,
                    sm,
                    warp: slot,
                    pc,
                    active,
                    taken: lanes,
                });
                warp.refetch = self.refetch(lanes);
                warp.control.advance(branch(step, lanes));
                if NATIVE {
                    self.resolve(warp, cost, (step.next, lanes), now);
                }
                After::Nothing
            }
            Kind::Join => {
                let waiting = if cost.resolves > 0 { warp.control.joined() } else { 0 };
                warp.control.advance(join(step));
                if cost.resolves > 0 {
                    // A BSYNC that blocks leaves the warp's other lanes to run.
                    let blocks = warp.control.joined() > waiting;
                    let cycles = if blocks { cx.program.blocked_sync } else { cost.resolves };
                    times.turn = cx.program.turn;
                    let at = now + Cycle::from(cycles);
                    warp.resolves = Until::new(at, Stall::BranchResolving);
                }
                After::Nothing
            }
            Kind::Asynchronous => {
                self.start(warp, &Issue { w, pc, active, lanes, now, cost, step }, &mut times)?
            }
            Kind::Warpgroup => {
                let issue = Issue { w, pc, active, lanes, now, cost, step };
                self.warpgroup(scheduler, warp, &issue, &mut times)?;
                After::Nothing
            }
            _ => {
                self.perform(warp, &Issue { w, pc, active, lanes, now, cost, step }, &mut times)?
            }
        };
        if let (Port::Uniform, Some(uniform)) = (cost.port, cx.spec.uniform) {
            let at = now + Cycle::from(uniform.branch);
            warp.wait_for_uniform(Until::new(at, Stall::Wait));
        }
        if NATIVE && warp.control.take_election() {
            times.turn = cx.program.election_turn;
            let at = now + Cycle::from(cx.program.election);
            warp.resolves = warp.resolves.max(Until::new(at, Stall::BranchResolving));
        }
        if NATIVE && times.turn > 0 {
            let waits = scheduler.take_turn(times.turn, now);
            warp.resolves = warp.resolves.after(waits);
        }
        let mut reads_from = now;
        if let Some(queue) = queue {
            reads_from = self.queue(scheduler, cost, (queue, masks), now, &mut times.done);
        }
        warp.write_back(cost, times.done);
        if NATIVE {
            if let Some((_, read)) = cost.read_counter {
                let read = reads_from + Cycle::from(read);
                warp.raise(cost, read, times.done, cx.program.has_depbar);
            } else if cx.program.has_depbar {
                warp.raise(cost, now, times.done, true);
            }
        }
        let next = warp.control.active();
        self.settle_at::<NATIVE, false>(scheduler, warp, w, next, used, times.resume);
        Ok(after)
    }

    /// Returns the fetch delay after a branch, in cycles.
    #[inline]
    fn refetch(&self, taken: LaneMask) -> u32 {
        if taken.is_empty() { 0 } else { self.cx.program.taken }
    }
}

/// Step that a warp issues.
struct Issue<'a> {
    w: usize,
    pc: Pc,
    active: LaneMask,
    /// Active lanes whose guard is true.
    lanes: LaneMask,
    now: Cycle,
    cost: &'a Cost<'a>,
    step: &'a MicroOp,
}

/// Cycles after an issue.
struct Times {
    /// Earliest issue of the warp's next step.
    resume: Until,
    /// Earliest issue of a dependent step.
    done: Cycle,
    /// Cycles for which the step holds up others of its scheduler that meet or elect; mostly 0.
    turn: u32,
}

/// Effect of an issue on other warps.
pub(super) enum After {
    Nothing,
    /// Exit of these lanes.
    Ended(LaneMask, Pc),
    /// Arrival of the warp at a block barrier.
    Arrived,
}
