//! From tree to kernel: every name resolved, every form found in the ISA, every error reported.
//!
//! In order: the module's functions and variables get addresses (`functions`, `variables`); then each function, and each kernel
//! with the functions that it can reach, is read statement by statement (`body`, `calls`),
//! its names looked up (`scope`, `names`), its operands held against their forms (`operands`, `literals`), its instructions
//! turned into operations (`lower`), their operands into rows (`rows`). An error in one instruction hides no other; a kernel
//! with an error is not returned.

mod body;
mod calls;
mod functions;
mod lines;
mod literals;
mod lower;
mod names;
mod operands;
mod rows;
mod scope;
mod sequences;
#[cfg(test)]
mod tests;
mod variables;

use super::Kernel;
use crate::diag::{Diagnostic, has_errors};
use crate::isa::Isa;
use crate::text::tree::{FunctionKind, Item, Module, Statement};
use std::collections::BTreeMap;

/// The most device functions of a file: each is read with all that it may call.
const MOST_FUNCTIONS: usize = 4_000;
/// The most instructions of all kernels of a file together. Each kernel has its functions to itself.
const MOST_INSTRUCTIONS: usize = 2_000_000;

/// Checks a module. Returns the kernels that passed and every finding; `source` is the text the module was parsed from.
pub fn check(module: &Module, source: &str) -> (Vec<Kernel>, Vec<Diagnostic>) {
    let lines = lines::Lines::new(source);
    let mut diagnostics = Vec::new();
    let functions = functions::Functions::new(module, &mut diagnostics);
    let statics = variables::Statics::new(module, &functions, &mut diagnostics);
    let module_is_sound = !has_errors(&diagnostics);
    let mut function_findings = Vec::new();
    if functions.list.len() > MOST_FUNCTIONS {
        let message = format!("the file has {} device functions; the limit is {MOST_FUNCTIONS}", functions.list.len());
        let at = functions.list[MOST_FUNCTIONS].function.name.span;
        diagnostics.push(Diagnostic::error("too-many-functions", at, message).help("split the file"));
        return (Vec::new(), diagnostics);
    }
    for number in 0..functions.list.len() {
        function_findings.extend(body::function_findings(number, &statics, &functions, &lines));
    }
    let functions_are_sound = !has_errors(&function_findings);
    diagnostics.extend(function_findings);
    for item in &module.items {
        if let Item::Function(function) = item {
            diagnostics.extend(sequences::sequences(function.body.as_deref().unwrap_or_default()));
        }
    }
    let mut kernels = Vec::new();
    let mut instructions = 0;
    let mut names = BTreeMap::new();
    for item in &module.items {
        let Item::Function(function) = item else { continue };
        let Some(statements) = &function.body else { continue };
        if let Some(earlier) = names.insert(function.name.text.as_str(), function.name.span) {
            let message = format!("`{}` is defined twice", function.name.text);
            let error = Diagnostic::error("duplicate-kernel", function.name.span, message);
            diagnostics.push(error.also(earlier, "first defined here"));
            continue;
        }
        if function.kind == FunctionKind::Func {
            continue;
        }
        let (kernel, found) = body::kernel(function, statements, &statics, &functions, &lines);
        diagnostics.extend(found);
        instructions += kernel.as_ref().map_or(0, |kernel| kernel.insts.len());
        kernels.extend(kernel.filter(|_| module_is_sound && functions_are_sound));
        if instructions > MOST_INSTRUCTIONS {
            let message = format!(
                "the kernels up to this one have more than {MOST_INSTRUCTIONS} instructions, their functions counted for each"
            );
            let error = Diagnostic::error("too-many-functions", function.name.span, message);
            diagnostics.push(error.help("split the file"));
            return (Vec::new(), diagnostics);
        }
    }
    if let Some(bits @ 0..64) = module.address_size {
        let at = module.items.iter().find_map(|item| match item {
            Item::Function(function) => Some(function.name.span),
            Item::Variable(_) | Item::Alias(_) => None,
        });
        let message = format!("addresses of {bits} bits are not supported");
        let error = Diagnostic::error("address-size", at.unwrap_or_default(), message);
        diagnostics.push(error.help("write .address_size 64"));
        kernels.clear();
    }
    (kernels, diagnostics)
}

/// How many of a module's instructions have a form in the ISA, and how many there are.
pub fn support(module: &Module) -> (usize, usize) {
    fn count(statements: &[Statement], counts: &mut (usize, usize)) {
        for statement in statements {
            match statement {
                Statement::Instruction(inst) => {
                    counts.0 += usize::from(Isa::ptx().lookup(&inst.mnemonic.text).is_ok());
                    counts.1 += 1;
                }
                Statement::Block(inner, _) => count(inner, counts),
                _ => {}
            }
        }
    }
    let mut counts = (0, 0);
    for item in &module.items {
        if let Item::Function(function) = item {
            count(function.body.as_deref().unwrap_or_default(), &mut counts);
        }
    }
    counts
}
