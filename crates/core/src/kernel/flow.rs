//! Control flow: basic blocks, dominators, loops, which branches can diverge, where lanes meet again, and the streams of
//! steps that machines run.
//!
//! Everything here is known before a kernel runs and is computed once, by [`ControlFlow::build`]. Modelled: a kernel and its device
//! functions, each analysed for itself (a call is a step like others), then laid side by side; irreducible graphs are fine everywhere (a cycle with two entries is no natural loop, but
//! its branches get their joins). The module's own pages tell the definitions: `dominance` for post-dominators that ignore
//! exits, `uniformity` for divergence, `joins` and `merges` for barriers, `stream` for what is added where.

mod around;
mod blocks;
mod branches;
mod dominance;
mod liveness;
mod loops;
mod operands;
#[cfg(test)]
pub(crate) mod shorthand;
mod spins;
#[cfg(test)]
mod tests;
mod uniformity;
mod warnings;

pub use around::Around;
pub use blocks::BasicBlock;
pub(crate) use blocks::parting_call;
#[cfg(test)]
pub(crate) use blocks::{blocks as blocks_of, successors};
pub use branches::Branch;
pub(crate) use branches::regions;
pub(in crate::kernel) use liveness::Liveness;
pub use liveness::register_pressure;
pub use loops::Loop;
pub(crate) use operands::is_wide;
pub(in crate::kernel) use spins::awaited;
pub(crate) use spins::{observes, observing_functions, spins};
pub use warnings::warnings;

use std::ops::Range;

use super::{DeviceFunction, Inst, Op, Registers};
use crate::base::{BasicBlockId, Pc};
use crate::graph::{Bits, Successors, dominators};

/// The most basic blocks of a kernel, its functions included: the analyses take time and memory by the square of their number.
pub(in crate::kernel) const MOST_BLOCKS: usize = 10_000;

/// The number of basic blocks that these instructions make.
pub(in crate::kernel) fn count_blocks(insts: &[Inst]) -> usize {
    blocks::blocks(insts).0.len()
}

/// Removes edges that no lane takes from the graph of a function: what a compiler that evaluates constants knows.
pub(crate) type EdgeFilter = fn(&mut Successors, &[Inst], &Registers, &[BasicBlock], &[BasicBlockId]);

/// What is known of a kernel's control flow.
#[derive(Clone, Debug, Default)]
pub struct ControlFlow {
    blocks: Vec<BasicBlock>,
    block_of: Vec<BasicBlockId>,
    /// Edges that control can take.
    edges: Successors,
    idom: Vec<Option<usize>>,
    ipdom: Vec<Option<usize>>,
    loops: Vec<Loop>,
    loop_depth: Vec<u32>,
    branches: Vec<Branch>,
    /// Blocks that hold nothing but an exit.
    bare_exits: Bits,
    /// Blocks of the kernel itself and of each function.
    parts: Vec<Range<usize>>,
    under_divergence: Bits,
    divergent_guards: Bits,
    uniform_results: Bits,
}

impl ControlFlow {
    /// Analyses the checked instructions of a kernel: its own, then those of its `functions`.
    pub fn build(insts: &[Inst], functions: &[DeviceFunction], registers: &Registers) -> ControlFlow {
        ControlFlow::build_without(insts, functions, registers, None)
    }

    /// As [`ControlFlow::build`], for a compiler that removes edges.
    pub(crate) fn build_without(
        insts: &[Inst],
        functions: &[DeviceFunction],
        registers: &Registers,
        dead: Option<EdgeFilter>,
    ) -> ControlFlow {
        let own = functions.first().map_or(insts.len(), |f| f.first as usize);
        let mut flow = ControlFlow::analyse(&insts[..own], registers, false, dead);
        for function in functions {
            flow.append(ControlFlow::analyse(&on_its_own(insts, function), registers, true, dead));
        }
        flow.mark_called_apart(insts, functions);
        flow
    }

    /// One function, or the kernel's own instructions: targets count from its first instruction.
    fn analyse(insts: &[Inst], registers: &Registers, called: bool, dead: Option<EdgeFilter>) -> ControlFlow {
        let (blocks, block_of) = blocks::blocks(insts);
        let mut graph = blocks::successors(&blocks);
        for block in blocks.iter().filter(|b| !b.reachable) {
            graph[block.id.index()].clear(); // what never runs has no say
        }
        if let Some(drop) = dead {
            drop(&mut graph, insts, registers, &blocks, &block_of);
        }
        let idom = dominators(&graph, 0);
        let loops = loops::loops(&graph, &idom);
        let loop_depth = loops::depths(&loops, blocks.len());
        let bare = dominance::bare_exits(insts, &blocks);
        let waiting = dominance::waiting(insts, &blocks);
        let post =
            dominance::post_dominance(&graph, &bare, &waiting, dominance::returning(insts, &blocks), &loop_depth);
        let uniformity = uniformity::analyse(insts, registers, &blocks, &graph, &post, called);
        let branches = branches::branches(&blocks, &graph, &post, &bare, &waiting, &uniformity.diverging);
        let parts = std::iter::once(0..blocks.len()).collect();
        ControlFlow {
            blocks,
            block_of,
            edges: graph,
            idom,
            ipdom: post.ipdom,
            loops,
            loop_depth,
            branches,
            bare_exits: bare,
            parts,
            under_divergence: uniformity.under_divergence,
            divergent_guards: uniformity.divergent_guards,
            uniform_results: uniformity.uniform_results,
        }
    }

    /// Lays the analysis of a function behind what is there.
    fn append(&mut self, other: ControlFlow) {
        let (blocks, insts) = (self.blocks.len(), self.block_of.len());
        let id = |b: BasicBlockId| BasicBlockId((b.index() + blocks) as u32);
        let ids = |list: Vec<BasicBlockId>| list.into_iter().map(id).collect::<Vec<_>>();
        let shifted = |list: Vec<Option<usize>>| list.into_iter().map(move |b| b.map(|b| b + blocks));
        self.blocks.extend(other.blocks.into_iter().map(|b| BasicBlock {
            id: id(b.id),
            first: b.first + insts as u32,
            end: b.end + insts as u32,
            successors: ids(b.successors),
            predecessors: ids(b.predecessors),
            reachable: b.reachable,
        }));
        self.block_of.extend(other.block_of.into_iter().map(id));
        self.edges.extend(other.edges.into_iter().map(|to| to.into_iter().map(|b| b + blocks).collect()));
        self.idom.extend(shifted(other.idom));
        self.ipdom.extend(shifted(other.ipdom));
        self.loops.extend(other.loops.into_iter().map(|l| Loop {
            header: id(l.header),
            latches: ids(l.latches),
            body: ids(l.body),
            depth: l.depth,
        }));
        self.loop_depth.extend(other.loop_depth);
        self.branches.extend(other.branches.into_iter().map(|b| Branch {
            block: id(b.block),
            inst: b.inst + insts as u32,
            sides: ids(b.sides),
            reconverge: b.reconverge.map(id),
            ..b
        }));
        self.bare_exits = self.bare_exits.joined(&other.bare_exits, blocks);
        self.parts.extend(other.parts.into_iter().map(|part| part.start + blocks..part.end + blocks));
        self.under_divergence = self.under_divergence.joined(&other.under_divergence, blocks);
        self.divergent_guards = self.divergent_guards.joined(&other.divergent_guards, insts);
        self.uniform_results = self.uniform_results.joined(&other.uniform_results, insts);
    }

    /// A function that is called where lanes are apart runs under divergence as a whole.
    fn mark_called_apart(&mut self, insts: &[Inst], functions: &[DeviceFunction]) {
        let mut open: Vec<std::ops::Range<usize>> = std::iter::once(0..insts.len()).collect();
        while let Some(range) = open.pop() {
            for i in range {
                let (Op::Call(call), Some(block)) = (&insts[i].op, self.block_of(i)) else { continue };
                if !(self.under_divergence(block) || blocks::parting_call(&insts[i])) {
                    continue;
                }
                for function in call.callees().iter().filter_map(|&f| functions.get(f as usize)) {
                    let range = function.first as usize..function.end as usize;
                    let mut grown = false;
                    for block in self.block_of.get(range.clone()).unwrap_or_default() {
                        grown |= self.under_divergence.insert(block.index());
                    }
                    if grown {
                        open.push(range);
                    }
                }
            }
        }
    }

    /// The basic blocks in the order written.
    pub fn blocks(&self) -> &[BasicBlock] {
        &self.blocks
    }

    /// Edges that control can take, by block.
    pub(crate) fn edges(&self) -> &Successors {
        &self.edges
    }

    /// Blocks that hold nothing but an exit.
    pub(crate) fn bare_exits(&self) -> &Bits {
        &self.bare_exits
    }

    /// Blocks of the kernel itself and of each function.
    pub(crate) fn parts(&self) -> &[Range<usize>] {
        &self.parts
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

    /// The branches with several sides that can be reached, in the order written.
    pub fn branches(&self) -> &[Branch] {
        &self.branches
    }

    /// The branch with several sides that is this instruction.
    pub fn branch_at(&self, inst: usize) -> Option<&Branch> {
        let at = self.branches.binary_search_by_key(&inst, |b| b.inst as usize).ok()?;
        self.branches.get(at)
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

    /// Whether the instruction computes one value for all lanes of the warp, at a place where no lanes can be apart: what a
    /// uniform datapath can do once for the warp. False where it cannot be told, as in device functions.
    pub fn uniform_result(&self, inst: usize) -> bool {
        self.uniform_results.contains(inst)
    }
}

/// The instructions of a function with its first one as number 0.
pub(in crate::kernel) fn on_its_own(insts: &[Inst], function: &DeviceFunction) -> Vec<Inst> {
    let mut own = insts[function.first as usize..function.end as usize].to_vec();
    let shift = |target: &mut Pc| target.0 = target.0.wrapping_sub(function.first);
    for inst in &mut own {
        match &mut inst.op {
            Op::Branch { target, .. } => shift(target),
            Op::Switch(switch) => switch.targets.iter_mut().for_each(shift),
            _ => {}
        }
    }
    own
}
