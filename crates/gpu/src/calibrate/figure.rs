//! From clock stamps to cycles.

use std::collections::BTreeMap;

use simt_core::launch::Launch;

/// Rule that derives a figure from the stamps of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Figure {
    /// Cycles from the first begin to the last end. Stamps: (begin, end) of each warp.
    Span,
    /// Delay of the younger half of a block's warps, as a share of the span. Compares the mean ends
    /// of both halves; positive if a scheduler prefers older warps. Stamps: (begin, end) of each
    /// warp of one block.
    Youth,
    /// Mean cycles from the begin of a block to that of the next in its slot. Stamps: (begin, -,
    /// SM, block) of each warp.
    Turnover {
        /// Cycles that a block spins, subtracted.
        spin: u32,
    },
    /// Mean cycles from the begin of a block's first warp to that of its last. Same stamps.
    Skew,
    /// Time to the end of an SM's first block over that of its last, mean over SMs. Times count
    /// from the first begin on the SM; 1 if all blocks progress equally. Stamps: (begin, end, SM,
    /// block) of each warp.
    Ages,
    /// Mean over groups of the longest time of a group, in cycles. Stamps: (begin, end), one pair
    /// per warp that takes part in an operation. Groups of 1 give the mean of all.
    Slowest {
        /// Pairs per group.
        of: usize,
    },
}

impl Figure {
    /// Computes the figure from the words `out` of a run.
    ///
    /// # Errors
    /// If stamps are missing.
    pub(super) fn read(self, launch: &Launch, out: &[u32]) -> Result<f64, String> {
        let found = match self {
            Figure::Span => span(&pairs(out)),
            Figure::Youth => youth(&pairs(out)),
            Figure::Turnover { spin } => {
                turnover(&blocks(launch, out)).map(|cycles| cycles - f64::from(spin))
            }
            Figure::Skew => {
                let skews: Vec<f64> =
                    blocks(launch, out).iter().map(|b| f64::from(b.skew)).collect();
                mean(&skews)
            }
            Figure::Ages => ages(&blocks(launch, out)),
            Figure::Slowest { of } => slowest(&pairs(out), of),
        };
        found.ok_or_else(|| "the run left too few clock stamps".to_string())
    }
}

/// Pairs of begin and end. The clock has 32 bits; no run lasts two of its periods.
fn pairs(out: &[u32]) -> Vec<(u32, u32)> {
    out.chunks_exact(2).map(|pair| (pair[0], pair[1])).filter(|&pair| pair != (0, 0)).collect()
}

/// Cycles from `origin` to `stamp`; may be slightly negative.
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

/// A block, from the stamps of its warps.
struct Block {
    begin: u32,
    end: u32,
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
        let end = stamps.iter().map(|s| s[1].wrapping_sub(origin) as i32).max().unwrap_or(0);
        let at = |cycles| origin.wrapping_add_signed(cycles);
        Block { begin: at(first), end: at(end), sm: stamps[0][2], skew: (last - first) as u32 }
    };
    stamps.chunks_exact(warps).map(block).collect()
}

/// Mean distance of consecutive begins on SMs that ran at least four blocks. The first block is
/// excluded because its code and constants are not cached.
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

/// Mean over SMs of the first block's end over the last block's end. Ends count from the first
/// begin; SMs without two resident blocks do not count.
fn ages(blocks: &[Block]) -> Option<f64> {
    let mut by_sm: BTreeMap<u32, Vec<&Block>> = BTreeMap::new();
    for block in blocks {
        by_sm.entry(block.sm).or_default().push(block);
    }
    let share = |blocks: Vec<&Block>| {
        let origin = blocks.first()?.begin;
        let begin = blocks.iter().map(|b| after(b.begin, origin)).fold(f64::INFINITY, f64::min);
        let ends = || blocks.iter().map(|b| after(b.end, origin) - begin);
        let (first, last) = (ends().fold(f64::INFINITY, f64::min), ends().fold(0.0, f64::max));
        (blocks.len() > 1 && last > 0.0).then(|| first / last)
    };
    let shares: Vec<f64> = by_sm.into_values().filter_map(share).collect();
    mean(&shares)
}

fn slowest(pairs: &[(u32, u32)], of: usize) -> Option<f64> {
    let longest = |group: &[(u32, u32)]| group.iter().map(|p| after(p.1, p.0)).fold(0.0, f64::max);
    let times: Vec<f64> = pairs.chunks_exact(of.max(1)).map(longest).collect();
    mean(&times)
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
        let block = |sm, begin| Block { begin, end: begin, sm, skew: 0 };
        let found =
            turnover(&[block(0, 0), block(1, 7), block(0, 300), block(0, 100), block(0, 200)]);
        assert_eq!(found, Some(100.0), "SM 1 ran one block only");
    }

    #[test]
    fn ages_compare_the_ends_of_blocks_that_are_resident_together() {
        let block = |sm, begin, end| Block { begin, end, sm, skew: 0 };
        let blocks = [block(0, u32::MAX, 49), block(1, 5, 9), block(0, 9, 199), block(0, 19, 99)];
        assert_eq!(ages(&blocks), Some(0.25), "50 of 200 cycles; SM 1 had one block only");
        assert_eq!(ages(&blocks[..1]), None);
    }

    #[test]
    fn the_slowest_of_a_group_counts() {
        let pairs = [(0, 10), (5, 25), (u32::MAX, 29), (0, 20)];
        assert_eq!(slowest(&pairs, 1), Some(20.0));
        assert_eq!(slowest(&pairs, 2), Some(25.0));
        assert_eq!(slowest(&[], 2), None);
    }
}
