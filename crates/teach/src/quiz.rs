//! Predict, then reveal: questions with a number for an answer that a run gives.
//!
//! A [`Question`] is asked with what is needed to think about it (an excerpt of the program); only [`Question::reveal`], called when
//! a prediction has been made, runs anything. What comes back ([`Revealed`]) is the figure of that run, what its lanes did,
//! and other figures of the same run with which a wrong prediction can be told apart.
//!
//! Questions come from three places:
//!
//! - `families`: a bundled program with numbers drawn at random ([`Dice`]). Each family has a closed form, which tests
//!   hold the runs to; the answer itself is always measured.
//! - `figures`: a figure of an experiment of `simt-sim ask`.
//! - `of_assignment`: the questions of an assignment, about its starter.
//!
//! The first two are [`TOPICS`], under the names of the experiments that go on where they end. Prediction and printing are
//! `prediction` and `show`. Nothing here reads a terminal or a file.

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

pub use crate::ask::Trouble;
pub use dice::Dice;
pub use of_assignment::of_assignment;
pub use prediction::{Said, Score, Turn};
pub use topics::{TOPICS, Topic, find, mixed, suggest};

use simt_report::{FigureTable, Picture};

/// A question to be answered by a number.
pub struct Question<'a> {
    /// Where it belongs: a topic's name, or the id of an assignment's criterion.
    pub name: String,
    /// The question.
    pub text: String,
    /// What it is about: lines of a program.
    pub shown: Option<Picture>,
    /// How far off a prediction may be.
    pub within: f64,
    /// What to think about.
    pub hint: String,
    /// The numbers that were drawn for it, by name.
    pub drawn: BTreeMap<&'static str, u64>,
    /// The run that answers it.
    answer: Answering<'a>,
}

/// What runs when the answer is asked for.
type Answering<'a> = Box<dyn Fn() -> Result<Revealed, Trouble> + 'a>;

/// The answer to a question, with what explains it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Revealed {
    /// The figure.
    pub answer: f64,
    /// Whether it is the assignment's word, in which no figure of the run is found.
    pub is_stated: bool,
    /// Which run gave it, or was looked at.
    pub measured: String,
    /// What the lanes did.
    pub pictures: Vec<Picture>,
    /// Figures of the run.
    pub table: Option<FigureTable>,
    /// Other figures of the run, which a prediction may have meant.
    pub others: Vec<Other>,
    /// Why it is so, in sentences with the run's figures.
    pub because: Vec<String>,
    /// How far to trust the figure.
    pub trust: String,
    /// Commands that say more.
    pub read_on: Vec<String>,
}

/// Another figure of the run that answered a question.
#[derive(Clone, Debug, PartialEq)]
pub struct Other {
    /// The figure.
    pub value: f64,
    /// What it is, to be read behind "that is".
    pub what: String,
}

/// A count that follows from the program and the rules of the machine, not from its timing.
const EXACT: &str = "exact count";
/// A number that nobody measured.
const STATED: &str = "the answer is the assignment's word";
/// A figure that depends on the model's timing.
const ESTIMATE: &str = "model estimate (docs/validation.md has its error on unseen kernels)";

impl Question<'_> {
    /// Runs what answers it.
    ///
    /// # Errors
    /// When the program does not run, or does not do what it promises.
    pub fn reveal(&self) -> Result<Revealed, Trouble> {
        (self.answer)()
    }

    /// Whether a prediction is as near as it must be.
    pub fn is_met(&self, predicted: f64, answer: f64) -> bool {
        // A tolerance written in decimals must hold at its border.
        (predicted - answer).abs() <= self.within + 1e-9
    }
}

impl Revealed {
    /// What a wrong prediction is in this run, if it is one of its figures.
    pub fn mistaken_for(&self, predicted: f64) -> Option<&str> {
        let same = |other: &&Other| (other.value - predicted).abs() < 1e-9 && (other.value - self.answer).abs() > 1e-9;
        self.others.iter().find(same).map(|other| other.what.as_str())
    }
}
