//! The device functions of a module: what their callers must know, and who may call whom.
//!
//! A function's frame begins with its return values, then come its parameters, each at its natural or requested alignment
//! (PTX ISA, "Function declarations and definitions"). Functions with equal layouts may be called through one prototype.
//! Registers as parameters (`.reg`) have places in the frame as well: the caller writes them there, the callee reads them.

use super::variables::{Shape, place, shape};
use crate::diag::{Diagnostic, Span};
use crate::kernel::layout;
use crate::ptx::tree::{
    Alias, Function, FunctionKind, Init, Instruction, Item, Module, Name, Operand, Statement, Variable,
};
use std::collections::{BTreeMap, BTreeSet};

/// The largest parameter of a device function.
const MAX_SLOT_BYTES: u64 = 64 << 10;

/// A parameter or return value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Slot {
    pub(super) name: Name,
    pub(super) shape: Shape,
    /// Where in the callee's frame.
    pub(super) offset: u64,
    /// Declared `.reg`.
    pub(super) register: bool,
}

/// What a caller must know of a function.
#[derive(Clone, Debug, Default)]
pub(super) struct Signature {
    pub(super) returns: Vec<Slot>,
    pub(super) params: Vec<Slot>,
    /// Where the frame goes on behind them.
    pub(super) end: u64,
}

impl Signature {
    /// Lays out the parameters of a function or prototype.
    pub(super) fn new(returns: &[Variable], params: &[Variable]) -> Result<Signature, Diagnostic> {
        if let [_, rest @ ..] = returns
            && let Some(in_memory) = rest.iter().find(|variable| variable.space.text != "reg")
        {
            let message = "several results are returned in registers only";
            let help = "declare them as `.reg`, or return one array: `.param .align 8 .b8 results[16]`";
            return Err(Diagnostic::error("several-results", in_memory.name.span, message).help(help));
        }
        let mut end = 0;
        let mut lay = |variables: &[Variable]| -> Result<Vec<Slot>, Diagnostic> {
            let slot = |variable: &Variable| {
                let shape = shape(variable, MAX_SLOT_BYTES)?;
                let register = variable.space.text == "reg";
                Ok(Slot { name: variable.name.clone(), shape, offset: place(&mut end, shape), register })
            };
            variables.iter().map(slot).collect()
        };
        let (returns, params) = (lay(returns)?, lay(params)?);
        Ok(Signature { returns, params, end })
    }

    /// Whether values lie at the same places.
    pub(super) fn fits(&self, other: &Signature) -> bool {
        let places = |slots: &[Slot]| slots.iter().map(|s| (s.offset, s.shape.bytes)).collect::<Vec<_>>();
        places(&self.returns) == places(&other.returns) && places(&self.params) == places(&other.params)
    }
}

/// A device function, defined or only declared.
pub(super) struct Declared<'a> {
    /// The definition, or the first declaration.
    pub(super) function: &'a Function,
    pub(super) signature: Signature,
    pub(super) address: u64,
}

impl<'a> Declared<'a> {
    /// The statements; `None` if it is only declared.
    pub(super) fn statements(&self) -> Option<&'a [Statement]> {
        self.function.body.as_deref()
    }
}

/// All device functions of a module.
#[derive(Default)]
pub(super) struct Functions<'a> {
    pub(super) list: Vec<Declared<'a>>,
    by_name: BTreeMap<&'a str, usize>,
    /// Functions whose address is a value somewhere.
    address_taken: BTreeSet<usize>,
}

impl<'a> Functions<'a> {
    /// Finds the functions of a module.
    pub(super) fn new(module: &'a Module, diagnostics: &mut Vec<Diagnostic>) -> Functions<'a> {
        let mut functions = Functions::default();
        for item in &module.items {
            if let Item::Function(function) = item
                && function.kind == FunctionKind::Func
            {
                match Signature::new(&function.returns, &function.params) {
                    Ok(signature) => functions.declare(function, signature, diagnostics),
                    Err(error) => diagnostics.push(error),
                }
            }
        }
        for item in &module.items {
            if let Item::Alias(alias) = item {
                functions.alias(alias, diagnostics);
            }
        }
        let mut taken = BTreeSet::new();
        for item in &module.items {
            match item {
                Item::Variable(Variable { init: Some(init), .. }) => functions.named_in_init(init, &mut taken),
                Item::Variable(_) | Item::Alias(_) => {}
                Item::Function(function) => {
                    each_instruction(function.body.as_deref().unwrap_or_default(), &mut |inst| {
                        functions.named_as_value(inst, &mut taken);
                    })
                }
            }
        }
        functions.address_taken = taken;
        functions
    }

    fn declare(&mut self, function: &'a Function, signature: Signature, diagnostics: &mut Vec<Diagnostic>) {
        let name = function.name.text.as_str();
        let Some(&known) = self.by_name.get(name) else {
            let address = layout::FUNCTION_BASE + 16 * self.list.len() as u64;
            self.by_name.insert(name, self.list.len());
            self.list.push(Declared { function, signature, address });
            return;
        };
        let declared = &mut self.list[known];
        if !declared.signature.fits(&signature) {
            let message = format!("`{name}` is declared twice, with different parameters");
            let error = Diagnostic::error("function-mismatch", function.name.span, message);
            diagnostics.push(error.also(declared.function.name.span, "first declared here"));
        } else if declared.function.body.is_none() {
            (declared.function, declared.signature) = (function, signature);
        }
    }

    /// From here on both names are for the function, which must be defined. The other name may have been declared.
    fn alias(&mut self, alias: &'a Alias, diagnostics: &mut Vec<Diagnostic>) {
        let target = self.find(&alias.target.text).filter(|&f| self.list[f].statements().is_some());
        let Some(target) = target else {
            let message = format!("`{}` is not a function that this file defines", alias.target.text);
            return diagnostics.push(Diagnostic::error("unknown-name", alias.target.span, message));
        };
        let known = self.find(&alias.name.text).map(|f| &self.list[f]);
        let (name, span) = (&alias.name.text, alias.name.span);
        match known {
            Some(known) if known.statements().is_some() => {
                let error = Diagnostic::error("duplicate-kernel", span, format!("`{name}` has a body of its own"));
                diagnostics.push(error.also(known.function.name.span, "defined here"));
            }
            Some(known) if !known.signature.fits(&self.list[target].signature) => {
                let message = format!("`{name}` has other parameters than `{}`", alias.target.text);
                let error = Diagnostic::error("function-mismatch", span, message);
                diagnostics.push(error.also(known.function.name.span, "declared here"));
            }
            _ => _ = self.by_name.insert(name, target),
        }
    }

    /// The function of that name.
    pub(super) fn find(&self, name: &str) -> Option<usize> {
        self.by_name.get(name).copied()
    }

    /// The names of all functions.
    pub(super) fn names(&self) -> impl Iterator<Item = &'a str> {
        self.by_name.keys().copied()
    }

    /// The defined functions that a call through `prototype` may be for.
    pub(super) fn candidates(&self, prototype: &Signature) -> Vec<usize> {
        let fits = |&f: &usize| self.list[f].signature.fits(prototype) && self.list[f].statements().is_some();
        self.address_taken.iter().copied().filter(fits).collect()
    }

    /// The defined functions that code with these statements may call, directly or through others, in the order of their
    /// declarations.
    pub(super) fn reachable(&self, statements: &[Statement]) -> Vec<usize> {
        let mut found = BTreeSet::new();
        let mut open = vec![statements];
        while let Some(statements) = open.pop() {
            let mut called = BTreeSet::new();
            each_instruction(statements, &mut |inst| self.callees(inst, &mut called));
            for function in called {
                if let Some(body) = self.list[function].statements()
                    && found.insert(function)
                {
                    open.push(body);
                }
            }
        }
        found.into_iter().collect()
    }

    /// Functions that the instruction may call. A call through a register may be for any whose address is taken.
    fn callees(&self, inst: &Instruction, called: &mut BTreeSet<usize>) {
        if is_call(inst) {
            match call_target(inst).map(|name| self.find(&name.text)) {
                Some(Some(function)) => _ = called.insert(function),
                _ => called.extend(&self.address_taken),
            }
        }
    }

    /// Functions that stand where a value is wanted.
    fn named_as_value(&self, inst: &Instruction, taken: &mut BTreeSet<usize>) {
        let target = if is_call(inst) { call_target(inst).map(|name| name.span) } else { None };
        for operand in &inst.operands {
            if let Operand::Name(name) | Operand::Symbol { name, .. } = operand
                && Some(name.span) != target
            {
                taken.extend(self.find(&name.text));
            }
        }
    }

    fn named_in_init(&self, init: &Init, taken: &mut BTreeSet<usize>) {
        match init {
            Init::Value(Operand::Name(name) | Operand::Symbol { name, .. })
            | Init::Generic(Operand::Name(name) | Operand::Symbol { name, .. }) => taken.extend(self.find(&name.text)),
            Init::Value(_) | Init::Generic(_) => {}
            Init::List(list) => list.iter().for_each(|init| self.named_in_init(init, taken)),
        }
    }

    /// Whether the place is in the text of a device function other than `own`.
    pub(super) fn holds(&self, place: Span, own: Option<Span>) -> bool {
        let inside = |span: Span| span.start <= place.start && place.end <= span.end;
        self.list.iter().any(|f| Some(f.function.span) != own && inside(f.function.span))
    }
}

fn is_call(inst: &Instruction) -> bool {
    inst.mnemonic.text.split('.').next() == Some("call")
}

/// The name of what a `call` is for: a function, or the register that holds its address.
fn call_target(inst: &Instruction) -> Option<&Name> {
    inst.operands.iter().find_map(|operand| match operand {
        Operand::Name(name) => Some(name),
        _ => None,
    })
}

/// Whether an instruction with this mnemonic is among the statements.
pub(super) fn holds(statements: &[Statement], mnemonic: &str) -> bool {
    let mut found = false;
    each_instruction(statements, &mut |inst| found |= inst.mnemonic.text == mnemonic);
    found
}

fn each_instruction<'s>(statements: &'s [Statement], visit: &mut dyn FnMut(&'s Instruction)) {
    for statement in statements {
        match statement {
            Statement::Instruction(inst) => visit(inst),
            Statement::Block(inner, _) => each_instruction(inner, visit),
            _ => {}
        }
    }
}
