//! The whole GPU: SMs side by side, each with its share of what they have in common.
//!
//! Blocks are dealt to SMs round robin. SMs do not see each other, so they are simulated one after the other or in
//! parallel, with the same figures; each gets an equal share of L2 and of the bandwidths. A kernel whose blocks can talk to
//! each other (global atomics, volatile accesses) runs its SMs interleaved in cycle order on one thread instead.
//! When all have ended, what they asked of L2 is asked of one for the counters ([`replay`]).
//! Not modelled: dynamic block dispatch, contention between SMs beyond the equal shares.

use std::sync::Mutex;

use super::block::{DoesNotFit, Occupancy};
use super::l2::replay::{self, Found, Notes};
use super::program::Program;
use super::scheduler::NEVER;
use super::sm::Sm;
use super::verdict::Finish;
use crate::base::{BlockId, Cycle, LaneMask, SmId};
use crate::code::{Code, Scheme};
use crate::divergence::{SideOrder, WarpControl};
use crate::event::Observer;
use crate::exec::{self, GlobalMemory};
use crate::kernel::Kernel;
use crate::launch::Launch;
use crate::spec::{MachineSpec, Mode};

/// What a run is asked to do beside the program.
#[derive(Clone, Debug)]
pub struct Options {
    /// How warps diverge.
    pub mode: Mode,
    /// Which side of a divergent branch runs first.
    pub order: SideOrder,
    /// Whether spin loops hand the warp over (independent mode; ptxas puts YIELD there).
    pub yields: bool,
    /// Cycles after which a run is given up.
    pub max_cycles: Cycle,
    /// Instructions that all SMs together may issue before a run is given up; each SM has an equal share.
    pub max_issues: u64,
}

/// What came of a run.
pub struct Outcome<O> {
    /// How it ended. Of several SMs that did not end well, the lowest speaks.
    pub finish: Finish,
    /// Cycles of the SM that took longest.
    pub cycles: Cycle,
    /// SMs that had work.
    pub active_sms: u32,
    /// Whether the SMs ran interleaved in cycle order because blocks can communicate.
    pub interleaved: bool,
    /// How many blocks fitted an SM, and why not more.
    pub occupancy: Occupancy,
    /// The buffers, as the run left them.
    pub launch: Launch,
    /// What the observers saw.
    pub observer: O,
}

/// What all SMs of a run share.
pub(super) struct Context<'a> {
    pub kernel: &'a Kernel,
    pub spec: &'a MachineSpec,
    pub program: Program<'a>,
    pub global: &'a GlobalMemory,
    pub occupancy: Occupancy,
    pub active_sms: u32,
    pub params: Vec<u8>,
    pub grid: [u32; 3],
    pub block: [u32; 3],
    /// Blocks of the grid.
    pub blocks: u64,
    /// Threads a block.
    pub threads: u32,
    pub dynamic_shared: u32,
    /// Local memory that a thread may use.
    pub local_limit: u64,
    /// Static and dynamic shared memory of a block.
    pub shared_bytes: u32,
    pub max_cycles: Cycle,
    /// Instructions that an SM may issue.
    pub max_issues: u64,
    /// Whether SMs keep what they ask of L2.
    pub notes_l2: bool,
    order: SideOrder,
}

impl<'a> Context<'a> {
    pub(super) fn new(
        code: &'a Code,
        launch: &Launch,
        spec: &'a MachineSpec,
        options: &Options,
        occupancy: Occupancy,
        global: &'a GlobalMemory,
    ) -> Context<'a> {
        let blocks = launch.grid.iter().map(|&n| u64::from(n)).product::<u64>();
        let active_sms = u64::from(spec.sms).min(blocks) as u32;
        Context {
            kernel: code.kernel(),
            spec,
            program: Program::new(code, spec),
            global,
            occupancy,
            active_sms,
            params: launch.params.clone(),
            grid: launch.grid,
            block: launch.block,
            blocks,
            threads: launch.block.iter().product(),
            dynamic_shared: launch.dynamic_shared,
            local_limit: code.kernel().local_limit(launch.stack),
            shared_bytes: exec::block_shared_bytes(code.kernel().shared_bytes, launch.dynamic_shared),
            max_cycles: options.max_cycles,
            max_issues: options.max_issues.div_ceil(u64::from(active_sms.max(1))),
            notes_l2: false,
            order: options.order,
        }
    }

    /// Whether the SMs have to run interleaved, because blocks on different ones can communicate.
    pub(super) fn communicates(&self) -> bool {
        self.program.communicates && self.active_sms > 1
    }

    /// The control state of a new warp. `salt` makes warps differ under a random side order.
    pub(super) fn control(&self, lanes: LaneMask, salt: u64) -> WarpControl {
        let order = match self.order {
            SideOrder::Random(seed) => SideOrder::Random(seed ^ salt.wrapping_mul(0x9e37_79b9_7f4a_7c15)),
            order => order,
        };
        match self.program.scheme {
            Scheme::Stack => WarpControl::stack(lanes, self.program.entry, order),
            Scheme::Barriers => WarpControl::independent(lanes, self.program.entry, order),
        }
    }
}

/// What a run asks of its surroundings: threads, and to whom it reports progress. `()` has one thread and reports to nobody.
pub trait Host: Sync {
    /// Calls `task` with each number below `n`, in any order, possibly at the same time.
    fn each(&self, n: u32, task: &(dyn Fn(u32) + Sync)) {
        (0..n).for_each(task);
    }

    /// `blocks` more blocks are done.
    fn blocks_done(&self, blocks: u64) {
        let _ = blocks;
    }

    /// `issues` more instructions are issued.
    fn issued(&self, issues: u64) {
        let _ = issues;
    }
}

impl Host for () {}

/// Runs a compiled kernel.
///
/// `observer` makes one observer per SM; they are merged in SM order.
///
/// # Errors
/// When a block does not fit the machine.
pub fn run<O: Observer>(
    code: &Code,
    mut launch: Launch,
    spec: &MachineSpec,
    options: &Options,
    host: &dyn Host,
    observer: impl Fn() -> O + Sync,
) -> Result<Outcome<O>, DoesNotFit> {
    let kernel = code.kernel();
    let occupancy = Occupancy::new(kernel, &launch, spec)?;
    let global = load(kernel, &mut launch);
    let mut cx = Context::new(code, &launch, spec, options, occupancy, &global);
    // Of one SM the share is the whole.
    cx.notes_l2 = cx.active_sms > 1;
    let active_sms = cx.active_sms;
    let interleaved = cx.communicates();
    // A whole run goes on when its observer has seen enough: nobody beside it never has.
    let observer = || (observer(), ());
    let done: Vec<Ended<(O, ())>> = if interleaved {
        run_interleaved(&cx, host, &observer)
    } else {
        each(host, active_sms, |sm| run_alone(Sm::new(&cx, SmId(sm), observer()), host))
    };
    let cycles = done.iter().map(|sm| sm.cycles).max().unwrap_or(0);
    let mut finish = Finish::Ok;
    let mut merged: Option<(O, ())> = None;
    let mut notes = Vec::new();
    for sm in done {
        if let (Finish::Ok, Some(how)) = (&finish, sm.finish) {
            finish = how;
        }
        notes.extend(sm.notes);
        match &mut merged {
            None => merged = Some(sm.observer),
            Some(all) => all.merge(sm.observer),
        }
    }
    let mut merged = merged.unwrap_or_else(observer);
    let found = each(host, replay::parts(&notes), |part| replay::replay(&spec.memory, &notes, part));
    Found::events(found).for_each(|event| merged.on(event));
    drop(cx);
    unload(global, &mut launch);
    Ok(Outcome { finish, cycles, active_sms, interleaved, occupancy, launch, observer: merged.0 })
}

/// Whether a machine takes a launch: what [`run`] asks before it executes anything.
///
/// # Errors
/// When a block does not fit the machine.
pub fn fits(code: &Code, launch: &Launch, spec: &MachineSpec) -> Result<(), DoesNotFit> {
    Occupancy::new(code.kernel(), launch, spec).map(|_| ())
}

/// Collects what `one` makes of each number below `n`, in their order, on the host's threads.
fn each<T: Send>(host: &dyn Host, n: u32, one: impl Fn(u32) -> T + Sync) -> Vec<T> {
    let made: Vec<Mutex<Option<T>>> = (0..n).map(|_| Mutex::new(None)).collect();
    host.each(n, &|i| {
        if let Ok(mut place) = made[i as usize].lock() {
            *place = Some(one(i));
        }
    });
    made.into_iter().filter_map(|made| made.into_inner().ok().flatten()).collect()
}

/// What came of watching one block.
pub struct Watched<O> {
    /// How the run ended; `None` when it was stopped because the observer had seen enough.
    pub finish: Option<Finish>,
    /// The SM that runs the block.
    pub sm: SmId,
    /// SMs that were simulated: that one, or all that have work when blocks can communicate.
    pub simulated_sms: u32,
    /// What the observer of that SM saw.
    pub observer: O,
}

/// Runs as much of a kernel as it takes to see what `observer` wants of `block`: the block's own SM alone (all SMs when blocks
/// can communicate), and no longer than until [`Observer::is_done`]. What it sees is what it would have seen of a whole run.
///
/// # Errors
/// When a block does not fit the machine.
pub fn watch<O: Observer>(
    code: &Code,
    mut launch: Launch,
    spec: &MachineSpec,
    options: &Options,
    block: BlockId,
    observer: impl Fn() -> O,
) -> Result<Watched<O>, DoesNotFit> {
    let occupancy = Occupancy::new(code.kernel(), &launch, spec)?;
    let global = load(code.kernel(), &mut launch);
    let cx = Context::new(code, &launch, spec, options, occupancy, &global);
    let sm = block.0 % cx.active_sms.max(1);
    let mut done = if cx.communicates() {
        run_interleaved(&cx, &(), &observer)
    } else {
        vec![run_alone(Sm::new(&cx, SmId(sm), observer()), &())]
    };
    let simulated_sms = done.len() as u32;
    let mine = if simulated_sms > 1 { sm as usize } else { 0 };
    // What stopped another SM stopped this one, too.
    let reason = done.iter().position(|sm| !matches!(sm.finish, Some(Finish::Ok) | None)).unwrap_or(mine);
    let finish = done[reason].finish.take();
    let observer = done.swap_remove(mine).observer;
    Ok(Watched { finish, sm: SmId(sm), simulated_sms, observer })
}

/// How often an SM reports blocks done.
const REPORT_EVERY: u32 = 64;
/// How often an SM reports instructions issued.
const REPORT_ISSUES: u64 = 1 << 18;

/// An SM that has ended.
struct Ended<O> {
    /// How; `None`: its observer had seen enough.
    finish: Option<Finish>,
    cycles: Cycle,
    observer: O,
    /// What it asked of L2.
    notes: Option<Notes>,
}

impl<O: Observer> Ended<O> {
    fn new(mut sm: Sm<'_, O>, finish: Option<Finish>) -> Ended<O> {
        let cycles = sm.end();
        let (observer, notes) = sm.issuer.into_seen();
        Ended { finish, cycles, observer, notes }
    }
}

fn run_alone<O: Observer>(mut sm: Sm<'_, O>, host: &dyn Host) -> Ended<O> {
    let (mut reported, mut reported_issues) = (0, 0);
    let finish = loop {
        if let Some(finish) = sm.cycle() {
            break Some(finish);
        }
        if sm.issuer.watch.proves_livelock(sm.warps()) {
            break Some(sm.livelock());
        }
        if sm.issuer.observer.is_done() {
            break None;
        }
        if sm.blocks_run() >= reported + REPORT_EVERY {
            host.blocks_done(u64::from(sm.blocks_run() - reported));
            reported = sm.blocks_run();
        }
        if sm.issued() >= reported_issues + REPORT_ISSUES {
            host.issued(sm.issued() - reported_issues);
            reported_issues = sm.issued();
        }
    };
    host.blocks_done(u64::from(sm.blocks_run() - reported));
    Ended::new(sm, finish)
}

fn run_interleaved<O: Observer>(cx: &Context<'_>, host: &dyn Host, observer: &impl Fn() -> O) -> Vec<Ended<O>> {
    let mut sms: Vec<Sm<'_, O>> = (0..cx.active_sms).map(|sm| Sm::new(cx, SmId(sm), observer())).collect();
    let mut finished: Vec<Option<Finish>> = sms.iter().map(|_| None).collect();
    let mut unreported = 0;
    while let Some(i) = earliest(&sms, &finished) {
        let before = sms[i].issued();
        finished[i] = sms[i].cycle();
        unreported += sms[i].issued() - before;
        if unreported >= REPORT_ISSUES {
            host.issued(std::mem::take(&mut unreported));
        }
        if let Some(finish) = &finished[i] {
            host.blocks_done(u64::from(sms[i].blocks_run()));
            if !matches!(finish, Finish::Ok) {
                break; // what the others would still do depends on an SM that has stopped
            }
        }
        if all_hang(&mut sms, &finished, i) {
            finished[i] = Some(sms[i].livelock());
            break;
        }
        if sms[i].issuer.observer.is_done() {
            break;
        }
    }
    sms.into_iter().zip(finished).map(|(sm, finish)| Ended::new(sm, finish)).collect()
}

/// Whether SM `i`, which has just run a cycle, and all the others are proved to repeat themselves for ever.
pub(super) fn all_hang<O: Observer>(sms: &mut [Sm<'_, O>], finished: &[Option<Finish>], i: usize) -> bool {
    if sms[i].issuer.watch.take_progress() {
        sms.iter_mut().for_each(|sm| sm.issuer.watch.disturb());
    }
    let hangs =
        |(sm, done): (&Sm<'_, O>, &Option<Finish>)| done.is_some() || sm.issuer.watch.proves_livelock(sm.warps());
    sms[i].issuer.watch.proves_livelock(sms[i].warps()) && sms.iter().zip(finished).all(hangs)
}

/// The unfinished SM whose next cycle comes first; the lower one of two.
pub(super) fn earliest<O: Observer>(sms: &[Sm<'_, O>], finished: &[Option<Finish>]) -> Option<usize> {
    let unfinished = sms.iter().zip(finished).enumerate().filter(|(_, (_, f))| f.is_none());
    // An SM that can issue nothing has its verdict due at once.
    let when = |sm: &Sm<'_, O>| if sm.next_cycle() == NEVER { 0 } else { sm.next_cycle() };
    unfinished.min_by_key(|(_, (sm, _))| when(sm)).map(|(i, _)| i)
}

/// Moves the launch's buffers, those that the kernel is given, and the kernel's variables into device memory.
pub(super) fn load(kernel: &Kernel, launch: &mut Launch) -> GlobalMemory {
    let given = launch.buffers.iter_mut().filter(|b| b.mapped);
    let buffers = given.map(|b| (b.address, b.bytes, std::mem::take(&mut b.words), true));
    GlobalMemory::new(exec::variable_segments(&kernel.variables).into_iter().chain(buffers).collect())
}

/// Moves the buffers back.
fn unload(global: GlobalMemory, launch: &mut Launch) {
    for (address, _, words, _) in global.into_segments() {
        if let Some(buffer) = launch.buffers.iter_mut().find(|b| b.address == address) {
            buffer.words = words;
        }
    }
}
