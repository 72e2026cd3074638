//! What is read off a run: from clock stamps to cycles.

use std::collections::BTreeMap;

use crate::launch::Launch;

/// What is read off a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Figure {
    /// Stamps (begin, end) of each warp: from the first beginning to the last end, in cycles.
    Span,
    /// Stamps (begin, end) of each warp of one block: how much later the younger half of the warps ends than the older
    /// half, as a share of the span. Positive: a scheduler prefers older warps.
    Youth,
    /// Stamps (begin, -, SM, block) of each warp: from a block's beginning to that of the next in its place, averaged, in
    /// cycles.
    Turnover {
        /// Cycles that a block spins, taken off.
        spin: u32,
    },
    /// The same stamps: from the beginning of a block's first warp to that of its last, averaged, in cycles.
    Skew,
}

impl Figure {
    /// The figure of a run that left the words `out`.
    ///
    /// # Errors
    /// Stamps are missing.
    pub(super) fn read(self, launch: &Launch, out: &[u32]) -> Result<f64, String> {
        let found = match self {
            Figure::Span => span(&pairs(out)),
            Figure::Youth => youth(&pairs(out)),
            Figure::Turnover { spin } => turnover(&blocks(launch, out)).map(|cycles| cycles - f64::from(spin)),
            Figure::Skew => {
                let skews: Vec<f64> = blocks(launch, out).iter().map(|b| f64::from(b.skew)).collect();
                mean(&skews)
            }
        };
        found.ok_or_else(|| "the run left too few clock stamps".to_string())
    }
}

/// Beginnings and ends. The clock is 32 bits wide; nothing runs for so long that it turns twice.
fn pairs(out: &[u32]) -> Vec<(u32, u32)> {
    out.chunks_exact(2).map(|pair| (pair[0], pair[1])).filter(|&pair| pair != (0, 0)).collect()
}

/// `stamp` after `origin`, which may be a little later.
fn after(stamp: u32, origin: u32) -> f64 {
    f64::from(stamp.wrapping_sub(origin) as i32)
}

fn span(pairs: &[(u32, u32)]) -> Option<f64> {
    let origin = pairs.first()?.0;
    let first = pairs.iter().map(|p| after(p.0, origin)).fold(f64::INFINITY, f64::min);
    let last = pairs.iter().map(|p| after(p.1, origin)).fold(f64::NEG_INFINITY, f64::max);
    Some(last - first)
}

fn youth(pairs: &[(u32, u32)]) -> Option<f64> {
    let origin = pairs.first()?.0;
    let ends: Vec<f64> = pairs.iter().map(|p| after(p.1, origin)).collect();
    let (older, younger) = ends.split_at(ends.len() / 2);
    Some((mean(younger)? - mean(older)?) / span(pairs)?)
}

fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// A block as its warps' stamps show it.
struct Block {
    begin: u32,
    sm: u32,
    skew: u32,
}

fn blocks(launch: &Launch, out: &[u32]) -> Vec<Block> {
    let warps = launch.block.iter().product::<u32>().div_ceil(32).max(1) as usize;
    let stamps: Vec<&[u32]> = out.chunks_exact(4).collect();
    let block = |stamps: &[&[u32]]| {
        let origin = stamps[0][0];
        let begins = || stamps.iter().map(|s| s[0].wrapping_sub(origin) as i32);
        let (first, last) = (begins().min().unwrap_or(0), begins().max().unwrap_or(0));
        Block { begin: origin.wrapping_add_signed(first), sm: stamps[0][2], skew: (last - first) as u32 }
    };
    stamps.chunks_exact(warps).map(block).collect()
}

/// Of SMs that ran at least four blocks one after the other: the mean distance of their beginnings. The first is left out, because it
/// finds code and constants cold.
fn turnover(blocks: &[Block]) -> Option<f64> {
    let mut by_sm: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for block in blocks {
        by_sm.entry(block.sm).or_default().push(block.begin);
    }
    let mut distances = Vec::new();
    for begins in by_sm.into_values().filter(|b| b.len() >= 4) {
        let origin = begins[0];
        let mut begins: Vec<i32> = begins.iter().map(|b| b.wrapping_sub(origin) as i32).collect();
        begins.sort_unstable();
        distances.extend(begins[1..].windows(2).map(|pair| f64::from(pair[1] - pair[0])));
    }
    mean(&distances)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_survive_a_clock_that_turns() {
        assert_eq!(span(&[(u32::MAX - 9, 5), (0, 30)]), Some(40.0));
        assert_eq!(youth(&[(0, 100), (0, 100), (0, 200), (0, 200)]), Some(0.5));
    }

    #[test]
    fn turnover_is_the_distance_of_blocks_on_one_sm() {
        let block = |sm, begin| Block { begin, sm, skew: 0 };
        let found = turnover(&[block(0, 0), block(1, 7), block(0, 300), block(0, 100), block(0, 200)]);
        assert_eq!(found, Some(100.0), "SM 1 ran one block only");
    }
}
