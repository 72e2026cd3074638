//! Distinct numbers among those of a warp's lanes.

/// Table of at most `N` distinct numbers, with how often each was added.
///
/// `N` is a power of two, and more than the number of additions.
pub(super) struct Distinct<const N: usize> {
    numbers: [u64; N],
    times: [u8; N],
}

impl<const N: usize> Distinct<N> {
    /// Creates an empty table.
    #[inline]
    pub(super) fn new() -> Distinct<N> {
        Distinct { numbers: [0; N], times: [0; N] }
    }

    /// Adds a number. Returns how often it has been added.
    #[inline]
    pub(super) fn add(&mut self, number: u64) -> u8 {
        let mut at = (number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize % N;
        while self.times[at] != 0 && self.numbers[at] != number {
            at = (at + 1) % N;
        }
        self.numbers[at] = number;
        self.times[at] += 1;
        self.times[at]
    }
}
