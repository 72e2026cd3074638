//! Dominators, and post-dominators that ignore exits.
//!
//! A lane that exits leaves every join, so a path to an exit must not move a reconvergence point
//! past the code where the other lanes reconverge. In `if (a) { if (b) return; X } Y` the outer
//! branch joins at Y and the inner one at X, although Y does not post-dominate `a` in the textbook
//! sense (an H200 reconverges before Y, too).
//!
//! *Definition.* Blocks are divided into *layers*. A layer has one *main* exit and contains the
//! blocks that can reach it and are in no earlier layer. The immediate post-dominator of a block is
//! the textbook's within its layer: edges to other layers do not count. The main exit of a layer is
//! selected by, in this order:
//!
//! 1. the most remaining blocks that can reach it and contain a block barrier or a `.sync` of the
//!    warp (threads that have not returned early are converged there, because they wait for each
//!    other);
//! 2. the most remaining blocks that can reach it;
//! 3. the fewest loops around it;
//! 4. the last position in the text.
//!
//! A block that contains only an exit counts as one exit per incoming edge: every jump to a shared
//! `ret` is a separate return. Blocks that reach no exit are in an infinite loop. Their layer ends
//! at the loop's back edges: an edge to the loop's first block leads to the end of the layer.
//!
//! In a device function, the only `ret` is always the main exit of the first layer: the lanes of an
//! activation reconverge there at the latest, and return together.
//!
//! *Safety for the reconvergence stack.* Blocks of a later layer reach no block of an earlier one,
//! or they would be in it. So a lane either stays in the layer, where textbook post-dominators
//! nest, or leaves it permanently, and exits without passing any reconvergence point that waits for
//! it. (Edges to the first block of an infinite loop count as the end of the layer; a lane that
//! takes one has passed every join of the layer ahead of it.)

use std::collections::BTreeSet;

use petgraph::algo::dominators::simple_fast;
use petgraph::graph::NodeIndex;
use petgraph::visit::Reversed;

use super::BasicBlock;
use crate::graph::{
    Bits, Successors, components, depths, dominators, is_cycle, petgraph, reach, reversed,
};
use crate::kernel::{Inst, Match, Op, Redux, Row, Shuffle, Vote};

/// Returns the blocks that contain only an exit.
pub(super) fn bare_exits(insts: &[Inst], blocks: &[BasicBlock]) -> Bits {
    let bare = |b: &&BasicBlock| {
        b.range().len() == 1
            && b.id.index() != 0
            && insts[b.last()].guard.is_none()
            && insts[b.last()].op == Op::Exit
    };
    blocks.iter().filter(bare).map(|b| b.id.index()).collect()
}

/// Returns the block that ends in the `ret` of a device function.
pub(super) fn returning(insts: &[Inst], blocks: &[BasicBlock]) -> Option<usize> {
    blocks.iter().find(|b| insts[b.last()].op == Op::Return).map(|b| b.id.index())
}

/// Returns the blocks in which threads wait for others of their thread block or warp.
///
/// A `.sync` with the mask of an `activemask` waits for no lane.
pub(super) fn waiting(insts: &[Inst], blocks: &[BasicBlock]) -> Bits {
    let present = insts
        .iter()
        .filter_map(|inst| if let Op::ActiveMask { d } = inst.op { Some(d) } else { None });
    let present: BTreeSet<Row> = present.collect();
    let waits = |inst: &Inst| match &inst.op {
        Op::Barrier(_) => true,
        Op::Mma(_) | Op::GroupMma(_) | Op::MatrixAccess(_) | Op::MatrixTranspose { .. } => true,
        Op::WarpSync { mask }
        | Op::Gather { mask, .. }
        | Op::Shuffle(Shuffle { mask, .. })
        | Op::Vote(Vote { mask, .. })
        | Op::Match(Match { mask, .. })
        | Op::Redux(Redux { mask, .. }) => !present.contains(&mask.row),
        _ => false,
    };
    blocks.iter().filter(|b| insts[b.range()].iter().any(waits)).map(|b| b.id.index()).collect()
}

/// Exit-ignoring post-dominators.
#[derive(Clone, Debug, Default)]
pub(super) struct PostDominance {
    /// Immediate post-dominator of each block.
    ///
    /// `None` at the main exits, in unreachable blocks, and where paths do not reconverge.
    pub(super) ipdom: Vec<Option<usize>>,
    /// Edges within a layer.
    ///
    /// The sides of a branch with two of them reconverge at its post-dominator.
    pub(super) inner: Successors,
}

/// An exit of the graph.
struct Exit {
    /// Block that exits, or block from which a bare exit is entered.
    from: usize,
    /// The bare exit.
    bare: Option<usize>,
    /// Blocks that can reach it.
    reached_by: Bits,
    /// Number of these blocks that are in no layer yet, and of those in which threads wait.
    count: usize,
    waits: usize,
}

/// Computes exit-ignoring post-dominators.
///
/// `bare`, `waiting` and `returning` are results of the functions of these names; `depth` is the
/// number of loops around each block.
pub(super) fn post_dominance(
    graph: &Successors,
    bare: &Bits,
    waiting: &Bits,
    returning: Option<usize>,
    depth: &[u32],
) -> PostDominance {
    let mut out =
        PostDominance { ipdom: vec![None; graph.len()], inner: vec![Vec::new(); graph.len()] };
    if graph.is_empty() {
        return out;
    }
    let back = reversed(graph);
    let mut remaining: Vec<usize> =
        reach(graph, [0], None).iter().filter(|&b| !bare.contains(b)).collect();
    let passed = waits_passed(graph, waiting);
    let mut exits: Vec<Exit> = Vec::new();
    let exit = |from: usize, bare: Option<usize>| {
        let reached_by = reach(&back, [from], None);
        let before = || remaining.iter().filter(|&&b| reached_by.contains(b));
        let (count, waits) = (before().count(), before().filter(|&&b| waiting.contains(b)).count());
        Exit { from, bare, reached_by, count, waits }
    };
    for &b in &remaining {
        exits.extend(graph[b].is_empty().then(|| exit(b, None)));
        exits.extend(graph[b].iter().filter(|&&s| bare.contains(s)).map(|&s| exit(b, Some(s))));
    }
    let (components, _) = components(graph, None);
    let mut number = vec![0; graph.len()];
    while !remaining.is_empty() {
        exits.retain(|exit| exit.count > 0);
        let weigh = |exit: &&Exit| {
            let returns = returning == Some(exit.from);
            let passed = passed[exit.from];
            (
                returns,
                exit.waits,
                passed,
                exit.count,
                std::cmp::Reverse(depth[exit.from]),
                exit.from,
            )
        };
        let main = exits.iter().max_by_key(weigh);
        let (members, ends): (Bits, Vec<(usize, Option<usize>)>) = match main {
            Some(exit) => {
                let members =
                    remaining.iter().copied().filter(|&b| exit.reached_by.contains(b)).collect();
                (members, vec![(exit.from, exit.bare)])
            }
            None => endless(graph, &back, &components, &remaining),
        };
        let cut = main.is_none();
        remaining.retain(|&b| !members.contains(b));
        for exit in &mut exits {
            for b in members.iter().filter(|&b| exit.reached_by.contains(b)) {
                exit.count -= 1;
                exit.waits -= usize::from(waiting.contains(b));
            }
        }
        layer(graph, &members, &ends, cut, &mut number, &mut out);
    }
    out
}

/// Returns the number of waiting blocks on every path to each block, itself included.
///
/// If the same waits can lead to two exits, the main exit is the one that lanes reach only after
/// them. A lane that leaves by the other exit, as by a `ret` in a loop around a `.sync`, waits for
/// no lane there.
fn waits_passed(graph: &Successors, waiting: &Bits) -> Vec<u32> {
    let idom = dominators(graph, 0);
    let mut order: Vec<usize> = (0..graph.len()).collect();
    let depth = depths(&idom);
    order.sort_by_key(|&block| depth[block]);
    let mut passed = vec![0; graph.len()];
    for block in order {
        passed[block] =
            u32::from(waiting.contains(block)) + idom[block].map_or(0, |above| passed[above]);
    }
    passed
}

/// Returns a layer of blocks that reach no exit, and the edges that close its loop.
///
/// The blocks are those that reach one loop without an exit.
fn endless(
    graph: &Successors,
    back: &Successors,
    components: &[Vec<usize>],
    remaining: &[usize],
) -> (Bits, Vec<(usize, Option<usize>)>) {
    let inside: Bits = remaining.iter().copied().collect();
    // In topological order, the last component of the remaining blocks has no exit.
    let cycle = components.iter().rev().find(|c| inside.contains(c[0]) && is_cycle(graph, c));
    let Some(cycle) = cycle else {
        return (inside, Vec::new());
    };
    let entered = |&&b: &&usize| back[b].iter().any(|p| !cycle.contains(p));
    let first = cycle.iter().find(entered).copied().unwrap_or(cycle[0]);
    let members = reach(back, [first], None).iter().filter(|&b| inside.contains(b)).collect();
    let ends =
        back[first].iter().filter(|p| cycle.contains(p)).map(|&p| (p, Some(first))).collect();
    (members, ends)
}

/// Computes post-dominators within one layer.
///
/// `ends` are the edges (or, with `None`, the blocks) that lead to its end. With `cut`, those edges
/// lead to blocks of the layer instead of bare exits. `number` has room for a number of each block:
/// the layer's blocks are renumbered, so that many small layers take no longer than one large one.
fn layer(
    graph: &Successors,
    members: &Bits,
    ends: &[(usize, Option<usize>)],
    cut: bool,
    number: &mut [usize],
    out: &mut PostDominance,
) {
    let mut nodes: Vec<usize> = members.iter().collect();
    let own = nodes.len();
    nodes.extend(ends.iter().filter_map(|&(_, bare)| bare.filter(|_| !cut)));
    nodes.iter().enumerate().for_each(|(i, &b)| number[b] = i);
    let sink = nodes.len();
    let mut local: Successors = vec![Vec::new(); sink + 1];
    for (i, &b) in nodes[..own].iter().enumerate() {
        let closes = |s: usize| cut && ends.contains(&(b, Some(s)));
        out.inner[b] = graph[b].iter().copied().filter(|&s| members.contains(s)).collect();
        local[i] = out.inner[b].iter().filter(|&&s| !closes(s)).map(|&s| number[s]).collect();
    }
    for &(from, to) in ends {
        match to {
            Some(bare) if !cut => {
                local[number[from]].push(number[bare]);
                out.inner[from].push(bare);
                local[number[bare]] = vec![sink];
            }
            _ => local[number[from]].push(sink),
        }
    }
    let local = petgraph(&local);
    let tree = simple_fast(Reversed(&local), NodeIndex::new(sink));
    for (i, &b) in nodes[..own].iter().enumerate() {
        let above = tree.immediate_dominator(NodeIndex::new(i)).map(NodeIndex::index);
        out.ipdom[b] = above.and_then(|p| nodes.get(p).copied());
    }
}
