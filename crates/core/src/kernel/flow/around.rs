//! Divergent branches around an instruction.
//!
//! These are the branches that may diverge with the instruction between them and their
//! reconvergence point. They decide whether a lane reaches it.

use super::ControlFlow;
use super::branches::Branch;
use super::uniformity::region;
use crate::base::BasicBlockId;
use crate::kernel::{DeviceFunction, Inst, Op};

/// Query for the divergent branches around blocks and instructions.
pub struct Around<'a> {
    flow: &'a ControlFlow,
    insts: &'a [Inst],
    functions: &'a [DeviceFunction],
}

impl<'a> Around<'a> {
    /// Creates the query for the instructions of a checked kernel.
    pub fn new(
        flow: &'a ControlFlow,
        insts: &'a [Inst],
        functions: &'a [DeviceFunction],
    ) -> Around<'a> {
        Around { flow, insts, functions }
    }

    /// Returns the branches around a block in its own function, in source order.
    pub(super) fn block(&self, block: BasicBlockId) -> impl Iterator<Item = &'a Branch> {
        let around = move |b: &&Branch| {
            b.may_diverge && {
                // If one side only leads to exits, its lanes end early and the rest is not
                // diverged.
                let join = b.reconverge.or_else(|| self.flow.immediate_post_dominator(b.block));
                region(&self.flow.edges, b.block.index(), join.map(|j| j.index()))
                    .contains(block.index())
            }
        };
        let branches =
            if self.flow.under_divergence(block) { &self.flow.branches[..] } else { &[] };
        branches.iter().filter(around)
    }

    /// Returns the branches around an instruction and around the calls that lead to it.
    ///
    /// The result lists their instructions in ascending order.
    pub fn inst(&self, inst: usize) -> Vec<u32> {
        let mut found = Vec::new();
        let mut called = vec![false; self.functions.len()];
        let mut open = vec![inst];
        while let Some(inst) = open.pop() {
            found.extend(
                self.flow.block_of(inst).into_iter().flat_map(|b| self.block(b)).map(|b| b.inst),
            );
            let within = |f: &DeviceFunction| (f.first as usize..f.end as usize).contains(&inst);
            let Some(function) = self.functions.iter().position(within) else { continue };
            if !std::mem::replace(&mut called[function], true) {
                let leads = |i: &Inst| matches!(&i.op, Op::Call(c) if c.callees().contains(&(function as u32)));
                open.extend((0..self.insts.len()).filter(|&i| leads(&self.insts[i])));
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }
}
