//! Registers that a starting warp must set.

use std::collections::BTreeSet;

use crate::kernel::{Kernel, Op, Register};

/// Returns the registers that a lane may read before it has written them, on its own path or
/// because another lane reads them. All others may begin with any value.
///
/// Immediates, special registers and predicates are not listed. `None` for machine code, whose
/// instructions do not list all that they read.
pub(in crate::kernel) fn unset_registers(kernel: &Kernel) -> Option<Vec<Register>> {
    if kernel.native.is_some() {
        return None;
    }
    let registers = &kernel.registers;
    // A call clears what the called function reads unset.
    let mut unset = kernel.read_unset();
    unset.extend(registers.frame_pointer.map(Register::Wide));
    for inst in kernel.insts.iter().filter(|inst| !is_lane_by_lane(&inst.op)) {
        unset.extend(&inst.reads);
    }
    // Rows that no instruction lists as a result may have one all the same.
    let written: BTreeSet<Register> =
        kernel.insts.iter().flat_map(|inst| inst.writes.iter().copied()).collect();
    let is_set = |register: &Register| written.contains(register) && !unset.contains(register);
    Some(registers.variables().into_iter().filter(|register| !is_set(register)).collect())
}

/// Returns true if each lane reads only its own registers, which the instruction lists.
fn is_lane_by_lane(op: &Op) -> bool {
    op.only_computes()
        || matches!(
            op,
            Op::Load(_)
                | Op::Store(_)
                | Op::Atomic(_)
                | Op::AtomicVector(_)
                | Op::Branch { .. }
                | Op::Switch(_)
                | Op::ReadSlot(_)
                | Op::WriteSlot(_)
                | Op::Return
                | Op::Exit
                | Op::Barrier(_)
                | Op::ActiveMask { .. }
                | Op::Vote(_)
                | Op::Fence(_)
        )
}
