//! SMs that have used each chunk of a unit.

use std::collections::HashMap;

use foldhash::fast::FixedState;

use crate::base::SmId;

/// Number of SMs that have used each chunk, and which ones.
#[derive(Clone, Default)]
pub(super) struct Users {
    /// First word of each chunk in `words`.
    first: HashMap<u64, usize, FixedState>,
    /// Of each chunk, the number of its SMs, and one bit for each SM.
    words: Vec<u64>,
    /// Words of a chunk.
    per_chunk: usize,
}

impl Users {
    /// Creates the users of chunks that none of `sms` SMs has used.
    pub(super) fn new(sms: u32) -> Users {
        Users { per_chunk: 1 + sms.div_ceil(u64::BITS) as usize, ..Users::default() }
    }

    /// Adds an SM to the users of a chunk. Returns their number.
    pub(super) fn add(&mut self, chunk: u64, SmId(sm): SmId) -> u64 {
        let (end, words) = (self.words.len(), &mut self.words);
        let first = *self.first.entry(chunk).or_insert_with(|| {
            words.resize(end + self.per_chunk, 0);
            end
        });
        let [count, sms @ ..] = &mut words[first..][..self.per_chunk] else { return 0 };
        let (word, bit) = (&mut sms[(sm / u64::BITS) as usize], 1 << (sm % u64::BITS));
        *count += u64::from(*word & bit == 0);
        *word |= bit;
        *count
    }

    /// Returns the number of SMs that have used a chunk.
    pub(super) fn count(&self, chunk: u64) -> u64 {
        self.first.get(&chunk).map_or(0, |&first| self.words[first])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chunk_counts_each_sm_once() {
        let mut users = Users::new(132);
        assert_eq!([0, 131, 64, 131, 0].map(|sm| users.add(7, SmId(sm))), [1, 2, 3, 3, 3]);
        assert_eq!(users.add(9, SmId(131)), 1);
        assert_eq!([7, 8, 9].map(|chunk| users.count(chunk)), [3, 0, 1]);
    }
}
