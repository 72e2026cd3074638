//! Expectations on a run, and their verdicts.
//!
//! The left side of a relation reads memory after the run, the right side memory before it. Right
//! sides are therefore computed when the launch is built, before an in-place kernel overwrites its
//! input, and only the results are kept.

use super::arithmetic::order;
use super::column::Values;
use super::element::{Packer, Value, bits, decode, encode, show, show_value};
use super::expression::Expr;
use super::fill::{Files, Place, exact, no_memory, with_index, words, wrapped};
use super::plan::{Claim, Each, ExpectationPlan, Relation, Sequence, SequenceKind, ValuesClaim};
use super::reference::Region;
use super::term::{
    Initial, MemoryView, Scope, Side, Term, bind, element_index, eval, integer, region, settled,
    value,
};
use super::{Buffer, Launch};
use crate::diag::{Diagnostic, Span};
use crate::isa::Type;

/// A condition on the result of a run.
#[derive(Clone, Debug)]
pub struct Expectation {
    /// Mode it is limited to (`pre-volta` or `volta`); `None` for every run.
    pub mode: Option<String>,
    /// The claim as written.
    pub text: String,
    /// Place of the claim in the source.
    pub span: Span,
    /// The claim, ready to be judged.
    pub(super) kind: Kind,
}

impl Expectation {
    /// Returns true if the expectation applies to runs in `mode`.
    pub fn applies(&self, mode: &str) -> bool {
        self.mode.as_deref().is_none_or(|m| m == mode)
    }

    /// Returns the allowed outcomes, if the expectation is about the outcome.
    /// Each is one of [`super::FINISHES`].
    pub fn finish(&self) -> Option<&[String]> {
        if let Kind::Finish(finishes) = &self.kind { Some(finishes) } else { None }
    }

    /// Returns the metric that the expectation is about, if any.
    pub fn metric(&self) -> Option<&str> {
        if let Kind::Metric { name, .. } = &self.kind { Some(name) } else { None }
    }
}

/// A claim, ready to be judged.
#[derive(Clone, Debug)]
pub(super) enum Kind {
    /// Allowed outcomes of the run.
    Finish(Vec<String>),
    /// A counter or ratio of the report.
    Metric { name: String, relation: Relation, value: f64 },
    /// Each element of a region against its own expected value.
    Region { region: Region, relation: Relation, expected: Expected, within: Option<f64> },
    /// The elements that `index` names for each trip `from..`. One expected value per trip.
    Each {
        region: Region,
        index: Term,
        from: i128,
        trips: u64,
        relation: Relation,
        expected: Expected,
        within: Option<f64>,
    },
    /// One number.
    One { left: Term, relation: Relation, value: Value, within: Option<f64> },
}

/// Expected elements, in the element type of the left side.
#[derive(Clone, Debug)]
pub(super) enum Expected {
    /// The same value for all elements.
    Same(u64),
    /// One value per element, packed as in a buffer.
    Packed(Vec<u32>),
}

impl Expected {
    fn bits(&self, ty: Type, index: u64) -> u64 {
        match self {
            Expected::Same(bits) => *bits,
            Expected::Packed(words) => {
                let word = |w| {
                    usize::try_from(w).ok().and_then(|w: usize| words.get(w).copied()).unwrap_or(0)
                };
                bits(&word, ty, index)
            }
        }
    }
}

/// The outcome of one expectation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// The claim as written.
    pub text: String,
    /// True if the claim holds.
    pub passed: bool,
    /// For a failed claim: the value found and the first difference. Otherwise empty.
    pub detail: String,
    /// Place of the claim; `None` for the implied claim that the run ends `ok`.
    pub span: Option<Span>,
}

/// Judges a run: one verdict for each expectation that applies in `mode`, in order.
///
/// `finish` is the outcome of the run, one of [`super::FINISHES`]. `metric` looks up a metric by
/// name; its error explains a missing value. Unless an expectation is about the outcome, the run
/// must end `ok`; otherwise a failed verdict comes first.
pub fn judge(
    launch: &Launch,
    memory: &dyn MemoryView,
    finish: &str,
    metric: &dyn Fn(&str) -> Result<f64, String>,
    mode: &str,
) -> Vec<Verdict> {
    let applying: Vec<&Expectation> =
        launch.expectations.iter().filter(|e| e.applies(mode)).collect();
    let mut verdicts = Vec::new();
    if finish != "ok" && !applying.iter().any(|e| e.finish().is_some()) {
        let detail = format!("the run ended in {finish}");
        verdicts.push(Verdict {
            text: "finish == ok (implied)".to_owned(),
            passed: false,
            detail,
            span: None,
        });
    }
    for expectation in applying {
        let failure = expectation.kind.failure(&launch.buffers, memory, finish, metric);
        verdicts.push(Verdict {
            text: expectation.text.clone(),
            passed: failure.is_none(),
            detail: failure.unwrap_or_default(),
            span: Some(expectation.span),
        });
    }
    verdicts
}

impl Kind {
    /// Returns the reason why the claim fails, or `None` if it holds.
    fn failure(
        &self,
        buffers: &[Buffer],
        memory: &dyn MemoryView,
        finish: &str,
        metric: &dyn Fn(&str) -> Result<f64, String>,
    ) -> Option<String> {
        match self {
            Kind::Finish(expected) if expected.iter().any(|e| e == finish) => None,
            Kind::Finish(expected) => {
                Some(format!("expected {}, found {finish}", expected.join(" or ")))
            }
            Kind::Metric { name, relation, value } => match metric(name) {
                Err(why) => Some(why),
                Ok(got) if relation.holds(got.partial_cmp(value)) => None,
                Ok(got) => Some(format!("expected {} {value}, found {got}", relation.sign())),
            },
            Kind::Region { region, relation, expected, within } => {
                let at = (0..region.count).map(|k| Ok(region.first + k));
                differences(buffers, memory, region, at, (*relation, expected, *within))
            }
            Kind::Each { region, index, from, trips, relation, expected, within } => {
                let index = settled(index, memory);
                let indices = Values::new(&index, memory, *from..from + i128::from(*trips));
                let at = indices.map(|index| element_index(&index?, region, Span::default()));
                differences(buffers, memory, region, at, (*relation, expected, *within))
            }
            Kind::One { left, relation, value, within } => {
                let got = match eval(left, memory, 0) {
                    Ok(got) => got,
                    Err(problem) => return Some(problem.message),
                };
                // A left side with an element type is compared in that type, so that both sides
                // wrap alike.
                let typed = |v: Value| {
                    left.element().and_then(|ty| Some(decode(encode(v, ty)?, ty))).unwrap_or(v)
                };
                let (got, value) = (typed(got), typed(*value));
                let fails = !holds(*relation, got, value, *within);
                fails.then(|| {
                    format!(
                        "expected {} {}, found {}",
                        relation.sign(),
                        show_value(value),
                        show_value(got)
                    )
                })
            }
        }
    }
}

/// Describes the first of the elements with the indices `at` that breaks the relation, and counts
/// the rest.
fn differences(
    buffers: &[Buffer],
    memory: &dyn MemoryView,
    region: &Region,
    at: impl Iterator<Item = Result<u64, Diagnostic>>,
    (relation, expected, within): (Relation, &Expected, Option<f64>),
) -> Option<String> {
    let ty = region.element;
    let mut first = None;
    let (mut count, mut failed) = (0, 0u64);
    for index in at {
        let k = count;
        count += 1;
        let index = match index {
            Ok(index) => index,
            Err(problem) => return Some(problem.message),
        };
        let got = bits(&|w| memory.word(region.buffer, w), ty, index);
        let expected = expected.bits(ty, k);
        let same = got == expected && relation == Relation::Equal;
        if !same && !holds(relation, decode(got, ty), decode(expected, ty), within) {
            failed += 1;
            first.get_or_insert((index, got, expected));
        }
    }
    first.map(|(index, got, expected)| {
        let name = buffers.get(region.buffer).map_or("", |b| b.name.as_str());
        let sign = if relation == Relation::Equal {
            String::new()
        } else {
            format!("{} ", relation.sign())
        };
        let more =
            if failed > 1 { format!(" ({failed} of {count} differ)") } else { String::new() };
        format!(
            "{name}[{index}]: expected {sign}{}, found {}{more}",
            show(expected, ty),
            show(got, ty)
        )
    })
}

/// Returns true if the relation holds within the tolerance.
/// The tolerance is relative to the expected value, absolute below 1.
fn holds(relation: Relation, got: Value, expected: Value, within: Option<f64>) -> bool {
    if let Some(tolerance) = within {
        let (got, expected) = (got.as_float(), expected.as_float());
        return got == expected || (got - expected).abs() <= tolerance * expected.abs().max(1.0);
    }
    relation.holds(order(got, expected))
}

/// Binds one expectation to the launch's buffers and computes its right side.
pub(super) fn bind_expectation(
    plan: &ExpectationPlan,
    scope: &Scope<'_>,
    files: Files<'_>,
) -> Result<Expectation, Diagnostic> {
    let kind = match &plan.claim {
        Claim::Finish(verdicts) => Kind::Finish(verdicts.iter().map(|v| v.text.clone()).collect()),
        Claim::Metric { name, relation, value: expected } => Kind::Metric {
            name: name.text.clone(),
            relation: *relation,
            value: value(expected, scope)?.as_float(),
        },
        Claim::Values(claim) => {
            let ValuesClaim { left, relation, right, within } = &**claim;
            let within = within.as_ref().map(|e| tolerance(e, *relation, scope)).transpose()?;
            match &right.kind {
                SequenceKind::Formula { value, each: Some(each) } if each.range.is_some() => {
                    bind_each(left, *relation, value, each, within, scope)?
                }
                _ => match region(left, scope)? {
                    Some(region) => {
                        let expected = bind_region(&region, right, scope, files)?;
                        Kind::Region { region, relation: *relation, expected, within }
                    }
                    None => bind_one(left, *relation, right, within, scope)?,
                },
            }
        }
    };
    Ok(Expectation { mode: plan.mode.clone(), text: plan.text.clone(), span: plan.span, kind })
}

fn tolerance(expr: &Expr, relation: Relation, scope: &Scope<'_>) -> Result<f64, Diagnostic> {
    let tolerance = value(expr, scope)?.as_float();
    if relation != Relation::Equal {
        return Err(Diagnostic::error(
            "type-mismatch",
            expr.span(),
            format!("expected `==` with `within`, found `{}`", relation.sign()),
        ));
    }
    if tolerance.is_nan() || tolerance < 0.0 {
        return Err(Diagnostic::error(
            "out-of-range",
            expr.span(),
            format!("expected a tolerance of at least 0, found {tolerance}"),
        ));
    }
    Ok(tolerance)
}

fn bind_region(
    region: &Region,
    right: &Sequence,
    scope: &Scope<'_>,
    files: Files<'_>,
) -> Result<Expected, Diagnostic> {
    match &right.kind {
        SequenceKind::Fill(value) => exact(value, region.element, scope).map(Expected::Same),
        SequenceKind::Formula { value, each: None }
            if super::term::region(value, scope)?.is_none() =>
        {
            exact(value, region.element, scope).map(Expected::Same)
        }
        _ => words(right, Place::of(region), scope, files).map(Expected::Packed),
    }
}

fn bind_one(
    left: &Expr,
    relation: Relation,
    right: &Sequence,
    within: Option<f64>,
    scope: &Scope<'_>,
) -> Result<Kind, Diagnostic> {
    let SequenceKind::Formula { value: expected, each: None } = &right.kind else {
        return Err(Diagnostic::error(
            "type-mismatch",
            right.span,
            "expected one value, found a sequence",
        )
        .also(left.span(), "compared with one value")
        .help("name a buffer or a slice on the left side"));
    };
    let left = after(left, scope)?;
    let value = value(expected, scope)?;
    if let Some(ty) = left.element() {
        wrapped(value, ty, expected.span())?;
    }
    Ok(Kind::One { left, relation, value, within })
}

/// Binds a left side. Evaluates it once on the initial memory to report bad indices early.
fn after(left: &Expr, scope: &Scope<'_>) -> Result<Term, Diagnostic> {
    let term = bind(left, &Scope { side: Side::After, ..*scope })?;
    if let Term::Element { region, index, span } = &term {
        element_index(&eval(index, &Initial(scope.buffers), 0)?, region, *span)?;
    }
    Ok(term)
}

fn bind_each(
    left: &Expr,
    relation: Relation,
    formula: &Expr,
    each: &Each,
    within: Option<f64>,
    scope: &Scope<'_>,
) -> Result<Kind, Diagnostic> {
    let Some((low, high)) = &each.range else { return Err(not_an_element(left)) };
    let (from, to) = (integer(low, scope)?, integer(high, scope)?);
    let inner = with_index(each, scope)?;
    let formula_term = bind(formula, &inner)?;
    let Term::Element { region, index, span } = bind(left, &Scope { side: Side::After, ..inner })?
    else {
        return Err(not_an_element(left));
    };
    let range_span = low.span().to(high.span());
    let trips =
        u64::try_from(to - from).ok().filter(|trips| *trips <= region.count).ok_or_else(|| {
            let message = format!(
                "range {from}..{to} is out of bounds: the buffer has elements 0..{}",
                region.count
            );
            Diagnostic::error("out-of-range", range_span, message)
        })?;
    let mut packer =
        Packer::with_room(trips, region.element).ok_or_else(|| no_memory(range_span))?;
    let initial = Initial(scope.buffers);
    let first = settled(&index, &initial);
    let indices = Values::new(&first, &initial, from..to);
    for (index, value) in indices.zip(Values::new(&formula_term, &initial, from..to)) {
        element_index(&index?, &region, span)?;
        packer.push(wrapped(value?, region.element, formula.span())?, region.element);
    }
    let expected = Expected::Packed(packer.finish());
    Ok(Kind::Each { region, index: *index, from, trips, relation, expected, within })
}

fn not_an_element(left: &Expr) -> Diagnostic {
    Diagnostic::error(
        "type-mismatch",
        left.span(),
        "expected one element on the left side of `for i in lo..hi`",
    )
    .help("write `buffer[i]`")
}
