//! Texts that threads print with `printf`.
//!
//! They are in the order of blocks, and in the order of issue within a block, so the output does
//! not depend on the number of threads of the computer. As in CUDA's buffer the first 1 MiB is
//! kept, counted here in that order.

use std::collections::BTreeMap;

use crate::base::BlockId;
use crate::event::{Event, Observer, Printed};

/// Default limit in bytes (cudaLimitPrintfFifoSize).
const DEFAULT_LIMIT: usize = 1 << 20;

/// Text of one call of `printf`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrintedText {
    /// Block of the thread.
    pub block: BlockId,
    /// Thread index in the block.
    pub thread: u32,
    /// Bytes as printed, without a final zero.
    pub text: Vec<u8>,
}

/// Output of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// Texts by block.
    blocks: BTreeMap<u32, Vec<PrintedText>>,
    /// Bytes kept; an empty text counts as one.
    bytes: usize,
    limit: usize,
    dropped: u64,
    /// Block from which on texts are dropped.
    cut: Option<u32>,
}

impl Default for Output {
    fn default() -> Output {
        Output::limited(DEFAULT_LIMIT)
    }
}

impl Output {
    /// Creates an empty output that keeps at most `limit` bytes.
    pub fn limited(limit: usize) -> Output {
        Output { blocks: BTreeMap::new(), bytes: 0, limit, dropped: 0, cut: None }
    }

    /// Returns the texts in order.
    pub fn texts(&self) -> impl Iterator<Item = &PrintedText> {
        self.blocks.values().flatten()
    }

    /// Returns the bytes of all texts in order.
    pub fn bytes(&self) -> Vec<u8> {
        self.texts().flat_map(|printed| &printed.text).copied().collect()
    }

    /// Returns true if nothing was printed.
    pub fn is_empty(&self) -> bool {
        self.blocks.is_empty() && self.dropped == 0
    }

    /// Returns the number of texts beyond the limit.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    fn add(&mut self, printed: PrintedText) {
        let block = printed.block.0;
        if self.cut.is_some_and(|cut| block >= cut) {
            self.dropped += 1;
            return;
        }
        self.bytes += printed.text.len().max(1);
        self.blocks.entry(block).or_default().push(printed);
        self.shorten();
    }

    /// Drops the last texts beyond the limit. All later ones come after these, so they go too.
    fn shorten(&mut self) {
        while self.bytes > self.limit
            && let Some(mut last) = self.blocks.last_entry()
        {
            let block = *last.key();
            if let Some(printed) = last.get_mut().pop() {
                self.bytes -= printed.text.len().max(1);
                self.dropped += 1;
                self.cut = Some(block);
            }
            if last.get().is_empty() {
                last.remove();
            }
        }
    }
}

impl Observer for Output {
    fn on(&mut self, _: Event) {}

    fn printed(&mut self, printed: &Printed<'_>) {
        let &Printed { block, thread, text, .. } = printed;
        self.add(PrintedText { block, thread, text: text.to_vec() });
    }

    fn merge(&mut self, other: Output) {
        self.dropped += other.dropped;
        let cut = [self.cut, other.cut].into_iter().flatten().min();
        for texts in other.blocks.into_values() {
            self.bytes += texts.iter().map(|printed| printed.text.len().max(1)).sum::<usize>();
            if let Some(first) = texts.first() {
                self.blocks.entry(first.block.0).or_default().extend(texts);
            }
        }
        self.cut = cut;
        // A block that lost its last texts is the last one.
        let after = cut.and_then(|cut| cut.checked_add(1));
        let late = after.map(|after| self.blocks.split_off(&after)).unwrap_or_default();
        for printed in late.into_values().flatten() {
            self.bytes -= printed.text.len().max(1);
            self.dropped += 1;
        }
        self.shorten();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(limit: usize, texts: &[(u32, &str)]) -> Output {
        let mut output = Output::limited(limit);
        for &(block, text) in texts {
            let text = text.as_bytes().to_vec();
            output.add(PrintedText { block: BlockId(block), thread: 0, text });
        }
        output
    }

    #[test]
    fn the_same_texts_are_kept_for_any_distribution_of_blocks() {
        let texts = [(0, "aaa"), (1, "b"), (2, "ccc"), (3, "d"), (0, "aa"), (2, "c"), (1, "bb")];
        for limit in 0..14 {
            let all = filled(limit, &texts);
            for sms in 1..4 {
                let of = |sm| texts.iter().copied().filter(move |(block, _)| block % sms == sm);
                let parts = (0..sms).map(|sm| filled(limit, &of(sm).collect::<Vec<_>>()));
                let merged = parts.reduce(|mut a, b| {
                    a.merge(b);
                    a
                });
                let merged = merged.unwrap();
                assert_eq!(merged.bytes(), all.bytes(), "limit {limit}, {sms} SMs");
                assert_eq!(merged.dropped(), all.dropped(), "limit {limit}, {sms} SMs");
            }
            assert_eq!(all.texts().count() as u64 + all.dropped(), texts.len() as u64);
        }
        assert_eq!(
            filled(20, &texts).bytes(),
            b"aaaaabbbcccc".iter().chain(b"d").copied().collect::<Vec<_>>()
        );
        assert_eq!(filled(6, &texts).bytes(), b"aaaaab");
    }
}
