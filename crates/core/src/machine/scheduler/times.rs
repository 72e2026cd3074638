//! Times of the next issues of a scheduler's warps, compared eight at a time.

use wide::{i8x16, i16x8, i16x16};

use super::WARPS;
use crate::base::Cycle;

/// Warps of a vector, and the most vectors.
const WIDTH: usize = 8;
const VECTORS: usize = WARPS / WIDTH;

/// Bit of each warp of an even vector, and of the odd vector after it.
const BITS: [[i16; WIDTH]; 2] = [
    [1, 1 << 1, 1 << 2, 1 << 3, 1 << 4, 1 << 5, 1 << 6, 1 << 7],
    [1 << 8, 1 << 9, 1 << 10, 1 << 11, 1 << 12, 1 << 13, 1 << 14, i16::MIN],
];

/// A lane of a vector by its number.
const LANES: [[i16; WIDTH]; WIDTH] = {
    let mut lanes = [[0; WIDTH]; WIDTH];
    let mut lane = 0;
    while lane < WIDTH {
        lanes[lane][lane] = -1;
        lane += 1;
    }
    lanes
};

/// Entry of a warp that can issue in this cycle after the base or later, or not at all.
const FAR: i16 = i16::MAX;
/// Cycles after the base at which the times need a new one; far inside the range.
const PERIOD: Cycle = 1 << 14;

/// Next issues of warps by dependences and the scheduler's own ports, in cycles after a base.
#[derive(Clone)]
pub(super) struct Times {
    base: Cycle,
    /// Entries of eight warps each.
    entries: [i16x8; VECTORS],
    /// Vectors in use, at least two.
    vectors: usize,
    /// Bits of the warps of all other vectors.
    unused: u64,
}

impl Times {
    /// Creates the times of `warps` that cannot issue.
    pub(super) fn new(warps: usize) -> Times {
        let vectors = warps.div_ceil(WIDTH).clamp(2, VECTORS);
        let unused = u64::MAX.checked_shl((WIDTH * vectors) as u32).unwrap_or(0);
        Times { base: 0, entries: [i16x8::splat(FAR); VECTORS], vectors, unused }
    }

    /// Returns the entry of a cycle, not before the base.
    #[inline(always)]
    fn entry(&self, at: Cycle) -> i16 {
        debug_assert!(at >= self.base, "{at} is before {}", self.base);
        at.wrapping_sub(self.base).min(FAR as u64) as i16
    }

    /// Sets the next issue of `warp`, `NEVER` if it cannot issue.
    #[inline(always)]
    pub(super) fn set(&mut self, warp: usize, at: Cycle) {
        let entry = i16x8::splat(self.entry(at));
        // The whole vector: a processor reads it again before a part would be written.
        let entries = &mut self.entries[warp / WIDTH % VECTORS];
        *entries = i16x8::from(LANES[warp % WIDTH]).select(entry, *entries);
    }

    /// Lets those of `warps` that can issue before `until` issue only then.
    #[inline(always)]
    pub(super) fn delay(&mut self, warps: u64, until: Cycle) {
        self.delay_to(warps, self.entry(until.max(self.base)));
    }

    /// As [`Times::delay`], until some `cycles` after `now`, which needs [no other
    /// base](Times::is_over).
    #[inline(always)]
    pub(super) fn delay_for(&mut self, warps: u64, cycles: Cycle, now: Cycle) {
        self.delay_to(warps, self.entry(now + cycles));
    }

    /// Lets those of `warps` with an entry before `until` have that one.
    #[inline(always)]
    fn delay_to(&mut self, warps: u64, until: i16) {
        let until = i16x8::splat(until);
        each(self.vectors, |number| {
            let entries = &mut self.entries[number];
            *entries = delayed(*entries, number, warps, until);
        });
    }

    /// Returns true if the times need another base before those at `now` are asked for.
    #[inline(always)]
    pub(super) fn is_over(&self, now: Cycle) -> bool {
        now.wrapping_sub(self.base) >= PERIOD
    }

    /// Begins again at `base` with the next issue of each warp.
    #[inline(never)]
    pub(super) fn begin(&mut self, base: Cycle, next: impl Fn(usize) -> Cycle) {
        self.base = base;
        (0..WIDTH * self.vectors).for_each(|warp| self.set(warp, next(warp).max(base)));
    }

    /// Returns the warps that can issue by `now`, for which the times need [no other
    /// base](Times::is_over).
    #[inline(always)]
    pub(super) fn by(&self, now: Cycle) -> u64 {
        let now = i16x8::splat(now.wrapping_sub(self.base) as i16);
        let later = |pair: usize| {
            let [low, high] = [2 * pair, 2 * pair + 1].map(|number| self.entries[number]);
            let bits = bits_of_pair(low.simd_gt(now), high.simd_gt(now));
            u64::from(bits) << (2 * WIDTH * pair)
        };
        // A vector that is not in use has only entries that are far.
        let mut all = self.unused | later(0);
        if self.vectors > 2 {
            (1..self.vectors.div_ceil(2)).for_each(|pair| all |= later(pair));
        }
        !all
    }

    /// Returns the first next issue of all warps, those of each set of `held` not before its cycle.
    ///
    /// It may be later, or never, if it is [far](Times::is_far).
    #[inline(always)]
    pub(super) fn first<const N: usize>(&self, held: [(u64, Cycle); N]) -> Cycle {
        let entry = |until: Cycle| i16x8::splat(self.entry(until.max(self.base)));
        let held = held.map(|(warps, until)| (warps, entry(until)));
        let mut least = i16x8::splat(FAR);
        each(self.vectors, |number| {
            let later = |entries, &(warps, until): &_| delayed(entries, number, warps, until);
            least = least.min(held.iter().fold(self.entries[number], later));
        });
        self.base + lowest(least) as u64
    }

    /// Returns true if a first issue may be in a later cycle than `first`.
    pub(super) fn is_far(&self, first: Cycle) -> bool {
        first == self.base + FAR as u64
    }
}

/// Calls `work` with the number of each vector in use, without a loop for the 16 warps that a
/// scheduler of a recent GPU has, and 24 of an older one.
#[inline(always)]
fn each(vectors: usize, mut work: impl FnMut(usize)) {
    work(0);
    work(1);
    if vectors > 2 {
        work(2);
        (3..vectors.min(VECTORS)).for_each(work);
    }
}

/// Returns the bits of two vectors of masks, one bit for each lane.
#[inline(always)]
fn bits_of_pair(low: i16x8, high: i16x8) -> u16 {
    let mut lanes = [0; 2 * WIDTH];
    lanes[..WIDTH].copy_from_slice(&low.to_array());
    lanes[WIDTH..].copy_from_slice(&high.to_array());
    i8x16::from_i16x16_saturate(i16x16::from(lanes)).to_bitmask() as u16
}

/// Returns the lowest entry: one instruction of a processor with AVX2, as none is below 0.
#[inline(always)]
fn lowest(entries: i16x8) -> u16 {
    entries.to_array().into_iter().fold(u16::MAX, |least, entry| least.min(entry as u16))
}

/// Returns the entries of a vector in which each of `warps` can issue by `until` at the earliest.
#[inline(always)]
fn delayed(entries: i16x8, number: usize, warps: u64, until: i16x8) -> i16x8 {
    let bits = i16x8::from(BITS[number % 2]);
    let warps = i16x8::splat((warps >> (2 * WIDTH * (number / 2))) as i16);
    entries.max((warps & bits).simd_eq(bits) & until)
}

#[cfg(test)]
mod tests {
    use super::super::NEVER;
    use super::*;

    #[test]
    fn warps_of_all_vectors_are_found_by_their_times() {
        let mut times = Times::new(64);
        assert!(times.by(100) == 0 && times.is_far(times.first([])));
        for warp in 0..64 {
            times.set(warp, 100 + warp as Cycle);
        }
        assert_eq!((times.by(99), times.by(100), times.by(131)), (0, 1, u64::MAX >> 32));
        assert_eq!(times.by(163), u64::MAX);
        let odd = u64::MAX / 3 * 2;
        times.delay(odd, 162);
        assert_eq!(times.by(161), !odd & u64::MAX >> 2);
        assert_eq!(times.first([]), 100);
        assert_eq!(times.first([(1, 170), (!odd, 120)]), 120);
        times.set(0, NEVER);
        times.delay(u64::MAX, 200);
        assert_eq!((times.by(199), times.by(200), times.first([])), (0, !1, 200));
    }

    #[test]
    fn far_times_are_bounds() {
        let mut times = Times::new(16);
        times.set(5, 40_000);
        let bound = times.first([]);
        assert!(bound < 40_000 && times.is_far(bound) && !times.is_over(16_000));
        assert!(times.is_over(bound));
        times.begin(bound, |warp| if warp == 5 { 40_000 } else { NEVER });
        assert_eq!((times.first([]), times.is_over(40_000)), (40_000, false));
        assert_eq!((times.by(39_999), times.by(40_000)), (0, 1 << 5));
    }
}
