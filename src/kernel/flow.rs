//! Control flow: basic blocks, dominators, loops, which branches can diverge, where lanes meet again, and the streams of
//! steps that machines run.
//!
//! Everything here is known before a kernel runs and is computed once, by [`ControlFlow::build`]. Modelled: one kernel without
//! calls and without indirect branches; irreducible graphs are fine everywhere (a cycle with two entries is no natural loop, but
//! its branches get their joins). The module's own pages tell the definitions: `dominance` for post-dominators that ignore
//! exits, `uniformity` for divergence, `joins` for barriers, `stream` for what is added where.

mod bits;
mod dominance;
mod graph;
mod joins;
#[cfg(test)]
mod laws;
mod liveness;
mod loops;
mod operands;
mod stream;
#[cfg(test)]
mod tests;
mod uniformity;
mod warnings;

pub use graph::BasicBlock;
pub use joins::Branch;
pub use liveness::register_pressure;
pub use loops::Loop;
pub use stream::NO_FORM;
pub use warnings::warnings;

use super::{Inst, Registers};
use crate::base::BasicBlockId;
use bits::Bits;

/// What is known of a kernel's control flow.
#[derive(Clone, Debug, Default)]
pub struct ControlFlow {
    blocks: Vec<BasicBlock>,
    block_of: Vec<BasicBlockId>,
    idom: Vec<Option<usize>>,
    ipdom: Vec<Option<usize>>,
    loops: Vec<Loop>,
    loop_depth: Vec<u32>,
    branches: Vec<Branch>,
    barriers: Vec<joins::ConvergenceBarrier>,
    private_exits: Vec<(usize, usize)>,
    under_divergence: Bits,
    divergent_guards: Bits,
}

impl ControlFlow {
    /// Analyses checked instructions.
    pub fn build(insts: &[Inst], registers: &Registers) -> ControlFlow {
        let (blocks, block_of) = graph::blocks(insts);
        let mut graph = graph::successors(&blocks);
        for block in blocks.iter().filter(|b| !b.reachable) {
            graph[block.id.index()].clear(); // what never runs has no say
        }
        let idom = dominance::dominators(&graph, 0);
        let loops = loops::loops(&graph, &idom);
        let loop_depth = loops::depths(&loops, blocks.len());
        let bare = dominance::bare_exits(insts, &blocks);
        let barriers = dominance::with_barriers(insts, &blocks);
        let post = dominance::post_dominance(&graph, &bare, &barriers, &loop_depth);
        let uniformity = uniformity::analyse(insts, registers, &blocks, &graph, &post);
        let joins = joins::place(&blocks, &graph, &post, &bare, &uniformity.diverging);
        ControlFlow {
            blocks,
            block_of,
            idom,
            ipdom: post.ipdom,
            loops,
            loop_depth,
            branches: joins.branches,
            barriers: joins.barriers,
            private_exits: joins.private_exits,
            under_divergence: uniformity.under_divergence,
            divergent_guards: uniformity.divergent_guards,
        }
    }

    /// The basic blocks in the order written.
    pub fn blocks(&self) -> &[BasicBlock] {
        &self.blocks
    }

    /// The block of an instruction; `None` past the end.
    pub fn block_of(&self, inst: usize) -> Option<BasicBlockId> {
        self.block_of.get(inst).copied()
    }

    /// The nearest other block on every path from the start to this one.
    pub fn immediate_dominator(&self, block: BasicBlockId) -> Option<BasicBlockId> {
        self.idom.get(block.index()).copied().flatten().map(|b| BasicBlockId(b as u32))
    }

    /// The nearest other block on every path onwards, where paths that exit before do not count (see `dominance`).
    pub fn immediate_post_dominator(&self, block: BasicBlockId) -> Option<BasicBlockId> {
        self.ipdom.get(block.index()).copied().flatten().map(|b| BasicBlockId(b as u32))
    }

    /// The natural loops, by header.
    pub fn loops(&self) -> &[Loop] {
        &self.loops
    }

    /// How many natural loops the block is in.
    pub fn loop_depth(&self, block: BasicBlockId) -> u32 {
        self.loop_depth.get(block.index()).copied().unwrap_or(0)
    }

    /// The two-way branches that can be reached, in the order written.
    pub fn branches(&self) -> &[Branch] {
        &self.branches
    }

    /// The two-way branch that is this instruction.
    pub fn branch_at(&self, inst: usize) -> Option<&Branch> {
        self.branches.iter().find(|b| b.inst as usize == inst)
    }

    /// Whether lanes of a warp may be apart in this block: it lies between a branch that may diverge and the place where
    /// its sides meet.
    pub fn under_divergence(&self, block: BasicBlockId) -> bool {
        self.under_divergence.contains(block.index())
    }

    /// Whether the instruction's guard may differ between lanes that execute it together.
    pub fn divergent_guard(&self, inst: usize) -> bool {
        self.divergent_guards.contains(inst)
    }
}
