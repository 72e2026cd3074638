//! Frequently asked questions about divergence, each answered by an experiment.
//!
//! An [`Experiment`] has the question in the asker's words, the programs it runs (bundled in the
//! binary) and a function from runs to [`Findings`]. Every figure of an answer comes from a run;
//! measurements on a real GPU and the sources are stored beside it as data. `lab` runs programs,
//! `draw` draws lanes, `programs` bundles the texts, `page` writes `docs/reference/ask.md`; the
//! other files hold the experiments by subject:
//!
//! - `branches`: one side, both sides, predication, order of the sides
//! - `loops`: trip counts; `nesting`: nested ifs, switches, the reconvergence stack; `exits`:
//!   return
//! - `compiled`: what nvcc made of a kernel, read from its machine code (`observed`: the H200's
//!   figures)
//! - `waiting`: locks, flags, block barriers; `exchange`: shuffles, votes, the active mask
//! - `counting`: divergent warps and profiler metrics; `reductions`: the textbook reductions
//! - `launches`: work that takes several launches; `matrices`: matrix products
//! - `memory`: sectors and bank conflicts; `hiding`: latency hiding and occupancy
//! - `seeds`: claims of published sources and their verdicts: `docs/reference/seeds.md`

mod branches;
mod compiled;
mod counting;
pub(crate) mod draw;
mod exchange;
mod exits;
mod hiding;
pub(crate) mod lab;
mod launches;
mod loops;
mod matrices;
mod memory;
mod nesting;
mod observed;
mod page;
pub(crate) mod programs;
mod reconvergence;
mod reductions;
mod seeds;
mod waiting;

pub use page::page;
pub use programs::Bundled;
pub use seeds::seeds;

use simt_core::diag::closest;
use simt_report::{Answer, FigureTable, Hardware, Picture, Question, Questions, Source};

/// A question and the experiment that answers it.
pub struct Experiment {
    /// Name: `simt-sim ask NAME`.
    pub name: &'static str,
    /// Question as people ask it.
    pub question: &'static str,
    /// Programs it runs.
    pub programs: &'static [Bundled],
    /// Sources of the question.
    pub sources: &'static [Source],
    /// Result on a real H200, where measured.
    pub on_h200: Option<&'static str>,
    /// Experiment.
    find: fn() -> Result<Findings, AskError>,
}

/// Result of an experiment: the part of an [`Answer`] that comes from runs.
#[derive(Clone, Debug, Default)]
pub struct Findings {
    /// Answer in one line.
    pub short: String,
    /// Lanes over time.
    pub pictures: Vec<Picture>,
    /// Figures.
    pub tables: Vec<FigureTable>,
    /// Explanation.
    pub sentences: Vec<String>,
}

/// Failure of an experiment. Only a change of a bundled program or of the simulator can cause one,
/// and the tests report it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AskError {
    /// The program does not run.
    #[error("cannot run `{program}`: {why}")]
    Program {
        /// Path of the program.
        program: String,
        /// Reason.
        why: String,
    },
    /// A run does not satisfy an expectation of its program.
    #[error("`{program}` expects `{expectation}`, which does not hold")]
    Expectation {
        /// Path of the program.
        program: String,
        /// Expectation as written.
        expectation: String,
    },
    /// A run lacks a metric, buffer or step.
    #[error("the run of `{program}` has no {what}")]
    Missing {
        /// Path of the program.
        program: String,
        /// Missing item.
        what: String,
    },
}

/// Device and tools of the measurements on the H200.
const H200: &str = "one NVIDIA H200, CUDA 13.0; kernels compiled with nvcc -O3 -arch=sm_90, \
                    counters from Nsight Compute";

impl Experiment {
    /// Runs the experiment.
    ///
    /// # Errors
    /// If a bundled program fails or violates its expectations: an internal error.
    pub fn answer(&self) -> Result<Answer, AskError> {
        let Findings { short, pictures, tables, sentences } = (self.find)()?;
        Ok(Answer {
            schema: Answer::SCHEMA,
            name: self.name,
            question: self.question,
            short,
            pictures,
            tables,
            sentences,
            hardware: self.on_h200.map(|says| Hardware { device: H200, says }),
            sources: self.sources,
            programs: self.programs.iter().map(|p| p.path).collect(),
        })
    }
}

/// Every experiment, in the order of a course.
pub fn experiments() -> impl Iterator<Item = &'static Experiment> {
    [
        branches::EXPERIMENTS,
        loops::EXPERIMENTS,
        compiled::EXPERIMENTS,
        nesting::EXPERIMENTS,
        exits::EXPERIMENTS,
        counting::EXPERIMENTS,
        waiting::EXPERIMENTS,
        exchange::EXPERIMENTS,
        reductions::EXPERIMENTS,
        launches::EXPERIMENTS,
        matrices::EXPERIMENTS,
        memory::EXPERIMENTS,
        hiding::EXPERIMENTS,
    ]
    .into_iter()
    .flatten()
}

/// Returns the experiment named `name`.
pub fn find(name: &str) -> Option<&'static Experiment> {
    experiments().find(|e| e.name == name)
}

/// Returns the closest experiment name to a misspelt `name`.
pub fn suggest(name: &str) -> Option<&'static str> {
    closest(name, experiments().map(|e| e.name))
}

/// List of all questions.
pub fn questions() -> Questions {
    let question = |e: &'static Experiment| Question {
        name: e.name,
        question: e.question,
        sources: e.sources,
        programs: e.programs.iter().map(|p| p.path).collect(),
    };
    Questions { schema: Questions::SCHEMA, questions: experiments().map(question).collect() }
}
