//! Warp scheduler (sub-core): warp selection and the account of its issue slots.
//!
//! A scheduler knows of each warp only its earliest next issue. Policies: loose round robin,
//! greedy-then-oldest, two-level (GPGPU-Sim's terms) and greedy-then-youngest (Huerta et al.,
//! MICRO'25).

mod port;
mod times;

use port::{PORTS, waiting};
pub(super) use port::{Port, SharedPorts};
use times::Times;

use super::native_fetch::UsedLines;
use super::read_ports::ReadPorts;
use super::requests::{QUEUES, Requests};
use crate::base::{Cycle, mix};
use crate::spec::Policy;

/// Cycle of a blocked warp or an empty slot.
pub(super) const NEVER: Cycle = Cycle::MAX;

/// Maximum warps per scheduler: one bit each in a word.
const WARPS: usize = 64;

/// Number of blocks that are looked through without a loop.
const OLDEST: usize = 4;

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
/// A cycle costs the same for one warp and for all: their next issues are compared at once.
#[derive(Clone)]
pub(super) struct Scheduler {
    /// Scheduler number on the SM.
    pub number: u32,
    policy: Policy,
    /// Cycle of the last selection.
    asked: Cycle,
    /// Next issue of each warp by its dependences and its own ports.
    times: Times,
    /// Warps by the port that they need next.
    needs: [u64; PORTS],
    /// Earliest next issue of each warp by its dependences, and the port it needs.
    ready: [Cycle; WARPS],
    port: [Port; WARPS],
    /// Order of admission by warp: smaller is older.
    age: [u64; WARPS],
    /// Place of each warp in the order of its block's warps: the lowest issues first.
    turn: [u64; WARPS],
    /// True if the selected warp moves to the end of this order when it issues.
    moves: bool,
    /// False if the last instruction lets other warps issue first.
    stays: bool,
    /// True for [`Policy::OldestBlock`] in machine code, whose control words say so.
    yields: bool,
    /// Warps by block, oldest block first, and former blocks with free slots.
    blocks: Vec<Cohort>,
    /// Warps of the oldest ones of `blocks`; empty if there are fewer.
    oldest: [u64; OLDEST],
    /// Warp issued last, and the cycle after its issue.
    last: usize,
    after_last: Cycle,
    /// Active set of the two-level policy, one bit per warp.
    active: u64,
    /// Cycle until which each of its own ports is busy.
    busy: [Cycle; PORTS],
    /// Cycle from which the special function unit is free (machine code, which queues for it).
    pub special_until: Cycle,
    /// Cycle from which the next BSYNC, WARPSYNC or election begins (machine code).
    pub next_turn: Cycle,
    /// Queues of requests to units of the SM (machine code).
    pub requests: [Requests; QUEUES],
    /// Read ports of the register file (machine code).
    pub ports: ReadPorts,
    /// Lines of its instruction cache (machine code).
    pub lines: UsedLines,
    /// Consecutive issues of the warp picked last, less one.
    pub run: u8,
    /// First cycle whose slot is not attributed yet.
    pub accounted: Cycle,
    /// Resident warps that have not ended.
    pub resident: u32,
    /// Cycle from which the tensor core is free for products of warpgroups.
    pub products_until: Cycle,
    /// Cycle until which arrivals of warps in their warpgroups take.
    pub arrivals_until: Cycle,
}

impl Scheduler {
    /// Creates a scheduler of `warps`.
    pub(super) fn new(number: u32, policy: Policy, warps: usize) -> Scheduler {
        Scheduler {
            number,
            policy,
            asked: 0,
            times: Times::new(warps),
            needs: std::array::from_fn(
                |port| if port == Port::Alu as usize { u64::MAX } else { 0 },
            ),
            ready: [NEVER; WARPS],
            port: [Port::Alu; WARPS],
            age: [0; WARPS],
            turn: [0; WARPS],
            moves: false,
            stays: true,
            yields: false,
            blocks: Vec::new(),
            oldest: [0; OLDEST],
            last: 0,
            after_last: 0,
            active: 0,
            busy: [0; PORTS],
            special_until: 0,
            products_until: 0,
            arrivals_until: 0,
            next_turn: 0,
            requests: [Requests::default(); QUEUES],
            ports: ReadPorts::default(),
            lines: UsedLines::NONE,
            run: 0,
            accounted: 0,
            resident: 0,
        }
    }

    /// Follows the control words of machine code, if it `yields`.
    pub(super) fn with_yields(self, yields: bool) -> Scheduler {
        Scheduler { yields: yields && self.policy == Policy::OldestBlock, ..self }
    }

    /// Admits a warp of the SM's `block`-th block.
    pub(super) fn admit(&mut self, warp: usize, age: u64, block: u64) {
        self.age[warp % WARPS] = age;
        self.turn[warp % WARPS] = 0;
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
        let blocks = &self.blocks;
        self.oldest = std::array::from_fn(|i| blocks.get(i).map_or(0, |cohort| cohort.warps));
    }

    /// Sets the earliest next issue of `warp` and the port it needs.
    ///
    /// The warp was picked or had nothing to issue.
    #[inline]
    pub(super) fn set_ready(&mut self, warp: usize, at: Cycle, port: Port) {
        // Without a branch: the next port is seldom the former one.
        let former = std::mem::replace(&mut self.port[warp % WARPS], port);
        self.needs[former as usize % PORTS] ^= 1 << warp;
        self.needs[port as usize % PORTS] ^= 1 << warp;
        self.ready[warp % WARPS] = at;
        self.times.set(warp, at.max(self.busy[port as usize % PORTS]));
    }

    /// Returns the cycle of the last selection.
    ///
    /// [`Scheduler::pick`] requires no earlier one.
    pub(super) fn asked(&self) -> Cycle {
        self.asked
    }

    /// Returns the cycle from which a port is free.
    #[inline]
    pub(super) fn free(&self, port: Port, shared: &SharedPorts) -> Cycle {
        let port = port as usize % PORTS;
        self.busy[port].max(shared.busy[port])
    }

    /// Begins a BSYNC, WARPSYNC or election, which holds up others. Returns its wait for those
    /// before it.
    pub(super) fn take_turn(&mut self, cycles: u32, now: Cycle) -> Cycle {
        let start = self.next_turn.max(now);
        self.next_turn = start + Cycle::from(cycles);
        start - now
    }

    /// Makes one of its own ports busy until `until`.
    #[inline]
    pub(super) fn occupy(&mut self, port: Port, until: Cycle) {
        self.busy[port as usize % PORTS] = until;
        self.times.delay(self.needs[port as usize % PORTS], until);
    }

    /// As [`Scheduler::occupy`], for some `cycles` from `now`, the cycle of the last selection, on.
    #[inline(always)]
    pub(super) fn occupy_for(&mut self, port: Port, cycles: u32, now: Cycle) {
        let (port, cycles) = (port as usize % PORTS, Cycle::from(cycles));
        self.busy[port] = now + cycles;
        self.times.delay_for(self.needs[port], cycles, now);
    }

    /// Returns the warps of `able` whose port the SM's schedulers do not share, or is free at `at`.
    #[inline(always)]
    fn not_held(&self, able: u64, at: Cycle, shared: &SharedPorts) -> u64 {
        if shared.are_free(at) {
            return able;
        }
        let waits = |port| waiting(shared.busy[port as usize], &self.needs, port, at);
        able & !(waits(Port::Lsu) | waits(Port::Global))
    }

    /// Returns a cycle before which no warp can issue, by dependences and its own ports.
    #[inline(always)]
    pub(super) fn expected(&self) -> Cycle {
        self.times.first([]).max(self.accounted).max(self.ports.until())
    }

    /// Returns the earliest issue of a warp by its dependences, in a free slot.
    #[inline]
    pub(super) fn ready(&self, warp: usize) -> Cycle {
        self.ready[warp % WARPS].max(self.accounted)
    }

    /// Returns the earliest issue by dependences and ports from the last selection on.
    pub(super) fn next(&self, shared: &SharedPorts) -> Cycle {
        self.soonest(shared).max(self.asked)
    }

    /// Returns the warps that dependences and ports let issue at `now`.
    #[inline(always)]
    fn can_issue(&mut self, now: Cycle, shared: &SharedPorts) -> u64 {
        self.asked = now;
        if self.times.is_over(now) {
            self.begin_times(now);
        }
        self.not_held(self.times.by(now), now, shared)
    }

    /// Gives the times a new base.
    #[inline(never)]
    fn begin_times(&mut self, now: Cycle) {
        let Scheduler { times, ready, port, busy, .. } = self;
        times.begin(now, |warp| {
            let warp = warp % WARPS;
            ready[warp].max(busy[port[warp] as usize % PORTS])
        });
    }

    /// Returns the earliest issue by dependences and ports.
    #[inline(never)]
    pub(super) fn soonest(&self, shared: &SharedPorts) -> Cycle {
        let held = [Port::Lsu, Port::Global].map(|port| port as usize);
        let mut first = self.times.first(held.map(|port| (self.needs[port], shared.busy[port])));
        if self.times.is_far(first) {
            let free = |warp: usize| self.ready[warp].max(self.free(self.port[warp], shared));
            first = (0..WARPS).map(free).min().unwrap_or(NEVER);
        }
        first.max(self.ports.until()).max(self.accounted)
    }

    /// Returns the warp that the policy issues at `now`, if any can issue.
    pub(super) fn pick(&mut self, now: Cycle, shared: &SharedPorts) -> Option<usize> {
        let warp = self.select(now, shared)?;
        self.take(warp, now);
        Some(warp)
    }

    /// Notes that `warp`, which [`Scheduler::select`] has just returned, issues at `now`. Its next
    /// issue must be set before the next selection.
    #[inline(always)]
    pub(super) fn take(&mut self, warp: usize, now: Cycle) {
        self.run = if warp == self.last { self.run.saturating_add(1) } else { 0 };
        (self.last, self.after_last) = (warp, now + 1);
    }

    /// Returns the warp that the policy issues at `now`, if any can, not before the last such
    /// cycle.
    #[inline(always)]
    pub(super) fn select(&mut self, now: Cycle, shared: &SharedPorts) -> Option<usize> {
        let can = self.can_issue(now, shared);
        if can == 0 || now < self.ports.until() {
            return None;
        }
        Some(self.choose(now, can, shared))
    }

    /// Returns the policy's choice among the warps that can issue (at least one).
    #[inline(always)]
    fn choose(&mut self, now: Cycle, can: u64, shared: &SharedPorts) -> usize {
        if self.yields {
            return self.of_control_words(can, shared);
        }
        match self.policy {
            Policy::LooseRoundRobin => self.round_robin(can),
            Policy::OldestBlock => {
                let greedy = u64::from(now == self.after_last) & can >> self.last;
                let turn = self.round_robin(self.of_oldest_block(can));
                if greedy & 1 == 1 { self.last } else { turn }
            }
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

    /// Returns the choice of [`Policy::OldestBlock`] in machine code, of the warps that can issue.
    #[inline(always)]
    fn of_control_words(&mut self, can: u64, shared: &SharedPorts) -> usize {
        let waited = |warp: usize, port: Port| self.ready[warp % WARPS] < self.free(port, shared);
        let port = self.port[self.last % WARPS];
        let stays = self.stays
            && can >> self.last & 1 == 1
            && !(port.has_queue() && waited(self.last, port));
        if stays {
            self.moves = false;
            return self.last;
        }
        let warp = self.in_turn(self.of_oldest_block(can));
        let port = self.port[warp % WARPS];
        // Without a branch, which a processor could not predict.
        self.moves = port.takes_turns() & waited(warp, port);
        warp
    }

    /// Ends the turn of the warp that issues an instruction of machine code at `now`.
    ///
    /// If its control word `yields`, others issue first. Then, and if the warp has waited for its
    /// port, it moves to the end of its block's order.
    #[inline(always)]
    pub(super) fn end_turn(&mut self, yields: bool, now: Cycle) {
        self.stays = !yields;
        let turn = &mut self.turn[self.last % WARPS];
        *turn = if self.moves | yields { place(now, 0) } else { *turn };
    }

    /// Moves a warp to the end of its block's order at `now`.
    ///
    /// Of warps moved in one cycle, that with the lowest `rank` (below 64) is first.
    pub(super) fn move_to_end(&mut self, warp: usize, now: Cycle, rank: u32) {
        self.turn[warp % WARPS] = place(now, rank);
    }

    /// Returns the first warp of `among` (not empty) in their block's order.
    #[inline(always)]
    fn in_turn(&self, among: u64) -> usize {
        let mut first = among.trailing_zeros() as usize;
        let mut others = among & (among - 1);
        while others != 0 {
            let warp = others.trailing_zeros() as usize;
            if self.turn[warp % WARPS] < self.turn[first % WARPS] {
                first = warp;
            }
            others &= others - 1;
        }
        first
    }

    /// Returns the warps of `among` (not empty) in its oldest block.
    #[inline(always)]
    fn of_oldest_block(&self, among: u64) -> u64 {
        // Selected without branches, from the youngest of them to the oldest.
        let older = |found: u64, &warps: &u64| match warps & among {
            0 => found,
            warps => warps,
        };
        match self.oldest.iter().rev().fold(0, older) {
            0 => self.of_younger_blocks(among),
            found => found,
        }
    }

    /// As [`Scheduler::of_oldest_block`], if no warp is in one of the oldest blocks.
    #[inline(never)]
    fn of_younger_blocks(&self, among: u64) -> u64 {
        let younger = self.blocks.iter().skip(OLDEST).map(|cohort| cohort.warps & among);
        younger.into_iter().find(|&warps| warps != 0).unwrap_or(among)
    }

    /// Returns a pseudo-random member of `among` (not empty).
    #[inline(never)]
    fn drawn(&self, now: Cycle, among: u64, seed: u64) -> usize {
        let ready: Vec<usize> = bits(among).collect();
        let draw = mix(seed ^ now << 8 ^ u64::from(self.number)) as usize;
        ready.get(draw % ready.len().max(1)).copied().unwrap_or_default()
    }

    /// Returns the next warp of `among` (not empty) after the last issued one.
    #[inline(always)]
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

/// Returns the place in a block's order of a warp that moved to its end at `now`, of all those that
/// did so with a lower `rank` first.
#[inline(always)]
fn place(now: Cycle, rank: u32) -> u64 {
    now << 6 | u64::from(rank % 64)
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
mod tests;
