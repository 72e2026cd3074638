//! Checks one kernel with its functions: parameters, statements, labels, exits.

mod frames;
mod memory;
mod shapes;

pub(super) use memory::names_of;

use super::calls::{self, Frame, Table};
use super::functions::{Functions, Signature};
use super::lines::LineStarts;
use super::lower::{contracts, video};
use super::operands::Args;
use super::quads;
use super::rows::Rows;
use super::scope::{ScopeId, Scopes};
use super::variables::Statics;
use crate::base::Pc;
use crate::diag::{Diagnostic, Severity, Span};
use crate::isa::{Class, FormMatch, Isa, Sem};
use crate::kernel::flow;
use crate::kernel::{
    ControlFlow, DeviceFunction, Inst, Kernel, Op, Parameter, PredicateUse, Register,
    Registers as RegisterRows, Row,
};
use crate::ptx::tree::{Function, Instruction, Name, Registers, Statement};
use std::collections::{BTreeMap, BTreeSet};

/// Number of findings after which checking stops.
///
/// More than are shown; computing suggestions takes time.
const ENOUGH: usize = 1000;

/// Properties shared by all instructions lowered from one source instruction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Origin {
    pub(super) guard: Option<PredicateUse>,
    pub(super) form: u16,
    pub(super) contracts: bool,
    pub(super) class: Class,
    pub(super) span: Span,
    pub(super) line: u32,
}

/// State of checking a kernel with its functions.
pub(super) struct Body<'a> {
    pub(super) isa: &'static Isa,
    pub(super) statics: &'a Statics<'a>,
    pub(super) functions: &'a Functions<'a>,
    pub(super) scopes: Scopes,
    pub(super) rows: Rows,
    pub(super) insts: Vec<Inst>,
    /// Unresolved branches: instruction, label, scope of the branch.
    pub(super) branches: Vec<(usize, Name, ScopeId)>,
    /// Unresolved indexed branches.
    pub(super) switches: Vec<(usize, Vec<Name>, ScopeId)>,
    /// Names already reported as unknown.
    pub(super) unknown: BTreeSet<String>,
    /// True after an error, reported or not.
    pub(super) failed: bool,
    /// Functions that the kernel may call, by index in the module.
    pub(super) reachable: Vec<usize>,
    /// Row of the frame pointer, if there are functions.
    pub(super) frame_pointer: Option<Row>,
    /// Row of the bytes on top of frames, if the kernel allocates any.
    pub(super) stack_top: Option<Row>,
    /// Signature of the current function; `None` in the kernel itself.
    pub(super) signature: Option<Signature>,
    /// Frame of the current function.
    pub(super) frame: Frame,
    /// Labelled directives of the current function.
    pub(super) tables: BTreeMap<&'a str, Table<'a>>,
    /// Calls of the current function and its uses of the stack, as instruction indices.
    pub(super) calls: Vec<usize>,
    /// Returns of the current function, as instruction indices.
    pub(super) rets: Vec<usize>,
    lines: &'a LineStarts,
    shared_end: u64,
    shared_variables: Vec<(String, u32, u32)>,
    diagnostics: Vec<Diagnostic>,
}

/// Checks an `.entry` with a body, and the functions it can reach.
pub(super) fn kernel<'a>(
    function: &'a Function,
    statements: &'a [Statement],
    statics: &'a Statics<'a>,
    functions: &'a Functions<'a>,
    lines: &'a LineStarts,
) -> (Option<Kernel>, Vec<Diagnostic>) {
    let mut body = Body::new(statics, functions, lines, functions.reachable(statements));
    let mut bodies = vec![statements];
    bodies.extend(body.reachable.iter().filter_map(|&f| functions.list[f].statements()));
    body.shared(&bodies);
    body.scopes.enter();
    let (params, param_bytes) = body.parameters(&function.params);
    body.scopes.enter();
    body.read(function, statements, None);
    body.scopes.leave();
    body.scopes.leave();
    let local_bytes = body.frame.peak as u32;
    let mut device = Vec::new();
    for f in body.reachable.clone() {
        device.extend(body.function(f));
    }
    // Errors in functions are reported by `function_findings`.
    body.diagnostics.retain(|d| d.labels.first().is_none_or(|l| !functions.holds(l.span, None)));
    body.finish(function, params, param_bytes, local_bytes, device)
}

/// Checks a device function, reachable or not.
pub(super) fn function_findings<'a>(
    number: usize,
    statics: &'a Statics<'a>,
    functions: &'a Functions<'a>,
    lines: &'a LineStarts,
) -> Vec<Diagnostic> {
    let own = &functions.list[number];
    let Some(statements) = own.statements() else { return Vec::new() };
    let mut body = Body::new(statics, functions, lines, functions.reachable(statements));
    body.frame_pointer = body.frame_pointer.or_else(|| Some(body.rows.scratch(true).0));
    let mut bodies = vec![statements];
    bodies.extend(body.reachable.iter().filter_map(|&f| functions.list[f].statements()));
    body.shared(&bodies);
    body.function(number);
    body.resolve_branches();
    if !body.failed {
        body.scopes.finish(&mut body.diagnostics);
    }
    let mut diagnostics = body.diagnostics;
    diagnostics.retain(|d| d.labels.first().is_some_and(|l| functions.holds(l.span, None)));
    diagnostics
}

impl<'a> Body<'a> {
    fn new(
        statics: &'a Statics<'a>,
        functions: &'a Functions<'a>,
        lines: &'a LineStarts,
        reachable: Vec<usize>,
    ) -> Self {
        let mut rows = Rows::default();
        let frame_pointer = (!reachable.is_empty()).then(|| rows.scratch(true).0);
        Body {
            isa: Isa::ptx(),
            statics,
            functions,
            scopes: Scopes::new(),
            rows,
            insts: Vec::new(),
            branches: Vec::new(),
            switches: Vec::new(),
            unknown: BTreeSet::new(),
            failed: false,
            reachable,
            frame_pointer,
            stack_top: None,
            signature: None,
            frame: Frame::default(),
            tables: BTreeMap::new(),
            calls: Vec::new(),
            rets: Vec::new(),
            lines,
            shared_end: 0,
            shared_variables: Vec::new(),
            diagnostics: Vec::new(),
        }
    }

    /// Checks the body of the kernel or, with a signature, of a function.
    fn read(
        &mut self,
        function: &Function,
        statements: &'a [Statement],
        signature: Option<Signature>,
    ) {
        self.tables.clear();
        calls::tables(statements, &mut self.tables);
        self.frame = Frame::default();
        self.signature = signature;
        if let (Some(signature), Some(ret)) = (self.signature.clone(), self.end_of(function, "ret"))
        {
            self.enter_function(&signature, ret);
            self.statements(statements);
            self.leave_function(&signature, ret);
        } else {
            self.statements(statements);
            self.end(function);
        }
        let bytes = self.frame_bytes();
        for call in std::mem::take(&mut self.calls) {
            match &mut self.insts[call].op {
                Op::Call(call) => call.frame = bytes,
                Op::Stack(stack) => stack.frame = bytes,
                _ => {}
            }
        }
    }

    /// Checks a function and adds its instructions.
    fn function(&mut self, number: usize) -> Option<DeviceFunction> {
        let functions = self.functions;
        let declared = &functions.list[number];
        let statements = declared.statements()?;
        let first = self.insts.len() as u32;
        self.scopes.enter();
        self.read(declared.function, statements, Some(declared.signature.clone()));
        self.scopes.leave();
        Some(DeviceFunction {
            name: declared.function.name.text.clone(),
            address: declared.address,
            first,
            end: self.insts.len() as u32,
            frame: self.frame_bytes(),
            clears: Vec::new(),
            recursive: false,
            held: 0,
            span: declared.function.span,
        })
    }

    /// Adds a diagnostic.
    pub(super) fn report(&mut self, diagnostic: Diagnostic) {
        self.failed |= diagnostic.severity == Severity::Error;
        self.diagnostics.push(diagnostic);
    }

    /// Returns the value, or `None` after reporting the error.
    pub(super) fn ok<T>(&mut self, result: Result<T, Diagnostic>) -> Option<T> {
        result.map_err(|error| self.report(error)).ok()
    }

    /// Declares the registers of a `.reg` line.
    pub(super) fn declare(&mut self, line: &Registers) {
        let before = self.diagnostics.len();
        self.scopes.declare(line, &mut self.diagnostics);
        self.failed |= self.diagnostics.len() > before;
    }

    /// Returns true if there are too many errors to continue.
    fn is_hopeless(&self) -> bool {
        self.failed && self.diagnostics.len() > ENOUGH
    }

    fn statements(&mut self, statements: &[Statement]) {
        for statement in statements {
            if self.is_hopeless() {
                return;
            }
            match statement {
                Statement::Label(name) => {
                    let before = self.diagnostics.len();
                    self.scopes.add_label(name, self.insts.len(), &mut self.diagnostics);
                    self.failed |= self.diagnostics.len() > before;
                }
                Statement::Instruction(inst) => match quads::on_halves(inst) {
                    Some(halves) => halves.iter().for_each(|inst| self.instruction(inst)),
                    None => self.instruction(inst),
                },
                Statement::Registers(line) => self.declare(line),
                Statement::Variable(variable) => self.variable(variable),
                Statement::Block(inner, _) => {
                    let before = self.frame;
                    self.scopes.enter();
                    self.statements(inner);
                    self.scopes.leave();
                    // Frame slots of a call are free again after the braces around the call.
                    if self.frame.local == before.local {
                        self.frame.end = before.end;
                    }
                }
                Statement::Loc { .. } | Statement::Pragma(..) => {}
                // Collected before, by `calls::tables`.
                Statement::Targets(_) | Statement::Prototype(_) => {}
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
            Err(error) => return self.report(error.at(inst.mnemonic.span)),
        };
        let origin = self.origin(&m, guard.flatten(), inst.span);
        if m.form.sem == Sem::Call {
            return self.call(inst, &m, &guard_reads, origin);
        }
        let bare = (m.form.sem == Sem::Video).then(|| video::without_parts(inst));
        let (inst, parts) = match &bare {
            Some((bare, parts)) => (bare, parts),
            None => (inst, &video::Named::default()),
        };
        let Some(args) = self.resolve(inst, &m) else { return };
        if guard == Some(None) {
            return;
        }
        self.lower(inst, &m, &args, parts, origin);
    }

    /// Adds an instruction with the registers it reads and writes, without its guard.
    pub(super) fn emit(&mut self, origin: Origin, op: Op, reads: &[Register], writes: &[Register]) {
        let mut all_reads = reads.to_vec();
        if let Some(guard) = origin.guard {
            all_reads.push(Register::Predicate(guard.predicate));
        }
        let distinct = |list: &[Register]| -> Vec<Register> {
            list.iter()
                .enumerate()
                .filter(|&(i, r)| !list[..i].contains(r))
                .map(|(_, r)| *r)
                .collect()
        };
        self.insts.push(Inst {
            also: None,
            compiled: None,
            op,
            guard: origin.guard,
            class: origin.class,
            form: origin.form,
            contracts: origin.contracts,
            reads: distinct(&all_reads),
            writes: distinct(writes),
            span: origin.span,
            line: origin.line,
        });
    }

    fn resolve_branches(&mut self) {
        for (at, name, scope) in std::mem::take(&mut self.branches) {
            if self.is_hopeless() {
                return;
            }
            let label = self.scopes.label(&name, scope);
            if let (Some(target), Some(inst)) = (self.ok(label), self.insts.get_mut(at))
                && let Op::Branch { target: place, .. } = &mut inst.op
            {
                *place = Pc(u32::try_from(target).unwrap_or(u32::MAX));
            }
        }
        for (at, names, scope) in std::mem::take(&mut self.switches) {
            let mut targets = Vec::new();
            for name in names {
                if self.is_hopeless() {
                    return;
                }
                let label = self.scopes.label(&name, scope);
                targets.extend(
                    self.ok(label).map(|target| Pc(u32::try_from(target).unwrap_or(u32::MAX))),
                );
            }
            if let Some(Inst { op: Op::Switch(switch), .. }) = self.insts.get_mut(at) {
                switch.targets = targets;
            }
        }
    }

    /// Returns true if control cannot continue past the last instruction.
    pub(super) fn ends(&self) -> bool {
        let ends = |last: &Inst| {
            last.guard.is_none()
                && matches!(last.op, Op::Exit | Op::Return | Op::Branch { .. } | Op::Switch(_))
        };
        self.insts.last().is_some_and(ends) && !self.scopes.labelled(self.insts.len())
    }

    /// Returns the origin of an implicit instruction at the closing brace.
    fn end_of(&self, function: &Function, mnemonic: &str) -> Option<Origin> {
        let m = self.isa.lookup(mnemonic).ok()?;
        let brace = Span {
            start: function.span.end.saturating_sub(1).max(function.span.start),
            end: function.span.end,
        };
        Some(self.origin(&m, None, brace))
    }

    /// Returns the origin of the instructions of a form at `span`.
    fn origin(&self, m: &FormMatch<'_>, guard: Option<PredicateUse>, span: Span) -> Origin {
        let (form, class, line) = (m.index, m.form.class, self.lines.line(span.start));
        Origin { guard, form, contracts: contracts(m), class, span, line }
    }

    /// Adds an `exit` if control can reach the end of the kernel.
    fn end(&mut self, function: &Function) {
        if !self.ends()
            && let Some(origin) = self.end_of(function, "exit")
        {
            self.emit(origin, Op::Exit, &[], &[]);
        }
    }

    fn finish(
        mut self,
        function: &Function,
        params: Vec<Parameter>,
        param_bytes: u32,
        local_bytes: u32,
        mut functions: Vec<DeviceFunction>,
    ) -> (Option<Kernel>, Vec<Diagnostic>) {
        self.resolve_branches();
        if let Some(top) = self.stack_top {
            for inst in &mut self.insts {
                if let Op::Call(call) = &mut inst.op {
                    call.top = Some(top);
                }
            }
        }
        let block_limit = self.block_limit(function);
        let cluster = self.shape(function, &["reqnctapercluster"]).map_or([1; 3], |found| found.0);
        if self.rows.overflowed() || self.insts.len() > u32::MAX as usize {
            let message =
                format!("too many registers and constants in kernel `{}`", function.name.text);
            let help = format!(
                "use at most {} each of 32-bit values, 64-bit values and predicates",
                u16::MAX
            );
            self.report(
                Diagnostic::error("too-many-registers", function.name.span, message).help(help),
            );
        }
        let blocks = flow::count_blocks(&self.insts);
        if blocks > flow::MOST_BLOCKS {
            let message = format!(
                "{blocks} basic blocks in kernel `{}` and its functions: limit {}",
                function.name.text,
                flow::MOST_BLOCKS
            );
            let error = Diagnostic::error("too-many-blocks", function.name.span, message);
            self.report(error.help("split the kernel, or unroll less"));
        }
        if self.failed {
            return (None, self.diagnostics);
        }
        let names = self.scopes.finish(&mut self.diagnostics);
        let all_functions = self.functions;
        self.diagnostics
            .retain(|d| d.labels.first().is_none_or(|l| !all_functions.holds(l.span, None)));
        let registers =
            RegisterRows { frame_pointer: self.frame_pointer, ..self.rows.finish(names) };
        // A GPU gives a thread at most 255 registers; compilers spill the rest.
        let registers_per_thread =
            frames::complete(&mut self.insts, &mut functions, &registers).min(255);
        let mut kernel = Kernel {
            isa: self.isa,
            name: function.name.text.clone(),
            symbol: function.name.text.clone(),
            params,
            param_bytes,
            flow: ControlFlow::build(&self.insts, &functions, &registers),
            insts: self.insts,
            functions,
            registers,
            shared_bytes: self.shared_end as u32,
            local_bytes,
            variables: self.statics.variables.clone(),
            shared_variables: self.shared_variables,
            block_limit,
            cluster,
            registers_per_thread,
            native: None,
            span: function.span,
        };
        kernel.flow.omit_masks(&mut kernel.insts);
        (Some(kernel), self.diagnostics)
    }
}
