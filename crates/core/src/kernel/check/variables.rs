//! Variables: sizes, addresses and initial bytes.
//!
//! `.global` and `.const` variables of a module have absolute addresses from `kernel::layout`. Each
//! kernel lays out its `.shared` and `.local` variables. Variables of a space are in the order of
//! their declarations, at their natural or requested alignment, or that of `VARIABLE_ALIGN`.

use super::functions::Functions;
use super::literals::literal;
use crate::diag::{Diagnostic, Span};
use crate::isa::{Space, Type};
use crate::kernel::StaticVariable;
use crate::kernel::layout::{Bases, VARIABLE_ALIGN};
use crate::ptx::tree::{Init, Item, Module, Operand, Variable};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Maximum size of `.global` variables, in bytes.
///
/// Larger data belongs in a buffer of the launch.
const MAX_GLOBAL_BYTES: u64 = 1 << 28;
/// Maximum size of `.const` variables outside of named banks, in bytes (PTX ISA).
const MAX_CONST_BYTES: u64 = 64 << 10;

/// Address and size of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Symbol {
    /// State space.
    pub(super) space: Space,
    /// Address in that space: absolute for global and const, else an offset.
    pub(super) address: u64,
    /// Size in bytes.
    pub(super) bytes: u64,
    /// Bytes of an element.
    pub(super) element: u64,
    /// True for a `.param` variable in a frame (not for a kernel parameter).
    pub(super) slot: bool,
    /// Span of the declared name.
    pub(super) span: Span,
}

/// Element type, size and alignment of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    /// Element type.
    pub(super) ty: Type,
    /// Bytes of an element.
    pub(super) element: u64,
    /// Total size in bytes.
    pub(super) bytes: u64,
    /// Alignment in bytes.
    pub(super) align: u64,
}

/// Returns true for the opaque types of references to textures and surfaces.
///
/// A reference holds an object; the driver or a directive binds it.
fn is_reference(ty: &str) -> bool {
    matches!(ty, "texref" | "surfref" | "samplerref")
}

/// Returns the shape of a variable of at most `limit` bytes.
pub(super) fn shape(variable: &Variable, limit: u64) -> Result<Shape, Diagnostic> {
    let name = &variable.name.text;
    let ty = if is_reference(&variable.ty.text) {
        Some(Type::B64)
    } else {
        Type::from_name(&variable.ty.text)
    };
    let ty = ty.filter(|&ty| ty != Type::Pred).ok_or_else(|| {
        let message = format!("invalid variable type `.{}`", variable.ty.text);
        Diagnostic::error("unknown-type", variable.ty.span, message)
    })?;
    let element = u64::from(ty.bytes()) * u64::from(variable.vector.max(1));
    let mut dims = variable.dims.iter().map(|dim| match (dim, &variable.init) {
        (Some(n), _) => *n,
        (None, Some(Init::List(list))) => list.len() as u64,
        (None, _) => 0,
    });
    let bytes = dims.try_fold(element, u64::checked_mul);
    let bytes = bytes.filter(|&bytes| bytes <= limit).ok_or_else(|| {
        let message = format!("`{name}` is too large: limit {limit} bytes");
        Diagnostic::error("variable-size", variable.span, message)
    })?;
    let align = variable.align.map_or(element, u64::from);
    if !align.is_power_of_two() || align > 1 << 20 {
        let limit = 1 << 20;
        let message = format!("alignment {align} of `{name}` is not a power of two up to {limit}");
        return Err(Diagnostic::error("alignment", variable.span, message));
    }
    Ok(Shape { ty, element, bytes, align })
}

/// Allocates a variable at the next aligned address from `end`, and advances `end`.
pub(super) fn place(end: &mut u64, shape: Shape) -> u64 {
    let address = end.next_multiple_of(shape.align);
    *end = address.saturating_add(shape.bytes);
    address
}

/// Variables of a module.
#[derive(Default)]
pub(super) struct Statics<'a> {
    /// `.global` and `.const` variables by name.
    pub(super) symbols: BTreeMap<&'a str, Symbol>,
    /// The same variables with their initial bytes.
    pub(super) variables: Arc<Vec<StaticVariable>>,
    /// `.shared` variables; each kernel that uses one lays it out.
    pub(super) shared: Vec<&'a Variable>,
    /// Addresses of device functions.
    functions: BTreeMap<&'a str, u64>,
}

impl<'a> Statics<'a> {
    /// Lays out the variables of a module.
    pub(super) fn new(
        module: &'a Module,
        functions: &Functions<'a>,
        bases: Bases,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Statics<'a> {
        let mut statics = Statics {
            functions: functions
                .list
                .iter()
                .map(|f| (f.function.name.text.as_str(), f.address))
                .collect(),
            ..Statics::default()
        };
        let mut placed = Vec::new();
        let (mut global, mut constant) = (bases.global, bases.constant);
        let mut seen = BTreeMap::new();
        for item in &module.items {
            let Item::Variable(variable) = item else { continue };
            if let Some(earlier) = seen.insert(variable.name.text.as_str(), variable.name.span) {
                let message = format!("`{}` is declared twice", variable.name.text);
                let error = Diagnostic::error("duplicate-variable", variable.name.span, message);
                diagnostics.push(error.also(earlier, "first declared here"));
                continue;
            }
            let (space, end, limit) = match variable.space.text.as_str() {
                "shared" => {
                    statics.shared.push(variable);
                    continue;
                }
                "global" => (Space::Global, &mut global, MAX_GLOBAL_BYTES),
                "const" => (Space::Const, &mut constant, MAX_CONST_BYTES),
                other => {
                    let message = format!("`.{other}` variable at the top level");
                    let error = Diagnostic::error("variable-space", variable.space.span, message);
                    diagnostics.push(error.help("use `.global`, `.const` or `.shared`"));
                    continue;
                }
            };
            if variable.linkage.iter().any(|word| word.text == "extern") {
                let message = format!("`{}` is only declared, not defined", variable.name.text);
                let error = Diagnostic::error("extern-variable", variable.span, message);
                diagnostics.push(error.help("define it in this file, without `.extern`"));
                continue;
            }
            let base = if space == Space::Global { bases.global } else { bases.constant };
            match shape(variable, limit.saturating_sub(*end - base)) {
                Ok(mut shape) => {
                    if space == Space::Global {
                        shape.align = shape.align.max(VARIABLE_ALIGN);
                    }
                    let address = place(end, shape);
                    let symbol = Symbol {
                        space,
                        address,
                        bytes: shape.bytes,
                        element: shape.element,
                        slot: false,
                        span: variable.name.span,
                    };
                    statics.symbols.insert(&variable.name.text, symbol);
                    placed.push((variable, shape, symbol));
                }
                Err(error) => diagnostics.push(error),
            }
        }
        for (variable, shape, symbol) in placed {
            let bytes = statics.initial_bytes(variable, shape, diagnostics);
            let name = variable.name.text.clone();
            Arc::make_mut(&mut statics.variables).push(StaticVariable {
                name,
                space: symbol.space,
                address: symbol.address,
                bytes,
            });
        }
        statics
    }

    fn initial_bytes(
        &self,
        variable: &Variable,
        shape: Shape,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Vec<u8> {
        let mut bytes = vec![0; usize::try_from(shape.bytes).unwrap_or(0)];
        if let Some(init) = variable.init.as_ref().filter(|_| !is_reference(&variable.ty.text)) {
            let inner: Vec<u64> = variable.dims.iter().skip(1).map(|d| d.unwrap_or(0)).collect();
            self.fill(init, &inner, shape.ty, 0, variable, &mut bytes, diagnostics);
        }
        bytes
    }

    /// Writes an initialiser at element `at`.
    ///
    /// `inner` holds the dimensions inside these braces.
    #[expect(
        clippy::too_many_arguments,
        reason = "a recursion over nested braces; a struct would name the same seven things"
    )]
    fn fill(
        &self,
        init: &Init,
        inner: &[u64],
        ty: Type,
        at: u64,
        variable: &Variable,
        bytes: &mut [u8],
        diagnostics: &mut Vec<Diagnostic>,
    ) {
        match init {
            Init::List(list) => {
                let nested = list.iter().any(|i| matches!(i, Init::List(_)));
                let stride = if nested {
                    inner.iter().fold(1, |n: u64, d| n.saturating_mul(*d)).max(1)
                } else {
                    1
                };
                let rest = inner.get(1..).unwrap_or_default();
                for (i, element) in list.iter().enumerate() {
                    let at = at.saturating_add((i as u64).saturating_mul(stride));
                    self.fill(element, rest, ty, at, variable, bytes, diagnostics);
                }
            }
            // Global and constant addresses are generic addresses too.
            Init::Value(operand) | Init::Generic(operand) => {
                let value = match self.value(operand, ty) {
                    Ok(value) => value.to_le_bytes(),
                    Err(error) => return diagnostics.push(error),
                };
                let width = ty.bytes() as usize;
                let start = usize::try_from(at).ok().and_then(|at| at.checked_mul(width));
                let place = start.and_then(|start| bytes.get_mut(start..start.checked_add(width)?));
                match place {
                    Some(place) => place.copy_from_slice(&value[..width]),
                    None => {
                        let message = format!("too many values for `{}`", variable.name.text);
                        let error = Diagnostic::error("initialiser-size", operand.span(), message);
                        diagnostics
                            .push(error.also(variable.name.span, format!("{} bytes", bytes.len())));
                    }
                }
            }
        }
    }

    fn value(&self, operand: &Operand, ty: Type) -> Result<u64, Diagnostic> {
        if let Some(bits) = literal(operand, ty) {
            return bits;
        }
        let (name, offset) = match operand {
            Operand::Name(name) => (name, 0),
            Operand::Symbol { name, offset, .. } => (name, *offset),
            other => {
                let message = "expected number or variable";
                return Err(Diagnostic::error("initialiser", other.span(), message));
            }
        };
        let variable = self.symbols.get(name.text.as_str()).map(|symbol| symbol.address);
        let function = || self.functions.get(name.text.as_str()).copied();
        let address = variable.or_else(function).ok_or_else(|| {
            let message = format!("cannot find variable or function `{}`", name.text);
            Diagnostic::error("unknown-name", name.span, message)
        })?;
        if ty.bits() < 64 || ty.is_float() {
            let message = format!("expected `.{}`, found address", ty.name());
            let error = Diagnostic::error("literal-type", operand.span(), message);
            return Err(error.help("declare the variable as `.u64`"));
        }
        Ok(address.wrapping_add_signed(offset))
    }
}
