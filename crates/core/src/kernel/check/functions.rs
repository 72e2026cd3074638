//! Device functions of a module: signatures, addresses, and the call graph.
//!
//! The frame of a function begins with its return values, followed by its parameters, each at its
//! natural or requested alignment (PTX ISA, "Function declarations and definitions"). Functions
//! with equal layouts can be called through one prototype. Register parameters (`.reg`) also have a
//! slot in the frame, which the caller writes and the callee reads.

use super::variables::{Shape, place, shape};
use crate::diag::{Diagnostic, Span};
use crate::ptx::tree::{
    Alias, Function, FunctionKind, Init, Instruction, Item, Module, Name, Operand, Statement,
    Variable,
};
use std::collections::{BTreeMap, BTreeSet};

/// Maximum size of a device function's parameter, in bytes.
const MAX_SLOT_BYTES: u64 = 64 << 10;

/// Frame slot of a parameter or return value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Slot {
    pub(super) name: Name,
    pub(super) shape: Shape,
    /// Offset in the callee's frame, in bytes.
    pub(super) offset: u64,
    /// True if declared `.reg`.
    pub(super) register: bool,
}

/// Layout of the return values and parameters of a function.
#[derive(Clone, Debug, Default)]
pub(super) struct Signature {
    pub(super) returns: Vec<Slot>,
    pub(super) params: Vec<Slot>,
    /// End of the slots in the frame, in bytes.
    pub(super) end: u64,
}

impl Signature {
    /// Lays out the parameters of a function or prototype.
    pub(super) fn new(returns: &[Variable], params: &[Variable]) -> Result<Signature, Diagnostic> {
        if let [_, rest @ ..] = returns
            && let Some(in_memory) = rest.iter().find(|variable| variable.space.text != "reg")
        {
            let message = "expected one result in `.param` space, found several";
            let help =
                "declare them as `.reg`, or return one array: `.param .align 8 .b8 results[16]`";
            return Err(
                Diagnostic::error("several-results", in_memory.name.span, message).help(help)
            );
        }
        let mut end = 0;
        let mut lay = |variables: &[Variable]| -> Result<Vec<Slot>, Diagnostic> {
            let slot = |variable: &Variable| {
                let shape = shape(variable, MAX_SLOT_BYTES)?;
                let register = variable.space.text == "reg";
                Ok(Slot {
                    name: variable.name.clone(),
                    shape,
                    offset: place(&mut end, shape),
                    register,
                })
            };
            variables.iter().map(slot).collect()
        };
        let (returns, params) = (lay(returns)?, lay(params)?);
        Ok(Signature { returns, params, end })
    }

    /// Returns true if both signatures have the same layout.
    pub(super) fn fits(&self, other: &Signature) -> bool {
        let places =
            |slots: &[Slot]| slots.iter().map(|s| (s.offset, s.shape.bytes)).collect::<Vec<_>>();
        places(&self.returns) == places(&other.returns)
            && places(&self.params) == places(&other.params)
    }
}

/// Device function, defined or only declared.
pub(super) struct Declared<'a> {
    /// Definition, or the first declaration.
    pub(super) function: &'a Function,
    pub(super) signature: Signature,
    pub(super) address: u64,
}

impl<'a> Declared<'a> {
    /// Returns the statements; `None` if the function is only declared.
    pub(super) fn statements(&self) -> Option<&'a [Statement]> {
        self.function.body.as_deref()
    }
}

/// All device functions of a module.
#[derive(Default)]
pub(super) struct Functions<'a> {
    pub(super) list: Vec<Declared<'a>>,
    /// Address of the first function.
    base: u64,
    by_name: BTreeMap<&'a str, usize>,
    /// Names of the kernels.
    pub(super) kernels: BTreeSet<&'a str>,
    /// Functions whose address is taken.
    address_taken: BTreeSet<usize>,
}

impl<'a> Functions<'a> {
    /// Collects the functions of a module.
    ///
    /// `base` is the address of the first one.
    pub(super) fn new(
        module: &'a Module,
        base: u64,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Functions<'a> {
        let mut functions = Functions { base, ..Functions::default() };
        for item in &module.items {
            if let Item::Function(function) = item {
                if function.kind != FunctionKind::Func {
                    functions.kernels.insert(&function.name.text);
                    continue;
                }
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
                Item::Variable(Variable { init: Some(init), .. }) => {
                    functions.named_in_init(init, &mut taken)
                }
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

    fn declare(
        &mut self,
        function: &'a Function,
        signature: Signature,
        diagnostics: &mut Vec<Diagnostic>,
    ) {
        let name = function.name.text.as_str();
        let Some(&known) = self.by_name.get(name) else {
            let address = self.base + 16 * self.list.len() as u64;
            self.by_name.insert(name, self.list.len());
            self.list.push(Declared { function, signature, address });
            return;
        };
        let declared = &mut self.list[known];
        if !declared.signature.fits(&signature) {
            let message = format!("conflicting declarations of `{name}`: different parameters");
            let error = Diagnostic::error("function-mismatch", function.name.span, message);
            diagnostics.push(error.also(declared.function.name.span, "first declared here"));
        } else if declared.function.body.is_none() {
            (declared.function, declared.signature) = (function, signature);
        }
    }

    /// Adds an alias of a defined function. The alias may have been declared before.
    fn alias(&mut self, alias: &'a Alias, diagnostics: &mut Vec<Diagnostic>) {
        let target = self.find(&alias.target.text).filter(|&f| self.list[f].statements().is_some());
        let Some(target) = target else {
            let message = format!("cannot find a definition of function `{}`", alias.target.text);
            return diagnostics.push(Diagnostic::error("unknown-name", alias.target.span, message));
        };
        let known = self.find(&alias.name.text).map(|f| &self.list[f]);
        let (name, span) = (&alias.name.text, alias.name.span);
        match known {
            Some(known) if known.statements().is_some() => {
                let message = format!("`{name}` is both an alias and a function");
                let error = Diagnostic::error("duplicate-kernel", span, message);
                diagnostics.push(error.also(known.function.name.span, "defined here"));
            }
            Some(known) if !known.signature.fits(&self.list[target].signature) => {
                let message =
                    format!("`{name}` and `{}` have different parameters", alias.target.text);
                let error = Diagnostic::error("function-mismatch", span, message);
                diagnostics.push(error.also(known.function.name.span, "declared here"));
            }
            _ => _ = self.by_name.insert(name, target),
        }
    }

    /// Finds a function by name.
    pub(super) fn find(&self, name: &str) -> Option<usize> {
        self.by_name.get(name).copied()
    }

    /// Returns the names of all functions.
    pub(super) fn names(&self) -> impl Iterator<Item = &'a str> {
        self.by_name.keys().copied()
    }

    /// Returns the possible targets of an indirect call through `prototype`.
    pub(super) fn candidates(&self, prototype: &Signature) -> Vec<usize> {
        let fits = |&f: &usize| {
            self.list[f].signature.fits(prototype) && self.list[f].statements().is_some()
        };
        self.address_taken.iter().copied().filter(fits).collect()
    }

    /// Returns the defined functions that the statements may reach by calls.
    ///
    /// They are in the order of their declarations.
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

    /// Adds the functions that an instruction may call.
    ///
    /// An indirect call may reach every function whose address is taken.
    fn callees(&self, inst: &Instruction, called: &mut BTreeSet<usize>) {
        if is_call(inst) {
            match call_target(inst).map(|name| self.find(&name.text)) {
                Some(Some(function)) => _ = called.insert(function),
                _ => called.extend(&self.address_taken),
            }
        }
    }

    /// Adds the functions that an instruction uses as values.
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
            | Init::Generic(Operand::Name(name) | Operand::Symbol { name, .. }) => {
                taken.extend(self.find(&name.text))
            }
            Init::Value(_) | Init::Generic(_) => {}
            Init::List(list) => list.iter().for_each(|init| self.named_in_init(init, taken)),
        }
    }

    /// Returns true if a span is inside a device function other than `own`.
    pub(super) fn holds(&self, place: Span, own: Option<Span>) -> bool {
        let inside = |span: Span| span.start <= place.start && place.end <= span.end;
        self.list.iter().any(|f| Some(f.function.span) != own && inside(f.function.span))
    }
}

fn is_call(inst: &Instruction) -> bool {
    inst.mnemonic.text.split('.').next() == Some("call")
}

/// Returns the target of a `call`: a function, or the register with its address.
fn call_target(inst: &Instruction) -> Option<&Name> {
    inst.operands.iter().find_map(|operand| match operand {
        Operand::Name(name) => Some(name),
        _ => None,
    })
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
