//! Atomic units of L2, for machine code.
//!
//! Each unit serves neighboring lines, one sector at a time: lanes on distinct words of a sector
//! together, lanes on one word one after the other. An SM's path to the units holds a number of
//! such rounds; when it is full, the load/store unit stops, and a warp that exits waits for its
//! requests (`drain`). The SMs that have used a chunk share its unit, some with a smaller share. If
//! they run in the order of cycles, which they need not with reductions alone, a request waits only
//! for those that are there. Measured on an H200 with atomics on one word, one line and random
//! words (docs/calibration.md). Not modeled: the real hash, combining of equal requests, and weak
//! accesses to a word that atomics wait for.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::cache::{LINE, SECTOR};
use super::stores::FINE;
use super::unevenness::unevenness;
use crate::base::{Cycle, LaneMask, MAX_LANES, SmId, mix};
use crate::exec::MemoryAccess;
use crate::isa::Type;
use crate::kernel::{Atomic, AtomicFn, AtomicForm, Op};
use crate::spec::AtomicRates;

/// Atomic operations by what they cost in L2 and in the banks of shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Weight {
    /// Integer operations and exchanges.
    Plain,
    /// Numbers of lanes, added to shared memory.
    Count,
    /// Compare-and-swap.
    Compare,
    /// Compare-and-swap of one lane of each bank of shared memory.
    Cast,
    /// Floating-point additions.
    Float,
    /// Floating-point additions of 64 bits.
    Double,
}

impl Weight {
    /// Returns the weight of an instruction.
    pub(super) fn of(op: &Op) -> Weight {
        let Some(&Atomic { f, ty, form, .. }) = op.atomic() else { return Weight::Plain };
        match (form, f, ty) {
            (AtomicForm::Cast, ..) => Weight::Cast,
            (AtomicForm::Count, ..) => Weight::Count,
            (_, AtomicFn::Cas, _) => Weight::Compare,
            (_, AtomicFn::Add, Type::F16 | Type::F32) => Weight::Float,
            (_, AtomicFn::Add, Type::F64) => Weight::Double,
            _ => Weight::Plain,
        }
    }
}

/// Lanes on one word beyond which each takes longer.
const CROWD: u32 = 4;

/// Use of the units by all SMs.
pub(super) struct AtomicUnits {
    rates: AtomicRates,
    /// True if SMs access the units in the order of cycles.
    ordered: bool,
    state: Mutex<UnitState>,
}

/// State of the units, for checkpoints.
#[derive(Clone, Default)]
pub(super) struct UnitState {
    /// SMs that have used each chunk, one bit each.
    users: BTreeMap<u64, Vec<u64>>,
    /// Arrival cycle of lines that atomics have brought to L2.
    lines: BTreeMap<u64, Cycle>,
    /// Fine time until which each unit is busy, if SMs access them in order.
    free: Vec<u64>,
}

impl UnitState {
    /// Counts the SMs that have used a chunk, `sm` included.
    fn users(&mut self, chunk: u64, sm: SmId) -> u64 {
        let seen = self.users.entry(chunk).or_default();
        let word = sm.0 as usize / 64;
        seen.resize(seen.len().max(word + 1), 0);
        seen[word] |= 1 << (sm.0 % 64);
        count(seen)
    }
}

fn count(sms: &[u64]) -> u64 {
    sms.iter().map(|bits| u64::from(bits.count_ones())).sum()
}

impl AtomicUnits {
    /// Creates idle units, which SMs access in the order of cycles if `ordered`.
    pub(super) fn new(rates: AtomicRates, ordered: bool) -> AtomicUnits {
        let free = vec![0; rates.units.max(1) as usize];
        let state = Mutex::new(UnitState { free, ..UnitState::default() });
        AtomicUnits { rates, ordered, state }
    }

    fn state(&self) -> MutexGuard<'_, UnitState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns a copy of the state.
    pub(super) fn save(&self) -> UnitState {
        self.state().clone()
    }

    /// Restores a state.
    pub(super) fn restore(&self, state: &UnitState) {
        self.state().clone_from(state);
    }

    /// Returns the cycle at which an atomic brought a line to L2, or records `at`.
    pub(super) fn brought(&self, line: u64) -> Option<Cycle> {
        self.state().lines.get(&line).copied()
    }

    /// Records that a line arrives in L2 at `at`.
    pub(super) fn bring(&self, line: u64, at: Cycle) {
        self.state().lines.insert(line, at);
    }

    /// Returns true if all `sms` have used the chunks of an access and its lines are in L2: later
    /// accesses change nothing that other SMs see of the units.
    pub(super) fn are_settled(
        &self,
        lanes: LaneMask,
        addresses: &[u64; MAX_LANES],
        sms: u32,
    ) -> bool {
        let state = self.state();
        let mut last = None;
        lanes.lanes().all(|lane| {
            let address = addresses[lane as usize % MAX_LANES];
            let place = (self.chunk(address), address / LINE);
            last.replace(place) == Some(place)
                || state.lines.contains_key(&place.1)
                    && state.users.get(&place.0).is_some_and(|users| count(users) == u64::from(sms))
        })
    }

    /// Returns the cycles for which an access at `now` waits for the atomics before it.
    pub(super) fn wait(&self, lanes: LaneMask, addresses: &[u64; MAX_LANES], now: Cycle) -> Cycle {
        let state = self.state();
        let mut last = None;
        let mut free = 0;
        for lane in lanes.lanes() {
            let chunk = self.chunk(addresses[lane as usize % MAX_LANES]);
            if last.replace(chunk) != Some(chunk) {
                free = free.max(state.free[self.unit(chunk)] / FINE);
            }
        }
        free.saturating_sub(now).min(self.rates.queue.into())
    }

    /// Returns the unit of a chunk.
    fn unit(&self, chunk: u64) -> usize {
        mix(chunk) as usize % self.rates.units.max(1) as usize
    }

    /// Returns the chunk of an address.
    fn chunk(&self, address: u64) -> u64 {
        address / u64::from(self.rates.chunk.max(1))
    }

    /// Returns the fine time of `rounds` on a sector.
    fn cost(&self, weight: Weight, rounds: u32) -> u64 {
        let rate = match weight {
            Weight::Compare | Weight::Cast => self.rates.compare,
            Weight::Float | Weight::Double if rounds > 1 => self.rates.float,
            Weight::Double => 2.0 * self.rates.round,
            Weight::Plain | Weight::Count if rounds > CROWD => self.rates.crowd,
            Weight::Plain | Weight::Count | Weight::Float => self.rates.round,
        };
        (rate * FINE as f64) as u64 * u64::from(rounds)
    }

    /// Returns the fine factor by which an SM's share of a unit is slower than a fair one.
    ///
    /// It takes every value from 1 to that of the slowest SM. A compare-and-swap has an answer, so
    /// that its SMs wait for each other.
    fn lag(&self, weight: Weight, sm: SmId) -> u64 {
        let slowest = if weight == Weight::Compare { 0.0 } else { self.rates.slowest };
        ((1.0 + slowest * unevenness(sm)) * FINE as f64) as u64
    }
}

/// Path of one SM to the units.
#[derive(Clone, Default)]
pub(super) struct AtomicPath {
    /// Fine time until which the SM's share of each unit is busy.
    free: Vec<u64>,
    /// Requests under way: cycle at which their unit starts with them, and places that they take.
    waiting: VecDeque<(Cycle, u32)>,
    /// Sum of their places.
    held: u32,
    /// Cycle at which the path has room.
    pub room: Cycle,
}

impl AtomicPath {
    /// Sends an atomic access of an SM at a cycle. Returns its delay by other atomics.
    pub(super) fn send(
        &mut self,
        units: &AtomicUnits,
        weight: Weight,
        access: MemoryAccess,
        addresses: &[u64; MAX_LANES],
        (sm, now): (SmId, Cycle),
    ) -> Cycle {
        let mut state = units.state();
        self.free.resize(units.rates.units.max(1) as usize, 0);
        let mut delay = 0;
        let mut words = [0; MAX_LANES];
        let mut len = 0;
        for lane in access.lanes.lanes() {
            words[len] = addresses[lane as usize % MAX_LANES];
            len += 1;
        }
        words[..len].sort_unstable();
        for sector in words[..len].chunk_by(|a, b| a / SECTOR == b / SECTOR) {
            let rounds = sector.chunk_by(|a, b| a == b).map(<[u64]>::len).max().unwrap_or(1) as u32;
            let chunk = units.chunk(sector[0]);
            let unit = units.unit(chunk);
            let cost = units.cost(weight, rounds);
            let start = self.free[unit].max(now * FINE);
            let mut end = start + cost * state.users(chunk, sm) * units.lag(weight, sm) / FINE;
            if units.ordered {
                // No longer than the requests that are there.
                let all = state.free[unit].max(now * FINE) + cost;
                state.free[unit] = all;
                end = end.min(all.max(start + cost));
            }
            self.free[unit] = end;
            delay = delay.max((end - cost) / FINE - now);
            // Each further round of a sector takes the place of two.
            let held = 2 * rounds - 1;
            self.waiting.push_back((start / FINE, held));
            self.held += held;
        }
        while self.waiting.front().is_some_and(|&(start, _)| start <= now) {
            self.pop();
        }
        while self.held > units.rates.path
            && let Some(start) = self.pop()
        {
            self.room = self.room.max(start);
        }
        delay
    }

    fn pop(&mut self) -> Option<Cycle> {
        let (start, held) = self.waiting.pop_front()?;
        self.held -= held;
        Some(start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exec::AccessKind;
    use crate::isa::Space;

    const RATES: AtomicRates = AtomicRates {
        units: 96,
        chunk: 512,
        round: 1.0,
        compare: 2.0,
        float: 4.0,
        crowd: 1.25,
        slowest: 0.0,
        path: 10,
        queue: 1000,
    };

    fn atomic() -> MemoryAccess {
        MemoryAccess {
            space: Space::Global,
            kind: AccessKind::Atomic,
            lanes: LaneMask::FULL,
            bytes: 4,
            bypass_l1: true,
            changed: true,
            row: false,
        }
    }

    /// Returns the cycles between two of many accesses of two SMs in turn.
    fn pace(weight: Weight, address: impl Fn(u64) -> u64) -> u64 {
        let addresses = std::array::from_fn(|lane| address(lane as u64));
        let [ordered, shared] = [true, false].map(|ordered| {
            let units = AtomicUnits::new(RATES, ordered);
            let mut paths = [AtomicPath::default(), AtomicPath::default()];
            let mut last = 0;
            for i in 0..400 {
                let sm = SmId(i as u32 % 2);
                last = paths[i % 2].send(&units, weight, atomic(), &addresses, (sm, 0));
            }
            last / 399
        });
        assert_eq!(ordered, shared);
        shared
    }

    #[test]
    fn a_unit_serves_a_sector_at_a_time_and_a_word_lane_by_lane() {
        assert_eq!(pace(Weight::Plain, |lane| 4096 + 4 * lane), 4, "four sectors");
        assert_eq!(pace(Weight::Plain, |lane| 4096 + 4 * (lane % 8)), 4, "four lanes on a word");
        assert_eq!(pace(Weight::Plain, |_| 4096), 40, "one word");
        assert_eq!(pace(Weight::Compare, |lane| 4096 + 4 * lane), 8);
        assert_eq!(pace(Weight::Float, |_| 4096), 128);
    }

    #[test]
    fn a_full_path_has_room_when_its_oldest_requests_start() {
        let units = AtomicUnits::new(RATES, false);
        let addresses = [4096; MAX_LANES];
        let mut path = AtomicPath::default();
        path.send(&units, Weight::Plain, atomic(), &addresses, (SmId(0), 100));
        assert_eq!(path.room, 0, "it has started");
        path.send(&units, Weight::Plain, atomic(), &addresses, (SmId(0), 100));
        assert_eq!(path.room, 140);
    }

    #[test]
    fn in_order_an_sm_waits_only_for_requests_that_are_there() {
        let units = AtomicUnits::new(RATES, true);
        let addresses = [4096; MAX_LANES];
        let mut paths = [AtomicPath::default(), AtomicPath::default()];
        let mut send = |sm: u32, now| {
            let path = &mut paths[sm as usize];
            path.send(&units, Weight::Plain, atomic(), &addresses, (SmId(sm), now))
        };
        // 32 lanes on one word take 40 cycles.
        assert_eq!([send(0, 0), send(1, 0), send(0, 100), send(1, 130)], [0, 40, 0, 10]);
        let lanes = LaneMask::FULL;
        assert_eq!([150, 170, 180].map(|now| units.wait(lanes, &addresses, now)), [30, 10, 0]);
        assert_eq!(units.wait(lanes, &[8192; MAX_LANES], 150), 0, "another unit");
    }

    #[test]
    fn a_checkpoint_restores_the_units() {
        let units = AtomicUnits::new(RATES, false);
        let saved = units.save();
        let addresses = [4096; MAX_LANES];
        let mut paths = [AtomicPath::default(), AtomicPath::default()];
        paths[0].send(&units, Weight::Plain, atomic(), &addresses, (SmId(0), 0));
        units.bring(7, 700);
        units.restore(&saved);
        let delay = paths[1].send(&units, Weight::Plain, atomic(), &addresses, (SmId(1), 0));
        assert_eq!((delay, units.brought(7)), (0, None), "the only user");
    }
}
