//! Random numbers for questions: the same seed draws the same questions on every platform.

use simt_core::base::mix;

/// A sequence of numbers that depends only on its seed.
#[derive(Clone, Debug)]
pub struct Dice {
    seed: u64,
    drawn: u64,
}

impl Dice {
    /// Starts the sequence of a seed.
    pub const fn new(seed: u64) -> Dice {
        Dice { seed: mix(seed), drawn: 0 }
    }

    /// Draws a number below `n`; 0 if `n` is 0.
    pub fn below(&mut self, n: u64) -> u64 {
        self.drawn = self.drawn.wrapping_add(1);
        // Takes the upper half of the product: nearly uniform for small `n`.
        ((u128::from(mix(self.seed.wrapping_add(self.drawn))) * u128::from(n)) >> 64) as u64
    }

    /// Draws a number from `least` to `most`.
    pub fn between(&mut self, least: u64, most: u64) -> u64 {
        least.saturating_add(self.below(most.saturating_sub(least).saturating_add(1)))
    }

    /// Draws an element of a list; 0 if the list is empty.
    pub fn of(&mut self, list: &[u64]) -> u64 {
        let at = self.below(list.len() as u64) as usize;
        list.get(at).copied().unwrap_or_default()
    }

    /// Returns true with probability 1 / `n`.
    pub fn once_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }

    /// Shuffles a list.
    pub fn shuffle<T>(&mut self, list: &mut [T]) {
        for last in (1..list.len()).rev() {
            list.swap(last, self.below(last as u64 + 1) as usize);
        }
    }
}
