//! Warp scheduler (sub-core): warp selection and the account of its issue slots.
//!
//! A scheduler knows of each warp only its earliest next issue. Policies: loose round robin,
//! greedy-then-oldest, two-level (GPGPU-Sim's terms) and greedy-then-youngest (Huerta et al.,
//! MICRO'25).

use super::requests::{QUEUES, Requests};
use crate::base::{Cycle, mix};
use crate::spec::Policy;

/// Cycle of a blocked warp or an empty slot.
pub(super) const NEVER: Cycle = Cycle::MAX;

/// Port that a step needs at issue: a scheduler's own unit, or one shared by the SM's schedulers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Port {
    /// Integer and logic.
    Alu,
    /// Single precision.
    Fma,
    /// Integer products of machine code.
    FmaHeavy,
    /// Double precision.
    Fp64,
    /// Special functions.
    Sfu,
    /// Tensor core.
    Tensor,
    /// Branches and barriers.
    Branch,
    /// Uniform datapath, which computes once per warp.
    Uniform,
    /// Load/store unit of the SM.
    Lsu,
    /// Load/store unit and a free entry in the queue to L2.
    Global,
    /// Constant cache.
    Constant,
    /// Special registers.
    Special,
    /// No port, only an issue slot.
    None,
}

impl Port {
    /// Returns true if the SM's schedulers share the port.
    #[inline]
    pub(super) fn is_shared(self) -> bool {
        matches!(self, Port::Lsu | Port::Global)
    }
}

/// Number of ports, rounded up to a power of two.
const PORTS: usize = 16;

/// Availability of the ports that an SM's schedulers share.
#[derive(Clone, Copy, Default)]
pub(super) struct SharedPorts {
    /// Cycle until which each shared port is busy.
    ///
    /// A scheduler's own ports are always free here.
    busy: [Cycle; PORTS],
    /// Cycle from which the queue to L2 has room.
    queue: Cycle,
}

impl SharedPorts {
    /// Makes the load/store unit busy at least until `until`.
    #[inline]
    pub(super) fn occupy_lsu(&mut self, until: Cycle) {
        let lsu = self.busy[Port::Lsu as usize].max(until);
        self.busy[Port::Lsu as usize] = lsu;
        self.busy[Port::Global as usize] = lsu.max(self.queue);
    }

    /// Gives the queue to L2 room from `from` on.
    #[inline]
    pub(super) fn queue_accepts(&mut self, from: Cycle) {
        self.queue = from;
        self.busy[Port::Global as usize] = self.busy[Port::Lsu as usize].max(from);
    }
}

/// Maximum warps per scheduler: one bit each in a word.
const WARPS: usize = 64;

/// Warps of one block on a scheduler.
#[derive(Clone, Copy)]
struct Cohort {
    /// Block number in the SM's order of execution.
    block: u64,
    /// One bit per warp.
    warps: u64,
}

/// Scheduler of at most 64 warps, named by their index in it.
///
/// Warps whose dependences are met are *awake*, one mask per port. The others are in a timing wheel
/// of 64 cycles or, for longer waits, in the *far* set. A cycle thus costs only the warps that wake
/// in it, not all resident ones.
#[derive(Clone)]
pub(super) struct Scheduler {
    /// Scheduler number on the SM.
    pub number: u32,
    policy: Policy,
    /// Cycle up to which the wheel has turned: warps ready by then are awake.
    turned: Cycle,
    awake: [u64; PORTS],
    /// Ports that awake warps wait for, one bit each.
    asked: u16,
    /// Warps that wake in `turned + 1 ..= turned + 63`, by cycle modulo 64.
    wheel: [u64; 64],
    /// Wheel cells with warps.
    occupied: u64,
    /// Warps that wake later, and the first such cycle.
    far: u64,
    far_next: Cycle,
    /// Earliest next issue of each warp by its dependences, and the port it needs.
    ready: [Cycle; WARPS],
    port: [Port; WARPS],
    /// Order of admission by warp: smaller is older.
    age: [u64; WARPS],
    /// Warps by block, oldest block first, and former blocks with free slots.
    blocks: Vec<Cohort>,
    /// Warp issued last, and the cycle after its issue.
    last: usize,
    after_last: Cycle,
    /// Active set of the two-level policy, one bit per warp.
    active: u64,
    /// Cycle until which each of its own ports is busy.
    busy: [Cycle; PORTS],
    /// Cycle from which the special function unit is free (machine code, which queues for it).
    pub special_until: Cycle,
    /// Queues of requests to units of the SM (machine code).
    pub requests: [Requests; QUEUES],
    /// Cycle until which the read ports of the register file are busy (machine code).
    pub reads_until: Cycle,
    /// True if the warp picked last had also issued in the cycle before.
    pub same_warp: bool,
    /// First cycle whose slot is not attributed yet.
    pub accounted: Cycle,
    /// Resident warps that have not ended.
    pub resident: u32,
    /// Earliest possible issue.
    pub next: Cycle,
}

impl Scheduler {
    pub(super) fn new(number: u32, policy: Policy) -> Scheduler {
        Scheduler {
            number,
            policy,
            turned: 0,
            awake: [0; PORTS],
            asked: 0,
            wheel: [0; 64],
            occupied: 0,
            far: 0,
            far_next: NEVER,
            ready: [NEVER; WARPS],
            port: [Port::Alu; WARPS],
            age: [0; WARPS],
            blocks: Vec::new(),
            last: 0,
            after_last: 0,
            active: 0,
            busy: [0; PORTS],
            special_until: 0,
            requests: [Requests::default(); QUEUES],
            reads_until: 0,
            same_warp: false,
            accounted: 0,
            resident: 0,
            next: NEVER,
        }
    }

    /// Admits a warp of the SM's `block`-th block.
    pub(super) fn admit(&mut self, warp: usize, age: u64, block: u64) {
        self.age[warp % WARPS] = age;
        self.resident += 1;
        let bit = 1 << (warp % WARPS);
        for cohort in &mut self.blocks {
            cohort.warps &= !bit;
        }
        self.blocks.retain(|cohort| cohort.warps != 0);
        match self.blocks.last_mut() {
            Some(youngest) if youngest.block == block => youngest.warps |= bit,
            _ => self.blocks.push(Cohort { block, warps: bit }),
        }
    }

    /// Sets the earliest next issue of `warp` and the port it needs.
    ///
    /// The warp was picked or had nothing to issue. The caller [refreshes](Scheduler::refresh)
    /// after its last such call.
    #[inline]
    pub(super) fn set_ready(&mut self, warp: usize, at: Cycle, port: Port) {
        self.ready[warp % WARPS] = at;
        self.port[warp % WARPS] = port;
        if at != NEVER {
            self.sleep(warp);
        }
    }

    /// Returns the cycle up to which the wheel has turned.
    ///
    /// [`Scheduler::pick`] requires a later one.
    pub(super) fn turned(&self) -> Cycle {
        self.turned
    }

    /// Returns the cycle from which a port is free.
    #[inline]
    pub(super) fn free(&self, port: Port, shared: &SharedPorts) -> Cycle {
        self.free_by_number(port as usize, shared)
    }

    #[inline]
    fn free_by_number(&self, port: usize, shared: &SharedPorts) -> Cycle {
        self.busy[port % PORTS].max(shared.busy[port % PORTS])
    }

    /// Makes one of its own ports busy until `until`.
    #[inline]
    pub(super) fn occupy(&mut self, port: Port, until: Cycle) {
        self.busy[port as usize % PORTS] = until;
    }

    #[inline]
    fn wake(&mut self, warp: usize) {
        let port = self.port[warp % WARPS] as usize % PORTS;
        self.awake[port] |= 1 << warp;
        self.asked |= 1 << port;
    }

    #[inline]
    fn sleep(&mut self, warp: usize) {
        let (at, bit) = (self.ready[warp % WARPS], 1 << warp);
        if at <= self.turned {
            self.wake(warp);
        } else if at - self.turned < 64 {
            let cell = at % 64;
            self.wheel[cell as usize] |= bit;
            self.occupied |= 1 << cell;
        } else {
            self.far |= bit;
            self.far_next = self.far_next.min(at);
        }
    }

    /// Turns the wheel to `now` and wakes the warps that are ready by then.
    #[inline]
    fn turn(&mut self, now: Cycle) {
        let passed = now - self.turned;
        if passed == 0 {
            return;
        }
        let cells = if passed >= 64 {
            u64::MAX
        } else {
            ((1 << passed) - 1_u64).rotate_left(self.turned as u32 + 1)
        };
        self.turned = now;
        for cell in bits(self.occupied & cells) {
            for warp in bits(std::mem::take(&mut self.wheel[cell % 64])) {
                self.wake(warp);
            }
        }
        self.occupied &= !cells;
        if self.far_next < now + 64 {
            self.far_next = NEVER;
            for warp in bits(std::mem::take(&mut self.far)) {
                self.sleep(warp);
            }
        }
    }

    /// Sets [`Scheduler::next`] to the earliest issue by dependences and ports.
    #[inline]
    pub(super) fn refresh(&mut self, shared: &SharedPorts) {
        let mut soonest = self.far_next;
        if self.occupied != 0 {
            let first = (self.turned + 1) % 64;
            let cells = Cycle::from(self.occupied.rotate_right(first as u32).trailing_zeros());
            soonest = soonest.min(self.turned + 1 + cells);
        }
        for port in bits(u64::from(self.asked)) {
            soonest = soonest.min(self.free_by_number(port, shared));
        }
        let soonest = soonest.max(self.reads_until);
        self.next = if soonest == NEVER { NEVER } else { soonest.max(self.accounted) };
    }

    /// Returns the warp that the policy issues at `now`, if any can issue.
    #[inline]
    pub(super) fn pick(&mut self, now: Cycle, shared: &SharedPorts) -> Option<usize> {
        self.turn(now);
        let mut can = 0;
        for port in bits(u64::from(self.asked)) {
            if self.free_by_number(port, shared) <= now {
                can |= self.awake[port % PORTS];
            }
        }
        if can == 0 || now < self.reads_until {
            return None;
        }
        let warp = self.choose(now, can);
        self.same_warp = warp == self.last;
        (self.last, self.after_last) = (warp, now + 1);
        let port = self.port[warp % WARPS] as usize % PORTS;
        self.awake[port] &= !(1 << warp);
        self.asked &= !(u16::from(self.awake[port] == 0) << port);
        Some(warp)
    }

    /// Returns the policy's choice among the warps that can issue (at least one).
    #[inline]
    fn choose(&mut self, now: Cycle, can: u64) -> usize {
        match self.policy {
            Policy::LooseRoundRobin => self.round_robin(can),
            Policy::OldestBlock if now == self.after_last && can >> self.last & 1 == 1 => self.last,
            Policy::OldestBlock => self.round_robin(self.of_oldest_block(can)),
            Policy::GreedyThenYoungest | Policy::GreedyThenOldest if can >> self.last & 1 == 1 => {
                self.last
            }
            Policy::GreedyThenYoungest => {
                bits(can).max_by_key(|&w| self.age[w % WARPS]).unwrap_or_default()
            }
            Policy::GreedyThenOldest => {
                bits(can).min_by_key(|&w| self.age[w % WARPS]).unwrap_or_default()
            }
            Policy::Adversarial { seed } => self.drawn(now, can, seed),
            Policy::TwoLevel { active } => {
                self.fill_active_set(now, can, active);
                self.round_robin(can & self.active)
            }
        }
    }

    /// Returns the warps of `among` (not empty) in its oldest block.
    #[inline]
    fn of_oldest_block(&self, among: u64) -> u64 {
        self.blocks
            .iter()
            .map(|cohort| cohort.warps & among)
            .find(|&warps| warps != 0)
            .unwrap_or(among)
    }

    /// Returns a pseudo-random member of `among` (not empty).
    #[inline(never)]
    fn drawn(&self, now: Cycle, among: u64, seed: u64) -> usize {
        let ready: Vec<usize> = bits(among).collect();
        let draw = mix(seed ^ now << 8 ^ u64::from(self.number)) as usize;
        ready.get(draw % ready.len().max(1)).copied().unwrap_or_default()
    }

    /// Returns the next warp of `among` (not empty) after the last issued one.
    fn round_robin(&self, among: u64) -> usize {
        let after = among & (u64::MAX << self.last) & !(1 << self.last);
        (if after == 0 { among } else { after }).trailing_zeros() as usize
    }

    /// Refills the active set with warps that can issue.
    ///
    /// Members with a long wait leave, and the lowest outside slots enter. If no member has a long
    /// wait, the lowest slot leaves, so that one member can always issue.
    #[inline(never)]
    fn fill_active_set(&mut self, now: Cycle, can: u64, size: u32) {
        const LONG: Cycle = 64; // above any arithmetic latency, below any L2 access
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

/// Returns the positions of a word's one bits, ascending.
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

    /// Issues from a scheduler of four warps and lists the choices.
    ///
    /// Each warp has a long wait after every third issue.
    fn choices(policy: Policy, ready: [Cycle; 4], n: usize) -> Vec<usize> {
        let mut scheduler = Scheduler::new(0, policy);
        for (warp, at) in ready.into_iter().enumerate() {
            scheduler.admit(warp, warp as u64, warp as u64 / 2);
            scheduler.set_ready(warp, at, Port::Alu);
        }
        let mut picked = Vec::new();
        for now in 10..10 + n as Cycle {
            let Some(warp) = scheduler.pick(now, &SharedPorts::default()) else { continue };
            let third = picked.iter().filter(|&&p| p == warp).count() % 3 == 2;
            scheduler.set_ready(warp, if third { now + 1000 } else { now + 1 }, Port::Alu);
            picked.push(warp);
        }
        picked
    }

    #[test]
    fn policies_choose_as_their_names_say() {
        let all = [0; 4];
        assert_eq!(choices(Policy::LooseRoundRobin, all, 6), [1, 2, 3, 0, 1, 2]);
        assert_eq!(choices(Policy::OldestBlock, all, 8), [1, 1, 1, 0, 0, 0, 2, 2]);
        assert_eq!(choices(Policy::GreedyThenOldest, all, 6), [0, 0, 0, 1, 1, 1]);
        assert_eq!(choices(Policy::GreedyThenYoungest, [NEVER, 0, 0, 0], 6), [3, 3, 3, 2, 2, 2]);
        assert_eq!(choices(Policy::TwoLevel { active: 2 }, all, 7), [1, 0, 1, 0, 1, 2, 0]);
    }

    #[test]
    fn a_full_active_set_that_cannot_issue_makes_room() {
        let soon = 40; // too short to leave the active set
        assert_eq!(choices(Policy::TwoLevel { active: 1 }, [NEVER, soon, 0, NEVER], 1), [2]);
        let mut scheduler = Scheduler::new(0, Policy::TwoLevel { active: 1 });
        scheduler.set_ready(0, 0, Port::Alu);
        scheduler.set_ready(1, 5, Port::Alu);
        assert_eq!(scheduler.pick(0, &SharedPorts::default()), Some(0));
        scheduler.set_ready(0, 30, Port::Alu);
        assert_eq!(scheduler.pick(6, &SharedPorts::default()), Some(1));
    }

    #[test]
    fn nothing_issues_before_its_port_is_free() {
        let mut scheduler = Scheduler::new(0, Policy::LooseRoundRobin);
        assert_eq!(scheduler.next, NEVER);
        scheduler.set_ready(0, 70, Port::Alu);
        scheduler.set_ready(1, 50, Port::Sfu);
        let shared = SharedPorts::default();
        scheduler.refresh(&shared);
        assert_eq!(scheduler.next, 50);
        scheduler.occupy(Port::Sfu, 90);
        assert!(scheduler.pick(60, &shared).is_none());
        scheduler.refresh(&shared);
        assert_eq!(scheduler.next, 70);
        assert_eq!(scheduler.pick(90, &shared), Some(1), "both can issue");
        scheduler.refresh(&shared);
        assert!(scheduler.next <= 90, "the other warp still can");
    }

    #[test]
    fn the_wheel_wakes_every_warp_in_its_cycle() {
        let mut scheduler = Scheduler::new(0, Policy::LooseRoundRobin);
        for start in [0, 1, 62, 63, 64, 1000] {
            for wait in [1, 2, 62, 63, 64, 65, 127, 128, 700] {
                let now = scheduler.turned + start;
                scheduler.turn(now);
                scheduler.set_ready(2, now + wait, Port::Alu);
                scheduler.refresh(&SharedPorts::default());
                assert_eq!(scheduler.next, now + wait, "from {now} for {wait}");
                assert!(
                    scheduler.pick(now + wait - 1, &SharedPorts::default()).is_none(),
                    "from {now} for {wait}"
                );
                scheduler.refresh(&SharedPorts::default());
                assert_eq!(scheduler.next, now + wait);
                assert_eq!(scheduler.pick(now + wait, &SharedPorts::default()), Some(2));
            }
        }
    }
}
