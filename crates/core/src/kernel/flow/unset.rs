//! Registers that a starting warp must set.

use crate::kernel::{Kernel, Op, Register, Row};

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
    let mut narrow = vec![true; registers.narrow.into()];
    let mut wide = vec![true; registers.wide.into()];
    let mut mark = |register, is_unset| match register {
        Register::Narrow(Row(row)) => narrow[usize::from(row)] = is_unset,
        Register::Wide(Row(row)) => wide[usize::from(row)] = is_unset,
        Register::Predicate(_) => {}
    };
    // Rows that no instruction lists as a result may have one all the same.
    for &register in kernel.insts.iter().flat_map(|inst| &inst.writes) {
        mark(register, false);
    }
    unset.into_iter().for_each(|register| mark(register, true));
    let narrow_constants = registers.narrow_constants.iter().map(|(row, _)| *row);
    let specials = registers.specials.iter().map(|(row, _)| *row);
    narrow_constants.chain(specials).for_each(|row| mark(Register::Narrow(row), false));
    registers.wide_constants.iter().for_each(|(row, _)| mark(Register::Wide(*row), false));
    let rows =
        |marks: Vec<bool>| (0..).zip(marks).filter(|(_, marked)| *marked).map(|(n, _)| Row(n));
    Some(rows(narrow).map(Register::Narrow).chain(rows(wide).map(Register::Wide)).collect())
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
