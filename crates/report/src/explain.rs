//! A page for every name that a run or an error mentions: diagnostic codes, metrics, warp states, outcomes, lane states.
//!
//! A page says what the thing is, how it is computed, what other tools call it, what shows it and what to do about it. What
//! another module owns (a code's meaning, a metric's formula) is taken from there; the files here add the rest: `metrics` and
//! `states` what to do and an example, `outcomes` verdicts, exit codes and lane states. `worked` puts a run's numbers into
//! a formula; `text` prints.
//!
//! nvprof's names are CUPTI's, Nsight Compute's those of its metrics and warp states. GPGPU-Sim's are those that its
//! statistics print; what it counts differs in places, and the page says how.

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

/// What a page is about.
#[derive(Clone, Copy, Debug)]
pub enum Subject {
    /// A kind of finding about a text.
    Code(&'static Code),
    /// A number that a run answers for.
    Metric(&'static Metric),
    /// Why a warp does not issue.
    State(Stall),
    /// Something that issues or is lost but is no reason of a warp: `selected`, `no_warp`, `launch`.
    Slot,
    /// How a run ends.
    Verdict,
    /// What the process returns.
    Exit,
    /// What a lane is doing at an issue.
    Lane,
}

impl Subject {
    /// The heading under which its pages stand.
    pub const fn heading(&self) -> &'static str {
        match self {
            Subject::Code(code) => code.stage.title(),
            Subject::Metric(metric) => metric.group.title(),
            Subject::State(_) | Subject::Slot => "Warp states and issue slots",
            Subject::Verdict => "How a run ends",
            Subject::Exit => "Exit codes",
            Subject::Lane => "What a lane is doing",
        }
    }
}

/// A program that shows the thing, and what to type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Example {
    /// A bundled program, run as `simt-sim explain NAME --run PROGRAM`, with these further options.
    Run {
        /// Its place in the repository.
        program: &'static str,
        /// Options.
        options: &'static str,
    },
    /// A command that shows it.
    Command(&'static str),
    /// A text that raises it.
    Text(&'static str),
    /// There is none, for this reason.
    None(&'static str),
}

/// What other tools call the thing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OtherName {
    /// The tool.
    pub tool: &'static str,
    /// Its name there, with what is counted differently.
    pub name: String,
}

/// Everything there is to say about a name.
#[derive(Clone, Debug)]
pub struct Page {
    /// The name.
    pub name: &'static str,
    /// What it is about.
    pub subject: Subject,
    /// Other names under which the page is found.
    pub aliases: Vec<&'static str>,
    /// What it means.
    pub meaning: String,
    /// How it is computed or found out.
    pub formula: String,
    /// What other tools call it.
    pub elsewhere: Vec<OtherName>,
    /// What to do about it, or with it.
    pub remedy: &'static str,
    /// What shows it.
    pub example: Example,
}

/// Every page, by subject.
pub fn pages() -> Vec<Page> {
    let mut pages: Vec<Page> = table::all().iter().filter_map(metrics::page).collect();
    pages.extend(states::pages());
    pages.extend(outcomes::pages());
    pages.extend(codes::all().map(code));
    pages
}

/// The page of a name or alias; case and the choice of `-`, `_` or a space do not matter.
pub fn find(name: &str) -> Option<Page> {
    let wanted = plain(name);
    let mut pages = pages();
    let at = pages.iter().position(|p| plain(p.name) == wanted);
    let at = at.or_else(|| pages.iter().position(|p| p.aliases.iter().any(|a| plain(a) == wanted)))?;
    Some(pages.swap_remove(at))
}

/// The names nearest to one that nothing has: slips first, then names that contain it or one of its words; at most five.
pub fn nearest(name: &str) -> Vec<&'static str> {
    let wanted = plain(name);
    let pages = pages();
    let names = || pages.iter().flat_map(|p| std::iter::once(p.name).chain(p.aliases.iter().copied()));
    let mut found: Vec<&'static str> = simt_core::diag::closest(name, names()).into_iter().collect();
    let words: Vec<&str> = wanted.split('_').filter(|word| word.len() > 3).collect();
    let close = |candidate: &str| {
        let candidate = plain(candidate);
        (wanted.len() > 2 && candidate.contains(&wanted)) || words.iter().any(|word| candidate.contains(word))
    };
    let mut related: Vec<_> =
        pages.iter().map(|p| p.name).filter(|name| !found.contains(name) && close(name)).collect();
    related.sort_by_key(|name| name.len());
    found.extend(related);
    found.truncate(5);
    found
}

/// The exit codes with their meanings.
pub fn exit_codes() -> impl Iterator<Item = (u8, &'static str)> {
    outcomes::EXITS.iter().map(|exit| (exit.code, exit.meaning))
}

fn plain(name: &str) -> String {
    name.trim().to_lowercase().replace(['-', ' '], "_")
}

fn code(code: &'static Code) -> Page {
    let who = match code.stage {
        Stage::Text => "Found while the text is read; `simt-sim check FILE` shows all findings.",
        Stage::Check => "Found before anything runs; `simt-sim check FILE` shows all findings.",
        Stage::Run => "Found while the program runs, by `simt-sim check --run FILE` or `simt-sim run --checks`.",
        Stage::Launch => "Found when the directives and options are evaluated, before anything runs.",
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
