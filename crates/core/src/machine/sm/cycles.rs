//! Cycles of an SM: in each one its schedulers have their turns, the first one rotating by cycle.

use super::Sm;
use crate::base::{Cycle, LaneMask, Pc};
use crate::event::Observer;
use crate::exec::{self, Vectors};
use crate::machine::pricing::Visibility;
use crate::machine::scheduler::NEVER;
use crate::machine::verdict::{Finish, Limit};
use crate::machine::warp::Warp;

/// Issues of an SM at once, at most.
pub(in crate::machine) const ISSUES: u64 = 1 << 12;
/// The same while others run beside it.
pub(in crate::machine) const ISSUES_BESIDE: u64 = 1 << 16;

/// Extent of the turns that an SM runs at once.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Extent {
    /// A cycle.
    Cycle,
    /// Whole cycles, many of them.
    Many,
    /// The next cycle, then as [`Extent::Beside`].
    Ahead,
    /// Turns as long as other SMs may run before or after their steps.
    Beside,
}

/// Place of an SM in its turns.
#[derive(Clone, Copy)]
pub(super) struct Position {
    cycle: Cycle,
    /// Schedulers that may issue in this cycle and have not had their turn, one bit each.
    left: u64,
}

impl Position {
    /// Position before the first cycle of an SM.
    pub(super) const START: Position = Position { cycle: NEVER, left: 0 };
}

/// Cycle of each scheduler before which it cannot issue.
#[derive(Clone)]
pub(super) struct Due {
    /// Cycles of the first four schedulers, and of four each of the others: no loop for most
    /// machines.
    first: [Cycle; 4],
    more: Vec<[Cycle; 4]>,
}

impl Due {
    pub(super) fn new(schedulers: usize) -> Due {
        let more = schedulers.div_ceil(4).saturating_sub(1);
        Due { first: [NEVER; 4], more: vec![[NEVER; 4]; more] }
    }

    /// Returns the earliest cycle.
    #[inline(always)]
    fn soonest(&self) -> Cycle {
        let first = least(&self.first);
        if self.more.is_empty() { first } else { self.soonest_of_more(first) }
    }

    /// Returns the earliest cycle, given that of the first four schedulers.
    #[inline(never)]
    fn soonest_of_more(&self, first: Cycle) -> Cycle {
        self.more.iter().map(least).fold(first, Cycle::min)
    }

    /// Returns the schedulers that may issue in cycle `now`, one bit each.
    #[inline(always)]
    fn at(&self, now: Cycle) -> u64 {
        let first = bits_at(&self.first, now);
        if self.more.is_empty() { first } else { self.at_with_more(first, now) }
    }

    /// As [`Due::at`], given the bits of the first four schedulers.
    #[inline(never)]
    fn at_with_more(&self, first: u64, now: Cycle) -> u64 {
        let more = self.more.iter().zip(1_u32..);
        more.fold(first, |all, (four, i)| all | bits_at(four, now) << (4 * i))
    }

    /// Returns the schedulers that may issue in cycle `now` after scheduler `s`, in the order from
    /// `first` on.
    ///
    /// Seldom needed: not inlined, so that the loop over turns keeps nothing for it.
    #[inline(never)]
    fn at_after(&self, now: Cycle, first: usize, s: usize) -> u64 {
        after(self.at(now), first, s)
    }

    /// Returns the cycle of scheduler `s`.
    #[inline(always)]
    fn of(&self, s: usize) -> Cycle {
        match s.checked_sub(4) {
            None => self.first[s % 4],
            Some(other) => self.more[other / 4][other % 4],
        }
    }

    /// Sets the cycle of scheduler `s`.
    #[inline(always)]
    pub(super) fn set(&mut self, s: usize, next: Cycle) {
        *self.entry(s) = next;
    }

    /// Returns the cycle of scheduler `s` to be set.
    #[inline(always)]
    pub(super) fn entry(&mut self, s: usize) -> &mut Cycle {
        match s.checked_sub(4) {
            None => &mut self.first[s % 4],
            Some(other) => &mut self.more[other / 4][other % 4],
        }
    }
}

impl<O: Observer> Sm<'_, O> {
    /// Returns the cycle of the next possible issue, or `NEVER`.
    pub(in crate::machine) fn next_cycle(&mut self) -> Cycle {
        loop {
            let soonest = self.due.soonest();
            let mut changed = false;
            for (s, scheduler) in self.schedulers.iter().enumerate() {
                if self.due.of(s) == soonest {
                    let next = scheduler.next(&self.issuer.shared);
                    self.due.set(s, next);
                    changed |= next != soonest;
                }
            }
            if !changed {
                return soonest;
            }
        }
    }

    /// Runs the next cycle in which a warp can issue. Returns the end of the SM, if reached.
    pub(in crate::machine) fn cycle(&mut self) -> Option<Finish> {
        self.turns(Extent::Cycle)
    }

    /// Runs some thousand issues in whole cycles. Returns the end of the SM, if reached.
    ///
    /// Stops early if a warp repeats a state or the observer is done.
    pub(in crate::machine) fn cycles(&mut self) -> Option<Finish> {
        self.turns(Extent::Many)
    }

    /// Runs the turns of the next cycle, and some thousand further ones as long as other SMs may
    /// run before or after their steps. Returns the end of the SM, if reached.
    pub(in crate::machine) fn turns_ahead(&mut self) -> Option<Finish> {
        self.turns(Extent::Ahead)
    }

    /// Runs turns as long as other SMs may run before or after their steps, or at the same time.
    /// Returns the end of the SM, if reached.
    pub(in crate::machine) fn turns_beside(&mut self) -> Option<Finish> {
        self.turns(Extent::Beside)
    }

    /// Runs the `place`-th turn of cycle `now`. Returns the end of the SM, if reached.
    pub(in crate::machine) fn turn(&mut self, place: usize, now: Cycle) -> Option<Finish> {
        let count = self.schedulers.len();
        let s = (first_scheduler(now, count) + place) % count;
        if self.due.of(s) > now {
            return None;
        }
        let local = self.select(s, now)?;
        self.issue(s, local, now).err().map(|fault| self.cx.fault(fault))
    }

    /// Returns the warp that scheduler `s` issues at `now`. Without one, notes when it may issue.
    #[inline(always)]
    fn select(&mut self, s: usize, now: Cycle) -> Option<usize> {
        let scheduler = &mut self.schedulers[s];
        let selected = scheduler.select(now, &self.issuer.shared);
        if selected.is_none() {
            self.due.set(s, scheduler.soonest(&self.issuer.shared));
        }
        selected
    }

    /// Runs the turns of an extent. Returns the end of the SM, if reached.
    ///
    /// It is compiled for AVX2, too: masks and shifts take fewer instructions there.
    #[inline(never)]
    fn turns(&mut self, extent: Extent) -> Option<Finish> {
        exec::vectorized(
            Vectors::default(),
            #[inline(always)]
            |_| self.all_turns(extent),
        )
    }

    /// As [`Sm::turns`]. The first claim on shared ports rotates by cycle.
    #[inline(always)]
    fn all_turns(&mut self, extent: Extent) -> Option<Finish> {
        let ahead = matches!(extent, Extent::Ahead | Extent::Beside);
        let most = self.issued + if extent == Extent::Beside { ISSUES_BESIDE } else { ISSUES };
        // Other SMs wait for the turns of this cycle.
        let due = if extent == Extent::Ahead { self.next_cycle() } else { NEVER };
        loop {
            if self.position.left == 0
                && let Err(finish) = self.begin_turns()
            {
                return Some(finish);
            }
            let now = self.position.cycle;
            let first = first_scheduler(now, self.schedulers.len());
            while self.position.left != 0 {
                let s = lowest_from(self.position.left, first);
                let Some(local) = self.select(s, now) else {
                    self.position.left &= !(1 << s);
                    continue;
                };
                if ahead && now != due && !self.is_free(s, local) {
                    return None;
                }
                self.position.left &= !(1 << s);
                match self.issue(s, local, now) {
                    Ok(false) => {}
                    // Other warps may now issue in this cycle, too.
                    Ok(true) => self.position.left = self.due.at_after(now, first, s),
                    Err(fault) => return Some(self.cx.fault(fault)),
                }
                if ahead && (self.issued >= most || self.issuer.watch.compares()) {
                    return None;
                }
            }
            let ends = match extent {
                Extent::Many => {
                    self.issued >= most
                        || self.issuer.watch.found_repetition()
                        || self.issuer.observer.is_done()
                }
                Extent::Cycle => self.next_cycle() != now,
                Extent::Ahead | Extent::Beside => false,
            };
            if ends {
                return None;
            }
        }
    }

    /// Begins the turns of the next cycle, or those of the same cycle again, in which a barrier
    /// without latency has let warps issue. Returns the end of the SM, if reached.
    #[inline(always)]
    fn begin_turns(&mut self) -> Result<(), Finish> {
        let mut next = self.due.soonest();
        let begins = next != self.position.cycle;
        // The limit of issues holds at the begin of a cycle.
        if next >= self.cx.max_cycles || begins && self.issued >= self.cx.max_issues {
            next = self.begin_cycle()?;
        }
        self.position = Position { cycle: next, left: self.due.at(next) };
        Ok(())
    }

    /// Notes that a warp of scheduler `s` may be the next to issue.
    #[inline]
    pub(super) fn expect(&mut self, s: usize, local: usize) {
        let next = self.due.of(s).min(self.schedulers[s].ready(local));
        self.due.set(s, next);
    }

    /// Returns true if other SMs may run before and after the next step of a scheduler's warp.
    #[inline(always)]
    fn is_free(&self, s: usize, local: usize) -> bool {
        let warp = &self.warps[local * self.schedulers.len() + s];
        warp.micro_ops.issued > 0
            || warp.next.is_some_and(|(pc, active)| {
                match self.cx.program.costs[pc.index()].visibility {
                    Visibility::Private => true,
                    Visibility::Plain => self.cx.accesses.is_some(),
                    Visibility::Reduction => self.commutes(warp, pc, active),
                    Visibility::Ordered => false,
                }
            })
    }

    /// Returns true if a reduction takes the same time before and after those of other SMs.
    #[inline(never)]
    fn commutes(&self, warp: &Warp, pc: Pc, active: LaneMask) -> bool {
        let inst = &self.cx.program.ops[pc.index()].inst;
        let (Some(_), Some(atomic)) = (&self.cx.accesses, inst.op.atomic()) else { return false };
        let Some(units) = &self.cx.atomics else { return true };
        let lanes = exec::guarded(inst, active, &warp.registers);
        let addresses = exec::addresses(atomic.address, lanes, &warp.registers);
        units.are_settled(lanes, &addresses, self.cx.active_sms)
    }

    /// Begins a cycle. Returns its number or the end of the SM.
    pub(in crate::machine) fn begin_cycle(&mut self) -> Result<Cycle, Finish> {
        let now = self.next_cycle();
        if now == NEVER {
            return Err(if self.free.len() == self.issuer.blocks.len() {
                Finish::Ok
            } else {
                self.deadlock()
            });
        }
        if now >= self.cx.max_cycles {
            self.now = self.cx.max_cycles;
            self.drained = self.drained.min(self.now);
            return Err(Finish::CycleLimit(Limit::Cycles(self.now)));
        }
        if self.issued >= self.cx.max_issues {
            return Err(Finish::CycleLimit(Limit::Issues {
                sm: self.id,
                issued: self.issued,
                cycle: Some(self.now),
            }));
        }
        Ok(now)
    }
}

/// Returns the earliest of four cycles.
#[inline(always)]
fn least(&[a, b, c, d]: &[Cycle; 4]) -> Cycle {
    a.min(b).min(c.min(d))
}

/// Returns those of four cycles that have come at `now`, one bit each.
#[inline(always)]
fn bits_at(&[a, b, c, d]: &[Cycle; 4], now: Cycle) -> u64 {
    u64::from(a <= now)
        | u64::from(b <= now) << 1
        | u64::from(c <= now) << 2
        | u64::from(d <= now) << 3
}

/// Returns the scheduler of `count` that has the first turn of a cycle.
#[inline(always)]
fn first_scheduler(cycle: Cycle, count: usize) -> usize {
    // Most machines have a power of two: no division.
    let count = count as u64;
    (if count.is_power_of_two() { cycle & (count - 1) } else { cycle % count }) as usize
}

/// Returns the lowest bit of `mask` (not 0) from bit `first` on, or the lowest of all.
#[inline(always)]
fn lowest_from(mask: u64, first: usize) -> usize {
    let high = mask & u64::MAX << first;
    (if high == 0 { mask } else { high }).trailing_zeros() as usize
}

/// Returns the bits of `mask` that come after bit `s` in an order that starts at bit `first`.
fn after(mask: u64, first: usize, s: usize) -> u64 {
    let (from_first, after) = (u64::MAX << first, u64::MAX << s << 1);
    mask & if s >= first { after | !from_first } else { after & !from_first }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_start_at_the_first_scheduler_and_go_round() {
        let all = 0b1101;
        assert_eq!([0, 1, 2, 3].map(|first| lowest_from(all, first)), [0, 2, 2, 3]);
        assert_eq!(lowest_from(0b0001, 2), 0);
        assert_eq!([2, 3, 0, 1].map(|s| after(0b1111, 2, s)), [0b1011, 0b0011, 0b0010, 0]);
        assert_eq!([0, 1, 2, 3].map(|s| after(0b1111, 0, s)), [0b1110, 0b1100, 0b1000, 0]);
        assert_eq!(after(1 << 63 | 1, 63, 63), 1);
        assert_eq!([7, 8].map(|cycle| first_scheduler(cycle, 3)), [1, 2]);
    }

    #[test]
    fn the_cycles_of_many_schedulers_have_one_order() {
        let mut due = Due::new(9);
        assert_eq!((due.soonest(), due.at(1000)), (NEVER, 0));
        for (s, next) in [(0, 30), (3, 20), (5, 20), (8, 25)] {
            due.set(s, next);
            assert_eq!(due.of(s), next);
        }
        assert_eq!(
            (due.soonest(), due.at(20), due.at(25)),
            (20, 1 << 3 | 1 << 5, 1 << 3 | 1 << 5 | 1 << 8)
        );
    }
}
