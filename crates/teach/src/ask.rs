//! Questions that people ask about divergence, each answered by an experiment.
//!
//! An [`Experiment`] has the question in the asker's words, the programs it runs (bundled in the binary), and a function
//! from runs to [`Findings`]. All figures of an answer come from the runs; what a real GPU did and who asked stand beside them as data.
//! `lab` runs programs, `draw` draws lanes, `programs` bundles the texts, `page` writes `docs/ask.md`, and the other files hold the experiments by subject:
//!
//! - `branches`: one side, both sides, no branch at all, which side first
//! - `loops`: trips; `nesting`: ifs within ifs, switches, the stack; `exits`: return
//! - `waiting`: locks, flags, block barriers; `exchange`: shuffles, votes, the active mask
//! - `counting`: how many warps diverge, what profilers report; `reductions`: the textbook's sums
//! - `memory`: sectors and banks; `hiding`: what covers latency, and what does not
//! - `seeds`: the same seen from the other end, claims of published sources with verdicts: `docs/seeds.md`

mod branches;
mod counting;
pub(crate) mod draw;
mod exchange;
mod exits;
mod hiding;
pub(crate) mod lab;
mod loops;
mod memory;
mod nesting;
mod page;
pub(crate) mod programs;
mod reductions;
mod seeds;
mod waiting;

pub use page::page;
pub use programs::Bundled;
pub use seeds::seeds;

use simt_core::diag::closest;
use simt_report::{Answer, FigureTable, Hardware, Picture, Question, Questions, Source};

/// A question and the way to its answer.
pub struct Experiment {
    /// What to call it: `simt-sim ask NAME`.
    pub name: &'static str,
    /// The question, as people ask it.
    pub question: &'static str,
    /// The programs it runs.
    pub programs: &'static [Bundled],
    /// Who asks, or says something on it.
    pub sources: &'static [Source],
    /// What a real H200 did, where it was looked at.
    pub on_h200: Option<&'static str>,
    /// The experiment.
    find: fn() -> Result<Findings, Trouble>,
}

/// What an experiment finds out: the part of an [`Answer`] that comes from runs.
#[derive(Clone, Debug, Default)]
pub struct Findings {
    /// The answer in one line.
    pub short: String,
    /// What the lanes did.
    pub pictures: Vec<Picture>,
    /// The figures.
    pub tables: Vec<FigureTable>,
    /// The answer in more words.
    pub sentences: Vec<String>,
}

/// Why an experiment has no answer. Only a change of a bundled program or of the simulator can cause it, and tests would tell.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Trouble {
    /// The program does not run.
    #[error("`{program}` does not run: {why}")]
    Program {
        /// The program.
        program: String,
        /// Why.
        why: String,
    },
    /// A run did not give what its program promises.
    #[error("`{program}` expects `{expectation}`, which does not hold")]
    Expectation {
        /// The program.
        program: String,
        /// The expectation, as written.
        expectation: String,
    },
    /// A run has no such metric, buffer or step.
    #[error("the run of `{program}` has no {what}")]
    Missing {
        /// The program.
        program: String,
        /// What was looked for.
        what: String,
    },
}

/// How the H200 was looked at.
const H200: &str = "one NVIDIA H200, CUDA 13.0, kernels by nvcc -O3 -arch=sm_90, counters by Nsight Compute";

impl Experiment {
    /// Runs it.
    ///
    /// # Errors
    /// When a bundled program does not do what it promises: a fault of ours.
    pub fn answer(&self) -> Result<Answer, Trouble> {
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

/// Every experiment, in the order in which a course would go through them.
pub fn experiments() -> impl Iterator<Item = &'static Experiment> {
    [
        branches::EXPERIMENTS,
        loops::EXPERIMENTS,
        nesting::EXPERIMENTS,
        exits::EXPERIMENTS,
        counting::EXPERIMENTS,
        waiting::EXPERIMENTS,
        exchange::EXPERIMENTS,
        reductions::EXPERIMENTS,
        memory::EXPERIMENTS,
        hiding::EXPERIMENTS,
    ]
    .into_iter()
    .flatten()
}

/// The experiment of this name.
pub fn find(name: &str) -> Option<&'static Experiment> {
    experiments().find(|e| e.name == name)
}

/// The name that `name` may have been meant to be.
pub fn suggest(name: &str) -> Option<&'static str> {
    closest(name, experiments().map(|e| e.name))
}

/// What can be asked.
pub fn questions() -> Questions {
    let question = |e: &'static Experiment| Question {
        name: e.name,
        question: e.question,
        sources: e.sources,
        programs: e.programs.iter().map(|p| p.path).collect(),
    };
    Questions { schema: Questions::SCHEMA, questions: experiments().map(question).collect() }
}
