//! Sets of small numbers, such as blocks or registers.

/// A set of numbers below a fixed bound.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub(crate) struct Bits(Vec<u64>);

impl Bits {
    /// Returns the empty set of numbers below `bound`.
    pub(crate) fn new(bound: usize) -> Bits {
        Bits(vec![0; bound.div_ceil(64)])
    }

    pub(crate) fn contains(&self, n: usize) -> bool {
        self.0.get(n / 64).is_some_and(|word| word >> (n % 64) & 1 == 1)
    }

    /// Adds `n` and returns true if it is new.
    pub(crate) fn insert(&mut self, n: usize) -> bool {
        let word = &mut self.0[n / 64];
        let before = *word;
        *word |= 1 << (n % 64);
        *word != before
    }

    pub(crate) fn remove(&mut self, n: usize) {
        self.0[n / 64] &= !(1 << (n % 64));
    }

    /// Adds all members of `other`, a set of the same bound; returns true if any is new.
    pub(crate) fn union(&mut self, other: &Bits) -> bool {
        let mut grown = false;
        for (word, &more) in self.0.iter_mut().zip(&other.0) {
            grown |= more & !*word != 0;
            *word |= more;
        }
        grown
    }

    /// Returns the union of this set and `other` with its members moved up by `by`.
    pub(crate) fn joined(&self, other: &Bits, by: usize) -> Bits {
        let mut all = Bits::new((by + other.0.len() * 64).max(self.0.len() * 64));
        self.iter().chain(other.iter().map(|n| n + by)).for_each(|n| _ = all.insert(n));
        all
    }

    /// Returns true if the sets have a member in common.
    pub(crate) fn intersects(&self, other: &Bits) -> bool {
        self.0.iter().zip(&other.0).any(|(a, b)| a & b != 0)
    }

    pub(crate) fn count(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Iterates over the members in ascending order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.0.iter().enumerate().flat_map(|(i, &word)| {
            let mut rest = word;
            std::iter::from_fn(move || {
                (rest != 0).then(|| {
                    let bit = rest.trailing_zeros() as usize;
                    rest &= rest - 1;
                    i * 64 + bit
                })
            })
        })
    }
}

impl FromIterator<usize> for Bits {
    fn from_iter<I: IntoIterator<Item = usize>>(members: I) -> Bits {
        let mut bits = Bits::default();
        for n in members {
            if bits.0.len() <= n / 64 {
                bits.0.resize(n / 64 + 1, 0);
            }
            bits.insert(n);
        }
        bits
    }
}
