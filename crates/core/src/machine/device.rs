//! Simulated GPU: several SMs, each with its share of the common resources.
//!
//! Blocks are dealt to SMs round robin. SMs do not see each other, so they are simulated
//! sequentially or in parallel with the same figures; each gets an equal share of L2 and of the
//! bandwidths. A kernel whose blocks can communicate (global atomics, volatile accesses) instead
//! runs its SMs [interleaved](interleaved) in cycle order. At the end the requests of all SMs
//! replay through one L2 for the counters ([`replay`]). Not modeled: dynamic block dispatch,
//! contention between SMs beyond the equal shares.

use super::access_order::AccessOrder;
use super::atomics::AtomicUnits;
use super::block::{DoesNotFit, Occupancy};
use super::constants;
use super::contents::{load, unload};
use super::host::{Host, each, each_in_order};
use super::interleaved;
use super::l2::replay::{self, Found, RequestLog};
use super::options::{Options, Timing};
use super::partitions::Partitions;
use super::pricing::{PricedCode, blocks_communicate, has_checked_order, may_run_ahead};
use super::shares::{Blocks, Shares};
use super::sm::Sm;
use super::spares::Spares;
use super::untimed;
use super::verdict::{FaultReport, Finish};
use crate::base::{BlockId, Cycle, LaneMask, SmId};
use crate::code::{Code, Scheme};
use crate::divergence::{SideOrder, WarpControl};
use crate::event::Observer;
use crate::exec::{self, FaultKind, GlobalMemory, WarpPlace};
use crate::kernel::{Kernel, Register, Registers};
use crate::launch::Launch;
use crate::spec::{Machine, Memory, Policy};

/// Outcome of a run.
pub struct Outcome<O> {
    /// End of the run. If several SMs fail, the lowest-numbered failing SM wins.
    pub finish: Finish,
    /// Cycles of the slowest SM.
    pub cycles: Cycle,
    /// Number of SMs with work.
    pub active_sms: u32,
    /// True if the SMs had their turns in the order of cycles because blocks can communicate.
    pub interleaved: bool,
    /// Resident blocks per SM and their limiting resource.
    pub occupancy: Occupancy,
    /// Launch with the buffers as the run left them.
    pub launch: Launch,
    /// Merged observer.
    pub observer: O,
}

/// State shared by all SMs of a run.
pub(super) struct Context<'a> {
    pub kernel: &'a Kernel,
    pub spec: &'a Machine,
    pub program: PricedCode<'a>,
    pub global: &'a GlobalMemory,
    pub occupancy: Occupancy,
    pub active_sms: u32,
    /// Rows of the register file with their initial values.
    pub registers: Registers,
    /// Registers that a starting warp sets to 0, all if `None`. Others are never read unset.
    pub unset: Option<Vec<Register>>,
    pub params: Vec<u8>,
    /// Memory system, with the latencies of machine code for such a kernel.
    pub memory: Memory,
    pub grid: [u32; 3],
    pub block: [u32; 3],
    /// Blocks of the grid.
    pub blocks: u64,
    /// Threads per block.
    pub threads: u32,
    pub dynamic_shared: u32,
    /// Address of the grid's workspace; 0 unless the launch is cooperative.
    pub workspace: u64,
    /// Bytes of local memory per thread.
    pub local_limit: u64,
    /// Static and dynamic shared memory of a block, in bytes.
    pub shared_bytes: u32,
    pub max_cycles: Cycle,
    /// Instructions that an SM may issue.
    pub max_issues: u64,
    /// Atomic units of L2, if the machine has them for this code.
    pub atomics: Option<AtomicUnits>,
    /// Partitions of L2, if the machine has two for this code.
    pub partitions: Option<Partitions>,
    /// Order of the SMs' accesses, if they run ahead past plain ones.
    pub accesses: Option<AccessOrder>,
    /// True if SMs log their L2 requests.
    pub logs_l2: bool,
    /// Warps of SMs that have ended.
    pub spares: Spares,
    order: SideOrder,
}

impl<'a> Context<'a> {
    /// Returns the end of a run by a fault.
    pub(super) fn fault(&self, mut report: Box<FaultReport>) -> Finish {
        if report.fault.kind == FaultKind::Trap
            && self.workspace == 0
            && self.kernel.reads_workspace()
        {
            report.fault.kind = FaultKind::GridSync;
        }
        Finish::Fault(report)
    }

    pub(super) fn new(
        code: &'a Code,
        launch: &Launch,
        spec: &'a Machine,
        options: &Options,
        occupancy: Occupancy,
        global: &'a GlobalMemory,
    ) -> Context<'a> {
        let blocks = launch.grid.iter().map(|&n| u64::from(n)).product::<u64>();
        let active_sms = u64::from(spec.sms).min(blocks) as u32;
        let native = spec.sass.as_ref().filter(|_| code.kernel().native.is_some());
        let registers = constants::registers(code.kernel(), launch, spec.sms, global);
        let program = PricedCode::new(code, spec);
        let orders_atomics = program.orders_atomics;
        let unset = code.kernel().unset_registers().unwrap_or_else(|| registers.variables());
        Context {
            kernel: code.kernel(),
            spec,
            program,
            global,
            occupancy,
            active_sms,
            registers,
            unset: Some(unset),
            params: constants::bank_zero(code.kernel(), launch, spec.sms),
            memory: memory_of(code.kernel(), spec),
            grid: launch.grid,
            block: launch.block,
            blocks,
            threads: launch.block.iter().product(),
            dynamic_shared: launch.dynamic_shared,
            workspace: launch.workspace(),
            local_limit: code.kernel().local_limit(launch.stack),
            shared_bytes: exec::block_shared_bytes(
                code.kernel().shared_bytes,
                launch.dynamic_shared,
            ),
            max_cycles: options.max_cycles,
            max_issues: options.max_issues.div_ceil(u64::from(active_sms.max(1))),
            atomics: native.and_then(|times| times.atomics).map(|rates| {
                let buffers = launch.buffers.iter().map(|buffer| buffer.address).collect();
                AtomicUnits::new(rates, (spec.sms, orders_atomics), buffers)
            }),
            partitions: native
                .and_then(|times| times.partitions.as_ref())
                .map(|partitions| Partitions::new(partitions, spec.sms)),
            accesses: None,
            logs_l2: false,
            spares: Spares::default(),
            order: options.order,
        }
    }

    /// Returns the number of blocks that an SM runs.
    fn blocks_of(&self, sm: SmId) -> u64 {
        let sms = u64::from(self.active_sms);
        (self.blocks + sms).saturating_sub(1 + u64::from(sm.0)) / sms.max(1)
    }

    /// Returns the block slots of an SM that are ever in use.
    pub(super) fn slots(&self, sm: SmId) -> usize {
        u64::from(self.occupancy.blocks).min(self.blocks_of(sm)) as usize
    }

    /// Returns the shares of an SM in the launch's buffers, if it can find lines of other SMs in
    /// L2.
    pub(super) fn shares(&self, sm: SmId) -> Option<Shares> {
        let native = self.spec.sass.as_ref().filter(|_| self.kernel.native.is_some());
        let (sms, own) = (u64::from(self.active_sms), self.blocks_of(sm));
        native.filter(|times| times.shares_l2 && sms > 1).map(|_| {
            let wave = sms * u64::from(self.occupancy.blocks);
            let blocks = Blocks { wave, own, all: self.blocks };
            Shares::new(self.global.extents(), &self.memory, blocks)
        })
    }

    /// Returns true if blocks on different SMs can communicate.
    ///
    /// The SMs then run interleaved.
    pub(super) fn communicates(&self) -> bool {
        self.program.communicates && self.active_sms > 1
    }

    /// Returns the place of a block's warps on an SM; thread and warp are those of the first one.
    pub(super) fn place(&self, sm: SmId, block: BlockId) -> WarpPlace {
        let [x, y, _] = self.grid;
        WarpPlace {
            ctaid: [block.0 % x, block.0 / x % y, block.0 / x / y],
            nctaid: self.grid,
            ntid: self.block,
            first_thread: 0,
            warp_id: 0,
            nwarps: self.spec.max_warps,
            sm_id: sm.0,
            nsm: self.spec.sms,
            dynamic_smem: self.dynamic_shared,
            total_smem: self.shared_bytes,
            workspace: self.workspace,
        }
    }

    /// Returns the slot of warp `index` of the block in block slot `slot`, an SM's `number`-th one.
    pub(super) fn warp_slot(&self, slot: usize, index: u32, number: u32) -> usize {
        let warps = self.occupancy.warps_per_block;
        let within =
            self.spec.placement.slot(index, warps, self.spec.schedulers, number.saturating_sub(1));
        slot * warps as usize + within as usize
    }

    /// Returns the control state of a new warp. `salt` varies random side orders by warp.
    pub(super) fn control(&self, lanes: LaneMask, salt: u64) -> WarpControl {
        let order = match self.order {
            SideOrder::Random(seed) => {
                SideOrder::Random(seed ^ salt.wrapping_mul(0x9e37_79b9_7f4a_7c15))
            }
            order => order,
        };
        match self.program.scheme {
            Scheme::Stack => WarpControl::stack(lanes, self.program.entry, order),
            Scheme::Barriers => WarpControl::independent(lanes, self.program.entry, order),
            Scheme::BarrierRegisters => WarpControl::elected(lanes, self.program.entry, order),
        }
    }
}

/// Returns the memory system for a kernel.
fn memory_of(kernel: &Kernel, spec: &Machine) -> Memory {
    let mut memory = spec.memory;
    let times = spec.sass.as_ref().filter(|_| kernel.native.is_some());
    if let Some(latencies) = times.and_then(|times| times.accesses) {
        if let Some(l1) = &mut memory.l1 {
            l1.latency = latencies.l1;
        }
        memory.l2.latency = latencies.l2;
        memory.dram_latency = latencies.dram;
        memory.atomic_latency = latencies.atomic;
    }
    memory
}

/// Runs a compiled kernel, with or without time ([`Options::timing`]).
///
/// `observer` makes one observer per SM; they are merged in SM order.
///
/// # Errors
/// When a block does not fit the machine, or the code its mode.
pub fn run<O: Observer>(
    code: &Code,
    mut launch: Launch,
    spec: &Machine,
    options: &Options,
    host: &dyn Host,
    observer: impl Fn() -> O + Sync,
) -> Result<Outcome<O>, DoesNotFit> {
    if options.timing == Timing::Off {
        return untimed::run(code, launch, spec, options, host, observer);
    }
    let plain = !matches!(spec.policy, Policy::Adversarial { .. } | Policy::TwoLevel { .. });
    let mut ahead =
        if !(O::EACH_SM_ALONE && plain && blocks_communicate(code) && may_run_ahead(code)) {
            Ahead::No
        } else if has_checked_order(code) {
            Ahead::OfAccesses
        } else {
            Ahead::BetweenAccesses
        };
    loop {
        if ahead == Ahead::No {
            return Ok(attempt(code, launch, spec, options, (host, ahead), &observer)?.0);
        }
        // Of checked accesses it is known what they wrote.
        let before = (ahead == Ahead::BetweenAccesses).then(|| launch.clone());
        let (outcome, next) = attempt(code, launch, spec, options, (host, ahead), &observer)?;
        let Some(next) = next else { return Ok(outcome) };
        ahead = next;
        launch = match before {
            Some(before) => outcome.launch.reset(before),
            None => outcome.launch,
        };
    }
}

/// How far SMs whose blocks communicate run ahead of each other. The figures are the same.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ahead {
    /// Not at all: they run in the order of cycles.
    No,
    /// Between two steps that others can see, if no SM fails.
    BetweenAccesses,
    /// Past plain accesses and reductions, too, if the order of accesses can be kept.
    OfAccesses,
}

/// As [`run`]. If SMs must run again, also returns how far ahead; after [`Ahead::OfAccesses`] the
/// launch is then as before.
fn attempt<O: Observer>(
    code: &Code,
    mut launch: Launch,
    spec: &Machine,
    options: &Options,
    (host, ahead): (&dyn Host, Ahead),
    observer: &(impl Fn() -> O + Sync),
) -> Result<(Outcome<O>, Option<Ahead>), DoesNotFit> {
    let kernel = code.kernel();
    DoesNotFit::check_code(kernel, spec, options.mode)?;
    let occupancy = Occupancy::new(kernel, &launch, spec)?;
    let global = load(kernel, &mut launch);
    let mut cx = Context::new(code, &launch, spec, options, occupancy, &global);
    // For a single SM its share is the whole L2.
    cx.logs_l2 = cx.active_sms > 1;
    let active_sms = cx.active_sms;
    let interleaved = cx.communicates();
    if ahead == Ahead::OfAccesses && interleaved {
        cx.accesses = Some(AccessOrder::new(global.extents()));
    }
    // A whole run continues when its observer is done: the paired `()` never is.
    let observer = || (observer(), ());
    let (mut finish, mut cycles, mut logs) = (Finish::Ok, 0, Vec::new());
    let mut merged: Option<(O, ())> = None;
    let mut add = |sm: Ended<(O, ())>| {
        if let (Finish::Ok, Some(how)) = (&finish, sm.finish) {
            finish = how;
        }
        cycles = cycles.max(sm.cycles);
        logs.extend(sm.log);
        merge(&mut merged, sm.observer);
    };
    if interleaved {
        let ended = interleaved::run(&cx, (host, ahead != Ahead::No), &observer);
        ended.into_iter().for_each(add);
    } else {
        let run = |sm| run_alone(Sm::new(&cx, SmId(sm), observer()), host);
        each_in_order(host, active_sms, run, &mut add);
    }
    let mut merged = merged.unwrap_or_else(observer);
    let found =
        each(host, replay::slices(&logs), |slice| replay::replay(&spec.memory, &logs, slice));
    Found::events(found).for_each(|event| merged.on(event));
    let accesses = cx.accesses.take();
    drop(cx);
    let in_order = accesses.as_ref().is_none_or(|order| !order.is_broken());
    let next = match finish {
        Finish::Ok if in_order => None,
        // A single SM has no others to run ahead of.
        _ if !interleaved => None,
        _ if !in_order => Some(Ahead::BetweenAccesses),
        // Where others stood when an SM failed shows only in strict order.
        _ => Some(Ahead::No),
    };
    if let (Some(_), Some(accesses)) = (next, accesses) {
        accesses.undo(&global);
    }
    unload(global, &mut launch);
    let observer = merged.0;
    let outcome = Outcome { finish, cycles, active_sms, interleaved, occupancy, launch, observer };
    Ok((outcome, next))
}

/// Checks that a launch fits a machine, as [`run`] does first.
///
/// # Errors
/// When a block does not fit the machine, or the code its mode.
pub fn fits(
    code: &Code,
    launch: &Launch,
    spec: &Machine,
    options: &Options,
) -> Result<(), DoesNotFit> {
    DoesNotFit::check_code(code.kernel(), spec, options.mode)?;
    Occupancy::new(code.kernel(), launch, spec).map(|_| ())
}

/// Merges the observer of the next SM into that of the SMs before it.
pub(super) fn merge<O: Observer>(all: &mut Option<O>, next: O) {
    match all {
        None => *all = Some(next),
        Some(all) => all.merge(next),
    }
}

/// Outcome of watching one block.
pub struct Watched<O> {
    /// End of the run; `None` if it stopped because the observer was done.
    pub finish: Option<Finish>,
    /// SM that runs the block.
    pub sm: SmId,
    /// Number of simulated SMs: 1, or all with work if blocks can communicate.
    pub simulated_sms: u32,
    /// Observer of that SM.
    pub observer: O,
}

/// Runs a kernel only as far as needed to observe `block`.
///
/// Simulates the block's own SM (all SMs if blocks can communicate) until [`Observer::is_done`].
/// The observer sees the same events as in a whole run.
///
/// # Errors
/// When a block does not fit the machine, or the code its mode.
pub fn watch<O: Observer>(
    code: &Code,
    mut launch: Launch,
    spec: &Machine,
    options: &Options,
    block: BlockId,
    observer: impl Fn() -> O,
) -> Result<Watched<O>, DoesNotFit> {
    DoesNotFit::check_code(code.kernel(), spec, options.mode)?;
    let occupancy = Occupancy::new(code.kernel(), &launch, spec)?;
    let global = load(code.kernel(), &mut launch);
    let cx = Context::new(code, &launch, spec, options, occupancy, &global);
    let sm = block.0 % cx.active_sms.max(1);
    let mut done = if cx.communicates() {
        interleaved::run(&cx, (&(), false), &observer)
    } else {
        vec![run_alone(Sm::new(&cx, SmId(sm), observer()), &())]
    };
    let simulated_sms = done.len() as u32;
    let mine = if simulated_sms > 1 { sm as usize } else { 0 };
    // A failure of another SM stops this one, too.
    let reason =
        done.iter().position(|sm| !matches!(sm.finish, Some(Finish::Ok) | None)).unwrap_or(mine);
    let finish = done[reason].finish.take();
    let observer = done.swap_remove(mine).observer;
    Ok(Watched { finish, sm: SmId(sm), simulated_sms, observer })
}

/// Blocks between two progress reports of an SM.
const REPORT_EVERY: u32 = 64;
/// Instructions between two progress reports of an SM, or of all that run interleaved.
pub(super) const REPORT_ISSUES: u64 = 1 << 18;

/// Finished SM.
pub(super) struct Ended<O> {
    /// End of the SM; `None` if its observer was done.
    finish: Option<Finish>,
    cycles: Cycle,
    observer: O,
    /// Logged L2 requests.
    log: Option<RequestLog>,
}

impl<O: Observer> Ended<O> {
    pub(super) fn new(mut sm: Sm<'_, O>, finish: Option<Finish>) -> Ended<O> {
        let cycles = sm.end();
        let (observer, log) = sm.into_seen();
        Ended { finish, cycles, observer, log }
    }
}

fn run_alone<O: Observer>(mut sm: Sm<'_, O>, host: &dyn Host) -> Ended<O> {
    let (mut reported, mut reported_issues) = (0, 0);
    let finish = loop {
        if let Some(finish) = sm.cycles() {
            break Some(finish);
        }
        if sm.issuer.watch.proves_livelock(sm.warps()) {
            let progressed = sm.issuer.watch.take_progress();
            if !sm.cx.may_change(host, progressed) {
                break Some(sm.livelock());
            }
            sm.issuer.watch.look_again();
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
