//! Kernel between two passes.

use crate::code::PredicatedBranch;
use crate::kernel::{ControlFlow, DeviceFunction, EdgeFilter, Inst, Kernel};

/// A kernel between two passes.
#[derive(Clone, Debug)]
pub(super) struct Draft {
    /// Current instructions and their control flow.
    pub(super) kernel: Kernel,
    /// Branches that became predication, by the instruction that replaces them.
    pub(super) predicated: Vec<PredicatedBranch>,
    /// Removes edges that the compiler knows no lane takes.
    dead: Option<EdgeFilter>,
}

/// Result of a pass that adds or removes instructions.
#[derive(Clone, Debug)]
pub(super) struct Rewritten {
    pub(super) draft: Draft,
    /// Index of the original of each instruction.
    pub(super) origin: Vec<u32>,
}

impl Draft {
    /// Returns the checked kernel, without the edges that `dead` removes.
    pub(super) fn new(kernel: &Kernel, dead: Option<EdgeFilter>) -> Draft {
        let draft = Draft { kernel: kernel.clone(), predicated: Vec::new(), dead };
        draft.with(kernel.insts.clone(), kernel.functions.clone(), Vec::new())
    }

    /// Returns the kernel with other instructions and functions.
    pub(super) fn with(
        &self,
        insts: Vec<Inst>,
        functions: Vec<DeviceFunction>,
        mut predicated: Vec<PredicatedBranch>,
    ) -> Draft {
        let flow =
            ControlFlow::build_without(&insts, &functions, &self.kernel.registers, self.dead);
        predicated.sort_by_key(|branch| branch.inst);
        Draft {
            kernel: Kernel { insts, functions, flow, ..self.kernel.clone() },
            predicated,
            dead: self.dead,
        }
    }
}
