//! Observer that turns events into findings.
//!
//! There is one observer per SM. They share the shadow of global memory behind a lock. Runs with
//! checks use one host thread, so the same run yields the same findings: the order of two racing
//! accesses decides the wording of a finding, not its presence. `touching` handles memory accesses,
//! `meetings` barriers and masks; this file handles warps and blocks.

mod meetings;
mod touching;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::Checks;
use super::cells::{Conflict, Manner};
use super::clocks::{BlockClock, Released, WarpClock};
use super::finding::{Does, Finding, Findings, Kind, Place};
use super::init::{Own, SharedWrites};
use super::parting::Decisions;
use super::rows::Rows;
use super::shadow::Shadow;
use super::steps::{Role, Steps};
use super::sync::{Arrival, Phase};
use crate::base::{LaneMask, Pc, WarpId};
use crate::code::{Code, Scheme};
use crate::event::{AccessWay, Event, LaneAccess, MemoryKind, Observer};
use crate::kernel::{BarrierKind, Op, Register};
use crate::launch::{Launch, UnsetWords};
use touching::Touching;

/// Factory of the observers of one run.
#[derive(Clone)]
pub struct Checkers(Arc<Common>);

/// State common to all SMs.
struct Common {
    checks: Checks,
    steps: Steps,
    /// Registers that may be read before they are written.
    watched: Vec<Register>,
    names: Vec<String>,
    warps_per_block: u32,
    threads: u32,
    warp_size: u32,
    shared_bytes: u32,
    /// Bytes of it, from its start on, that the system has written.
    reserved_bytes: u32,
    /// Bytes of local memory per thread.
    local_bytes: u32,
    /// Unwritten words of device memory, with the first and last byte of each buffer, ascending.
    unset: Vec<(u64, u64, UnsetWords)>,
    /// True if warps run in lock-step (pre-Volta).
    lock_step: bool,
    /// True if nothing synchronizes threads of different blocks.
    blocks_apart: bool,
    /// True if only barriers of the whole block synchronize threads of different warps.
    warps_apart: bool,
    global: Mutex<Global>,
}

/// Device memory.
#[derive(Default)]
struct Global {
    shadow: Shadow,
    /// Clocks released by strong writes, by address.
    released: BTreeMap<u64, Released>,
}

/// Returns the unwritten words of a launch; none if their reads are not reported.
fn unset_of(launch: &Launch, checks: Checks) -> Vec<(u64, u64, UnsetWords)> {
    let known = launch.mapped().filter(|_| checks.init);
    let mut all: Vec<_> = known
        .filter_map(|b| Some((b.address, b.address + b.bytes.max(1) - 1, b.unset.clone()?)))
        .collect();
    all.sort_by_key(|(first, ..)| *first);
    all
}

impl Checkers {
    /// Prepares the checks of runs of `code`.
    pub fn new(code: &Code, launch: &Launch, warp_size: u32, checks: Checks) -> Checkers {
        let (kernel, lock_step) = (code.kernel(), code.scheme() == Scheme::Stack);
        // A compiler may read a register whose value it does not use.
        let watches = checks.init && kernel.native.is_none();
        let watched = if watches { kernel.read_unset() } else { Vec::new() };
        let name = |register: &Register| {
            let known = kernel.registers.names.iter().find(|(_, r, _)| r == register);
            known.map_or_else(|| "the condition code".to_owned(), |(name, ..)| format!("`{name}`"))
        };
        let threads: u32 = launch.block.iter().product();
        // A wait for a value acquires only what a fence or a releasing access has released.
        let releases = |op: &Op| match op {
            Op::Load(load) => load.access.order.releases(),
            Op::Store(store) => store.access.order.releases(),
            Op::Atomic(atomic) => atomic.order.releases(),
            Op::AtomicVector(vector) => vector.first.order.releases(),
            Op::MBarrier(op) => op.order.releases(),
            Op::Fence(_) => true,
            _ => false,
        };
        let is_partial = |op: &Op| match op {
            Op::Barrier(barrier) => barrier.count.is_some() || barrier.kind == BarrierKind::Arrive,
            _ => false,
        };
        let has = |what: &dyn Fn(&Op) -> bool| code.ops().iter().any(|step| what(&step.inst.op));
        let blocks_apart = !has(&releases);
        Checkers(Arc::new(Common {
            checks,
            steps: Steps::new(kernel, code.ops(), &watched),
            names: watched.iter().map(name).collect(),
            watched,
            warps_per_block: threads.div_ceil(warp_size.max(1)).max(1),
            threads,
            warp_size,
            shared_bytes: crate::exec::block_shared_bytes(
                kernel.shared_bytes,
                launch.dynamic_shared,
            ),
            reserved_bytes: kernel.named_reserved(),
            local_bytes: kernel.local_size(launch.stack),
            unset: unset_of(launch, checks),
            lock_step,
            blocks_apart,
            warps_apart: blocks_apart && !has(&is_partial),
            global: Mutex::default(),
        }))
    }

    /// Creates the observer of one SM.
    pub fn observer(&self) -> Checker {
        Checker {
            common: self.0.clone(),
            warps: Vec::new(),
            blocks: Vec::new(),
            shared: Vec::new(),
            found: Findings::default(),
            rows: Rows::default(),
        }
    }
}

/// Checking observer of one SM.
pub struct Checker {
    common: Arc<Common>,
    /// Warps by warp slot.
    warps: Vec<Option<Warp>>,
    /// Resident blocks.
    blocks: Vec<Option<Block>>,
    /// Shared memory, by the index of its block.
    shared: Vec<Shadow>,
    found: Findings,
    /// Rows of the access that is looked at.
    rows: Rows,
}

struct Warp {
    /// Index of its block in [`Checker::blocks`].
    block: usize,
    index: u32,
    started: LaneMask,
    live: LaneMask,
    clock: WarpClock,
    own: Own,
    /// Lanes whose `bar.warp.sync` was recorded with that of the first lanes to arrive.
    met: LaneMask,
    /// Outcomes at the branches around aligned barriers; empty in lock-step.
    decisions: Vec<Decisions>,
}

struct Block {
    clock: BlockClock,
    phases: [Phase; 16],
    writes: SharedWrites,
    /// Words that asynchronous copies may yet write, with the thread that has not waited for them.
    in_flight: BTreeMap<u64, Place>,
    released: BTreeMap<u64, Released>,
    /// First exit of a thread.
    ended: Option<Place>,
    /// Number of exited threads.
    gone: u32,
}

impl Common {
    /// Returns the number of decisions recorded per lane: none in lock-step, where a warp arrives
    /// as one.
    fn decisions(&self) -> usize {
        if self.checks.barrier && !self.lock_step { self.steps.decisions } else { 0 }
    }

    /// Returns the place of an earlier access.
    fn other(&self, conflict: &Conflict) -> Place {
        let Conflict { past, pc, manner, write, .. } = *conflict;
        let does = match (manner, write) {
            (Manner::Atomic | Manner::Overwritten, _) => Does::Updates,
            (_, true) => Does::Writes,
            (_, false) => Does::Reads,
        };
        let (block, warp) = (past.warp / self.warps_per_block, past.warp % self.warps_per_block);
        Place { pc: Pc(pc), block, warp, lanes: LaneMask::lane(past.lane), does }
    }
}

impl Checker {
    /// Returns the findings, and true if the shadow limit left memory unchecked.
    pub fn finish(mut self) -> (Vec<Finding>, bool) {
        for slot in 0..self.warps.len() {
            self.never_opened(slot);
        }
        let global = self.common.global.lock().unwrap_or_else(PoisonError::into_inner);
        let full = global.shadow.full;
        drop(global);
        (self.found.into_vec(), full)
    }

    /// Returns true if anything was found yet.
    #[cfg(test)]
    pub(super) fn has_found(&self) -> bool {
        !self.found.is_empty()
    }

    /// Records every access by word, as if nothing were kept by line.
    #[cfg(test)]
    pub(super) fn record_by_word(&mut self) {
        self.shared.iter_mut().for_each(|shadow| shadow.by_word = true);
        let mut global = self.common.global.lock().unwrap_or_else(PoisonError::into_inner);
        global.shadow.by_word = true;
    }

    fn start_warp(&mut self, slot: usize, block: u32, index: u32, lanes: LaneMask) {
        let common = &self.common;
        let is_there = |b: &Option<Block>| b.as_ref().is_some_and(|b| b.clock.id == block);
        let Some(at) = self.blocks.iter().position(is_there) else { return };
        let Some(there) = &self.blocks[at] else { return };
        if self.warps.len() <= slot {
            self.warps.resize_with(slot + 1, || None);
        }
        self.warps[slot] = Some(Warp {
            block: at,
            index,
            started: lanes,
            live: lanes,
            clock: WarpClock::new(&there.clock, index),
            own: Own::new(
                common.watched.len(),
                if common.checks.init { common.local_bytes } else { 0 },
            ),
            met: LaneMask::EMPTY,
            decisions: vec![Decisions::default(); common.decisions()],
        });
    }

    fn start_block(&mut self, id: u32) {
        let at = self.blocks.iter().position(Option::is_none).unwrap_or_else(|| {
            self.blocks.push(None);
            self.shared.push(Shadow::default());
            self.blocks.len() - 1
        });
        self.blocks[at] = Some(Block {
            clock: BlockClock::new(id, self.common.warps_per_block),
            phases: Default::default(),
            writes: SharedWrites::new(self.common.shared_bytes, self.common.reserved_bytes),
            in_flight: BTreeMap::new(),
            released: BTreeMap::new(),
            ended: None,
            gone: 0,
        });
    }

    fn issue(&mut self, slot: usize, pc: Pc, active: LaneMask, lanes: LaneMask) {
        let Checker { common, warps, blocks, found, .. } = self;
        let Some(Some(warp)) = warps.get_mut(slot) else { return };
        let Some(Some(block)) = blocks.get_mut(warp.block) else { return };
        let Some(facts) = common.steps.at(pc) else { return };
        let place =
            |lanes, does| Place { pc, block: block.clock.id, warp: warp.index, lanes, does };
        if !facts.uses.is_empty()
            && let Some((register, unset)) = warp.own.issue(&facts.uses, active, lanes)
        {
            let here = place(unset, Does::Reads);
            let detail = || common.names.get(register).cloned().unwrap_or_default();
            found.add(Kind::UnsetRegister, [facts.line; 2], || {
                finding(Kind::UnsetRegister, here, None, detail())
            });
        }
        if let (Role::Barrier { .. }, Some(number)) = (facts.role, facts.decision)
            && let Some(decisions) = warp.decisions.get_mut(number)
        {
            decisions.decide(active, lanes);
        }
        match facts.role {
            Role::Exit if !lanes.is_empty() => {
                block.ended.get_or_insert(place(lanes, Does::Ends));
                block.gone += lanes.count();
                warp.live -= lanes;
            }
            Role::Fence if common.checks.races && !lanes.is_empty() => {
                if common.lock_step {
                    warp.clock.lock_step(&mut block.clock);
                }
                warp.clock.fence(&mut block.clock, lanes, warp.live);
            }
            Role::Together if common.checks.races && !lanes.is_empty() => {
                warp.clock.warp_barrier(&mut block.clock, lanes, warp.live);
                warp.clock.share_fences(lanes);
            }
            _ => {}
        }
    }
}

impl Observer for Checker {
    #[inline]
    fn on(&mut self, event: Event) {
        match event {
            Event::Issue { warp, pc, active, lanes, .. } if self.common.steps.is_looked_at(pc) => {
                self.issue(warp.index(), pc, active, lanes);
            }
            Event::Branch { warp, pc, active, taken, .. } => {
                self.decide(warp.index(), pc, active, taken)
            }
            Event::BarrierPassed { warp, pc, lanes, .. } => {
                self.decide(warp.index(), pc, lanes, LaneMask::EMPTY);
                self.passed(warp.index(), pc, lanes);
            }
            Event::Collective { warp, pc, lanes, members, .. } => {
                self.collective(warp.index(), pc, lanes, members)
            }
            Event::UndefinedShuffle { warp, pc, lanes, source, .. } if self.common.checks.sync => {
                self.undefined_shuffle(warp.index(), pc, lanes, source);
            }
            Event::Barrier { warp, pc, lanes, arriving, id, count, wait, .. } => {
                let aligned = self.common.steps.is_aligned(pc);
                self.barrier(
                    warp.index(),
                    Arrival { pc, count, sync: wait, aligned },
                    lanes,
                    arriving,
                    id,
                );
            }
            Event::BarrierOpen { block, id, .. } => self.open(block.0, id),
            Event::BlockStart { block, .. } => self.start_block(block.0),
            Event::WarpStart { warp, block, index, lanes, .. } => {
                self.start_warp(warp.index(), block.0, index, lanes)
            }
            Event::WarpEnd { warp, .. } => {
                self.never_opened(warp.index());
                if let Some(slot) = self.warps.get_mut(warp.index()) {
                    *slot = None;
                }
            }
            Event::BlockEnd { block, .. } => {
                let is_ended =
                    |b: &Option<Block>| b.as_ref().is_some_and(|b| b.clock.id == block.0);
                if let Some(at) = self.blocks.iter().position(is_ended) {
                    self.blocks[at] = None;
                    self.shared[at].clear();
                }
            }
            _ => {}
        }
    }

    #[inline]
    fn access(&mut self, slot: WarpId, pc: Pc, access: &LaneAccess<'_>) {
        let Checker { common, warps, blocks, shared, found, rows } = self;
        let Some(Some(warp)) = warps.get_mut(slot.index()) else { return };
        let Some(Some(block)) = blocks.get_mut(warp.block) else { return };
        let Some(facts) = common.steps.at(pc) else { return };
        match access.memory {
            MemoryKind::Const | MemoryKind::Texture | MemoryKind::Surface => {}
            MemoryKind::Local => {
                if common.checks.init
                    && let Some((byte, lane)) = warp.own.local(
                        access.way == AccessWay::Store,
                        access.lanes,
                        access.bytes,
                        access.addresses,
                    )
                {
                    let lanes = LaneMask::lane(lane);
                    let here = Place {
                        pc,
                        block: block.clock.id,
                        warp: warp.index,
                        lanes,
                        does: Does::Reads,
                    };
                    let at = Some((MemoryKind::Local, byte));
                    found.add(Kind::UnsetLocal, [facts.line; 2], || Finding {
                        at,
                        ..finding(Kind::UnsetLocal, here, None, String::new())
                    });
                }
            }
            MemoryKind::Shared | MemoryKind::Global => {
                let Some(shared) = shared.get_mut(warp.block) else { return };
                Touching { common, warp, block, found, rows, pc, facts, access }.run(shared)
            }
        }
    }

    fn merge(&mut self, other: Checker) {
        self.found.merge(other.found);
    }
}

fn finding(kind: Kind, here: Place, there: Option<Place>, detail: String) -> Finding {
    Finding { kind, here, there, at: None, detail, times: 0 }
}
