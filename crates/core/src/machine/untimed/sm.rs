//! Streaming multiprocessor without time: turns of warps, blocks, barriers.

use super::plan::Plan;
use super::warp::{Runner, Stop};
use crate::base::{BlockId, LaneMask, SmId, WarpId};
use crate::event::{Event, Observer};
use crate::exec::{LocalMemory, RegisterFile};
use crate::machine::block::{Block, Votes};
use crate::machine::device::Context;
use crate::machine::verdict::{self, Finish, Limit};
use crate::machine::warp::Warp;

/// Streaming multiprocessor.
pub(super) struct Sm<'a, O> {
    id: SmId,
    pub(super) cx: &'a Context<'a>,
    warps: Vec<Warp>,
    /// Empty block slots.
    free: Vec<usize>,
    /// Next block of this SM, which runs every `cx.active_sms`-th block.
    next_block: u64,
    blocks_run: u32,
    /// Micro-ops of a turn.
    turn: u64,
    runner: Runner<'a, O>,
}

impl<'a, O: Observer> Sm<'a, O> {
    /// Creates an SM with its first blocks, at most `slots` at a time, whose warps take turns of
    /// `turn` micro-ops.
    pub(super) fn new(
        cx: &'a Context<'a>,
        plan: &'a Plan<'a>,
        id: SmId,
        (slots, turn): (usize, u64),
        observer: O,
    ) -> Sm<'a, O> {
        let idle = cx.control(LaneMask::EMPTY, 0);
        let warps = cx.spares.take(slots * cx.occupancy.warps_per_block as usize, &idle, |_| {
            let local = LocalMemory::of(cx.kernel, cx.local_limit);
            Warp::new((0, 0), RegisterFile::new(&cx.registers), local, 0, idle.clone())
        });
        let blocks = (0..slots).map(|_| Block::new(cx.shared_bytes, cx.kernel)).collect();
        let mut sm = Sm {
            id,
            cx,
            warps,
            free: (0..slots).rev().collect(),
            next_block: u64::from(id.0),
            blocks_run: 0,
            turn,
            runner: Runner::new(cx, plan, id, blocks, observer),
        };
        sm.admit();
        sm
    }

    /// Gives each warp a turn. Returns the end of the SM, if reached.
    pub(super) fn turn(&mut self) -> Option<Finish> {
        if self.free.len() == self.runner.blocks.len() {
            return Some(Finish::Ok);
        }
        if self.runner.pace.issued() >= self.cx.max_issues {
            let (sm, issued) = (self.id, self.runner.pace.issued());
            return Some(Finish::CycleLimit(Limit::Issues { sm, issued, cycle: None }));
        }
        let before = self.runner.pace.issued();
        for w in 0..self.warps.len() {
            let until = self.runner.pace.issued() + self.turn;
            self.runner.pace.begin_turn(until.min(self.cx.max_issues));
            while self.warps[w].control.active().is_some() {
                match self.runner.turn(&mut self.warps[w], w) {
                    Ok(Stop::Turn | Stop::Blocked) => break,
                    Ok(Stop::Ended(lanes)) => self.lanes_ended(w, lanes),
                    Ok(Stop::Arrived) => self.release_barriers(self.warps[w].block),
                    Err(report) => return Some(self.cx.fault(report)),
                }
            }
        }
        if self.runner.pace.watch().is_quiet() {
            self.warps.iter_mut().for_each(|warp| warp.next = warp.control.active());
        }
        (self.runner.pace.issued() == before).then(|| self.deadlock())
    }

    /// Reports the SM's end and returns the observer.
    pub(super) fn end(self) -> O {
        let (sm, blocks) = (self.id, self.blocks_run);
        self.cx.spares.give(self.warps);
        let mut observer = self.runner.into_observer();
        observer.on(Event::SmEnd { cycle: 0, sm, blocks });
        observer
    }

    /// Releases every barrier of the block at which all threads have arrived.
    fn release_barriers(&mut self, block: usize) {
        while let Some(released) = self.runner.blocks[block].take_complete() {
            self.runner.pace.progress();
            let id = self.runner.blocks[block].id;
            let (cycle, sm) = (0, self.id);
            self.runner.observer.on(Event::BarrierOpen { cycle, sm, block: id, id: released.id });
            let per_block = self.cx.occupancy.warps_per_block as usize;
            for warp in &mut self.warps[block * per_block..(block + 1) * per_block] {
                warp.open(&released, self.cx.program.ops);
            }
        }
    }

    /// Handles exited lanes: the warp may end, barriers may complete, the block may end.
    fn lanes_ended(&mut self, w: usize, lanes: LaneMask) {
        self.runner.pace.progress();
        let warp = &mut self.warps[w];
        let slot = warp.block;
        let block = &mut self.runner.blocks[slot];
        block.live -= lanes.count();
        if warp.control.live().is_empty() {
            block.warps -= 1;
            let (cycle, sm, since) = (0, self.id, 0);
            self.runner.observer.on(Event::WarpEnd { cycle, sm, warp: WarpId(w as u32), since });
        }
        if block.warps > 0 {
            // Exited lanes count at counted barriers with earlier arrivals.
            for (id, threads) in warp.ended_come(self.cx.spec.warp_size) {
                block.arrive(id, threads, block.count(id), Votes::default(), 0);
            }
            return self.release_barriers(slot);
        }
        let (cycle, sm, block) = (0, self.id, block.id);
        self.runner.observer.on(Event::BlockEnd { cycle, sm, block });
        self.free.push(slot);
        self.admit();
    }

    /// Fills empty block slots from the grid.
    fn admit(&mut self) {
        let cx = self.cx;
        while let Some(&slot) = self.free.last()
            && self.next_block < cx.blocks
        {
            self.free.pop();
            self.runner.pace.progress();
            let block = BlockId(self.next_block as u32);
            self.next_block += u64::from(cx.active_sms);
            self.blocks_run += 1;
            let warps = cx.occupancy.warps_per_block;
            self.runner.blocks[slot].start(block, cx.threads, warps);
            let (cycle, sm) = (0, self.id);
            self.runner.observer.on(Event::BlockStart { cycle, sm, block, warps });
            for index in 0..warps {
                self.start_warp(slot, block, index);
            }
        }
    }

    fn start_warp(&mut self, slot: usize, block: BlockId, index: u32) {
        let cx = self.cx;
        let w = cx.warp_slot(slot, index, self.blocks_run);
        let lanes = self.warps[w].start(cx, (self.id, w), (slot, block, index));
        let (cycle, sm, warp) = (0, self.id, WarpId(w as u32));
        self.runner.observer.on(Event::WarpStart { cycle, sm, warp, block, index, lanes });
    }

    /// Returns the number of micro-ops executed.
    pub(super) fn issued(&self) -> u64 {
        self.runner.pace.issued()
    }

    /// Returns the number of blocks admitted.
    pub(super) fn blocks_run(&self) -> u32 {
        self.blocks_run
    }

    /// Tells the SM of the progress of all SMs so far.
    pub(super) fn catch_up(&mut self, progress: u64) {
        self.runner.pace.catch_up(progress);
    }

    /// Returns true if there was progress since the last call.
    pub(super) fn take_progress(&mut self) -> bool {
        self.runner.pace.take_progress()
    }

    /// Compares states anew: memory may have changed.
    pub(super) fn look_again(&mut self) {
        self.runner.pace.look_again();
    }

    /// Returns true if the SM has been told of all progress so far.
    pub(super) fn knows(&self, progress: u64) -> bool {
        self.runner.pace.watch().knows(progress)
    }

    /// Returns true if every live warp is blocked or provably repeats a state.
    pub(super) fn proves_livelock(&self) -> bool {
        self.runner.pace.watch().proves_livelock(&self.warps)
    }

    fn deadlock(&self) -> Finish {
        let Sm { cx, id, warps, runner, .. } = self;
        Finish::Deadlock(verdict::describe(cx, *id, warps, &runner.blocks, None))
    }

    /// Returns the livelock verdict.
    pub(super) fn livelock(&self) -> Finish {
        let Sm { cx, id, warps, runner, .. } = self;
        Finish::Livelock(verdict::describe(
            cx,
            *id,
            warps,
            &runner.blocks,
            Some(runner.pace.watch()),
        ))
    }
}
