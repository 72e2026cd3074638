//! A kernel on its way to machine code: instructions that the passes rewrite.

use crate::code::PredicatedBranch;
use crate::kernel::{ControlFlow, DeviceFunction, EdgeFilter, Inst, Kernel};

/// A kernel between two passes.
#[derive(Clone, Debug)]
pub(super) struct Draft {
    /// The instructions so far, analysed.
    pub(super) kernel: Kernel,
    /// Branches that became predication, by the instruction in their place.
    pub(super) predicated: Vec<PredicatedBranch>,
    /// Edges that the compiler knows no lane takes.
    dead: Option<EdgeFilter>,
}

/// The outcome of a pass that adds or removes instructions.
#[derive(Clone, Debug)]
pub(super) struct Rewritten {
    pub(super) draft: Draft,
    /// For each instruction the index of the one from which it was made.
    pub(super) origin: Vec<u32>,
}

impl Draft {
    /// The kernel as checked, without the edges that `dead` removes.
    pub(super) fn new(kernel: &Kernel, dead: Option<EdgeFilter>) -> Draft {
        let draft = Draft { kernel: kernel.clone(), predicated: Vec::new(), dead };
        draft.with(kernel.insts.clone(), kernel.functions.clone(), Vec::new())
    }

    /// The same kernel with other instructions, and functions that lie elsewhere among them.
    pub(super) fn with(
        &self,
        insts: Vec<Inst>,
        functions: Vec<DeviceFunction>,
        mut predicated: Vec<PredicatedBranch>,
    ) -> Draft {
        let flow = ControlFlow::build_without(&insts, &functions, &self.kernel.registers, self.dead);
        predicated.sort_by_key(|branch| branch.inst);
        Draft { kernel: Kernel { insts, functions, flow, ..self.kernel.clone() }, predicated, dead: self.dead }
    }
}
