//! Code cut into straight pieces: micro-ops that only change registers, up to a point that control
//! flow can reach from elsewhere.
//!
//! All lanes of a warp's active group execute a piece together, so it needs one look at the control
//! state, and one entry of the tally.

use crate::base::Pc;
use crate::code::{Code, MicroOp};
use crate::divergence::Flow;
use crate::exec::{self, LaneFunction};
use crate::kernel::{Inst, Op};
use crate::machine::issue::join;
use crate::machine::pricing::{Cost, Kind};

/// Code of a kernel.
pub(super) struct Plan<'a> {
    pub ops: &'a [MicroOp],
    /// By PC.
    pub steps: Vec<Step>,
    /// Micro-ops of the straight pieces, one piece after another.
    straight: Vec<Straight<'a>>,
}

/// Way in which a warp executes a micro-op if states are not compared.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// Begins the rest of a straight piece.
    Straight,
    /// A conditional branch.
    Branch,
    /// A convergence operation.
    Join,
    /// A load or store.
    Access,
    /// A barrier of the block without a guard.
    Barrier,
    /// None of the others.
    Other,
}

/// A micro-op.
#[derive(Clone, Copy)]
pub(super) struct Step {
    pub kind: Kind,
    pub way: Way,
    /// Machine instructions.
    pub slots: u32,
    /// Target of a branch.
    pub target: Option<Pc>,
    /// Control flow of a convergence operation.
    pub flow: Flow,
    /// True for a load or store that [`exec::repeat`] may execute.
    pub repeats: bool,
    /// True if a warp executes it ahead of a deferred barrier at which it has arrived.
    pub ahead: bool,
    /// True for a straight piece whose rest is executed ahead.
    pub all_ahead: bool,
    /// True if a branch follows the straight piece, and lanes reach it only from there.
    pub to_branch: bool,
    /// Number of micro-ops from here to the end of the straight piece; 0: it is not straight.
    len: u32,
    /// Index of the first one in [`Plan::straight`].
    first: u32,
}

/// A micro-op that only changes registers.
pub(super) struct Straight<'a> {
    pub pc: Pc,
    pub next: Pc,
    pub inst: &'a Inst,
    /// Its effect on lanes.
    pub effect: LaneFunction,
    /// Machine instructions.
    pub slots: u32,
    pub is_guarded: bool,
}

impl Way {
    /// Returns the way of a micro-op that is not straight.
    fn of(op: &Op, kind: Kind) -> Way {
        match (kind, op) {
            (Kind::ConditionalBranch, _) => Way::Branch,
            (Kind::Join, _) => Way::Join,
            (Kind::Plain, Op::Load(_) | Op::Store(_)) => Way::Access,
            (Kind::Plain, Op::Barrier(_)) => Way::Barrier,
            _ => Way::Other,
        }
    }
}

impl Step {
    /// Returns true if it takes no issue slot: a neighbour does its work.
    #[inline]
    pub(super) fn is_free(&self) -> bool {
        matches!(self.kind, Kind::Free | Kind::FreeJoin)
    }
}

impl<'a> Plan<'a> {
    pub(super) fn new(code: &'a Code, costs: &[Cost]) -> Plan<'a> {
        let ops = code.ops();
        let mut steps: Vec<Step> = ops
            .iter()
            .zip(costs)
            .map(|(op, cost)| Step {
                kind: cost.kind,
                way: Way::of(&op.inst.op, cost.kind),
                slots: op.count,
                target: match op.inst.op {
                    Op::Branch { target, .. } => Some(target),
                    _ => None,
                },
                flow: join(op),
                repeats: exec::is_repeatable(&op.inst.op),
                ahead: cost.ahead,
                all_ahead: false,
                to_branch: false,
                len: 0,
                first: 0,
            })
            .collect();
        let is_straight = |pc: usize| {
            matches!(steps[pc].kind, Kind::ElementWise | Kind::Free)
                && exec::is_element_wise(&ops[pc].inst.op)
        };
        let straight_ops: Vec<bool> = (0..ops.len()).map(is_straight).collect();
        let reached = reached_from_elsewhere(code, &straight_ops);
        let mut straight = Vec::new();
        for start in 0..ops.len() {
            if !straight_ops[start] || !reached[start] {
                continue;
            }
            let from = straight.len();
            let mut pc = Pc(start as u32);
            loop {
                let op = &ops[pc.index()];
                let is_guarded = op.inst.guard.is_some();
                let (inst, effect) = (&op.inst, costs[pc.index()].lanes);
                let (next, slots) = (op.next, op.count);
                straight.push(Straight { pc, next, inst, effect, slots, is_guarded });
                pc = next;
                if pc.index() >= ops.len() || !straight_ops[pc.index()] || reached[pc.index()] {
                    break;
                }
            }
            let to_branch =
                steps.get(pc.index()).is_some_and(|s| s.way == Way::Branch) && !reached[pc.index()];
            let mut all_ahead = true;
            for at in (from..straight.len()).rev() {
                let step: &mut Step = &mut steps[straight[at].pc.index()];
                (step.first, step.len) = (at as u32, (straight.len() - at) as u32);
                (step.way, step.to_branch) = (Way::Straight, to_branch);
                all_ahead &= step.ahead;
                step.all_ahead = all_ahead;
            }
        }
        Plan { ops, steps, straight }
    }

    /// Returns the straight piece from a PC on; empty if it is not straight.
    #[inline]
    pub(super) fn piece(&self, step: &Step) -> &[Straight<'a>] {
        let first = step.first as usize;
        self.straight.get(first..first + step.len as usize).unwrap_or_default()
    }
}

/// Returns true for each PC that lanes can reach other than from the straight micro-op before it,
/// or at which they may reconverge.
fn reached_from_elsewhere(code: &Code, straight: &[bool]) -> Vec<bool> {
    let ops = code.ops();
    let mut reached = vec![false; ops.len()];
    let mut before = vec![0_u32; ops.len()];
    let mut reach = |pc: Pc| {
        if let Some(reached) = reached.get_mut(pc.index()) {
            *reached = true;
        }
    };
    reach(code.entry());
    code.functions().iter().copied().for_each(&mut reach);
    for (op, &is_straight) in ops.iter().zip(straight) {
        op.reconverge.into_iter().for_each(&mut reach);
        match &op.inst.op {
            Op::Branch { target, .. }
            | Op::BranchTogether { target, .. }
            | Op::BranchByConvergence { target, .. } => reach(*target),
            Op::Switch(switch) => switch.targets.iter().copied().for_each(&mut reach),
            _ => {}
        }
        if !is_straight {
            reach(op.next);
        } else if let Some(before) = before.get_mut(op.next.index()) {
            *before += 1;
        }
    }
    // A piece has one way in; so has code that only jumps through registers reach.
    for (reached, before) in reached.iter_mut().zip(before) {
        *reached |= before != 1;
    }
    reached
}
