//! Unwritten words of device memory.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

/// Unwritten words of a buffer, one bit each. Clones share the record.
#[derive(Clone, Debug)]
pub struct UnsetWords(Arc<Record>);

#[derive(Debug)]
struct Record {
    bits: Vec<AtomicU32>,
    /// Number of bits that are 1.
    left: AtomicU64,
}

impl UnsetWords {
    /// Creates a record of `words` words, none of them written.
    pub fn new(words: u64) -> UnsetWords {
        let full = (words / 32) as usize;
        let mut bits: Vec<AtomicU32> = (0..full).map(|_| AtomicU32::new(u32::MAX)).collect();
        bits.push(AtomicU32::new((1 << (words % 32)) - 1));
        UnsetWords(Arc::new(Record { bits, left: AtomicU64::new(words) }))
    }

    /// Returns true if any word is unset.
    #[inline]
    pub fn any(&self) -> bool {
        self.0.left.load(Relaxed) > 0
    }

    /// Returns true if a word is unset.
    pub fn has(&self, word: u64) -> bool {
        let bits = self.0.bits.get((word / 32) as usize);
        bits.is_some_and(|bits| bits.load(Relaxed) >> (word % 32) & 1 == 1)
    }

    /// Records writes of words.
    pub fn write(&self, words: Range<u64>) {
        let mut at = words.start;
        while at < words.end && self.any() {
            let count = (32 - at % 32).min(words.end - at);
            let mask = (u32::MAX >> (32 - count)) << (at % 32);
            let Some(bits) = self.0.bits.get((at / 32) as usize) else { return };
            let before = bits.fetch_and(!mask, Relaxed);
            self.0.left.fetch_sub((before & mask).count_ones().into(), Relaxed);
            at += count;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_unset_until_they_are_written() {
        let unset = UnsetWords::new(70);
        let all = |unset: &UnsetWords| (0..100).filter(|&word| unset.has(word)).collect::<Vec<_>>();
        assert_eq!(all(&unset), (0..70).collect::<Vec<_>>());
        unset.write(3..66);
        unset.clone().write(60..67);
        assert_eq!(all(&unset), [0, 1, 2, 67, 68, 69]);
        unset.write(0..3);
        assert!(unset.any());
        unset.write(66..200);
        assert!(!unset.any() && all(&unset).is_empty());
        assert!(!UnsetWords::new(0).any());
    }
}
