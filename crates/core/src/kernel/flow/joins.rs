//! Where the sides of a branch meet, and the convergence barriers that make them.
//!
//! *Meeting places* are the exit-ignoring immediate post-dominators, with one correction: two sides that meet nowhere but at a shared,
//! bare `ret` meet there, unless a join of an enclosing branch lies on the way of one of them. (So the two ends of a
//! plain `if (a) A else B; return` exit together, and so do the threads that skip a whole kernel by `if (i >= n) return`.)
//! Conversely, a jump to a shared `ret` out of a construct that joins elsewhere is an exit of its own: the stream gives it a private
//! copy of the `ret` (ptxas makes it a predicated EXIT), so that it does not wait for the lanes that come there to meet.
//!
//! *Barriers*, as a compiler places them for BSSY and BSYNC. For a branch that may diverge and whose sides meet at block `j`:
//!
//! - if lanes can come round to the branch again without passing `j`, they are in a cycle that they leave at different times: the
//!   barrier is set where that cycle (a strongly connected component of the graph without `j`) is entered; otherwise right before
//!   the branch;
//! - all ways into `j` lead through the sync;
//! - a branch that joins where an enclosing barrier does, and that only lanes of that barrier can reach, needs none of its own:
//!   in the graph without `j`, the place that sets the other barrier dominates it;
//! - where only some of a branch's lanes meet, because others go round that place, there is a barrier, too: see [`super::merges`].
//!
//! Barrier registers are numbered by colouring: barriers whose lanes can be in both at once, or can pass the sync of one while they
//! are in the other, get different numbers, outer ones the lower. In structured programs the number is the depth of nesting. Hardware
//! has sixteen and spills beyond; here there may be more.

use super::dominance::{PostDominance, dominators_in_order};
use super::graph::{Successors, components, is_cycle, reach, reach_within, reversed};
use super::merges::merges;
use super::uniformity::region;
use super::{BasicBlock, Bits};
use crate::base::{BasicBlockId, JoinId};

/// A branch with two sides or, through a table, more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Branch {
    /// The block that ends in it.
    pub block: BasicBlockId,
    /// Its instruction.
    pub inst: u32,
    /// Where its lanes can go, without duplicates: those that branch first, the others last.
    pub sides: Vec<BasicBlockId>,
    /// Whether lanes of one group may go to different sides; when not, all lanes that execute it together agree.
    pub may_diverge: bool,
    /// Where the sides meet, or where the rest goes on when one side only leads to exits; `None` when they meet nowhere.
    pub reconverge: Option<BasicBlockId>,
    /// Whether more than one side leads to `reconverge`.
    pub meets: bool,
}

/// Where a convergence barrier is set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum SetPoint {
    /// Right before the branch that ends this block.
    Branch(usize),
    /// On every edge into this set of blocks from outside, and where the kernel starts if its first block is in it.
    Cycle(Bits),
}

/// A convergence barrier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ConvergenceBarrier {
    pub(super) id: JoinId,
    pub(super) set: SetPoint,
    /// The block at whose head its lanes meet.
    pub(super) join: usize,
    /// The branch it is for (several may share it; this is the first).
    pub(super) branch: usize,
    /// The blocks that its lanes can pass before they meet.
    pub(super) region: Bits,
    /// Whether lanes may turn away from its join.
    pub(super) is_merge: bool,
}

/// Barrier registers that hardware has.
const REGISTERS: usize = 16;

impl ConvergenceBarrier {
    /// The same with all blocks' numbers moved up.
    pub(super) fn shifted(self, by: usize) -> ConvergenceBarrier {
        let up = |bits: Bits| bits.iter().map(|b| b + by).collect();
        ConvergenceBarrier {
            id: self.id,
            set: match self.set {
                SetPoint::Branch(block) => SetPoint::Branch(block + by),
                SetPoint::Cycle(blocks) => SetPoint::Cycle(up(blocks)),
            },
            join: self.join + by,
            branch: self.branch + by,
            region: up(self.region),
            is_merge: self.is_merge,
        }
    }
}

/// The outcome.
#[derive(Clone, Debug, Default)]
pub(super) struct Joins {
    pub(super) branches: Vec<Branch>,
    /// Outer ones before inner ones.
    pub(super) barriers: Vec<ConvergenceBarrier>,
    /// Edges to a bare exit that have a copy of it to themselves.
    pub(super) private_exits: Vec<(usize, usize)>,
}

pub(super) fn place(
    blocks: &[BasicBlock],
    graph: &Successors,
    post: &PostDominance,
    bare: &Bits,
    waiting: &Bits,
    diverging: &Bits,
) -> Joins {
    let mut branches: Vec<Branch> = blocks
        .iter()
        .filter(|b| b.reachable && b.successors.len() >= 2)
        .map(|b| {
            let n = b.id.index();
            Branch {
                block: b.id,
                inst: b.last() as u32,
                sides: b.successors.clone(),
                may_diverge: diverging.contains(n),
                reconverge: post.ipdom[n].map(|p| BasicBlockId(p as u32)),
                meets: post.ipdom[n].is_some() && post.inner[n].len() > 1,
            }
        })
        .collect();
    meet_at_bare_exits(&mut branches, graph, bare, waiting);
    let private_exits = private_exits(&branches, blocks, graph, bare);
    let mut shared = graph.clone();
    for &(from, exit) in &private_exits {
        shared[from].retain(|&s| s != exit);
    }
    let barriers = barriers(&branches, &shared, bare);
    Joins { branches, barriers, private_exits }
}

/// For each branch that may diverge: its block, its meeting place, and the blocks between.
fn regions(branches: &[Branch], graph: &Successors) -> Vec<(usize, usize, Bits)> {
    let diverging = branches.iter().filter(|b| b.may_diverge);
    let met = diverging.filter_map(|b| Some((b.block.index(), b.reconverge?.index())));
    met.map(|(block, meet)| (block, meet, region(graph, block, Some(meet)))).collect()
}

/// Lets branches whose sides meet nowhere before it meet at a shared bare exit, where no other join is in the way, and no
/// barrier on the way of some sides only: those who wait at it would wait for the others, and these for them.
fn meet_at_bare_exits(branches: &mut [Branch], graph: &Successors, bare: &Bits, waiting: &Bits) {
    let regions = regions(branches, graph);
    for branch in branches.iter_mut().filter(|b| !b.meets) {
        let block = branch.block.index();
        // A side that comes to the exit only by way of the branch itself stays in a loop that the others leave: they do not wait for it.
        let sides: Vec<Bits> = branch.sides.iter().map(|s| reach(graph, [s.index()], Some(block))).collect();
        let Some(exit) = bare.iter().find(|&e| sides.iter().all(|side| side.contains(e))) else { continue };
        let from_here = reach(graph, [block], None);
        let enclosed = regions.iter().any(|(other, meet, region)| {
            *other != block && *meet != exit && region.contains(block) && from_here.contains(*meet)
        });
        // The branch's own block is on the way of a side that comes round to it.
        let comes_round = |side: &Bits| side.iter().any(|from| graph[from].contains(&block));
        let waits =
            |side: &Bits| waiting.iter().any(|w| side.contains(w)) || waiting.contains(block) && comes_round(side);
        let some_wait = sides.iter().any(waits) && !sides.iter().all(waits);
        if !enclosed && !some_wait {
            branch.reconverge = Some(BasicBlockId(exit as u32));
            branch.meets = true;
        }
    }
}

/// The edges to bare exits that leave a construct which joins elsewhere, where the exit is a meeting place for others.
fn private_exits(branches: &[Branch], blocks: &[BasicBlock], graph: &Successors, bare: &Bits) -> Vec<(usize, usize)> {
    let regions = regions(branches, graph);
    let mut edges = Vec::new();
    for exit in bare.iter().filter(|e| regions.iter().any(|(_, meet, _)| meet == e)) {
        for from in blocks[exit].predecessors.iter().map(|p| p.index()) {
            if regions.iter().any(|(_, meet, region)| *meet != exit && region.contains(from)) {
                edges.push((from, exit));
            }
        }
    }
    edges
}

fn barriers(branches: &[Branch], graph: &Successors, bare: &Bits) -> Vec<ConvergenceBarrier> {
    let joining = |b: &&Branch| b.may_diverge && b.meets;
    let mut joins: Vec<usize> =
        branches.iter().filter(joining).filter_map(|b| b.reconverge).map(|j| j.index()).collect();
    joins.sort_unstable();
    joins.dedup();
    let back = reversed(graph);
    let mut barriers = Vec::new();
    for join in joins {
        let here = |b: &&Branch| joining(b) && b.reconverge.map(|j| j.index()) == Some(join);
        let here: Vec<usize> = branches.iter().filter(here).map(|b| b.block.index()).collect();
        match here.as_slice() {
            &[branch] => barriers.push(only_barrier_at(join, branch, graph, &back)),
            branches => barriers.extend(barriers_joining_at(join, branches, graph)),
        }
    }
    let merges = merges(branches, graph, &back, bare, &barriers);
    barriers.retain(|b| !merges.iter().any(|merge| merge.join == b.join && merge.region.contains(b.branch)));
    barriers.extend(merges);
    // Outer before inner: who encloses has the larger region. At one join the order found is the order of nesting already,
    // and a stable sort keeps it among equals.
    barriers.sort_by_key(|b: &ConvergenceBarrier| std::cmp::Reverse(b.region.count()));
    colour(&mut barriers, &back);
    barriers.retain(|b| !b.is_merge || b.id.index() < REGISTERS);
    barriers
}

/// The barrier at `join` of the only branch that joins there: what [`barriers_joining_at`] gives, from the blocks between the two alone.
fn only_barrier_at(join: usize, branch: usize, graph: &Successors, back: &Successors) -> ConvergenceBarrier {
    let region = reach(graph, [branch], Some(join));
    // Lanes come round to the branch through blocks of its region only.
    let cycle = reach_within(back, branch, &region);
    let set = if cycle.contains(branch) { SetPoint::Cycle(cycle.iter().collect()) } else { SetPoint::Branch(branch) };
    ConvergenceBarrier { id: JoinId(0), set, join, branch, region, is_merge: false }
}

/// The barriers needed by the branches that join at `join`.
fn barriers_joining_at(join: usize, branches: &[usize], graph: &Successors) -> Vec<ConvergenceBarrier> {
    let (components, component_of) = components(graph, Some(join));
    // The graph of components without `join`, entered where the kernel starts and behind `join`.
    let start = components.len();
    let mut condensed: Successors = vec![Vec::new(); start + 1];
    for (node, next) in graph.iter().enumerate().filter(|&(node, _)| node != join) {
        let next = next.iter().filter(|&&n| n != join && component_of[n] != component_of[node]);
        condensed[component_of[node]].extend(next.map(|&n| component_of[n]));
    }
    let entries = std::iter::once(0).chain(graph[join].iter().copied()).filter(|&n| n != join);
    condensed[start] = entries.map(|n| component_of[n]).collect();
    let dominators = dominators_in_order(&condensed, start);

    let mut places: Vec<usize> = branches.iter().map(|&b| component_of[b]).collect();
    places.sort_unstable(); // topological: outer before inner
    places.dedup();
    let above = |place: usize| std::iter::successors(dominators[place], |&p| dominators[p]);
    let covered = |place: usize| above(place).any(|p| places.binary_search(&p).is_ok());
    let needed: Vec<usize> = places.iter().copied().filter(|&p| !covered(p)).collect();
    let barrier = |place: usize| {
        let nodes = &components[place];
        let branch = branches.iter().copied().find(|&b| component_of[b] == place).unwrap_or(nodes[0]);
        let set = if is_cycle(graph, nodes) {
            SetPoint::Cycle(nodes.iter().copied().collect())
        } else {
            SetPoint::Branch(branch)
        };
        let region = reach(graph, nodes.iter().copied(), Some(join));
        ConvergenceBarrier { id: JoinId(0), set, join, branch, region, is_merge: false }
    };
    needed.into_iter().map(barrier).collect()
}

/// Gives each barrier the lowest number that no earlier barrier has with which it clashes.
fn colour(barriers: &mut [ConvergenceBarrier], back: &Successors) {
    // The sync of `a` stands on every way into its join: also on those that lanes of `b` take which are not in `a`.
    let passes = |b: &ConvergenceBarrier, a: &ConvergenceBarrier| {
        b.region.contains(a.join) && back[a.join].iter().any(|&from| b.region.contains(from))
    };
    for i in 0..barriers.len() {
        let (earlier, rest) = barriers.split_at_mut(i);
        let current = &mut rest[0];
        let clash =
            |b: &&ConvergenceBarrier| b.region.meets(&current.region) || passes(b, current) || passes(current, b);
        let taken: Bits = earlier.iter().filter(clash).map(|b| b.id.index()).collect();
        let free = (0..).map(JoinId).find(|id| !taken.contains(id.index()));
        current.id = free.unwrap_or_default();
    }
}
