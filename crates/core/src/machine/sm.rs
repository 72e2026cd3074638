//! One streaming multiprocessor, cycle by cycle.
//!
//! A cycle reads from the end: barriers and exits of earlier issues have been settled, then each scheduler that has a
//! ready warp issues one step ([`Issuer`]), then blocks that ended make room for new ones. Spans in which nothing can issue are
//! skipped in one step and attributed with their length. Nothing is counted here: every fact is an [`Event`].

use super::block::{Block, Votes};
use super::gpu::Context;
use super::issue::{After, Issuer, part};
use super::scheduler::{NEVER, Scheduler};
use super::verdict::{FaultReport, Finish, Limit};
use super::warp::{Until, Warp};
use crate::base::{BlockId, Cycle, LaneMask, SmId, WarpId, mix};
use crate::event::{Event, Observer, SlotLoss, Stall};
use crate::exec::{self, LocalMemory, RegisterFile, WarpPlace};
use crate::spec::Policy;

/// The longest that an adversarial schedule holds a warp back: enough for another to run far ahead.
const MOST_LATE: u64 = 4096;

/// How many cycles a warp in this situation is held back.
fn late(policy: Policy, situation: u64) -> Cycle {
    match policy {
        Policy::Adversarial { seed } => {
            let draw = mix(seed.wrapping_mul(3) ^ situation);
            if draw & 1 == 0 { 0 } else { (draw >> 1) % MOST_LATE }
        }
        _ => 0,
    }
}

/// One SM. A clone is a checkpoint: it goes on as the original would, if global memory is brought back, too.
#[derive(Clone)]
pub(super) struct Sm<'a, O> {
    id: SmId,
    cx: &'a Context<'a>,
    warps: Vec<Warp>,
    /// Block slots that hold no block.
    free: Vec<usize>,
    /// The next block of the grid that this SM runs; it runs every `cx.active_sms`-th.
    next_block: u64,
    blocks_run: u32,
    /// Steps issued.
    issued: u64,
    schedulers: Vec<Scheduler>,
    /// What its warps share, the blocks among it.
    pub issuer: Issuer<'a, O>,
    /// Counts admissions, as the age of warps.
    admissions: u64,
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
                    LocalMemory::limited(cx.kernel.local_bytes, cx.local_limit),
                    cx.program.scoreboard,
                    cx.control(LaneMask::EMPTY, 0),
                )
            })
            .collect::<Vec<_>>();
        let mut sm = Sm {
            id,
            cx,
            warps,
            free: (0..slots).rev().collect(),
            next_block: u64::from(id.0),
            blocks_run: 0,
            issued: 0,
            schedulers: (0..spec.schedulers).map(|number| Scheduler::new(number, spec.policy)).collect(),
            issuer: Issuer::new(cx, id, (0..slots).map(|_| Block::new(cx.shared_bytes)).collect(), observer),
            admissions: 0,
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
        let now = match self.begin_cycle() {
            Ok(now) => now,
            Err(finish) => return Some(finish),
        };
        for turn in 0..self.schedulers.len() {
            if let Err(fault) = self.issue_of(turn, now) {
                return Some(Finish::Fault(fault));
            }
        }
        self.end_cycle(now);
        None
    }

    /// The first part of a cycle: which it is, or how the SM has come to an end.
    #[inline]
    pub(super) fn begin_cycle(&mut self) -> Result<Cycle, Finish> {
        let now = self.next_cycle();
        if now == NEVER {
            return Err(if self.free.len() == self.issuer.blocks.len() { Finish::Ok } else { self.deadlock() });
        }
        if now >= self.cx.max_cycles {
            self.now = self.cx.max_cycles;
            return Err(Finish::CycleLimit(Limit::Cycles(self.now)));
        }
        if self.issued >= self.cx.max_issues {
            return Err(Finish::CycleLimit(Limit::Issues { sm: self.id, issued: self.issued, cycle: self.now }));
        }
        Ok(now)
    }

    /// The part of a cycle that is the `turn`-th scheduler's: in each cycle another one has the first claim on what they share.
    #[inline]
    pub(super) fn issue_of(&mut self, turn: usize, now: Cycle) -> Result<(), Box<FaultReport>> {
        let s = (turn + now as usize) % self.schedulers.len();
        if self.schedulers[s].next <= now { self.issue(s, now) } else { Ok(()) }
    }

    /// The last part of a cycle.
    #[inline]
    pub(super) fn end_cycle(&mut self, now: Cycle) {
        self.now = self.now.max(now + 1);
    }

    /// Attributes what is left of every slot, and says that the SM is done.
    pub(super) fn end(&mut self) -> Cycle {
        let end = self.schedulers.iter().map(|s| s.accounted).fold(self.now, Cycle::max);
        for s in 0..self.schedulers.len() {
            let reason = self.reason_of_idleness(s);
            self.issuer.lose_slots(&mut self.schedulers[s], end, reason);
        }
        self.issuer.observer.on(Event::SmEnd { cycle: end, sm: self.id, blocks: self.blocks_run });
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

    /// Scheduler `s` issues a step at `now`, if one of its warps can.
    #[inline]
    fn issue(&mut self, s: usize, now: Cycle) -> Result<(), Box<FaultReport>> {
        let stride = self.schedulers.len();
        let scheduler = &mut self.schedulers[s];
        if let Some(local) = scheduler.pick(now, &self.issuer.shared) {
            let w = local * stride + s;
            self.issued += 1;
            match self.issuer.issue(scheduler, &mut self.warps[w], w, now)? {
                After::Nothing => {}
                After::Ended(lanes) => self.lanes_ended(w, lanes, now),
                After::Arrived => self.release_barriers(self.warps[w].block),
            }
        }
        self.schedulers[s].refresh(&self.issuer.shared);
        Ok(())
    }

    /// Releases every barrier of the block whose threads are all there.
    #[inline(never)]
    fn release_barriers(&mut self, block: usize) {
        while let Some(released) = self.issuer.blocks[block].take_complete() {
            self.issuer.watch.progress();
            let (cycle, sm, id) = (released.last, self.id, self.issuer.blocks[block].id);
            self.issuer.observer.on(Event::BarrierOpen { cycle, sm, block: id, id: released.id });
            let (spec, policy) = (self.cx.spec.barrier, self.cx.spec.policy);
            let at = released.last + Cycle::from(spec.base);
            let per_block = self.cx.occupancy.warps_per_block as usize;
            for w in block * per_block..(block + 1) * per_block {
                let warp = &mut self.warps[w];
                warp.opened(released.id);
                if warp.ahead.take_if(|arrival| arrival.id == released.id).is_some() {
                    warp.opens = Until::new(at, Stall::Barrier);
                    continue;
                }
                if !warp.arrivals.iter().any(|a| a.id == released.id) {
                    continue;
                }
                for arrival in warp.arrivals.extract_if(.., |a| a.id == released.id) {
                    let inst = &self.cx.program.ops[arrival.pc.index()].inst;
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
                    let at = at + late(policy, u64::from(id.0) << 32 | at << 6 | u64::from(warp.index));
                    let (from, (s, _)) = (warp.waiting.from, warp.home);
                    let scheduler = &mut self.schedulers[s];
                    self.issuer.settle(scheduler, warp, w, from, Until::new(at, Stall::Barrier));
                    scheduler.refresh(&self.issuer.shared);
                }
            }
        }
    }

    /// Lanes of a warp have exited. Where the others have come to a counted barrier, it is there in
    /// full.
    fn count_ended_lanes(&mut self, w: usize, now: Cycle) {
        let warp = &mut self.warps[w];
        let block = &mut self.issuer.blocks[warp.block];
        for (id, threads) in warp.ended_come(self.cx.spec.warp_size) {
            block.arrive(id, threads, block.count(id), Votes::default(), now);
        }
    }

    /// Lanes of a warp have exited: the warp may end, barriers may complete, the block may end.
    #[inline(never)]
    fn lanes_ended(&mut self, w: usize, lanes: LaneMask, now: Cycle) {
        self.issuer.watch.progress();
        let warp = &self.warps[w];
        let slot = warp.block;
        let block = &mut self.issuer.blocks[slot];
        block.live -= lanes.count();
        if warp.control.live().is_empty() {
            block.warps -= 1;
            let (sm, since) = (self.id, warp.since);
            self.issuer.observer.on(Event::WarpEnd { cycle: now + 1, sm, warp: WarpId(w as u32), since });
            self.schedulers[warp.home.0].resident -= 1;
        }
        if self.issuer.blocks[slot].warps > 0 {
            self.count_ended_lanes(w, now);
            self.release_barriers(slot);
            return;
        }
        self.issuer.observer.on(Event::BlockEnd { cycle: now + 1, sm: self.id, block: self.issuer.blocks[slot].id });
        self.free.push(slot);
        self.admit(now + 1 + Cycle::from(self.cx.spec.block_turnover));
    }

    /// Fills free block slots from the grid. `now` may lie ahead: the warps' events carry that cycle.
    fn admit(&mut self, now: Cycle) {
        let cx = self.cx;
        while let Some(&slot) = self.free.last()
            && self.next_block < cx.blocks
        {
            self.free.pop();
            self.issuer.watch.progress();
            let id = BlockId(self.next_block as u32);
            self.next_block += u64::from(cx.active_sms);
            self.blocks_run += 1;
            let warps = cx.occupancy.warps_per_block;
            self.issuer.blocks[slot].start(id, cx.threads, warps);
            self.issuer.observer.on(Event::BlockStart { cycle: now, sm: self.id, block: id, warps });
            for index in 0..warps {
                self.start_warp(slot, id, index, now);
            }
        }
    }

    #[inline(never)]
    fn start_warp(&mut self, slot: usize, block: BlockId, index: u32, now: Cycle) {
        let cx = self.cx;
        let first_thread = index * cx.spec.warp_size;
        let lanes = LaneMask::first_n((cx.threads - first_thread).min(cx.spec.warp_size));
        let warps = cx.occupancy.warps_per_block;
        let within = cx.spec.placement.slot(index, warps, cx.spec.schedulers, self.blocks_run - 1);
        let w = slot * warps as usize + within as usize;
        let warp = &mut self.warps[w];
        warp.reset();
        warp.local.clear();
        warp.control.restart(cx.control(lanes, u64::from(block.0) * 64 + u64::from(index)));
        warp.block = slot;
        warp.block_id = block;
        warp.index = index;
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
        let late = late(cx.spec.policy, u64::from(block.0) << 32 | u64::from(index));
        let start = Cycle::from(cx.spec.block_start) + Cycle::from(cx.spec.warp_start) * Cycle::from(index);
        let launch = now + start + late;
        warp.since = launch;
        let (sm, slot) = (self.id, WarpId(w as u32));
        self.issuer.observer.on(Event::WarpStart { cycle: launch, sm, warp: slot, block, index, lanes });
        let (s, local) = self.warps[w].home;
        if self.schedulers[s].resident == 0 {
            self.issuer.lose_slots(&mut self.schedulers[s], now, SlotLoss::NoWarp);
            self.issuer.lose_slots(&mut self.schedulers[s], launch, SlotLoss::Launch);
        }
        self.admissions += 1;
        self.schedulers[s].admit(local, self.admissions, self.blocks_run.into());
        if let Policy::Adversarial { seed } = cx.spec.policy {
            part(&mut self.warps[w].control, seed ^ u64::from(index), lanes, cx.program.entry);
        }
        let cold = match (now, cx.params.is_empty()) {
            (0, true) => cx.spec.cold_start,
            (0, false) => cx.spec.cold_start + cx.spec.cold_constants,
            _ => 0,
        };
        let line = cx.program.costs[cx.program.entry.index()].line;
        let fetched = self.issuer.instructions.fetch(line, launch);
        let resume =
            Until::new(fetched + Cycle::from(cold), if cold > 0 { Stall::ImcMiss } else { Stall::NoInstruction });
        let warp = &mut self.warps[w];
        self.issuer.settle(&mut self.schedulers[s], warp, w, launch, resume);
        (warp.waiting.before, warp.waiting.fetched) = (Until::default(), fetched);
        self.schedulers[s].refresh(&self.issuer.shared);
    }

    /// Steps issued so far.
    pub(super) fn issued(&self) -> u64 {
        self.issued
    }

    /// Blocks admitted so far.
    pub(super) fn blocks_run(&self) -> u32 {
        self.blocks_run
    }

    /// The warp slots.
    pub(super) fn warps(&self) -> &[Warp] {
        &self.warps
    }

    /// The warp slots, for someone who changes a program's values from outside.
    pub(super) fn warps_mut(&mut self) -> &mut [Warp] {
        &mut self.warps
    }

    /// The schedulers.
    pub(super) fn schedulers(&self) -> &[Scheduler] {
        &self.schedulers
    }

    /// Which of the GPU's SMs it is.
    pub(super) fn id(&self) -> SmId {
        self.id
    }

    fn deadlock(&self) -> Finish {
        Finish::Deadlock(super::verdict::describe(self.cx, self.id, &self.warps, &self.issuer.blocks, None))
    }

    /// The verdict when every live warp is blocked or proved to repeat itself.
    pub(super) fn livelock(&self) -> Finish {
        Finish::Livelock(super::verdict::describe(
            self.cx,
            self.id,
            &self.warps,
            &self.issuer.blocks,
            Some(&self.issuer.watch),
        ))
    }
}
