//! Expressions bound to their names: constants folded, buffers resolved, ready for many
//! evaluations.
//!
//! Numbers become elements of a buffer, modulo its width, only when stored or compared.

use super::Buffer;
use super::arithmetic::{Function, binary, call, flag, truth, unary};
use super::element::{Value, bits, decode};
use super::expression::{Binary, Expr, Unary};
use super::reference::{Reduction, Region};
use super::window::Windows;
use crate::diag::{Diagnostic, Span, closest};
use crate::isa::Type;
use crate::ptx::tree::Name;

/// Device memory as directives see it: the words of each buffer of a launch.
pub trait MemoryView {
    /// Returns the 32-bit word `word` of a buffer.
    /// `buffer` is an index in [`super::Launch::buffers`].
    fn word(&self, buffer: usize, word: u64) -> u32;

    /// Returns all words of a buffer if they are contiguous.
    /// This makes sums over large buffers faster.
    fn words(&self, buffer: usize) -> Option<&[u32]> {
        let _ = buffer;
        None
    }
}

/// Memory before the run: the initial contents of the buffers.
pub(super) struct Initial<'a>(pub(super) &'a [Buffer]);

impl MemoryView for Initial<'_> {
    fn word(&self, buffer: usize, word: u64) -> u32 {
        let buffer = self.0.get(buffer);
        usize::try_from(word).ok().and_then(|w| buffer?.words.get(w).copied()).unwrap_or(0)
    }

    fn words(&self, buffer: usize) -> Option<&[u32]> {
        self.0.get(buffer).map(|b| &b.words[..])
    }
}

/// Time at which an expression reads memory.
/// The side also decides the meaning of a bare buffer name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    /// Before the run: contents are known and fold into constants.
    Before,
    /// After the run: contents are read later.
    After,
    /// As `Before`, and a buffer's name is its address.
    Address,
}

/// The names that an expression can use.
#[derive(Clone, Copy)]
pub(super) struct Scope<'a> {
    pub(super) constants: &'a [(String, i64)],
    pub(super) buffers: &'a [Buffer],
    pub(super) variable: Option<&'a str>,
    pub(super) side: Side,
}

/// A bound expression.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Term {
    Value(Value),
    /// The index of a `for`.
    Index,
    /// One element of a buffer.
    Element {
        region: Region,
        index: Box<Term>,
        span: Span,
    },
    /// One number made from many elements.
    Reduce(Reduction, Region),
    /// The same, of a slice of `whole` whose bounds depend on the index.
    Window {
        reduction: Reduction,
        name: Name,
        whole: Region,
        ends: Box<[Term; 2]>,
        span: Span,
    },
    Unary(Unary, Box<Term>, Span),
    Binary(Binary, Box<Term>, Box<Term>, Span),
    Choice(Box<[Term; 3]>, Span),
    Function(Function, Vec<Term>, Span),
}

const FUNCTIONS: &[&str] = &[
    "min",
    "max",
    "ceil_div",
    "abs",
    "popcount",
    "sqrt",
    "exp",
    "log",
    "pow",
    "sum",
    "recursive_sum",
    "hash",
];

impl Term {
    /// Returns the element type that the term reads, in which it is compared.
    /// `None` for plain numbers.
    pub(super) fn element(&self) -> Option<Type> {
        match self {
            Term::Element { region, .. }
            | Term::Reduce(_, region)
            | Term::Window { whole: region, .. }
                if !self.is_hash() =>
            {
                Some(region.element)
            }
            _ => None,
        }
    }

    /// Returns true for a hash, which is 64 bits of any element type.
    fn is_hash(&self) -> bool {
        matches!(
            self,
            Term::Reduce(Reduction::Hash, _) | Term::Window { reduction: Reduction::Hash, .. }
        )
    }

    fn value(&self) -> Option<Value> {
        if let Term::Value(value) = self { Some(*value) } else { None }
    }
}

/// Binds and evaluates an expression without an index or memory after the run.
pub(super) fn value(expr: &Expr, scope: &Scope<'_>) -> Result<Value, Diagnostic> {
    let term = bind(expr, &Scope { variable: None, ..*scope })?;
    eval(&term, &Initial(scope.buffers), 0)
}

/// As [`value`], for an integer.
pub(super) fn integer(expr: &Expr, scope: &Scope<'_>) -> Result<i128, Diagnostic> {
    match value(expr, scope)? {
        Value::Int(v) => Ok(v),
        Value::Float(_) => Err(Diagnostic::error(
            "type-mismatch",
            expr.span(),
            "expected an integer, found a floating-point value",
        )),
    }
}

/// Resolves the names of an expression and folds known parts.
pub(super) fn bind(expr: &Expr, scope: &Scope<'_>) -> Result<Term, Diagnostic> {
    let sub = |expr: &Expr| bind(expr, scope);
    let term = match expr {
        Expr::Int(v, _) => Term::Value(Value::Int(i128::from(*v))),
        Expr::Float(v, _) => Term::Value(Value::Float(*v)),
        Expr::Name(name) => return bind_name(name, scope),
        Expr::Unary(operator, operand, span) => {
            Term::Unary(*operator, Box::new(sub(operand)?), *span)
        }
        Expr::Binary(operator, left, right, span) => {
            let left = sub(left)?;
            // The right side of a decided `&&` or `||` is skipped: it may be invalid then.
            match (operator, left.value().map(truth)) {
                (Binary::And, Some(false)) => return Ok(Term::Value(Value::Int(0))),
                (Binary::Or, Some(true)) => return Ok(Term::Value(Value::Int(1))),
                _ => Term::Binary(*operator, Box::new(left), Box::new(sub(right)?), *span),
            }
        }
        Expr::Choice(parts, span) => {
            let [condition, yes, no] = &**parts;
            let condition = sub(condition)?;
            match condition.value().map(truth) {
                Some(true) => return sub(yes),
                Some(false) => return sub(no),
                None => Term::Choice(Box::new([condition, sub(yes)?, sub(no)?]), *span),
            }
        }
        Expr::Call(name, arguments, span) => return bind_call(name, arguments, *span, scope),
        Expr::Index(name, index, span) => {
            let region = find_buffer(name, scope)?;
            let index = sub(index)?;
            let known = index.value().is_some();
            let term = Term::Element { region, index: Box::new(index), span: *span };
            return if known && scope.side != Side::After { fold(term, scope) } else { Ok(term) };
        }
        Expr::Slice(_, _, span) => {
            return Err(Diagnostic::error(
                "type-mismatch",
                *span,
                "expected one value, found a slice",
            )
            .help("reduce it, as in `sum(buffer[0..4])`"));
        }
    };
    let known = match &term {
        Term::Unary(_, operand, _) => operand.value().is_some(),
        Term::Binary(_, left, right, _) => left.value().is_some() && right.value().is_some(),
        _ => false,
    };
    if known { fold(term, scope) } else { Ok(term) }
}

fn fold(term: Term, scope: &Scope<'_>) -> Result<Term, Diagnostic> {
    eval(&term, &Initial(scope.buffers), 0).map(Term::Value)
}

fn bind_name(name: &Name, scope: &Scope<'_>) -> Result<Term, Diagnostic> {
    if scope.variable == Some(name.text.as_str()) {
        return Ok(Term::Index);
    }
    if let Some((_, value)) = scope.constants.iter().find(|(n, _)| *n == name.text) {
        return Ok(Term::Value(Value::Int(i128::from(*value))));
    }
    match scope.buffers.iter().find(|b| b.name == name.text) {
        Some(buffer) if scope.side == Side::Address => {
            Ok(Term::Value(Value::Int(i128::from(buffer.address))))
        }
        Some(_) => {
            let message = format!("expected one value, found the buffer `{}`", name.text);
            Err(Diagnostic::error("type-mismatch", name.span, message).help(format!(
                "write `{0}[i]` and `for i` after the formula, or `sum({0})`, `min({0})`, \
                     `max({0})`",
                name.text
            )))
        }
        None => Err(unknown(name, scope)),
    }
}

fn bind_call(
    name: &Name,
    arguments: &[Expr],
    span: Span,
    scope: &Scope<'_>,
) -> Result<Term, Diagnostic> {
    let reduction = Reduction::named(&name.text).filter(|_| arguments.len() == 1);
    if let (Some(reduction), [argument]) = (reduction, arguments) {
        if let Some(window) = bind_window(reduction, argument, scope)? {
            return Ok(window);
        }
        let Some(region) = region(argument, scope)? else {
            let message =
                format!("expected a buffer or slice as the only argument of `{}`", name.text);
            return Err(Diagnostic::error("type-mismatch", argument.span(), message));
        };
        let term = Term::Reduce(reduction, region);
        return if scope.side == Side::After { Ok(term) } else { fold(term, scope) };
    }
    let (function, takes) = match name.text.as_str() {
        "min" => (Function::Min, None),
        "max" => (Function::Max, None),
        "ceil_div" => (Function::CeilDiv, Some(2)),
        "abs" => (Function::Abs, Some(1)),
        "popcount" => (Function::Popcount, Some(1)),
        "sqrt" => (Function::Sqrt, Some(1)),
        "exp" => (Function::Exp, Some(1)),
        "log" => (Function::Log, Some(1)),
        "pow" => (Function::Pow, Some(2)),
        "sum" | "recursive_sum" | "hash" => return Err(wrong_count(name, 1, arguments.len())),
        "fill" | "iota" | "lcg" | "random" | "file" | "result" | "block_sum" => {
            let message = format!("expected one value, found the sequence `{}(..)`", name.text);
            return Err(Diagnostic::error("type-mismatch", span, message));
        }
        _ => {
            let error = Diagnostic::error(
                "unknown-name",
                name.span,
                format!("unknown function `{}`", name.text),
            );
            return Err(match closest(&name.text, FUNCTIONS.iter().copied()) {
                Some(near) => error.help(format!("did you mean `{near}`?")),
                None => error.help(format!("use one of `{}`", FUNCTIONS.join("`, `"))),
            });
        }
    };
    if takes.map_or(arguments.is_empty(), |takes| takes != arguments.len()) {
        return Err(wrong_count(name, takes.unwrap_or(2), arguments.len()));
    }
    let terms = arguments.iter().map(|a| bind(a, scope)).collect::<Result<Vec<_>, _>>()?;
    let known = terms.iter().all(|t| t.value().is_some());
    let term = Term::Function(function, terms, span);
    if known { fold(term, scope) } else { Ok(term) }
}

/// Binds the reduction of a slice if one of its bounds depends on the index.
fn bind_window(
    reduction: Reduction,
    argument: &Expr,
    scope: &Scope<'_>,
) -> Result<Option<Term>, Diagnostic> {
    let Expr::Slice(name, ends, span) = argument else { return Ok(None) };
    if scope.variable.is_none() {
        return Ok(None);
    }
    let whole = find_buffer(name, scope)?;
    let [low, high] = &**ends;
    let ends = [bind(low, scope)?, bind(high, scope)?];
    if ends.iter().all(|end| end.value().is_some()) {
        return Ok(None);
    }
    Ok(Some(Term::Window {
        reduction,
        name: name.clone(),
        whole,
        ends: Box::new(ends),
        span: *span,
    }))
}

fn wrong_count(name: &Name, takes: usize, found: usize) -> Diagnostic {
    let message = format!(
        "expected {takes} argument{} to `{}`, found {found}",
        if takes == 1 { "" } else { "s" },
        name.text
    );
    Diagnostic::error("directive-syntax", name.span, message)
}

/// Returns the elements of a buffer or slice; `None` for other expressions.
pub(super) fn region(expr: &Expr, scope: &Scope<'_>) -> Result<Option<Region>, Diagnostic> {
    match expr {
        Expr::Name(name) if scope.buffers.iter().any(|b| b.name == name.text) => {
            find_buffer(name, scope).map(Some)
        }
        Expr::Slice(name, ends, span) => {
            let whole = find_buffer(name, scope)?;
            let before = Scope { side: Side::Before, ..*scope };
            part(name, &whole, [value(&ends[0], &before)?, value(&ends[1], &before)?], *span)
                .map(Some)
        }
        _ => Ok(None),
    }
}

/// Returns the elements `low..high` of a whole buffer.
fn part(name: &Name, whole: &Region, ends: [Value; 2], span: Span) -> Result<Region, Diagnostic> {
    let [Value::Int(low), Value::Int(high)] = ends else {
        return Err(Diagnostic::error(
            "type-mismatch",
            span,
            "expected integer slice bounds, found a floating-point value",
        ));
    };
    if low < 0 || low > high || high > i128::from(whole.count) {
        let message = format!(
            "slice {low}..{high} is out of bounds: `{}` has elements 0..{}",
            name.text, whole.count
        );
        return Err(Diagnostic::error("out-of-range", span, message));
    }
    // Both bounds lie in 0..=count, which is a u64.
    Ok(Region { first: low as u64, count: (high - low) as u64, ..*whole })
}

fn find_buffer(name: &Name, scope: &Scope<'_>) -> Result<Region, Diagnostic> {
    let Some(index) = scope.buffers.iter().position(|b| b.name == name.text) else {
        return Err(unknown(name, scope));
    };
    let Buffer { element, bytes, .. } = scope.buffers[index];
    Ok(Region {
        buffer: index,
        element,
        first: 0,
        count: bytes / u64::from(element.bytes().max(1)),
    })
}

fn unknown(name: &Name, scope: &Scope<'_>) -> Diagnostic {
    let known = scope
        .constants
        .iter()
        .map(|(n, _)| n.as_str())
        .chain(scope.buffers.iter().map(|b| b.name.as_str()));
    let known: Vec<&str> = known.chain(scope.variable).collect();
    let error =
        Diagnostic::error("unknown-name", name.span, format!("unknown name `{}`", name.text));
    match closest(&name.text, known.iter().copied()) {
        Some(near) => error.help(format!("did you mean `{near}`?")),
        None if known.is_empty() => {
            error.help("define it on an earlier line: `const NAME = VALUE`")
        }
        None => error.help(format!("use a name defined above: `{}`", known.join("`, `"))),
    }
}

/// Evaluates a bound expression; `index` is the value of its `for` index.
pub(super) fn eval(term: &Term, memory: &dyn MemoryView, index: i128) -> Result<Value, Diagnostic> {
    eval_next(term, memory, index, &mut Windows::default())
}

/// As [`eval`], for one index after another; `windows` keeps results between calls.
pub(super) fn eval_next(
    term: &Term,
    memory: &dyn MemoryView,
    index: i128,
    windows: &mut Windows,
) -> Result<Value, Diagnostic> {
    let mut sub = |term: &Term| eval_next(term, memory, index, windows);
    match term {
        Term::Value(value) => Ok(*value),
        Term::Index => Ok(Value::Int(index)),
        Term::Element { region, index, span } => {
            let at = element_index(&sub(index)?, region, *span)?;
            let Region { buffer, element, .. } = *region;
            Ok(decode(bits(&|w| memory.word(buffer, w), element, at), element))
        }
        Term::Reduce(reduction, region) => Ok(reduction.apply(region, memory)),
        Term::Window { reduction, name, whole, ends, span } => {
            let region = part(name, whole, [sub(&ends[0])?, sub(&ends[1])?], *span)?;
            windows.reduce(*reduction, region, *span, memory)
        }
        Term::Unary(operator, operand, span) => unary(*operator, sub(operand)?, *span),
        Term::Binary(Binary::And, left, right, _) => {
            Ok(flag(truth(sub(left)?) && truth(sub(right)?)))
        }
        Term::Binary(Binary::Or, left, right, _) => {
            Ok(flag(truth(sub(left)?) || truth(sub(right)?)))
        }
        Term::Binary(operator, left, right, span) => {
            binary(*operator, sub(left)?, sub(right)?, *span)
        }
        Term::Choice(parts, _) => {
            let [condition, yes, no] = &**parts;
            if truth(sub(condition)?) { sub(yes) } else { sub(no) }
        }
        Term::Function(function, terms, span) => {
            let values = terms.iter().map(&mut sub).collect::<Result<Vec<_>, _>>()?;
            call(*function, &values, *span)
        }
    }
}

/// Replaces every reduction by its value in `memory`.
/// Evaluating the term for many indices then does not repeat the reduction.
pub(super) fn settled(term: &Term, memory: &dyn MemoryView) -> Term {
    let sub = |term: &Term| Box::new(settled(term, memory));
    match term {
        Term::Value(_) | Term::Index => term.clone(),
        Term::Reduce(reduction, region) => Term::Value(reduction.apply(region, memory)),
        Term::Element { region, index, span } => {
            Term::Element { region: *region, index: sub(index), span: *span }
        }
        Term::Window { reduction, name, whole, ends, span } => Term::Window {
            reduction: *reduction,
            name: name.clone(),
            whole: *whole,
            ends: Box::new(ends.each_ref().map(|end| settled(end, memory))),
            span: *span,
        },
        Term::Unary(operator, operand, span) => Term::Unary(*operator, sub(operand), *span),
        Term::Binary(operator, left, right, span) => {
            Term::Binary(*operator, sub(left), sub(right), *span)
        }
        Term::Choice(parts, span) => {
            Term::Choice(Box::new(parts.each_ref().map(|part| settled(part, memory))), *span)
        }
        Term::Function(function, terms, span) => Term::Function(
            *function,
            terms.iter().map(|term| settled(term, memory)).collect(),
            *span,
        ),
    }
}

/// Returns the element that an index value names, checked against the buffer.
pub(super) fn element_index(index: &Value, region: &Region, span: Span) -> Result<u64, Diagnostic> {
    match index {
        Value::Int(v) => match u64::try_from(*v) {
            Ok(at) if at < region.count => Ok(at),
            _ => {
                let message = format!(
                    "index {v} is out of bounds: the buffer has elements 0..{}",
                    region.count
                );
                Err(Diagnostic::error("out-of-range", span, message))
            }
        },
        Value::Float(_) => Err(Diagnostic::error(
            "type-mismatch",
            span,
            "expected an integer index, found a floating-point value",
        )),
    }
}
