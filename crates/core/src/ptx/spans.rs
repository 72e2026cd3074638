//! Visitor of all spans of a syntax tree, for comparing trees and for tests.

use super::tree::*;
use crate::diag::Span;

/// Returns true if two modules are equal except for spans.
///
/// `m` and `parse(print(m))` are.
pub fn same(a: &Module, b: &Module) -> bool {
    let (mut a, mut b) = (a.clone(), b.clone());
    strip_spans(&mut a);
    strip_spans(&mut b);
    a == b
}

/// Sets every span of the module to `0..0`, so that `==` ignores spans.
pub fn strip_spans(module: &mut Module) {
    each_span(module, &mut |span| *span = Span::default());
}

/// Visits every span of the module, mutably.
pub fn each_span(module: &mut Module, f: &mut dyn FnMut(&mut Span)) {
    for name in module.target.iter_mut().chain(&mut module.directives).chain(&mut module.sections) {
        f(&mut name.span);
    }
    for item in &mut module.items {
        match item {
            Item::Function(function) => each_in_function(function, f),
            Item::Variable(variable) => each_in_variable(variable, f),
            Item::Alias(Alias { name, target, span }) => {
                [&mut name.span, &mut target.span, span].into_iter().for_each(&mut *f)
            }
        }
    }
}

fn each_in_function(function: &mut Function, f: &mut dyn FnMut(&mut Span)) {
    let Function { kind: _, linkage, name, returns, params, performance, body, span } = function;
    f(span);
    f(&mut name.span);
    linkage.iter_mut().for_each(|n| f(&mut n.span));
    performance.iter_mut().for_each(|(n, _)| f(&mut n.span));
    returns.iter_mut().chain(params).for_each(|v| each_in_variable(v, f));
    if let Some(body) = body {
        each_in_statements(body, f);
    }
}

fn each_in_variable(variable: &mut Variable, f: &mut dyn FnMut(&mut Span)) {
    let Variable { space, linkage, align: _, vector: _, ty, name, dims: _, init, pointer, span } =
        variable;
    for span in [span, &mut space.span, &mut ty.span, &mut name.span] {
        f(span);
    }
    linkage.iter_mut().for_each(|n| f(&mut n.span));
    if let Some(init) = init {
        each_in_init(init, f);
    }
    if let Some(PointerAttributes { space: Some(space), align: _ }) = pointer {
        f(&mut space.span);
    }
}

fn each_in_init(init: &mut Init, f: &mut dyn FnMut(&mut Span)) {
    match init {
        Init::Value(operand) | Init::Generic(operand) => each_in_operand(operand, f),
        Init::List(list) => list.iter_mut().for_each(|i| each_in_init(i, f)),
    }
}

fn each_in_statements(statements: &mut [Statement], f: &mut dyn FnMut(&mut Span)) {
    for statement in statements {
        match statement {
            Statement::Label(name) => f(&mut name.span),
            Statement::Instruction(Instruction { guard, mnemonic, operands, span }) => {
                f(span);
                f(&mut mnemonic.span);
                if let Some(guard) = guard {
                    f(&mut guard.predicate.span);
                }
                operands.iter_mut().for_each(|o| each_in_operand(o, f));
            }
            Statement::Registers(Registers { vector: _, ty, names, span }) => {
                f(span);
                f(&mut ty.span);
                names.iter_mut().for_each(|(n, _)| f(&mut n.span));
            }
            Statement::Variable(variable) => each_in_variable(variable, f),
            Statement::Block(inner, span) => {
                f(span);
                each_in_statements(inner, f);
            }
            Statement::Loc { span, .. } | Statement::Pragma(_, span) => f(span),
            Statement::Targets(Targets { label, kind: _, names, span }) => {
                f(span);
                f(&mut label.span);
                names.iter_mut().for_each(|n| f(&mut n.span));
            }
            Statement::Prototype(Prototype { label, returns, params, performance, span }) => {
                f(span);
                f(&mut label.span);
                performance.iter_mut().for_each(|(n, _)| f(&mut n.span));
                returns.iter_mut().chain(params).for_each(|v| each_in_variable(v, f));
            }
        }
    }
}

fn each_in_operand(operand: &mut Operand, f: &mut dyn FnMut(&mut Span)) {
    match operand {
        Operand::Name(name) => f(&mut name.span),
        Operand::Int { span, .. } | Operand::Double { span, .. } | Operand::Single { span, .. } => {
            f(span)
        }
        Operand::Address { base, offset: _, span } => {
            f(span);
            if let Some(base) = base {
                f(&mut base.span);
            }
        }
        Operand::Symbol { name, offset: _, span }
        | Operand::Element { name, index: _, span }
        | Operand::Not(name, span) => {
            f(span);
            f(&mut name.span);
        }
        Operand::Vector(list, span)
        | Operand::Coordinates(list, span)
        | Operand::List(list, span) => {
            f(span);
            list.iter_mut().for_each(|o| each_in_operand(o, f));
        }
        Operand::Pair(p, q, span) => {
            for span in [span, &mut p.span, &mut q.span] {
                f(span);
            }
        }
    }
}
