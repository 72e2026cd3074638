//! Matrix products of warpgroups (`wgmma`).
//!
//! Each of the four warps is on a scheduler of its own and gives its rows to that tensor core.
//! Products wait in a queue in front of the core while their warp goes on; a wait for a group of
//! products resumes when its last one is done. The warps of a group do not wait for each other.

use super::{Issue, Issuer, Times};
use crate::base::{Cycle, Pc, WarpId};
use crate::event::{AccessWay, LaneAccess, MemoryKind, Observer, Stall};
use crate::exec::{Effect, SystemLog};
use crate::kernel::{GROUP_WARPS, GroupSync, Op};
use crate::machine::pricing::product_interval;
use crate::machine::scheduler::Scheduler;
use crate::machine::verdict::FaultReport;
use crate::machine::warp::{Until, Warp};

/// Products that a tensor core accepts before the first of them begins.
const ACCEPTED: Cycle = 6;
/// Cycles from the begin of a product to the place that it leaves in the queue.
const LEAVES: Cycle = 29;
/// Cycles of a WARPGROUP.ARRIVE, one warp of a scheduler after another.
///
/// All three were measured on an H200 (tests/observations/h200/products).
const ARRIVAL: Cycle = 8;

impl<O: Observer> Issuer<'_, O> {
    /// Executes a product of a warpgroup, or a synchronization with products.
    #[inline(never)]
    pub(super) fn warpgroup(
        &mut self,
        scheduler: &mut Scheduler,
        warp: &mut Warp,
        issue: &Issue<'_>,
        times: &mut Times,
    ) -> Result<(), Box<FaultReport>> {
        let &Issue { w, pc, active, lanes, now, cost, step } = issue;
        let effect = self
            .execute(warp, step, pc, lanes, active, now)
            .map_err(|fault| self.fault(fault, warp, issue))?;
        show_read(effect, &self.system, (WarpId(w as u32), pc), &mut self.observer);
        match &step.inst.op {
            Op::GroupMma(op) => {
                let interval = Cycle::from(product_interval(op, self.cx.spec));
                let start = scheduler.products_until.max(now);
                scheduler.products_until = start + interval;
                warp.products.start(start + Cycle::from(cost.latency));
                if op.commits {
                    warp.products.commit(now);
                }
                let begun = start.saturating_sub(ACCEPTED * interval);
                // The first warp of a warpgroup waits for the queue, the others go on.
                if begun > now && warp.index.is_multiple_of(GROUP_WARPS) {
                    let accepted = Until::new(begun + LEAVES, Stall::MioThrottle);
                    times.resume = times.resume.max(accepted);
                }
                times.done = now;
            }
            Op::GroupSync(GroupSync::Fence) => {
                scheduler.arrivals_until = scheduler.arrivals_until.max(now) + ARRIVAL;
                let arrived = Until::new(scheduler.arrivals_until, Stall::Barrier);
                times.resume = times.resume.max(arrived);
            }
            Op::GroupSync(GroupSync::Commit) => warp.products.commit(now),
            &Op::GroupSync(GroupSync::Wait(groups)) => {
                let done = warp.products.done(groups);
                times.resume = times.resume.max(Until::new(done, Stall::Barrier));
            }
            _ => {}
        }
        self.proceed(warp, active, step.next);
        Ok(())
    }
}

/// Shows to an observer what a step of products has read from shared memory.
///
/// A product that no lane executes has no such effect and reads nothing.
pub(in crate::machine) fn show_read(
    effect: Effect,
    log: &SystemLog,
    (slot, pc): (WarpId, Pc),
    observer: &mut impl Observer,
) {
    if effect != Effect::MatrixRead {
        return;
    }
    for (addresses, lanes) in &log.pieces {
        let access = LaneAccess {
            memory: MemoryKind::Shared,
            way: AccessWay::Load,
            lanes: *lanes,
            bytes: 16,
            addresses,
            stored: [None; 4],
        };
        observer.access(slot, pc, &access);
    }
}
