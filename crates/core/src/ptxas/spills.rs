//! Callee-saved registers of recursive functions.
//!
//! A recursive function saves registers to local memory at its beginning, and restores them before
//! it returns. For other functions ptxas knows all callers and gives each function its own
//! registers. In the code of ptxas 13.0 for sm_90 (docs/machine-instructions.md), a function with
//! calls saves
//!
//! - two registers of its return address,
//! - one for each convergence barrier set around a call (on machines with convergence barriers),
//! - the maximum number of registers live across a call ([`DeviceFunction::held`]).
//!
//! [`Spill`] instructions access memory without moving values: the calls keep the saved registers
//! ([`Call::saves`]), so that results do not depend on spills.

use super::draft::{Draft, Rewritten};
use crate::base::{BasicBlockId, Pc};
use crate::code::PredicatedBranch;
use crate::isa::Class;
use crate::kernel::*;

/// Number of 32-bit registers of a return address.
const RETURN_ADDRESS: u32 = 2;

impl Draft {
    /// Inserts the instructions that save and restore registers of recursive functions.
    ///
    /// With `barriers`, they also save convergence barriers.
    #[must_use]
    pub(super) fn with_saved_registers(&self, barriers: bool) -> Rewritten {
        let mut insts = Vec::with_capacity(self.kernel.insts.len());
        let mut origin = Vec::with_capacity(self.kernel.insts.len());
        // New index of each old instruction as a branch target; functions begin earlier, with
        // saves.
        let mut moved = Vec::with_capacity(self.kernel.insts.len() + 1);
        let mut begins = Vec::with_capacity(self.kernel.functions.len());
        let mut within = None;
        for (i, inst) in self.kernel.insts.iter().enumerate() {
            if let Some(function) = self.kernel.functions.iter().find(|f| f.first as usize == i) {
                within = self.saved_by(function, barriers);
                begins.push((function.first, insts.len() as u32));
                for word in 0..within.map_or(0, |(words, _)| words) {
                    insts.push(self.spill(inst, false, word, within.unwrap_or_default()));
                    origin.push(i as u32);
                }
            }
            moved.push(insts.len() as u32);
            if inst.op == Op::Return {
                // The return address comes last, because the return waits for it.
                for word in (0..within.map_or(0, |(words, _)| words)).rev() {
                    insts.push(self.spill(inst, true, word, within.unwrap_or_default()));
                    origin.push(i as u32);
                }
            }
            let mut inst = inst.clone();
            if let (Op::Return, Some(_), Some(row)) =
                (&inst.op, within, self.kernel.registers.frame_pointer)
            {
                inst.reads.push(Register::Wide(row));
            }
            insts.push(inst);
            origin.push(i as u32);
        }
        moved.push(insts.len() as u32);
        let moved_to = |old: u32| moved.get(old as usize).copied().unwrap_or(insts.len() as u32);
        let functions = self.kernel.functions.iter().map(|f| {
            let first =
                begins.iter().find(|&&(old, _)| old == f.first).map_or(f.first, |&(_, new)| new);
            let next = begins
                .iter()
                .find(|&&(old, _)| old == f.end)
                .map_or(moved_to(f.end), |&(_, new)| new);
            DeviceFunction { first, end: next, ..f.clone() }
        });
        let functions = functions.collect();
        let targets: Vec<u32> = (0..=self.kernel.insts.len() as u32).map(moved_to).collect();
        let at = |old: u32| targets.get(old as usize).copied().unwrap_or(old);
        let target = |pc: &mut Pc| pc.0 = at(pc.0);
        for inst in &mut insts {
            match &mut inst.op {
                Op::Branch { target: to, .. } => target(to),
                Op::Switch(switch) => switch.targets.iter_mut().for_each(target),
                _ => {}
            }
        }
        let predicated = self.predicated.iter();
        let predicated = predicated
            .map(|branch| PredicatedBranch { inst: at(branch.inst), ..*branch })
            .collect();
        Rewritten { draft: self.with(insts, functions, predicated), origin }
    }

    /// Returns the number of saved registers, and how many of them hold barriers.
    ///
    /// `None` if the function is not recursive or has no calls.
    fn saved_by(&self, function: &DeviceFunction, barriers: bool) -> Option<(u32, u32)> {
        if !function.recursive {
            return None;
        }
        let calls = (function.first..function.end)
            .filter(|&i| matches!(self.kernel.insts[i as usize].op, Op::Call(_)));
        let deepest = calls.map(|i| if barriers { self.barriers_around(i) } else { 0 }).max()?;
        Some((RETURN_ADDRESS + deepest + function.held, deepest))
    }

    /// Returns the number of convergence barriers set at an instruction.
    ///
    /// These are the joins after it of the branches that dominate it.
    fn barriers_around(&self, inst: u32) -> u32 {
        let Some(block) = self.kernel.flow.block_of(inst as usize) else { return 0 };
        let above = |block: &BasicBlockId| self.kernel.flow.immediate_dominator(*block);
        let dominators: Vec<BasicBlockId> = std::iter::successors(Some(block), above).collect();
        let mut joins: Vec<BasicBlockId> = Vec::new();
        for branch in self.kernel.flow.branches().iter().filter(|b| b.may_diverge && b.meets) {
            if let Some(join) = branch.reconverge
                && dominators[1..].contains(&branch.block)
                && !dominators.contains(&join)
                && !joins.contains(&join)
            {
                joins.push(join);
            }
        }
        joins.len() as u32
    }

    /// Returns the access that saves or restores a register at `inst`, under its guard.
    fn spill(&self, inst: &Inst, restores: bool, word: u32, (words, barriers): (u32, u32)) -> Inst {
        let guard = inst.guard.filter(|_| restores);
        let address = self.kernel.registers.frame_pointer.filter(|_| restores && word == 0);
        Inst {
            also: None,
            compiled: None,
            op: Op::Spill(Spill { restores, word, words, barriers }),
            contracts: false,
            guard,
            class: if restores { Class::LoadLocal } else { Class::StoreLocal },
            reads: guard.map(|guard| Register::Predicate(guard.predicate)).into_iter().collect(),
            writes: address.map(Register::Wide).into_iter().collect(),
            ..inst.clone()
        }
    }
}
