//! Bundled programs with drawn numbers, and the figures read from their runs.
//!
//! The counts asked for do not depend on mode or timing. They are measured in both modes, each on
//! its default machine and as written; if the modes differ, the answer is that of the volta mode
//! and says so.

use std::collections::BTreeMap;

use super::excerpt::{Excerpt, excerpt, plain};
use super::{AskError, EXACT, Other, Question, Revealed};
use crate::ask::Bundled;
use crate::ask::lab::{Done, MODES, Trial, Watched, each};
use simt_core::spec::Mode;
use simt_report::numbers::grouped;
use simt_report::{Branch, InstructionRow};

/// A program and its constants.
#[derive(Clone)]
pub(super) struct Setup {
    program: &'static Bundled,
    set: BTreeMap<&'static str, u64>,
    excerpt: (&'static str, &'static str),
}

/// Executions of a branch, and those that split the warp.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Split {
    pub(super) executed: u64,
    pub(super) divergent: u64,
}

impl Setup {
    /// Creates a setup: program, excerpt for the question, and changed constants.
    pub(super) fn new<const N: usize>(
        program: &'static Bundled,
        excerpt: (&'static str, &'static str),
        set: [(&'static str, u64); N],
    ) -> Setup {
        Setup { program, set: set.into(), excerpt }
    }

    /// Value of a constant.
    pub(super) fn get(&self, name: &str) -> u64 {
        self.set.get(name).copied().unwrap_or_default()
    }

    /// Excerpt for the question.
    pub(super) fn excerpt(&self) -> Option<Excerpt> {
        excerpt(self.program.path, self.program.text, self.excerpt.0, self.excerpt.1)
    }

    /// Builds a question about the program.
    pub(super) fn question(
        &self,
        topic: &str,
        text: String,
        hint: &str,
        answer: impl Fn(&Setup) -> Result<Revealed, AskError> + 'static,
    ) -> Question<'static> {
        let setup = self.clone();
        Question {
            name: topic.to_owned(),
            text,
            shown: self.excerpt().map(|excerpt| excerpt.picture),
            within: 0.0,
            hint: hint.to_owned(),
            drawn: self.set.clone(),
            answer: Box::new(move || answer(&setup)),
        }
    }

    /// Measures the count in both modes; returns the volta run for the explanation.
    pub(super) fn measure(
        &self,
        explain: &str,
        count: impl Fn(&Done) -> Result<u64, AskError>,
    ) -> Result<(Revealed, Done), AskError> {
        let [(_, before), (done, since)] = each(MODES, |mode| {
            let done = self.trial(mode).run()?;
            let count = count(&done)?;
            Ok((done, count))
        })?;
        let machines = [Mode::Volta, Mode::PreVolta]
            .map(|mode| format!("{} on {}", mode.name(), mode.default_machine()));
        let counts = match before == since {
            true => format!("the same in {} and {}", machines[0], machines[1]),
            false => format!(
                "{} in {}, {} in {}",
                grouped(since),
                machines[0],
                grouped(before),
                machines[1]
            ),
        };
        let set: Vec<String> =
            self.set.iter().map(|(name, value)| format!("{name} = {value}")).collect();
        let flags: String =
            self.set.iter().map(|(name, value)| format!(" --set {name}={value}")).collect();
        let revealed = Revealed {
            answer: since as f64,
            measured: format!(
                "{} with {}, as written: {counts}",
                self.program.path,
                set.join(", ")
            ),
            trust: EXACT.to_owned(),
            read_on: vec![
                format!("simt-sim run {}{flags} --lowering as-written", self.program.path),
                format!("simt-sim explain {explain}"),
            ],
            ..Revealed::default()
        };
        Ok((revealed, done))
    }

    /// Records the lanes of a block in volta mode.
    pub(super) fn watch(&self, block: u32) -> Result<Watched, AskError> {
        self.trial(Mode::Volta).watch_block(block)
    }

    fn trial(&self, mode: Mode) -> Trial {
        self.set
            .iter()
            .fold(Trial::new(self.program, mode), |trial, (name, &value)| trial.set(name, value))
    }
}

/// Issues of the instructions whose line contains `part`.
pub(super) fn issued(done: &Done, part: &str) -> u64 {
    rows(done).filter(|row| plain(&row.text).contains(part)).map(|row| row.executed).sum()
}

/// Issues of the instructions in a range of lines.
pub(super) fn issued_in(done: &Done, (first, last): (u32, u32)) -> u64 {
    rows(done).filter(|row| (first..=last).contains(&row.line)).map(|row| row.executed).sum()
}

/// Active lanes of all issues of the instructions whose line contains `part`.
pub(super) fn lanes(done: &Done, part: &str) -> u64 {
    let of = |row: &InstructionRow| {
        (row.executed as f64 * row.average_active_lanes.unwrap_or(0.0)).round() as u64
    };
    rows(done).filter(|row| plain(&row.text).contains(part)).map(of).sum()
}

/// Executions and splits of the branches whose line contains `part`.
pub(super) fn split(done: &Done, part: &str) -> Split {
    let branches =
        done.report().branches.iter().filter(|branch| plain(&branch.text).contains(part));
    let add = |sum: Split, branch: &Branch| Split {
        executed: sum.executed + branch.executed,
        divergent: sum.divergent + branch.divergent,
    };
    branches.fold(Split::default(), add)
}

/// Instructions of the program without join steps.
fn rows(done: &Done) -> impl Iterator<Item = &InstructionRow> {
    done.report().instructions.iter().filter(|row| row.instruction.is_some())
}

/// Builds another figure of the run.
pub(super) fn other(value: u64, what: impl Into<String>) -> Other {
    Other { value: value as f64, what: what.into() }
}
