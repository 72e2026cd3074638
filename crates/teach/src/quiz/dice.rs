//! Numbers drawn for questions: the same seed draws the same questions everywhere.

use simt_core::base::mix;

/// A sequence of draws that depends on its seed alone.
#[derive(Clone, Debug)]
pub struct Dice {
    seed: u64,
    drawn: u64,
}

impl Dice {
    /// The sequence of a seed.
    pub const fn new(seed: u64) -> Dice {
        Dice { seed: mix(seed), drawn: 0 }
    }

    /// A number below `n`; 0 when there is none.
    pub fn below(&mut self, n: u64) -> u64 {
        self.drawn = self.drawn.wrapping_add(1);
        // The upper half of the product: as good as even for so small an `n`.
        ((u128::from(mix(self.seed.wrapping_add(self.drawn))) * u128::from(n)) >> 64) as u64
    }

    /// A number from `least` to `most`.
    pub fn between(&mut self, least: u64, most: u64) -> u64 {
        least.saturating_add(self.below(most.saturating_sub(least).saturating_add(1)))
    }

    /// One of a list; 0 of an empty one.
    pub fn of(&mut self, list: &[u64]) -> u64 {
        let at = self.below(list.len() as u64) as usize;
        list.get(at).copied().unwrap_or_default()
    }

    /// Whether something happens that happens once in `n` times.
    pub fn once_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }

    /// A list in another order.
    pub fn shuffle<T>(&mut self, list: &mut [T]) {
        for last in (1..list.len()).rev() {
            list.swap(last, self.below(last as u64 + 1) as usize);
        }
    }
}
