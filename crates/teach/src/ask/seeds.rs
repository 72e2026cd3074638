//! Claims that were published about divergence, each held against runs and against an H200: `docs/seeds.md`.
//!
//! A [`Claim`] says in our own words what its sources say and has a function from runs to [`Evidence`]: lines, each with the source's
//! figure, ours and the H200's under a stated rule. `verdict` judges lines, `facts` reads what was published and measured
//! (`figures.ron`), `bench` makes the runs that several claims share, `page` writes the page; `sums`, `counters` and `warps` hold the
//! claims by subject.
//!
//! What is not here: opinions. A verdict is counted from lines; a claim without a figure to compare cannot be entered.

mod bench;
mod counters;
mod facts;
mod page;
mod sums;
mod verdict;
mod warps;

pub use page::seeds;

use super::Trouble;
use bench::Bench;
use simt_report::{Cell, FigureTable};
use verdict::{Line, Referee, Rule};

/// Something that somebody has claimed.
struct Claim {
    /// Its heading.
    title: &'static str,
    /// What is claimed, in our words.
    says: &'static str,
    /// Who claims it: names in `figures.ron`.
    sources: &'static [&'static str],
    /// What was run for it, on which machine and at which size.
    runs: &'static str,
    /// Commands that show the same.
    repeat: &'static [&'static str],
    /// The runs.
    find: fn(&Bench) -> Result<Evidence, Trouble>,
}

/// What was found on a claim.
#[derive(Default)]
struct Evidence {
    /// The figures that decide.
    lines: Vec<Line>,
    /// Further figures, which show why.
    tables: Vec<FigureTable>,
    /// A drawing in fixed-width lines.
    drawing: Vec<String>,
    /// Why it is so.
    why: Vec<String>,
}

/// A figure that a source has.
fn held(what: &str, rule: Rule, source: Cell, ours: impl Into<Cell>, h200: Option<Cell>) -> Line {
    let referee = h200.map_or(Referee::None, Referee::H200);
    Line { what: what.to_owned(), rule, source: Some(source), ours: ours.into(), referee }
}

/// A figure that no source has, but the H200.
fn measured(what: &str, rule: Rule, ours: impl Into<Cell>, h200: Cell) -> Line {
    Line { what: what.to_owned(), rule, source: None, ours: ours.into(), referee: Referee::H200(h200) }
}

/// Every claim, in the order of a course.
fn claims() -> impl Iterator<Item = &'static Claim> {
    [sums::CLAIMS, counters::CLAIMS, warps::CLAIMS].into_iter().flatten()
}
