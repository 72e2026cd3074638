//! The probes that one warp passed, in order, and what follows from them.

use super::pass::{Instrumented, Probe, ProbeKind};
use crate::base::LaneMask;

/// A probe that was passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passed {
    /// Its place in [`Instrumented::probes`].
    pub probe: u32,
    /// The lanes that passed it together.
    pub lanes: LaneMask,
    /// Of a branch, those that will branch.
    pub taken: LaneMask,
}

/// What one warp passed.
pub type Sequence = Vec<Passed>;

/// A divergent execution of a branch of which no side has run yet.
struct Open {
    branch: u32,
    taken: LaneMask,
    other: LaneMask,
}

/// For each probe how often the taken side of a divergent branch ran first, and how often the other.
///
/// The side that first enters a block by itself runs first. A side that has no block of its own, because it leads to where
/// both meet or to a bare exit, does not; if neither has one, nobody is first.
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
                let (a, b) = (passed.lanes.intersects(visit.taken), passed.lanes.intersects(visit.other));
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

impl Instrumented {
    /// The sequences that a log of 32-bit words holds, by warp; a log of fewer words is one of fewer warps.
    pub fn read_log(&self, words: &[u32]) -> Vec<Sequence> {
        let Some((_, log)) = &self.log else { return Vec::new() };
        let stride = usize::try_from(log.stride() / 4).unwrap_or(usize::MAX);
        let warp = |words: &[u32]| {
            let kept = words.first().map_or(0, |&n| n.min(log.events)) as usize;
            let entries = words.chunks_exact(4).skip(1).take(kept);
            entries
                .filter_map(|entry| {
                    let probe = self.probes.get(*entry.first()? as usize)?;
                    let taken = if probe.kind == ProbeKind::Branch { entry[2] } else { 0 };
                    Some(Passed { probe: entry[0], lanes: LaneMask(entry[1]), taken: LaneMask(taken) })
                })
                .collect()
        };
        words.chunks_exact(stride).map(warp).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diag::Span;

    #[test]
    fn the_side_that_enters_a_block_alone_is_first() {
        let probe = |kind| Probe { kind, at: Span::default(), first: 0 };
        let probes = [probe(ProbeKind::Branch), probe(ProbeKind::Block), probe(ProbeKind::Branch)];
        let branch = |probe, lanes, taken| Passed { probe, lanes: LaneMask(lanes), taken: LaneMask(taken) };
        let block = |lanes| Passed { probe: 1, lanes: LaneMask(lanes), taken: LaneMask::EMPTY };
        for (sequence, expected) in [
            (vec![branch(0, 0xf, 0x3), block(0x3), block(0xc), block(0xf)], [[1, 0], [0, 0]]),
            (vec![branch(0, 0xf, 0x3), block(0xc), block(0xf)], [[0, 1], [0, 0]]),
            (vec![branch(0, 0xf, 0x3), block(0xf), block(0x3)], [[0, 0], [0, 0]]),
            (vec![branch(0, 0xf, 0xf), block(0xf)], [[0, 0], [0, 0]]),
            // The side that runs first parts again, before the other has run.
            (
                vec![branch(0, 0xf, 0x3), block(0x3), branch(2, 0x3, 0x1), block(0x2), block(0x1), block(0xc)],
                [[1, 0], [0, 1]],
            ),
            // Another group of the warp comes between.
            (vec![branch(0, 0xf, 0x3), block(0xf0), block(0xc), block(0x3)], [[0, 1], [0, 0]]),
        ] {
            let first = first_sides(&probes, &sequence);
            assert_eq!([first[0], first[2]], expected, "{sequence:?}");
        }
    }
}
