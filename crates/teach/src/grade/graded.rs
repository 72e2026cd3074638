//! A graded submission: the contents of every report format.

use serde::{Deserialize, Serialize};

/// A graded submission.
#[derive(Clone, Debug, Serialize)]
pub struct Graded {
    /// Schema tag, [`Graded::SCHEMA`].
    pub schema: &'static str,
    /// Version of the simulator.
    pub version: &'static str,
    /// Title of the assignment.
    pub assignment: String,
    /// Name of the submission.
    pub submission: String,
    /// Points.
    pub score: f64,
    /// Maximum points.
    pub max: f64,
    /// Reason why the submission could not be judged.
    pub failed: Option<Failed>,
    /// Marks of the criteria, in the assignment's order.
    pub criteria: Vec<Mark>,
    /// Notes for the student, a sentence each.
    pub notes: Vec<String>,
    /// Lane map of the branch that diverged most often, with colours.
    #[serde(skip)]
    pub map: Option<String>,
    /// Leaderboard figures.
    pub leaderboard: Vec<Leader>,
}

/// Reason why a submission could not be judged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind", content = "why")]
pub enum Failed {
    /// The submission cannot be run.
    Refused(String),
    /// The submission exceeded a limit.
    Limit(String),
    /// The simulator failed; not the student's fault.
    Grader(String),
}

impl Failed {
    /// Removes the details that could depend on an input.
    pub(super) fn without_detail(self) -> Failed {
        match self {
            Failed::Refused(why) => Failed::Refused(why),
            Failed::Limit(_) => {
                Failed::Limit("it exceeded the limit on time, memory or output".to_owned())
            }
            Failed::Grader(_) => {
                Failed::Grader("run `simt-sim grade --show-hidden` for the reason".to_owned())
            }
        }
    }

    /// The reason in a sentence.
    pub fn text(&self) -> String {
        match self {
            Failed::Refused(why) => format!("The submission cannot be run: {why}"),
            Failed::Limit(why) => format!("The submission was stopped: {why}"),
            Failed::Grader(why) => {
                format!(
                    "The simulator failed; this is not the submission's fault. Tell your teacher: \
                     {why}",
                )
            }
        }
    }
}

/// A leaderboard figure.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Leader {
    /// Column name.
    pub name: String,
    /// Value.
    pub value: f64,
    /// Sort order: `asc` or `desc`.
    pub order: &'static str,
}

/// Mark of one criterion.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Mark {
    /// Id of the criterion.
    pub id: String,
    /// Title.
    pub title: String,
    /// Points.
    pub points: f64,
    /// Maximum points.
    pub max: f64,
    /// Measured value.
    pub measured: String,
    /// Required value.
    pub wanted: String,
    /// Hint; empty with full points.
    pub hint: String,
    /// Trustworthiness of the figure.
    pub trust: String,
    /// Page that explains it.
    pub trust_page: &'static str,
    /// Details, a line each.
    pub details: Vec<String>,
    /// True if students see it only after the due date.
    pub hidden: bool,
}

impl Mark {
    /// Returns true if the criterion has full points.
    pub fn is_full(&self) -> bool {
        self.points >= self.max - 1e-9
    }
}

impl Graded {
    /// Schema tag of the JSON format.
    pub const SCHEMA: &'static str = "simt-sim/grade/1";

    /// Returns true if every criterion has full points.
    pub fn is_full(&self) -> bool {
        self.failed.is_none() && self.criteria.iter().all(Mark::is_full)
    }

    /// Mark of one criterion.
    pub fn mark(&self, id: &str) -> Option<&Mark> {
        self.criteria.iter().find(|mark| mark.id == id)
    }

    /// Serializes the grade as indented JSON, ending in a line break.
    ///
    /// # Errors
    /// Never fails: every value has a JSON form.
    pub fn to_json(&self) -> serde_json::Result<String> {
        serde_json::to_string_pretty(self).map(|json| json + "\n")
    }
}
