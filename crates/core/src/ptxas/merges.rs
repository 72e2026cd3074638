//! Where lanes meet although others of their branch go round that place, by a `break`, a `continue`, an early return or a `case`
//! without one: `if (a) { if (b) break; X } Y` meets behind the loop, but who does not break comes to Y.
//!
//! ptxas lets lanes meet there, too. The barrier is set where the ways to the place part, and who turns away is taken out of it
//! (BREAK). The rule was read off machine code and the counts of 2,031 generated kernels on an H200: without these barriers 1,506 of them
//! executed every block as often as there, with them 1,680 (before yields of functions and dead ways were known).
//!
//! - A *merge* is a block that two forward ways or more lead into (the edges back to the head of a loop are none). Its barrier is set
//!   at its immediate dominator, unless one of [`super::barriers`]'s that joins there holds these lanes already.
//! - One level: inside the region of such a barrier, those who turn away from an inner merge must leave the outer one as well,
//!   or have a meeting place of their own before. Unless nobody turns away from the outer one, and the inner one is set at a branch that
//!   may part lanes: that outer one is a join like others, set early.
//! - Hardware has sixteen barrier registers; one that would need more is left out.

use super::barriers::{ConvergenceBarrier, SetPoint};
use crate::base::JoinId;
use crate::graph::{Bits, Successors, depths, dominates, dominators, reach};
use crate::kernel::Branch;

/// The barriers of merges, outer ones first. `known`: those where branches meet.
pub(super) fn merges(
    branches: &[Branch],
    graph: &Successors,
    back: &Successors,
    bare: &Bits,
    known: &[ConvergenceBarrier],
) -> Vec<ConvergenceBarrier> {
    let mut branch_of: Vec<Option<&Branch>> = vec![None; graph.len()];
    for branch in branches {
        branch_of[branch.block.index()] = Some(branch);
    }
    let idom = dominators(graph, 0);
    let depths = depths(&idom);
    let mut found: Vec<ConvergenceBarrier> = Vec::new();
    for join in (0..graph.len()).filter(|&block| back[block].len() > 1 && !bare.contains(block)) {
        let Some(place) = idom[join].filter(|&place| branch_of[place].is_some()) else { continue };
        let forward = back[join].iter().copied().filter(|&from| !dominates(&idom, &depths, join, from));
        if forward.clone().count() < 2 || known.iter().any(|b| b.join == join && b.region.contains(place)) {
            continue;
        }
        let mut region = reach(back, forward, Some(place));
        region.remove(join);
        region.insert(place);
        // Those who part and meet again on the way come together.
        let parts = |branch: &Branch| {
            branch.may_diverge && !branch.reconverge.is_some_and(|meet| region.contains(meet.index()))
        };
        if region.iter().any(|block| branch_of[block].is_some_and(parts)) {
            let set = SetPoint::Branch(place);
            found.push(ConvergenceBarrier { id: JoinId(0), set, join, branch: place, region, is_merge: true });
        }
    }
    found.sort_by_key(|barrier| std::cmp::Reverse(barrier.region.count()));
    let meet = |block: usize| branch_of[block].and_then(|branch| branch.reconverge);
    let mut kept: Vec<ConvergenceBarrier> = Vec::new();
    // Whether lanes turn away from each of these.
    let mut left: Vec<bool> = Vec::new();
    for inner in found {
        let away: Vec<usize> = inner.region.iter().flat_map(|from| inner.ways_out(graph, from)).collect();
        let parts = branch_of[inner.branch].is_some_and(|branch| branch.may_diverge);
        let nested = kept.iter().zip(&left).any(|(outer, &left)| {
            (left || !parts)
                && meet(outer.branch) == meet(inner.branch)
                && outer.region.contains(inner.branch)
                && outer.region.contains(inner.join)
                && away.iter().any(|&to| to != outer.branch && (to == outer.join || outer.region.contains(to)))
        });
        if !nested {
            left.push(!away.is_empty());
            kept.push(inner);
        }
    }
    kept
}

impl ConvergenceBarrier {
    /// Whether lanes that go from one block to the other will not come to this merge.
    pub(super) fn is_left_by(&self, from: usize, to: usize) -> bool {
        let turns_away = || to != self.join && (to == self.branch || !self.region.contains(to));
        self.is_merge && self.region.contains(from) && turns_away()
    }

    fn ways_out<'a>(&'a self, graph: &'a Successors, from: usize) -> impl Iterator<Item = usize> + 'a {
        graph[from].iter().copied().filter(move |&to| self.is_left_by(from, to))
    }
}
