//! Natural loops.
//!
//! A back edge leads to a block that dominates its source. The loop is the set of blocks that can
//! reach the source without passing the header (Aho, Lam, Sethi, Ullman, section 9.6). Cycles
//! without such an edge (irreducible ones) are not loops.

use crate::base::BasicBlockId;
use crate::graph::{Bits, Successors, depths as depths_of, dominates, reach, reversed};

/// A natural loop. All back edges to the same header belong to one loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loop {
    /// Header, the only entry.
    pub header: BasicBlockId,
    /// Sources of its back edges.
    pub latches: Vec<BasicBlockId>,
    /// Blocks in ascending order, including the header.
    pub body: Vec<BasicBlockId>,
    /// Nesting depth: 1 for an outermost loop.
    pub depth: u32,
}

/// Returns the loops by header.
///
/// `graph` has the edges of reachable blocks, `idom` their dominators.
pub(super) fn loops(graph: &Successors, idom: &[Option<usize>]) -> Vec<Loop> {
    let (back, depths) = (reversed(graph), depths_of(idom));
    let live = if graph.is_empty() { Bits::default() } else { reach(graph, [0], None) };
    let mut found: Vec<(usize, Vec<usize>, Bits)> = Vec::new();
    for header in live.iter() {
        let closes = |&&p: &&usize| live.contains(p) && dominates(idom, &depths, header, p);
        let latches: Vec<usize> = back[header].iter().filter(closes).copied().collect();
        if !latches.is_empty() {
            let mut body = reach(&back, latches.iter().copied(), Some(header));
            body.insert(header);
            let body = body.iter().filter(|&b| live.contains(b)).collect();
            found.push((header, latches, body));
        }
    }
    let id = |n: usize| BasicBlockId(n as u32);
    found
        .iter()
        .map(|(header, latches, body)| Loop {
            header: id(*header),
            latches: latches.iter().copied().map(id).collect(),
            body: body.iter().map(id).collect(),
            depth: found.iter().filter(|(_, _, outer)| outer.contains(*header)).count() as u32,
        })
        .collect()
}

/// Returns the number of loops around each block.
pub(super) fn depths(loops: &[Loop], blocks: usize) -> Vec<u32> {
    let mut depth = vec![0; blocks];
    for block in loops.iter().flat_map(|l| &l.body) {
        depth[block.index()] += 1;
    }
    depth
}
