//! How far a figure of a metric may be trusted: what kind of figure it is, and how it came out beside a real GPU.
//!
//! What came out stands on one page, `docs/validation.md`, and is read from there: the page is compiled in. A run makes it, and a test
//! holds the two together, so there is no second list of errors that could grow old.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use super::super::metrics::{Basis, Metric};
use super::Trust;

const PAGE: &str = include_str!("../../../docs/validation.md");
/// The headings under which the page has an error for each counter and launch.
const SMALL: &str = "## Counters of small launches";
const LARGE: &str = "## Counters of large launches";

/// The machine that was held against a GPU.
pub const MEASURED: &str = "h200";
/// Where a reader finds the errors of each counter.
pub const COUNTERS: &str = "docs/validation.md#counters-of-large-launches";
/// Where a reader finds what became of each program's memory.
pub const PROGRAMS: &str = "docs/validation.md#programs";

/// How a counter came out in some launches.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Seen {
    /// Launches in which it was measured.
    pub launches: usize,
    /// The largest error in percent of what was measured; 0 where all are exact, infinite where something stands beside nothing.
    pub worst: f64,
}

/// How far the figures of a metric may be trusted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Standing {
    /// What kind of figure it is.
    pub basis: Basis,
    /// Beside a GPU, in launches of a block or two.
    pub small: Option<Seen>,
    /// The same in launches that fill a GPU.
    pub large: Option<Seen>,
}

impl Seen {
    /// `exact`, `within 2 %`, `up to 57 % off`
    fn words(self) -> String {
        match Trust::STEPS.into_iter().find(|step| self.worst <= *step) {
            _ if self.worst == 0.0 => "exact".to_owned(),
            Some(step) => format!("within {step} %"),
            None if self.worst.is_finite() => format!("up to {:.0} % off", self.worst.ceil()),
            None => "there where an H200 has none".to_owned(),
        }
    }

    fn and(self, error: f64) -> Seen {
        Seen { launches: self.launches + 1, worst: self.worst.max(error) }
    }
}

impl Standing {
    /// That of a metric.
    pub fn of(metric: &Metric) -> Standing {
        // A share of the warp is the same figure as a number of lanes.
        let errors = |name: &str| ERRORS.get(name).or_else(|| ERRORS.get(&*name.replace(".pct", ".ratio")));
        let [small, large] = metric.ncu.and_then(errors).copied().unwrap_or_default();
        Standing { basis: metric.basis(), small, large }
    }

    /// What came of it beside a GPU, if anybody has looked.
    pub fn beside(&self) -> Option<String> {
        match (self.large, self.small) {
            (None, None) => None,
            (Some(seen), None) | (None, Some(seen)) => Some(seen.words()),
            (Some(large), Some(small)) if large.words() == small.words() => Some(large.words()),
            (Some(large), Some(small)) => Some(format!("{}; in small launches {}", large.words(), small.words())),
        }
    }

    /// Both, of a figure that was simulated on `machine`: `exact count; on a real H200 within 2 %`.
    pub fn words(&self, machine: &str) -> String {
        let kind = self.basis.words();
        match self.beside() {
            Some(beside) if machine == MEASURED => format!("{kind}; on a real H200 {beside}"),
            _ if machine == MEASURED || self.basis == Basis::Count => kind.to_owned(),
            _ => format!("{kind}; nobody has held {machine} against a real GPU"),
        }
    }
}

/// By counter: small launches, large launches.
type Errors = BTreeMap<&'static str, [Option<Seen>; 2]>;

static ERRORS: LazyLock<Errors> = LazyLock::new(|| errors(PAGE));

/// The tables of errors: under each of the two headings the rows that begin with a counter.
fn errors(page: &'static str) -> Errors {
    let mut found = Errors::new();
    let mut size = None;
    for line in page.lines() {
        if line.starts_with("## ") {
            size = [SMALL, LARGE].iter().position(|heading| line == *heading);
        }
        let Some((name, cells)) = line.strip_prefix("| `").and_then(|rest| rest.split_once("` |")) else { continue };
        let Some(size) = size else { continue };
        for error in cells.split('|').filter_map(|cell| error(cell.trim())) {
            let seen = &mut found.entry(name).or_default()[size];
            *seen = Some(seen.unwrap_or(Seen { launches: 0, worst: 0.0 }).and(error));
        }
    }
    found
}

/// A cell as [`super::trust::error`] writes it; `None` of an empty one.
fn error(cell: &str) -> Option<f64> {
    match cell {
        "" => None,
        "exact" => Some(0.0),
        "-" => Some(f64::INFINITY),
        // What is rounded to nothing is not exact.
        _ => cell.strip_suffix(" %")?.parse::<f64>().ok().map(|percent| percent.abs().max(f64::MIN_POSITIVE)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::metrics;

    /// What stands on the page, by reading it: where this fails the page has another form, and nothing would be said of any figure.
    #[test]
    fn the_pages_errors_are_found() {
        let of = |name: &str| Standing::of(metrics::find(name).expect("a metric"));
        for (name, basis, exact) in [
            ("divergent_branch", Basis::Count, true),
            ("gld_transactions", Basis::Count, true),
            ("inst_executed", Basis::Count, false),
            ("sm__cycles_elapsed.max", Basis::Model, false),
        ] {
            let Standing { basis: kind, small: Some(small), large: Some(large) } = of(name) else {
                panic!("nothing is known of {name}")
            };
            assert_eq!(kind, basis, "{name}");
            assert!(small.launches >= 5 && large.launches >= 5, "{name}");
            assert_eq!(small.worst == 0.0 && large.worst == 0.0, exact, "{name}");
        }
        let cycles = of("sm__cycles_elapsed.max");
        assert!([cycles.small, cycles.large].into_iter().flatten().all(|seen| seen.worst < 15.0), "{cycles:?}");
        assert_eq!(of("ptx_inst_executed").beside(), None);
    }

    #[test]
    fn a_standing_in_words() {
        let seen = |worst| Some(Seen { launches: 1, worst });
        for (basis, small, large, machine, words) in [
            (Basis::Count, seen(0.0), seen(0.0), "h200", "exact count; on a real H200 exact"),
            (Basis::Count, seen(0.0), seen(0.0), "fermi", "exact count"),
            (Basis::Count, None, None, "h200", "exact count"),
            (
                Basis::Count,
                seen(2.8),
                seen(0.4),
                "h200",
                "exact count; on a real H200 within 1 %; in small launches within 5 %",
            ),
            (Basis::Model, seen(56.3), None, "h200", "model estimate; on a real H200 up to 57 % off"),
            (Basis::Model, None, None, "fermi", "model estimate; nobody has held fermi against a real GPU"),
        ] {
            assert_eq!(Standing { basis, small, large }.words(machine), words);
        }
        let cells = [
            ("exact", Some(0.0)),
            ("-56.3 %", Some(56.3)),
            ("+0.000 %", Some(f64::MIN_POSITIVE)),
            ("", None),
            ("304", None),
        ];
        for (cell, value) in cells {
            assert_eq!(error(cell), value, "{cell}");
        }
        assert_eq!(error("-"), Some(f64::INFINITY));
    }
}
