//! The steps a machine runs: the kernel's instructions in their order, then the steps that the convergence scheme adds.
//!
//! Every step names its successor, so an added step stands on an edge without any jump: the edge leads to it, and it leads on. What
//! stands on an edge into a block, in this order: the breaks of the merges that it turns away from; the syncs of the barriers that join
//! at the block, innermost first; the sets of the barriers whose cycle the edge enters, outermost first (behind the syncs: who enters a
//! loop together should have met before); the yield, if the block heads a loop that spins. Edges into a block that need the same steps
//! share them.
//!
//! *Yield* is placed as ptxas places it (for sm_90): at the head of the innermost loop around an atomic whose result, or a
//! strong load whose value, decides a branch or a guard in that loop. Loops that merely contain one do not spin; but a kernel or function
//! that calls has a yield in each of them, and a function also where it is entered ([`Builder::yield_beside_calls`]).

use super::barriers::{Barriers, ConvergenceBarrier, SetPoint};
use crate::base::{BasicBlockId, JoinId, Pc};
use crate::code::{NO_FORM, Scheme};
use crate::isa::{Class, Space};
use crate::kernel::*;

/// The steps of a kernel under a reconvergence scheme.
#[derive(Clone, Debug)]
pub(super) struct Stream {
    /// The instructions, one for one, then the added steps.
    pub(super) steps: Vec<Step>,
    /// PC at which a warp starts.
    pub(super) entry: Pc,
    /// PC at which each function starts.
    pub(super) functions: Vec<Pc>,
}

/// One step.
#[derive(Clone, Debug)]
pub(super) struct Step {
    /// The instruction; its branch targets are PCs of this stream.
    pub(super) inst: Inst,
    /// Index of the instruction; `None` for an added convergence operation.
    pub(super) source: Option<u32>,
    /// PC of lanes that neither branch nor exit.
    pub(super) next: Pc,
    /// Reconvergence PC of the branch ([`Scheme::Stack`] only).
    pub(super) reconverge: Option<Pc>,
}

/// Places convergence operations on the edges of a kernel; `yields`: also YIELD where a loop may wait for other lanes.
pub(super) fn place(
    insts: &[Inst],
    functions: &[DeviceFunction],
    flow: &ControlFlow,
    placed: &Barriers,
    scheme: Scheme,
    yields: bool,
) -> Stream {
    let steps = insts.iter().enumerate().map(|(i, inst)| Step {
        inst: inst.clone(),
        source: Some(i as u32),
        next: Pc(i as u32 + 1),
        reconverge: None,
    });
    let blocks = flow.blocks().len();
    let mut builder = Builder {
        flow,
        placed,
        insts,
        functions,
        call_join: JoinId(placed.barriers.iter().map(|b| b.id.0 + 1).max().unwrap_or(0)),
        steps: steps.collect(),
        barriers: scheme == Scheme::Barriers,
        spins: vec![false; blocks],
        entries: vec![false; blocks],
        ways: vec![Vec::new(); blocks],
        sets: vec![None; blocks],
        exits: vec![None; blocks],
    };
    if builder.barriers && yields {
        let observing = observing_functions(insts, functions);
        for spinning in flow.loops().iter().filter(|l| spins(insts, &observing, flow, l)) {
            builder.spins[spinning.header.index()] = true;
        }
        builder.yield_beside_calls();
    }
    builder.build()
}

struct Builder<'a> {
    flow: &'a ControlFlow,
    placed: &'a Barriers,
    insts: &'a [Inst],
    functions: &'a [DeviceFunction],
    /// The register around calls whose lanes may part: no other barrier has it, and none of these is inside another of the
    /// same activation.
    call_join: JoinId,
    steps: Vec<Step>,
    /// Whether joins are placed.
    barriers: bool,
    /// Blocks that begin with a yield.
    spins: Vec<bool>,
    /// Blocks before which a yield stands where a function enters them.
    entries: Vec<bool>,
    /// For each block the steps added on ways into it, and the first of them.
    ways: Vec<Vec<(Vec<ConvergenceOp>, Pc)>>,
    /// For each block the first of the sets added before its branch.
    sets: Vec<Option<Pc>>,
    /// For each block that is a bare exit its private copy: one serves all, being nobody's reconvergence point.
    exits: Vec<Option<Pc>>,
}

impl Builder<'_> {
    /// Marks the yields of code that calls. There ptxas does not see what decides when a loop ends: each innermost loop around an access
    /// that [`may_wait`] yields, and so does a function with one outside of its loops, being in a loop for all that is known. Found by
    /// compiling some eighty small kernels; a loop that ptxas unrolls does not yield, which is not known here.
    fn yield_beside_calls(&mut self) {
        let flow = self.flow;
        let mut innermost: Vec<Option<&Loop>> = vec![None; flow.blocks().len()];
        for around in flow.loops() {
            for block in &around.body {
                let known = &mut innermost[block.index()];
                if known.is_none_or(|inner| inner.depth < around.depth) {
                    *known = Some(around);
                }
            }
        }
        let own = self.functions.first().map_or(self.insts.len(), |f| f.first as usize);
        let functions = self.functions.iter().map(|f| (f.first as usize..f.end as usize, true));
        for (range, is_function) in std::iter::once((0..own, false)).chain(functions) {
            let calls = |inst: &Inst| matches!(inst.op, Op::Call(_));
            if !self.insts[range.clone()].iter().any(calls) {
                continue;
            }
            let entry = block_at(flow, range.start);
            for i in range.filter(|&i| may_wait(&self.insts[i])) {
                match innermost[block_at(flow, i).index()] {
                    Some(around) => self.spins[around.header.index()] = true,
                    None => self.entries[entry.index()] = is_function,
                }
            }
        }
    }

    fn build(mut self) -> Stream {
        if self.flow.blocks().is_empty() {
            return Stream { steps: self.steps, entry: Pc(0), functions: Vec::new() };
        }
        let entry = self.edge(None, 0);
        let first = |f: &DeviceFunction| self.flow.block_of(f.first as usize).map_or(0, |b| b.index());
        let firsts: Vec<usize> = self.functions.iter().map(first).collect();
        let functions = firsts.into_iter().map(|block| self.edge(None, block)).collect();
        for block in self.flow.blocks() {
            let (from, last) = (block.id.index(), block.last());
            let set = self.set_before_branch(from);
            if let (Some(set), true) = (set, last > block.first as usize) {
                self.steps[last - 1].next = set;
            }
            match &self.insts[last].op {
                Op::Branch { target, .. } => {
                    let new = self.way(from, last, *target);
                    if let Op::Branch { target, .. } = &mut self.steps[last].inst.op {
                        *target = new;
                    }
                    if self.insts[last].guard.is_some() {
                        self.fall(from, last);
                    }
                }
                Op::Switch(switch) => {
                    let new: Vec<Pc> = switch.targets.iter().map(|&target| self.way(from, last, target)).collect();
                    if let Op::Switch(switch) = &mut self.steps[last].inst.op {
                        switch.targets = new;
                    }
                    if self.insts[last].guard.is_some() {
                        self.fall(from, last);
                    }
                }
                _ if self.barriers && parting_call(&self.insts[last]) => {
                    self.fall(from, last);
                    self.steps[last].next = self.add(ConvergenceOp::Sync(self.call_join), last, self.steps[last].next);
                }
                _ if block.successors.is_empty() => {}
                _ => self.fall(from, last),
            }
        }
        if !self.barriers {
            for branch in self.flow.branches() {
                let meet = branch.reconverge.map(|b| Pc(self.flow.blocks()[b.index()].first));
                self.steps[branch.inst as usize].reconverge = meet;
            }
        }
        Stream { steps: self.steps, entry, functions }
    }

    /// The first step on the way that branch `last`, the end of block `from`, has to instruction `target`.
    fn way(&mut self, from: usize, last: usize, target: Pc) -> Pc {
        let block = self.flow.block_of(target.index()).map(|b| b.index());
        block.map_or(Pc(last as u32), |block| self.edge(Some(from), block))
    }

    /// The step behind `last`, the end of block `from`, leads into the next block.
    fn fall(&mut self, from: usize, last: usize) {
        if let Some(next) = self.flow.block_of(last + 1) {
            self.steps[last].next = self.edge(Some(from), next.index());
        }
    }

    /// The first step on the edge into block `to`; `from` is `None` where the kernel starts.
    fn edge(&mut self, from: Option<usize>, to: usize) -> Pc {
        let first = self.flow.blocks()[to].first;
        if from.is_some_and(|from| self.placed.private_exits.contains(&(from, to))) {
            let copy = self.exits[to].unwrap_or(Pc(self.steps.len() as u32));
            if self.exits[to].replace(copy).is_none() {
                self.steps.push(self.steps[first as usize].clone());
            }
            return copy;
        }
        let mut way = Vec::new();
        if from.is_none() && self.entries[to] {
            way.push(ConvergenceOp::Yield);
        }
        if self.barriers {
            let mut syncs: Vec<ConvergenceOp> = Vec::new();
            // Nothing can wait where the kernel starts.
            for barrier in self.placed.barriers.iter().filter(|b| b.join == to && from.is_some()) {
                syncs.push(ConvergenceOp::Sync(barrier.id));
            }
            syncs.reverse();
            syncs.dedup();
            let left = |b: &&ConvergenceBarrier| from.is_some_and(|from| b.is_left_by(from, to));
            let breaks = self.placed.barriers.iter().filter(left).map(|b| ConvergenceOp::Break(b.id));
            let enters = |set: &SetPoint| match set {
                SetPoint::Cycle(cycle) => cycle.contains(to) && from.is_none_or(|f| !cycle.contains(f)),
                SetPoint::Branch(_) => false,
            };
            let sets = self.placed.barriers.iter().filter(|b| enters(&b.set)).map(|b| ConvergenceOp::Set(b.id));
            way.extend(breaks.chain(syncs).chain(sets));
        }
        if self.spins[to] {
            way.push(ConvergenceOp::Yield);
        }
        let front = self.front(to);
        if way.is_empty() {
            return front;
        }
        if let Some((_, head)) = self.ways[to].iter().find(|(known, _)| *known == way) {
            return *head;
        }
        let mut next = front;
        for &op in way.iter().rev() {
            next = self.add(op, first as usize, next);
        }
        self.ways[to].push((way, next));
        next
    }

    /// The first step of a block's own: its first instruction, or the set before it.
    fn front(&mut self, block: usize) -> Pc {
        let (first, last) = (self.flow.blocks()[block].first, self.flow.blocks()[block].last());
        let set = if last == first as usize { self.set_before_branch(block) } else { None };
        set.unwrap_or(Pc(first))
    }

    /// The first of the sets, outer ones first, right before the branch, or call whose lanes may part, that ends the block.
    fn set_before_branch(&mut self, block: usize) -> Option<Pc> {
        let last = self.flow.blocks()[block].last();
        if self.barriers && self.sets[block].is_none() {
            let here = self.placed.barriers.iter().filter(|b| b.set == SetPoint::Branch(block));
            let mut joins: Vec<JoinId> = here.map(|b| b.id).collect();
            if joins.is_empty() && parting_call(&self.insts[last]) {
                joins.push(self.call_join);
            }
            for join in joins.into_iter().rev() {
                let next = self.sets[block].unwrap_or(Pc(last as u32));
                self.sets[block] = Some(self.add(ConvergenceOp::Set(join), last, next));
            }
        }
        self.sets[block]
    }

    /// Adds a join step that belongs to instruction `at`.
    fn add(&mut self, op: ConvergenceOp, at: usize, next: Pc) -> Pc {
        let inst = Inst {
            op: Op::Join(op),
            guard: None,
            class: Class::Join,
            form: NO_FORM,
            reads: Vec::new(),
            writes: Vec::new(),
            span: self.insts[at].span,
            line: self.insts[at].line,
        };
        self.steps.push(Step { inst, source: None, next, reconverge: None });
        Pc(self.steps.len() as u32 - 1)
    }
}

/// Whether a loop around the access may wait for others: as [`observes`], and any atomic in shared memory, where the machine has none
/// that returns nothing.
fn may_wait(inst: &Inst) -> bool {
    observes(inst) || matches!(&inst.op, Op::Atomic(atomic) if atomic.space == Space::Shared)
}

/// The block of an instruction of the kernel.
fn block_at(flow: &ControlFlow, inst: usize) -> BasicBlockId {
    flow.block_of(inst).unwrap_or_default()
}

#[cfg(test)]
mod tests;
