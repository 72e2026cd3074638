//! Memory layout of a kernel: parameter block, shared and local variables.

use super::super::calls::Frame;
use super::super::names::is_reserved;
use super::super::variables::{Symbol, place, shape};
use super::Body;
use crate::diag::Diagnostic;
use crate::isa::Space;
use crate::kernel::{Parameter, layout};
use crate::ptx::tree::{Name, Operand, Statement, Variable};
use std::collections::BTreeSet;

/// Maximum size of kernel parameters, in bytes (PTX ISA).
const MAX_PARAM_BYTES: u64 = 32_764;

impl Body<'_> {
    /// Lays out the parameters; returns them and the size of their block in bytes.
    pub(super) fn parameters(&mut self, variables: &[Variable]) -> (Vec<Parameter>, u32) {
        let mut end = 0;
        let mut params = Vec::new();
        for variable in variables {
            let Some(shape) = self.ok(shape(variable, MAX_PARAM_BYTES)) else { continue };
            let offset = place(&mut end, shape);
            let symbol = Symbol {
                space: Space::Param,
                address: offset,
                bytes: shape.bytes,
                element: shape.element,
                slot: false,
                span: variable.name.span,
            };
            self.add_symbol(&variable.name, symbol);
            params.push(Parameter {
                name: variable.name.text.clone(),
                ty: shape.ty,
                offset: offset as u32,
                bytes: shape.bytes as u32,
                span: variable.name.span,
            });
            if end > MAX_PARAM_BYTES {
                let message = format!("parameters of {end} bytes: limit {MAX_PARAM_BYTES} bytes");
                self.report(Diagnostic::error("variable-size", variable.span, message));
                end = 0;
            }
        }
        (params, end as u32)
    }

    pub(in super::super) fn add_symbol(&mut self, name: &Name, symbol: Symbol) {
        let before = self.diagnostics.len();
        self.scopes.add_symbol(name, symbol, &mut self.diagnostics);
        self.failed |= self.diagnostics.len() > before;
    }

    /// Lays out shared memory: module variables in use, own variables, dynamic memory.
    pub(super) fn shared(&mut self, bodies: &[&[Statement]]) {
        let mut names = BTreeSet::new();
        bodies.iter().for_each(|statements| names_of(statements, &mut names));
        if names.iter().any(|name| is_reserved(name)) {
            self.shared_end = layout::RESERVED_SHARED.into();
            let name = layout::RESERVED_NAME.to_string();
            self.shared_variables.push((name, 0, layout::RESERVED_SHARED));
        }
        let of_module: Vec<&Variable> = self
            .statics
            .shared
            .iter()
            .copied()
            .filter(|v| names.contains(v.name.text.as_str()))
            .collect();
        let (dynamic, fixed): (Vec<&Variable>, Vec<&Variable>) =
            of_module.into_iter().partition(|v| is_dynamic(v));
        for variable in fixed {
            self.variable(variable);
        }
        // Dynamic memory starts after the kernel's own variables, so a first pass adds these up.
        let mut end = self.shared_end;
        let mut own = Vec::new();
        bodies.iter().for_each(|statements| shared_of(statements, &mut own));
        for variable in own.iter().filter(|v| !is_dynamic(v)) {
            if let Ok(shape) = shape(variable, layout::WINDOW_BYTES) {
                place(&mut end, shape);
            }
        }
        for variable in dynamic {
            self.dynamic(variable, end);
        }
        for variable in own.into_iter().filter(|v| is_dynamic(v)) {
            self.dynamic(variable, end);
        }
    }

    /// Adds an `.extern .shared` array after static shared memory, aligned to 16.
    fn dynamic(&mut self, variable: &Variable, end: u64) {
        let symbol = Symbol {
            space: Space::Shared,
            address: end.next_multiple_of(16),
            bytes: 0,
            element: shape(variable, 0).map_or(1, |shape| shape.element),
            slot: false,
            span: variable.name.span,
        };
        self.shared_variables.push((variable.name.text.clone(), symbol.address as u32, 0));
        self.add_symbol(&variable.name, symbol);
    }

    /// Adds a `.shared`, `.local` or `.param` variable of the kernel or a function.
    pub(super) fn variable(&mut self, variable: &Variable) {
        let slot = variable.space.text == "param";
        let space = match variable.space.text.as_str() {
            "shared" if is_dynamic(variable) => return,
            "shared" => Space::Shared,
            "local" => Space::Local,
            "param" => Space::Param,
            other => {
                let message = format!("`.{other}` variable in a function body");
                let help = "declare `.global` and `.const` variables before the kernel";
                self.report(
                    Diagnostic::error("variable-space", variable.space.span, message).help(help),
                );
                return;
            }
        };
        let shape = match shape(variable, layout::WINDOW_BYTES) {
            Ok(shape) => shape,
            Err(error) => return self.report(error),
        };
        let (address, limit) = match space {
            Space::Shared => (place(&mut self.shared_end, shape), layout::WINDOW_BYTES),
            _ => (self.place_in_frame(shape), layout::LOCAL_LIMIT),
        };
        if space == Space::Local {
            self.frame.local = self.frame.local.saturating_add(shape.bytes);
        }
        if address.saturating_add(shape.bytes) > limit {
            (self.shared_end, self.frame) = (0, Frame::default());
            let message = format!("too much `.{}` memory: limit {limit} bytes", space.name());
            return self.report(Diagnostic::error("variable-size", variable.span, message));
        }
        if variable.init.is_some() {
            let message = format!(
                "`.{}` variable `{}` cannot be initialised",
                space.name(),
                variable.name.text
            );
            self.report(Diagnostic::error("initialiser", variable.span, message));
        }
        if space == Space::Shared {
            self.shared_variables.push((
                variable.name.text.clone(),
                address as u32,
                shape.bytes as u32,
            ));
        }
        let symbol = Symbol {
            space,
            address,
            bytes: shape.bytes,
            element: shape.element,
            slot,
            span: variable.name.span,
        };
        self.add_symbol(&variable.name, symbol);
    }
}

/// Returns true for an array without a size, `.extern` or not.
///
/// An `.extern` variable with a size and without a definition is an ordinary one, as for ptxas.
fn is_dynamic(variable: &Variable) -> bool {
    variable.dims.first() == Some(&None) && variable.init.is_none()
}

/// Collects the `.shared` variables of a body, in order.
fn shared_of<'s>(statements: &'s [Statement], found: &mut Vec<&'s Variable>) {
    for statement in statements {
        match statement {
            Statement::Variable(variable) if variable.space.text == "shared" => {
                found.push(variable)
            }
            Statement::Block(inner, _) => shared_of(inner, found),
            _ => {}
        }
    }
}

/// Collects the names in operands.
pub(in crate::kernel::check) fn names_of<'s>(
    statements: &'s [Statement],
    names: &mut BTreeSet<&'s str>,
) {
    fn operand<'s>(operand_: &'s Operand, names: &mut BTreeSet<&'s str>) {
        match operand_ {
            Operand::Name(name)
            | Operand::Address { base: Some(name), .. }
            | Operand::Symbol { name, .. }
            | Operand::Element { name, .. } => {
                names.insert(&name.text);
            }
            Operand::Vector(all, _) | Operand::Coordinates(all, _) | Operand::List(all, _) => {
                all.iter().for_each(|o| operand(o, names))
            }
            _ => {}
        }
    }
    for statement in statements {
        match statement {
            Statement::Instruction(inst) => inst.operands.iter().for_each(|o| operand(o, names)),
            Statement::Block(inner, _) => names_of(inner, names),
            _ => {}
        }
    }
}
