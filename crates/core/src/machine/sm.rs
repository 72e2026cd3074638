//! Streaming multiprocessor, cycle by cycle.
//!
//! At the start of a cycle, barriers and exits of earlier issues are settled. Then each scheduler
//! with a ready warp issues one step ([`Issuer`]), and finished blocks make room for new ones.
//! Spans without a possible issue are skipped at once and attributed with their length. The SM
//! counts nothing: it reports [`Event`]s.

mod cycles;

use cycles::{Due, Position};
pub(super) use cycles::{ISSUES, ISSUES_BESIDE};

use super::block::{Block, Votes};
use super::device::Context;
use super::issue::{After, Issuer, split};
use super::l2::replay::RequestLog;
use super::launches::Launches;
use super::scheduler::Scheduler;
use super::verdict::{FaultReport, Finish};
use super::warp::{Opened, Until, Warp};
use crate::base::{BlockId, Cycle, LaneMask, Pc, SmId, WarpId, mix};
use crate::event::{Event, Observer, SlotLoss, Stall};
use crate::exec::{LocalMemory, RegisterFile};
use crate::spec::Policy;

/// Longest delay of a warp by an adversarial schedule: enough for another to run far ahead.
const MOST_LATE: u64 = 4096;

/// Returns the delay of a warp in this situation, in cycles.
fn late(policy: Policy, situation: u64) -> Cycle {
    match policy {
        Policy::Adversarial { seed } => {
            let draw = mix(seed.wrapping_mul(3) ^ situation);
            if draw & 1 == 0 { 0 } else { (draw >> 1) % MOST_LATE }
        }
        _ => 0,
    }
}

/// Streaming multiprocessor. A clone is a checkpoint, given that global memory is restored, too.
#[derive(Clone)]
pub(super) struct Sm<'a, O> {
    id: SmId,
    pub(super) cx: &'a Context<'a>,
    warps: Vec<Warp>,
    /// Empty block slots.
    free: Vec<usize>,
    /// Next block of this SM, which runs every `cx.active_sms`-th block.
    next_block: u64,
    blocks_run: u32,
    /// Number of steps issued.
    issued: u64,
    schedulers: Vec<Scheduler>,
    due: Due,
    position: Position,
    /// State shared by its warps, including the blocks.
    pub issuer: Issuer<'a, O>,
    /// Number of admissions, used as the age of warps.
    admissions: u64,
    launches: Launches,
    /// Last cycle with an issue, plus one.
    now: Cycle,
    /// End of the last warp that has exited (machine code).
    drained: Cycle,
}

impl<'a, O: Observer> Sm<'a, O> {
    /// Creates an SM with its first blocks.
    pub(super) fn new(cx: &'a Context<'a>, id: SmId, observer: O) -> Sm<'a, O> {
        let spec = cx.spec;
        let slots = cx.slots(id);
        let idle = cx.control(LaneMask::EMPTY, 0);
        let warps = cx.spares.take(slots * cx.occupancy.warps_per_block as usize, &idle, |w| {
            Warp::new(
                (w % spec.schedulers as usize, w / spec.schedulers as usize),
                RegisterFile::new(&cx.registers),
                LocalMemory::of(cx.kernel, cx.local_limit),
                cx.program.scoreboard,
                idle.clone(),
            )
        });
        let per_scheduler = warps.len().div_ceil(spec.schedulers as usize);
        let mut sm = Sm {
            id,
            cx,
            warps,
            free: (0..slots).rev().collect(),
            next_block: u64::from(id.0),
            blocks_run: 0,
            issued: 0,
            schedulers: (0..spec.schedulers)
                .map(|number| Scheduler::new(number, spec.policy, per_scheduler))
                .map(|scheduler| scheduler.with_yields(cx.kernel.native.is_some()))
                .collect(),
            due: Due::new(spec.schedulers as usize),
            position: Position::START,
            issuer: Issuer::new(
                cx,
                id,
                (0..slots).map(|_| Block::new(cx.shared_bytes, cx.kernel)).collect(),
                observer,
            ),
            admissions: 0,
            launches: Launches::new(
                spec.sass.as_ref().filter(|_| cx.kernel.native.is_some()).and_then(|t| t.launches),
                cx.occupancy.warps_per_block,
            ),
            now: 0,
            drained: 0,
        };
        sm.admit(0);
        sm
    }

    /// Attributes the remaining time of every slot and reports the SM's end.
    pub(super) fn end(&mut self) -> Cycle {
        let last = self.now.max(self.drained);
        let end = self.schedulers.iter().map(|s| s.accounted).fold(last, Cycle::max);
        for s in 0..self.schedulers.len() {
            let reason = self.reason_of_idleness(s);
            self.issuer.lose_slots(&mut self.schedulers[s], end, reason);
        }
        for warp in self.warps.iter().filter(|warp| warp.micro_ops.issued > 0) {
            self.issuer.tell_micro_ops(warp, warp.micro_ops.issued - 1);
        }
        self.issuer.observer.on(Event::SmEnd { cycle: end, sm: self.id, blocks: self.blocks_run });
        end
    }

    /// Returns the observer and the logged L2 requests.
    pub(super) fn into_seen(self) -> (O, Option<RequestLog>) {
        self.cx.spares.give(self.warps);
        self.issuer.into_seen()
    }

    fn reason_of_idleness(&self, s: usize) -> SlotLoss {
        if self.schedulers[s].resident == 0 {
            return SlotLoss::NoWarp;
        }
        let waiting = self.warps.iter().skip(s).step_by(self.schedulers.len());
        let soonest =
            waiting.filter(|w| !w.control.live().is_empty()).min_by_key(|w| w.waiting.until);
        soonest.map_or(SlotLoss::NoWarp, |w| SlotLoss::Stalled(w.waiting.until.stall()))
    }

    /// Issues a step of warp `local` of scheduler `s` at `now`.
    ///
    /// Returns true if that may let other warps issue.
    #[inline(always)]
    fn issue(&mut self, s: usize, local: usize, now: Cycle) -> Result<bool, Box<FaultReport>> {
        let w = local * self.schedulers.len() + s;
        let scheduler = &mut self.schedulers[s];
        scheduler.take(local, now);
        self.issued += 1;
        self.now = now + 1;
        let after = self.issuer.issue(scheduler, &mut self.warps[w], w, now)?;
        // The entry is found first: the minimum of times then takes one instruction.
        let due = self.due.entry(s);
        *due = scheduler.expected();
        match after {
            After::Nothing => return Ok(false),
            After::Ended(lanes, pc) => self.lanes_ended(w, lanes, pc, now),
            After::Arrived => self.release_barriers(self.warps[w].block, now),
        }
        Ok(true)
    }

    /// Releases every barrier of the block that an arrival or an exit at `now` completed.
    #[inline(never)]
    fn release_barriers(&mut self, block: usize, now: Cycle) {
        while let Some(released) = self.issuer.blocks[block].take_complete() {
            self.issuer.watch.progress();
            let (cycle, sm, id) = (released.last.max(now), self.id, self.issuer.blocks[block].id);
            self.issuer.observer.on(Event::BarrierOpen { cycle, sm, block: id, id: released.id });
            let (spec, policy) = (self.cx.spec.barrier, self.cx.spec.policy);
            let at = cycle + Cycle::from(spec.base);
            let per_block = self.cx.occupancy.warps_per_block as usize;
            for w in block * per_block..(block + 1) * per_block {
                let warp = &mut self.warps[w];
                match warp.open(&released, self.cx.program.ops) {
                    Opened::Released => {}
                    Opened::Elsewhere => continue,
                    Opened::WasAhead => {
                        warp.wait_for_opening(Until::new(at, Stall::Barrier));
                        continue;
                    }
                }
                if warp.next.is_none() {
                    let at =
                        at + late(policy, u64::from(id.0) << 32 | at << 6 | u64::from(warp.index));
                    let from = warp.waiting.from;
                    let (s, local) = (warp.scheduler(), warp.local());
                    let scheduler = &mut self.schedulers[s];
                    scheduler.move_to_end(local, cycle, 63 - warp.index % 64);
                    let (count, opens) = (warp.waiting.before, Until::new(at, Stall::Barrier));
                    self.issuer.settle(scheduler, warp, w, from, opens);
                    warp.wait_for_count_first(count, opens);
                    self.expect(s, local);
                }
            }
        }
    }

    /// Counts exited lanes at counted barriers with earlier arrivals.
    fn count_ended_lanes(&mut self, w: usize, now: Cycle) {
        let warp = &mut self.warps[w];
        let block = &mut self.issuer.blocks[warp.block];
        for (id, threads) in warp.ended_come(self.cx.spec.warp_size) {
            block.arrive(id, threads, block.count(id), Votes::default(), now);
        }
    }

    /// Handles exited lanes: the warp may end, barriers may complete, the block may end.
    #[inline(never)]
    fn lanes_ended(&mut self, w: usize, lanes: LaneMask, pc: Pc, now: Cycle) {
        self.issuer.watch.progress();
        let warp = &self.warps[w];
        let slot = warp.block;
        let block = &mut self.issuer.blocks[slot];
        block.live -= lanes.count();
        if warp.control.live().is_empty() {
            block.warps -= 1;
            let (sm, since) = (self.id, warp.since);
            let mut cycle = now + 1;
            if let (Some(times), Some(_)) = (&self.cx.spec.sass, &self.cx.kernel.native) {
                let end = (now + Cycle::from(times.exit)).max(warp.sent).max(cycle);
                let (warp, cycles) = (WarpId(w as u32), end - cycle);
                let stall = Stall::Drain;
                self.issuer.observer.on(Event::WarpStalled { sm, warp, pc, stall, cycles });
                // The turnover includes the usual time of EXIT and stores.
                let usual = Cycle::from(times.exit.max(times.stored));
                block.drained = block.drained.max(end.saturating_sub(usual));
                self.drained = self.drained.max(end);
                cycle = end;
            }
            self.issuer.observer.on(Event::WarpEnd { cycle, sm, warp: WarpId(w as u32), since });
            self.schedulers[warp.scheduler()].resident -= 1;
        }
        if self.issuer.blocks[slot].warps > 0 {
            self.count_ended_lanes(w, now);
            self.release_barriers(slot, now);
            return;
        }
        self.issuer.observer.on(Event::BlockEnd {
            cycle: now + 1,
            sm: self.id,
            block: self.issuer.blocks[slot].id,
        });
        let drained = self.issuer.blocks[slot].drained;
        self.free.push(slot);
        self.admit((now + 1).max(drained) + Cycle::from(self.cx.spec.block_turnover));
    }

    /// Fills empty block slots from the grid. `now` may lie ahead; the warps' events carry that
    /// cycle.
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
            let at = if now == 0 { self.launches.fill() } else { self.launches.follow(now) };
            self.issuer.blocks[slot].start(id, cx.threads, warps);
            self.issuer.observer.on(Event::BlockStart { cycle: at, sm: self.id, block: id, warps });
            for index in 0..warps {
                self.start_warp(slot, id, index, at);
            }
        }
    }

    #[inline(never)]
    fn start_warp(&mut self, slot: usize, block: BlockId, index: u32, now: Cycle) {
        let cx = self.cx;
        let w = cx.warp_slot(slot, index, self.blocks_run);
        let warp = &mut self.warps[w];
        let lanes = warp.start(cx, (self.id, w), (slot, block, index));
        let late = late(cx.spec.policy, u64::from(block.0) << 32 | u64::from(index));
        let start =
            Cycle::from(cx.spec.block_start) + Cycle::from(cx.spec.warp_start) * Cycle::from(index);
        let launch = now + start + late;
        warp.since = launch;
        let (sm, slot) = (self.id, WarpId(w as u32));
        self.issuer.observer.on(Event::WarpStart {
            cycle: launch,
            sm,
            warp: slot,
            block,
            index,
            lanes,
        });
        let (s, local) = (self.warps[w].scheduler(), self.warps[w].local());
        if self.schedulers[s].resident == 0 {
            let reasons = [(now, SlotLoss::NoWarp), (launch, SlotLoss::Launch)];
            for (until, reason) in reasons {
                // A run that is stopped meanwhile ends at its limit.
                let until = until.min(cx.max_cycles);
                self.issuer.lose_slots(&mut self.schedulers[s], until, reason);
            }
        }
        self.admissions += 1;
        self.schedulers[s].admit(local, self.admissions, self.blocks_run.into());
        if let Policy::Adversarial { seed } = cx.spec.policy {
            split(&mut self.warps[w].control, seed ^ u64::from(index), lanes, cx.program.entry);
        }
        let models_constants = cx.spec.sass.as_ref().is_some_and(|t| t.constants.is_some());
        let cold = match (now, cx.params.is_empty()) {
            _ if cx.kernel.native.is_some() && models_constants => 0,
            (0, true) => cx.spec.cold_start,
            (0, false) => cx.spec.cold_start + cx.spec.cold_constants,
            _ => 0,
        };
        let line = cx.program.costs[cx.program.entry.index()].line;
        let fetched = match &mut self.issuer.native_fetch {
            Some(fetch) => {
                let since = self.schedulers[s].asked();
                fetch.fetch((s, &mut self.schedulers[s].lines), line, (since, launch))
            }
            None => self.issuer.instructions.fetch(line, launch),
        };
        let resume = Until::new(
            fetched + Cycle::from(cold),
            if cold > 0 { Stall::ImcMiss } else { Stall::NoInstruction },
        );
        let warp = &mut self.warps[w];
        self.issuer.settle(&mut self.schedulers[s], warp, w, launch, resume);
        (warp.waiting.before, warp.waiting.resolves) =
            (Until::new(launch, Stall::Wait), Until::default());
        (warp.waiting.further, warp.waiting.fetched) = (fetched > launch, fetched);
        self.expect(s, local);
    }

    /// Returns the number of steps issued.
    pub(super) fn issued(&self) -> u64 {
        self.issued
    }

    /// Returns the number of blocks admitted.
    pub(super) fn blocks_run(&self) -> u32 {
        self.blocks_run
    }

    /// Returns the warp slots.
    pub(super) fn warps(&self) -> &[Warp] {
        &self.warps
    }

    /// Returns the warp slots for changes to a program's values.
    pub(super) fn warps_mut(&mut self) -> &mut [Warp] {
        &mut self.warps
    }

    /// Returns the schedulers.
    pub(super) fn schedulers(&self) -> &[Scheduler] {
        &self.schedulers
    }

    /// Returns the SM's id.
    pub(super) fn id(&self) -> SmId {
        self.id
    }

    fn deadlock(&self) -> Finish {
        Finish::Deadlock(super::verdict::describe(
            self.cx,
            self.id,
            &self.warps,
            &self.issuer.blocks,
            None,
        ))
    }

    /// Returns the livelock verdict: every live warp is blocked or provably repeats a state.
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
