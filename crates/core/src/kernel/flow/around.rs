//! Which branches decide whether lanes come to an instruction: those that may diverge and have it
//! between them and the place where their sides meet.

use super::ControlFlow;
use super::branches::Branch;
use super::uniformity::region;
use crate::base::BasicBlockId;
use crate::kernel::{DeviceFunction, Inst, Op};

/// Divergent branches with the places around which their lanes may be apart.
pub struct Around<'a> {
    flow: &'a ControlFlow,
    insts: &'a [Inst],
    functions: &'a [DeviceFunction],
}

impl<'a> Around<'a> {
    /// For a checked kernel of these instructions.
    pub fn new(flow: &'a ControlFlow, insts: &'a [Inst], functions: &'a [DeviceFunction]) -> Around<'a> {
        Around { flow, insts, functions }
    }

    /// The branches of its own function around a block, in the order of the text.
    pub(super) fn block(&self, block: BasicBlockId) -> impl Iterator<Item = &'a Branch> {
        let around = move |b: &&Branch| {
            b.may_diverge && {
                // Where one side only leads to exits, the rest goes on: lanes that end early are not apart.
                let meet = b.reconverge.or_else(|| self.flow.immediate_post_dominator(b.block));
                region(&self.flow.edges, b.block.index(), meet.map(|m| m.index())).contains(block.index())
            }
        };
        let branches = if self.flow.under_divergence(block) { &self.flow.branches[..] } else { &[] };
        branches.iter().filter(around)
    }

    /// The branches around an instruction, and around the calls that lead to it: their instructions,
    /// ascending.
    pub fn inst(&self, inst: usize) -> Vec<u32> {
        let mut found = Vec::new();
        let mut called = vec![false; self.functions.len()];
        let mut open = vec![inst];
        while let Some(inst) = open.pop() {
            found.extend(self.flow.block_of(inst).into_iter().flat_map(|b| self.block(b)).map(|b| b.inst));
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
