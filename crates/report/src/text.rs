//! The text report for a terminal.
//!
//! ASCII, readable without colour, no line over the width. Each number has the name that NVIDIA's
//! profilers use, so that readers can look it up and compare it with a real GPU.

mod answer;
mod comparison;
mod evidence;
mod layout;
mod sections;
mod validation;

pub use answer::{answer, questions, table_of};
pub use comparison::comparison;
pub use evidence::evidence;
pub(super) use layout::clip;
pub use layout::wrap;
pub use validation::{profiled, validation};

use std::fmt::Write as _;

use thiserror::Error;

use super::metrics::{self, Value};
use super::run::Run;
use layout::Page;

/// Output style.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// Maximum columns of a line; at least 60 are used.
    pub width: usize,
    /// True to colour with ANSI codes.
    pub color: bool,
}

impl Default for Style {
    fn default() -> Style {
        Style { width: 100, color: false }
    }
}

/// Prints the report of a run.
pub fn text(run: &Run, style: Style) -> String {
    let mut page = Page::new(style);
    sections::title(&mut page, run);
    sections::result(&mut page, run);
    if !run.is_empty() {
        sections::time(&mut page, run);
        sections::instructions(&mut page, run);
        sections::divergence(&mut page, run);
        sections::branches(&mut page, run);
        sections::memory(&mut page, run);
        sections::stalls(&mut page, run);
        sections::slots(&mut page, run);
    }
    sections::further(&mut page, run);
    page.finish()
}

/// Prints how a run ended and why, as [`text`] does; empty for a run that finished.
pub fn ending(run: &Run, style: Style) -> String {
    let mut page = Page::new(style);
    sections::verdict(&mut page, run);
    page.finish()
}

/// Prints a table; columns are right-aligned except those in `left`.
pub fn table(header: &[&str], rows: Vec<Vec<String>>, left: &[usize], style: Style) -> String {
    let mut page = Page::new(style);
    page.table(header, rows, left, None);
    page.finish()
}

/// Error: no metric has this name.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{}; `simt-sim metrics` lists all metrics", metrics::unknown(.name))]
pub struct UnknownMetric {
    /// Name that was typed.
    pub name: String,
}

/// Finds a metric by the name a user typed.
/// Returns that name without surrounding blanks, too.
///
/// # Errors
/// Fails if no metric has the name.
pub fn known(name: &str) -> Result<(&str, &'static metrics::Metric), UnknownMetric> {
    let name = name.trim();
    match metrics::find(name) {
        Some(metric) => Ok((name, metric)),
        None => Err(UnknownMetric { name: name.to_owned() }),
    }
}

/// Prints the metrics called `names`, one per line.
/// A line has the name as typed, value, unit, then `#` and the accuracy label. Numbers have no
/// separators, so that scripts can read them; `n/a` marks a metric without a value in this run.
///
/// # Errors
/// Fails on the first name that no metric has.
pub fn selected(run: &Run, names: &[impl AsRef<str>]) -> Result<String, UnknownMetric> {
    let mut out = String::new();
    for name in names {
        let (name, metric) = known(name.as_ref())?;
        let as_named = |value| metric.in_unit_of(name, value);
        let (value, unit) = run.metrics.get(&metric.name).copied().map(as_named).unzip();
        let value = match value {
            Some(Value::Count(n)) => n.to_string(),
            Some(Value::Real(x)) => {
                let text = format!("{x:.6}");
                text.trim_end_matches('0').trim_end_matches('.').to_owned()
            }
            None => "n/a".to_owned(),
        };
        out.push_str(format!("{name} {value} {}", unit.unwrap_or_default()).trim_end());
        let instead = if value == "n/a" { metrics::instead(metric.name) } else { None };
        let label = match instead {
            Some((other, why)) => format!("machine code only; use `{other}`: {why}"),
            None => run.trust_of(metric).to_string(),
        };
        let _ = writeln!(out, "  # {label}");
    }
    Ok(out)
}

#[cfg(test)]
mod tests;
