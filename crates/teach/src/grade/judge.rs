//! From figures to points: measured value, required value, and trustworthiness.

mod points;
mod told;

use std::collections::{BTreeMap, BTreeSet};

use super::assignment::Assignment;
use super::graded::{Failed, Graded, Leader, Mark};
use super::instructions::{Pattern, Used};
use super::measure::{Found, Measured, Ran};
use super::rules::{Answer, Band, Criterion, Rule, Than};
use points::Figure;
use simt_core::checks::Checks;
use simt_report::evidence::{Fingerprint, PAGE, Standing};
use simt_report::metrics;
use simt_report::numbers::{grouped, real};
use simt_report::validation::PROGRAMS;
pub use told::Reader;
use told::{Line, Told, only_hidden};

/// Answers to questions, by criterion id.
pub type Answers = BTreeMap<String, f64>;

/// Trustworthiness of a figure, and the page that explains it.
struct Trusted {
    words: String,
    page: &'static str,
}

impl Trusted {
    /// For a figure that follows from the program text or the student's input.
    fn exact() -> Trusted {
        Trusted { words: "exact count".to_owned(), page: "docs/grading.md#accuracy-of-figures" }
    }

    /// For the final memory contents.
    fn memory() -> Trusted {
        Trusted {
            words: "exact: values bit by bit, or within the tolerance stated".to_owned(),
            page: PROGRAMS,
        }
    }

    /// For findings of the checks.
    fn checks() -> Trusted {
        let words = "exact for these runs; other inputs may show more".to_owned();
        Trusted { words, page: "docs/checks.md#how-sure-it-is" }
    }

    /// For a metric of a run on a machine.
    fn metric(name: &str, machine: &Fingerprint) -> Trusted {
        let words =
            metrics::find(name).map_or_else(String::new, |metric| Standing::label(metric, machine));
        Trusted { words, page: PAGE }
    }
}

/// Maximum number of details shown per criterion.
const MOST_DETAILS: usize = 6;

/// Inputs of a grade.
struct Bench<'a> {
    assignment: &'a Assignment,
    own: &'a Measured,
    reference: &'a Measured,
    baseline: &'a Measured,
    answers: &'a Answers,
    reader: Reader,
}

/// Result of a rule.
struct Reading {
    points: f64,
    measured: String,
    details: Vec<String>,
    trust: Trusted,
}

/// Gives points. `own` holds the measurements of the submission, or the reason why there are none.
/// Points do not depend on the reader; words do.
pub fn judge(
    assignment: &Assignment,
    name: &str,
    own: &Result<Measured, Failed>,
    (reference, baseline): (&Measured, &Measured),
    answers: &Answers,
    reader: Reader,
) -> Graded {
    let nothing = Measured::default();
    let refused = |measured: &Measured| measured.refused.clone().map(Failed::Refused);
    let (own, failed) = match own {
        Ok(measured) => (measured, refused(measured)),
        Err(failed) => (&nothing, Some(failed.clone())),
    };
    let is_secret = reader == Reader::Student
        && (0..assignment.runs.len()).any(|run| assignment.is_hidden(run));
    let failed = failed.map(|failed| if is_secret { failed.without_detail() } else { failed });
    let bench = Bench { assignment, own, reference, baseline, answers, reader };
    let criteria: Vec<Mark> =
        assignment.spec.criteria.iter().map(|c| bench.mark(c, failed.as_ref())).collect();
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
            // Answers are given before any run.
            Some(_) if !is_question => Reading {
                points: 0.0,
                measured: "none: the run did not finish".into(),
                details: Vec::new(),
                trust: Trusted::exact(),
            },
            _ => self.read(criterion, bands),
        };
        let points = reading.points;
        let full = points >= criterion.points - 1e-9;
        // A hint does not apply if nothing was run.
        let hint = if full || failed.is_some() && !is_question {
            String::new()
        } else {
            criterion.hint.clone()
        };
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
            wanted: match wanted(bands, &self.unit(&criterion.rule)) {
                bounds if is_question && !bounds.is_empty() => format!("prediction error {bounds}"),
                bounds => bounds,
            },
            hint,
            trust: reading.trust.words,
            trust_page: reading.trust.page,
            details,
            hidden: criterion.hidden,
        }
    }

    fn unit(&self, rule: &Rule) -> String {
        match rule {
            Rule::Results { .. } => "% of the runs correct".into(),
            Rule::Metric { name, than, .. } => match than {
                Than::Absolute => format!(" {name}"),
                Than::Reference => format!(" times the {name} of the reference"),
                Than::Baseline => format!(" times the {name} of the baseline"),
            },
            Rule::Checks { .. } => " errors".into(),
            Rule::Instructions { .. } => " forbidden or missing instructions".into(),
            Rule::Question { .. } => String::new(),
        }
    }

    fn read(&self, criterion: &Criterion, bands: &[Band]) -> Reading {
        let rule = &criterion.rule;
        let runs = self.assignment.runs_of(rule);
        match rule {
            Rule::Results { .. } => self.results(&runs, bands),
            Rule::Metric { name, than, .. } => self.metric(&runs, (name, *than), bands),
            Rule::Checks { kinds, warnings, .. } => self.checks(&runs, kinds, *warnings, bands),
            Rule::Instructions { forbid, require, allow } => {
                self.instructions(forbid, require, allow, bands)
            }
            Rule::Question { answer, .. } => self.question(&criterion.id, answer, bands),
        }
    }

    fn ran(&self, run: usize) -> Option<&Ran> {
        self.own.runs.get(run)
    }

    /// Splits runs into open and hidden ones.
    fn apart(&self, runs: &[usize]) -> (Vec<usize>, Vec<usize>) {
        runs.iter().partition(|&&run| !self.assignment.is_hidden(run))
    }

    /// Figure of a hidden run. Its result may be told as pass or fail; beyond that it holds a band
    /// or does not, and a run without a value holds none.
    fn of_hidden(&self, run: usize, value: Option<f64>) -> Figure {
        match self.ran(run) {
            Some(ran) if ran.passed => Figure::Of(value.unwrap_or(f64::NAN)),
            _ => Figure::None,
        }
    }

    /// Pass or fail is not secret, so neither is the share of passing runs.
    fn results(&self, runs: &[usize], bands: &[Band]) -> Reading {
        let passed = |run: usize| self.ran(run).is_some_and(|ran| ran.passed);
        let right = runs.iter().filter(|&&run| passed(run)).count();
        let value = (!runs.is_empty()).then(|| 100.0 * right as f64 / runs.len() as f64);
        let detail = |line: &Line<'_>| match line.told {
            Told::Hidden { .. } => line.failure(),
            Told::Open(None) => Some(format!("{}: not run", line.name)),
            Told::Open(Some(ran)) if ran.passed => None,
            Told::Open(Some(ran)) => {
                let why = ran
                    .message
                    .as_ref()
                    .or(ran.details.first())
                    .map_or(ran.finish.as_str(), String::as_str);
                Some(format!("{}: {why}", line.name))
            }
        };
        Reading {
            points: points::points(bands, Figure::of(value), &[]),
            measured: format!("{right} of {} runs correct", runs.len()),
            details: self.told(runs, &passed).iter().filter_map(detail).collect(),
            trust: Trusted::memory(),
        }
    }

    /// Returns a metric of a correct run, with its text, or why there is none. The value is
    /// relative to the program compared with.
    fn figure(
        &self,
        run: usize,
        ran: Option<&Ran>,
        name: &str,
        than: Than,
    ) -> Result<(f64, String), String> {
        let at = self.assignment.run_name(run);
        let ran = ran
            .filter(|ran| ran.passed)
            .ok_or_else(|| format!("no figure: wrong result in {at}"))?;
        let &own = ran.metrics.get(name).ok_or_else(|| format!("no figure: {at} has no {name}"))?;
        let (measured, of) = match than {
            Than::Absolute => return Ok((own, format!("{} ({at})", number(own)))),
            Than::Reference => (self.reference, "reference"),
            Than::Baseline => (self.baseline, "baseline"),
        };
        let other = measured.runs.get(run).and_then(|ran| ran.metrics.get(name)).copied();
        let other = other
            .ok_or_else(|| format!("no figure: the program compared with has no {name} in {at}"))?;
        let ratio = ratio(own, other);
        Ok((
            ratio,
            format!("{}; {of}: {}; ratio: {} ({at})", number(own), number(other), times(ratio)),
        ))
    }

    /// Judges a metric by the worst run. The bands decide the direction; wrong results have no
    /// figure.
    fn metric(&self, runs: &[usize], (name, than): (&str, Than), bands: &[Band]) -> Reading {
        let first = metrics::find(name).map_or(name, |metric| metric.name);
        let more_is_better = bands.first().is_some_and(|band| band.at_least.is_some());
        let is_worse = |a: f64, b: f64| if more_is_better { a < b } else { a > b };
        let value =
            |run: usize| self.figure(run, self.ran(run), first, than).ok().map(|(value, _)| value);

        let (open, hidden) = self.apart(runs);
        let worst = |worst: Option<f64>, run: &usize| match (worst, value(*run)) {
            (Some(worst), Some(value)) => Some(if is_worse(value, worst) { value } else { worst }),
            _ => None,
        };
        let open = match open.split_first() {
            None => Figure::NoRun,
            Some((head, tail)) => Figure::of(tail.iter().fold(value(*head), worst)),
        };
        let of_hidden = |run: usize| self.of_hidden(run, value(run));
        let figures: Vec<Figure> = hidden.iter().map(|&run| of_hidden(run)).collect();
        let points = points::points(bands, open, &figures);

        let lines = self.told(runs, &|run| points::passes(bands, open, of_hidden(run)));
        let mut shown: Option<(f64, String, usize)> = None;
        for line in &lines {
            let Told::Open(ran) = line.told else { continue };
            match self.figure(line.run, ran, first, than) {
                Err(why) => {
                    shown = Some((0.0, why, line.run));
                    break;
                }
                Ok((value, words))
                    if shown.as_ref().is_none_or(|(known, ..)| is_worse(value, *known)) =>
                {
                    shown = Some((value, words, line.run));
                }
                Ok(_) => {}
            }
        }
        let (measured, run) = match shown {
            Some((_, words, run)) => (words, Some(run)),
            None => {
                let words = only_hidden(&lines).unwrap_or_else(|| "no figure: no such run".into());
                (words, runs.first().copied())
            }
        };
        let machine = run.and_then(|run| self.assignment.fingerprint(run)).unwrap_or_default();
        let details = lines.iter().filter_map(Line::failure).collect();
        Reading { points, measured, details, trust: Trusted::metric(first, &machine) }
    }

    fn checks(&self, runs: &[usize], kinds: &[String], warnings: bool, bands: &[Band]) -> Reading {
        let wanted = Checks::named(kinds.iter().map(String::as_str)).unwrap_or(Checks::ALL);
        let wanted = if kinds.is_empty() { Checks::ALL } else { wanted };
        // Warnings are shown even if they cost no points.
        let counts = |found: &Found| found.is_error || warnings;
        // The same finding in another run counts once.
        let distinct = |runs: &[(usize, Option<&Ran>)]| {
            let mut told = BTreeSet::new();
            let mut found: Vec<(usize, Found)> = Vec::new();
            for &(run, ran) in runs {
                let here = ran.map_or(&[][..], |ran| ran.findings.as_slice()).iter();
                let here = here.filter(|found| belongs(&found.code, wanted));
                found.extend(
                    here.filter(|f| told.insert((&f.code, &f.at)))
                        .map(|found| (run, found.clone())),
                );
            }
            found
        };
        // A program that does nothing has no findings.
        let wrong = |runs: &[(usize, Option<&Ran>)]| {
            runs.iter().find(|(_, ran)| ran.is_none_or(|ran| !ran.passed)).map(|&(run, _)| run)
        };
        let figure = |runs: &[usize]| {
            let runs: Vec<_> = runs.iter().map(|&run| (run, self.ran(run))).collect();
            match distinct(&runs).iter().filter(|(_, found)| counts(found)).count() {
                _ if runs.is_empty() => Figure::NoRun,
                0 if wrong(&runs).is_some() => Figure::None,
                errors => Figure::Of(errors as f64),
            }
        };
        let (open, hidden) = self.apart(runs);
        let open = figure(&open);
        let of_hidden = |run: usize| {
            let errors = if let Figure::Of(errors) = figure(&[run]) { Some(errors) } else { None };
            self.of_hidden(run, errors)
        };
        let figures: Vec<Figure> = hidden.iter().map(|&run| of_hidden(run)).collect();
        let points = points::points(bands, open, &figures);

        let lines = self.told(runs, &|run| points::passes(bands, open, of_hidden(run)));
        let known: Vec<(usize, Option<&Ran>)> = lines
            .iter()
            .filter_map(
                |line| if let Told::Open(ran) = line.told { Some((line.run, ran)) } else { None },
            )
            .collect();
        let found = distinct(&known);
        let words = |(run, found): &(usize, Found)| {
            let kind = if counts(found) { "" } else { "warning, " };
            format!("{kind}{}, {}: {}", found.code, self.assignment.run_name(*run), found.text)
        };
        let mut details: Vec<String> = found.iter().map(words).collect();
        details.extend(lines.iter().filter_map(Line::failure));
        let errors = found.iter().filter(|(_, found)| counts(found)).count();
        let measured = match (only_hidden(&lines), wrong(&known), errors) {
            (Some(words), ..) => words,
            (_, Some(run), 0) => {
                format!("no figure: wrong result in {}", self.assignment.run_name(run))
            }
            (_, None, 0) => "nothing found".to_owned(),
            (_, _, n) => format!("{n} found"),
        };
        Reading { points, measured, details, trust: Trusted::checks() }
    }

    fn instructions(
        &self,
        forbid: &[Pattern],
        require: &[Pattern],
        allow: &[Pattern],
        bands: &[Band],
    ) -> Reading {
        let used = &self.own.instructions;
        let mut details = Vec::new();
        for used in used {
            let at = || format!("{}: `{}`", used.place, super::one_line(&used.mnemonic));
            if let Some(pattern) = forbid.iter().find(|pattern| pattern.matches(used)) {
                details.push(format!("{} is forbidden ({pattern})", at()));
            } else if !allow.is_empty() && !allow.iter().any(|pattern| pattern.matches(used)) {
                details.push(format!("{} is not allowed", at()));
            }
        }
        // Instructions executed on hidden inputs are told only if there is no open input, and then
        // as one bit.
        let all_hidden = (0..self.assignment.runs.len()).all(|run| self.assignment.is_hidden(run));
        let executed = |used: &Used| if all_hidden { used.executed_hidden } else { used.executed };
        let is_missing =
            |pattern: &&Pattern| !used.iter().any(|used| executed(used) && pattern.matches(used));
        let missing: Vec<&Pattern> = require.iter().filter(is_missing).collect();
        match missing.as_slice() {
            [_, ..] if all_hidden => {
                details.push("not every required instruction is executed".to_owned())
            }
            missing => {
                let words = |pattern: &&Pattern| {
                    format!("{pattern} is required, but no open input executes it")
                };
                details.extend(missing.iter().map(words));
            }
        }
        let measured = match details.len() {
            0 => "no forbidden or missing instruction".to_owned(),
            n => format!("{n} forbidden or missing"),
        };
        let points = points::points(bands, Figure::Of(details.len() as f64), &[]);
        Reading { points, measured, details, trust: Trusted::exact() }
    }

    fn question(&self, id: &str, answer: &Answer, bands: &[Band]) -> Reading {
        let right = match answer {
            Answer::Number(number) => Some(*number),
            Answer::Metric { name, of, case, machine } => {
                let of = if *of == Than::Reference { self.reference } else { self.baseline };
                let first = metrics::find(name).map_or(name.as_str(), |metric| metric.name);
                let run = self.assignment.run_at(case, machine).and_then(|run| of.runs.get(run));
                run.and_then(|run| run.metrics.get(first)).copied()
            }
        };
        let is_secret = match answer {
            Answer::Metric { case, machine, .. } if self.reader == Reader::Student => {
                let run = self.assignment.run_at(case, machine);
                run.is_some_and(|run| self.assignment.is_hidden(run))
            }
            _ => false,
        };
        let given = self.answers.get(id).copied().filter(|given| given.is_finite());
        let (value, measured) = match (given, right) {
            (None, _) => (None, "no answer".to_owned()),
            (Some(_), None) => (None, "no measurement to compare with".to_owned()),
            (Some(given), Some(right)) => {
                let said = format!("your prediction: {}", number(given));
                // The measurement would reveal a hidden input.
                let words = match answer {
                    Answer::Number(_) => format!("{said}; answer: {}", number(right)),
                    Answer::Metric { .. } if is_secret => said,
                    Answer::Metric { .. } => format!("{said}; measured: {}", number(right)),
                };
                (Some((given - right).abs()), words)
            }
        };
        let trust = match answer {
            Answer::Number(_) => Trusted::exact(),
            Answer::Metric { name, case, machine, .. } => {
                let run = self.assignment.run_at(case, machine);
                let machine =
                    run.and_then(|run| self.assignment.fingerprint(run)).unwrap_or_default();
                Trusted::metric(name, &machine)
            }
        };
        let points = points::points(bands, Figure::of(value), &[]);
        Reading { points, measured, details: Vec::new(), trust }
    }

    fn leaders(&self) -> Vec<Leader> {
        let of = |entry: &super::LeaderboardEntry| {
            let ran = self
                .assignment
                .run_at(&entry.case, &entry.machine)
                .and_then(|run| self.ran(run))?;
            let first = metrics::find(&entry.metric)?.name;
            let value = ran.metrics.get(first).copied().filter(|_| ran.passed)?;
            let order = if entry.more_is_better { "desc" } else { "asc" };
            Some(Leader { name: entry.name.clone(), value, order })
        };
        self.assignment.spec.leaderboard.iter().filter_map(of).collect()
    }
}

/// Returns `own / other`; 0 / 0 is 1.
fn ratio(own: f64, other: f64) -> f64 {
    match (own, other) {
        (own, other) if own == other => 1.0,
        (_, 0.0) => f64::MAX,
        (own, other) => own / other,
    }
}

/// Returns true if a finding belongs to one of the selected checks.
fn belongs(code: &str, wanted: Checks) -> bool {
    match code.split('-').next().unwrap_or_default() {
        "race" => wanted.races,
        "unset" => wanted.init,
        "barrier" => wanted.barrier,
        "mask" => wanted.sync,
        _ => wanted.bounds,
    }
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

/// Formats a number for a reader: counts in full, ratios to three digits.
pub(crate) fn number(x: f64) -> String {
    match x {
        x if x == f64::MAX => "infinitely many".to_owned(),
        x if x >= 0.0 && x.fract() == 0.0 && x < 1e15 => grouped(x as u64),
        x => real(x),
    }
}
