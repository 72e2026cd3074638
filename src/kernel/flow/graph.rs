//! Basic blocks and the edges between them.
//!
//! A block ends at a branch, at an unguarded `exit` or `trap`, and before every branch target. A guarded `exit` does not end a
//! block: its lanes vanish and the others fall through, so it is no fork in the road that anybody could come back from.

use petgraph::graph::{DiGraph, NodeIndex};

use super::Bits;
use crate::base::BasicBlockId;
use crate::kernel::{Inst, Op};

/// A run of instructions that is entered at its first one and left at its last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BasicBlock {
    /// Its number; blocks are numbered in the order written.
    pub id: BasicBlockId,
    /// Its first instruction.
    pub first: u32,
    /// One past its last instruction.
    pub end: u32,
    /// Where it can go: the branch target first. No duplicates; empty when it ends in an exit.
    pub successors: Vec<BasicBlockId>,
    /// The blocks that can go here, in order of their numbers.
    pub predecessors: Vec<BasicBlockId>,
    /// Whether any path from the start of the kernel comes here.
    pub reachable: bool,
}

impl BasicBlock {
    /// Its instructions as indices into `Kernel::insts`.
    pub fn range(&self) -> std::ops::Range<usize> {
        self.first as usize..self.end as usize
    }

    /// Its last instruction.
    pub fn last(&self) -> usize {
        self.end as usize - 1
    }
}

/// Whether control never goes past the instruction, for any lane.
fn ends_lanes(inst: &Inst) -> bool {
    inst.guard.is_none() && matches!(inst.op, Op::Exit | Op::Trap)
}

/// The blocks, and for each instruction its block.
pub(super) fn blocks(insts: &[Inst]) -> (Vec<BasicBlock>, Vec<BasicBlockId>) {
    let mut leads = vec![false; insts.len() + 1];
    leads[0] = true;
    for (i, inst) in insts.iter().enumerate() {
        if let Op::Branch { target, .. } = inst.op {
            leads[target.index().min(insts.len())] = true;
        }
        if ends_lanes(inst) || matches!(inst.op, Op::Branch { .. }) {
            leads[i + 1] = true;
        }
    }
    let mut blocks: Vec<BasicBlock> = Vec::new();
    let mut block_of = Vec::with_capacity(insts.len());
    for (i, &leads) in leads.iter().enumerate().take(insts.len()) {
        if leads {
            blocks.push(BasicBlock {
                id: BasicBlockId(blocks.len() as u32),
                first: i as u32,
                end: i as u32,
                successors: Vec::new(),
                predecessors: Vec::new(),
                reachable: false,
            });
        }
        let block = blocks.len() - 1;
        blocks[block].end = i as u32 + 1;
        block_of.push(BasicBlockId(block as u32));
    }
    for b in 0..blocks.len() {
        let last = blocks[b].last();
        let next = block_of.get(last + 1).copied();
        let mut successors: Vec<BasicBlockId> = match insts[last].op {
            _ if ends_lanes(&insts[last]) => Vec::new(),
            Op::Branch { target, .. } => {
                let fall = insts[last].guard.and(next);
                block_of.get(target.index()).copied().into_iter().chain(fall).collect()
            }
            _ => next.into_iter().collect(),
        };
        successors.dedup();
        for s in &successors {
            blocks[s.index()].predecessors.push(BasicBlockId(b as u32));
        }
        blocks[b].successors = successors;
    }
    if !blocks.is_empty() {
        let seen = reach(&successors(&blocks), [0], None);
        for b in seen.iter() {
            blocks[b].reachable = true;
        }
    }
    (blocks, block_of)
}

/// Successor lists by number: the form in which the analyses take graphs.
pub(super) type Successors = Vec<Vec<usize>>;

pub(super) fn successors(blocks: &[BasicBlock]) -> Successors {
    blocks.iter().map(|b| b.successors.iter().map(|s| s.index()).collect()).collect()
}

/// The nodes that `starts` reach, themselves included, on paths that do not touch `without`.
pub(super) fn reach(graph: &Successors, starts: impl IntoIterator<Item = usize>, without: Option<usize>) -> Bits {
    let mut seen = Bits::new(graph.len());
    let mut open: Vec<usize> = starts.into_iter().filter(|&n| Some(n) != without).collect();
    while let Some(node) = open.pop() {
        if seen.insert(node) {
            open.extend(graph[node].iter().copied().filter(|&n| Some(n) != without));
        }
    }
    seen
}

/// The graph with every edge turned round.
pub(super) fn reversed(graph: &Successors) -> Successors {
    let mut back = vec![Vec::new(); graph.len()];
    for (node, next) in graph.iter().enumerate() {
        for &n in next {
            back[n].push(node);
        }
    }
    back
}

/// The same graph for petgraph's algorithms; node `n` has index `n`.
pub(super) fn petgraph(graph: &Successors) -> DiGraph<(), ()> {
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

/// The strongly connected components of `graph` without the node `without`, and for each node the number of its
/// component. Components are in topological order: edges between them lead from lower to higher numbers.
pub(super) fn components(graph: &Successors, without: Option<usize>) -> (Vec<Vec<usize>>, Vec<usize>) {
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
    components.reverse(); // Tarjan's order is the reverse of a topological one
    let mut component_of = vec![0; graph.len()];
    for (i, nodes) in components.iter().enumerate() {
        for &n in nodes {
            component_of[n] = i;
        }
    }
    (components, component_of)
}

/// Whether the component `nodes` holds a cycle (of edges that avoid `without`, which is in none).
pub(super) fn is_cycle(graph: &Successors, nodes: &[usize]) -> bool {
    nodes.len() > 1 || graph[nodes[0]].contains(&nodes[0])
}
