//! Branches with several sides, and the blocks where their sides meet.
//!
//! *Meeting places* are the exit-ignoring immediate post-dominators, with one correction: two sides that meet nowhere but at a
//! shared, bare `ret` meet there, unless a join of an enclosing branch lies on the way of one of them. (So the two ends of a
//! plain `if (a) A else B; return` exit together, and so do the threads that skip a whole kernel by `if (i >= n) return`.)

use super::BasicBlock;
use super::dominance::PostDominance;
use super::uniformity::region;
use crate::base::BasicBlockId;
use crate::graph::{Bits, Successors, reach};

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

/// The branches of the blocks that can be reached, in the order written.
pub(super) fn branches(
    blocks: &[BasicBlock],
    graph: &Successors,
    post: &PostDominance,
    bare: &Bits,
    waiting: &Bits,
    diverging: &Bits,
) -> Vec<Branch> {
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
    branches
}

/// For each branch that may diverge: its block, its meeting place, and the blocks between.
pub(crate) fn regions(branches: &[Branch], graph: &Successors) -> Vec<(usize, usize, Bits)> {
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
