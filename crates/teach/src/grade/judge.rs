//! From figures to points: measured value, required value, and trustworthiness.

mod checks;
mod metric;
mod points;
mod told;

use std::collections::BTreeMap;

use super::assignment::Assignment;
use super::graded::{Failed, Graded, Leader, Mark};
use super::instructions::{Pattern, Used};
use super::measure::{Measured, Ran};
use super::rules::{Answer, Band, Criterion, Rule, Than};
use points::Figure;
use simt_report::evidence::{Fingerprint, PAGE, Standing};
use simt_report::metrics;
use simt_report::numbers::{grouped, real};
use simt_report::validation::PROGRAMS;
pub use told::Reader;
use told::{Line, Told};

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
            let points = |p: f64| format!("{} point{}", number(p), if p == 1.0 { "" } else { "s" });
            let partly: Vec<String> =
                rest.iter().map(of).map(|(b, p)| format!("{b} for {}", points(p))).collect();
            format!("{}{unit} ({})", of(first).0, partly.join(", "))
        }
    }
}

/// Formats a number for a reader: counts in full, ratios to three digits.
pub(crate) fn number(x: f64) -> String {
    match x {
        x if x >= 0.0 && x.fract() == 0.0 && x < 1e15 => grouped(x as u64),
        x => real(x),
    }
}
