//! Published claims about divergence, compared with runs and with an H200:
//! `docs/reference/seeds.md`.
//!
//! A [`Claim`] states in our own words what its sources say and has a function from runs to
//! [`Evidence`]: lines with the figure of the source, ours and the H200's, compared under a stated
//! rule. `verdict` judges lines, `facts` reads the published and measured figures (`figures.ron`),
//! `bench` makes the runs that several claims share, `page` writes the page; `sums`, `counters`,
//! `warps` and `hopper` hold the claims by subject.
//!
//! A verdict is computed from the lines; a claim without a figure to compare cannot be entered.

mod bench;
mod counters;
mod facts;
mod hopper;
mod page;
mod sums;
mod verdict;
mod warps;

pub use page::seeds;

use super::AskError;
use bench::Bench;
use simt_report::{Cell, FigureTable};
use verdict::{Line, Referee, Rule};

/// A published claim.
struct Claim {
    /// Heading.
    title: &'static str,
    /// The claim in our words.
    says: &'static str,
    /// Sources: names in `figures.ron`.
    sources: &'static [&'static str],
    /// Runs made for the claim: programs, machine and size.
    runs: &'static str,
    /// Commands that reproduce the runs.
    repeat: &'static [&'static str],
    /// Function that makes the runs.
    find: fn(&Bench) -> Result<Evidence, AskError>,
}

/// Evidence for or against a claim.
#[derive(Default)]
struct Evidence {
    /// Figures that decide the verdict.
    lines: Vec<Line>,
    /// Further figures that explain the result.
    tables: Vec<FigureTable>,
    /// Drawing in fixed-width lines.
    drawing: Vec<String>,
    /// Explanation.
    why: Vec<String>,
}

/// Compares our figure with a source's figure.
fn held(what: &str, rule: Rule, source: Cell, ours: impl Into<Cell>, h200: Option<Cell>) -> Line {
    let referee = h200.map_or(Referee::None, Referee::H200);
    Line { what: what.to_owned(), rule, source: Some(source), ours: ours.into(), referee }
}

/// Compares our figure with the H200's; no source has one.
fn measured(what: &str, rule: Rule, ours: impl Into<Cell>, h200: Cell) -> Line {
    Line {
        what: what.to_owned(),
        rule,
        source: None,
        ours: ours.into(),
        referee: Referee::H200(h200),
    }
}

/// Every claim, in the order of a course.
fn claims() -> impl Iterator<Item = &'static Claim> {
    [sums::CLAIMS, counters::CLAIMS, warps::CLAIMS, hopper::CLAIMS].into_iter().flatten()
}
