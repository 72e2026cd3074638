//! Atomic units of L2, for machine code.
//!
//! Each unit serves neighboring lines in rounds: lanes on distinct words of a sector together,
//! lanes on one word one after the other; the next floating-point addition to a sector waits for
//! the last one. An SM's path to the units holds packets, one for each round of a sector; when it
//! is full, the load/store unit stops. What a unit has no room for is still in the SM, and loads
//! that miss in L1 leave it later. The SMs that have used a chunk share its unit, some with a
//! larger share. If they run in the order of cycles, which they need not with reductions alone, a
//! request waits only for those that are there. Measured on an H200 (docs/calibration.md, *Global
//! atomics*). Not modeled: the GPU's hash of addresses, and that loads wait for reductions of other
//! SMs.

mod rounds;
mod users;

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use foldhash::fast::FixedState;
use rounds::{Work, work};
use users::Users;

use super::cache::LINE;
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

/// Neighboring chunks of a pair of units.
const CHUNKS: u64 = 4;

/// Use of the units by all SMs.
pub(super) struct AtomicUnits {
    rates: AtomicRates,
    /// True if SMs access the units in the order of cycles.
    ordered: bool,
    /// First addresses of buffers, ascending.
    buffers: Vec<u64>,
    state: Mutex<UnitState>,
}

/// State of the units, for checkpoints.
#[derive(Clone, Default)]
pub(super) struct UnitState {
    users: Users,
    /// Arrival cycle of lines that atomics have brought to L2.
    lines: HashMap<u64, Cycle, FixedState>,
    /// Fine time until which each unit is busy, if SMs access them in order.
    free: Vec<u64>,
}

impl AtomicUnits {
    /// Creates idle units for buffers at ascending addresses, which `sms` SMs access, in the order
    /// of cycles if `ordered`.
    pub(super) fn new(
        rates: AtomicRates,
        (sms, ordered): (u32, bool),
        buffers: Vec<u64>,
    ) -> AtomicUnits {
        let (users, free) = (Users::new(sms), vec![0; rates.units as usize]);
        let state = Mutex::new(UnitState { users, free, ..UnitState::default() });
        AtomicUnits { rates, ordered, buffers, state }
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
        let mut chunk = self.chunks();
        let mut last = None;
        lanes.lanes().all(|lane| {
            let address = addresses[lane as usize % MAX_LANES];
            let place = (chunk(address), address / LINE);
            last.replace(place) == Some(place)
                || state.lines.contains_key(&place.1)
                    && state.users.count(place.0) == u64::from(sms)
        })
    }

    /// Returns the cycles for which an access at `now` waits for the atomics before it.
    pub(super) fn wait(&self, lanes: LaneMask, addresses: &[u64; MAX_LANES], now: Cycle) -> Cycle {
        let state = self.state();
        let mut chunks = self.chunks();
        let mut last = None;
        let mut free = 0;
        for lane in lanes.lanes() {
            let chunk = chunks(addresses[lane as usize % MAX_LANES]);
            if last.replace(chunk) != Some(chunk) {
                free = free.max(state.free[self.unit(chunk)] / FINE);
            }
        }
        free.saturating_sub(now).min(self.rates.queue.into())
    }

    /// Returns the unit of a chunk. A pair of units has [`CHUNKS`] in turn; four such pieces have
    /// four pairs.
    fn unit(&self, chunk: u64) -> usize {
        let pairs = u64::from(self.rates.units / 2);
        let place = chunk / CHUNKS;
        let pair = mix(place / 4) + place % 4 * (pairs / 4 + 1);
        (pair % pairs * 2 + chunk % 2) as usize
    }

    /// Returns a function from addresses to chunks, which looks up a buffer where it changes.
    ///
    /// Buffers lie closer to each other than a GPU's: each starts with the first chunk of a pair of
    /// units.
    fn chunks(&self) -> impl FnMut(u64) -> u64 {
        let bytes = u64::from(self.rates.chunk.max(1));
        let (mut buffer, mut shift) = (0..0, 0);
        move |address| {
            if !buffer.contains(&address) {
                let after = self.buffers.partition_point(|&start| start <= address);
                let start = after.checked_sub(1).map_or(0, |last| self.buffers[last]);
                buffer = start..self.buffers.get(after).copied().unwrap_or(u64::MAX);
                shift = start % (CHUNKS * bytes);
            }
            (address - shift) / bytes
        }
    }

    /// Returns the fine part of a fair share of a unit's time that an SM needs for its requests.
    ///
    /// It takes every value from that of the fastest SM to 1. A compare-and-swap has an answer, so
    /// that its SMs wait for each other.
    fn share(&self, weight: Weight, sm: SmId) -> u64 {
        let fastest = if weight == Weight::Compare { 0.0 } else { self.rates.fastest };
        ((1.0 - fastest * (1.0 - unevenness(sm))) * FINE as f64) as u64
    }
}

/// Path of one SM to the units.
#[derive(Clone, Default)]
pub(super) struct AtomicPath {
    /// Fine time until which the SM's share of each unit is busy.
    free: Vec<u64>,
    /// Chunk that each unit served last, and its sectors, one bit each.
    last: Vec<(u64, u32)>,
    /// Requests under way: cycle at which their unit starts with them, and words of their packets.
    waiting: VecDeque<(Cycle, u32)>,
    /// Sum of their words.
    held: u32,
    /// True once the path was full.
    is_late: bool,
    /// Cycle at which the path has room.
    pub room: Cycle,
    /// Cycle at which all requests have left the SM.
    sent: Cycle,
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
        self.free.resize(units.rates.units as usize, 0);
        self.last.resize(self.free.len(), (u64::MAX, 0));
        let mut delay = 0;
        let mut words = [0; MAX_LANES];
        let mut len = 0;
        for lane in access.lanes.lanes() {
            words[len] = addresses[lane as usize % MAX_LANES];
            len += 1;
        }
        let words = &mut words[..len];
        words.sort_unstable();
        let mut chunk_of = units.chunks();
        let weight = match weight {
            // Measured: several lanes on one word take the time of others.
            Weight::Compare if words.len() > 1 && words.first() == words.last() => Weight::Plain,
            _ => weight,
        };
        let mut rest = &words[..];
        while let Some(&first) = rest.first() {
            let chunk = chunk_of(first);
            let (piece, after) =
                rest.split_at(rest.iter().take_while(|&&word| chunk_of(word) == chunk).count());
            rest = after;
            let unit = units.unit(chunk);
            let Work { cost, size, sectors } =
                work(&units.rates, (weight, access.bytes), piece, self.sectors(unit, chunk));
            self.last[unit] = (chunk, sectors);
            let users = state.users.add(chunk, sm);
            let start = self.free[unit].max(now * FINE);
            let mut end = start + (cost * users * units.share(weight, sm) / FINE).max(cost);
            if units.ordered {
                // No longer than the requests that are there.
                let all = state.free[unit].max(now * FINE) + cost;
                state.free[unit] = all;
                end = end.min(all.max(start + cost));
            }
            self.free[unit] = end;
            delay = delay.max((end - cost) / FINE - now);
            let start = start / FINE;
            let room = (users * u64::from(units.rates.room_of_sm)).min(units.rates.room.into());
            self.sent = self.sent.max(start.saturating_sub(room));
            self.waiting.push_back((start, size));
            self.held += size;
        }
        while self.waiting.front().is_some_and(|&(start, _)| start <= now) {
            self.pop();
        }
        if self.held > units.rates.path && !self.is_late {
            self.fall_behind(units.rates.late * unevenness(sm).powi(4), now);
        }
        while self.held > units.rates.path
            && let Some(start) = self.pop()
        {
            self.room = self.room.max(start);
        }
        delay
    }

    /// Returns the sectors of a chunk that its unit served last, one bit each.
    fn sectors(&self, unit: usize, chunk: u64) -> u32 {
        let (last, sectors) = self.last[unit];
        if last == chunk { sectors } else { 0 }
    }

    /// Returns the cycle until which the requests of the SM delay a load of a line.
    ///
    /// In the order of cycles, [`AtomicUnits::wait`] has the delay in its unit.
    pub(super) fn ahead(&self, units: &AtomicUnits, line: u64) -> Cycle {
        if self.free.is_empty() {
            return 0;
        }
        let in_unit = match units.ordered {
            true => 0,
            false => self.free[units.unit(units.chunks()(line * LINE))] / FINE,
        };
        self.sent.max(in_unit)
    }

    /// Delays the requests under way at `now` by a part of their time: others are served first.
    fn fall_behind(&mut self, part: f64, now: Cycle) {
        self.is_late = true;
        let last = self.waiting.back().map_or(now, |&(start, _)| start);
        let late = (part * last.saturating_sub(now) as f64) as Cycle;
        self.waiting.iter_mut().for_each(|(start, _)| *start += late);
        for free in self.free.iter_mut().filter(|free| **free > now * FINE) {
            *free += late * FINE;
        }
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
        chunk: 256,
        round: 1.0,
        partial: 1.25,
        compare: 2.0,
        float: 4.0,
        fastest: 0.0,
        path: 10,
        late: 0.0,
        queue: 1000,
        room: 1000,
        room_of_sm: 15,
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
            let units = AtomicUnits::new(RATES, (2, ordered), Vec::new());
            let mut paths = [AtomicPath::default(), AtomicPath::default()];
            let mut last = 0;
            for i in 0..400 {
                let sm = SmId(i as u32 % 2);
                last = paths[i % 2].send(&units, weight, atomic(), &addresses, (sm, 0));
            }
            last.div_ceil(399)
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
        assert_eq!(pace(Weight::Compare, |_| 4096), 40, "one word");
    }

    #[test]
    fn sums_of_floats_wait_for_those_before_them_on_their_sector() {
        assert_eq!(pace(Weight::Float, |_| 4096), 128);
        assert_eq!(pace(Weight::Float, |lane| 4096 + 32 * (lane % 2)), 64, "two sectors");
        assert_eq!(pace(Weight::Float, |lane| 4096 + 32 * (lane % 4)), 40, "no more than integers");
    }

    #[test]
    fn a_full_path_has_room_when_its_oldest_requests_start() {
        let units = AtomicUnits::new(RATES, (2, false), Vec::new());
        let addresses = [4096; MAX_LANES];
        let mut path = AtomicPath::default();
        path.send(&units, Weight::Plain, atomic(), &addresses, (SmId(0), 100));
        assert_eq!(path.room, 0, "it has started");
        path.send(&units, Weight::Plain, atomic(), &addresses, (SmId(0), 100));
        assert_eq!(path.room, 140);
        assert_eq!(path.sent, 125, "the unit has room for 15 cycles of work");
    }

    #[test]
    fn in_order_an_sm_waits_only_for_requests_that_are_there() {
        let units = AtomicUnits::new(RATES, (2, true), Vec::new());
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
        let units = AtomicUnits::new(RATES, (2, false), Vec::new());
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
