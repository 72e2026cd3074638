//! Branches with several sides, and their reconvergence points.
//!
//! *Reconvergence points* are the exit-ignoring immediate post-dominators, with one correction: two
//! sides that reconverge only at a shared, bare `ret` reconverge there, unless a path of one of
//! them passes a join of an enclosing branch. (So both arms of a plain `if (a) A else B; return`
//! exit together, as do the threads that skip a whole kernel by `if (i >= n) return`.)

use super::BasicBlock;
use super::dominance::PostDominance;
use super::uniformity::region;
use crate::base::BasicBlockId;
use crate::graph::{Bits, Successors, reach};

/// A branch with two sides, or more through a jump table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Branch {
    /// Block that ends in the branch.
    pub block: BasicBlockId,
    /// Instruction of the branch.
    pub inst: u32,
    /// Successors without duplicates: branch targets first, then the fall-through.
    pub sides: Vec<BasicBlockId>,
    /// True if lanes of one group may take different sides.
    pub may_diverge: bool,
    /// Reconvergence point; `None` if there is none.
    ///
    /// If one side only leads to exits, it is the block where the other lanes continue.
    pub reconverge: Option<BasicBlockId>,
    /// True if more than one side leads to `reconverge`.
    pub meets: bool,
}

/// Returns the branches of the reachable blocks, in source order.
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
    reconverge_at_bare_exits(&mut branches, graph, bare, waiting);
    branches
}

/// Returns block, reconvergence point and region of each divergent branch.
pub(crate) fn regions(branches: &[Branch], graph: &Successors) -> Vec<(usize, usize, Bits)> {
    let diverging = branches.iter().filter(|b| b.may_diverge);
    let joined = diverging.filter_map(|b| Some((b.block.index(), b.reconverge?.index())));
    joined.map(|(block, join)| (block, join, region(graph, block, Some(join)))).collect()
}

/// Makes branches without an earlier reconvergence point reconverge at a shared bare exit.
///
/// No join of another branch may be in between, and no barrier on the paths of only some sides:
/// lanes that wait at the barrier would wait for the others, and these for them.
fn reconverge_at_bare_exits(
    branches: &mut [Branch],
    graph: &Successors,
    bare: &Bits,
    waiting: &Bits,
) {
    let regions = regions(branches, graph);
    for branch in branches.iter_mut().filter(|b| !b.meets) {
        let block = branch.block.index();
        // A side that reaches the exit only through the branch itself stays in a loop that the
        // other lanes leave, which do not wait for it.
        let sides: Vec<Bits> =
            branch.sides.iter().map(|s| reach(graph, [s.index()], Some(block))).collect();
        let Some(exit) = bare.iter().find(|&e| sides.iter().all(|side| side.contains(e))) else {
            continue;
        };
        let from_here = reach(graph, [block], None);
        let enclosed = regions.iter().any(|(other, join, region)| {
            *other != block && *join != exit && region.contains(block) && from_here.contains(*join)
        });
        // A side that returns to the branch passes the branch's own block.
        let returns_here = |side: &Bits| side.iter().any(|from| graph[from].contains(&block));
        let waits = |side: &Bits| {
            waiting.iter().any(|w| side.contains(w))
                || waiting.contains(block) && returns_here(side)
        };
        let some_wait = sides.iter().any(waits) && !sides.iter().all(waits);
        if !enclosed && !some_wait {
            branch.reconverge = Some(BasicBlockId(exit as u32));
            branch.meets = true;
        }
    }
}
