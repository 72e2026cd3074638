//! One kernel: its parameters, its statements in order, its labels, its end.

mod memory;

use super::lines::Lines;
use super::operands::Args;
use super::rows::Rows;
use super::scope::{ScopeId, Scopes};
use super::variables::Statics;
use crate::base::Pc;
use crate::diag::{Diagnostic, Severity, Span};
use crate::isa::{Class, Isa};
use crate::kernel::{ControlFlow, Inst, Kernel, Op, Parameter, PredicateUse, Register, register_pressure};
use crate::text::tree::{Function, Instruction, Name, Statement};
use std::collections::BTreeSet;

/// What every instruction made from one written instruction has in common.
#[derive(Clone, Copy, Debug)]
pub(super) struct Origin {
    pub(super) guard: Option<PredicateUse>,
    pub(super) form: u16,
    pub(super) class: Class,
    pub(super) span: Span,
    pub(super) line: u32,
}

/// A kernel while it is being checked.
pub(super) struct Body<'a> {
    pub(super) isa: &'static Isa,
    pub(super) statics: &'a Statics<'a>,
    pub(super) scopes: Scopes,
    pub(super) rows: Rows,
    pub(super) insts: Vec<Inst>,
    /// Branches whose label is still a name: instruction, label, block of the branch.
    pub(super) branches: Vec<(usize, Name, ScopeId)>,
    /// Names already reported as unknown.
    pub(super) unknown: BTreeSet<String>,
    /// Whether an error was found, reported or silent.
    pub(super) failed: bool,
    lines: &'a Lines,
    shared_end: u64,
    local_end: u64,
    shared_variables: Vec<(String, u32, u32)>,
    diagnostics: Vec<Diagnostic>,
}

/// Checks an `.entry` with a body.
pub(super) fn kernel(
    function: &Function,
    statements: &[Statement],
    statics: &Statics<'_>,
    lines: &Lines,
) -> (Option<Kernel>, Vec<Diagnostic>) {
    let mut body = Body {
        isa: Isa::ptx(),
        statics,
        scopes: Scopes::new(),
        rows: Rows::default(),
        insts: Vec::new(),
        branches: Vec::new(),
        unknown: BTreeSet::new(),
        failed: false,
        lines,
        shared_end: 0,
        local_end: 0,
        shared_variables: Vec::new(),
        diagnostics: Vec::new(),
    };
    let (params, param_bytes) = body.parameters(&function.params);
    body.shared(statements);
    body.scopes.enter();
    body.statements(statements);
    body.scopes.leave();
    body.resolve_branches();
    body.end(function);
    body.finish(function, params, param_bytes)
}

impl<'a> Body<'a> {
    /// Takes note of a diagnostic.
    pub(super) fn report(&mut self, diagnostic: Diagnostic) {
        self.failed |= diagnostic.severity == Severity::Error;
        self.diagnostics.push(diagnostic);
    }

    /// The value, or `None` after reporting the error.
    pub(super) fn ok<T>(&mut self, result: Result<T, Diagnostic>) -> Option<T> {
        result.map_err(|error| self.report(error)).ok()
    }

    fn statements(&mut self, statements: &[Statement]) {
        for statement in statements {
            match statement {
                Statement::Label(name) => {
                    let before = self.diagnostics.len();
                    self.scopes.add_label(name, self.insts.len(), &mut self.diagnostics);
                    self.failed |= self.diagnostics.len() > before;
                }
                Statement::Instruction(inst) => self.instruction(inst),
                Statement::Registers(line) => {
                    let before = self.diagnostics.len();
                    self.scopes.declare(line, &mut self.diagnostics);
                    self.failed |= self.diagnostics.len() > before;
                }
                Statement::Variable(variable) => self.variable(variable),
                Statement::Block(inner, _) => {
                    self.scopes.enter();
                    self.statements(inner);
                    self.scopes.leave();
                }
                Statement::Loc { .. } | Statement::Pragma(..) => {}
            }
        }
    }

    fn instruction(&mut self, inst: &Instruction) {
        let mut guard_reads = Args::default();
        let guard = inst.guard.as_ref().map(|guard| {
            let predicate = self.predicate_name(&guard.predicate, false, &mut guard_reads)?;
            Some(PredicateUse { predicate, negated: guard.negated })
        });
        let m = match self.isa.lookup(&inst.mnemonic.text) {
            Ok(m) => m,
            Err(error) => {
                // The arguments of a call are stored to parameters; the call itself is the one error.
                if inst.mnemonic.text.starts_with("st.param") {
                    self.failed = true;
                } else {
                    self.report(error.at(inst.mnemonic.span));
                }
                return;
            }
        };
        let Some(args) = self.resolve(inst, &m) else { return };
        if guard == Some(None) {
            return;
        }
        let line = self.lines.line(inst.span.start);
        let origin = Origin { guard: guard.flatten(), form: m.index, class: m.form.class, span: inst.span, line };
        self.lower(inst, &m, &args, origin);
    }

    /// Adds an instruction with the registers it reads and writes, its guard aside.
    pub(super) fn emit(&mut self, origin: Origin, op: Op, reads: &[Register], writes: &[Register]) {
        let mut all_reads = reads.to_vec();
        if let Some(guard) = origin.guard {
            all_reads.push(Register::Predicate(guard.predicate));
        }
        let distinct = |list: &[Register]| -> Vec<Register> {
            list.iter().enumerate().filter(|&(i, r)| !list[..i].contains(r)).map(|(_, r)| *r).collect()
        };
        self.insts.push(Inst {
            op,
            guard: origin.guard,
            class: origin.class,
            form: origin.form,
            reads: distinct(&all_reads),
            writes: distinct(writes),
            span: origin.span,
            line: origin.line,
        });
    }

    fn resolve_branches(&mut self) {
        for (at, name, scope) in std::mem::take(&mut self.branches) {
            let label = self.scopes.label(&name, scope);
            if let (Some(target), Some(inst)) = (self.ok(label), self.insts.get_mut(at))
                && let Op::Branch { target: place, .. } = &mut inst.op
            {
                *place = Pc(u32::try_from(target).unwrap_or(u32::MAX));
            }
        }
    }

    /// A kernel that could run off its end gets an `exit`.
    fn end(&mut self, function: &Function) {
        let ends = self
            .insts
            .last()
            .is_some_and(|last| last.guard.is_none() && matches!(last.op, Op::Exit | Op::Branch { .. }));
        if ends && !self.scopes.labelled(self.insts.len()) {
            return;
        }
        let Ok(m) = self.isa.lookup("exit") else { return };
        let brace =
            Span { start: function.span.end.saturating_sub(1).max(function.span.start), end: function.span.end };
        let line = self.lines.line(brace.start);
        let origin = Origin { guard: None, form: m.index, class: m.form.class, span: brace, line };
        self.emit(origin, Op::Exit, &[], &[]);
    }

    fn finish(
        mut self,
        function: &Function,
        params: Vec<Parameter>,
        param_bytes: u32,
    ) -> (Option<Kernel>, Vec<Diagnostic>) {
        let block_limit = self.block_limit(function);
        if self.rows.overflowed() || self.insts.len() > u32::MAX as usize {
            let message =
                format!("kernel `{}` uses more registers and constants than the model can number", function.name.text);
            let help = format!("at most {} each of 32-bit values, 64-bit values and predicates", u16::MAX);
            self.report(Diagnostic::error("too-many-registers", function.name.span, message).help(help));
        }
        if self.failed && !crate::diag::has_errors(&self.diagnostics) {
            let message = format!("kernel `{}` calls a function", function.name.text);
            self.report(Diagnostic::error("unsupported-instruction", function.name.span, message));
        }
        if self.failed {
            return (None, self.diagnostics);
        }
        let names = self.scopes.finish(&mut self.diagnostics);
        let registers = self.rows.finish(names);
        // 255 is the most that a GPU gives a thread; compilers spill the rest.
        let registers_per_thread = register_pressure(&self.insts, &registers).min(255);
        let kernel = Kernel {
            name: function.name.text.clone(),
            params,
            param_bytes,
            flow: ControlFlow::build(&self.insts, &registers),
            insts: self.insts,
            registers,
            shared_bytes: self.shared_end as u32,
            local_bytes: self.local_end as u32,
            variables: self.statics.variables.clone(),
            shared_variables: self.shared_variables,
            block_limit,
            registers_per_thread,
            span: function.span,
        };
        (Some(kernel), self.diagnostics)
    }

    /// `.maxntid` (a promise) or `.reqntid` (a demand).
    fn block_limit(&mut self, function: &Function) -> Option<([u32; 3], bool)> {
        let (word, numbers) = function.performance.iter().find(|(w, _)| w.text == "maxntid" || w.text == "reqntid")?;
        let mut shape = [1; 3];
        for (i, &number) in numbers.iter().enumerate() {
            match (shape.get_mut(i), u32::try_from(number)) {
                (Some(place), Ok(number)) if number > 0 => *place = number,
                _ => {
                    let message = format!("`.{}` takes up to three positive numbers", word.text);
                    self.report(Diagnostic::error("block-limit", word.span, message));
                    return None;
                }
            }
        }
        Some((shape, word.text == "reqntid"))
    }
}
