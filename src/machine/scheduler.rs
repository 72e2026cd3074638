//! One warp scheduler (sub-core): which of its warps issues, and what became of each of its issue slots.
//!
//! A scheduler knows of each of its warps only when it may issue next. Policies: loose round robin, greedy-then-oldest,
//! two-level (GPGPU-Sim's vocabulary) and greedy-then-youngest (Huerta et al., MICRO'25).

use super::spec::Policy;
use crate::base::Cycle;

/// Never: the warp is blocked, or its slot is empty.
pub(super) const NEVER: Cycle = Cycle::MAX;

/// What a step needs to be free before it can issue: one of its scheduler's own units, or what the SM's schedulers share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Port {
    /// Integer and logic.
    Alu,
    /// Single precision.
    Fma,
    /// Double precision.
    Fp64,
    /// Special functions.
    Sfu,
    /// Branches and barriers.
    Branch,
    /// The SM's load/store unit.
    Lsu,
    /// The load/store unit, and room in the queue towards L2.
    Global,
}

/// When each port is free, by [`Port`]; the eighth is never asked for and makes the length a power of two.
pub(super) type Ports = [Cycle; 8];

/// One scheduler. Warps are named by their index within it.
pub(super) struct Scheduler {
    policy: Policy,
    /// When each warp's dependences allow its next issue.
    ready: Vec<Cycle>,
    /// What that issue needs.
    port: Vec<Port>,
    /// Order of admission of each warp: smaller is older.
    age: Vec<u64>,
    /// The warp issued last.
    last: usize,
    /// The active set of the two-level policy, one bit a warp.
    active: u64,
    /// Its own units' ports; the shared ones are filled in by the SM.
    pub ports: Ports,
    /// First cycle whose slot has not been attributed yet.
    pub accounted: Cycle,
    /// Warps resident here that have not ended.
    pub resident: u32,
    /// No issue is possible before this cycle.
    pub next: Cycle,
}

/// A warp chosen for issue.
pub(super) struct Pick {
    pub warp: usize,
    /// Whether another warp could have issued too.
    pub others: bool,
}

impl Scheduler {
    /// A scheduler of at most 64 warps.
    pub(super) fn new(policy: Policy, warps: usize) -> Scheduler {
        Scheduler {
            policy,
            ready: vec![NEVER; warps],
            port: vec![Port::Alu; warps],
            age: vec![0; warps],
            last: 0,
            active: 0,
            ports: [0; 8],
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

    /// Says when `warp` may issue next, and what that needs.
    #[inline]
    pub(super) fn set_ready(&mut self, warp: usize, at: Cycle, port: Port) {
        self.ready[warp] = at;
        self.port[warp] = port;
        self.next = self.next.min(at.max(self.accounted));
    }

    /// When each warp could issue, dependences and ports considered.
    #[inline]
    fn possible<'a>(&'a self, ports: &'a Ports) -> impl Iterator<Item = Cycle> + 'a {
        self.ready.iter().zip(&self.port).map(|(&ready, &port)| ready.max(ports[port as usize & 7]))
    }

    /// Sets [`Scheduler::next`] to the soonest possible issue.
    #[inline]
    pub(super) fn refresh(&mut self, ports: &Ports) {
        let soonest = self.possible(ports).fold(NEVER, Cycle::min);
        self.next = if soonest == NEVER { NEVER } else { soonest.max(self.accounted) };
    }

    /// The warp the policy issues at `now`, if any can.
    #[inline]
    pub(super) fn pick(&mut self, now: Cycle, ports: &Ports) -> Option<Pick> {
        let mut can = 0_u64;
        for (warp, at) in self.possible(ports).enumerate() {
            can |= u64::from(at <= now) << warp;
        }
        if can == 0 {
            return None;
        }
        let warp = match self.policy {
            Policy::LooseRoundRobin => self.round_robin(can),
            Policy::GreedyThenYoungest | Policy::GreedyThenOldest if can >> self.last & 1 == 1 => self.last,
            Policy::GreedyThenYoungest => bits(can).max_by_key(|&w| self.age[w])?,
            Policy::GreedyThenOldest => bits(can).min_by_key(|&w| self.age[w])?,
            Policy::TwoLevel { active } => {
                self.fill_active_set(now, can, active);
                self.round_robin(can & self.active)
            }
        };
        self.last = warp;
        Some(Pick { warp, others: can & (can - 1) != 0 })
    }

    /// The next of `among` (not empty) after the warp issued last, in slot order.
    fn round_robin(&self, among: u64) -> usize {
        let after = among & (u64::MAX << self.last) & !(1 << self.last);
        (if after == 0 { among } else { after }).trailing_zeros() as usize
    }

    /// Drops members that wait for long and takes the warps that can issue and waited outside, lowest slot first. If
    /// all members wait for less long, the set makes room by its lowest slot, so that there is always one that can issue.
    fn fill_active_set(&mut self, now: Cycle, can: u64, size: u32) {
        const LONG: Cycle = 64; // longer than any arithmetic latency, shorter than any trip to L2
        for (warp, &ready) in self.ready.iter().enumerate() {
            if ready > now.saturating_add(LONG) {
                self.active &= !(1 << warp);
            }
        }
        for warp in bits(can & !self.active) {
            if self.active.count_ones() >= size {
                break;
            }
            self.active |= 1 << warp;
        }
        if can & self.active == 0 {
            self.active &= self.active - 1;
            self.active |= can & can.wrapping_neg();
        }
    }
}

/// The positions of the ones of a word, ascending.
fn bits(mut word: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        (word != 0).then(|| {
            let bit = word.trailing_zeros() as usize;
            word &= word - 1;
            bit
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Issues from a scheduler of four warps, of which each waits long after every third issue; lists the choices.
    fn choices(policy: Policy, ready: [Cycle; 4], n: usize) -> Vec<usize> {
        let mut scheduler = Scheduler::new(policy, 4);
        for (warp, at) in ready.into_iter().enumerate() {
            scheduler.admit(warp, warp as u64);
            scheduler.set_ready(warp, at, Port::Alu);
        }
        let mut picked = Vec::new();
        for now in 10..10 + n as Cycle {
            let Some(Pick { warp, .. }) = scheduler.pick(now, &[0; 8]) else { continue };
            if picked.iter().filter(|&&p| p == warp).count() % 3 == 2 {
                scheduler.set_ready(warp, now + 1000, Port::Alu);
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
    fn a_full_active_set_that_cannot_issue_makes_room() {
        let soon = 40; // not long enough to lose the place in the set
        assert_eq!(choices(Policy::TwoLevel { active: 1 }, [NEVER, soon, 0, NEVER], 1), [2]);
        let mut scheduler = Scheduler::new(Policy::TwoLevel { active: 1 }, 2);
        scheduler.set_ready(0, 0, Port::Alu);
        scheduler.set_ready(1, 5, Port::Alu);
        assert_eq!(scheduler.pick(0, &[0; 8]).map(|p| p.warp), Some(0));
        scheduler.set_ready(0, 30, Port::Alu);
        assert_eq!(scheduler.pick(6, &[0; 8]).map(|p| p.warp), Some(1));
    }

    #[test]
    fn nothing_issues_before_its_port_is_free() {
        let mut scheduler = Scheduler::new(Policy::LooseRoundRobin, 2);
        assert_eq!(scheduler.next, NEVER);
        scheduler.set_ready(0, 70, Port::Alu);
        scheduler.set_ready(1, 50, Port::Sfu);
        assert_eq!(scheduler.next, 50);
        let mut ports = [0; 8];
        ports[Port::Sfu as usize] = 90;
        assert!(scheduler.pick(60, &ports).is_none());
        scheduler.refresh(&ports);
        assert_eq!(scheduler.next, 70);
        let both = scheduler.pick(90, &ports).expect("both can issue");
        assert!(both.others);
    }
}
