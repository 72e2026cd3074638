//! Placement of convergence operations on the edges of a kernel.
//!
//! A stream has the instructions of the kernel in order, then the added steps. Every step names its
//! successor, so an added step on an edge needs no jump: the edge leads to the step, and the step
//! leads to the block. An edge into a block has, in this order:
//!
//! 1. the breaks of the merges that lanes on the edge do not reach;
//! 2. the syncs of the barriers that join at the block, innermost first;
//! 3. the sets of the barriers whose cycle the edge enters, outermost first (after the syncs, so
//!    that lanes reconverge before they enter a loop together);
//! 4. the yield, if the block is the header of a spin loop.
//!
//! Edges into a block that need the same steps share them.
//!
//! *Yields* are placed as ptxas places them for sm_90: in the header of the innermost loop around
//! an atomic whose result, or a strong load whose value, decides a branch or a guard in that loop.
//! A loop that only contains such a loop does not spin. In a kernel or function with calls, every
//! innermost loop around such an access yields, and a function may also yield at its entry
//! ([`Builder::yield_beside_calls`]).

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

/// Places convergence operations on the edges of a kernel.
///
/// With `yields`, it also places YIELD in loops that may wait for other lanes.
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
        shared_edges: vec![Vec::new(); blocks],
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
    /// Barrier register of calls whose lanes may diverge.
    ///
    /// No other barrier uses it, and such calls do not nest within an activation.
    call_join: JoinId,
    steps: Vec<Step>,
    /// True if convergence barriers are placed.
    barriers: bool,
    /// Blocks that begin with a yield.
    spins: Vec<bool>,
    /// Blocks with a yield before them when a function is entered there.
    entries: Vec<bool>,
    /// Added steps on edges into each block, with the PC of the first.
    shared_edges: Vec<Vec<(Vec<ConvergenceOp>, Pc)>>,
    /// First of the sets before the branch of each block.
    sets: Vec<Option<Pc>>,
    /// Private copy of each bare exit.
    ///
    /// One copy serves all edges, because it is no branch's reconvergence point.
    exits: Vec<Option<Pc>>,
}

impl Builder<'_> {
    /// Marks the yields of kernels and functions that contain calls.
    ///
    /// With calls, ptxas does not see what decides when a loop ends. Each innermost loop around an
    /// access that [`may_wait`] yields, and so does a function with such an access outside its
    /// loops, because its caller may be a loop. Found by compiling some eighty small kernels. A
    /// loop that ptxas unrolls does not yield; the model does not know unrolling.
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
        let first =
            |f: &DeviceFunction| self.flow.block_of(f.first as usize).map_or(0, |b| b.index());
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
                    let new = self.taken(from, last, *target);
                    if let Op::Branch { target, .. } = &mut self.steps[last].inst.op {
                        *target = new;
                    }
                    if self.insts[last].guard.is_some() {
                        self.fall_through(from, last);
                    }
                }
                Op::Switch(switch) => {
                    let new: Vec<Pc> = switch
                        .targets
                        .iter()
                        .map(|&target| self.taken(from, last, target))
                        .collect();
                    if let Op::Switch(switch) = &mut self.steps[last].inst.op {
                        switch.targets = new;
                    }
                    if self.insts[last].guard.is_some() {
                        self.fall_through(from, last);
                    }
                }
                _ if self.barriers && may_diverge_at_call(&self.insts[last]) => {
                    self.fall_through(from, last);
                    self.steps[last].next =
                        self.add(ConvergenceOp::Sync(self.call_join), last, self.steps[last].next);
                }
                _ if block.successors.is_empty() => {}
                _ => self.fall_through(from, last),
            }
        }
        if !self.barriers {
            for branch in self.flow.branches() {
                let join = branch.reconverge.map(|b| Pc(self.flow.blocks()[b.index()].first));
                self.steps[branch.inst as usize].reconverge = join;
            }
        }
        Stream { steps: self.steps, entry, functions }
    }

    /// Returns the first step from branch `last` of block `from` to instruction `target`.
    fn taken(&mut self, from: usize, last: usize, target: Pc) -> Pc {
        let block = self.flow.block_of(target.index()).map(|b| b.index());
        block.map_or(Pc(last as u32), |block| self.edge(Some(from), block))
    }

    /// Links `last`, the end of block `from`, to the next block.
    fn fall_through(&mut self, from: usize, last: usize) {
        if let Some(next) = self.flow.block_of(last + 1) {
            self.steps[last].next = self.edge(Some(from), next.index());
        }
    }

    /// Returns the first step on the edge into block `to`.
    ///
    /// `from` is `None` where the kernel or a function starts.
    fn edge(&mut self, from: Option<usize>, to: usize) -> Pc {
        let first = self.flow.blocks()[to].first;
        if from.is_some_and(|from| self.placed.private_exits.contains(&(from, to))) {
            let copy = self.exits[to].unwrap_or(Pc(self.steps.len() as u32));
            if self.exits[to].replace(copy).is_none() {
                self.steps.push(self.steps[first as usize].clone());
            }
            return copy;
        }
        let mut ops = Vec::new();
        if from.is_none() && self.entries[to] {
            ops.push(ConvergenceOp::Yield);
        }
        if self.barriers {
            let mut syncs: Vec<ConvergenceOp> = Vec::new();
            // No lane can wait at a sync where the kernel starts.
            for barrier in self.placed.barriers.iter().filter(|b| b.join == to && from.is_some()) {
                syncs.push(ConvergenceOp::Sync(barrier.id));
            }
            syncs.reverse();
            syncs.dedup();
            let left = |b: &&ConvergenceBarrier| from.is_some_and(|from| b.is_left_by(from, to));
            let breaks =
                self.placed.barriers.iter().filter(left).map(|b| ConvergenceOp::Break(b.id));
            let enters = |set: &SetPoint| match set {
                SetPoint::Cycle(cycle) => {
                    cycle.contains(to) && from.is_none_or(|f| !cycle.contains(f))
                }
                SetPoint::Branch(_) => false,
            };
            let sets = self
                .placed
                .barriers
                .iter()
                .filter(|b| enters(&b.set))
                .map(|b| ConvergenceOp::Set(b.id));
            ops.extend(breaks.chain(syncs).chain(sets));
        }
        if self.spins[to] {
            ops.push(ConvergenceOp::Yield);
        }
        let front = self.front(to);
        if ops.is_empty() {
            return front;
        }
        if let Some((_, head)) = self.shared_edges[to].iter().find(|(known, _)| *known == ops) {
            return *head;
        }
        let mut next = front;
        for &op in ops.iter().rev() {
            next = self.add(op, first as usize, next);
        }
        self.shared_edges[to].push((ops, next));
        next
    }

    /// Returns the first step of a block: its first instruction, or the set before it.
    fn front(&mut self, block: usize) -> Pc {
        let (first, last) = (self.flow.blocks()[block].first, self.flow.blocks()[block].last());
        let set = if last == first as usize { self.set_before_branch(block) } else { None };
        set.unwrap_or(Pc(first))
    }

    /// Returns the first of the sets before the branch or divergent call that ends the block.
    ///
    /// Outer sets come first.
    fn set_before_branch(&mut self, block: usize) -> Option<Pc> {
        let last = self.flow.blocks()[block].last();
        if self.barriers && self.sets[block].is_none() {
            let here = self.placed.barriers.iter().filter(|b| b.set == SetPoint::Branch(block));
            let mut joins: Vec<JoinId> = here.map(|b| b.id).collect();
            if joins.is_empty() && may_diverge_at_call(&self.insts[last]) {
                joins.push(self.call_join);
            }
            for join in joins.into_iter().rev() {
                let next = self.sets[block].unwrap_or(Pc(last as u32));
                self.sets[block] = Some(self.add(ConvergenceOp::Set(join), last, next));
            }
        }
        self.sets[block]
    }

    /// Adds a convergence operation that belongs to instruction `at`.
    fn add(&mut self, op: ConvergenceOp, at: usize, next: Pc) -> Pc {
        let inst = Inst {
            also: None,
            compiled: None,
            op: Op::Join(op),
            guard: None,
            class: Class::Join,
            form: NO_FORM,
            contracts: false,
            reads: Vec::new(),
            writes: Vec::new(),
            span: self.insts[at].span,
            line: self.insts[at].line,
        };
        self.steps.push(Step { inst, source: None, next, reconverge: None });
        Pc(self.steps.len() as u32 - 1)
    }
}

/// Returns true if a loop around the access may wait for other lanes.
///
/// That is true of accesses that [`observes`] accepts, and of any atomic in shared memory, because
/// the machine has none that returns nothing.
fn may_wait(inst: &Inst) -> bool {
    observes(inst) || matches!(&inst.op, Op::Atomic(atomic) if atomic.space == Space::Shared)
}

/// Returns the block of an instruction.
fn block_at(flow: &ControlFlow, inst: usize) -> BasicBlockId {
    flow.block_of(inst).unwrap_or_default()
}

#[cfg(test)]
mod tests;
