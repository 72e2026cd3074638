//! Memory that belongs to somebody else, who may use it while a kernel runs.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};

/// Words of memory that its owner lends to a launch.
#[derive(Clone)]
pub struct Lent(Arc<dyn AsRef<[AtomicU32]> + Send + Sync>);

impl Lent {
    /// Lends the words of `owner`, of which there are always as many.
    pub fn new(owner: Arc<dyn AsRef<[AtomicU32]> + Send + Sync>) -> Lent {
        Lent(owner)
    }

    /// Returns the words.
    #[inline]
    pub fn words(&self) -> &[AtomicU32] {
        (*self.0).as_ref()
    }

    /// Returns a copy of the words.
    pub fn copy(&self) -> Vec<u32> {
        self.words().iter().map(|word| word.load(Relaxed)).collect()
    }

    /// Overwrites the first words.
    pub fn overwrite(&self, words: &[u32]) {
        self.words().iter().zip(words).for_each(|(cell, &word)| cell.store(word, Relaxed));
    }
}

impl fmt::Debug for Lent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Lent").field(&self.words().len()).finish()
    }
}

/// Words of a segment.
#[derive(Debug)]
pub(super) enum Content {
    Own(Vec<AtomicU32>),
    /// Also, whether there was an access since [`Content::take_access`].
    Lent(Lent, AtomicBool),
}

impl Content {
    /// Returns true if the words are lent and there was an access to them since the last call.
    pub(super) fn take_access(&self) -> bool {
        matches!(self, Content::Lent(_, accessed) if accessed.swap(false, Relaxed))
    }
}

impl std::ops::Deref for Content {
    type Target = [AtomicU32];

    #[inline(always)]
    fn deref(&self) -> &[AtomicU32] {
        match self {
            Content::Own(words) => words,
            Content::Lent(lent, accessed) => {
                if !accessed.load(Relaxed) {
                    accessed.store(true, Relaxed);
                }
                lent.words()
            }
        }
    }
}
