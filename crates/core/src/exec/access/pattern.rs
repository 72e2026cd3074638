//! Loads and stores of words at the addresses of an earlier access, moved by a constant.
//!
//! Warps mostly access memory as their block's last warp did. Then one comparison of addresses
//! replaces the resolution and check of each lane.

use super::check::{WithAddresses, with_addresses};
use super::elements::{WORD, in_order_of_stores};
use super::{Addresses, LaneMask, MAX_LANES};
use crate::exec::lanes::{Vectors, fill_each, vectorized};
use crate::exec::memory::{Segment, SharedMemory, Words};
use crate::exec::{GlobalMemory, RegisterFile};
use crate::isa::Space;
use crate::kernel::{AddressBase, Load, Op, Store};

/// Runs of lanes that a pattern remembers.
const MOST_RUNS: usize = 4;

/// Lanes in order that access adjacent words, or all the same.
#[derive(Clone, Copy, Default)]
struct Run {
    lane: usize,
    lanes: usize,
    /// Offset of the first lane, as in [`Pattern::offsets`].
    offset: u64,
    /// Bytes from one lane to the next: those of a word, or 0.
    step: u64,
}

impl Run {
    /// Adds the next lane of an access. Returns false if it does not continue the run.
    fn add(&mut self, lane: usize, offset: u64) -> bool {
        let step = offset.wrapping_sub(self.offset);
        if self.lanes == 1 && matches!(step, 0 | WORD) {
            self.step = step;
        }
        let continues = lane == self.lane + self.lanes && step == self.step * self.lanes as u64;
        self.lanes += usize::from(continues);
        continues
    }
}

/// Addresses of an access, which may move by multiples of a period.
#[derive(Clone)]
pub struct Pattern {
    lanes: LaneMask,
    /// The lowest lane.
    lowest: usize,
    /// Bits of an address that are within the period.
    within: u64,
    /// Place of the lowest lane's address within the period.
    place: u64,
    /// Address by lane, from that of the lowest; 0 outside of `lanes`.
    offsets: Addresses,
    /// All ones for each lane of the access.
    is_in: Addresses,
    /// True if the access has few lanes.
    is_sparse: bool,
    /// Bytes from the lowest address to that of the lowest lane, and to the end of the last word;
    /// the latter is more than any memory has if addresses are not aligned.
    extent: (u64, u64),
    /// True if lane `l` accesses the word that is `l` words after lane 0.
    is_row: bool,
    /// Runs of lanes; none if they are many or short.
    runs: [Run; MOST_RUNS],
    run_count: usize,
    vectors: Vectors,
}

impl Pattern {
    /// Creates the pattern of an access of some lanes to words, `bytes` per lane.
    ///
    /// `period` is a power of two.
    pub fn new(lanes: LaneMask, addresses: &Addresses, bytes: u64, period: u64) -> Pattern {
        let lowest = lanes.lowest().unwrap_or(0) as usize % MAX_LANES;
        let first = addresses[lowest];
        let vectors = Vectors::default();
        let (mut is_in, mut offsets) = ([0; MAX_LANES], [0; MAX_LANES]);
        let (low, high, all, unlike_row) = vectorized(
            vectors,
            #[inline(always)]
            |_| {
                for (lane, is_in) in is_in.iter_mut().enumerate() {
                    *is_in = u64::from(lanes.0 >> lane & 1).wrapping_neg();
                }
                for (lane, offset) in offsets.iter_mut().enumerate() {
                    *offset = addresses[lane].wrapping_sub(first) & is_in[lane];
                }
                let (mut low, mut high, mut all, mut unlike_row) = (0, 0, 0, 0);
                for (lane, &offset) in offsets.iter().enumerate() {
                    (low, high) = ((offset as i64).min(low), (offset as i64).max(high));
                    all |= offset;
                    let in_row = (lane as u64).wrapping_sub(lowest as u64).wrapping_mul(WORD);
                    unlike_row |= (offset ^ in_row) & is_in[lane];
                }
                (low, high, all, unlike_row)
            },
        );
        let (runs, run_count) = runs(lanes, &offsets);
        // Wild addresses are in no memory.
        let span = high.checked_sub(low).map_or(u64::MAX, |bytes| bytes as u64);
        let is_aligned = (first | all | period) & (bytes - 1) == 0;
        let extent = if is_aligned { span.saturating_add(bytes) } else { u64::MAX };
        let within = period.wrapping_sub(1);
        Pattern {
            lanes,
            lowest,
            within,
            place: first & within,
            offsets,
            is_in,
            is_sparse: lanes.is_sparse(),
            extent: (low.unsigned_abs(), extent),
            is_row: bytes == WORD && unlike_row == 0,
            runs,
            run_count,
            vectors,
        }
    }

    /// Returns true if an access whose lowest lane's address is `first` may have this pattern.
    #[inline(always)]
    pub fn may_begin(&self, first: u64) -> bool {
        first & self.within == self.place
    }

    /// Returns the address of the lowest lane if the lanes' addresses have this pattern.
    #[inline(always)]
    pub fn first(&self, address: impl Fn(usize) -> u64) -> Option<u64> {
        let first = address(self.lowest);
        if !self.may_begin(first) {
            return None;
        }
        let difference = |lane: usize| address(lane).wrapping_sub(first) ^ self.offsets[lane];
        let mut differs = 0;
        if self.is_sparse {
            for lane in self.lanes.lanes() {
                differs |= difference(lane as usize % MAX_LANES);
            }
        } else {
            let is_in = &self.is_in;
            differs = vectorized(
                self.vectors,
                #[inline(always)]
                move |_| {
                    let mut differs = 0;
                    for (lane, is_in) in is_in.iter().enumerate() {
                        differs |= difference(lane) & is_in;
                    }
                    differs
                },
            );
        }
        (differs == 0).then_some(first)
    }

    /// Returns the lowest address, and the number of bytes to the end of the highest word.
    #[inline(always)]
    fn range(&self, first: u64) -> (u64, u64) {
        let (below, bytes) = self.extent;
        (first.wrapping_sub(below), bytes)
    }

    /// Returns the address of lane 0, even if it is absent, for lanes in a row.
    #[inline(always)]
    fn row(&self, first: u64) -> Option<u64> {
        let before = self.lowest as u64 * WORD;
        (self.is_row && !self.is_sparse).then(|| first.wrapping_sub(before))
    }

    /// Loads the words of each lane: mostly one.
    #[inline(always)]
    fn load_all(&self, memory: &impl Words, first: u64, op: &Load, registers: &mut RegisterFile) {
        match op.d[0].filter(|_| op.access.count == 1) {
            Some(d) => self.load(memory, first, &mut registers.narrow[usize::from(d.0)]),
            None => self.load_several(memory, first, op, registers),
        }
    }

    #[inline(never)]
    fn load_several(
        &self,
        memory: &impl Words,
        first: u64,
        op: &Load,
        registers: &mut RegisterFile,
    ) {
        let mut at = first;
        for d in op.d.iter().take(op.access.count.into()) {
            if let Some(d) = d {
                self.load(memory, at, &mut registers.narrow[usize::from(d.0)]);
            }
            at = at.wrapping_add(WORD);
        }
    }

    /// Stores the words of each lane: mostly one. Returns true if any changed.
    #[inline(always)]
    fn store_all(
        &self,
        memory: &mut impl Words,
        first: u64,
        op: &Store,
        registers: &RegisterFile,
    ) -> bool {
        match op.access.count {
            1 => self.store(memory, (first, WORD), &registers.narrow[usize::from(op.s[0].0)]),
            _ => self.store_several(memory, first, op, registers),
        }
    }

    #[inline(never)]
    fn store_several(
        &self,
        memory: &mut impl Words,
        first: u64,
        op: &Store,
        registers: &RegisterFile,
    ) -> bool {
        let bytes = WORD * u64::from(op.access.count);
        let (mut at, mut changed) = (first, false);
        for s in op.s.iter().take(op.access.count.into()) {
            changed |= self.store(memory, (at, bytes), &registers.narrow[usize::from(s.0)]);
            at = at.wrapping_add(WORD);
        }
        changed
    }

    /// Loads one word per lane.
    #[inline(always)]
    fn load(&self, memory: &impl Words, first: u64, d: &mut [u32; MAX_LANES]) {
        if let Some(address) = self.row(first)
            && memory.load_row(address, self.lanes, d)
        {
            return;
        }
        if self.run_count > 0 {
            for run in self.runs.iter().take(self.run_count) {
                let (from, d) = (first.wrapping_add(run.offset), &mut d[run.lane..][..run.lanes]);
                match run.step {
                    0 => d.fill(memory.load(run.lane, from)),
                    _ => memory.load_run(from, d),
                }
            }
            return;
        }
        let address = |lane: usize| first.wrapping_add(self.offsets[lane]);
        fill_each(d, self.lanes, |lane| memory.load(lane, address(lane)));
    }

    /// Stores one word per lane, at `first` and the offsets, of the `bytes` that the instruction
    /// stores for each. Returns true if any changed.
    #[inline(always)]
    fn store(
        &self,
        memory: &mut impl Words,
        (first, bytes): (u64, u64),
        s: &[u32; MAX_LANES],
    ) -> bool {
        if let Some(address) = self.row(first)
            && let Some(changed) = memory.store_row(address, self.lanes, s)
        {
            return changed;
        }
        let mut changed = false;
        in_order_of_stores(self.lanes, bytes, |lane| {
            changed |= memory.store(lane, first.wrapping_add(self.offsets[lane]), s[lane]);
        });
        changed
    }
}

/// Returns the runs of lanes and their number; 0 if they are many or short.
fn runs(lanes: LaneMask, offsets: &Addresses) -> ([Run; MOST_RUNS], usize) {
    let (mut runs, mut count) = ([Run::default(); MOST_RUNS], 0_usize);
    for lane in lanes.lanes() {
        let lane = lane as usize % MAX_LANES;
        let last = runs.get_mut(count.wrapping_sub(1));
        if last.is_some_and(|run| run.add(lane, offsets[lane])) {
            continue;
        }
        let Some(run) = runs.get_mut(count) else { return (runs, 0) };
        *run = Run { lane, lanes: 1, offset: offsets[lane], step: 0 };
        count += 1;
    }
    let is_short = 4 * count > lanes.count() as usize;
    (runs, if is_short { 0 } else { count })
}

/// The first address of a pattern in registers.
struct First<'a>(&'a Pattern);

impl WithAddresses for First<'_> {
    type Output = Option<u64>;
    fn one(self, _: u64) -> Option<u64> {
        None
    }
    #[inline(always)]
    fn each(self, address: impl Fn(usize) -> u64) -> Option<u64> {
        self.0.first(address)
    }
}

/// Returns true if [`repeat`] may execute an operation.
pub fn is_repeatable(op: &Op) -> bool {
    let (access, address) = match op {
        Op::Load(Load { access, address, uniform: false, .. }) => (access, address),
        Op::Store(Store { access, address, .. }) => (access, address),
        _ => return false,
    };
    let has_memory = matches!(access.space, Space::Global | Space::Shared);
    access.is_words() && has_memory && address.base != AddressBase::Zero
}

/// Executes a load or store of words as an earlier access of the step with a pattern.
///
/// Returns true if memory changed. Returns `None` and does nothing if the access has another
/// pattern, is a fault, or is not in one buffer.
#[inline]
pub fn repeat(
    op: &Op,
    lanes: LaneMask,
    pattern: &Pattern,
    registers: &mut RegisterFile,
    global: &GlobalMemory,
    shared: &mut SharedMemory,
) -> Option<bool> {
    if lanes != pattern.lanes {
        return None;
    }
    match op {
        Op::Load(load) => {
            let first = with_addresses(load.address, registers, First(pattern))?;
            let (from, bytes) = pattern.range(first);
            match load.access.space {
                Space::Shared if shared.holds(from, bytes) => {
                    pattern.load_all(&*shared, first, load, registers);
                }
                Space::Shared => return None,
                _ => {
                    let view = global.view(segment(global, from, bytes)?);
                    pattern.load_all(&view, first, load, registers);
                }
            }
            Some(false)
        }
        Op::Store(store) => {
            let first = with_addresses(store.address, registers, First(pattern))?;
            let (from, bytes) = pattern.range(first);
            match store.access.space {
                Space::Shared if shared.holds(from, bytes) => {
                    Some(pattern.store_all(shared, first, store, registers))
                }
                Space::Shared => None,
                _ => {
                    let segment =
                        segment(global, from, bytes).filter(|segment| segment.writable)?;
                    Some(pattern.store_all(&mut global.view(segment), first, store, registers))
                }
            }
        }
        _ => None,
    }
}

/// Returns the segment with some bytes.
#[inline(always)]
fn segment(global: &GlobalMemory, from: u64, bytes: u64) -> Option<&Segment> {
    global.segment(from).filter(|segment| segment.holds(from, bytes))
}

#[cfg(test)]
mod tests;
