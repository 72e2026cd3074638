//! One warp scheduler (sub-core): which of its warps issues, and what became of each of its issue slots.
//!
//! A scheduler knows of each of its warps only when it may issue next. Policies: loose round robin, greedy-then-oldest,
//! two-level (GPGPU-Sim's vocabulary) and greedy-then-youngest (Huerta et al., MICRO'25).

use super::spec::Policy;
use crate::base::Cycle;

/// Never: the warp is blocked, or its slot is empty.
pub(super) const NEVER: Cycle = Cycle::MAX;

/// One scheduler. Warps are named by their index within it.
pub(super) struct Scheduler {
    policy: Policy,
    /// When each warp may issue next.
    ready: Vec<Cycle>,
    /// Order of admission of each warp: smaller is older.
    age: Vec<u64>,
    /// The warp issued last.
    last: usize,
    /// The active set of the two-level policy, one bit a warp; all ones otherwise.
    active: u64,
    /// Units busy until.
    pub units: [Cycle; 6],
    /// First cycle whose slot has not been attributed yet.
    pub accounted: Cycle,
    /// Warps resident here that have not ended.
    pub resident: u32,
    /// Earliest cycle at which this scheduler could issue.
    pub next: Cycle,
}

impl Scheduler {
    pub(super) fn new(policy: Policy, warps: usize) -> Scheduler {
        Scheduler {
            policy,
            ready: vec![NEVER; warps],
            age: vec![0; warps],
            last: 0,
            active: 0,
            units: [0; 6],
            accounted: 0,
            resident: 0,
            next: NEVER,
        }
    }

    /// A warp has become resident.
    pub(super) fn admit(&mut self, warp: usize, age: u64) {
        self.age[warp] = age;
        self.resident += 1;
    }

    /// Says when `warp` may issue next.
    #[inline]
    pub(super) fn set_ready(&mut self, warp: usize, at: Cycle) {
        self.ready[warp] = at;
        self.next = self.next.min(at.max(self.accounted));
    }

    /// Recomputes [`Scheduler::next`] after the warps' ready times have moved back.
    #[inline]
    pub(super) fn refresh(&mut self) {
        let soonest = self.ready.iter().copied().fold(NEVER, Cycle::min);
        self.next = if soonest == NEVER { NEVER } else { soonest.max(self.accounted) };
    }

    /// The warp the policy issues at `now`, if any is ready.
    #[inline]
    pub(super) fn pick(&mut self, now: Cycle) -> Option<usize> {
        match self.policy {
            Policy::GreedyThenYoungest | Policy::GreedyThenOldest => {
                if self.ready[self.last] <= now {
                    return Some(self.last);
                }
                let youngest = self.policy == Policy::GreedyThenYoungest;
                let ready = self.ready.iter().zip(&self.age).enumerate().filter(|&(_, (&r, _))| r <= now);
                // Ages differ, so the choice does not depend on the order of the scan.
                ready.min_by_key(|&(_, (_, &age))| if youngest { u64::MAX - age } else { age }).map(|(warp, _)| warp)
            }
            Policy::LooseRoundRobin => self.round_robin(now, u64::MAX),
            Policy::TwoLevel { active } => {
                self.fill_active_set(now, active);
                self.round_robin(now, self.active)
            }
        }
    }

    /// Says that `warp` issued.
    pub(super) fn issued(&mut self, warp: usize) {
        self.last = warp;
    }

    fn round_robin(&self, now: Cycle, among: u64) -> Option<usize> {
        let n = self.ready.len();
        (1..=n).map(|k| (self.last + k) % n).find(|&w| among >> w & 1 == 1 && self.ready[w] <= now)
    }

    /// Drops members that wait for long and takes the ready warps that have waited outside, lowest slot first.
    fn fill_active_set(&mut self, now: Cycle, size: u32) {
        const LONG: Cycle = 64; // longer than any arithmetic latency, shorter than any trip to L2
        for warp in 0..self.ready.len() {
            if self.ready[warp] > now.saturating_add(LONG) {
                self.active &= !(1 << warp);
            }
        }
        for warp in 0..self.ready.len() {
            if self.active.count_ones() >= size {
                break;
            }
            if self.ready[warp] <= now {
                self.active |= 1 << warp;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Issues from a scheduler whose four warps are always ready, and lists the choices.
    fn choices(policy: Policy, ready: [Cycle; 4], n: usize) -> Vec<usize> {
        let mut scheduler = Scheduler::new(policy, 4);
        for (warp, at) in ready.into_iter().enumerate() {
            scheduler.admit(warp, warp as u64);
            scheduler.set_ready(warp, at);
        }
        let mut picked = Vec::new();
        for now in 10..10 + n as Cycle {
            let Some(warp) = scheduler.pick(now) else { continue };
            scheduler.issued(warp);
            // Every third issue of a warp is followed by a long wait.
            if picked.iter().filter(|&&p| p == warp).count() % 3 == 2 {
                scheduler.set_ready(warp, now + 1000);
            }
            picked.push(warp);
        }
        picked
    }

    #[test]
    fn policies_choose_as_their_names_say() {
        let all = [0; 4];
        assert_eq!(choices(Policy::LooseRoundRobin, all, 6), [1, 2, 3, 0, 1, 2]);
        assert_eq!(choices(Policy::GreedyThenOldest, all, 6), [0, 0, 0, 1, 1, 1]);
        assert_eq!(choices(Policy::GreedyThenYoungest, [NEVER, 0, 0, 0], 6), [3, 3, 3, 2, 2, 2]);
        assert_eq!(choices(Policy::TwoLevel { active: 2 }, all, 7), [1, 0, 1, 0, 1, 0, 2]);
    }

    #[test]
    fn next_is_the_soonest_ready_time() {
        let mut scheduler = Scheduler::new(Policy::LooseRoundRobin, 2);
        assert_eq!(scheduler.next, NEVER);
        scheduler.set_ready(0, 70);
        scheduler.set_ready(1, 50);
        assert_eq!(scheduler.next, 50);
        scheduler.set_ready(1, 90);
        scheduler.refresh();
        assert_eq!(scheduler.next, 70);
    }
}
