//! Checker: from syntax tree to kernel.
//!
//! First the functions and variables of the module get addresses (`functions`, `variables`). Then
//! the checker processes each function, and each kernel with the functions it can reach, statement
//! by statement (`body`, `calls`). It resolves names (`scope`, `names`), checks operands against
//! the form (`operands`, `literals`), lowers instructions to operations (`lower`), and assigns rows
//! to operands (`rows`). It reports all errors, and refuses a kernel with an error in any item that
//! the kernel reaches (`reach`).

mod body;
mod calls;
mod functions;
mod lines;
mod literals;
mod lower;
mod names;
mod operands;
mod quads;
mod reach;
mod rows;
mod scope;
mod sequences;
mod system;
#[cfg(test)]
mod tests;
mod variables;

pub(crate) use lines::LineStarts;

use super::layout::Bases;
use super::{Kernel, KernelName, StaticVariable};
use crate::diag::{Diagnostic, Span};
use crate::isa::Isa;
use crate::ptx::tree::{FunctionKind, Item, Module, Statement};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Maximum number of device functions in a file.
///
/// Each is checked with all functions it may call.
const MOST_FUNCTIONS: usize = 4_000;
/// Maximum number of instructions of all kernels in a file.
///
/// Each kernel has its own copy of its functions.
const MOST_INSTRUCTIONS: usize = 2_000_000;

/// Result of checking a module.
#[derive(Debug, Default)]
pub struct Checked {
    /// Valid kernels.
    pub kernels: Vec<Kernel>,
    /// Kernels with errors.
    pub refused: Vec<Refused>,
    /// Variables of the module, and for machine code the constant banks of all its kernels.
    pub variables: Arc<Vec<StaticVariable>>,
    /// All diagnostics.
    pub findings: Vec<Diagnostic>,
}

/// Kernel with errors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// Name in the source language, as in `reduce<256>`.
    pub name: String,
    /// Name in the compiled code: the `.entry` of PTX.
    pub symbol: String,
    /// Errors in the kernel and in the functions and variables it reaches.
    ///
    /// Empty if the errors belong to the file as a whole.
    pub errors: Vec<Diagnostic>,
    /// Span of the kernel.
    pub span: Span,
}

impl Refused {
    /// Returns the names that the kernel answers to.
    pub fn names(&self) -> KernelName<'_> {
        KernelName { name: &self.name, symbol: &self.symbol }
    }
}

/// Checks a module that was parsed from `source` without errors.
///
/// Returns the valid kernels and all diagnostics.
pub fn check(module: &Module, source: &str) -> (Vec<Kernel>, Vec<Diagnostic>) {
    let checked = check_parsed(module, source, &[]);
    (checked.kernels, checked.findings)
}

/// Checks a module; `parsed` holds the parser's diagnostics.
pub fn check_parsed(module: &Module, source: &str, parsed: &[Diagnostic]) -> Checked {
    check_at(module, source, parsed, Bases::default())
}

/// As [`check_parsed`], with given addresses of the module's variables and functions.
pub fn check_at(module: &Module, source: &str, parsed: &[Diagnostic], bases: Bases) -> Checked {
    let bases = bases.clamped();
    let mut items = reach::Items::new(module);
    items.blame(parsed);
    let mut checked = Checked::default();
    let functions = functions::Functions::new(module, bases.function, &mut checked.findings);
    // A tree without some of its items would have consequential errors.
    if !items.file_is_faulty {
        let lines = lines::LineStarts::new(source);
        let statics = variables::Statics::new(module, &functions, bases, &mut checked.findings);
        checked.variables = statics.variables.clone();
        checked.kernels =
            kernels(module, &statics, &functions, &lines, &mut items, &mut checked.findings);
    } else {
        checked.findings.clear();
    }
    if items.file_is_faulty {
        checked.kernels.clear();
    }
    let passed: BTreeSet<String> =
        checked.kernels.iter().map(|kernel| kernel.symbol.clone()).collect();
    for item in &module.items {
        if let Item::Function(function) = item
            && function.kind == FunctionKind::Entry
            && function.body.is_some()
        {
            let errors = items.against(function, &functions);
            if !errors.is_empty() || !passed.contains(&function.name.text) {
                checked.refused.push(Refused {
                    name: function.name.text.clone(),
                    symbol: function.name.text.clone(),
                    errors,
                    span: function.span,
                });
            }
        }
    }
    let refused: BTreeSet<&str> =
        checked.refused.iter().map(|refused| refused.symbol.as_str()).collect();
    checked.kernels.retain(|kernel| !refused.contains(kernel.symbol.as_str()));
    checked
}

/// Checks all kernels.
///
/// Returns those without errors of their own, and assigns the errors to items.
fn kernels(
    module: &Module,
    statics: &variables::Statics<'_>,
    functions: &functions::Functions<'_>,
    lines: &lines::LineStarts,
    items: &mut reach::Items<'_>,
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<Kernel> {
    if functions.list.len() > MOST_FUNCTIONS {
        let count = functions.list.len();
        let message = format!("{count} device functions in the file: limit {MOST_FUNCTIONS}");
        let at = functions.list[MOST_FUNCTIONS].function.name.span;
        diagnostics
            .push(Diagnostic::error("too-many-functions", at, message).help("split the file"));
        items.file_is_faulty = true;
        return Vec::new();
    }
    // A function with a syntax error lacks declarations, so it is not checked further.
    let unread: Vec<bool> =
        functions.list.iter().map(|f| items.is_faulty(&f.function.name.text)).collect();
    for number in (0..functions.list.len()).filter(|&number| !unread[number]) {
        diagnostics.extend(body::function_findings(number, statics, functions, lines));
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
        let (kernel, found) = body::kernel(function, statements, statics, functions, lines);
        diagnostics.extend(found);
        instructions += kernel.as_ref().map_or(0, |kernel| kernel.insts.len());
        kernels.extend(kernel);
        if instructions > MOST_INSTRUCTIONS {
            let message = format!(
                "more than {MOST_INSTRUCTIONS} instructions in the kernels up to this one, with \
                 their functions"
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
        let message = format!("{bits}-bit addresses are not supported");
        let error = Diagnostic::error("address-size", at.unwrap_or_default(), message);
        diagnostics.push(error.help("write `.address_size 64`"));
        items.file_is_faulty = true;
    }
    items.blame(diagnostics);
    kernels
}

/// Counts the instructions of a module: those with a form in the ISA, and all.
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
