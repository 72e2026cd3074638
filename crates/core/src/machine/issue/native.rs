//! Waits of machine code beyond those of its control words.

use super::super::pricing::Cost;
use super::super::requests::{CONSTANTS, Request, TEXTURES};
use super::super::scheduler::Scheduler;
use super::super::warp::{Until, Warp};
use super::Issuer;
use crate::base::{Cycle, LaneMask, MAX_LANES, Pc};
use crate::event::{Observer, Stall};
use crate::kernel::{Native, NativeFn, Op, Register, Row};

impl<O: Observer> Issuer<'_, O> {
    /// Queues an instruction for special functions, whose port it occupies. Returns its delay.
    #[inline]
    pub(super) fn queue_special(
        &self,
        scheduler: &mut Scheduler,
        cost: &Cost,
        passes: u32,
        now: Cycle,
    ) -> Cycle {
        let before = scheduler.special_until;
        let start = before.max(now);
        scheduler.special_until = start + Cycle::from(cost.queues * passes);
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
            let (passes, own) = self.matched(cost.op, lanes, warp);
            delay = own + self.queue_special(scheduler, cost, passes, now);
        } else {
            scheduler.occupy_for(cost.port, cost.interval, now);
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

    /// Returns how often an instruction passes the special function unit, and its delay by that.
    ///
    /// MATCH does so for each value, or once if all lanes have to match.
    #[inline]
    pub(super) fn matched(&self, op: &Op, lanes: LaneMask, warp: &Warp) -> (u32, Cycle) {
        match op {
            Op::Native(op) if matches!(op.f, NativeFn::Match { .. }) => {
                self.passes_of_match(op, lanes, warp)
            }
            _ => (1, 0),
        }
    }

    /// As [`Issuer::matched`], for a MATCH.
    #[inline(never)]
    fn passes_of_match(&self, op: &Native, lanes: LaneMask, warp: &Warp) -> (u32, Cycle) {
        let (NativeFn::Match { all, wide }, Some(times)) = (op.f, &self.cx.spec.sass) else {
            return (1, 0);
        };
        let Row(low) = op.s[0].row;
        let word = |row, lane| warp.registers.get(Register::Narrow(Row(row)), lane as u32);
        let values = if all {
            1
        } else {
            distinct(lanes, |lane| {
                word(low, lane) | if wide { word(low.wrapping_add(1), lane) << 32 } else { 0 }
            })
        };
        let matches = &times.matches;
        let (own, further, passes) = match wide {
            true => (matches.wide, matches.value + matches.wide_value, 2 * values),
            false => (0, matches.value, values),
        };
        (passes, Cycle::from(own + (values - 1) * further))
    }

    /// Lets a warp wait for a WARPSYNC by a part of its lanes, of which `sets` go on.
    ///
    /// If none does, the part waits for others.
    pub(super) fn meet_in_parts(
        &self,
        warp: &mut Warp,
        sets: u32,
        now: Cycle,
        times: &mut super::Times,
    ) {
        let Some(spec) = &self.cx.spec.sass else { return };
        times.turn = sets * spec.gather_turn;
        let cycles = if sets > 0 { spec.gather + sets * spec.gather_mask } else { spec.gathers };
        let at = now + Cycle::from(cycles);
        warp.resolves = warp.resolves.max(Until::new(at, Stall::BranchResolving));
    }

    /// Lets the lanes of a warp wait that go on after a branch or jump.
    ///
    /// They are at its target, or they are at `next` and others have `taken` the branch.
    #[inline]
    pub(super) fn resolve(
        &self,
        warp: &mut Warp,
        cost: &Cost,
        (next, taken): (Pc, LaneMask),
        now: Cycle,
    ) {
        let program = &self.cx.program;
        let Some((pc, _)) = warp.control.active().filter(|_| cost.resolves > 0) else { return };
        let cycles = if pc != next {
            warp.refetch = program.refetch;
            cost.resolves.saturating_sub(program.refetch)
        } else if !taken.is_empty() {
            program.parted
        } else {
            return;
        };
        warp.resolves = Until::new(now + Cycle::from(cycles), Stall::BranchResolving);
    }

    /// Lets the lanes of a warp wait that go on after others, or `all` active ones, have exited.
    pub(super) fn go_on_after_exit(
        &self,
        warp: &mut Warp,
        all: bool,
        now: Cycle,
        times: &mut super::Times,
    ) {
        let Some(spec) = &self.cx.spec.sass else { return };
        let cycles = if warp.control.take_election() {
            times.turn = spec.election_turn;
            spec.exits.election
        } else if all {
            spec.exits.sibling
        } else {
            spec.exits.part
        };
        warp.resolves = Until::new(now + Cycle::from(cycles), Stall::BranchResolving);
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
        let Request { from, start, cycles, read } = self.request;
        // When the unit takes the request and begins to serve it, and for how long.
        let (start, begins, cycles) = match (start, queue) {
            (Some(start), _) => (start, now, cycles),
            (None, 0 | 1) => {
                let [start, begins] = self.memory.pass(now, from, masks.into());
                (start, begins, (2 * masks).max(cost.interval))
            }
            (None, TEXTURES) => (from, from, 1),
            (None, CONSTANTS) => {
                let load = self.constants.load_operand(cost.constant, from);
                (load.taken, load.begins, 2)
            }
            (None, _) => {
                let start = from.max(self.registers_free);
                self.registers_free = start + 2;
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
            (CONSTANTS, limits) => limits.map(|limits| limits.constants),
            (_, limits) => limits.map(|limits| limits.registers),
        };
        let room =
            depth.map_or(0, |depth| requests.add(start + Cycle::from(read), depth) + transit);
        scheduler.occupy(cost.port, room.max(now + 1));
        start
    }
}

/// Lets an instruction read its registers, and other warps issue first if its control word yields.
#[inline(always)]
pub(super) fn dispatch(scheduler: &mut Scheduler, cost: &Cost, now: Cycle) {
    if !(cost.reads_once && scheduler.ports.are_idle(now)) {
        let kept = scheduler.run >= cost.kept_for;
        let reads = if kept { cost.reads_reused } else { cost.reads };
        scheduler.ports.read(reads, now);
    }
    scheduler.end_turn(cost.yields, now);
}

/// Returns the number of distinct values of `lanes`, at least 1.
fn distinct(lanes: LaneMask, value: impl Fn(usize) -> u64) -> u32 {
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
