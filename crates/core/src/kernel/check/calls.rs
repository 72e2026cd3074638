//! Calls, returns and indexed branches; code at the start and end of a function.

mod arguments;

use super::body::{Body, Origin};
use super::functions::{Signature, Slot};
use super::names::Found;
use super::operands::Args;
use super::variables::{Symbol, place};
use crate::base::Pc;
use crate::diag::Diagnostic;
use crate::isa::{Class, FormMatch, Space, Type};
use crate::kernel::{
    Access, Address, AddressBase, Call, Callee, Copied, Load, MemoryOrder, Op, Register, Row,
    Scope, Store, Switch, SystemCall, SystemFn, layout,
};
use crate::ptx::tree::{
    Instruction, Name, Operand, Prototype, Registers, Statement, TargetKind, Targets,
};
use std::collections::BTreeMap;

/// Frame layout of the function being checked.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Frame {
    /// Current end, in bytes.
    pub(super) end: u64,
    /// Largest end so far, in bytes.
    pub(super) peak: u64,
    /// `.local` bytes so far.
    ///
    /// They live until the function ends, call arguments until the scope ends.
    pub(super) local: u64,
}

/// Labelled directive.
#[derive(Clone, Copy)]
pub(super) enum Table<'s> {
    Targets(&'s Targets),
    Prototype(&'s Prototype),
}

/// Target of a call.
enum Target {
    Function(Callee),
    System(SystemFn),
}

/// Collects the labelled directives of a function body by name.
pub(super) fn tables<'s>(statements: &'s [Statement], found: &mut BTreeMap<&'s str, Table<'s>>) {
    for statement in statements {
        match statement {
            Statement::Targets(targets) => {
                _ = found.insert(&targets.label.text, Table::Targets(targets))
            }
            Statement::Prototype(prototype) => {
                found.insert(&prototype.label.text, Table::Prototype(prototype));
            }
            Statement::Block(inner, _) => tables(inner, found),
            _ => {}
        }
    }
}

/// Returns the access to the complete value of a slot.
const fn access(ty: Type) -> Access {
    Access {
        space: Space::Local,
        ty,
        count: 1,
        wide: ty.is_wide(),
        order: MemoryOrder::Weak,
        scope: Scope::Block,
        bypass_l1: false,
    }
}

impl<'a> Body<'a> {
    /// Returns the base of frame addresses.
    ///
    /// Zero in the kernel, whose frame starts at 0.
    pub(super) fn frame_base(&self) -> AddressBase {
        match self.frame_pointer {
            Some(row) if self.signature.is_some() => AddressBase::Wide(row),
            _ => AddressBase::Zero,
        }
    }

    /// Allocates a variable in the frame.
    pub(super) fn place_in_frame(&mut self, shape: super::variables::Shape) -> u64 {
        let address = place(&mut self.frame.end, shape);
        self.frame.peak = self.frame.peak.max(self.frame.end);
        address
    }

    /// Returns the final size of the frame, in bytes.
    pub(super) fn frame_bytes(&self) -> u32 {
        self.frame.peak.next_multiple_of(16).min(layout::WINDOW_BYTES) as u32
    }

    fn slot_load(&self, row: Row, ty: Type, offset: u64) -> Op {
        let address = Address { base: self.frame_base(), offset: offset as i64 };
        Op::ReadSlot(Load {
            uniform: false,
            access: access(ty),
            d: [Some(row), None, None, None],
            address,
        })
    }

    fn slot_store(&self, row: Row, ty: Type, offset: u64) -> Op {
        let address = Address { base: self.frame_base(), offset: offset as i64 };
        Op::WriteSlot(Store { access: access(ty), s: [row; 4], address })
    }

    /// Declares the parameters of a function, and loads its register parameters.
    pub(super) fn enter_function(&mut self, signature: &Signature, ret: Origin) {
        self.frame = Frame { end: signature.end, peak: signature.end, local: 0 };
        for (slot, result) in signature
            .returns
            .iter()
            .map(|s| (s, true))
            .chain(signature.params.iter().map(|s| (s, false)))
        {
            if !slot.register {
                let symbol = Symbol {
                    space: Space::Param,
                    address: slot.offset,
                    bytes: slot.shape.bytes,
                    element: slot.shape.element,
                    slot: true,
                    span: slot.name.span,
                };
                self.add_symbol(&slot.name, symbol);
                continue;
            }
            let Some((register, row)) = self.register_parameter(slot) else { continue };
            if !result {
                let origin = Origin { class: Class::Move, span: slot.name.span, ..ret };
                self.emit(
                    origin,
                    self.slot_load(row, slot.shape.ty, slot.offset),
                    &[],
                    &[register],
                );
            }
        }
    }

    /// Returns the register of a `.reg` parameter.
    fn register_parameter(&mut self, slot: &Slot) -> Option<(Register, Row)> {
        let ty = Name { text: slot.shape.ty.name().to_string(), span: slot.name.span };
        if self.scopes.register(&slot.name.text, &mut self.rows).is_none() {
            let line = Registers {
                vector: 1,
                ty,
                names: vec![(slot.name.clone(), None)],
                span: slot.name.span,
            };
            self.declare(&line);
        }
        let used = self.scopes.register(&slot.name.text, &mut self.rows)?;
        self.scopes.wrote(used);
        match self.scopes.about(used).0 {
            register @ (Register::Narrow(row) | Register::Wide(row)) => Some((register, row)),
            Register::Predicate(_) => None,
        }
    }

    /// Lowers `ret` of a device function to a branch to its single return.
    ///
    /// The branch is resolved at the end of the function.
    pub(super) fn ret(&mut self, m: &FormMatch<'_>, origin: Origin) {
        self.rets.push(self.insts.len());
        let uniform = origin.guard.is_some() && m.has("uni");
        let origin = Origin { class: Class::Branch, ..origin };
        self.emit(origin, Op::Branch { target: Pc(0), uniform }, &[], &[]);
    }

    /// Emits the single return of a function: its last `ret` if possible.
    pub(super) fn leave_function(&mut self, signature: &Signature, ret: Origin) {
        let rets = std::mem::take(&mut self.rets);
        let in_registers = signature.returns.iter().any(|slot| slot.register);
        let last = rets.iter().rev().copied().find(|&i| self.insts[i].guard.is_none());
        let ends = self.ends();
        if ends && rets.is_empty() {
            return;
        }
        let place = match last {
            Some(last) if ends && !in_registers => {
                self.insts[last].op = Op::Return;
                last
            }
            _ => {
                let first = self.insts.len();
                for slot in signature.returns.iter().filter(|slot| slot.register) {
                    let Some((register, row)) = self.register_parameter(slot) else { continue };
                    let origin = Origin { class: Class::Move, ..ret };
                    self.emit(
                        origin,
                        self.slot_store(row, slot.shape.ty, slot.offset),
                        &[register],
                        &[],
                    );
                }
                self.emit(Origin { class: Class::Branch, ..ret }, Op::Return, &[], &[]);
                first
            }
        };
        for at in rets {
            if let Op::Branch { target, .. } = &mut self.insts[at].op {
                *target = Pc(place as u32);
            }
        }
    }

    /// Lowers `brx.idx index, table;`.
    pub(super) fn branch_by_index(
        &mut self,
        m: &FormMatch<'_>,
        args: &Args,
        table: &Name,
        origin: Origin,
    ) {
        let Some(Table::Targets(targets)) = self.tables.get(table.text.as_str()).copied() else {
            return self.no_table(table, "`.branchtargets`");
        };
        if targets.kind != TargetKind::Branch {
            return self.no_table(table, "`.branchtargets`");
        }
        let scope = self.scopes.current();
        self.switches.push((self.insts.len(), targets.names.clone(), scope));
        let switch = Switch { index: args.row(0), targets: Vec::new(), uniform: m.has("uni") };
        self.emit(origin, Op::Switch(switch), &args.reads, &args.writes);
    }

    fn no_table(&mut self, name: &Name, expected: &str) {
        let message = format!("expected {expected} label, found `{}`", name.text);
        self.report(Diagnostic::error("unknown-table", name.span, message));
    }

    /// Lowers `call (results), function, (arguments), table;`.
    pub(super) fn call(
        &mut self,
        inst: &Instruction,
        m: &FormMatch<'_>,
        guard_reads: &Args,
        origin: Origin,
    ) {
        let (results, rest) = match &inst.operands[..] {
            [Operand::List(results, _), rest @ ..] => (&results[..], rest),
            rest => (&[][..], rest),
        };
        let Some((Operand::Name(target), rest)) = rest.split_first() else {
            let message = "expected function or register as call target";
            let error = Diagnostic::error("operand-kind", inst.span, message);
            return self.report(error.help("use the form `call (result), function, (arguments);`"));
        };
        let (arguments, table) = match rest {
            [] => (&[][..], None),
            [Operand::List(arguments, _)] => (&arguments[..], None),
            [Operand::List(arguments, _), Operand::Name(table)] => (&arguments[..], Some(table)),
            [Operand::Name(table)] => (&[][..], Some(table)),
            _ => {
                let error =
                    Diagnostic::error("operand-count", inst.span, "invalid operands of `call`");
                let help = "use the form `call (result), function, (arguments), prototype;`";
                return self.report(error.help(help));
            }
        };
        let mut reads = guard_reads.reads.clone();
        let (callee, signature) = match self.system(target) {
            Some((function, signature)) => (Target::System(function), signature),
            None => match self.callee(target, table, &mut reads) {
                Some((callee, signature)) => (Target::Function(callee), signature),
                None => return,
            },
        };
        let counts = [
            (results.len(), signature.returns.len(), "result", "from"),
            (arguments.len(), signature.params.len(), "argument", "for"),
        ];
        for (found, expected, what, of) in counts {
            if found != expected {
                let plural = if expected == 1 { "" } else { "s" };
                let message = format!(
                    "expected {expected} {what}{plural} {of} `{}`, found {found}",
                    target.text
                );
                return self.report(Diagnostic::error("operand-count", inst.span, message));
            }
        }
        let moved = Origin { class: Class::Move, ..origin };
        let mut copies = Vec::new();
        for (operand, slot) in arguments.iter().zip(&signature.params) {
            let Some(from) = self.argument(operand, slot, m, moved) else { return };
            copies.push(Copied { from, to: slot.offset as u32, bytes: slot.shape.bytes as u32 });
        }
        let mut back = Vec::new();
        let mut loads = Vec::new();
        for (operand, slot) in results.iter().zip(&signature.returns) {
            if matches!(operand, Operand::Name(name) if name.text == "_") {
                continue;
            }
            let to = match self.slot_symbol(operand, slot) {
                Err(()) => return,
                Ok(Some(offset)) => offset,
                Ok(None) => {
                    let mut args = Args::default();
                    let Some(value) = self.slot_value(operand, slot, true, m, &mut args) else {
                        return;
                    };
                    let offset = self.place_in_frame(slot.shape);
                    loads.push((self.slot_load(value.row, slot.shape.ty, offset), args.writes));
                    offset as u32
                }
            };
            back.push(Copied { from: slot.offset as u32, to, bytes: slot.shape.bytes as u32 });
        }
        // Without a possible target there is no frame pointer yet, and the call always faults.
        let frame_pointer = *self.frame_pointer.get_or_insert_with(|| self.rows.scratch(true).0);
        let op = match callee {
            Target::System(function) => Op::System(Box::new(SystemCall {
                function,
                arguments: copies.iter().map(|copied| copied.from).collect(),
                result: back.first().map(|copied| copied.to),
                frame_pointer,
            })),
            Target::Function(callee) => {
                self.calls.push(self.insts.len());
                Op::Call(Box::new(Call {
                    callee,
                    uniform: m.has("uni"),
                    arguments: copies,
                    results: back,
                    frame_pointer,
                    frame: 0,
                    top: None,
                    saves: Vec::new(),
                }))
            }
        };
        self.emit(origin, op, &reads, &[]);
        for (op, writes) in loads {
            self.emit(moved, op, &[], &writes);
        }
    }

    /// Resolves the target of a call and its signature.
    fn callee(
        &mut self,
        target: &Name,
        table: Option<&Name>,
        reads: &mut Vec<Register>,
    ) -> Option<(Callee, Signature)> {
        if let Some(function) = self.functions.find(&target.text) {
            let declared = &self.functions.list[function];
            if declared.statements().is_none() {
                self.undefined(target, declared.function.name.span);
                return None;
            }
            let signature = declared.signature.clone();
            return Some((Callee::Direct(self.number(function)?), signature));
        }
        let Found::Register(used) = self.find(target)? else {
            let message = format!("expected function or register, found `{}`", target.text);
            self.report(Diagnostic::error("operand-kind", target.span, message));
            return None;
        };
        let (Register::Wide(address), ty) = self.scopes.about(used) else {
            let message = "expected 64-bit register for the address of a function";
            let error = Diagnostic::error("type-mismatch", target.span, message);
            self.report(error.help("declare the register as `.b64`"));
            return None;
        };
        if ty.is_float() {
            let message = "expected integer register for the address of a function, found float";
            self.report(Diagnostic::error("type-mismatch", target.span, message));
            return None;
        }
        self.scopes.read(used, target.span);
        reads.push(Register::Wide(address));
        let Some(table) = table else {
            let message = "indirect call without a prototype";
            let error = Diagnostic::error("missing-prototype", target.span, message);
            let help = "add the label of a `.callprototype` or `.calltargets` after the arguments";
            self.report(error.help(help));
            return None;
        };
        let (functions, signature) = match self.tables.get(table.text.as_str()).copied() {
            Some(Table::Prototype(prototype)) => {
                let signature = Signature::new(&prototype.returns, &prototype.params);
                let signature = self.ok(signature)?;
                (self.functions.candidates(&signature), signature)
            }
            Some(Table::Targets(targets)) if targets.kind == TargetKind::Call => {
                self.call_targets(targets)?
            }
            _ => {
                self.no_table(table, "`.callprototype` or `.calltargets`");
                return None;
            }
        };
        let targets: Vec<u32> = functions.into_iter().filter_map(|f| self.number(f)).collect();
        if targets.is_empty() {
            let message =
                "this call always faults: no function of this prototype has its address taken";
            let warning = Diagnostic::warning("nothing-to-call", target.span, message);
            self.report(warning.also(table.span, "prototype"));
        }
        Some((Callee::Indirect { address, targets }, signature))
    }

    /// Resolves the functions of a `.calltargets` list, which all have one layout.
    fn call_targets(&mut self, targets: &Targets) -> Option<(Vec<usize>, Signature)> {
        let mut found: Vec<usize> = Vec::new();
        for name in &targets.names {
            let Some(function) = self.functions.find(&name.text) else {
                self.report(Diagnostic::error(
                    "unknown-name",
                    name.span,
                    format!("cannot find function `{}`", name.text),
                ));
                return None;
            };
            let declared = &self.functions.list[function];
            if declared.statements().is_none() {
                self.undefined(name, declared.function.name.span);
                return None;
            }
            let first = found.first().map_or(function, |&f| f);
            if !self.functions.list[first].signature.fits(&declared.signature) {
                let message =
                    format!("`{}` and the first target have different parameters", name.text);
                self.report(Diagnostic::error("function-mismatch", name.span, message));
                return None;
            }
            found.push(function);
        }
        let signature = self.functions.list[*found.first()?].signature.clone();
        Some((found, signature))
    }

    /// Returns the index of a function in this kernel.
    fn number(&self, function: usize) -> Option<u32> {
        self.reachable.iter().position(|&f| f == function).map(|n| n as u32)
    }
}
