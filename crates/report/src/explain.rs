//! A page for every name in a report or an error.
//! Names are diagnostic codes, metrics, warp states, outcomes and lane states.
//!
//! A page has a name's meaning, computation, names in other tools, example and remedy. Facts owned
//! by another module (a code's meaning, a metric's formula) are taken from there; the files here
//! add the rest: `metrics` and `states` remedies and examples, `outcomes` verdicts, exit codes and
//! lane states. `worked` evaluates a formula with a run's numbers; `text` prints.
//!
//! nvprof's names are CUPTI's, Nsight Compute's are those of its metrics and warp states.
//! GPGPU-Sim's are those of its statistics; they count some things differently, and the page says
//! how.

mod metrics;
mod outcomes;
mod states;
mod text;
mod worked;

pub use text::{in_run, listing, page as page_text, reference};
pub use worked::{Term, Worked, worked};

use crate::metrics::{self as table, Metric};
use simt_core::diag::codes::{self, Code, Stage};
use simt_core::observe::Stall;

/// Subject of a page.
#[derive(Clone, Copy, Debug)]
pub enum Subject {
    /// Diagnostic code.
    Code(&'static Code),
    /// Metric of a run.
    Metric(&'static Metric),
    /// Warp state, the reason why a warp does not issue.
    State(Stall),
    /// Class of issue slots that is not a warp state: `selected`, `no_warp`, `launch`.
    Slot,
    /// Outcome of a run.
    Verdict,
    /// Exit code of the process.
    Exit,
    /// State of a lane at an issue.
    Lane,
}

impl Subject {
    /// Returns the heading of its pages.
    pub const fn heading(&self) -> &'static str {
        match self {
            Subject::Code(code) => code.stage.title(),
            Subject::Metric(metric) => metric.group.title(),
            Subject::State(_) | Subject::Slot => "Warp states and issue slots",
            Subject::Verdict => "Outcomes of a run",
            Subject::Exit => "Exit codes",
            Subject::Lane => "Lane states",
        }
    }
}

/// An example of a name and the command that shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Example {
    /// Bundled program, run as `simt-sim explain NAME --run PROGRAM` with further options.
    Run {
        /// Path in the repository.
        program: &'static str,
        /// Options.
        options: &'static str,
    },
    /// Command that shows it.
    Command(&'static str),
    /// Text that raises the diagnostic.
    Text(&'static str),
    /// No example, for this reason.
    None(&'static str),
}

/// Name of the same thing in another tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OtherName {
    /// Tool.
    pub tool: &'static str,
    /// Name, and the differences in what is counted.
    pub name: String,
}

/// The page of a name.
#[derive(Clone, Debug)]
pub struct Page {
    /// Name.
    pub name: &'static str,
    /// Subject.
    pub subject: Subject,
    /// Other names of the page.
    pub aliases: Vec<&'static str>,
    /// Meaning.
    pub meaning: String,
    /// Formula, or the way it is counted.
    pub formula: String,
    /// Names in other tools.
    pub elsewhere: Vec<OtherName>,
    /// Advice.
    pub remedy: &'static str,
    /// Example.
    pub example: Example,
}

/// Returns every page, by subject.
pub fn pages() -> Vec<Page> {
    let mut pages: Vec<Page> = table::all().iter().filter_map(metrics::page).collect();
    pages.extend(states::pages());
    pages.extend(outcomes::pages());
    pages.extend(codes::all().map(code));
    pages
}

/// Finds the page of a name or alias.
/// Case does not matter, and `-`, `_` and spaces are equal.
pub fn find(name: &str) -> Option<Page> {
    let wanted = plain(name);
    let mut pages = pages();
    let at = pages.iter().position(|p| plain(p.name) == wanted);
    let at =
        at.or_else(|| pages.iter().position(|p| p.aliases.iter().any(|a| plain(a) == wanted)))?;
    Some(pages.swap_remove(at))
}

/// Returns at most five names close to an unknown one.
/// Misspellings come first, then names that contain it or one of its words.
pub fn nearest(name: &str) -> Vec<&'static str> {
    let wanted = plain(name);
    let pages = pages();
    let names =
        || pages.iter().flat_map(|p| std::iter::once(p.name).chain(p.aliases.iter().copied()));
    let mut found: Vec<&'static str> =
        simt_core::diag::closest(name, names()).into_iter().collect();
    let words: Vec<&str> = wanted.split('_').filter(|word| word.len() > 3).collect();
    let close = |candidate: &str| {
        let candidate = plain(candidate);
        (wanted.len() > 2 && candidate.contains(&wanted))
            || words.iter().any(|word| candidate.contains(word))
    };
    let mut related: Vec<_> =
        pages.iter().map(|p| p.name).filter(|name| !found.contains(name) && close(name)).collect();
    related.sort_by_key(|name| name.len());
    found.extend(related);
    found.truncate(5);
    found
}

/// Returns the exit codes with their meanings.
pub fn exit_codes() -> impl Iterator<Item = (u8, &'static str)> {
    outcomes::EXITS.iter().map(|exit| (exit.code, exit.meaning))
}

fn plain(name: &str) -> String {
    name.trim().to_lowercase().replace(['-', ' '], "_")
}

fn code(code: &'static Code) -> Page {
    let who = match code.stage {
        Stage::Text => "Found when the text is parsed; `simt-sim check FILE` shows all findings.",
        Stage::Check => {
            "Found when the program is checked, before it runs; `simt-sim check FILE` shows all \
             findings."
        }
        Stage::Run => {
            "Found when the program runs, by `simt-sim check --run FILE` or `simt-sim run \
             --checks`."
        }
        Stage::Launch => {
            "Found when directives and options are evaluated, before the program runs."
        }
    };
    Page {
        name: code.name,
        subject: Subject::Code(code),
        aliases: Vec::new(),
        meaning: code.meaning.to_owned(),
        formula: who.to_owned(),
        elsewhere: Vec::new(),
        remedy: code.remedy,
        example: match (code.sample, code.sample.excerpt()) {
            (codes::Sample::None(why), _) => Example::None(why),
            (codes::Sample::Run(command), _) => Example::Command(command),
            (_, text) => Example::Text(text.unwrap_or_default()),
        },
    }
}
