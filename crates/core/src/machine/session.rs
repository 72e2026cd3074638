//! A run that can be stopped between any two issues, looked at, changed, saved and brought back.
//!
//! The same SMs in the same order as [`super::run`], one issue at a time: a [`Session`] splits the cycle of an SM into the
//! parts of its schedulers. Like [`super::watch`] it simulates the SM of one block alone, or all SMs in cycle order when
//! blocks can communicate. What it costs (a listener that keeps events, clones of SMs) falls on nobody else.
//!
//! *Saving.* An SM is a value; global memory is shared by the SMs and may be large, so a [`Saved`] holds only its pages that
//! differ from the beginning, and pages that did not change between two of them are one page.

mod ears;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

pub use ears::Access;
use ears::Ears;

use super::block::{DoesNotFit, Occupancy};
use super::gpu::{self, Context, Options};
use super::sm::Sm;
use super::verdict::Finish;
use crate::base::{BlockId, Cycle, SmId, WarpId};
use crate::code::{Code, MicroOp};
use crate::divergence::WarpControl;
use crate::event::{Event, Stall};
use crate::exec::{self, GlobalMemory, RegisterFile, SegmentImage};
use crate::kernel::{Kernel, Register};
use crate::launch::Launch;
use crate::spec::MachineSpec;

/// Words of a page of global memory.
const PAGE: usize = 1024;

type Page = [u32; PAGE];

/// A run that is advanced from outside.
pub struct Session<'a> {
    cx: &'a Context<'a>,
    /// Global memory as it was in the beginning.
    base: Vec<SegmentImage>,
    state: State<'a>,
    /// The pages of global memory that have changed, as they were when last saved or restored.
    pages: BTreeMap<u64, Arc<Page>>,
    /// Those that have changed since.
    dirty: BTreeSet<u64>,
}

/// Everything but global memory.
#[derive(Clone)]
struct State<'a> {
    sms: Vec<Sm<'a, Ears>>,
    finished: Vec<Option<Finish>>,
    /// The cycle that has begun and not ended.
    open: Option<Open>,
    /// Whether the run is over, because every SM has ended or one has ended badly.
    over: bool,
    /// The SM of the last issue.
    last: usize,
}

#[derive(Clone, Copy)]
struct Open {
    sm: usize,
    now: Cycle,
    /// The next scheduler whose turn it is.
    scheduler: usize,
}

/// A state of a [`Session`] to come back to.
pub struct Saved<'a> {
    state: State<'a>,
    pages: BTreeMap<u64, Arc<Page>>,
}

/// A resident warp that has not ended.
pub struct WarpState<'s> {
    /// Its slot on the SM.
    pub slot: WarpId,
    /// Its scheduler.
    pub scheduler: u32,
    /// Its block.
    pub block: BlockId,
    /// Its index in the block.
    pub index: u32,
    /// Which lanes are where.
    pub control: &'s WarpControl,
    /// What its registers hold.
    pub registers: &'s RegisterFile,
    /// Whether lanes of it wait at a block barrier.
    pub at_barrier: bool,
    /// What it waits for, and, where that is known, the first cycle in which it no longer does. `None`: it can issue.
    pub wait: Option<(Stall, Option<Cycle>)>,
}

/// Runs `work` on a session at the beginning of a run, on the SM of `block` if blocks do not communicate.
///
/// # Errors
/// When a block does not fit the machine.
pub fn step_through<R>(
    code: &Code,
    mut launch: Launch,
    spec: &MachineSpec,
    options: &Options,
    block: BlockId,
    work: impl FnOnce(Session<'_>) -> R,
) -> Result<R, DoesNotFit> {
    let kernel = code.kernel();
    let occupancy = Occupancy::new(kernel, &launch, spec)?;
    let mut base = exec::variable_segments(&kernel.variables);
    base.extend(launch.mapped().map(|b| (b.address, b.bytes, b.words.clone(), true)));
    let global = gpu::load(kernel, &mut launch);
    let cx = Context::new(code, &launch, spec, options, occupancy, &global);
    let alone = SmId(block.0 % cx.active_sms.max(1));
    let ids = if cx.communicates() { (0..cx.active_sms).map(SmId).collect() } else { vec![alone] };
    let sms: Vec<_> = ids.into_iter().map(|id| Sm::new(&cx, id, Ears::default())).collect();
    let finished = sms.iter().map(|_| None).collect();
    let state = State { sms, finished, open: None, over: false, last: 0 };
    Ok(work(Session { cx: &cx, base, state, pages: BTreeMap::new(), dirty: BTreeSet::new() }))
}

impl<'a> Session<'a> {
    /// Advances by one issue, if there is one before the end of cycle `limit`. What happened is in [`Session::events`]. A
    /// fault is an issue without events.
    pub fn step(&mut self, limit: Cycle) -> bool {
        while !self.state.over {
            let Some(open) = self.state.open.or_else(|| self.begin(limit)) else { return false };
            let sm = &mut self.state.sms[open.sm];
            if open.scheduler == sm.schedulers().len() {
                sm.end_cycle(open.now);
                self.state.open = None;
                if gpu::all_hang(&mut self.state.sms, &self.state.finished, open.sm) {
                    self.end(open.sm, self.state.sms[open.sm].livelock());
                }
                continue;
            }
            self.state.open = Some(Open { scheduler: open.scheduler + 1, ..open });
            sm.issuer.observer.clear();
            let issued = sm.issue_of(open.scheduler, open.now);
            let changed = sm.issuer.observer.changed_addresses().map(page_of);
            self.dirty.extend(changed);
            if let Err(fault) = issued {
                self.state.last = open.sm;
                self.end(open.sm, Finish::Fault(fault));
                return true;
            }
            if self.state.sms[open.sm].issuer.observer.heard_issue() {
                self.state.last = open.sm;
                return true;
            }
        }
        false
    }

    /// Begins the next cycle, if it is not behind `limit`.
    fn begin(&mut self, limit: Cycle) -> Option<Open> {
        loop {
            let i = gpu::earliest(&self.state.sms, &self.state.finished);
            let Some(i) = i else {
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
                Err(finish) => self.end(i, finish),
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

    /// Whether nothing will be issued any more: known when [`Session::step`] has found nothing to issue.
    pub fn is_over(&self) -> bool {
        self.state.over
    }

    /// How the run ended, when it is over. Of several SMs that did not end well, the lowest speaks.
    pub fn finish(&self) -> Option<&Finish> {
        let mut ends = self.state.finished.iter().flatten();
        let bad = ends.find(|finish| !matches!(finish, Finish::Ok));
        bad.or(self.state.finished.first().and_then(Option::as_ref)).filter(|_| self.state.over)
    }

    /// What the last step did, in order: one issue of a warp, with the free steps that the warp passed on the way to its
    /// next one, and what followed from it.
    pub fn events(&self) -> &[Event] {
        self.state.sms[self.state.last].issuer.observer.events()
    }

    /// The memory access of the last step.
    pub fn access(&self) -> Option<&Access> {
        self.state.sms[self.state.last].issuer.observer.access()
    }

    /// Index of the SM of the last step among [`Session::sms`].
    pub fn last_sm(&self) -> usize {
        self.state.last
    }

    /// The SMs that are simulated, ascending.
    pub fn sms(&self) -> impl Iterator<Item = SmId> + '_ {
        self.state.sms.iter().map(Sm::id)
    }

    /// The warps of an SM that have not ended, by slot; `now` decides what they wait for.
    pub fn warps(&self, sm: usize, now: Cycle) -> impl Iterator<Item = WarpState<'_>> + '_ {
        let slots = self.state.sms.get(sm).map_or(0, |sm| sm.warps().len() as u32);
        (0..slots).filter_map(move |slot| self.warp(sm, WarpId(slot), now))
    }

    /// The warp in a slot of an SM, if there is one that has not ended.
    pub fn warp(&self, sm: usize, slot: WarpId, now: Cycle) -> Option<WarpState<'_>> {
        let sm = self.state.sms.get(sm)?;
        let warp = sm.warps().get(slot.index()).filter(|warp| !warp.control.live().is_empty())?;
        let scheduler = &sm.schedulers()[warp.home.0];
        let until = warp.waiting.until;
        let wait = match warp.next {
            None => Some((until.stall(), None)),
            Some(_) if until.cycle() > now => Some((until.stall(), Some(until.cycle()))),
            Some((pc, _)) => {
                let cost = &self.cx.program.costs[pc.index()];
                let (free, taken) = (scheduler.free(cost.port, &sm.issuer.shared), scheduler.accounted);
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

    /// The warp slot that scheduler `scheduler` would issue from at `now`; `None` if nothing can, or its slot is taken.
    pub fn would_issue(&self, sm: usize, scheduler: usize, now: Cycle) -> Option<WarpId> {
        let sm = self.state.sms.get(sm)?;
        let mut copy = sm.schedulers().get(scheduler).filter(|s| s.accounted <= now)?.clone();
        let local = copy.pick(now.max(copy.turned()), &sm.issuer.shared)?;
        Some(WarpId((local * sm.schedulers().len() + scheduler) as u32))
    }

    /// The shared memory of a resident block, word by word.
    pub fn shared_words(&self, sm: usize, block: BlockId) -> Option<&[u32]> {
        let sm = self.state.sms.get(sm)?;
        let blocks = sm.issuer.blocks.iter();
        blocks.filter(|b| b.id == block && b.warps > 0).map(|b| b.shared.words()).next()
    }

    /// Device memory as it is now.
    pub fn global(&self) -> &GlobalMemory {
        self.cx.global
    }

    /// Overwrites a register of one lane. A change from outside is progress: no proof of a livelock reaches across it.
    /// Whether there is such a register of a warp that has not ended.
    pub fn set_register(&mut self, sm: usize, slot: WarpId, lane: u32, register: Register, bits: u64) -> bool {
        let Some(sm) = self.state.sms.get_mut(sm) else { return false };
        let Some(warp) = sm.warps_mut().get_mut(slot.index()) else { return false };
        let done = !warp.control.live().is_empty() && warp.registers.set(register, lane, bits);
        sm.issuer.watch.progress();
        done
    }

    /// The steps that [`Event`]s name by PC.
    pub fn steps(&self) -> &'a [MicroOp] {
        self.cx.program.ops
    }

    /// The kernel as it is issued.
    pub fn kernel(&self) -> &'a Kernel {
        self.cx.kernel
    }

    /// The machine.
    pub fn spec(&self) -> &'a MachineSpec {
        self.cx.spec
    }

    /// Blocks of the grid, and warps of each.
    pub fn extent(&self) -> (u64, u32) {
        (self.cx.blocks, self.cx.occupancy.warps_per_block)
    }

    /// Bytes that a [`Saved`] takes, pages of memory aside: an estimate from the sizes of registers, caches and shared memory.
    pub fn state_bytes(&self) -> usize {
        let (registers, spec) = (&self.cx.kernel.registers, self.cx.spec);
        let rows = usize::from(registers.narrow) + 2 * usize::from(registers.wide);
        let per_warp = rows * 128 + self.cx.program.scoreboard * 8 + self.cx.kernel.local_bytes as usize * 32 + 512;
        let warps = (self.cx.occupancy.blocks * self.cx.occupancy.warps_per_block) as usize;
        let shared = self.cx.occupancy.blocks as usize * self.cx.shared_bytes as usize;
        let caches =
            spec.memory.l1.map_or(0, |c| c.bytes) + spec.memory.l2.bytes / u64::from(self.cx.active_sms.max(1));
        self.state.sms.len() * (warps * per_warp + shared + caches as usize / 4 + (8 << 10))
    }

    /// The present state, to come back to.
    pub fn save(&mut self) -> Saved<'a> {
        for page in std::mem::take(&mut self.dirty) {
            let mut words = [0; PAGE];
            self.cx.global.read(page, &mut words);
            self.pages.insert(page, Arc::new(words));
        }
        Saved { state: self.state.clone(), pages: self.pages.clone() }
    }

    /// Goes back (or forward) to a saved state.
    pub fn restore(&mut self, saved: &Saved<'a>) {
        let mut differing = std::mem::take(&mut self.dirty);
        let same = |page: &u64, words: &Arc<Page>| saved.pages.get(page).is_some_and(|other| Arc::ptr_eq(words, other));
        differing.extend(self.pages.iter().filter(|&(page, words)| !same(page, words)).map(|(&page, _)| page));
        differing.extend(saved.pages.keys().filter(|page| !self.pages.contains_key(page)));
        for page in differing {
            match saved.pages.get(&page) {
                Some(words) => self.cx.global.write(page, &words[..]),
                None => self.write_base(page),
            }
        }
        self.pages.clone_from(&saved.pages);
        self.state.clone_from(&saved.state);
    }

    /// Brings the parts of segments that are in a page back to the beginning.
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
    /// Bytes of the pages of memory that it holds, shared ones included.
    pub fn page_bytes(&self) -> usize {
        self.pages.len() * size_of::<Page>()
    }
}

fn page_of(address: u64) -> u64 {
    address - address % (4 * PAGE as u64)
}

#[cfg(test)]
mod tests;
