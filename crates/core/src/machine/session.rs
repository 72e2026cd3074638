//! Interactive run, issue by issue, that can be inspected, changed and restored.
//!
//! A [`Session`] runs the same SMs in the same order as [`super::run`], one issue at a time: it
//! divides an SM's cycle by schedulers. Like [`super::watch`] it simulates only the SM of one
//! block, or all SMs in cycle order if blocks can communicate. Other runs do not pay for its costs
//! (stored events, clones of SMs).
//!
//! *Saving.* An SM is a value. Global memory is shared by the SMs and may be large, so a [`Saved`]
//! holds only the pages that differ from the start, and shares pages unchanged since the previous
//! one.

mod ears;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

pub use ears::Access;
use ears::Listener;

use super::atomics::{AtomicUnits, UnitState};
use super::block::{DoesNotFit, Occupancy};
use super::contents;
use super::device::Context;
use super::options::Options;
use super::partitions::{Changes, Partitions};
use super::sm::Sm;
use super::turns::Turns;
use super::verdict::Finish;
use crate::base::{BlockId, Cycle, SmId, WarpId};
use crate::code::{Code, MicroOp};
use crate::divergence::WarpControl;
use crate::event::{Event, Stall};
use crate::exec::{GlobalMemory, Heap, RegisterFile, SegmentImage};
use crate::kernel::{Kernel, Register};
use crate::launch::Launch;
use crate::spec::Machine;

/// Words per page of global memory.
const PAGE: usize = 1024;

type Page = [u32; PAGE];

/// Run advanced by its caller.
pub struct Session<'a> {
    cx: &'a Context<'a>,
    /// Initial global memory.
    base: Vec<SegmentImage>,
    state: State<'a>,
    /// Changed pages of global memory, as last saved or restored.
    pages: BTreeMap<u64, Arc<Page>>,
    /// Pages changed since then.
    dirty: BTreeSet<u64>,
}

/// State of the run without global memory.
#[derive(Clone)]
struct State<'a> {
    sms: Vec<Sm<'a, Listener>>,
    finished: Vec<Option<Finish>>,
    turns: Turns,
    /// Cycle that has begun but not ended.
    open: Option<Open>,
    /// True if every SM has ended or one has failed.
    over: bool,
    /// SM of the last issue.
    last: usize,
}

#[derive(Clone, Copy)]
struct Open {
    sm: usize,
    now: Cycle,
    /// Scheduler whose turn is next.
    scheduler: usize,
}

/// Saved state of a [`Session`].
pub struct Saved<'a> {
    state: State<'a>,
    /// Atomic units of L2.
    atomics: Option<UnitState>,
    /// Sectors that SMs have changed in L2.
    changes: Option<Changes>,
    pages: BTreeMap<u64, Arc<Page>>,
    heap: Option<Heap>,
}

/// Resident warp that has not ended.
pub struct WarpState<'s> {
    /// Warp slot on the SM.
    pub slot: WarpId,
    /// Scheduler of the warp.
    pub scheduler: u32,
    /// Block of the warp.
    pub block: BlockId,
    /// Warp index in the block.
    pub index: u32,
    /// Control state: the lane groups and their PCs.
    pub control: &'s WarpControl,
    /// Registers.
    pub registers: &'s RegisterFile,
    /// True if lanes of the warp wait at a block barrier.
    pub at_barrier: bool,
    /// Warp state and, if known, the first cycle after the wait. `None`: it can issue.
    pub wait: Option<(Stall, Option<Cycle>)>,
}

/// Runs `work` on a new session, on the SM of `block` if blocks do not communicate.
///
/// # Errors
/// If a block does not fit the machine.
pub fn step_through<R>(
    code: &Code,
    mut launch: Launch,
    spec: &Machine,
    options: &Options,
    block: BlockId,
    work: impl FnOnce(Session<'_>) -> R,
) -> Result<R, DoesNotFit> {
    let kernel = code.kernel();
    DoesNotFit::check_code(kernel, spec, options.mode)?;
    let occupancy = Occupancy::new(kernel, &launch, spec)?;
    let base = contents::images(kernel, &launch);
    let global = contents::load(kernel, &mut launch);
    let mut cx = Context::new(code, &launch, spec, options, occupancy, &global);
    // Registers that are not set yet are shown, too.
    cx.unset = None;
    let alone = SmId(block.0 % cx.active_sms.max(1));
    let ids = if cx.communicates() { (0..cx.active_sms).map(SmId).collect() } else { vec![alone] };
    let mut sms: Vec<_> = ids.into_iter().map(|id| Sm::new(&cx, id, Listener::default())).collect();
    let finished = sms.iter().map(|_| None).collect();
    let turns = Turns::new(&mut sms);
    let state = State { sms, finished, turns, open: None, over: false, last: 0 };
    Ok(work(Session { cx: &cx, base, state, pages: BTreeMap::new(), dirty: BTreeSet::new() }))
}

impl<'a> Session<'a> {
    /// Advances by one issue, if there is one before the end of cycle `limit`.
    ///
    /// [`Session::events`] then returns its events. A fault is an issue without events.
    pub fn step(&mut self, limit: Cycle) -> bool {
        while !self.state.over {
            let Some(open) = self.state.open.or_else(|| self.begin(limit)) else { return false };
            let sm = &mut self.state.sms[open.sm];
            if open.scheduler == sm.schedulers().len() {
                self.state.open = None;
                self.state.turns.end(sm, false);
                let State { sms, finished, turns, .. } = &mut self.state;
                if turns.all_hang(sms, finished, open.sm) {
                    self.end(open.sm, self.state.sms[open.sm].livelock());
                }
                continue;
            }
            self.state.open = Some(Open { scheduler: open.scheduler + 1, ..open });
            sm.issuer.observer.clear();
            let finish = sm.turn(open.scheduler, open.now);
            let changed = sm.issuer.observer.changed_addresses().map(page_of);
            self.dirty.extend(changed);
            if let Some(fault) = finish {
                self.state.last = open.sm;
                self.end(open.sm, fault);
                return true;
            }
            if self.state.sms[open.sm].issuer.observer.has_issue() {
                self.state.last = open.sm;
                return true;
            }
        }
        false
    }

    /// Begins the next cycle, if it is at most `limit`.
    fn begin(&mut self, limit: Cycle) -> Option<Open> {
        loop {
            let Some(i) = self.state.turns.next(&mut self.state.sms) else {
                self.state.over = true;
                return None;
            };
            let sm = &mut self.state.sms[i];
            let next = sm.next_cycle();
            if next > limit && next < self.cx.max_cycles {
                return None;
            }
            match sm.begin_cycle() {
                Ok(now) => return Some(Open { sm: i, now, scheduler: 0 }),
                Err(finish) => {
                    self.state.turns.end(&mut self.state.sms[i], true);
                    self.end(i, finish);
                }
            }
            if self.state.over {
                return None;
            }
        }
    }

    fn end(&mut self, sm: usize, finish: Finish) {
        self.state.over = !matches!(finish, Finish::Ok);
        self.state.finished[sm] = Some(finish);
    }

    /// Returns true if nothing will issue any more. Known once [`Session::step`] returns false.
    pub fn is_over(&self) -> bool {
        self.state.over
    }

    /// Returns the end of a finished run. The lowest-numbered failing SM wins.
    pub fn finish(&self) -> Option<&Finish> {
        let mut ends = self.state.finished.iter().flatten();
        let bad = ends.find(|finish| !matches!(finish, Finish::Ok));
        bad.or(self.state.finished.first().and_then(Option::as_ref)).filter(|_| self.state.over)
    }

    /// Returns the events of the last step in order.
    ///
    /// A step is one issue of a warp, the free steps before its next issue, and their consequences.
    pub fn events(&self) -> &[Event] {
        self.state.sms[self.state.last].issuer.observer.events()
    }

    /// Returns the memory access of the last step; of several memories, the last one's.
    pub fn access(&self) -> Option<&Access> {
        self.state.sms[self.state.last].issuer.observer.access()
    }

    /// Returns what lanes printed in the last step, with the lane, in order.
    pub fn printed(&self) -> &[(u32, Vec<u8>)] {
        self.state.sms[self.state.last].issuer.observer.printed()
    }

    /// Returns the index of the last step's SM in [`Session::sms`].
    pub fn last_sm(&self) -> usize {
        self.state.last
    }

    /// Returns the simulated SMs, ascending.
    pub fn sms(&self) -> impl Iterator<Item = SmId> + '_ {
        self.state.sms.iter().map(Sm::id)
    }

    /// Returns the live warps of an SM by slot; `now` determines their warp states.
    pub fn warps(&self, sm: usize, now: Cycle) -> impl Iterator<Item = WarpState<'_>> + '_ {
        let slots = self.state.sms.get(sm).map_or(0, |sm| sm.warps().len() as u32);
        (0..slots).filter_map(move |slot| self.warp(sm, WarpId(slot), now))
    }

    /// Returns the live warp in a slot of an SM, if any.
    pub fn warp(&self, sm: usize, slot: WarpId, now: Cycle) -> Option<WarpState<'_>> {
        let sm = self.state.sms.get(sm)?;
        let warp = sm.warps().get(slot.index()).filter(|warp| !warp.control.live().is_empty())?;
        let scheduler = &sm.schedulers()[warp.scheduler()];
        let until = warp.waiting.until;
        let wait = match warp.next {
            None => Some((until.stall(), None)),
            Some(_) if until.cycle() > now => Some((until.stall(), Some(until.cycle()))),
            Some((pc, _)) => {
                let cost = &self.cx.program.costs[pc.index()];
                let (free, taken) =
                    (scheduler.free(cost.port, &sm.issuer.shared), scheduler.accounted);
                match () {
                    () if free > now => Some((cost.throttle, Some(free))),
                    () if taken > now => Some((Stall::NotSelected, Some(taken))),
                    () => None,
                }
            }
        };
        Some(WarpState {
            slot,
            scheduler: scheduler.number,
            block: warp.block_id,
            index: warp.index,
            control: &warp.control,
            registers: &warp.registers,
            at_barrier: !warp.arrivals.is_empty(),
            wait,
        })
    }

    /// Returns the warp slot from which a scheduler would issue at `now`.
    ///
    /// `None` if no warp can issue or its issue slot is taken.
    pub fn would_issue(&self, sm: usize, scheduler: usize, now: Cycle) -> Option<WarpId> {
        let sm = self.state.sms.get(sm)?;
        let mut copy = sm.schedulers().get(scheduler).filter(|s| s.accounted <= now)?.clone();
        let local = copy.pick(now.max(copy.asked()), &sm.issuer.shared)?;
        Some(WarpId((local * sm.schedulers().len() + scheduler) as u32))
    }

    /// Returns the shared memory of a resident block, word by word.
    pub fn shared_words(&self, sm: usize, block: BlockId) -> Option<&[u32]> {
        let sm = self.state.sms.get(sm)?;
        let blocks = sm.issuer.blocks.iter();
        blocks.filter(|b| b.id == block && b.warps > 0).map(|b| b.shared.words()).next()
    }

    /// Returns the current device memory.
    pub fn global(&self) -> &GlobalMemory {
        self.cx.global
    }

    /// Overwrites a register of one lane. Returns false if no live warp has the register.
    ///
    /// The change counts as progress: no livelock proof extends across it.
    pub fn set_register(
        &mut self,
        sm: usize,
        slot: WarpId,
        lane: u32,
        register: Register,
        bits: u64,
    ) -> bool {
        let Some(sm) = self.state.sms.get_mut(sm) else { return false };
        let Some(warp) = sm.warps_mut().get_mut(slot.index()) else { return false };
        let done = !warp.control.live().is_empty() && warp.registers.set(register, lane, bits);
        sm.issuer.watch.progress();
        done
    }

    /// Returns the steps, indexed by the PCs of [`Event`]s.
    pub fn steps(&self) -> &'a [MicroOp] {
        self.cx.program.ops
    }

    /// Returns the kernel as issued.
    pub fn kernel(&self) -> &'a Kernel {
        self.cx.kernel
    }

    /// Returns the machine.
    pub fn spec(&self) -> &'a Machine {
        self.cx.spec
    }

    /// Returns the blocks of the grid and the warps per block.
    pub fn extent(&self) -> (u64, u32) {
        (self.cx.blocks, self.cx.occupancy.warps_per_block)
    }

    /// Estimates the bytes of a [`Saved`] without its memory pages.
    pub fn state_bytes(&self) -> usize {
        let (registers, spec) = (&self.cx.kernel.registers, self.cx.spec);
        let rows = usize::from(registers.narrow) + 2 * usize::from(registers.wide);
        let per_warp = rows * 128
            + self.cx.program.scoreboard * 8
            + self.cx.kernel.local_bytes as usize * 32
            + 512;
        let warps = (self.cx.occupancy.blocks * self.cx.occupancy.warps_per_block) as usize;
        let shared = self.cx.occupancy.blocks as usize * self.cx.shared_bytes as usize;
        let caches = spec.memory.l1.map_or(0, |c| c.bytes)
            + spec.memory.l2.bytes / u64::from(self.cx.active_sms.max(1));
        self.state.sms.len() * (warps * per_warp + shared + caches as usize / 4 + (8 << 10))
    }

    /// Saves the current state.
    pub fn save(&mut self) -> Saved<'a> {
        for page in std::mem::take(&mut self.dirty) {
            let mut words = [0; PAGE];
            self.cx.global.read(page, &mut words);
            self.pages.insert(page, Arc::new(words));
        }
        let heap = self.cx.global.heap();
        let atomics = self.cx.atomics.as_ref().map(AtomicUnits::save);
        let changes = self.cx.partitions.as_ref().map(Partitions::save);
        Saved { atomics, changes, state: self.state.clone(), pages: self.pages.clone(), heap }
    }

    /// Restores a saved state, earlier or later.
    pub fn restore(&mut self, saved: &Saved<'a>) {
        let mut differing = std::mem::take(&mut self.dirty);
        let same = |page: &u64, words: &Arc<Page>| {
            saved.pages.get(page).is_some_and(|other| Arc::ptr_eq(words, other))
        };
        differing.extend(
            self.pages.iter().filter(|&(page, words)| !same(page, words)).map(|(&page, _)| page),
        );
        differing.extend(saved.pages.keys().filter(|page| !self.pages.contains_key(page)));
        for page in differing {
            match saved.pages.get(&page) {
                Some(words) => self.cx.global.write(page, &words[..]),
                None => self.write_base(page),
            }
        }
        if let (Some(units), Some(state)) = (&self.cx.atomics, &saved.atomics) {
            units.restore(state);
        }
        if let (Some(partitions), Some(changes)) = (&self.cx.partitions, &saved.changes) {
            partitions.restore(changes);
        }
        self.pages.clone_from(&saved.pages);
        self.cx.global.set_heap(saved.heap.clone());
        self.state.clone_from(&saved.state);
    }

    /// Resets segments in a page to their initial values.
    fn write_base(&self, page: u64) {
        let end = page + 4 * PAGE as u64;
        for (address, _, words, _) in &self.base {
            let from = page.max(*address);
            let to = end.min(address + 4 * words.len() as u64);
            if from < to {
                let part = ((from - address) / 4) as usize..((to - address) / 4) as usize;
                self.cx.global.write(from, &words[part]);
            }
        }
    }
}

impl Saved<'_> {
    /// Returns the bytes of its memory pages, shared ones included.
    pub fn page_bytes(&self) -> usize {
        self.pages.len() * size_of::<Page>()
    }
}

fn page_of(address: u64) -> u64 {
    address - address % (4 * PAGE as u64)
}

#[cfg(test)]
mod tests;
