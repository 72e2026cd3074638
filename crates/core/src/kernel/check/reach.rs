//! Assigns errors to the kernels that they affect.
//!
//! An error belongs to the top-level item that contains it: a function, a variable or an alias. A
//! kernel is refused for its own errors and for errors in the items it reaches: the functions it
//! may call, the variables used in this code, and the variables in their initialisers. An error
//! outside of all items, or one that may have moved the end of an item, affects the whole file.

use super::body::names_of;
use super::functions::Functions;
use crate::diag::{Diagnostic, Severity, Span};
use crate::ptx::tree::{Function, Init, Item, Module, Operand, Statement, Variable};
use std::collections::{BTreeMap, BTreeSet};

/// Codes of errors after which the ends of functions are unknown.
const UNBOUNDED: [&str; 6] = [
    "unclosed-brace",
    "unmatched-brace",
    "unclosed-comment",
    "unclosed-string",
    "nesting-too-deep",
    "too-many-errors",
];

/// Top-level items of a module, with their errors.
pub(super) struct Items<'a> {
    /// Span and name of each item, in source order.
    places: Vec<(Span, &'a str)>,
    variables: BTreeMap<&'a str, &'a Variable>,
    errors: BTreeMap<&'a str, Vec<Diagnostic>>,
    /// True if an error belongs to no item.
    pub(super) file_is_faulty: bool,
}

impl<'a> Items<'a> {
    /// Collects the items of a module.
    pub(super) fn new(module: &'a Module) -> Items<'a> {
        let place = |item: &'a Item| match item {
            Item::Function(function) => (function.span, function.name.text.as_str()),
            Item::Variable(variable) => (variable.span, variable.name.text.as_str()),
            Item::Alias(alias) => (alias.span, alias.name.text.as_str()),
        };
        let mut places: Vec<_> = module.items.iter().map(place).collect();
        places.sort();
        let variables = module.items.iter().filter_map(|item| match item {
            Item::Variable(variable) => Some((variable.name.text.as_str(), variable)),
            Item::Function(_) | Item::Alias(_) => None,
        });
        Items {
            places,
            variables: variables.collect(),
            errors: BTreeMap::new(),
            file_is_faulty: false,
        }
    }

    /// Returns the item that contains a span.
    fn holder(&self, place: Span) -> Option<&'a str> {
        let next = self.places.partition_point(|(span, _)| span.start <= place.start);
        let (span, name) = self.places.get(next.checked_sub(1)?)?;
        (place.end <= span.end).then_some(*name)
    }

    /// Assigns the errors among the findings to items.
    pub(super) fn blame(&mut self, findings: &[Diagnostic]) {
        for finding in findings {
            let error = finding.severity == Severity::Error && !UNBOUNDED.contains(&finding.code);
            let holder =
                finding.labels.first().and_then(|label| self.holder(label.span)).filter(|_| error);
            match holder {
                Some(name) => self.errors.entry(name).or_default().push(finding.clone()),
                None => self.file_is_faulty |= error || UNBOUNDED.contains(&finding.code),
            }
        }
    }

    /// Returns true if the item contains an error.
    pub(super) fn is_faulty(&self, name: &str) -> bool {
        self.errors.contains_key(name)
    }

    /// Returns the errors that prevent a kernel from running, in source order.
    pub(super) fn against(&self, kernel: &Function, functions: &Functions<'_>) -> Vec<Diagnostic> {
        if self.errors.is_empty() {
            return Vec::new();
        }
        let body = kernel.body.as_deref().unwrap_or_default();
        let called = functions.reachable(body).into_iter().map(|f| functions.list[f].function);
        let code: Vec<&Function> = std::iter::once(kernel).chain(called).collect();
        let mut names: BTreeSet<&str> =
            code.iter().map(|function| function.name.text.as_str()).collect();
        names
            .extend(self.variables_of(code.iter().filter_map(|function| function.body.as_deref())));
        let mut errors: Vec<Diagnostic> =
            names.into_iter().filter_map(|name| self.errors.get(name)).flatten().cloned().collect();
        errors.sort_by_key(|d| d.labels.first().map(|l| l.span));
        errors.dedup();
        errors
    }

    /// Returns the module variables in the statements and in their initialisers.
    fn variables_of<'s>(&self, bodies: impl Iterator<Item = &'s [Statement]>) -> BTreeSet<&'a str> {
        let mut names = BTreeSet::new();
        bodies.for_each(|statements| names_of(statements, &mut names));
        let mut open: Vec<&str> = names.into_iter().collect();
        let mut found = BTreeSet::new();
        while let Some(name) = open.pop() {
            if let Some((&name, variable)) = self.variables.get_key_value(name)
                && found.insert(name)
                && let Some(init) = &variable.init
            {
                names_in(init, &mut open);
            }
        }
        found
    }
}

/// Collects the names in an initialiser.
fn names_in<'s>(init: &'s Init, names: &mut Vec<&'s str>) {
    match init {
        Init::Value(Operand::Name(name) | Operand::Symbol { name, .. })
        | Init::Generic(Operand::Name(name) | Operand::Symbol { name, .. }) => {
            names.push(&name.text)
        }
        Init::Value(_) | Init::Generic(_) => {}
        Init::List(list) => list.iter().for_each(|init| names_in(init, names)),
    }
}
