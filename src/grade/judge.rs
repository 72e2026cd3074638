//! From figures to points: what was measured, what was wanted, and how far to trust it.

use std::collections::{BTreeMap, BTreeSet};

use super::assignment::Assignment;
use super::graded::{Failed, Graded, Leader, Mark};
use super::instructions::{Pattern, Used};
use super::measure::{Found, Measured, Ran};
use super::rules::{Answer, Band, Criterion, Rule, Than};
use crate::checks::Checks;
use crate::report::metrics;
use crate::report::numbers::{grouped, real};
use crate::report::validation::{COUNTERS, MEASURED, PROGRAMS, Standing};

/// Answers to questions, by the criterion's id.
pub type Answers = BTreeMap<String, f64>;

/// How far to trust a figure, and the page that says why.
struct Trusted {
    words: String,
    page: &'static str,
}

impl Trusted {
    /// A figure that follows from the text or from what was written.
    fn exact() -> Trusted {
        Trusted { words: "exact count".to_owned(), page: "docs/grading.md#how-far-to-trust-a-figure" }
    }

    /// What is in memory in the end.
    fn memory() -> Trusted {
        Trusted { words: "exact: values bit by bit, or within the tolerance stated".to_owned(), page: PROGRAMS }
    }

    /// What the checks found.
    fn checks() -> Trusted {
        let words = "exact for these runs: other inputs may show more".to_owned();
        Trusted { words, page: "docs/checks.md#how-sure-it-is" }
    }

    /// A metric of a run on a machine.
    fn metric(name: &str, machine: &str) -> Trusted {
        let words = metrics::find(name).map_or_else(String::new, |metric| Standing::of(metric).words(machine));
        Trusted { words, page: COUNTERS }
    }
}

/// Details shown of a criterion.
const MOST_DETAILS: usize = 6;

/// What the marks are made from.
struct Bench<'a> {
    assignment: &'a Assignment,
    own: &'a Measured,
    reference: &'a Measured,
    baseline: &'a Measured,
    answers: &'a Answers,
}

/// What a rule found.
struct Reading {
    /// The value that bands are about; `None` counts as out of every band.
    value: Option<f64>,
    measured: String,
    details: Vec<String>,
    trust: Trusted,
    unit: String,
}

/// Gives points. `own` is what was measured of the submission, or why nothing was.
pub fn judge(
    assignment: &Assignment,
    name: &str,
    own: &Result<Measured, Failed>,
    (reference, baseline): (&Measured, &Measured),
    answers: &Answers,
) -> Graded {
    let nothing = Measured::default();
    let refused = |measured: &Measured| measured.refused.clone().map(Failed::Refused);
    let (own, failed) = match own {
        Ok(measured) => (measured, refused(measured)),
        Err(failed) => (&nothing, Some(failed.clone())),
    };
    let bench = Bench { assignment, own, reference, baseline, answers };
    let criteria: Vec<Mark> = assignment.spec.criteria.iter().map(|c| bench.mark(c, failed.as_ref())).collect();
    let leaderboard = if failed.is_none() { bench.leaders() } else { Vec::new() };
    Graded {
        schema: Graded::SCHEMA,
        version: env!("CARGO_PKG_VERSION"),
        assignment: assignment.spec.title.clone(),
        submission: super::one_line(name),
        score: criteria.iter().map(|mark| mark.points).sum(),
        max: criteria.iter().map(|mark| mark.max).sum(),
        failed,
        criteria,
        notes: own.notes.clone(),
        map: own.map.clone(),
        leaderboard,
    }
}

impl Bench<'_> {
    fn mark(&self, criterion: &Criterion, failed: Option<&Failed>) -> Mark {
        let usual = criterion.rule.usual_bands(criterion.points);
        let bands = if criterion.bands.is_empty() { &usual } else { &criterion.bands };
        let is_question = matches!(criterion.rule, Rule::Question { .. });
        let reading = match failed {
            // Answers were given before any run.
            Some(_) if !is_question => Reading {
                value: None,
                measured: "nothing: it was not run to its end".into(),
                details: Vec::new(),
                trust: Trusted::exact(),
                unit: self.unit(&criterion.rule),
            },
            _ => self.read(criterion, bands),
        };
        let band = reading.value.and_then(|value| bands.iter().find(|band| band.holds(value)));
        let points = band.map_or(0.0, |band| band.points);
        let full = points >= criterion.points - 1e-9;
        // What was not run has nothing to do with a hint.
        let hint = if full || failed.is_some() && !is_question { String::new() } else { criterion.hint.clone() };
        let mut details = reading.details;
        let more = details.len().saturating_sub(MOST_DETAILS);
        details.truncate(MOST_DETAILS);
        if more > 0 {
            details.push(format!("and {more} more"));
        }
        Mark {
            id: criterion.id.clone(),
            title: criterion.title.clone(),
            points,
            max: criterion.points,
            measured: reading.measured,
            wanted: wanted(bands, &reading.unit),
            hint,
            trust: reading.trust.words,
            trust_page: reading.trust.page,
            details,
            hidden: criterion.hidden,
        }
    }

    fn unit(&self, rule: &Rule) -> String {
        match rule {
            Rule::Results { .. } => "% of the runs right".into(),
            Rule::Metric { name, than, .. } => match than {
                Than::Absolute => format!(" {name}"),
                Than::Reference => format!(" times the {name} of the reference"),
                Than::Baseline => format!(" times the {name} of the baseline"),
            },
            Rule::Checks { .. } => " errors".into(),
            Rule::Instructions { .. } => " instructions out of place".into(),
            Rule::Question { .. } => " off the answer".into(),
        }
    }

    fn read(&self, criterion: &Criterion, bands: &[Band]) -> Reading {
        let rule = &criterion.rule;
        let unit = self.unit(rule);
        let runs = self.assignment.runs_of(rule);
        match rule {
            Rule::Results { .. } => self.results(&runs, unit),
            Rule::Metric { name, than, .. } => self.metric(&runs, (name, *than), bands, unit),
            Rule::Checks { kinds, warnings, .. } => self.checks(&runs, kinds, *warnings, unit),
            Rule::Instructions { forbid, require, allow } => {
                instructions(&self.own.instructions, forbid, require, allow, unit)
            }
            Rule::Question { answer, .. } => self.question(&criterion.id, answer, unit),
        }
    }

    fn ran(&self, run: usize) -> Option<&Ran> {
        self.own.runs.get(run)
    }

    fn results(&self, runs: &[usize], unit: String) -> Reading {
        let mut details = Vec::new();
        let mut right = 0usize;
        for &run in runs {
            let name = self.assignment.run_name(run);
            match self.ran(run) {
                Some(ran) if ran.passed => right += 1,
                Some(_) if self.assignment.is_hidden(run) => details.push(format!("{name}: wrong (a hidden input)")),
                Some(ran) => {
                    let why = ran.message.as_ref().or(ran.details.first()).map_or(ran.finish.as_str(), String::as_str);
                    details.push(format!("{name}: {why}"));
                }
                None => details.push(format!("{name}: was not run")),
            }
        }
        let value = (!runs.is_empty()).then(|| 100.0 * right as f64 / runs.len() as f64);
        let measured = format!("{right} of {} runs right", runs.len());
        Reading { value, measured, details, trust: Trusted::memory(), unit }
    }

    /// The worst run, by the bands' direction; wrong results have no figure.
    fn metric(&self, runs: &[usize], (name, than): (&str, Than), bands: &[Band], unit: String) -> Reading {
        let first = metrics::find(name).map_or(name, |metric| metric.name);
        let more_is_better = bands.first().is_some_and(|band| band.at_least.is_some());
        let reading = |value, measured, machine: &str| {
            let (trust, unit) = (Trusted::metric(first, machine), unit.clone());
            Reading { value, measured, details: Vec::new(), trust, unit }
        };
        let none = |why: String| reading(None, why, MEASURED);
        let mut worst: Option<(f64, String, usize)> = None;
        for &run in runs {
            let at = self.assignment.run_name(run);
            let Some(ran) = self.ran(run).filter(|ran| ran.passed) else {
                return none(format!("nothing: {at} has no right result"));
            };
            let Some(&own) = ran.metrics.get(first) else { return none(format!("nothing: {at} has no {name}")) };
            let other = match than {
                Than::Absolute => None,
                Than::Reference => self.reference.runs.get(run).and_then(|ran| ran.metrics.get(first)).copied(),
                Than::Baseline => self.baseline.runs.get(run).and_then(|ran| ran.metrics.get(first)).copied(),
            };
            let (value, words) = match (than, other) {
                (Than::Absolute, _) => (own, format!("{} ({at})", number(own))),
                (_, None) => return none(format!("nothing: the program to compare with has no {name} in {at}")),
                (_, Some(other)) => {
                    let ratio = ratio(own, other);
                    let of = if than == Than::Reference { "the reference" } else { "the baseline" };
                    (ratio, format!("{}, {of} {}: {} times ({at})", number(own), number(other), times(ratio)))
                }
            };
            let is_worse = |known: f64| if more_is_better { value < known } else { value > known };
            if worst.as_ref().is_none_or(|(known, ..)| is_worse(*known)) {
                worst = Some((value, words, run));
            }
        }
        match worst {
            Some((value, measured, run)) => reading(Some(value), measured, self.assignment.machine(run)),
            None => none("nothing: there is no such run".into()),
        }
    }

    fn checks(&self, runs: &[usize], kinds: &[String], warnings: bool, unit: String) -> Reading {
        let wanted = Checks::named(kinds.iter().map(String::as_str)).unwrap_or(Checks::ALL);
        let wanted = if kinds.is_empty() { Checks::ALL } else { wanted };
        let mut details: Vec<String> = Vec::new();
        let mut errors = 0;
        let mut told = BTreeSet::new();
        for &run in runs {
            let found = self.ran(run).map_or(&[][..], |ran| ran.findings.as_slice());
            for finding in found.iter().filter(|f| belongs(&f.code, wanted)) {
                let Found { code, text, is_error, at } = finding;
                // What other runs find in the same places is no more.
                if told.insert((code, at)) {
                    // A warning that costs nothing is said all the same.
                    let counts = *is_error || warnings;
                    let kind = if counts { "" } else { "warning, " };
                    details.push(format!("{kind}{code}, {}: {text}", self.assignment.run_name(run)));
                    errors += usize::from(counts);
                }
            }
        }
        // A program that does nothing does nothing wrong.
        let wrong = runs.iter().find(|&&run| self.ran(run).is_none_or(|ran| !ran.passed));
        let (value, measured) = match (wrong, errors) {
            (Some(&run), 0) => (None, format!("nothing: {} has no right result", self.assignment.run_name(run))),
            (_, 0) => (Some(0.0), "nothing found".to_owned()),
            (_, n) => (Some(n as f64), format!("{n} found")),
        };
        Reading { value, measured, details, trust: Trusted::checks(), unit }
    }

    fn question(&self, id: &str, answer: &Answer, unit: String) -> Reading {
        let right = match answer {
            Answer::Number(number) => Some(*number),
            Answer::Metric { name, of, case, machine } => {
                let of = if *of == Than::Reference { self.reference } else { self.baseline };
                let first = metrics::find(name).map_or(name.as_str(), |metric| metric.name);
                let run = self.assignment.run_at(case, machine).and_then(|run| of.runs.get(run));
                run.and_then(|run| run.metrics.get(first)).copied()
            }
        };
        let given = self.answers.get(id).copied().filter(|given| given.is_finite());
        let (value, measured) = match (given, right) {
            (None, _) => (None, "no answer".to_owned()),
            (Some(_), None) => (None, "the answer cannot be told".to_owned()),
            (Some(given), Some(right)) => (Some((given - right).abs()), format!("the answer {}", number(given))),
        };
        let trust = match answer {
            Answer::Number(_) => Trusted::exact(),
            Answer::Metric { name, machine, .. } => Trusted::metric(name, machine),
        };
        Reading { value, measured, details: Vec::new(), trust, unit }
    }

    fn leaders(&self) -> Vec<Leader> {
        let of = |entry: &super::LeaderboardEntry| {
            let ran = self.assignment.run_at(&entry.case, &entry.machine).and_then(|run| self.ran(run))?;
            let first = metrics::find(&entry.metric)?.name;
            let value = ran.metrics.get(first).copied().filter(|_| ran.passed)?;
            let order = if entry.more_is_better { "desc" } else { "asc" };
            Some(Leader { name: entry.name.clone(), value, order })
        };
        self.assignment.spec.leaderboard.iter().filter_map(of).collect()
    }
}

/// How often `own` is of `other`; as much as nothing is once nothing.
fn ratio(own: f64, other: f64) -> f64 {
    match (own, other) {
        (own, other) if own == other => 1.0,
        (_, 0.0) => f64::MAX,
        (own, other) => own / other,
    }
}

/// Whether a finding is one of the checks that are wanted.
fn belongs(code: &str, wanted: Checks) -> bool {
    match code.split('-').next().unwrap_or_default() {
        "race" => wanted.races,
        "unset" => wanted.init,
        "barrier" => wanted.barrier,
        "mask" => wanted.sync,
        _ => wanted.bounds,
    }
}

fn instructions(used: &[Used], forbid: &[Pattern], require: &[Pattern], allow: &[Pattern], unit: String) -> Reading {
    let mut details = Vec::new();
    for used in used {
        let at = || format!("{}: `{}`", used.place, super::one_line(&used.mnemonic));
        if let Some(pattern) = forbid.iter().find(|pattern| pattern.matches(used)) {
            details.push(format!("{} is forbidden ({pattern})", at()));
        } else if !allow.is_empty() && !allow.iter().any(|pattern| pattern.matches(used)) {
            details.push(format!("{} is not among what is allowed", at()));
        }
    }
    for pattern in require {
        if !used.iter().any(|used| used.executed && pattern.matches(used)) {
            details.push(format!("{pattern} is required, and no run executes it"));
        }
    }
    let measured =
        if details.is_empty() { "all in place".to_owned() } else { format!("{} out of place", details.len()) };
    Reading { value: Some(details.len() as f64), measured, details, trust: Trusted::exact(), unit }
}

fn wanted(bands: &[Band], unit: &str) -> String {
    let of = |band: &Band| {
        let bound = match (band.at_least, band.at_most) {
            (Some(least), Some(most)) => format!("{} to {}", number(least), number(most)),
            (Some(least), None) => format!("at least {}", number(least)),
            (None, Some(most)) => format!("at most {}", number(most)),
            (None, None) => String::new(),
        };
        (bound, band.points)
    };
    match bands {
        [] => String::new(),
        [one] => format!("{}{unit}", of(one).0),
        [first, rest @ ..] => {
            let partly: Vec<String> =
                rest.iter().map(of).map(|(b, p)| format!("{b} for {} points", number(p))).collect();
            format!("{}{unit} ({})", of(first).0, partly.join(", "))
        }
    }
}

fn times(ratio: f64) -> String {
    if ratio == f64::MAX { number(ratio) } else { real(ratio) }
}

/// A number for a reader: counts in full, ratios to three digits.
pub(crate) fn number(x: f64) -> String {
    match x {
        x if x == f64::MAX => "infinitely many".to_owned(),
        x if x >= 0.0 && x.fract() == 0.0 && x < 1e15 => grouped(x as u64),
        x => real(x),
    }
}
