//! Uniformity analysis: values and branches that depend on the lane.
//!
//! A register is *uniform* at a point if all lanes that execute the point together hold the same
//! value in it. This is a forward data-flow analysis over sets of registers that may not be uniform
//! (Karrenberg and Hack, "Whole-function vectorization", CGO 2011; Rosemann, Moll and Hack, POPL
//! 2021). Sources of divergence:
//!
//! - *data*: lane-dependent special registers, results of atomics, shuffles, matches and clocks,
//!   loads from divergent addresses, strong (volatile) loads, local memory, and everything computed
//!   from these;
//! - *control*: at the reconvergence point of a divergent branch, every register written on a path
//!   to it (one side may have written it, or both with different values). This covers temporal
//!   divergence: in a loop that lanes leave in different rounds, the registers that it wrote differ
//!   after it;
//! - a guarded write, which leaves the old value in some lanes;
//! - a device function's parameters and the results of calls; also votes in a function, whose
//!   caller may call it from several places at once.
//!
//! Votes, `redux`, `match.all` and barrier reductions give one value to all participants: they are
//! uniform unless under divergent control. A branch marked `.uni` is trusted. The analysis is
//! conservative: a uniform result is uniform, while a "divergent" branch may never diverge.

use super::BasicBlock;
use super::dominance::PostDominance;
use super::operands::{Numbering, operands};
use crate::graph::{Bits, Successors, reach, reach_within, reversed};
use crate::isa::Space;
use crate::kernel::layout::LOCAL_WINDOW;
use crate::kernel::*;

/// Result of the analysis.
#[derive(Clone, Debug, Default)]
pub(super) struct Uniformity {
    /// Blocks whose branch may send lanes of one group to different sides.
    pub(super) diverging: Bits,
    /// Blocks between a divergent branch and its reconvergence point.
    pub(super) under_divergence: Bits,
    /// Instructions whose guard may differ between lanes.
    pub(super) divergent_guards: Bits,
    /// Instructions that compute one value for the whole, converged warp.
    pub(super) uniform_results: Bits,
    /// `.sync` instructions that all lanes of a group execute with one member mask.
    pub(super) uniform_masks: Bits,
}

/// Returns the blocks between a branch and its reconvergence point.
///
/// The branch's own block is included if lanes can return to it before they reconverge.
pub(super) fn region(graph: &Successors, branch: usize, join: Option<usize>) -> Bits {
    reach(graph, graph[branch].iter().copied(), join)
}

pub(super) fn analyse(
    insts: &[Inst],
    registers: &Registers,
    blocks: &[BasicBlock],
    graph: &Successors,
    post: &PostDominance,
    called: bool,
) -> Uniformity {
    let mut analysis = Analysis::new(insts, registers, blocks, graph, called);
    // More divergent branches make more values divergent and vice versa. Both only grow, so this
    // ends.
    let mut result = Uniformity { diverging: Bits::new(graph.len()), ..Uniformity::default() };
    let mut placed = Bits::new(graph.len());
    loop {
        for branch in result.diverging.iter().filter(|&b| placed.insert(b)) {
            analysis.place_divergence(branch, post);
        }
        analysis.flow();
        let found = analysis.branches();
        let grown = result.diverging.union(&found.diverging);
        result = Uniformity { diverging: result.diverging, ..found };
        if !grown {
            break;
        }
    }
    result.under_divergence = analysis.diverged;
    result
}

struct Analysis<'a> {
    insts: &'a [Inst],
    blocks: &'a [BasicBlock],
    graph: &'a Successors,
    back: Successors,
    numbering: Numbering,
    /// True for a device function.
    called: bool,
    /// True if a generic address may point to local memory.
    local_is_generic: bool,
    /// Registers written in each block.
    written: Vec<Bits>,
    /// Blocks under divergent control.
    diverged: Bits,
    /// Registers that become divergent at the start of a block, because sides reconverge there.
    tainted: Vec<Bits>,
    /// Registers that may be divergent at the start of a block.
    entry: Vec<Bits>,
}

impl<'a> Analysis<'a> {
    fn new(
        insts: &'a [Inst],
        registers: &Registers,
        blocks: &'a [BasicBlock],
        graph: &'a Successors,
        called: bool,
    ) -> Self {
        let numbering = Numbering::new(registers);
        let none = vec![Bits::new(numbering.len()); blocks.len()];
        let mut written = none.clone();
        for block in blocks {
            for register in insts[block.range()].iter().flat_map(|i| &i.writes) {
                written[block.id.index()].insert(numbering.number(*register));
            }
        }
        let mut entry = none.clone();
        if let Some(first) = entry.first_mut() {
            let frame_pointer = registers.frame_pointer.filter(|_| called).map(Register::Wide);
            frame_pointer.into_iter().for_each(|row| _ = first.insert(numbering.number(row)));
            for &(row, special) in &registers.specials {
                use Special::*;
                let lane_dependent = match special {
                    Tid(_) | Laneid | LanemaskEq | LanemaskLe | LanemaskLt | LanemaskGe
                    | LanemaskGt | Virtid => true,
                    Ntid(_) | Ctaid(_) | Nctaid(_) | Warpid | Nwarpid | Smid | Nsmid | Gridid => {
                        false
                    }
                    DynamicSmemSize | TotalSmemSize | AggrSmemSize | Workspace(_) | Virtcfg
                    | Warpgroup => false,
                };
                if lane_dependent {
                    first.insert(numbering.number(Register::Narrow(row)));
                }
            }
        }
        let to_local = |i: &Inst| matches!(i.op, Op::Lane(LaneOp { f: LaneFn::OffsetBy(by), .. }) if by == LOCAL_WINDOW as i64);
        Analysis {
            insts,
            blocks,
            graph,
            back: reversed(graph),
            numbering,
            called,
            local_is_generic: insts.iter().any(to_local),
            written,
            diverged: Bits::new(blocks.len()),
            tainted: none,
            entry,
        }
    }

    /// Marks the effects of a divergent branch on the blocks after it.
    fn place_divergence(&mut self, branch: usize, post: &PostDominance) {
        let region = region(self.graph, branch, post.ipdom[branch]);
        self.diverged.union(&region);
        let Some(join) = post.ipdom[branch] else { return };
        for block in reach_within(&self.back, join, &region).iter() {
            self.tainted[join].union(&self.written[block]);
        }
        // Shuffles and similar instructions wait for lanes of other sides, and merge them there.
        let mut written = Bits::new(self.numbering.len());
        region.iter().for_each(|block| _ = written.union(&self.written[block]));
        for block in region.iter() {
            if self.insts[self.blocks[block].range()].iter().any(waits_for_lanes) {
                self.tainted[block].union(&written);
            }
        }
    }

    fn flow(&mut self) {
        let mut open: Vec<usize> = (0..self.blocks.len()).rev().collect();
        let mut queued: Bits = open.iter().copied().collect();
        while let Some(block) = open.pop() {
            queued.remove(block);
            let taint = &self.tainted[block];
            self.entry[block].union(taint);
            let mut state = self.entry[block].clone();
            for inst in &self.insts[self.blocks[block].range()] {
                self.transfer(inst, block, &mut state);
            }
            for &next in &self.graph[block] {
                if self.entry[next].union(&state) && queued.insert(next) {
                    open.push(next);
                }
            }
        }
    }

    fn transfer(&self, inst: &Inst, block: usize, state: &mut Bits) {
        let mut operand_diverges = false;
        operands(inst, |r| operand_diverges |= state.contains(self.numbering.number(r)));
        let diverged = self.called || self.diverged.contains(block);
        let diverges = match &inst.op {
            Op::Load(load) => {
                let own = load.access.space == Space::Local
                    || load.access.space == Space::Generic && self.local_is_generic
                    || load.access.strong()
                        && !matches!(load.access.space, Space::Const | Space::Param);
                own || operand_diverges
            }
            Op::Atomic(_) | Op::AtomicVector(_) | Op::MBarrier(_) | Op::Stack(_) => true,
            // Other threads may write a surface meanwhile.
            Op::Surface(_) => true,
            Op::Mma(_) | Op::GroupMma(_) | Op::MatrixAccess(_) | Op::MatrixTranspose { .. } => true,
            Op::Shuffle(_) | Op::Clock { .. } | Op::ReadSlot(_) => true,
            Op::Vote(Vote { kind: VoteKind::Elect(..), .. }) => true,
            Op::Match(op) => {
                !op.all
                    || diverged
                    || state.contains(self.numbering.number(Register::Narrow(op.mask.row)))
            }
            Op::Vote(Vote { mask, .. }) | Op::Redux(Redux { mask, .. }) => {
                diverged
                    || state.contains(self.numbering.number(Register::Narrow(mask.row)))
                    || self.guard(inst, state)
            }
            Op::Native(op) if op.uniform => false,
            Op::Native(op) => match op.f {
                NativeFn::Shuffle(_) | NativeFn::Match { .. } | NativeFn::Vote(VoteFn::Elect) => {
                    true
                }
                NativeFn::Vote(_) => diverged || self.guard(inst, state),
                _ => operand_diverges,
            },
            Op::ActiveMask { .. } | Op::Barrier(_) => diverged || self.guard(inst, state),
            _ => operand_diverges,
        };
        for &register in &inst.writes {
            let number = self.numbering.number(register);
            if diverges {
                state.insert(number);
            } else if inst.guard.is_none() {
                state.remove(number);
            }
        }
    }

    fn guard(&self, inst: &Inst, state: &Bits) -> bool {
        inst.guard
            .into_iter()
            .chain(inst.also)
            .any(|g| state.contains(self.numbering.number(Register::Predicate(g.predicate))))
    }

    /// Collects divergent branches and guards, and uniform results, from the states.
    fn branches(&self) -> Uniformity {
        let mut diverging = Bits::new(self.blocks.len());
        let mut divergent_guards = Bits::new(self.insts.len());
        let mut uniform_results = Bits::new(self.insts.len());
        let mut uniform_masks = Bits::new(self.insts.len());
        for block in self.blocks.iter().filter(|b| b.reachable) {
            let mut state = self.entry[block.id.index()].clone();
            for i in block.range() {
                let inst = &self.insts[i];
                let guard = self.guard(inst, &state);
                if guard {
                    divergent_guards.insert(i);
                }
                let diverges = match &inst.op {
                    Op::Branch { uniform, .. } => guard && !uniform,
                    Op::Switch(switch) => {
                        let index = self.numbering.number(Register::Narrow(switch.index));
                        !switch.uniform && (guard || state.contains(index))
                    }
                    Op::Jump(Jump { target: JumpTarget::Register { row, .. }, .. }) => {
                        guard || state.contains(self.numbering.number(Register::Narrow(*row)))
                    }
                    _ => false,
                };
                let row = |row: Row| self.numbering.number(Register::Narrow(row));
                if let Some(mask) = inst.op.member_mask()
                    && !guard
                    && !state.contains(row(mask.row))
                {
                    uniform_masks.insert(i);
                }
                if diverges && block.successors.len() > 1 {
                    diverging.insert(block.id.index());
                }
                self.transfer(inst, block.id.index(), &mut state);
                let converged = inst.guard.is_none()
                    && !self.called
                    && !self.diverged.contains(block.id.index());
                let same = |&r: &Register| !state.contains(self.numbering.number(r));
                if converged && !inst.writes.is_empty() && inst.writes.iter().all(same) {
                    uniform_results.insert(i);
                }
            }
        }
        Uniformity {
            diverging,
            divergent_guards,
            uniform_results,
            uniform_masks,
            ..Uniformity::default()
        }
    }
}

/// Returns true if the instruction can wait for lanes on another path.
///
/// A call can, because the function may contain such instructions.
fn waits_for_lanes(inst: &Inst) -> bool {
    matches!(
        inst.op,
        Op::Call(_)
            | Op::Shuffle(_)
            | Op::Vote(_)
            | Op::Match(_)
            | Op::Redux(_)
            | Op::WarpSync { .. }
            | Op::Gather { .. }
            | Op::Mma(_)
            | Op::GroupMma(_)
            | Op::MatrixAccess(_)
            | Op::MatrixTranspose { .. }
    )
}
