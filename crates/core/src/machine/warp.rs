//! One warp slot: registers, control state, scoreboard, and the account of its waiting.

use super::program::Cost;
use crate::base::{BlockId, Cycle, LaneMask, Pc};
use crate::divergence::{Flow, WarpControl};
use crate::event::Stall;
use crate::exec::{LocalMemory, RegisterFile};

/// A point in time with the reason to wait for it. Ordered by time first, so that the later of two wins with its reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) struct Until(u64);

impl Until {
    const REASON_BITS: u32 = 4;

    #[inline]
    pub(super) fn new(at: Cycle, stall: Stall) -> Until {
        Until(at << Until::REASON_BITS | stall as u64)
    }

    /// As much later as `now` is after 0, for the same reason.
    #[inline]
    pub(super) fn after(self, now: Cycle) -> Until {
        Until(self.0 + (now << Until::REASON_BITS))
    }

    #[inline]
    pub(super) fn cycle(self) -> Cycle {
        self.0 >> Until::REASON_BITS
    }

    #[inline]
    pub(super) fn stall(self) -> Stall {
        let reason = (self.0 & ((1 << Until::REASON_BITS) - 1)) as usize;
        Stall::ALL.get(reason).copied().unwrap_or(Stall::Wait)
    }
}

/// What a warp waits for between two issues.
#[derive(Clone, Copy)]
pub(super) struct Waiting {
    /// First cycle not yet attributed.
    pub from: Cycle,
    /// What it waits for before its next instruction can be fetched.
    pub before: Until,
    /// When its next instruction is there; not after `from`: it need not wait for it.
    pub fetched: Cycle,
    /// When its dependences allow the next issue, and the reason until then.
    pub until: Until,
}

/// How far a step is that becomes several machine instructions, which are issued one by one.
#[derive(Clone, Copy)]
pub(super) struct Parts {
    /// How many have been issued; 0: there is no such step.
    pub issued: u32,
    /// The lanes of the step whose guard held.
    pub lanes: LaneMask,
}

/// Lanes that wait at a block barrier, and the step whose reduction they await.
#[derive(Clone)]
pub(super) struct Arrival {
    pub id: u8,
    pub pc: Pc,
    pub lanes: LaneMask,
}

/// A warp slot of an SM.
#[derive(Clone)]
pub(super) struct Warp {
    pub control: WarpControl,
    pub registers: RegisterFile,
    pub local: LocalMemory,
    /// Per scoreboard entry: when its last write can be used.
    scoreboard: Vec<Until>,
    /// Its scheduler, and its index within that.
    pub home: (usize, usize),
    /// Index of its block among the SM's block slots.
    pub block: usize,
    /// The block's id, for messages.
    pub block_id: BlockId,
    /// Its index in the block.
    pub index: u32,
    /// When it became resident.
    pub since: Cycle,
    /// What it issues next; `None` while every live lane is blocked, or none lives.
    pub next: Option<(Pc, LaneMask)>,
    pub waiting: Waiting,
    /// Further cycles until the next instruction is fetched, because the last one was a branch that was taken.
    pub refetch: u32,
    /// Those of the step in `next`, which has been executed already.
    pub parts: Parts,
    pub arrivals: Vec<Arrival>,
    /// By counted barrier: the lanes that have come to its present phase, those that went on or have
    /// ended since among them.
    come: Vec<(u8, LaneMask)>,
    /// The whole warp has arrived at a barrier that is not complete, and goes on as far as it may without it.
    pub ahead: Option<Arrival>,
    /// When the barrier that it went ahead of is open: steps that may not be issued ahead of it wait for that.
    pub opens: Until,
    /// When what the uniform datapath has computed for it is there for another basic block.
    pub uniform: Until,
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
            scoreboard: vec![Until::default(); scoreboard],
            home,
            block: 0,
            block_id: BlockId(0),
            index: 0,
            since: 0,
            next: None,
            waiting: Waiting { from: 0, before: Until::default(), fetched: 0, until: Until::default() },
            refetch: 0,
            parts: Parts { issued: 0, lanes: LaneMask::EMPTY },
            arrivals: Vec::new(),
            come: Vec::new(),
            ahead: None,
            opens: Until::default(),
            uniform: Until::default(),
        }
    }

    /// Forgets what a former warp in this slot had pending.
    pub(super) fn reset(&mut self) {
        self.scoreboard.fill(Until::default());
        self.arrivals.clear();
        self.come.clear();
        self.refetch = 0;
        (self.ahead, self.opens, self.uniform) = (None, Until::default(), Until::default());
    }

    /// Those that have arrived wait, and go on at `next`.
    pub(super) fn wait(&mut self, arrival: Arrival, next: Pc) {
        self.control.advance(Flow::Barrier { id: arrival.id, next });
        self.arrivals.push(arrival);
    }

    /// `lanes` come to counted block barrier `id`. How many threads that is: ended lanes may come
    /// with them. A warp has `warp_size` lanes, whether or not all of them ever lived.
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

    /// Lanes have ended: to which counted barriers they come thereby, and how many.
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

    /// Block barrier `id` has opened: its next phase begins.
    pub(super) fn opened(&mut self, id: u8) {
        self.come.retain(|(at, _)| *at != id);
    }

    /// The step's results can be used at `at`.
    #[inline]
    pub(super) fn write_back(&mut self, cost: &Cost, at: Cycle) {
        let until = Until::new(at, cost.result);
        for &entry in cost.written() {
            self.scoreboard[usize::from(entry)] = until;
        }
    }

    /// The step's results can be used when its operands can: it takes no time of its own.
    #[inline]
    pub(super) fn pass_on(&mut self, cost: &Cost) {
        let until = self.dependences(cost, Until::default());
        for &entry in cost.written() {
            self.scoreboard[usize::from(entry)] = until;
        }
    }

    /// When the registers that the step reads or writes are free, but not before `soonest`.
    #[inline]
    pub(super) fn dependences(&self, cost: &Cost, soonest: Until) -> Until {
        let of = |entry: u16| self.scoreboard[usize::from(entry)];
        let guard = if cost.guard_delay == 0 { soonest } else { of(cost.guard).after(Cycle::from(cost.guard_delay)) };
        cost.touched().iter().fold(soonest.max(guard), |latest, &entry| latest.max(of(entry)))
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
