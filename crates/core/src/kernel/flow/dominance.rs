//! Dominators, and post-dominators that ignore exits.
//!
//! A lane that exits leaves every join, so a path to an exit must not push a join behind the code where the other lanes meet
//! again: in `if (a) { if (b) return; X } Y` the outer branch joins at Y and the inner one at X, although Y does not
//! post-dominate `a` in the textbook's sense (an H200 re-joins before Y, too).
//!
//! Definition. Blocks are dealt out to *layers*. A layer has one exit, its *main* one, and holds the blocks, not in an earlier layer,
//! that can reach it. The immediate post-dominator of a block is the textbook's within its layer: edges to other layers do not
//! count. The main exit of a layer is the one that most of the remaining blocks lead to that hold a block barrier or a warp's `.sync` (where
//! threads wait for each other, those that have not returned early are together); among equals the one that most of the remaining blocks can reach, then the
//! one in the fewest loops, then the last in the text. A block that is nothing but an exit is as many exits as it has edges in: every jump to a shared
//! `ret` is a return of its own. Blocks that reach no exit circle for ever; their layers end where the circle closes: an edge back
//! to the circle's first block leads to the layer's end.
//!
//! In a device function the `ret`, of which there is one, is the main exit of the first layer whatever else there is: there the
//! lanes of an activation meet at the latest, and return together.
//!
//! Why this is safe for the reconvergence stack. Blocks of a later layer reach no block of an earlier one, else they would be in
//! it. So a lane either stays in the layer, where textbook post-dominators nest, or leaves it for ever, and exits
//! without passing any reconvergence point that waits for it. (Edges back to the first block of an endless circle stand for the
//! layer's end; a lane that takes one has passed every join of the layer that lay ahead of it.)

use std::collections::BTreeSet;

use petgraph::algo::dominators::simple_fast;
use petgraph::graph::NodeIndex;
use petgraph::visit::Reversed;

use super::BasicBlock;
use crate::graph::{Bits, Successors, components, depths, dominators, is_cycle, petgraph, reach, reversed};
use crate::kernel::{Inst, Match, Op, Redux, Row, Shuffle, Vote};

/// Blocks that hold nothing but an exit.
pub(super) fn bare_exits(insts: &[Inst], blocks: &[BasicBlock]) -> Bits {
    let bare = |b: &&BasicBlock| {
        b.range().len() == 1 && b.id.index() != 0 && insts[b.last()].guard.is_none() && insts[b.last()].op == Op::Exit
    };
    blocks.iter().filter(bare).map(|b| b.id.index()).collect()
}

/// The block that ends in the return of a device function.
pub(super) fn returning(insts: &[Inst], blocks: &[BasicBlock]) -> Option<usize> {
    blocks.iter().find(|b| insts[b.last()].op == Op::Return).map(|b| b.id.index())
}

/// Blocks in which threads wait for the others of their thread block, or of their warp. (A `.sync` with the mask that an `activemask`
/// gave waits for nobody.)
pub(super) fn waiting(insts: &[Inst], blocks: &[BasicBlock]) -> Bits {
    let present = insts.iter().filter_map(|inst| if let Op::ActiveMask { d } = inst.op { Some(d) } else { None });
    let present: BTreeSet<Row> = present.collect();
    let waits = |inst: &Inst| match &inst.op {
        Op::Barrier(_) => true,
        Op::WarpSync { mask }
        | Op::Shuffle(Shuffle { mask, .. })
        | Op::Vote(Vote { mask, .. })
        | Op::Match(Match { mask, .. })
        | Op::Redux(Redux { mask, .. }) => !present.contains(mask),
        _ => false,
    };
    blocks.iter().filter(|b| insts[b.range()].iter().any(waits)).map(|b| b.id.index()).collect()
}

/// Post-dominators that ignore exits.
#[derive(Clone, Debug, Default)]
pub(super) struct PostDominance {
    /// The immediate post-dominator of each block; `None` at the main exits, in unreachable blocks, and where paths
    /// meet nowhere.
    pub(super) ipdom: Vec<Option<usize>>,
    /// The edges that stay within a layer. A branch with two of them has sides that meet at its post-dominator.
    pub(super) inner: Successors,
}

/// An end of the road.
struct Exit {
    /// The block that exits, or the block from which a bare exit is entered.
    from: usize,
    /// That bare exit.
    bare: Option<usize>,
    /// The blocks that can come here.
    reached_by: Bits,
    /// How many of them are in no layer yet, and in how many of these threads wait for others.
    count: usize,
    waits: usize,
}

/// `bare`, `waiting`, `returning`: what the functions of that name found; `depth`: the number of loops around each block.
pub(super) fn post_dominance(
    graph: &Successors,
    bare: &Bits,
    waiting: &Bits,
    returning: Option<usize>,
    depth: &[u32],
) -> PostDominance {
    let mut out = PostDominance { ipdom: vec![None; graph.len()], inner: vec![Vec::new(); graph.len()] };
    if graph.is_empty() {
        return out;
    }
    let back = reversed(graph);
    let mut remaining: Vec<usize> = reach(graph, [0], None).iter().filter(|&b| !bare.contains(b)).collect();
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
            (returns, exit.waits, passed, exit.count, std::cmp::Reverse(depth[exit.from]), exit.from)
        };
        let main = exits.iter().max_by_key(weigh);
        let (members, ends): (Bits, Vec<(usize, Option<usize>)>) = match main {
            Some(exit) => {
                let members = remaining.iter().copied().filter(|&b| exit.reached_by.contains(b)).collect();
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

/// By block: how many blocks in which threads wait lie on every way to it, itself included. Of two exits that the same waits can lead
/// to, the main one is that which lanes reach only after them: a lane that leaves for the other one, as by a `ret` in a loop
/// around a `.sync`, waits there for nobody.
fn waits_passed(graph: &Successors, waiting: &Bits) -> Vec<u32> {
    let idom = dominators(graph, 0);
    let mut order: Vec<usize> = (0..graph.len()).collect();
    let depth = depths(&idom);
    order.sort_by_key(|&block| depth[block]);
    let mut passed = vec![0; graph.len()];
    for block in order {
        passed[block] = u32::from(waiting.contains(block)) + idom[block].map_or(0, |above| passed[above]);
    }
    passed
}

/// A layer for blocks that reach no exit: those that reach one circle without a way out, and the edges that close it.
fn endless(
    graph: &Successors,
    back: &Successors,
    components: &[Vec<usize>],
    remaining: &[usize],
) -> (Bits, Vec<(usize, Option<usize>)>) {
    let inside: Bits = remaining.iter().copied().collect();
    // In topological order the last component of the remaining blocks has no way out.
    let circle = components.iter().rev().find(|c| inside.contains(c[0]) && is_cycle(graph, c));
    let Some(circle) = circle else {
        return (inside, Vec::new());
    };
    let entered = |&&b: &&usize| back[b].iter().any(|p| !circle.contains(p));
    let first = circle.iter().find(entered).copied().unwrap_or(circle[0]);
    let members = reach(back, [first], None).iter().filter(|&b| inside.contains(b)).collect();
    let ends = back[first].iter().filter(|p| circle.contains(p)).map(|&p| (p, Some(first))).collect();
    (members, ends)
}

/// Post-dominators within one layer. `ends`: the edges (or, with `None`, the blocks) that lead to its end; when `cut`,
/// what stands behind those edges is not the end's own block but one of the layer's. `number` has room for a number of each block:
/// the layer's are numbered anew, so that many small layers take no longer than one large one.
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
