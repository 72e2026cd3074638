//! Basic blocks and their edges.
//!
//! A block ends at a branch, at an unguarded `exit` or `trap`, at the `ret` of a device function,
//! and before every branch target. A call is an ordinary instruction, unless its lanes may go to
//! different callees: then it is a block of its own. A guarded `exit` does not end a block: its
//! lanes exit and the others fall through, so no lanes could reconverge after it.

use crate::base::{BasicBlockId, Pc};
use crate::graph::{Successors, reach};
use crate::kernel::{Inst, Jump, JumpKind, JumpTarget, Op};

/// A basic block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BasicBlock {
    /// Number of the block in source order.
    pub id: BasicBlockId,
    /// First instruction.
    pub first: u32,
    /// One past the last instruction.
    pub end: u32,
    /// Successors without duplicates; empty after an exit.
    ///
    /// Branch targets come first, then the fall-through.
    pub successors: Vec<BasicBlockId>,
    /// Predecessors in ascending order.
    pub predecessors: Vec<BasicBlockId>,
    /// True if a path from the start of the kernel leads to it.
    pub reachable: bool,
}

impl BasicBlock {
    /// Returns its instructions as indices into `Kernel::insts`.
    pub fn range(&self) -> std::ops::Range<usize> {
        self.first as usize..self.end as usize
    }

    /// Returns its last instruction.
    pub fn last(&self) -> usize {
        self.end as usize - 1
    }
}

/// Returns true if no lane continues after the instruction.
fn ends_lanes(inst: &Inst) -> bool {
    let ends = match &inst.op {
        Op::Exit | Op::Trap | Op::Return => true,
        Op::Jump(jump) => jump.kind == JumpKind::Return,
        _ => false,
    };
    inst.guard.is_none() && ends
}

/// Returns the branch targets of an instruction.
fn targets(inst: &Inst) -> &[Pc] {
    match &inst.op {
        Op::Branch { target, .. }
        | Op::BranchTogether { target, .. }
        | Op::BranchByConvergence { target, .. } => std::slice::from_ref(target),
        Op::Switch(switch) => &switch.targets,
        Op::Jump(Jump { kind: JumpKind::Branch, target: JumpTarget::Register { targets, .. } }) => {
            targets
        }
        Op::Jump(Jump { target: JumpTarget::Fixed(target), .. }) => std::slice::from_ref(target),
        _ => &[],
    }
}

/// Returns true if control may go to the targets of the instruction instead of the next one.
fn branches(inst: &Inst) -> bool {
    matches!(
        &inst.op,
        Op::Branch { .. }
            | Op::BranchTogether { .. }
            | Op::Switch(_)
            | Op::Jump(Jump { kind: JumpKind::Branch, .. })
    )
}

/// Returns true if the instruction is a call at which lanes may diverge.
///
/// They must reconverge after it.
pub(crate) fn may_diverge_at_call(inst: &Inst) -> bool {
    matches!(&inst.op, Op::Call(call) if call.may_part(inst.guard.is_some()))
}

/// Returns the blocks, and the block of each instruction.
pub(crate) fn blocks(insts: &[Inst]) -> (Vec<BasicBlock>, Vec<BasicBlockId>) {
    let mut leads = vec![false; insts.len() + 1];
    leads[0] = true;
    for (i, inst) in insts.iter().enumerate() {
        for target in targets(inst) {
            leads[target.index().min(insts.len())] = true;
        }
        leads[i] |= may_diverge_at_call(inst);
        leads[i + 1] |= ends_lanes(inst) || may_diverge_at_call(inst) || branches(inst);
    }
    let mut blocks: Vec<BasicBlock> = Vec::new();
    let mut block_of = Vec::with_capacity(insts.len());
    for (i, &leads) in leads.iter().enumerate().take(insts.len()) {
        if leads {
            blocks.push(BasicBlock {
                id: BasicBlockId(blocks.len() as u32),
                first: i as u32,
                end: i as u32,
                successors: Vec::new(),
                predecessors: Vec::new(),
                reachable: false,
            });
        }
        let block = blocks.len() - 1;
        blocks[block].end = i as u32 + 1;
        block_of.push(BasicBlockId(block as u32));
    }
    for b in 0..blocks.len() {
        let last = blocks[b].last();
        let next = block_of.get(last + 1).copied();
        let edges: Vec<BasicBlockId> = match &insts[last] {
            inst if ends_lanes(inst) => Vec::new(),
            inst if branches(inst) => {
                let fall = insts[last].guard.and(next);
                let taken =
                    targets(&insts[last]).iter().filter_map(|t| block_of.get(t.index()).copied());
                taken.chain(fall).collect()
            }
            _ => next.into_iter().collect(),
        };
        let mut successors: Vec<BasicBlockId> = Vec::new();
        for next in edges {
            if !successors.contains(&next) {
                successors.push(next);
            }
        }
        for s in &successors {
            blocks[s.index()].predecessors.push(BasicBlockId(b as u32));
        }
        blocks[b].successors = successors;
    }
    if !blocks.is_empty() {
        // Functions of machine code follow the kernel; only calls lead there.
        let called = insts.iter().filter(|inst| matches!(inst.op, Op::Jump(_))).flat_map(targets);
        let called = called.filter_map(|t| block_of.get(t.index())).map(|b| b.index());
        let roots: Vec<usize> = std::iter::once(0).chain(called).collect();
        let seen = reach(&successors(&blocks), roots, None);
        for b in seen.iter() {
            blocks[b].reachable = true;
        }
    }
    (blocks, block_of)
}

pub(crate) fn successors(blocks: &[BasicBlock]) -> Successors {
    blocks.iter().map(|b| b.successors.iter().map(|s| s.index()).collect()).collect()
}
