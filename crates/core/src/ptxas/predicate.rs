//! If-conversion: short conditional code becomes guarded instructions, as a compiler back end makes it.
//!
//! Two rewritings, both from kernel to kernel, neither of which changes what a program does:
//!
//! - *Predicated exits*: a conditional branch to a bare `ret` is a guarded `exit`. (nvcc writes `if (i >= n) return;` as a branch
//!   to a shared `ret`; ptxas makes `@P0 EXIT` of it.)
//! - *Predicated bodies*: the arms of a forward `if` or `if`/`else` are guarded by the branch's own predicate, and the branch is gone.
//!   So is an arm that ends the thread, as in `if (c) { out[i] = x; return; }`, with its exit; not from inside a loop.
//!
//! Converted are innermost constructs of which each arm is a chain of blocks that nothing else enters and holds only unguarded
//! element-wise instructions and weak loads and stores, none of which writes the predicate. Barriers, atomics, volatile accesses and everything
//! that looks at other lanes stay in branches. Which of these constructs are worth converting is a question to the caller: a machine has
//! its own limits. After Allen et al., Conversion of Control Dependence to Data Dependence (POPL 1983), without its nesting: ptxas on
//! sm_75 to sm_90 does not guard what is guarded already.

use std::collections::BTreeMap;

use super::draft::{Draft, Rewritten};
use crate::base::{BasicBlockId, Pc};
use crate::code::PredicatedBranch;
use crate::kernel::*;

/// An `if` that could be converted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Conditional {
    /// The branch's index in [`Kernel::insts`].
    pub(super) branch: u32,
    /// The instructions of each side, in order, without jumps: first the side that falls through, then the one branched to.
    pub(super) arms: [Vec<u32>; 2],
    /// The block where the sides meet; where one of them ends the thread, the one that the other side begins with.
    pub(super) join: BasicBlockId,
    /// The exit at the end of the side that has instructions, if it ends the thread.
    pub(super) exit: Option<u32>,
    /// The blocks that are in an arm.
    blocks: Vec<BasicBlockId>,
}

impl Draft {
    /// Branches to a bare `ret` as guarded exits, one instruction for one.
    #[must_use]
    pub(super) fn with_predicated_exits(&self) -> Draft {
        let bare = |target: &Pc| {
            let exits = |inst: &Inst| inst.guard.is_none() && inst.op == Op::Exit;
            self.kernel.insts.get(target.index()).filter(|inst| exits(inst))
        };
        let (mut insts, mut predicated) = (self.kernel.insts.clone(), self.predicated.clone());
        for (i, inst) in (0..).zip(&mut insts).filter(|(_, inst)| inst.guard.is_some()) {
            if let Op::Branch { target, .. } = &inst.op
                && let Some(exit) = bare(target)
            {
                (inst.op, inst.class, inst.form) = (Op::Exit, exit.class, exit.form);
                predicated.push(PredicatedBranch { line: inst.line, meets: None, inst: i, executes_taken: true });
            }
        }
        self.with(insts, self.kernel.functions.clone(), predicated)
    }

    /// The ways in which each `if` could be converted, in the order written; of an `if` that has several, the one to be
    /// preferred first. No instruction is in the arms of two of them.
    pub(super) fn conditionals(&self) -> Vec<Conditional> {
        self.kernel.flow.branches().iter().flat_map(|branch| self.ways_to_convert(branch)).collect()
    }

    /// The kernel with those conditionals as guarded instructions for which `worth` holds.
    pub(super) fn with_predication(&self, worth: impl Fn(&Conditional) -> bool) -> Rewritten {
        let mut chosen: Vec<Conditional> = self.conditionals().into_iter().filter(worth).collect();
        chosen.dedup_by_key(|conditional| conditional.branch);
        Rewriting {
            draft: self,
            kernel: &self.kernel,
            chosen,
            insts: Vec::new(),
            origin: Vec::new(),
            predicated: Vec::new(),
        }
        .run()
    }

    /// How the `if` that begins with a branch could be converted: with an arm that ends the thread, whose lanes exit there and
    /// leave the rest unguarded, or as a whole.
    fn ways_to_convert(&self, branch: &Branch) -> Vec<Conditional> {
        let Some(guard) =
            self.kernel.insts.get(branch.inst as usize).filter(|inst| matches!(inst.op, Op::Branch { .. }))
        else {
            return Vec::new();
        };
        let (Some(guard), &[taken, fall]) = (guard.guard, branch.sides.as_slice()) else { return Vec::new() };
        let sides = [fall, taken];
        let arms = sides.map(|side| self.arm(side));
        let in_loop =
            self.kernel.flow.block_of(branch.inst as usize).is_none_or(|b| self.kernel.flow.loop_depth(b) > 0);
        let mut ways = Vec::new();
        for side in (0..2).filter(|_| !in_loop && fall != taken) {
            if let Some((blocks, exit)) = self.ending(arms[side].0.clone(), sides[side]) {
                let mut work = [Vec::new(), Vec::new()];
                work[side] = self.work(&blocks);
                work[side].retain(|&i| i != exit);
                let other_is_empty = arms[side].1.is_some()
                    && arms[1 - side].1 == arms[side].1
                    && self.work(&arms[1 - side].0).is_empty();
                if !other_is_empty {
                    let (branch, join) = (branch.inst, sides[1 - side]);
                    ways.push(Conditional { branch, arms: work, join, exit: Some(exit), blocks });
                }
            }
        }
        let [(fall, end_of_fall), (taken, end_of_taken)] = arms;
        if let Some(join) = end_of_fall.filter(|_| end_of_fall == end_of_taken) {
            let arms = [&fall, &taken].map(|blocks| self.work(blocks));
            ways.push(Conditional { branch: branch.inst, arms, join, exit: None, blocks: [fall, taken].concat() });
        }
        let convertible = |i: &u32| self.kernel.insts.get(*i as usize).is_some_and(|inst| can_be_guarded(inst, guard));
        ways.retain(|way| way.arms.iter().any(|arm| !arm.is_empty()) && way.arms.iter().flatten().all(convertible));
        ways
    }

    /// The chain of blocks that begins at `start`, with the block behind it if that ends the thread and nothing else enters it,
    /// and the exit; `None` unless the chain leads to an exit, its own or a bare one.
    fn ending(&self, mut chain: Vec<BasicBlockId>, start: BasicBlockId) -> Option<(Vec<BasicBlockId>, u32)> {
        let exits = |i: usize| self.kernel.insts.get(i).is_some_and(|inst| inst.guard.is_none() && inst.op == Op::Exit);
        let next = match chain.last() {
            Some(last) => match self.kernel.flow.blocks().get(last.index())?.successors.as_slice() {
                &[next] => next,
                _ => return None,
            },
            None => start,
        };
        let next = self.kernel.flow.blocks().get(next.index())?;
        let own = next.predecessors.len() == 1 && !self.is_entered(next);
        let at = if own { next.range().last()? } else { next.range().start };
        if own {
            chain.push(next.id);
        }
        exits(at).then_some((chain, at as u32))
    }

    /// The chain of blocks that begins at `start` and that nothing else enters, and the block behind it; no block when control
    /// ends, or divides, in the chain.
    fn arm(&self, start: BasicBlockId) -> (Vec<BasicBlockId>, Option<BasicBlockId>) {
        let mut chain = Vec::new();
        let mut at = start;
        while let Some(block) = self.kernel.flow.blocks().get(at.index()) {
            if block.predecessors.len() != 1 || self.is_entered(block) {
                return (chain, Some(at));
            }
            let &[next] = block.successors.as_slice() else { return (chain, None) };
            chain.push(at);
            at = next;
        }
        (chain, None)
    }

    /// Whether the kernel or a function starts with the block.
    fn is_entered(&self, block: &BasicBlock) -> bool {
        block.first == 0 || self.kernel.functions.iter().any(|f| f.first == block.first)
    }

    /// The instructions of a chain of blocks, without the jumps between them.
    fn work(&self, blocks: &[BasicBlockId]) -> Vec<u32> {
        let range = |b: &BasicBlockId| self.kernel.flow.blocks().get(b.index()).map_or(0..0, BasicBlock::range);
        let jump =
            |i: usize| self.kernel.insts[i].guard.is_none() && matches!(self.kernel.insts[i].op, Op::Branch { .. });
        blocks.iter().flat_map(range).filter(|&i| !jump(i)).map(|i| i as u32).collect()
    }
}

/// Whether guarding an instruction by the predicate of a branch around it leaves its meaning as it is.
fn can_be_guarded(inst: &Inst, guard: PredicateUse) -> bool {
    let own_lanes = match &inst.op {
        Op::Lane(_) | Op::Setp(_) | Op::PredicateLogic { .. } | Op::Select { .. } => true,
        Op::Load(load) => !load.access.strong(),
        Op::Store(store) => !store.access.strong(),
        _ => false,
    };
    own_lanes && inst.guard.is_none() && !inst.writes.contains(&Register::Predicate(guard.predicate))
}

/// A kernel being written anew.
struct Rewriting<'a> {
    draft: &'a Draft,
    kernel: &'a Kernel,
    chosen: Vec<Conditional>,
    insts: Vec<Inst>,
    origin: Vec<u32>,
    predicated: Vec<PredicatedBranch>,
}

impl Rewriting<'_> {
    fn run(mut self) -> Rewritten {
        let blocks = self.kernel.flow.blocks();
        let mut moved = vec![false; blocks.len()];
        for block in self.chosen.iter().flat_map(|c| &c.blocks) {
            moved[block.index()] = true;
        }
        let mut starts = vec![0; blocks.len()];
        let mut chosen: BTreeMap<usize, Conditional> =
            std::mem::take(&mut self.chosen).into_iter().map(|c| (c.branch as usize, c)).collect();
        let mut staying = blocks.iter().filter(|b| !moved[b.id.index()]).peekable();
        while let Some(block) = staying.next() {
            starts[block.id.index()] = self.insts.len() as u32;
            let follows = staying.peek().map(|b| b.id);
            for i in block.range() {
                match chosen.remove(&i) {
                    Some(conditional) => self.convert(&conditional, follows),
                    None => self.push(i as u32, self.kernel.insts[i].clone()),
                }
            }
        }
        let end = self.insts.len() as u32;
        let moved_to = |old: u32| self.kernel.flow.block_of(old as usize).map_or(end, |block| starts[block.index()]);
        for inst in &mut self.insts {
            match &mut inst.op {
                Op::Branch { target, .. } => target.0 = moved_to(target.0),
                Op::Switch(switch) => switch.targets.iter_mut().for_each(|target| target.0 = moved_to(target.0)),
                _ => {}
            }
        }
        let moved = |f: &DeviceFunction| DeviceFunction { first: moved_to(f.first), end: moved_to(f.end), ..f.clone() };
        let functions = self.kernel.functions.iter().map(moved).collect();
        // Those of an earlier rewriting go where their instructions went.
        for branch in &self.draft.predicated {
            let inst = (0..).zip(&self.origin).find(|&(_, &origin)| origin == branch.inst).map(|(inst, _)| inst);
            self.predicated.extend(inst.map(|inst| PredicatedBranch { inst, ..*branch }));
        }
        let draft = self.draft.with(self.insts, functions, self.predicated);
        Rewritten { draft, origin: self.origin }
    }

    fn push(&mut self, origin: u32, inst: Inst) {
        self.insts.push(inst);
        self.origin.push(origin);
    }

    /// Writes the arms one after the other, with the exit at their end; `follows` is the block written next.
    fn convert(&mut self, conditional: &Conditional, follows: Option<BasicBlockId>) {
        let branch = &self.kernel.insts[conditional.branch as usize];
        let Some(taken) = branch.guard else { return };
        let falls = PredicateUse { negated: !taken.negated, ..taken };
        let join = conditional.exit.is_none().then_some(conditional.join.index());
        let meets = join.and_then(|join| self.kernel.flow.blocks().get(join));
        self.predicated.push(PredicatedBranch {
            line: branch.line,
            meets: meets.and_then(|block| self.kernel.insts.get(block.first as usize)).map(|inst| inst.line),
            inst: self.insts.len() as u32,
            executes_taken: conditional.arms[0].is_empty(),
        });
        for (arm, guard) in conditional.arms.iter().zip([falls, taken]) {
            let exit = conditional.exit.filter(|_| !arm.is_empty());
            for i in arm.iter().copied().chain(exit) {
                let mut inst = self.kernel.insts[i as usize].clone();
                inst.guard = Some(guard);
                let read = Register::Predicate(guard.predicate);
                if !inst.reads.contains(&read) {
                    inst.reads.push(read);
                }
                self.push(i, inst);
            }
        }
        if follows != Some(conditional.join) {
            let target = Pc(self.kernel.flow.blocks()[conditional.join.index()].first);
            let mut jump = Inst { guard: None, op: Op::Branch { target, uniform: true }, ..branch.clone() };
            jump.reads.clear();
            self.push(conditional.branch, jump);
        }
    }
}

#[cfg(test)]
mod tests;
