//! One streaming multiprocessor, cycle by cycle.
//!
//! A cycle reads from the end: barriers and exits of earlier issues have been settled, then each scheduler that has a
//! ready warp issues one step, then blocks that ended make room for new ones. Meaning is applied at issue, once
//! ([`exec::step`]); the scoreboard decides when dependants may go. Spans in which nothing can issue are
//! skipped in one step and attributed with their length. Nothing is counted here: every fact is an [`Event`].

use super::block::{Block, Votes};
use super::gpu::Context;
use super::memsys::MemorySystem;
use super::program::Kind;
use super::scheduler::{NEVER, Pick, Port, Scheduler, SharedPorts};
use super::verdict::{FaultReport, Finish, Watch};
use super::warp::{Arrival, Until, Waiting, Warp};
use crate::base::{BlockId, Cycle, LaneMask, MAX_LANES, Pc, SmId, WarpId};
use crate::divergence::{Flow, WarpControl};
use crate::event::{Event, Observer, SlotLoss, Stall};
use crate::exec::{self, Effect, Env, LocalMemory, RegisterFile, WarpPlace};
use crate::kernel::{BarrierKind, JoinOp, Op};

/// One SM.
pub(super) struct Sm<'a, O> {
    id: SmId,
    cx: &'a Context<'a>,
    warps: Vec<Warp>,
    blocks: Vec<Block>,
    /// Block slots that hold no block.
    free: Vec<usize>,
    /// The next block of the grid that this SM runs; it runs every `cx.active_sms`-th.
    next_block: u64,
    blocks_run: u32,
    schedulers: Vec<Scheduler>,
    memory: MemorySystem,
    /// What its schedulers share.
    shared: SharedPorts,
    addresses: Box<[u64; MAX_LANES]>,
    /// Counts admissions, as the age of warps.
    admissions: u64,
    pub watch: Watch,
    pub observer: O,
    /// The last cycle in which something was issued, plus one.
    now: Cycle,
}

impl<'a, O: Observer> Sm<'a, O> {
    /// An SM with its first blocks.
    pub(super) fn new(cx: &'a Context<'a>, id: SmId, observer: O) -> Sm<'a, O> {
        let spec = cx.spec;
        let slots = cx.occupancy.blocks as usize;
        let warps = (0..slots * cx.occupancy.warps_per_block as usize)
            .map(|w| {
                Warp::new(
                    (w % spec.schedulers as usize, w / spec.schedulers as usize),
                    RegisterFile::new(&cx.kernel.registers),
                    LocalMemory::new(cx.kernel.local_bytes),
                    cx.program.scoreboard,
                    cx.control(LaneMask::EMPTY, 0),
                )
            })
            .collect::<Vec<_>>();
        let per_scheduler = warps.len().div_ceil(spec.schedulers as usize);
        let mut sm = Sm {
            id,
            cx,
            warps,
            blocks: (0..slots).map(|_| Block::new(cx.shared_bytes)).collect(),
            free: (0..slots).rev().collect(),
            next_block: u64::from(id.0),
            blocks_run: 0,
            schedulers: (0..spec.schedulers).map(|_| Scheduler::new(spec.policy, per_scheduler)).collect(),
            memory: MemorySystem::new(spec, cx.active_sms),
            shared: SharedPorts::default(),
            addresses: Box::new([0; MAX_LANES]),
            admissions: 0,
            watch: Watch::new(),
            observer,
            now: 0,
        };
        sm.admit(0);
        sm
    }

    /// The cycle at which something can be issued next; `NEVER` when nothing can.
    pub(super) fn next_cycle(&self) -> Cycle {
        self.schedulers.iter().map(|s| s.next).fold(NEVER, Cycle::min)
    }

    /// Runs one cycle: the next in which anything can be issued. `Some` when the SM has come to an end.
    #[inline]
    pub(super) fn cycle(&mut self) -> Option<Finish> {
        let now = self.next_cycle();
        if now == NEVER {
            return Some(if self.free.len() == self.blocks.len() { Finish::Ok } else { self.deadlock() });
        }
        if now >= self.cx.max_cycles {
            self.now = self.cx.max_cycles;
            return Some(Finish::CycleLimit);
        }
        for s in 0..self.schedulers.len() {
            if self.schedulers[s].next <= now
                && let Err(fault) = self.issue(s, now)
            {
                return Some(Finish::Fault(fault));
            }
        }
        self.now = self.now.max(now + 1);
        None
    }

    /// Attributes what is left of every slot, and says that the SM is done.
    pub(super) fn end(&mut self) -> Cycle {
        let end = self.schedulers.iter().map(|s| s.accounted).fold(self.now, Cycle::max);
        for s in 0..self.schedulers.len() {
            let reason = self.reason_of_idleness(s);
            self.lose_slots(s, end, reason);
        }
        self.observer.on(Event::SmEnd { cycle: end, sm: self.id, blocks: self.blocks_run });
        end
    }

    fn reason_of_idleness(&self, s: usize) -> SlotLoss {
        if self.schedulers[s].resident == 0 {
            return SlotLoss::NoWarp;
        }
        let waiting = self.warps.iter().skip(s).step_by(self.schedulers.len());
        let soonest = waiting.filter(|w| !w.control.live().is_empty()).min_by_key(|w| w.waiting.until);
        soonest.map_or(SlotLoss::NoWarp, |w| SlotLoss::Stalled(w.waiting.until.stall()))
    }

    fn lose_slots(&mut self, s: usize, until: Cycle, reason: SlotLoss) {
        let scheduler = &mut self.schedulers[s];
        if until > scheduler.accounted {
            let (cycle, cycles) = (scheduler.accounted, until - scheduler.accounted);
            scheduler.accounted = until;
            self.observer.on(Event::SlotsLost { cycle, sm: self.id, scheduler: s as u32, reason, cycles });
        }
    }

    /// Scheduler `s` issues a step at `now`, if one of its warps can.
    #[inline]
    fn issue(&mut self, s: usize, now: Cycle) -> Result<(), Box<FaultReport>> {
        let Some(Pick { warp: local, others }) = self.schedulers[s].pick(now, &self.shared) else {
            self.schedulers[s].refresh(&self.shared);
            return Ok(());
        };
        let w = local * self.schedulers.len() + s;
        let Some((pc, active)) = self.warps[w].next else {
            unreachable!("a warp that has nothing to issue is never ready");
        };
        self.attribute(s, w, pc, now);
        self.schedulers[s].next = NEVER; // from here on lowered by whatever becomes ready
        let result = self.execute(s, w, pc, active, now);
        let scheduler = &mut self.schedulers[s];
        if others {
            scheduler.next = scheduler.accounted;
        } else {
            scheduler.refresh(&self.shared);
        }
        result
    }

    /// Attributes the scheduler's lost slots and the warp's waiting up to `now`, when it issues.
    #[inline]
    fn attribute(&mut self, s: usize, w: usize, pc: Pc, now: Cycle) {
        let Waiting { from, until } = self.warps[w].waiting;
        let cost = &self.cx.program.costs[pc.index()];
        // First the dependences, then the port (as far as it was busy at last), then the other warps.
        let ready = until.cycle().clamp(from, now);
        let free = self.schedulers[s].free(cost.port, &self.shared).clamp(ready, now);
        let reason = if free > ready { cost.throttle } else { until.stall() };
        self.lose_slots(s, now, SlotLoss::Stalled(reason));
        let (sm, warp) = (self.id, WarpId(w as u32));
        let spans = [(until.stall(), ready - from), (cost.throttle, free - ready), (Stall::NotSelected, now - free)];
        for (stall, cycles) in spans {
            if cycles > 0 {
                self.observer.on(Event::WarpStalled { sm, warp, pc, stall, cycles });
            }
        }
    }

    /// Issues the step at `pc` for the lanes in `active`.
    fn execute(&mut self, s: usize, w: usize, pc: Pc, active: LaneMask, now: Cycle) -> Result<(), Box<FaultReport>> {
        let cx = self.cx;
        let cost = &cx.program.costs[pc.index()];
        let step = &cx.program.steps[pc.index()];
        let (sm, slot) = (self.id, WarpId(w as u32));
        if self.watch.tick() {
            self.watch.observe(w, &self.warps[w], &cx.program.steps, pc, active);
        }

        let warp = &mut self.warps[w];
        let lanes = exec::guarded(&step.inst, active, &warp.registers);
        self.observer.on(Event::Issue { cycle: now, sm, warp: slot, pc, active, lanes, slots: cost.slots });
        self.schedulers[s].accounted = now + Cycle::from(cost.slots.max(1));
        if matches!(cost.port, Port::Lsu | Port::Global) {
            self.shared.lsu = self.shared.lsu.max(now + Cycle::from(cx.spec.lsu_interval));
        } else {
            self.schedulers[s].occupy(cost.port, now + Cycle::from(cost.interval));
        }

        let mut resume = Until::new(now + Cycle::from(cost.gap.max(1)), cost.gap_stall);
        let mut done = now + Cycle::from(cost.latency);
        let next = step.next;
        let mut ended = LaneMask::EMPTY;
        let mut arrived = false;
        let flow = if let Op::Join(join) = step.inst.op {
            flow_of_join(join, next)
        } else {
            let mut env = Env {
                global: cx.global,
                shared: &mut self.blocks[warp.block].shared,
                local: &mut warp.local,
                params: &cx.params,
                clock: now,
                addresses: &mut self.addresses,
            };
            let effect = match exec::step(&step.inst, lanes, active, &mut warp.registers, &mut env) {
                Ok(effect) => effect,
                Err(fault) => return Err(Box::new(FaultReport::new(fault, self.id, warp, &step.inst, active, now))),
            };
            match effect {
                Effect::Done => Flow::Next { next },
                Effect::Branch { taken } => {
                    if cost.kind == Kind::ConditionalBranch {
                        self.observer.on(Event::Branch { cycle: now, sm, warp: slot, pc, active, taken });
                    }
                    let target = match step.inst.op {
                        Op::Branch { target, .. } => target,
                        _ => next,
                    };
                    Flow::Branch { taken, target, next, reconverge: step.reconverge }
                }
                Effect::Exit { lanes } if lanes.is_empty() => Flow::Next { next },
                Effect::Exit { lanes } => {
                    ended = lanes;
                    Flow::Exit { lanes, next }
                }
                Effect::Access(access) => {
                    if access.changed {
                        self.watch.progress();
                    }
                    if !access.lanes.is_empty() {
                        let price = Cycle::from(cost.latency);
                        let served = self.memory.serve(now, access, &self.addresses, slot.0, price);
                        done = served.done;
                        self.shared.lsu = self.shared.lsu.max(now + served.port);
                        self.shared.queue = self.memory.accepts_at();
                        self.observer.on(Event::Memory { cycle: now, sm, warp: slot, pc, traffic: served.traffic });
                    }
                    Flow::Next { next }
                }
                Effect::Barrier { lanes, .. } if lanes.is_empty() => Flow::Next { next },
                Effect::Barrier { lanes, id, count, wait } => {
                    arrived = true;
                    self.observer.on(Event::Barrier { cycle: now, sm, warp: slot, pc });
                    let votes = match &step.inst.op {
                        Op::Barrier(b) if matches!(b.kind, BarrierKind::Red { .. }) => Votes {
                            threads: lanes.count(),
                            holds: exec::barrier_votes(&step.inst, lanes, &warp.registers).count(),
                        },
                        _ => Votes::default(),
                    };
                    let mut threads = warp.control.arriving().count();
                    if count.is_some() && warp.all_wait_at(id, lanes) {
                        // A counted barrier counts warps by their full size: lanes that have ended are there too.
                        threads += cx.spec.warp_size - warp.control.live().count();
                    }
                    self.blocks[warp.block].arrive(id, threads, count, votes, now);
                    if wait {
                        warp.arrivals.push(Arrival { id, pc, lanes });
                        Flow::Barrier { id, next }
                    } else {
                        Flow::Next { next }
                    }
                }
                Effect::Sleep { ns } => {
                    let cycles = u64::from(ns) * u64::from(cx.spec.clock_mhz) / 1000;
                    resume = resume.max(Until::new(now + 1 + cycles, Stall::Sleeping));
                    Flow::Yield { next }
                }
            }
        };
        warp.write_back(&cx.program, cost, done);
        warp.control.advance(flow);
        self.settle(w, now + Cycle::from(cost.slots.max(1)), resume);

        if !ended.is_empty() {
            self.lanes_ended(w, ended, now);
        } else if arrived {
            let block = self.warps[w].block;
            self.release_barriers(block);
        }
        Ok(())
    }

    /// Finds what the warp issues next and when it may. Steps that take no slot are done on the way.
    #[inline]
    fn settle(&mut self, w: usize, from: Cycle, resume: Until) {
        let cx = self.cx;
        let warp = &mut self.warps[w];
        let next = loop {
            let Some((pc, active)) = warp.control.active() else { break None };
            let step = &cx.program.steps[pc.index()];
            match cx.program.costs[pc.index()].kind {
                Kind::FreeJoin => {
                    let (cycle, sm, warp_id) = (from, self.id, WarpId(w as u32));
                    self.observer.on(Event::Issue { cycle, sm, warp: warp_id, pc, active, lanes: active, slots: 0 });
                    if let Op::Join(join) = step.inst.op {
                        warp.control.advance(flow_of_join(join, step.next));
                    }
                }
                Kind::Collective => {
                    let lanes = exec::guarded(&step.inst, active, &warp.registers);
                    match exec::members(&step.inst, lanes, &warp.registers) {
                        Some(members) if !warp.control.gathered(members) => {
                            warp.control.advance(Flow::Await { members });
                        }
                        _ => break Some((pc, active)),
                    }
                }
                Kind::Barrier if step.inst.guard.is_some() => {
                    // Lanes whose guard fails do not wait at the barrier: they part from the others here.
                    let lanes = exec::guarded(&step.inst, active, &warp.registers);
                    if lanes.is_empty() || lanes == active {
                        break Some((pc, active));
                    }
                    let reconverge = Some(step.next);
                    warp.control.advance(Flow::Branch { taken: lanes, target: pc, next: step.next, reconverge });
                }
                _ => break Some((pc, active)),
            }
        };
        warp.next = next;
        let (at, until, port) = match next {
            Some((pc, _)) => {
                let cost = &cx.program.costs[pc.index()];
                let until = resume.max(warp.dependences(&cx.program, cost));
                (until.cycle(), until, cost.port)
            }
            None => {
                let stall = if warp.arrivals.is_empty() { Stall::Blocked } else { Stall::Barrier };
                (NEVER, Until::new(NEVER >> 8, stall), Port::Alu)
            }
        };
        warp.waiting = Waiting { from, until };
        let (s, local) = warp.home;
        self.schedulers[s].set_ready(local, at, port);
    }

    /// Releases every barrier of the block whose threads are all there.
    fn release_barriers(&mut self, block: usize) {
        while let Some(released) = self.blocks[block].take_complete() {
            self.watch.progress();
            let spec = self.cx.spec.barrier;
            let warps = Cycle::from(self.blocks[block].warps);
            let at = released.last + Cycle::from(spec.base) + Cycle::from(spec.per_warp) * warps;
            let per_block = self.cx.occupancy.warps_per_block as usize;
            for w in block * per_block..(block + 1) * per_block {
                let warp = &mut self.warps[w];
                if !warp.arrivals.iter().any(|a| a.id == released.id) {
                    continue;
                }
                for arrival in warp.arrivals.extract_if(.., |a| a.id == released.id) {
                    let inst = &self.cx.program.steps[arrival.pc.index()].inst;
                    let Votes { threads, holds } = released.votes;
                    exec::finish_barrier_reduction(
                        inst,
                        arrival.lanes,
                        &mut warp.registers,
                        holds,
                        holds == threads,
                        holds > 0,
                    );
                }
                warp.control.release_barrier(released.id);
                if warp.next.is_none() {
                    let from = warp.waiting.from;
                    self.settle(w, from, Until::new(at, Stall::Barrier));
                }
            }
        }
    }

    /// Lanes of a warp have exited; if those left all wait at a counted barrier, the warp is now there in full.
    fn count_ended_lanes(&mut self, w: usize, now: Cycle) {
        let warp = &self.warps[w];
        let Some(id) = warp.arrivals.first().map(|a| a.id) else { return };
        let block = &mut self.blocks[warp.block];
        if let count @ Some(_) = block.count(id)
            && warp.all_wait_at(id, LaneMask::EMPTY)
            && matches!(warp.control, WarpControl::Independent(_))
        {
            let ended = self.cx.spec.warp_size - warp.control.live().count();
            block.arrive(id, ended, count, Votes::default(), now);
        }
    }

    /// Lanes of a warp have exited: the warp may end, barriers may complete, the block may end.
    fn lanes_ended(&mut self, w: usize, lanes: LaneMask, now: Cycle) {
        self.watch.progress();
        let warp = &self.warps[w];
        let slot = warp.block;
        let block = &mut self.blocks[slot];
        block.live -= lanes.count();
        if warp.control.live().is_empty() {
            block.warps -= 1;
            let (sm, since) = (self.id, warp.since);
            self.observer.on(Event::WarpEnd { cycle: now + 1, sm, warp: WarpId(w as u32), since });
            self.schedulers[warp.home.0].resident -= 1;
        }
        if self.blocks[slot].warps > 0 {
            self.count_ended_lanes(w, now);
            self.release_barriers(slot);
            return;
        }
        self.observer.on(Event::BlockEnd { cycle: now + 1, sm: self.id, block: self.blocks[slot].id });
        self.free.push(slot);
        self.admit(now + 1);
    }

    /// Fills free block slots from the grid.
    fn admit(&mut self, now: Cycle) {
        let cx = self.cx;
        while let Some(&slot) = self.free.last()
            && self.next_block < cx.blocks
        {
            self.free.pop();
            self.watch.progress();
            let id = BlockId(self.next_block as u32);
            self.next_block += u64::from(cx.active_sms);
            self.blocks_run += 1;
            let warps = cx.occupancy.warps_per_block;
            self.blocks[slot].start(id, cx.threads, warps);
            self.observer.on(Event::BlockStart { cycle: now, sm: self.id, block: id, warps });
            for index in 0..warps {
                self.start_warp(slot, id, index, now);
            }
        }
    }

    fn start_warp(&mut self, slot: usize, block: BlockId, index: u32, now: Cycle) {
        let cx = self.cx;
        let first_thread = index * cx.spec.warp_size;
        let lanes = LaneMask::first_n((cx.threads - first_thread).min(cx.spec.warp_size));
        let w = slot * cx.occupancy.warps_per_block as usize + index as usize;
        let warp = &mut self.warps[w];
        warp.reset();
        warp.local.clear();
        warp.control = cx.control(lanes, u64::from(block.0) * 64 + u64::from(index));
        warp.block = slot;
        warp.block_id = block;
        warp.index = index;
        warp.since = now;
        let [x, y, _] = cx.grid;
        let place = WarpPlace {
            ctaid: [block.0 % x, block.0 / x % y, block.0 / x / y],
            nctaid: cx.grid,
            ntid: cx.block,
            first_thread,
            warp_id: w as u32,
            nwarps: cx.spec.max_warps,
            sm_id: self.id.0,
            nsm: cx.spec.sms,
            dynamic_smem: cx.dynamic_shared,
            total_smem: cx.shared_bytes,
        };
        warp.registers.start(&cx.kernel.registers, &place);
        let (sm, slot) = (self.id, WarpId(w as u32));
        self.observer.on(Event::WarpStart { cycle: now, sm, warp: slot, block, index, lanes });
        let (s, local) = self.warps[w].home;
        if self.schedulers[s].resident == 0 {
            self.lose_slots(s, now, SlotLoss::NoWarp);
        }
        self.admissions += 1;
        self.schedulers[s].admit(local, self.admissions);
        self.settle(w, now, Until::new(now + Cycle::from(cx.spec.block_start), Stall::Wait));
    }

    /// Blocks admitted so far.
    pub(super) fn blocks_run(&self) -> u32 {
        self.blocks_run
    }

    /// The warp slots.
    pub(super) fn warps(&self) -> &[Warp] {
        &self.warps
    }

    fn deadlock(&self) -> Finish {
        Finish::Deadlock(super::verdict::describe(self.cx, self.id, &self.warps, &self.blocks, None))
    }

    /// The verdict when every live warp is blocked or proved to repeat itself.
    pub(super) fn livelock(&self) -> Finish {
        Finish::Livelock(super::verdict::describe(self.cx, self.id, &self.warps, &self.blocks, Some(&self.watch)))
    }
}

fn flow_of_join(join: JoinOp, next: Pc) -> Flow {
    match join {
        JoinOp::Set(join) => Flow::Set { join, next },
        JoinOp::Sync(join) => Flow::Sync { join, next },
        JoinOp::Yield => Flow::Yield { next },
    }
}
