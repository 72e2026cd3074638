//! What is asked of a submission: criteria with points, the rule by which each is measured, and bands for part of the points.

use serde::Deserialize;

use super::instructions::Pattern;

/// One criterion of an assignment.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Criterion {
    /// The name for `--only` and for graders' tables.
    pub id: String,
    /// What it is about, for the student.
    pub title: String,
    /// The most points.
    pub points: f64,
    /// What is measured.
    pub rule: Rule,
    /// Thresholds, best first; the first one that holds decides. Empty: all points for what the rule calls perfect, else none.
    #[serde(default)]
    pub bands: Vec<Band>,
    /// What to think about when points are missing.
    #[serde(default)]
    pub hint: String,
    /// Why the answer to a question is what it is, for after the answer (`simt-sim quiz`). Grading never shows it.
    #[serde(default)]
    pub because: String,
    /// Whether students see it only after the due date.
    #[serde(default)]
    pub hidden: bool,
}

/// Points for a measured value within a bound.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Band {
    /// The largest value that this band has.
    #[serde(default)]
    pub at_most: Option<f64>,
    /// The smallest one.
    #[serde(default)]
    pub at_least: Option<f64>,
    /// The points for it.
    pub points: f64,
}

impl Band {
    /// Whether `value` is within the bounds.
    pub fn holds(&self, value: f64) -> bool {
        self.at_most.is_none_or(|most| value <= most) && self.at_least.is_none_or(|least| value >= least)
    }
}

/// What a metric is divided by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
pub enum Than {
    /// Nothing: the value itself.
    #[default]
    Absolute,
    /// The same metric of the reference in the same run.
    Reference,
    /// The same metric of the baseline in the same run.
    Baseline,
}

/// What is measured. Empty lists of cases or machines mean all of the assignment's.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum Rule {
    /// The percentage of runs whose expectations hold.
    Results {
        /// The cases.
        #[serde(default)]
        cases: Vec<String>,
        /// The machines.
        #[serde(default)]
        machines: Vec<String>,
    },
    /// A metric of the report; the worst run counts, and none does whose result is wrong.
    Metric {
        /// Its name, any of `simt-sim metrics`.
        name: String,
        /// What it is relative to.
        #[serde(default)]
        than: Than,
        /// The cases.
        #[serde(default)]
        cases: Vec<String>,
        /// The machines.
        #[serde(default)]
        machines: Vec<String>,
    },
    /// The number of errors that checks find: races, uninitialised reads, misused barriers and masks, bad addresses.
    Checks {
        /// Names of checks; empty: all.
        #[serde(default)]
        kinds: Vec<String>,
        /// Whether warnings count as well: what does no harm on the machines that there are.
        #[serde(default)]
        warnings: bool,
        /// The cases.
        #[serde(default)]
        cases: Vec<String>,
        /// The machines.
        #[serde(default)]
        machines: Vec<String>,
    },
    /// The number of instructions that should not be there or are missing.
    Instructions {
        /// What must not occur.
        #[serde(default)]
        forbid: Vec<Pattern>,
        /// What some run must execute.
        #[serde(default)]
        require: Vec<Pattern>,
        /// When not empty: everything that may occur.
        #[serde(default)]
        allow: Vec<Pattern>,
    },
    /// A number that was to be predicted: how far off the answer is.
    Question {
        /// The question.
        text: String,
        /// What the answer is.
        answer: Answer,
        /// How far off an answer may be.
        #[serde(default)]
        within: f64,
        /// What `simt-sim quiz` shows with it: the starter's lines from one that contains the first text to one that contains
        /// the second.
        #[serde(default)]
        show: Option<(String, String)>,
    },
}

/// The answer to a question.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum Answer {
    /// This number.
    Number(f64),
    /// A metric of the reference or baseline in one run.
    Metric {
        /// Its name.
        name: String,
        /// Whose.
        of: Than,
        /// The case.
        case: String,
        /// The machine.
        machine: String,
    },
}

impl Rule {
    /// The cases and machines it looks at; empty means all. `None` for rules that are not about runs.
    pub fn runs(&self) -> Option<(&[String], &[String])> {
        match self {
            Rule::Results { cases, machines }
            | Rule::Metric { cases, machines, .. }
            | Rule::Checks { cases, machines, .. } => Some((cases, machines)),
            Rule::Instructions { .. } | Rule::Question { .. } => None,
        }
    }

    /// The bands of a criterion that names none.
    pub(super) fn usual_bands(&self, points: f64) -> Vec<Band> {
        let bound = match self {
            Rule::Results { .. } => Band { at_most: None, at_least: Some(100.0), points },
            Rule::Checks { .. } | Rule::Instructions { .. } => Band { at_most: Some(0.0), at_least: None, points },
            Rule::Question { within, .. } => Band { at_most: Some(*within), at_least: None, points },
            Rule::Metric { than: Than::Absolute, .. } => return Vec::new(),
            Rule::Metric { .. } => Band { at_most: Some(1.0), at_least: None, points },
        };
        vec![bound]
    }
}
