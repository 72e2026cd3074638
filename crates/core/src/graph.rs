//! Algorithms on directed graphs: reachability, strongly connected components, dominators.
//!
//! Nodes are numbers; a graph is the list of each node's successors ([`Successors`]). Control-flow
//! analysis ([`crate::kernel`]) and the placement of convergence barriers ([`crate::ptxas`]) use
//! them.

mod bits;
mod dominators;

use petgraph::graph::{DiGraph, NodeIndex};

pub(crate) use bits::Bits;
pub(crate) use dominators::{depths, dominates, dominators, dominators_in_order};

/// Successors of each node, the form in which the analyses take graphs.
pub(crate) type Successors = Vec<Vec<usize>>;

/// Returns the nodes reachable from `starts`, inclusive, on paths without node `without`.
pub(crate) fn reach(
    graph: &Successors,
    starts: impl IntoIterator<Item = usize>,
    without: Option<usize>,
) -> Bits {
    let mut seen = Bits::new(graph.len());
    let mut open: Vec<usize> = starts.into_iter().filter(|&n| Some(n) != without).collect();
    while let Some(node) = open.pop() {
        if seen.insert(node) {
            open.extend(graph[node].iter().copied().filter(|&n| Some(n) != without));
        }
    }
    seen
}

/// Returns the nodes of `within` that `start` reaches on paths through `within`.
///
/// `start` itself is included only if it is in `within` and on a cycle of such a path.
pub(crate) fn reach_within(graph: &Successors, start: usize, within: &Bits) -> Bits {
    let mut seen = Bits::new(graph.len());
    let mut open = vec![start];
    while let Some(node) = open.pop() {
        open.extend(graph[node].iter().copied().filter(|&n| within.contains(n) && seen.insert(n)));
    }
    seen
}

/// Returns the graph with every edge reversed.
pub(crate) fn reversed(graph: &Successors) -> Successors {
    let mut back = vec![Vec::new(); graph.len()];
    for (node, next) in graph.iter().enumerate() {
        for &n in next {
            back[n].push(node);
        }
    }
    back
}

/// Returns the graph in petgraph's form; node `n` has index `n`.
pub(crate) fn petgraph(graph: &Successors) -> DiGraph<(), ()> {
    let mut out = DiGraph::with_capacity(graph.len(), graph.len() * 2);
    for _ in graph {
        out.add_node(());
    }
    for (node, next) in graph.iter().enumerate() {
        for &n in next {
            out.add_edge(NodeIndex::new(node), NodeIndex::new(n), ());
        }
    }
    out
}

/// Returns the strongly connected components, and the component of each node.
///
/// Node `without` and its edges are left out. Components are in topological order: edges between
/// them lead from lower to higher numbers.
pub(crate) fn components(
    graph: &Successors,
    without: Option<usize>,
) -> (Vec<Vec<usize>>, Vec<usize>) {
    let mut cut = graph.clone();
    if let Some(w) = without {
        for next in &mut cut {
            next.retain(|&n| n != w);
        }
        cut[w].clear();
    }
    let mut components: Vec<Vec<usize>> = petgraph::algo::tarjan_scc(&petgraph(&cut))
        .into_iter()
        .map(|nodes| {
            let mut nodes: Vec<usize> = nodes.into_iter().map(NodeIndex::index).collect();
            nodes.sort_unstable();
            nodes
        })
        .collect();
    components.reverse(); // Tarjan's algorithm returns them in reverse topological order
    let mut component_of = vec![0; graph.len()];
    for (i, nodes) in components.iter().enumerate() {
        for &n in nodes {
            component_of[n] = i;
        }
    }
    (components, component_of)
}

/// Returns true if the component `nodes` has a cycle.
pub(crate) fn is_cycle(graph: &Successors, nodes: &[usize]) -> bool {
    nodes.len() > 1 || graph[nodes[0]].contains(&nodes[0])
}
