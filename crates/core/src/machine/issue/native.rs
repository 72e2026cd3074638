//! Waits of machine code beyond those of its control words.

use super::super::atomics::Weight;
use super::super::memsys::Served;
use super::super::pricing::Cost;
use super::super::scheduler::Scheduler;
use super::super::warp::{Until, Warp};
use super::Issuer;
use crate::base::{Cycle, Pc};
use crate::event::{Observer, Stall};
use crate::exec::{AccessKind, MemoryAccess};
use crate::kernel::Op;

impl<O: Observer> Issuer<'_, O> {
    /// Queues an instruction for special functions. Returns its delay.
    #[inline]
    pub(super) fn queue_special(
        &self,
        scheduler: &mut Scheduler,
        cost: &Cost,
        now: Cycle,
    ) -> Cycle {
        let start = scheduler.special_until.max(now);
        scheduler.special_until = start + Cycle::from(cost.queues);
        if let Some(times) = &self.cx.spec.sass {
            let free = scheduler.special_until.saturating_sub(times.queue.into());
            scheduler.occupy(cost.port, free.max(now + 2));
        }
        start - now
    }

    /// Returns the later of `until` and the waits of a step with [waits of its own](Cost::waits).
    ///
    /// The step may be fetched at `asked`; the warp's last issue ended at `from`.
    #[inline(never)]
    pub(super) fn native_waits(
        &mut self,
        warp: &mut Warp,
        cost: &Cost,
        (from, asked): (Cycle, Cycle),
        until: Until,
    ) -> Until {
        let mut until = until;
        if cost.constant > 0 && !cost.loads_constant {
            let arrives = self.constants.fetch(cost.constant, asked);
            if arrives > asked {
                until = until.max(Until::new(arrives, Stall::ImcMiss));
            }
        }
        if let Some((counter, left)) = cost.falls_to {
            warp.forget_finished(from);
            let at = warp.falls_to(counter, left);
            until = until.max(Until::new(at, Stall::LongScoreboard));
        }
        if cost.exits {
            until = until.max(Until::new(warp.sent, Stall::Drain));
        }
        until
    }

    /// Serves an access and makes the load/store unit busy.
    ///
    /// Returns the service; `native` of a step of machine code queues it.
    pub(super) fn serve(
        &mut self,
        warp: &mut Warp,
        op: &Op,
        access: MemoryAccess,
        (slot, price): (u32, Cycle),
        now: Cycle,
    ) -> Served {
        let cx = self.cx;
        let weighs = access.kind == AccessKind::Atomic;
        let atomics = cx.atomics.as_ref().filter(|_| weighs).map(|units| (units, Weight::of(op)));
        let served = self.memory.serve(now, access, &mut self.addresses, slot, price, atomics);
        let queue = match (&cx.spec.sass, &cx.kernel.native) {
            (Some(times), Some(_)) => times.queue.into(),
            _ => 0,
        };
        let accepted = self.memory.issues_in_order().max(now + served.port).saturating_sub(queue);
        let free = if queue > 0 { accepted.max(now + 1) } else { now + served.port };
        self.shared.occupy_lsu(free);
        self.shared.queue_accepts(self.memory.accepts_at());
        if queue > 0 && access.kind != AccessKind::Read {
            warp.sent = warp.sent.max(served.taken);
        }
        served
    }
}

/// Lets the warp wait for the target of a branch.
///
/// A divergent branch whose fall-through side goes on first costs nothing more.
#[inline]
pub(super) fn resolve(warp: &mut Warp, cost: &Cost, next: Pc, now: Cycle) {
    if cost.resolves > 0 && warp.control.active().is_some_and(|(pc, _)| pc != next) {
        warp.resolves = Until::new(now + Cycle::from(cost.resolves), Stall::BranchResolving);
    }
}
