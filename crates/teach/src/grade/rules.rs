//! Criteria of an assignment: points, the measured rule, and bands for partial points.

use serde::Deserialize;

use super::instructions::Pattern;

/// One criterion of an assignment.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Criterion {
    /// Name for `--only` and for graders' tables.
    pub id: String,
    /// Title shown to the student.
    pub title: String,
    /// Maximum points.
    pub points: f64,
    /// Rule that is measured.
    pub rule: Rule,
    /// Thresholds, best first; the first one that holds decides. If empty, the rule's default bound
    /// gives all points or none.
    #[serde(default)]
    pub bands: Vec<Band>,
    /// Hint shown if points are missing.
    #[serde(default)]
    pub hint: String,
    /// Explanation of the answer, shown by `simt-sim quiz` after the answer. Grading never shows
    /// it.
    #[serde(default)]
    pub because: String,
    /// True if students see it only after the due date.
    #[serde(default)]
    pub hidden: bool,
}

/// Points for a measured value within a bound.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Band {
    /// Largest value in the band.
    #[serde(default)]
    pub at_most: Option<f64>,
    /// Smallest value in the band.
    #[serde(default)]
    pub at_least: Option<f64>,
    /// Points for a value in the band.
    pub points: f64,
}

impl Band {
    /// Returns true if `value` is within the bounds.
    pub fn holds(&self, value: f64) -> bool {
        self.at_most.is_none_or(|most| value <= most)
            && self.at_least.is_none_or(|least| value >= least)
    }
}

/// Divisor of a metric.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
pub enum Than {
    /// No divisor: the value itself.
    #[default]
    Absolute,
    /// The same metric of the reference in the same run.
    Reference,
    /// The same metric of the baseline in the same run.
    Baseline,
}

/// Measured quantity. Empty lists of cases or machines mean all of the assignment's.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum Rule {
    /// Percentage of runs whose expectations hold.
    Results {
        /// Cases.
        #[serde(default)]
        cases: Vec<String>,
        /// Machines.
        #[serde(default)]
        machines: Vec<String>,
    },
    /// Metric of the report. The worst run counts; runs with wrong results have no value.
    Metric {
        /// Name, any of `simt-sim metrics`.
        name: String,
        /// Program to compare with.
        #[serde(default)]
        than: Than,
        /// Cases.
        #[serde(default)]
        cases: Vec<String>,
        /// Machines.
        #[serde(default)]
        machines: Vec<String>,
    },
    /// Number of errors found by checks. Races, uninitialised reads, misused barriers and masks,
    /// bad addresses.
    Checks {
        /// Names of checks; all if empty.
        #[serde(default)]
        kinds: Vec<String>,
        /// True if warnings count as well: faults that are harmless on existing machines.
        #[serde(default)]
        warnings: bool,
        /// Cases.
        #[serde(default)]
        cases: Vec<String>,
        /// Machines.
        #[serde(default)]
        machines: Vec<String>,
    },
    /// Number of forbidden or missing instructions.
    Instructions {
        /// Instructions that must not occur.
        #[serde(default)]
        forbid: Vec<Pattern>,
        /// Instructions that some run must execute.
        #[serde(default)]
        require: Vec<Pattern>,
        /// If not empty, the only instructions that may occur.
        #[serde(default)]
        allow: Vec<Pattern>,
    },
    /// Number to predict: the error of the prediction.
    Question {
        /// Question text.
        text: String,
        /// Answer.
        answer: Answer,
        /// Tolerance of a prediction.
        #[serde(default)]
        within: f64,
        /// Excerpt for `simt-sim quiz`. The starter's lines from one that contains the first text
        /// to one that contains the second.
        #[serde(default)]
        show: Option<(String, String)>,
    },
}

/// Answer to a question.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum Answer {
    /// Fixed number.
    Number(f64),
    /// A metric of the reference or baseline in one run.
    Metric {
        /// Name of the metric.
        name: String,
        /// Program: reference or baseline.
        of: Than,
        /// Case.
        case: String,
        /// Machine.
        machine: String,
    },
}

impl Rule {
    /// Returns the cases and machines of the rule; empty means all. `None` for rules without runs.
    pub fn runs(&self) -> Option<(&[String], &[String])> {
        match self {
            Rule::Results { cases, machines }
            | Rule::Metric { cases, machines, .. }
            | Rule::Checks { cases, machines, .. } => Some((cases, machines)),
            Rule::Instructions { .. } | Rule::Question { .. } => None,
        }
    }

    /// Bands of a criterion without bands of its own.
    pub(super) fn usual_bands(&self, points: f64) -> Vec<Band> {
        let bound = match self {
            Rule::Results { .. } => Band { at_most: None, at_least: Some(100.0), points },
            Rule::Checks { .. } | Rule::Instructions { .. } => {
                Band { at_most: Some(0.0), at_least: None, points }
            }
            Rule::Question { within, .. } => {
                Band { at_most: Some(*within), at_least: None, points }
            }
            Rule::Metric { than: Than::Absolute, .. } => return Vec::new(),
            Rule::Metric { .. } => Band { at_most: Some(1.0), at_least: None, points },
        };
        vec![bound]
    }
}
