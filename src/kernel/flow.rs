//! Control-flow graph, dominators, post-dominators, loops, uniformity, joins.

use super::{Convergence, Inst, Kernel, Registers, Stream};

/// What is known of a kernel's control flow.
#[derive(Clone, Debug, Default)]
pub struct ControlFlow {}

impl ControlFlow {
    /// Analyses checked instructions.
    pub fn build(insts: &[Inst], registers: &Registers) -> ControlFlow {
        let _ = (insts, registers);
        ControlFlow {}
    }
}

impl Kernel {
    /// The steps a machine runs.
    pub fn stream(&self, convergence: Convergence) -> Stream {
        let _ = convergence;
        Stream { steps: Vec::new(), entry: crate::base::Pc(0) }
    }
}
