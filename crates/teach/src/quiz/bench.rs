//! A bundled program with numbers drawn for it, and what is read of its runs.
//!
//! Questions of this kind are about counts that no mode and no timing changes. They are measured in both modes, each on its
//! usual machine and as written; should the two differ, the answer says so and is that of the volta mode.

use std::collections::BTreeMap;

use super::excerpt::{Excerpt, excerpt, plain};
use super::{EXACT, Other, Question, Revealed, Trouble};
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

/// How often a branch was executed and how often it split the warp.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Split {
    pub(super) executed: u64,
    pub(super) divergent: u64,
}

impl Setup {
    /// A program, the lines of it that a question is about, and the constants that are changed.
    pub(super) fn new<const N: usize>(
        program: &'static Bundled,
        excerpt: (&'static str, &'static str),
        set: [(&'static str, u64); N],
    ) -> Setup {
        Setup { program, set: set.into(), excerpt }
    }

    /// The value of a constant.
    pub(super) fn get(&self, name: &str) -> u64 {
        self.set.get(name).copied().unwrap_or_default()
    }

    /// The lines that the question is about.
    pub(super) fn excerpt(&self) -> Option<Excerpt> {
        excerpt(self.program.path, self.program.text, self.excerpt.0, self.excerpt.1)
    }

    /// A question about it.
    pub(super) fn question(
        &self,
        topic: &str,
        text: String,
        hint: &str,
        answer: impl Fn(&Setup) -> Result<Revealed, Trouble> + 'static,
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

    /// The count that answers, in both modes, and the run in volta mode for what explains it.
    pub(super) fn measure(
        &self,
        explain: &str,
        count: impl Fn(&Done) -> Result<u64, Trouble>,
    ) -> Result<(Revealed, Done), Trouble> {
        let [(_, before), (done, since)] = each(MODES, |mode| {
            let done = self.trial(mode).run()?;
            let count = count(&done)?;
            Ok((done, count))
        })?;
        let machines =
            [Mode::Volta, Mode::PreVolta].map(|mode| format!("{} on {}", mode.name(), mode.default_machine()));
        let counts = match before == since {
            true => format!("the same in {} and {}", machines[0], machines[1]),
            false => format!("{} in {}, {} in {}", grouped(since), machines[0], grouped(before), machines[1]),
        };
        let set: Vec<String> = self.set.iter().map(|(name, value)| format!("{name} = {value}")).collect();
        let flags: String = self.set.iter().map(|(name, value)| format!(" --set {name}={value}")).collect();
        let revealed = Revealed {
            answer: since as f64,
            measured: format!("{} with {}, as written: {counts}", self.program.path, set.join(", ")),
            trust: EXACT.to_owned(),
            read_on: vec![
                format!("simt-sim run {}{flags} --lowering as-written", self.program.path),
                format!("simt-sim explain {explain}"),
            ],
            ..Revealed::default()
        };
        Ok((revealed, done))
    }

    /// The lanes of a block, in volta mode.
    pub(super) fn watch(&self, block: u32) -> Result<Watched, Trouble> {
        self.trial(Mode::Volta).watch_block(block)
    }

    fn trial(&self, mode: Mode) -> Trial {
        self.set.iter().fold(Trial::new(self.program, mode), |trial, (name, &value)| trial.set(name, value))
    }
}

/// Times that warps issued the instructions whose line contains `part`.
pub(super) fn issued(done: &Done, part: &str) -> u64 {
    rows(done).filter(|row| plain(&row.text).contains(part)).map(|row| row.executed).sum()
}

/// Times that warps issued the instructions of these lines.
pub(super) fn issued_in(done: &Done, (first, last): (u32, u32)) -> u64 {
    rows(done).filter(|row| (first..=last).contains(&row.line)).map(|row| row.executed).sum()
}

/// Active lanes, summed over every issue of the instructions whose line contains `part`.
pub(super) fn lanes(done: &Done, part: &str) -> u64 {
    let of = |row: &InstructionRow| (row.executed as f64 * row.average_active_lanes.unwrap_or(0.0)).round() as u64;
    rows(done).filter(|row| plain(&row.text).contains(part)).map(of).sum()
}

/// What became of the branches whose line contains `part`.
pub(super) fn split(done: &Done, part: &str) -> Split {
    let branches = done.report().branches.iter().filter(|branch| plain(&branch.text).contains(part));
    let add = |sum: Split, branch: &Branch| Split {
        executed: sum.executed + branch.executed,
        divergent: sum.divergent + branch.divergent,
    };
    branches.fold(Split::default(), add)
}

/// The program's instructions, joins left out.
fn rows(done: &Done) -> impl Iterator<Item = &InstructionRow> {
    done.report().instructions.iter().filter(|row| row.instruction.is_some())
}

/// Another figure of a run.
pub(super) fn other(value: u64, what: impl Into<String>) -> Other {
    Other { value: value as f64, what: what.into() }
}
