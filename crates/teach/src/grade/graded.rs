//! A submission with its points: what every form of the report shows.

use serde::Serialize;

/// A submission with its points.
#[derive(Clone, Debug, Serialize)]
pub struct Graded {
    /// [`Graded::SCHEMA`].
    pub schema: &'static str,
    /// The simulator's version.
    pub version: &'static str,
    /// The assignment's title.
    pub assignment: String,
    /// The submission, as it was named.
    pub submission: String,
    /// Points.
    pub score: f64,
    /// The most there are.
    pub max: f64,
    /// Why it could not be judged, if it could not.
    pub failed: Option<Failed>,
    /// What was given for each criterion, in the assignment's order.
    pub criteria: Vec<Mark>,
    /// What a student must know, a sentence each.
    pub notes: Vec<String>,
    /// The branch that diverged most often, as a lane map with colours.
    #[serde(skip)]
    pub map: Option<String>,
    /// Figures for leaderboards.
    pub leaderboard: Vec<Leader>,
}

/// Why a submission could not be judged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "kind", content = "why")]
pub enum Failed {
    /// It cannot be run.
    Refused(String),
    /// It went over a limit.
    Limit(String),
    /// The simulator itself failed: not the student's fault.
    Grader(String),
}

impl Failed {
    /// The same with nothing in it that could depend on an input: which limit, or what the simulator said.
    pub(super) fn without_detail(self) -> Failed {
        match self {
            Failed::Refused(why) => Failed::Refused(why),
            Failed::Limit(_) => Failed::Limit("it went over the limit on time, memory or output".to_owned()),
            Failed::Grader(_) => Failed::Grader("`simt-sim grade --show-hidden` has the reason".to_owned()),
        }
    }

    /// The reason in a sentence.
    pub fn text(&self) -> String {
        match self {
            Failed::Refused(why) => format!("The submission cannot be run: {why}"),
            Failed::Limit(why) => format!("The submission was stopped: {why}"),
            Failed::Grader(why) => {
                format!("The simulator failed, which is not the submission's fault; tell your teacher: {why}")
            }
        }
    }
}

/// A figure for a leaderboard.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Leader {
    /// What it is called.
    pub name: String,
    /// The figure.
    pub value: f64,
    /// `asc` or `desc`.
    pub order: &'static str,
}

/// What was given for a criterion.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Mark {
    /// The criterion's name.
    pub id: String,
    /// What it is about.
    pub title: String,
    /// Points.
    pub points: f64,
    /// The most there are.
    pub max: f64,
    /// What was measured.
    pub measured: String,
    /// What was wanted.
    pub wanted: String,
    /// What to think about; empty with all points.
    pub hint: String,
    /// How far to trust the figure.
    pub trust: String,
    /// The page that says why.
    pub trust_page: &'static str,
    /// More about it, a line each.
    pub details: Vec<String>,
    /// Whether students see it only after the due date.
    pub hidden: bool,
}

impl Mark {
    /// Whether it has all points.
    pub fn is_full(&self) -> bool {
        self.points >= self.max - 1e-9
    }
}

impl Graded {
    /// The tag of the JSON form.
    pub const SCHEMA: &'static str = "simt-sim/grade/1";

    /// Whether it has all points.
    pub fn is_full(&self) -> bool {
        self.failed.is_none() && self.criteria.iter().all(Mark::is_full)
    }

    /// The mark of one criterion.
    pub fn mark(&self, id: &str) -> Option<&Mark> {
        self.criteria.iter().find(|mark| mark.id == id)
    }

    /// The grade as indented JSON, ending in a line break.
    ///
    /// # Errors
    /// None of its own: every value has a JSON form.
    pub fn to_json(&self) -> serde_json::Result<String> {
        serde_json::to_string_pretty(self).map(|json| json + "\n")
    }
}
