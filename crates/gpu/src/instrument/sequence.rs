//! The probes that a warp passed, in order, and the side of each branch that ran first.

use super::pass::{Instrumented, Probe, ProbeKind};
use simt_core::base::LaneMask;

/// A passed probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passed {
    /// Index in [`Instrumented::probes`].
    pub probe: u32,
    /// Lanes that passed it together.
    pub lanes: LaneMask,
    /// Lanes that will branch, at a branch probe.
    pub taken: LaneMask,
}

/// Probes passed by one warp.
pub type Sequence = Vec<Passed>;

/// A divergent execution of a branch before either side has run.
struct Open {
    branch: u32,
    taken: LaneMask,
    other: LaneMask,
}

/// Counts for each probe the divergent branches with either side first. Order: taken side, other
/// side.
///
/// The first side is the one that first enters a block alone. A side without a block of its own,
/// because it leads to the reconvergence point or to a bare exit, does not count; if neither side
/// has one, no side is first.
pub(super) fn first_sides(probes: &[Probe], sequence: &[Passed]) -> Vec<[u64; 2]> {
    let mut first = vec![[0; 2]; probes.len()];
    let mut open: Vec<Open> = Vec::new();
    for passed in sequence {
        match probes.get(passed.probe as usize).map(|p| p.kind) {
            Some(ProbeKind::Branch) => {
                let (taken, other) = (passed.taken, passed.lanes - passed.taken);
                if !taken.is_empty() && !other.is_empty() {
                    open.push(Open { branch: passed.probe, taken, other });
                }
            }
            Some(ProbeKind::Block) => open.retain(|visit| {
                let (a, b) =
                    (passed.lanes.intersects(visit.taken), passed.lanes.intersects(visit.other));
                if a != b {
                    first[visit.branch as usize][usize::from(b)] += 1;
                }
                !a && !b
            }),
            None => {}
        }
    }
    first
}

/// Log of one lane, in order: time and probe.
#[derive(Clone, Debug, Default)]
pub(super) struct LaneLog {
    pub(super) entries: Vec<(i64, Passed)>,
    /// True if entries were lost.
    pub(super) overflown: bool,
}

/// Merges the logs of a warp's lanes by time. Ends with the first log that lost entries.
pub(super) fn merged(lanes: &[LaneLog]) -> Sequence {
    let full = lanes.iter().filter(|lane| lane.overflown);
    let end = full
        .filter_map(|lane| lane.entries.last())
        .map(|(time, _)| *time)
        .min()
        .unwrap_or(i64::MAX);
    let mut all: Vec<(i64, Passed)> =
        lanes.iter().flat_map(|lane| lane.entries.iter().copied()).collect();
    all.sort_by_key(|(time, _)| *time);
    all.into_iter().filter(|(time, _)| *time <= end).map(|(_, passed)| passed).collect()
}

impl Instrumented {
    /// Decodes a log of 32-bit words into sequences, by warp.
    ///
    /// Times are the low words of a clock. Within one warp they are assumed to be less than half of
    /// that range apart.
    pub fn read_log(&self, words: &[u32]) -> Vec<Sequence> {
        let Some((_, log)) = &self.log else { return Vec::new() };
        let lane_words = usize::try_from(log.stride() / 4).unwrap_or(usize::MAX).max(1);
        let warp_words = lane_words.saturating_mul(self.warp_size.max(1) as usize);
        let entries = |words: &[u32]| words.first().map_or(0, |&n| n.min(log.events)) as usize;
        let warp = |words: &[u32]| {
            let origin = words
                .chunks_exact(lane_words)
                .find(|lane| entries(lane) > 0)
                .map_or(0, |lane| lane[7]);
            let lane = |words: &[u32]| LaneLog {
                entries: words
                    .chunks_exact(4)
                    .skip(1)
                    .take(entries(words))
                    .filter_map(|e| self.entry(e, origin))
                    .collect(),
                overflown: words.first().is_some_and(|&n| n > log.events),
            };
            merged(&words.chunks_exact(lane_words).map(lane).collect::<Vec<_>>())
        };
        words.chunks_exact(warp_words).map(warp).collect()
    }

    /// Decodes one entry: probe, lanes, taken lanes, clock.
    fn entry(&self, words: &[u32], origin: u32) -> Option<(i64, Passed)> {
        let &[probe, lanes, taken, clock] = words else { return None };
        let kind = self.probes.get(probe as usize)?.kind;
        let taken = if kind == ProbeKind::Branch { taken } else { 0 };
        let time = i64::from(clock.wrapping_sub(origin).cast_signed());
        Some((time, Passed { probe, lanes: LaneMask(lanes), taken: LaneMask(taken) }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use simt_core::diag::Span;

    #[test]
    fn logs_of_lanes_are_merged_up_to_the_first_gap() {
        let log = |times: &[i64], overflown| LaneLog {
            entries: times
                .iter()
                .map(|&t| {
                    (t, Passed { probe: t as u32, lanes: LaneMask::FULL, taken: LaneMask::EMPTY })
                })
                .collect(),
            overflown,
        };
        for (lanes, expected) in [
            (vec![log(&[1, 4], false), log(&[], false), log(&[2, 3], false)], vec![1, 2, 3, 4]),
            (
                vec![log(&[1, 4, 9], false), log(&[2, 6], true), log(&[3, 7], true)],
                vec![1, 2, 3, 4, 6],
            ),
        ] {
            let found: Vec<u32> = merged(&lanes).iter().map(|p| p.probe).collect();
            assert_eq!(found, expected);
        }
    }

    #[test]
    fn the_side_that_enters_a_block_alone_is_first() {
        let probe = |kind| Probe { kind, at: Span::default(), first: 0 };
        let probes = [probe(ProbeKind::Branch), probe(ProbeKind::Block), probe(ProbeKind::Branch)];
        let branch =
            |probe, lanes, taken| Passed { probe, lanes: LaneMask(lanes), taken: LaneMask(taken) };
        let block = |lanes| Passed { probe: 1, lanes: LaneMask(lanes), taken: LaneMask::EMPTY };
        for (sequence, expected) in [
            (vec![branch(0, 0xf, 0x3), block(0x3), block(0xc), block(0xf)], [[1, 0], [0, 0]]),
            (vec![branch(0, 0xf, 0x3), block(0xc), block(0xf)], [[0, 1], [0, 0]]),
            (vec![branch(0, 0xf, 0x3), block(0xf), block(0x3)], [[0, 0], [0, 0]]),
            (vec![branch(0, 0xf, 0xf), block(0xf)], [[0, 0], [0, 0]]),
            // The side that runs first diverges again before the other has run.
            (
                vec![
                    branch(0, 0xf, 0x3),
                    block(0x3),
                    branch(2, 0x3, 0x1),
                    block(0x2),
                    block(0x1),
                    block(0xc),
                ],
                [[1, 0], [0, 1]],
            ),
            // Another group of the warp runs in between.
            (vec![branch(0, 0xf, 0x3), block(0xf0), block(0xc), block(0x3)], [[0, 1], [0, 0]]),
        ] {
            let first = first_sides(&probes, &sequence);
            assert_eq!([first[0], first[2]], expected, "{sequence:?}");
        }
    }
}
