//! Functions that a driver adds to linked cubins: the grid barrier of CUDA's device runtime.

use std::borrow::Cow;

use simt_core::sass::facts::{self, ModuleFacts};

use crate::{CubinError, data};

/// Facts and listing of the functions, and of a kernel that keeps them.
const TEXT: &str = include_str!("../data/device_runtime.sass");
/// Functions that [`TEXT`] has.
const FUNCTIONS: [&str; 2] = ["__cuda_syscall_CGS_sync", "__cuda_syscall_CGS_get_intrinsic_handle"];
/// Start of a function in a listing.
const FUNCTION: &str = "Function : ";

/// Returns true for a function that is added where code calls it.
pub(crate) fn defines(name: &str) -> bool {
    FUNCTIONS.contains(&name)
}

/// Adds functions and variables to a module whose code calls one of the functions.
pub(crate) fn add(module: &mut ModuleFacts) -> Result<(), CubinError> {
    let of_kernels = module.kernels.iter().flat_map(|kernel| &kernel.relocations);
    let of_functions = module.functions.iter().flat_map(|function| &function.relocations);
    if !of_kernels.chain(of_functions).any(|(_, _, name, _)| defines(name)) {
        return Ok(());
    }
    let runtime = facts::read(TEXT).map_err(|e| CubinError::damaged(e.message))?;
    let in_global = module.variables.iter().filter(|variable| !variable.constant);
    let mut end = in_global.map(|v| u64::from(v.offset) + u64::from(v.size)).max().unwrap_or(0);
    for mut variable in runtime.variables {
        variable.offset = data::place(&mut end, &variable)?;
        module.variables.push(variable);
    }
    module.functions.extend(runtime.functions);
    Ok(())
}

/// Adds the listing of the functions to that of a module that has them.
pub(crate) fn complete<'a>(module: &ModuleFacts, listing: &'a str) -> Cow<'a, str> {
    if !module.functions.iter().any(|function| defines(&function.name)) {
        return Cow::Borrowed(listing);
    }
    let mut text = format!("{}\n", listing.trim_end());
    for function in TEXT.split(FUNCTION).skip(1) {
        if defines(function.lines().next().unwrap_or_default().trim()) {
            text.push_str(FUNCTION);
            text.push_str(function);
        }
    }
    Cow::Owned(text)
}
