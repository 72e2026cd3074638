//! Basic blocks and the edges between them.
//!
//! A block ends at a branch, at an unguarded `exit` or `trap`, at a `ret` of a device function, and before every branch target. A
//! call is one step of a block, except where its lanes may go different ways: that is a block of its own. A guarded `exit` does not end a
//! block: its lanes vanish and the others fall through, so it is no fork in the road that anybody could come back from.

use crate::base::{BasicBlockId, Pc};
use crate::graph::{Successors, reach};
use crate::kernel::{Inst, Op};

/// A run of instructions that is entered at its first one and left at its last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BasicBlock {
    /// Its number; blocks are numbered in the order written.
    pub id: BasicBlockId,
    /// Its first instruction.
    pub first: u32,
    /// One past its last instruction.
    pub end: u32,
    /// Where it can go: the branch targets first, the way of those who do not branch last. No duplicates; empty when it ends in an exit.
    pub successors: Vec<BasicBlockId>,
    /// The blocks that can go here, in order of their numbers.
    pub predecessors: Vec<BasicBlockId>,
    /// Whether any path from the start of the kernel comes here.
    pub reachable: bool,
}

impl BasicBlock {
    /// Its instructions as indices into `Kernel::insts`.
    pub fn range(&self) -> std::ops::Range<usize> {
        self.first as usize..self.end as usize
    }

    /// Its last instruction.
    pub fn last(&self) -> usize {
        self.end as usize - 1
    }
}

/// Whether control never goes past the instruction, for any lane.
fn ends_lanes(inst: &Inst) -> bool {
    inst.guard.is_none() && matches!(inst.op, Op::Exit | Op::Trap | Op::Return)
}

/// Where the instruction sends the lanes that branch.
fn targets(inst: &Inst) -> &[Pc] {
    match &inst.op {
        Op::Branch { target, .. } => std::slice::from_ref(target),
        Op::Switch(switch) => &switch.targets,
        _ => &[],
    }
}

/// Whether lanes may go different ways at the call that the instruction is, and have to be brought together behind it.
pub(crate) fn parting_call(inst: &Inst) -> bool {
    matches!(&inst.op, Op::Call(call) if call.may_part(inst.guard.is_some()))
}

/// The blocks, and for each instruction its block.
pub(crate) fn blocks(insts: &[Inst]) -> (Vec<BasicBlock>, Vec<BasicBlockId>) {
    let mut leads = vec![false; insts.len() + 1];
    leads[0] = true;
    for (i, inst) in insts.iter().enumerate() {
        for target in targets(inst) {
            leads[target.index().min(insts.len())] = true;
        }
        leads[i] |= parting_call(inst);
        leads[i + 1] |= ends_lanes(inst) || parting_call(inst) || matches!(inst.op, Op::Branch { .. } | Op::Switch(_));
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
        let ways: Vec<BasicBlockId> = match insts[last].op {
            _ if ends_lanes(&insts[last]) => Vec::new(),
            Op::Branch { .. } | Op::Switch(_) => {
                let fall = insts[last].guard.and(next);
                let taken = targets(&insts[last]).iter().filter_map(|t| block_of.get(t.index()).copied());
                taken.chain(fall).collect()
            }
            _ => next.into_iter().collect(),
        };
        let mut successors: Vec<BasicBlockId> = Vec::new();
        for way in ways {
            if !successors.contains(&way) {
                successors.push(way);
            }
        }
        for s in &successors {
            blocks[s.index()].predecessors.push(BasicBlockId(b as u32));
        }
        blocks[b].successors = successors;
    }
    if !blocks.is_empty() {
        let seen = reach(&successors(&blocks), [0], None);
        for b in seen.iter() {
            blocks[b].reachable = true;
        }
    }
    (blocks, block_of)
}

pub(crate) fn successors(blocks: &[BasicBlock]) -> Successors {
    blocks.iter().map(|b| b.successors.iter().map(|s| s.index()).collect()).collect()
}
