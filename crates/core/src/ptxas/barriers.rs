//! Reconvergence points of branches, and the convergence barriers for them.
//!
//! *Reconvergence points* are the exit-ignoring immediate post-dominators, with one correction: two
//! sides that reconverge only at a shared, bare `ret` reconverge there, unless a path of one of
//! them passes a join of an enclosing branch. (So both arms of a plain `if (a) A else B; return`
//! exit together, as do the threads that skip a whole kernel by `if (i >= n) return`.) Conversely,
//! a jump to a shared `ret` out of a construct that joins elsewhere is a separate exit: it gets a
//! private copy of the `ret` (ptxas makes it a predicated EXIT), so that it does not wait for the
//! lanes that reconverge there.
//!
//! *Barriers* are placed as a compiler places BSSY and BSYNC. For a branch that may diverge and
//! reconverges at block `j`:
//!
//! - If lanes can return to the branch without passing `j`, they are in a cycle that they leave at
//!   different times. The barrier is set where that cycle (a strongly connected component of the
//!   graph without `j`) is entered, otherwise right before the branch.
//! - All edges into `j` lead through the sync.
//! - A branch that joins where an enclosing barrier does, and that only lanes of that barrier can
//!   reach, needs none of its own: in the graph without `j`, the set point of the other barrier
//!   dominates it.
//! - If only some of a branch's lanes reconverge at a block, because others bypass it, there is a
//!   barrier, too: see [`super::merges`].
//!
//! Barrier registers are assigned by colouring. Two barriers get different registers if lanes can
//! be in both at once, or can pass the sync of one while they are in the other; outer barriers get
//! the lower numbers. In structured programs the number is the nesting depth. Hardware has sixteen
//! registers and spills beyond; the model has no limit except for merges.

use super::merges::merges;
use crate::base::{BasicBlockId, JoinId};
use crate::graph::{
    Bits, Successors, components, dominators_in_order, is_cycle, reach, reach_within, reversed,
};
use crate::kernel::{Branch, ControlFlow, regions};

/// Set point of a convergence barrier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum SetPoint {
    /// Right before the branch that ends this block.
    Branch(usize),
    /// On every edge into this cycle from outside, and at the kernel's start if it is inside.
    Cycle(Bits),
}

/// A convergence barrier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ConvergenceBarrier {
    pub(super) id: JoinId,
    pub(super) set: SetPoint,
    /// Block at whose start the lanes reconverge.
    pub(super) join: usize,
    /// First of the branches that use it.
    pub(super) branch: usize,
    /// Blocks that its lanes can pass before they reconverge.
    pub(super) region: Bits,
    /// True if lanes may bypass its join.
    pub(super) is_merge: bool,
}

/// Number of barrier registers of the hardware.
const REGISTERS: usize = 16;

impl ConvergenceBarrier {
    /// Returns the barrier with all block numbers moved up.
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

/// Convergence barriers of a kernel, and edges with a private exit.
#[derive(Clone, Debug, Default)]
pub(super) struct Barriers {
    /// Barriers, outer ones first.
    pub(super) barriers: Vec<ConvergenceBarrier>,
    /// Edges to a bare exit that get a private copy of it.
    pub(super) private_exits: Vec<(usize, usize)>,
}

/// Places the barriers of each function.
///
/// With `merge`, also where only some of a branch's lanes reconverge ([`super::merges`]).
pub(super) fn place(flow: &ControlFlow, merge: bool) -> Barriers {
    let mut placed = Barriers::default();
    for function in flow.function_blocks() {
        let first = function.start;
        let id = |b: BasicBlockId| BasicBlockId((b.index() - first) as u32);
        let graph: Successors = flow.edges()[function.clone()]
            .iter()
            .map(|to| to.iter().map(|b| b - first).collect())
            .collect();
        let inside = flow.branches().iter().filter(|b| function.contains(&b.block.index()));
        let branches: Vec<Branch> = inside
            .map(|b| Branch { block: id(b.block), reconverge: b.reconverge.map(id), ..b.clone() })
            .collect();
        let bare: Bits = function
            .clone()
            .filter(|&b| flow.bare_exits().contains(b))
            .map(|b| b - first)
            .collect();
        let entered = |exit: usize| {
            flow.blocks()[first + exit].predecessors.iter().map(|p| p.index() - first)
        };
        let private_exits = private_exits(&branches, entered, &graph, &bare);
        let mut shared = graph;
        for &(from, exit) in &private_exits {
            shared[from].retain(|&s| s != exit);
        }
        placed.barriers.extend(
            barriers(&branches, &shared, &bare, merge).into_iter().map(|b| b.shifted(first)),
        );
        placed
            .private_exits
            .extend(private_exits.into_iter().map(|(from, to)| (from + first, to + first)));
    }
    placed
}

/// Returns the edges to bare exits that need a private copy.
///
/// They leave a construct that joins elsewhere, and the exit is a reconvergence point of others.
fn private_exits<I: Iterator<Item = usize>>(
    branches: &[Branch],
    entered: impl Fn(usize) -> I,
    graph: &Successors,
    bare: &Bits,
) -> Vec<(usize, usize)> {
    let regions = regions(branches, graph);
    let mut edges = Vec::new();
    for exit in bare.iter().filter(|e| regions.iter().any(|(_, join, _)| join == e)) {
        for from in entered(exit) {
            if regions.iter().any(|(_, join, region)| *join != exit && region.contains(from)) {
                edges.push((from, exit));
            }
        }
    }
    edges
}

fn barriers(
    branches: &[Branch],
    graph: &Successors,
    bare: &Bits,
    merge: bool,
) -> Vec<ConvergenceBarrier> {
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
    barriers.retain(|b| {
        !merges.iter().any(|merge| merge.join == b.join && merge.region.contains(b.branch))
    });
    barriers.extend(merges);
    // Outer before inner: the outer barrier has the larger region. At one join, the order found is
    // already the order of nesting, and a stable sort keeps it among equals.
    barriers.sort_by_key(|b: &ConvergenceBarrier| std::cmp::Reverse(b.region.count()));
    colour(&mut barriers, &back);
    barriers.retain(|b| !b.is_merge || b.id.index() < REGISTERS);
    barriers
}

/// Returns the barrier of the only branch that joins at `join`.
///
/// It equals the result of [`barriers_joining_at`], but needs only the blocks between the two.
fn only_barrier_at(
    join: usize,
    branch: usize,
    graph: &Successors,
    back: &Successors,
) -> ConvergenceBarrier {
    let region = reach(graph, [branch], Some(join));
    // Lanes return to the branch only through blocks of its region.
    let cycle = reach_within(back, branch, &region);
    let set = if cycle.contains(branch) {
        SetPoint::Cycle(cycle.iter().collect())
    } else {
        SetPoint::Branch(branch)
    };
    ConvergenceBarrier { id: JoinId(0), set, join, branch, region, is_merge: false }
}

/// Returns the barriers needed by the branches that join at `join`.
fn barriers_joining_at(
    join: usize,
    branches: &[usize],
    graph: &Successors,
) -> Vec<ConvergenceBarrier> {
    let (components, component_of) = components(graph, Some(join));
    // The graph of components without `join`, entered at the kernel's start and after `join`.
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
        let branch =
            branches.iter().copied().find(|&b| component_of[b] == place).unwrap_or(nodes[0]);
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

/// Assigns each barrier the lowest number that no conflicting earlier barrier has.
fn colour(barriers: &mut [ConvergenceBarrier], back: &Successors) {
    // The sync of `a` is on every edge into its join, including edges taken by lanes of `b` that
    // are not in `a`.
    let passes = |b: &ConvergenceBarrier, a: &ConvergenceBarrier| {
        b.region.contains(a.join) && back[a.join].iter().any(|&from| b.region.contains(from))
    };
    for i in 0..barriers.len() {
        let (earlier, rest) = barriers.split_at_mut(i);
        let current = &mut rest[0];
        let clash = |b: &&ConvergenceBarrier| {
            b.region.intersects(&current.region) || passes(b, current) || passes(current, b)
        };
        let taken: Bits = earlier.iter().filter(clash).map(|b| b.id.index()).collect();
        let free = (0..).map(JoinId).find(|id| !taken.contains(id.index()));
        current.id = free.unwrap_or_default();
    }
}
