//! Questions with numeric answers: predict, then run and reveal.
//!
//! A [`Question`] comes with an excerpt of the program. Only [`Question::reveal`], called after a
//! prediction, runs anything. It returns a [`Revealed`]: the figure of the run, a picture of the
//! lanes, and other figures of the same run that explain a wrong prediction.
//!
//! Questions come from three places:
//!
//! - `families`: a bundled program with randomly drawn numbers ([`Dice`]). Each family has a closed
//!   form, which tests compare with the runs; the answer itself is always measured.
//! - `figures`: a figure of an experiment of `simt-sim ask`.
//! - `of_assignment`: the questions of an assignment, about its starter.
//!
//! The first two form [`TOPICS`], named after the experiments that continue each topic.
//! `prediction` and `show` handle input and printing. Nothing here reads a terminal or a file.

mod bench;
mod dice;
mod excerpt;
mod families;
mod figures;
mod of_assignment;
mod pictures;
mod prediction;
mod seen;
pub mod show;
mod topics;

use std::collections::BTreeMap;

pub use crate::ask::AskError;
pub use dice::Dice;
pub use of_assignment::of_assignment;
pub use prediction::{Said, Score, Turn};
pub use topics::{TOPICS, Topic, find, mixed, suggest};

use simt_report::{FigureTable, Picture};

/// A question with a numeric answer.
pub struct Question<'a> {
    /// Topic name, or the id of an assignment's criterion.
    pub name: String,
    /// Question text.
    pub text: String,
    /// Excerpt of the program.
    pub shown: Option<Picture>,
    /// Tolerance of a prediction.
    pub within: f64,
    /// Hint.
    pub hint: String,
    /// Randomly drawn numbers, by name.
    pub drawn: BTreeMap<&'static str, u64>,
    /// Run that answers the question.
    answer: Answering<'a>,
}

/// Function that computes the answer.
type Answering<'a> = Box<dyn Fn() -> Result<Revealed, AskError> + 'a>;

/// Answer to a question, with its explanation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Revealed {
    /// Answer.
    pub answer: f64,
    /// True if the assignment states the answer and no figure of the run matches it.
    pub is_stated: bool,
    /// Run that gave the answer or was inspected.
    pub measured: String,
    /// Pictures of the lanes.
    pub pictures: Vec<Picture>,
    /// Figures of the run.
    pub table: Option<FigureTable>,
    /// Other figures of the run that a wrong prediction may match.
    pub others: Vec<Other>,
    /// Explanation, in sentences with figures of the run.
    pub because: Vec<String>,
    /// Trustworthiness of the figure.
    pub trust: String,
    /// Commands that show more.
    pub read_on: Vec<String>,
}

/// Another figure of the run.
#[derive(Clone, Debug, PartialEq)]
pub struct Other {
    /// Value.
    pub value: f64,
    /// Description that completes "N is ..".
    pub what: String,
}

/// A count that follows from the program and the machine's rules, not from timing.
const EXACT: &str = "exact count";
/// An answer without a measurement.
const STATED: &str = "stated by the assignment";
/// A figure that depends on the model's timing.
const ESTIMATE: &str =
    "model estimate (see docs/reference/validation.md for the error on unseen kernels)";

impl Question<'_> {
    /// Runs the program and returns the answer.
    ///
    /// # Errors
    /// If the program does not run or violates its expectations.
    pub fn reveal(&self) -> Result<Revealed, AskError> {
        (self.answer)()
    }

    /// Returns true if a prediction is within the tolerance.
    pub fn is_met(&self, predicted: f64, answer: f64) -> bool {
        // Decimal tolerances must hold at their bounds.
        (predicted - answer).abs() <= self.within + 1e-9
    }
}

impl Revealed {
    /// Describes the figure of the run that equals a wrong prediction, if any.
    pub fn mistaken_for(&self, predicted: f64) -> Option<&str> {
        let same = |other: &&Other| {
            (other.value - predicted).abs() < 1e-9 && (other.value - self.answer).abs() > 1e-9
        };
        self.others.iter().find(same).map(|other| other.what.as_str())
    }
}
