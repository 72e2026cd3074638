//! From tree to kernel: every name resolved, every form found in the ISA, every error reported.
//!
//! In order: the module's functions and variables get addresses (`functions`, `variables`); then each function, and each kernel
//! with the functions that it can reach, is read statement by statement (`body`, `calls`),
//! its names looked up (`scope`, `names`), its operands held against their forms (`operands`, `literals`), its instructions
//! turned into operations (`lower`), their operands into rows (`rows`). An error in one instruction hides no other; a kernel
//! with an error in what it reaches is refused (`reach`).

mod body;
mod calls;
mod functions;
mod lines;
mod literals;
mod lower;
mod names;
mod operands;
mod reach;
mod rows;
mod scope;
mod sequences;
#[cfg(test)]
mod tests;
mod variables;

use super::Kernel;
use crate::diag::{Diagnostic, Span};
use crate::isa::Isa;
use crate::ptx::tree::{FunctionKind, Item, Module, Statement};
use std::collections::{BTreeMap, BTreeSet};

/// The most device functions of a file: each is read with all that it may call.
const MOST_FUNCTIONS: usize = 4_000;
/// The most instructions of all kernels of a file together. Each kernel has its functions to itself.
const MOST_INSTRUCTIONS: usize = 2_000_000;

/// What the check makes of a module.
#[derive(Debug, Default)]
pub struct Checked {
    /// The kernels that can be run.
    pub kernels: Vec<Kernel>,
    /// Those that cannot.
    pub refused: Vec<Refused>,
    /// Every finding of the check.
    pub findings: Vec<Diagnostic>,
}

/// A kernel that cannot be run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// The `.entry` name.
    pub name: String,
    /// The errors in what it reaches: itself, functions, variables. None if the file as a whole is faulty.
    pub errors: Vec<Diagnostic>,
    /// The kernel's text.
    pub span: Span,
}

/// Checks a module that was parsed without an error. Returns the kernels that passed and every finding; `source` is the
/// text that the module was parsed from.
pub fn check(module: &Module, source: &str) -> (Vec<Kernel>, Vec<Diagnostic>) {
    let checked = check_parsed(module, source, &[]);
    (checked.kernels, checked.findings)
}

/// Checks a module, of which the parser found what `parsed` says.
pub fn check_parsed(module: &Module, source: &str, parsed: &[Diagnostic]) -> Checked {
    let mut items = reach::Items::new(module);
    items.blame(parsed);
    let mut checked = Checked::default();
    let functions = functions::Functions::new(module, &mut checked.findings);
    // A tree that lacks items would be told of the consequences.
    if !items.file_is_faulty {
        let lines = lines::Lines::new(source);
        checked.kernels = kernels(module, &functions, &lines, &mut items, &mut checked.findings);
    } else {
        checked.findings.clear();
    }
    if items.file_is_faulty {
        checked.kernels.clear();
    }
    let passed: BTreeSet<String> = checked.kernels.iter().map(|kernel| kernel.name.clone()).collect();
    for item in &module.items {
        if let Item::Function(function) = item
            && function.kind == FunctionKind::Entry
            && function.body.is_some()
        {
            let errors = items.against(function, &functions);
            if !errors.is_empty() || !passed.contains(&function.name.text) {
                checked.refused.push(Refused { name: function.name.text.clone(), errors, span: function.span });
            }
        }
    }
    let refused: BTreeSet<&str> = checked.refused.iter().map(|refused| refused.name.as_str()).collect();
    checked.kernels.retain(|kernel| !refused.contains(kernel.name.as_str()));
    checked
}

/// The kernels without an error of their own. What is found is blamed on the items that it stands in.
fn kernels(
    module: &Module,
    functions: &functions::Functions<'_>,
    lines: &lines::Lines,
    items: &mut reach::Items<'_>,
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<Kernel> {
    let statics = variables::Statics::new(module, functions, diagnostics);
    if functions.list.len() > MOST_FUNCTIONS {
        let message = format!("the file has {} device functions; the limit is {MOST_FUNCTIONS}", functions.list.len());
        let at = functions.list[MOST_FUNCTIONS].function.name.span;
        diagnostics.push(Diagnostic::error("too-many-functions", at, message).help("split the file"));
        items.file_is_faulty = true;
        return Vec::new();
    }
    // What a faulty statement declared is missing in the rest of its function.
    let unread: Vec<bool> = functions.list.iter().map(|f| items.is_faulty(&f.function.name.text)).collect();
    for number in (0..functions.list.len()).filter(|&number| !unread[number]) {
        diagnostics.extend(body::function_findings(number, &statics, functions, lines));
    }
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
        if function.kind == FunctionKind::Func || items.is_faulty(&function.name.text) {
            continue;
        }
        let (kernel, found) = body::kernel(function, statements, &statics, functions, lines);
        diagnostics.extend(found);
        instructions += kernel.as_ref().map_or(0, |kernel| kernel.insts.len());
        kernels.extend(kernel);
        if instructions > MOST_INSTRUCTIONS {
            let message = format!(
                "the kernels up to this one have more than {MOST_INSTRUCTIONS} instructions, their functions counted for each"
            );
            let error = Diagnostic::error("too-many-functions", function.name.span, message);
            diagnostics.push(error.help("split the file"));
            items.file_is_faulty = true;
            return Vec::new();
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
        items.file_is_faulty = true;
    }
    items.blame(diagnostics);
    kernels
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
