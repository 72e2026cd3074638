//! Merges: blocks where some of a branch's lanes reconverge while others bypass the block.
//!
//! Lanes bypass such a block by a `break`, a `continue`, an early return or a `case` without one.
//! In `if (a) { if (b) break; X } Y` the branch reconverges after the loop, but lanes that do not
//! break reach Y.
//!
//! ptxas lets those lanes reconverge there, too. It sets the barrier where the paths to the block
//! diverge, and removes bypassing lanes from it (BREAK). The rule was read off machine code and the
//! counts of 2,031 generated kernels on an H200: without these barriers 1,506 of them executed
//! every block as often as the GPU, with them 1,680 (before yields of functions and dead edges were
//! modelled).
//!
//! - A *merge* is a block with two or more forward edges into it (back edges to a loop's header do
//!   not count). Its barrier is set at its immediate dominator, unless a barrier of
//!   [`super::barriers`] that joins there already holds these lanes.
//! - Merges do not nest: inside the region of a merge, lanes that bypass an inner merge must leave
//!   the outer one as well, or have reconverged before. The exception is an outer merge that no
//!   lane bypasses, if the inner one is set at a branch that may diverge: such an outer merge is an
//!   ordinary join that is set early.
//! - Hardware has sixteen barrier registers; a merge that would need more is left out.

use super::barriers::{ConvergenceBarrier, SetPoint};
use crate::base::JoinId;
use crate::graph::{Bits, Successors, depths, dominates, dominators, reach};
use crate::kernel::Branch;

/// Returns the barriers of merges, outer ones first.
///
/// `known` are the barriers of branches.
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
        let forward =
            back[join].iter().copied().filter(|&from| !dominates(&idom, &depths, join, from));
        if forward.clone().count() < 2
            || known.iter().any(|b| b.join == join && b.region.contains(place))
        {
            continue;
        }
        let mut region = reach(back, forward, Some(place));
        region.remove(join);
        region.insert(place);
        // Lanes that diverge and reconverge inside the region arrive together.
        let diverges = |branch: &Branch| {
            branch.may_diverge
                && !branch.reconverge.is_some_and(|join| region.contains(join.index()))
        };
        if region.iter().any(|block| branch_of[block].is_some_and(diverges)) {
            let set = SetPoint::Branch(place);
            found.push(ConvergenceBarrier {
                id: JoinId(0),
                set,
                join,
                branch: place,
                region,
                is_merge: true,
            });
        }
    }
    found.sort_by_key(|barrier| std::cmp::Reverse(barrier.region.count()));
    let join_of = |block: usize| branch_of[block].and_then(|branch| branch.reconverge);
    let mut kept: Vec<ConvergenceBarrier> = Vec::new();
    // True for each kept merge that lanes may bypass.
    let mut bypassed: Vec<bool> = Vec::new();
    for inner in found {
        let exits: Vec<usize> =
            inner.region.iter().flat_map(|from| inner.edges_out(graph, from)).collect();
        let diverges = branch_of[inner.branch].is_some_and(|branch| branch.may_diverge);
        let nested = kept.iter().zip(&bypassed).any(|(outer, &bypassed)| {
            (bypassed || !diverges)
                && join_of(outer.branch) == join_of(inner.branch)
                && outer.region.contains(inner.branch)
                && outer.region.contains(inner.join)
                && exits.iter().any(|&to| {
                    to != outer.branch && (to == outer.join || outer.region.contains(to))
                })
        });
        if !nested {
            bypassed.push(!exits.is_empty());
            kept.push(inner);
        }
    }
    kept
}

impl ConvergenceBarrier {
    /// Returns true if lanes on the edge from `from` to `to` will bypass this merge.
    pub(super) fn is_left_by(&self, from: usize, to: usize) -> bool {
        let bypasses = || to != self.join && (to == self.branch || !self.region.contains(to));
        self.is_merge && self.region.contains(from) && bypasses()
    }

    fn edges_out<'a>(
        &'a self,
        graph: &'a Successors,
        from: usize,
    ) -> impl Iterator<Item = usize> + 'a {
        graph[from].iter().copied().filter(move |&to| self.is_left_by(from, to))
    }
}
