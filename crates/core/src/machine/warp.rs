//! Warp slot: registers, control state, scoreboard, and the account of its waits.

use super::block::{Released, Votes};
use super::device::Context;
use super::pricing::Cost;
use super::products::Products;
use crate::base::{BlockId, Cycle, LaneMask, Pc, SmId};
use crate::code::MicroOp;
use crate::divergence::{Flow, WarpControl};
use crate::event::Stall;
use crate::exec::{self, LocalMemory, RegisterFile, WarpPlace};

/// Point in time with the reason to wait for it, ordered by time: the later of two wins with its
/// reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) struct Until(u64);

impl Until {
    const REASON_BITS: u32 = 5;

    #[inline]
    pub(super) fn new(at: Cycle, stall: Stall) -> Until {
        Until(at << Until::REASON_BITS | stall as u64)
    }

    /// Shifts the point by `now` cycles, with the same reason.
    #[inline]
    pub(super) fn after(self, now: Cycle) -> Until {
        Until(self.0 + (now << Until::REASON_BITS))
    }

    /// Returns the point, or with the same reason `from` if it comes later.
    #[inline(always)]
    pub(super) fn not_before(self, from: Cycle) -> Until {
        let reason = self.0 % (1 << Until::REASON_BITS);
        Until(self.0.max(from << Until::REASON_BITS | reason))
    }

    /// Returns the point if `holds`, else the earliest one, without a branch.
    #[inline(always)]
    pub(super) fn only_if(self, holds: bool) -> Until {
        Until(self.0 & u64::from(holds).wrapping_neg())
    }

    #[inline]
    pub(super) fn cycle(self) -> Cycle {
        self.0 >> Until::REASON_BITS
    }

    #[inline]
    pub(super) fn stall(self) -> Stall {
        /// States by their number; the last numbers are unused.
        const BY_NUMBER: [Stall; 1 << Until::REASON_BITS] = {
            let mut stalls = [Stall::Wait; 1 << Until::REASON_BITS];
            let mut i = 0;
            while i < Stall::ALL.len() {
                stalls[i] = Stall::ALL[i];
                i += 1;
            }
            stalls
        };
        BY_NUMBER[(self.0 % (1 << Until::REASON_BITS)) as usize]
    }
}

/// Wait of a warp between two issues.
#[derive(Clone, Copy, Default)]
pub(super) struct Waiting {
    /// First cycle not yet attributed.
    pub from: Cycle,
    /// Wait for the issue interval or the stall count; not before `from`.
    pub before: Until,
    /// Cycle at which dependences allow the next issue, not before `before`, and the reason until
    /// then.
    pub until: Until,
    /// True if it waits for more than these: for a branch or the next instruction.
    pub further: bool,
    /// Wait before the next instruction can be fetched, `before` included, if it waits further.
    pub resolves: Until,
    /// Cycle at which the next instruction is fetched, if it waits further.
    ///
    /// At most `from` if the warp need not wait for it.
    pub fetched: Cycle,
}

/// Progress of a step that expands to several micro-ops.
#[derive(Clone, Copy, Default)]
pub(super) struct MicroOps {
    /// Micro-ops issued; 0: no such step.
    pub issued: u32,
    /// Lanes of the step whose guard is true.
    pub lanes: LaneMask,
}

/// Lanes at a block barrier, and the step whose reduction they await.
#[derive(Clone)]
pub(super) struct Arrival {
    pub id: u8,
    pub pc: Pc,
    pub lanes: LaneMask,
}

/// Effect of the opening of a block barrier on a warp.
pub(super) enum Opened {
    /// It has no lanes there.
    Elsewhere,
    /// It has run ahead.
    WasAhead,
    /// Its lanes go on.
    Released,
}

/// Warp slot of an SM. What every issue needs comes first, in few cache lines: the next issue, the
/// dependences, and the begins of registers and control state.
#[derive(Clone)]
#[repr(C, align(64))]
pub(super) struct Warp {
    pub waiting: Waiting,
    /// Next issue; `None` if every live lane is blocked or no lane is live.
    pub next: Option<(Pc, LaneMask)>,
    /// Micro-ops of the step in `next`, which has already been executed.
    pub micro_ops: MicroOps,
    /// Further cycles of instruction fetch after a taken branch.
    pub refetch: u32,
    /// Availability of the last write, by scoreboard entry. The last entry is never written.
    scoreboard: Box<[Until]>,
    /// Opening of the barrier that the warp runs ahead of; other steps wait for it.
    opens: Until,
    /// Availability of uniform-datapath results in another basic block.
    uniform: Until,
    /// The later one of the last two.
    held: Until,
    /// Cycle at which a branch or convergence operation of machine code is resolved.
    pub resolves: Until,
    /// Arrival at an incomplete barrier past which the whole warp runs ahead.
    pub ahead: Option<Arrival>,
    /// Scheduler of the warp, and its index in it.
    home: (u8, u8),
    pub registers: RegisterFile,
    pub control: WarpControl,
    pub local: LocalMemory,
    /// Unfinished instructions by dependence counter, for DEPBAR: counter, and cycle of the result.
    raised: Vec<(u8, Cycle)>,
    /// Index of its block in the SM's block slots.
    pub block: usize,
    /// Block id, for messages.
    pub block_id: BlockId,
    /// Warp index in the block.
    pub index: u32,
    /// Cycle of the launch.
    pub since: Cycle,
    pub arrivals: Vec<Arrival>,
    /// Lanes that arrived in the current phase of each counted barrier.
    ///
    /// These include lanes that continued or exited since.
    come: Vec<(u8, LaneMask)>,
    /// Cycle at which the load/store unit has taken the warp's stores (machine code).
    pub sent: Cycle,
    /// Products of its warpgroup that it has not waited for.
    pub products: Products,
}

impl Warp {
    pub(super) fn new(
        home: (usize, usize),
        registers: RegisterFile,
        local: LocalMemory,
        scoreboard: usize,
        control: WarpControl,
    ) -> Warp {
        Warp {
            control,
            registers,
            local,
            scoreboard: vec![Until::default(); scoreboard + 1].into(),
            raised: Vec::new(),
            products: Products::default(),
            home: (home.0 as u8, home.1 as u8), // at most 64 of each
            block: 0,
            block_id: BlockId(0),
            index: 0,
            since: 0,
            next: None,
            waiting: Waiting::default(),
            refetch: 0,
            micro_ops: MicroOps::default(),
            arrivals: Vec::new(),
            come: Vec::new(),
            ahead: None,
            opens: Until::default(),
            uniform: Until::default(),
            held: Until::default(),
            resolves: Until::default(),
            sent: 0,
        }
    }

    /// Starts warp `index` of block `id`, which is in block slot `slot`. `w` is the warp's own
    /// slot.
    ///
    /// Returns its lanes.
    pub(super) fn start(
        &mut self,
        cx: &Context<'_>,
        (sm, w): (SmId, usize),
        (slot, id, index): (usize, BlockId, u32),
    ) -> LaneMask {
        let first_thread = index * cx.spec.warp_size;
        let lanes = LaneMask::first_n((cx.threads - first_thread).min(cx.spec.warp_size));
        self.reset();
        self.local.clear();
        self.control.restart(cx.control(lanes, u64::from(id.0) * 64 + u64::from(index)));
        (self.block, self.block_id, self.index) = (slot, id, index);
        let place = WarpPlace { first_thread, warp_id: w as u32, ..cx.place(sm, id) };
        match &cx.unset {
            Some(unset) => self.registers.start_with(unset, &cx.registers, &place),
            None => self.registers.start(&cx.registers, &place),
        }
        lanes
    }

    /// Returns the number of the warp's scheduler.
    #[inline(always)]
    pub(super) fn scheduler(&self) -> usize {
        self.home.0.into()
    }

    /// Returns the warp's index in its scheduler.
    #[inline(always)]
    pub(super) fn local(&self) -> usize {
        self.home.1.into()
    }

    /// Makes it a warp that has not started, with the control state `idle`.
    pub(super) fn renew(&mut self, idle: WarpControl) {
        self.reset();
        self.control.restart(idle);
        self.next = None;
        self.micro_ops = MicroOps::default();
        self.waiting = Waiting::default();
    }

    /// Clears the pending state of the slot's former warp.
    fn reset(&mut self) {
        self.scoreboard.fill(Until::default());
        self.arrivals.clear();
        self.raised.clear();
        self.products.clear();
        self.come.clear();
        self.refetch = 0;
        self.resolves = Until::default();
        self.sent = 0;
        self.ahead = None;
        (self.opens, self.uniform, self.held) = Default::default();
    }

    /// Makes arrived lanes wait, to continue at `next`.
    pub(super) fn wait(&mut self, arrival: Arrival, next: Pc) {
        self.control.advance(Flow::Barrier { id: arrival.id, next });
        self.arrivals.push(arrival);
    }

    /// Records the arrival of `lanes` at counted block barrier `id`. Returns the threads that
    /// arrive, exited lanes included.
    ///
    /// A warp counts `warp_size` lanes, even if not all of them ever existed.
    pub(super) fn come(&mut self, id: u8, lanes: LaneMask, warp_size: u32) -> u32 {
        let at = self.come.iter().position(|(at, _)| *at == id).unwrap_or_else(|| {
            self.come.push((id, LaneMask::EMPTY));
            self.come.len() - 1
        });
        let (_, come) = &mut self.come[at];
        *come |= lanes;
        let ended = self.control.ended_with(*come, LaneMask::first_n(warp_size));
        *come |= ended;
        lanes.count() + ended.count()
    }

    /// Returns the counted barriers at which exited lanes arrive, with their number.
    pub(super) fn ended_come(&mut self, warp_size: u32) -> Vec<(u8, u32)> {
        let mut coming = Vec::new();
        for (id, come) in &mut self.come {
            let ended = self.control.ended_with(*come, LaneMask::first_n(warp_size)) - *come;
            *come |= ended;
            if !ended.is_empty() {
                coming.push((*id, ended.count()));
            }
        }
        coming
    }

    /// Starts the next phase of a block barrier, which has opened. Its lanes there go on.
    pub(super) fn open(&mut self, released: &Released, ops: &[MicroOp]) -> Opened {
        let &Released { id, votes: Votes { threads, holds }, .. } = released;
        if !self.come.is_empty() {
            self.come.retain(|(at, _)| *at != id);
        }
        if self.ahead.take_if(|arrival| arrival.id == id).is_some() {
            return Opened::WasAhead;
        }
        let before = self.arrivals.len();
        while let Some(at) = self.arrivals.iter().position(|arrival| arrival.id == id) {
            let Arrival { pc, lanes, .. } = self.arrivals.swap_remove(at);
            if threads > 0 {
                let (inst, all, any) = (&ops[pc.index()].inst, holds == threads, holds > 0);
                exec::finish_barrier_reduction(inst, lanes, &mut self.registers, holds, all, any);
            }
        }
        if self.arrivals.len() == before {
            return Opened::Elsewhere;
        }
        self.control.release_barrier(id);
        Opened::Released
    }

    /// Makes the step's results available at `at`.
    #[inline]
    pub(super) fn write_back(&mut self, cost: &Cost, at: Cycle) {
        let until = Until::new(at, cost.result);
        // Several instructions may raise one dependence counter; a register's last write is always
        // its latest.
        let mut write = |entry: u16| {
            let old = &mut self.scoreboard[usize::from(entry)];
            *old = (*old).max(until);
        };
        match cost.result_entry() {
            (0, _) => {}
            (1, entry) => write(entry),
            _ => cost.written().iter().copied().for_each(write),
        }
    }

    /// Records what a machine instruction adds to the dependence counters beyond its result.
    ///
    /// Its sources have been read at `read`, and its result is available at `done`.
    pub(super) fn raise(&mut self, cost: &Cost, read: Cycle, done: Cycle, logs: bool) {
        if let Some((counter, _)) = cost.read_counter {
            let old = &mut self.scoreboard[usize::from(counter)];
            *old = (*old).max(Until::new(read, cost.result));
        }
        if logs {
            for &entry in cost.written() {
                self.raised.push((entry as u8, done));
            }
        }
    }

    /// Returns when at most `left` of the instructions that raised `counter` are unfinished.
    pub(super) fn falls_to(&mut self, counter: u8, left: u8) -> Cycle {
        let mut times: Vec<Cycle> = self
            .raised
            .iter()
            .filter(|(raised, _)| *raised == counter)
            .map(|(_, done)| *done)
            .collect();
        times.sort_unstable();
        let at = times.len().checked_sub(usize::from(left) + 1);
        at.and_then(|at| times.get(at).copied()).unwrap_or(0)
    }

    /// Forgets instructions that have finished by `now`.
    pub(super) fn forget_finished(&mut self, now: Cycle) {
        self.raised.retain(|(_, done)| *done > now);
    }

    /// Makes the step's results available with its operands: it takes no time of its own.
    #[inline]
    pub(super) fn pass_on(&mut self, cost: &Cost) {
        let until = self.dependences(cost, Until::default());
        for &entry in cost.written() {
            self.scoreboard[usize::from(entry)] = until;
        }
    }

    /// Makes the entry before the unused one available with all of `entries`.
    pub(super) fn merge(&mut self, entries: &[u16]) {
        let of = |&entry: &u16| self.scoreboard[usize::from(entry)];
        let latest = entries.iter().map(of).fold(Until::default(), Until::max);
        if let [.., merged, _] = &mut *self.scoreboard {
            *merged = latest;
        }
    }

    /// Lets steps that may not run ahead of barriers wait until one has opened.
    pub(super) fn wait_for_opening(&mut self, opens: Until) {
        self.opens = opens;
        self.held = self.opens.max(self.uniform);
    }

    /// Lets the wait for the last stall count precede the one for a barrier's opening, unless the
    /// warp waits for something else after it.
    pub(super) fn wait_for_count_first(&mut self, count: Until, opens: Until) {
        let waiting = &mut self.waiting;
        if waiting.until == opens && !waiting.further {
            waiting.before = count.min(opens);
        }
    }

    /// Lets branches wait until results of the uniform datapath are available.
    #[inline]
    pub(super) fn wait_for_uniform(&mut self, uniform: Until) {
        self.uniform = uniform;
        self.held = self.opens.max(self.uniform);
    }

    /// Returns when a step can follow the last one, which lets the warp go on at `resume`.
    #[inline(always)]
    pub(super) fn follows(&self, cost: &Cost, resume: Until) -> Until {
        if self.held <= resume {
            return resume;
        }
        let opens = self.opens.only_if(!cost.ahead);
        let uniform = self.uniform.only_if(!cost.ahead & cost.branches);
        resume.max(opens).max(uniform)
    }

    /// Returns when the step's registers are available, but not before `soonest`.
    #[inline(always)]
    pub(super) fn dependences(&self, cost: &Cost, soonest: Until) -> Until {
        let of = |entry: u16| self.scoreboard[usize::from(entry)];
        let (guard, delay) = cost.guard();
        let soonest = if delay > 0 { soonest.max(of(guard).after(delay)) } else { soonest };
        if cost.awaits == 0 { soonest } else { self.touched(cost, soonest) }
    }

    /// As [`Warp::dependences`], of machine code, whose dependence counters cover the guard.
    ///
    /// Mostly it waits for one counter at most.
    #[inline(always)]
    pub(super) fn counted(&self, cost: &Cost, soonest: Until) -> Until {
        match (cost.awaits, cost.usual()) {
            (0, _) => soonest,
            (1, [counter, ..]) => soonest.max(self.scoreboard[usize::from(counter)]),
            _ => self.touched(cost, soonest),
        }
    }

    /// Returns when what the step touches is available, but not before `soonest`.
    #[inline(always)]
    fn touched(&self, cost: &Cost, soonest: Until) -> Until {
        let of = |entry: u16| self.scoreboard[usize::from(entry)];
        let [a, b, c, d] = cost.usual();
        let until = soonest.max(of(a).max(of(b))).max(of(c).max(of(d)));
        cost.unusual().iter().fold(until, |latest, &entry| latest.max(of(entry)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_later_wait_wins_with_its_reason() {
        let (a, b) = (Until::new(100, Stall::Wait), Until::new(101, Stall::LongScoreboard));
        assert_eq!(a.max(b).cycle(), 101);
        assert_eq!(a.max(b).stall(), Stall::LongScoreboard);
        for stall in Stall::ALL {
            assert_eq!(Until::new(7, stall).stall(), stall);
            assert_eq!(Until::new(7, stall).after(35), Until::new(42, stall));
        }
    }
}
