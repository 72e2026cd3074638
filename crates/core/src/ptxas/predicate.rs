//! If-conversion: short conditional code becomes guarded instructions.
//!
//! There are two rewritings from kernel to kernel. Neither changes what a program does.
//!
//! - *Predicated exits*: a conditional branch to a bare `ret` becomes a guarded `exit`. (nvcc
//!   compiles `if (i >= n) return;` to a branch to a shared `ret`; ptxas makes it `@P0 EXIT`.)
//! - *Predicated bodies*: the branch's own predicate guards the arms of a forward `if` or
//!   `if`/`else`, and the branch disappears. Outside loops this includes an arm that ends the
//!   thread, as in `if (c) { out[i] = x; return; }`, with its exit.
//!
//! Only innermost constructs are converted, if each arm is a chain of blocks that nothing else
//! enters, and holds only unguarded element-wise instructions and weak loads and stores that do not
//! write the predicate. Barriers, atomics, volatile accesses and instructions that read other lanes
//! stay in branches. The caller selects the constructs to convert, because each machine has its own
//! limits.
//!
//! After Allen et al., Conversion of Control Dependence to Data Dependence (POPL 1983), without
//! nesting: ptxas for sm_75 to sm_90 does not guard what is already guarded.

use std::collections::BTreeMap;

use super::draft::{Draft, Rewritten};
use crate::base::{BasicBlockId, Pc};
use crate::code::PredicatedBranch;
use crate::kernel::*;

/// A conditional that can be converted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Conditional {
    /// Index of the branch in [`Kernel::insts`].
    pub(super) branch: u32,
    /// Instructions of each side in order, without jumps: fall-through side first.
    pub(super) arms: [Vec<u32>; 2],
    /// Block at which the sides reconverge.
    ///
    /// If one side ends the thread, it is the first block of the other side.
    pub(super) join: BasicBlockId,
    /// Exit of the side with instructions, if it ends the thread.
    pub(super) exit: Option<u32>,
    /// Blocks of both arms.
    blocks: Vec<BasicBlockId>,
}

impl Draft {
    /// Replaces branches to a bare `ret` by guarded exits, one for one.
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
                predicated.push(PredicatedBranch {
                    line: inst.line,
                    meets: None,
                    inst: i,
                    executes_taken: true,
                });
            }
        }
        self.with(insts, self.kernel.functions.clone(), predicated)
    }

    /// Returns the possible conversions of all branches, in source order.
    ///
    /// If a branch has several, the preferred one comes first. No instruction is in the arms of two
    /// branches.
    pub(super) fn conditionals(&self) -> Vec<Conditional> {
        self.kernel.flow.branches().iter().flat_map(|branch| self.candidates(branch)).collect()
    }

    /// Replaces the conditionals that `should_predicate` selects by guarded instructions.
    pub(super) fn with_predication(
        &self,
        should_predicate: impl Fn(&Conditional) -> bool,
    ) -> Rewritten {
        let mut chosen: Vec<Conditional> =
            self.conditionals().into_iter().filter(should_predicate).collect();
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

    /// Returns the possible conversions of the `if` that begins with a branch.
    ///
    /// Either an arm ends the thread and is guarded with its exit, while the rest stays unguarded,
    /// or the whole `if` is guarded.
    fn candidates(&self, branch: &Branch) -> Vec<Conditional> {
        let Some(guard) = self
            .kernel
            .insts
            .get(branch.inst as usize)
            .filter(|inst| matches!(inst.op, Op::Branch { .. }))
        else {
            return Vec::new();
        };
        let (Some(guard), &[taken, fall]) = (guard.guard, branch.sides.as_slice()) else {
            return Vec::new();
        };
        let sides = [fall, taken];
        let arms = sides.map(|side| self.arm(side));
        let in_loop = self
            .kernel
            .flow
            .block_of(branch.inst as usize)
            .is_none_or(|b| self.kernel.flow.loop_depth(b) > 0);
        let mut candidates = Vec::new();
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
                    candidates.push(Conditional {
                        branch,
                        arms: work,
                        join,
                        exit: Some(exit),
                        blocks,
                    });
                }
            }
        }
        let [(fall, end_of_fall), (taken, end_of_taken)] = arms;
        if let Some(join) = end_of_fall.filter(|_| end_of_fall == end_of_taken) {
            let arms = [&fall, &taken].map(|blocks| self.work(blocks));
            candidates.push(Conditional {
                branch: branch.inst,
                arms,
                join,
                exit: None,
                blocks: [fall, taken].concat(),
            });
        }
        let convertible = |i: &u32| {
            self.kernel.insts.get(*i as usize).is_some_and(|inst| can_be_guarded(inst, guard))
        };
        candidates.retain(|c| {
            c.arms.iter().any(|arm| !arm.is_empty()) && c.arms.iter().flatten().all(convertible)
        });
        candidates
    }

    /// Extends the chain of an arm to an exit.
    ///
    /// Returns the chain and the exit. It includes the block after the arm if that block ends the
    /// thread and nothing else enters it. `None` unless the chain leads to an exit, either its own
    /// or a bare one.
    fn ending(
        &self,
        mut chain: Vec<BasicBlockId>,
        start: BasicBlockId,
    ) -> Option<(Vec<BasicBlockId>, u32)> {
        let exits = |i: usize| {
            self.kernel.insts.get(i).is_some_and(|inst| inst.guard.is_none() && inst.op == Op::Exit)
        };
        let next = match chain.last() {
            Some(last) => {
                match self.kernel.flow.blocks().get(last.index())?.successors.as_slice() {
                    &[next] => next,
                    _ => return None,
                }
            }
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

    /// Returns the chain of blocks of an arm that begins at `start`, and the block after it.
    ///
    /// Nothing else enters the chain. There is no block after it if control ends or branches in it.
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

    /// Returns true if the kernel or a function starts with the block.
    fn is_entered(&self, block: &BasicBlock) -> bool {
        block.first == 0 || self.kernel.functions.iter().any(|f| f.first == block.first)
    }

    /// Returns the instructions of a chain of blocks, without the jumps between them.
    fn work(&self, blocks: &[BasicBlockId]) -> Vec<u32> {
        let range = |b: &BasicBlockId| {
            self.kernel.flow.blocks().get(b.index()).map_or(0..0, BasicBlock::range)
        };
        let jump = |i: usize| {
            self.kernel.insts[i].guard.is_none()
                && matches!(self.kernel.insts[i].op, Op::Branch { .. })
        };
        blocks.iter().flat_map(range).filter(|&i| !jump(i)).map(|i| i as u32).collect()
    }
}

/// Returns true if the instruction may be guarded by the predicate of a branch around it.
fn can_be_guarded(inst: &Inst, guard: PredicateUse) -> bool {
    let own_lanes = match &inst.op {
        Op::Lane(_) | Op::Setp(_) | Op::PredicateLogic { .. } | Op::Select { .. } => true,
        Op::Load(load) => !load.access.strong(),
        Op::Store(store) => !store.access.strong(),
        _ => false,
    };
    own_lanes
        && inst.guard.is_none()
        && !inst.writes.contains(&Register::Predicate(guard.predicate))
}

/// State of a rewriting.
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
        let moved_to = |old: u32| {
            self.kernel.flow.block_of(old as usize).map_or(end, |block| starts[block.index()])
        };
        for inst in &mut self.insts {
            match &mut inst.op {
                Op::Branch { target, .. } => target.0 = moved_to(target.0),
                Op::Switch(switch) => {
                    switch.targets.iter_mut().for_each(|target| target.0 = moved_to(target.0))
                }
                _ => {}
            }
        }
        let moved = |f: &DeviceFunction| DeviceFunction {
            first: moved_to(f.first),
            end: moved_to(f.end),
            ..f.clone()
        };
        let functions = self.kernel.functions.iter().map(moved).collect();
        // Branches of an earlier rewriting move with their instructions.
        for branch in &self.draft.predicated {
            let inst = (0..)
                .zip(&self.origin)
                .find(|&(_, &origin)| origin == branch.inst)
                .map(|(inst, _)| inst);
            self.predicated.extend(inst.map(|inst| PredicatedBranch { inst, ..*branch }));
        }
        let draft = self.draft.with(self.insts, functions, self.predicated);
        Rewritten { draft, origin: self.origin }
    }

    fn push(&mut self, origin: u32, inst: Inst) {
        self.insts.push(inst);
        self.origin.push(origin);
    }

    /// Emits the guarded arms in order, with the exit at their end.
    ///
    /// `follows` is the block emitted next.
    fn convert(&mut self, conditional: &Conditional, follows: Option<BasicBlockId>) {
        let branch = &self.kernel.insts[conditional.branch as usize];
        let Some(taken) = branch.guard else { return };
        let falls = PredicateUse { negated: !taken.negated, ..taken };
        let join = conditional.exit.is_none().then_some(conditional.join.index());
        let meets = join.and_then(|join| self.kernel.flow.blocks().get(join));
        self.predicated.push(PredicatedBranch {
            line: branch.line,
            meets: meets
                .and_then(|block| self.kernel.insts.get(block.first as usize))
                .map(|inst| inst.line),
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
            let mut jump =
                Inst { guard: None, op: Op::Branch { target, uniform: true }, ..branch.clone() };
            jump.reads.clear();
            self.push(conditional.branch, jump);
        }
    }
}

#[cfg(test)]
mod tests;
