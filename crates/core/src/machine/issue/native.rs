//! Waits of machine code beyond those of its control words.

use super::super::pricing::Cost;
use super::super::requests::{Request, TEXTURES};
use super::super::scheduler::Scheduler;
use super::super::warp::{Until, Warp};
use super::Issuer;
use crate::base::{Cycle, LaneMask, MAX_LANES, Pc};
use crate::event::{Observer, Stall};
use crate::kernel::{NativeFn, Op, Register, Row};

impl<O: Observer> Issuer<'_, O> {
    /// Queues an instruction for special functions, whose port it occupies. Returns its delay.
    #[inline]
    pub(super) fn queue_special(
        &self,
        scheduler: &mut Scheduler,
        cost: &Cost,
        now: Cycle,
    ) -> Cycle {
        let before = scheduler.special_until;
        let start = before.max(now);
        scheduler.special_until = start + Cycle::from(cost.queues);
        let until = match self.cx.spec.sass.as_ref().and_then(|times| times.requests) {
            Some(limits) => {
                // Of two in flight, the older one must have ended.
                let others = Cycle::from(limits.functions.saturating_sub(2) * cost.queues);
                (before + Cycle::from(limits.transit)).saturating_sub(others).max(now + 1)
            }
            None => now + Cycle::from(cost.interval),
        };
        scheduler.occupy(cost.port, until);
        start - now
    }

    /// Issues what a [queued](Cost::queued) step does beyond its result. Returns its delay.
    #[inline(never)]
    pub(super) fn queue_simple(
        &self,
        scheduler: &mut Scheduler,
        warp: &mut Warp,
        cost: &Cost,
        lanes: LaneMask,
        now: Cycle,
    ) -> Cycle {
        let mut delay = 0;
        if cost.queues > 0 {
            delay = self.queue_special(scheduler, cost, now);
            delay += self.matched(scheduler, cost.op, lanes, warp, now);
        } else {
            scheduler.occupy(cost.port, now + Cycle::from(cost.interval));
        }
        if warp.control.take_election() {
            let at = now + Cycle::from(self.cx.program.election);
            warp.resolves = warp.resolves.max(Until::new(at, Stall::BranchResolving));
        }
        if let Some((_, read)) = cost.read_counter {
            let done = now + Cycle::from(cost.latency) + delay;
            warp.raise(cost, now + Cycle::from(read), done, false);
        }
        delay
    }

    /// Returns the delay of MATCH by further values, and by lanes of other warps that are compared
    /// before its own; 0 for other instructions.
    pub(super) fn matched(
        &self,
        scheduler: &mut Scheduler,
        op: &Op,
        lanes: LaneMask,
        warp: &Warp,
        now: Cycle,
    ) -> Cycle {
        let (Op::Native(op), Some(times)) = (op, &self.cx.spec.sass) else { return 0 };
        let NativeFn::Match { wide, .. } = op.f else { return 0 };
        let Row(low) = op.s[0].row;
        let word = |row, lane| warp.registers.get(Register::Narrow(Row(row)), lane as u32);
        let values = distinct(lanes, |lane| {
            word(low, lane) | if wide { word(low.wrapping_add(1), lane) << 32 } else { 0 }
        });
        let waits = scheduler.take_turn(values * times.distinct, now);
        waits + Cycle::from((values - 1) * times.distinct)
    }

    /// Lets a warp wait for a WARPSYNC with `masks` that are not of all its lanes.
    #[inline(never)]
    pub(super) fn meet_in_parts(
        &self,
        scheduler: &mut Scheduler,
        warp: &mut Warp,
        masks: u32,
        now: Cycle,
    ) {
        let Some(times) = &self.cx.spec.sass else { return };
        let waits = scheduler.take_turn(masks * times.distinct, now);
        let at = now + waits + Cycle::from(times.gather + masks * times.gather_mask);
        warp.resolves = warp.resolves.max(Until::new(at, Stall::BranchResolving));
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
        mut until: Until,
    ) -> Until {
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
        until
    }

    /// Queues the request of a step that has been executed. Returns when it is served.
    ///
    /// `done`, the time of its result, is that of an idle unit if the step has not accessed memory.
    pub(super) fn queue(
        &mut self,
        scheduler: &mut Scheduler,
        cost: &Cost,
        (queue, masks): (usize, u32),
        now: Cycle,
        done: &mut Cycle,
    ) -> Cycle {
        let Request { from, start, cycles } = self.request;
        // When the unit takes the request and begins to serve it, and for how long.
        let (start, begins, cycles) = match (start, queue) {
            (Some(start), _) => (start, now, cycles),
            (None, 0 | 1) => {
                let [start, begins] = self.memory.pass(now, from, masks.into());
                (start, begins, 2 * masks)
            }
            (None, TEXTURES) => (from, from, 1),
            (None, unit) => {
                let free = &mut self.units_free[(unit - 2) % 2];
                let start = from.max(*free);
                *free = start + 2;
                (start, start, 2)
            }
        };
        *done += begins - now;
        let requests = &mut scheduler.requests[queue];
        requests.free = start + Cycle::from(cycles);
        let times = self.cx.spec.sass.as_ref().filter(|_| self.native);
        let limits = times.and_then(|times| times.requests);
        let transit = Cycle::from(limits.map_or(0, |limits| limits.transit));
        let depth = match (queue, limits) {
            (TEXTURES, _) => Some(self.cx.spec.memory.texture.queue),
            (0 | 1, limits) => limits.map(|limits| limits.memory),
            (2, limits) => limits.map(|limits| limits.constants),
            (_, limits) => limits.map(|limits| limits.registers),
        };
        let room = depth.map_or(0, |depth| requests.add(start, depth) + transit);
        scheduler.occupy(cost.port, room.max(now + 1));
        start
    }
}

/// Lets the warp wait for the target of a branch.
///
/// A divergent branch whose fall-through side goes on first costs nothing more.
#[inline]
pub(super) fn resolve(warp: &mut Warp, cost: &Cost, next: Pc, refetch: u32, now: Cycle) {
    if cost.resolves > 0 && warp.control.active().is_some_and(|(pc, _)| pc != next) {
        let cycles = cost.resolves.saturating_sub(refetch);
        warp.resolves = Until::new(now + Cycle::from(cycles), Stall::BranchResolving);
        warp.refetch = refetch;
    }
}

/// Returns the number of distinct values of `lanes`, at least 1.
pub(super) fn distinct(lanes: LaneMask, value: impl Fn(usize) -> u64) -> u32 {
    let mut seen = [0; MAX_LANES];
    let mut len = 0;
    for lane in lanes.lanes() {
        let value = value(lane as usize);
        if !seen[..len].contains(&value) {
            seen[len % MAX_LANES] = value;
            len += 1;
        }
    }
    len.max(1) as u32
}
