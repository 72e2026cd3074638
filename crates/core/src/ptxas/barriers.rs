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

use super::merges::merges;
use crate::base::{BasicBlockId, JoinId};
use crate::graph::{Bits, Successors, components, dominators_in_order, is_cycle, reach, reach_within, reversed};
use crate::kernel::{Branch, ControlFlow, regions};

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

/// Convergence barriers of a kernel, and the edges that avoid a shared exit.
#[derive(Clone, Debug, Default)]
pub(super) struct Barriers {
    /// Outer ones before inner ones.
    pub(super) barriers: Vec<ConvergenceBarrier>,
    /// Edges to a bare exit that have a copy of it to themselves.
    pub(super) private_exits: Vec<(usize, usize)>,
}

/// Places the barriers of each function. `merge`: also where only some of a branch's lanes meet ([`super::merges`]).
pub(super) fn place(flow: &ControlFlow, merge: bool) -> Barriers {
    let mut placed = Barriers::default();
    for part in flow.parts() {
        let first = part.start;
        let id = |b: BasicBlockId| BasicBlockId((b.index() - first) as u32);
        let graph: Successors =
            flow.edges()[part.clone()].iter().map(|to| to.iter().map(|b| b - first).collect()).collect();
        let inside = flow.branches().iter().filter(|b| part.contains(&b.block.index()));
        let branches: Vec<Branch> =
            inside.map(|b| Branch { block: id(b.block), reconverge: b.reconverge.map(id), ..b.clone() }).collect();
        let bare: Bits = part.clone().filter(|&b| flow.bare_exits().contains(b)).map(|b| b - first).collect();
        let entered = |exit: usize| flow.blocks()[first + exit].predecessors.iter().map(|p| p.index() - first);
        let private_exits = private_exits(&branches, entered, &graph, &bare);
        let mut shared = graph;
        for &(from, exit) in &private_exits {
            shared[from].retain(|&s| s != exit);
        }
        placed.barriers.extend(barriers(&branches, &shared, &bare, merge).into_iter().map(|b| b.shifted(first)));
        placed.private_exits.extend(private_exits.into_iter().map(|(from, to)| (from + first, to + first)));
    }
    placed
}

/// The edges to bare exits that leave a construct which joins elsewhere, where the exit is a meeting place for others.
fn private_exits<I: Iterator<Item = usize>>(
    branches: &[Branch],
    entered: impl Fn(usize) -> I,
    graph: &Successors,
    bare: &Bits,
) -> Vec<(usize, usize)> {
    let regions = regions(branches, graph);
    let mut edges = Vec::new();
    for exit in bare.iter().filter(|e| regions.iter().any(|(_, meet, _)| meet == e)) {
        for from in entered(exit) {
            if regions.iter().any(|(_, meet, region)| *meet != exit && region.contains(from)) {
                edges.push((from, exit));
            }
        }
    }
    edges
}

fn barriers(branches: &[Branch], graph: &Successors, bare: &Bits, merge: bool) -> Vec<ConvergenceBarrier> {
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
    let merges = if merge { merges(branches, graph, &back, bare, &barriers) } else { Vec::new() };
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
