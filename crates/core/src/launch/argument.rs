//! Lays out arguments in the kernel's parameter block.

use super::element::{Value, fits};
use super::expression::Expr;
use super::fill::exact;
use super::plan::{ArgumentValue, Field, LaunchPlan, Plan, Target};
use super::resolve::Signature;
use super::tensor::NamedMap;
use super::term::{Scope, Side, value};
use crate::diag::{Diagnostic, Span, closest};
use crate::isa::Type;
use crate::kernel::Parameter;
use crate::kernel::layout::BUFFER_BASE;

impl Plan {
    /// Returns the bare names in arguments of any launch, which stand for buffer addresses.
    pub(super) fn named_by_arguments(&self) -> Vec<&str> {
        let mut names = Vec::new();
        for (_, argument) in self.launches.iter().flat_map(|launch| &launch.arguments) {
            argument.expressions().into_iter().for_each(|expr| expr.bare_names(&mut names));
        }
        names.extend(self.images.iter().map(|image| image.buffer.text.as_str()));
        names.extend(self.tensors.iter().map(|tensor| tensor.buffer.text.as_str()));
        names
    }
}

impl LaunchPlan {
    /// Builds the parameter block.
    pub(super) fn lay_out(
        &self,
        kernel: &Signature<'_>,
        maps: &[NamedMap],
        scope: &Scope<'_>,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Vec<u8> {
        let mut block = vec![0u8; kernel.param_bytes as usize];
        let mut given: Vec<Option<Span>> = vec![None; kernel.params.len()];
        let scope = Scope { side: Side::Address, ..*scope };
        for (target, argument) in &self.arguments {
            let index = match find_parameter(target, kernel) {
                Ok(index) => index,
                Err(diagnostic) => {
                    diagnostics.push(diagnostic);
                    continue;
                }
            };
            let parameter = &kernel.params[index];
            if let Some(first) = given[index].replace(target.span()) {
                let message = format!("duplicate argument for parameter `{}`", parameter.name);
                diagnostics.push(
                    Diagnostic::error("duplicate-argument", target.span(), message)
                        .also(first, "first given here"),
                );
                continue;
            }
            let bytes = match tensor_map(argument, maps) {
                Some((map, span)) => map_bytes(map, parameter, span),
                None => argument_bytes(argument, parameter, &scope),
            };
            match bytes {
                Ok(bytes) => {
                    let start = parameter.offset as usize;
                    if let Some(place) = block.get_mut(start..start.saturating_add(bytes.len())) {
                        place.copy_from_slice(&bytes);
                    }
                }
                Err(diagnostic) => {
                    diagnostics.push(
                        diagnostic.also(parameter.span, format!("parameter `{}`", parameter.name)),
                    );
                }
            }
        }
        let missing = kernel.params.iter().zip(&given).enumerate();
        for (position, (parameter, _)) in missing.filter(|(_, (_, given))| given.is_none()) {
            let name = short_name(position, parameter);
            let message = format!("missing argument for parameter `{name}`");
            diagnostics.push(
                Diagnostic::error("missing-argument", parameter.span, message)
                    .help(format!("add `//! arg {name} = ..`")),
            );
        }
        block
    }
}

/// Returns what to write for a parameter: its name, or its position if a compiler named it.
///
/// Such a name is the kernel's symbol and the position.
pub(super) fn short_name(position: usize, parameter: &Parameter) -> String {
    let number = position.to_string();
    let compiled = parameter.name.strip_suffix(&number).is_some_and(|n| n.ends_with("_param_"));
    if compiled { number } else { parameter.name.clone() }
}

fn find_parameter(target: &Target, kernel: &Signature<'_>) -> Result<usize, Diagnostic> {
    let found = match target {
        Target::Name(name) => kernel.params.iter().position(|p| p.name == name.text),
        Target::Position(position, _) => {
            usize::try_from(*position).ok().filter(|p| *p < kernel.params.len())
        }
    };
    found.ok_or_else(|| {
        let what = match target {
            Target::Name(name) => name.text.clone(),
            Target::Position(position, _) => position.to_string(),
        };
        let names: Vec<&str> = kernel.params.iter().map(|p| p.name.as_str()).collect();
        let message = format!("kernel `{}` has no parameter `{what}`", kernel.names.name);
        let diagnostic = Diagnostic::error("unknown-argument", target.span(), message);
        match closest(&what, names.iter().copied()) {
            Some(near) => diagnostic.help(format!("did you mean `{near}`?")),
            None if names.is_empty() => {
                diagnostic.help("remove this line: the kernel has no parameters")
            }
            None => diagnostic.help(format!("use one of `{}`", names.join("`, `"))),
        }
    })
}

/// Returns the tensor map that an argument names.
fn tensor_map<'a>(argument: &ArgumentValue, maps: &'a [NamedMap]) -> Option<(&'a [u8], Span)> {
    let ArgumentValue::Scalar(Expr::Name(name)) = argument else { return None };
    let (_, map) = maps.iter().find(|(known, _)| *known == name.text)?;
    Some((map, name.span))
}

/// Returns the bytes of a tensor map for a parameter, which must have as many.
fn map_bytes(map: &[u8], parameter: &Parameter, span: Span) -> Result<Vec<u8>, Diagnostic> {
    if parameter.bytes as usize == map.len() {
        return Ok(map.to_vec());
    }
    let message =
        format!("a tensor map has {} bytes, the parameter has {}", map.len(), parameter.bytes);
    Err(Diagnostic::error("wrong-length", span, message)
        .help("pass a tensor map by value: `const __grid_constant__ CUtensorMap map`"))
}

/// Returns the bytes of an argument, as many as its parameter has.
fn argument_bytes(
    argument: &ArgumentValue,
    parameter: &Parameter,
    scope: &Scope<'_>,
) -> Result<Vec<u8>, Diagnostic> {
    let size = parameter.ty.bytes().max(1);
    let elements = parameter.bytes / size;
    let (values, span): (&[Expr], Span) = match argument {
        ArgumentValue::Scalar(expr) => (std::slice::from_ref(expr), expr.span()),
        ArgumentValue::List(values, span) => (values, *span),
        ArgumentValue::Fields(fields, span) => return structure(fields, *span, parameter, scope),
    };
    if values.len() != elements as usize {
        let message = format!(
            "expected {elements} `{}` value{}, found {}",
            parameter.ty.name(),
            if elements == 1 { "" } else { "s" },
            values.len()
        );
        return Err(Diagnostic::error("wrong-length", span, message));
    }
    let mut bytes = Vec::with_capacity(parameter.bytes as usize);
    for expr in values {
        let bits = scalar(expr, parameter.ty, scope)?;
        bytes.extend(bits.to_le_bytes().into_iter().take(size as usize));
    }
    Ok(bytes)
}

/// Returns the bytes of a structure, which must have the parameter's size.
fn structure(
    fields: &[Field],
    span: Span,
    parameter: &Parameter,
    scope: &Scope<'_>,
) -> Result<Vec<u8>, Diagnostic> {
    let mut bytes = Vec::new();
    append(fields, &mut bytes, scope)?;
    if bytes.len() != parameter.bytes as usize {
        let message = format!(
            "expected a structure of {} bytes, found fields of {}",
            parameter.bytes,
            bytes.len()
        );
        return Err(Diagnostic::error("wrong-length", span, message)
            .help("give every field: each is aligned to its size, as in C++"));
    }
    Ok(bytes)
}

/// Appends fields as C++ lays them out, and the padding after them; returns their alignment.
fn append(fields: &[Field], bytes: &mut Vec<u8>, scope: &Scope<'_>) -> Result<usize, Diagnostic> {
    let mut most = 1;
    for field in fields {
        if let ArgumentValue::Fields(inner, _) = &field.value {
            let mut nested = Vec::new();
            let align = append(inner, &mut nested, scope)?;
            bytes.resize(bytes.len().next_multiple_of(align), 0);
            bytes.extend(nested);
            most = most.max(align);
            continue;
        }
        let size = field.element.bytes().max(1) as usize;
        bytes.resize(bytes.len().next_multiple_of(size), 0);
        for expr in field.value.expressions() {
            let bits = scalar(expr, field.element, scope).map_err(|error| {
                error.also(field.name.span, format!("field `{}`", field.name.text))
            })?;
            bytes.extend(bits.to_le_bytes().into_iter().take(size));
        }
        most = most.max(size);
    }
    bytes.resize(bytes.len().next_multiple_of(most), 0);
    Ok(most)
}

/// Returns the bits of a scalar argument.
/// An address that does not fit gets a help line of its own: it needs 64 bits.
fn scalar(expr: &Expr, ty: Type, scope: &Scope<'_>) -> Result<u64, Diagnostic> {
    if ty.half().is_some() {
        let message = format!("arguments of type `{}` are not supported", ty.name());
        return Err(Diagnostic::error("type-mismatch", expr.span(), message)
            .help("declare the parameter as .b16 or .b32"));
    }
    match exact(expr, ty, scope) {
        Err(diagnostic) if diagnostic.code == "out-of-range" => {
            let value = value(expr, scope)?;
            let address =
                matches!(value, Value::Int(v) if v >= i128::from(BUFFER_BASE)) && !fits(value, ty);
            Err(if address {
                diagnostic.help("declare the parameter as .u64: buffer addresses have 64 bits")
            } else {
                diagnostic
            })
        }
        other => other,
    }
}
