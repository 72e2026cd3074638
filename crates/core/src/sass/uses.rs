//! What a kernel uses of the system: its heap, and the shared memory that it reserves.

use super::facts::ModuleFacts;
use super::text::{Operand, Text};
use crate::kernel::SystemFn;
use crate::kernel::layout::RESERVED_PLACES;

/// Returns true if the module has the address of `malloc` or `free`.
pub(super) fn names_heap(module: &ModuleFacts) -> bool {
    let banks = module.banks.iter().flat_map(|bank| &bank.addresses);
    let variables = module.variables.iter().flat_map(|variable| &variable.addresses);
    let kernels = module.kernels.iter().flat_map(|kernel| &kernel.relocations);
    let functions = module.functions.iter().flat_map(|function| &function.relocations);
    let in_data = banks.chain(variables).map(|(_, name, _)| name);
    let in_code = kernels.chain(functions).map(|(_, _, name, _)| name);
    let mut names = in_data.chain(in_code);
    names.any(|name| SystemFn::named(name).is_some_and(SystemFn::uses_heap))
}

/// Returns true if an instruction reads an address of the shared memory that the system reserves.
pub(super) fn names_reserved(text: &Text<'_>) -> bool {
    let names = |operand: &Operand<'_>| {
        matches!(operand, Operand::Constant { bank: 0, index: None, offset, .. }
            if RESERVED_PLACES.contains(offset))
    };
    text.operands.iter().any(names)
}
