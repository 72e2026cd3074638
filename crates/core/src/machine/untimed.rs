//! Machine without a clock: everything that a program does, and nothing about when.
//!
//! [`run`] executes a launch as [`machine::run`](super::run) does, but no cycle passes: control
//! flow, memory contents, coalescing, bank conflicts and every counter that does not follow from
//! time are those of the timed machine. There is no scoreboard, no cache and no scheduler. A warp
//! runs until it blocks or has used up its turn; then the next warp of the block runs.
//!
//! Blocks are dealt to SMs as in the timed machine. An SM runs one block at a time. If blocks can
//! communicate, all SMs run on one thread with all their resident blocks, and warps take short
//! turns, round robin: a lock's holder runs while others spin. The order is deterministic, but not
//! that of the timed machine: what depends on the order of atomics or on `%clock`, which counts the
//! SM's steps here, may differ.
//!
//! Files: `plan` (the code, cut into straight pieces), `sm` (turns, blocks, barriers), `pace`
//! (number of steps), `warp` (a warp's turn), `step` (steps that do more than change registers),
//! `copies` (asynchronous copies and barrier objects), `tally` (equal events, told once with their
//! number), `traffic` (lines, sectors and banks of an access).
//!
//! Not modeled: hits in caches, which depend on the order of warps; asynchronous copies arrive at
//! once.

mod copies;
mod pace;
mod plan;
mod sm;
mod step;
mod tally;
mod traffic;
mod warp;

use self::plan::Plan;
use self::sm::Sm;
use super::block::{DoesNotFit, Occupancy};
use super::contents::{load, unload};
use super::device::{Context, Outcome, merge};
use super::host::{Host, each_in_order};
use super::options::Options;
use super::verdict::Finish;
use crate::base::SmId;
use crate::code::Code;
use crate::event::Observer;
use crate::launch::Launch;
use crate::spec::Machine;

/// Micro-ops that a warp executes in a turn.
const TURN: u64 = 1 << 9;
/// The same if blocks can communicate.
const SHORT_TURN: u64 = 1 << 8;
/// Blocks between two progress reports of an SM.
const REPORT_EVERY: u32 = 64;
/// Micro-ops between two progress reports.
const REPORT_STEPS: u64 = 1 << 20;

/// Finished SM.
struct Ended<O> {
    finish: Finish,
    observer: O,
}

/// Runs a compiled kernel without time. The outcome has no cycles.
///
/// `observer` makes one observer per SM; they are merged in SM order.
///
/// # Errors
/// When a block does not fit the machine, or the code its mode.
pub(super) fn run<O: Observer>(
    code: &Code,
    mut launch: Launch,
    spec: &Machine,
    options: &Options,
    host: &dyn Host,
    observer: impl Fn() -> O + Sync,
) -> Result<Outcome<O>, DoesNotFit> {
    let kernel = code.kernel();
    DoesNotFit::check_code(kernel, spec, options.mode)?;
    let occupancy = Occupancy::new(kernel, &launch, spec)?;
    let global = load(kernel, &mut launch);
    let cx = Context::new(code, &launch, spec, options, occupancy, &global);
    let plan = Plan::new(code, &cx.program.costs);
    let active_sms = cx.active_sms;
    let interleaved = cx.program.communicates;
    let mut finish = Finish::Ok;
    let mut merged: Option<O> = None;
    let mut add = |sm: Ended<O>| {
        if matches!(finish, Finish::Ok) {
            finish = sm.finish;
        }
        merge(&mut merged, sm.observer);
    };
    if interleaved {
        run_interleaved(&cx, &plan, host, &observer).into_iter().for_each(add);
    } else {
        let run = |sm| run_alone(Sm::new(&cx, &plan, SmId(sm), (1, TURN), observer()), host);
        each_in_order(host, active_sms, run, &mut add);
    }
    let observer = merged.unwrap_or_else(observer);
    drop(cx);
    unload(global, &mut launch);
    Ok(Outcome { finish, cycles: 0, active_sms, interleaved, occupancy, launch, observer })
}

fn run_alone<O: Observer>(mut sm: Sm<'_, O>, host: &dyn Host) -> Ended<O> {
    let (mut reported, mut reported_steps) = (0, 0);
    let finish = loop {
        if let Some(finish) = sm.turn() {
            break finish;
        }
        if sm.proves_livelock() {
            let progressed = sm.take_progress();
            if !sm.cx.may_change(host, progressed) {
                break sm.livelock();
            }
            sm.look_again();
        }
        if sm.blocks_run() >= reported + REPORT_EVERY {
            host.blocks_done(u64::from(sm.blocks_run() - reported));
            reported = sm.blocks_run();
        }
        if sm.issued() >= reported_steps + REPORT_STEPS {
            host.issued(sm.issued() - reported_steps);
            reported_steps = sm.issued();
        }
    };
    host.blocks_done(u64::from(sm.blocks_run() - reported));
    Ended { finish, observer: sm.end() }
}

/// Runs all SMs on one thread, turn by turn, until all have ended or one fails.
fn run_interleaved<O: Observer>(
    cx: &Context<'_>,
    plan: &Plan<'_>,
    host: &dyn Host,
    observer: &impl Fn() -> O,
) -> Vec<Ended<O>> {
    let mut sms: Vec<Sm<'_, O>> = (0..cx.active_sms)
        .map(|sm| Sm::new(cx, plan, SmId(sm), (cx.slots(SmId(sm)), SHORT_TURN), observer()))
        .collect();
    let mut finished: Vec<Option<Finish>> = sms.iter().map(|_| None).collect();
    let (mut progress, mut waited) = (0, 0);
    let mut unreported = 0;
    'run: while finished.iter().any(Option::is_none) {
        for i in 0..sms.len() {
            if finished[i].is_some() {
                continue;
            }
            sms[i].catch_up(progress);
            let before = sms[i].issued();
            finished[i] = sms[i].turn();
            unreported += sms[i].issued() - before;
            if unreported >= REPORT_STEPS {
                host.issued(std::mem::take(&mut unreported));
            }
            if let Some(finish) = &finished[i] {
                host.blocks_done(u64::from(sms[i].blocks_run()));
                if !matches!(finish, Finish::Ok) {
                    break 'run; // the others depend on an SM that has stopped
                }
            }
            progress += u64::from(sms[i].take_progress());
            sms[i].catch_up(progress);
            let hangs = |sm: &Sm<'_, O>| sm.knows(progress) && sm.proves_livelock();
            if finished[i].is_none()
                && hangs(&sms[i])
                && sms.iter().zip(&finished).all(|(sm, done)| done.is_some() || hangs(sm))
            {
                if !cx.may_change(host, progress != waited) {
                    finished[i] = Some(sms[i].livelock());
                    break 'run;
                }
                progress += 1;
                waited = progress;
            }
        }
    }
    let ended = |(sm, finish): (Sm<'_, O>, Option<Finish>)| Ended {
        finish: finish.unwrap_or(Finish::Ok),
        observer: sm.end(),
    };
    sms.into_iter().zip(finished).map(ended).collect()
}
