//! Dominators.

use petgraph::algo::dominators::simple_fast;
use petgraph::graph::NodeIndex;

use super::{Successors, petgraph};

/// Returns the immediate dominator of every node reachable from `start`, except `start`.
pub(crate) fn dominators(graph: &Successors, start: usize) -> Vec<Option<usize>> {
    if graph.is_empty() {
        return Vec::new();
    }
    let tree = simple_fast(&petgraph(graph), NodeIndex::new(start));
    (0..graph.len())
        .map(|n| tree.immediate_dominator(NodeIndex::new(n)).map(NodeIndex::index))
        .collect()
}

/// Returns each node's depth in the dominator tree.
pub(crate) fn depths(idom: &[Option<usize>]) -> Vec<u32> {
    let mut depths: Vec<Option<u32>> = vec![None; idom.len()];
    for start in 0..idom.len() {
        let unknown: Vec<usize> = std::iter::successors(Some(start), |&n| idom[n])
            .take_while(|&n| depths[n].is_none())
            .collect();
        for &n in unknown.iter().rev() {
            depths[n] = Some(idom[n].and_then(|above| depths[above]).map_or(0, |above| above + 1));
        }
    }
    depths.into_iter().map(Option::unwrap_or_default).collect()
}

/// Returns true if `a` dominates `b`, given the immediate dominators and their [`depths`].
pub(crate) fn dominates(idom: &[Option<usize>], depths: &[u32], a: usize, b: usize) -> bool {
    std::iter::successors(Some(b), |&n| idom[n])
        .take_while(|&n| depths[n] >= depths[a])
        .any(|n| n == a)
}

/// Returns the immediate dominators of an acyclic graph in topological order.
///
/// Nodes except `start` must be numbered in topological order. It is faster than [`dominators`],
/// which takes quadratic time in deep nests: each node's dominator is the nearest common dominator
/// of its predecessors, found by pointers that jump (Myers, "An applicative random-access stack",
/// 1983).
pub(crate) fn dominators_in_order(graph: &Successors, start: usize) -> Vec<Option<usize>> {
    let mut tree = Jumps {
        above: vec![None; graph.len()],
        jump: vec![start; graph.len()],
        depth: vec![0; graph.len()],
    };
    for node in std::iter::once(start).chain(0..graph.len()).filter(|&n| n < graph.len()) {
        if node != start {
            let Some(above) = tree.above[node] else { continue }; // unreachable
            tree.insert(node, above);
        }
        for &next in &graph[node] {
            tree.above[next] =
                Some(tree.above[next].map_or(node, |known| tree.common(known, node)));
        }
    }
    tree.above
}

/// A tree in which each node has a pointer to a far ancestor.
struct Jumps {
    above: Vec<Option<usize>>,
    jump: Vec<usize>,
    depth: Vec<u32>,
}

impl Jumps {
    /// Adds `node` below `above`.
    fn insert(&mut self, node: usize, above: usize) {
        let far = self.jump[above];
        let even =
            self.depth[above] - self.depth[far] == self.depth[far] - self.depth[self.jump[far]];
        self.jump[node] = if even { self.jump[far] } else { above };
        self.depth[node] = self.depth[above] + 1;
    }

    fn up(&self, node: usize) -> usize {
        self.above[node].unwrap_or(node)
    }

    /// Returns the lowest common ancestor of two nodes.
    fn common(&self, a: usize, b: usize) -> usize {
        let (mut a, mut b) = if self.depth[a] < self.depth[b] { (b, a) } else { (a, b) };
        while self.depth[a] > self.depth[b] {
            a = if self.depth[self.jump[a]] >= self.depth[b] { self.jump[a] } else { self.up(a) };
        }
        while a != b {
            (a, b) = if self.jump[a] == self.jump[b] {
                (self.up(a), self.up(b))
            } else {
                (self.jump[a], self.jump[b])
            };
        }
        a
    }
}
