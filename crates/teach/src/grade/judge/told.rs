//! What may be told of a run. Of a hidden input a student reads its name and whether it passes: words are made from [`Told`], and a
//! hidden run has nothing else in it. Points are made elsewhere (`points`), from everything.

use super::super::measure::Ran;
use super::Bench;

/// Who reads a grade.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reader {
    /// Somebody who must not learn what a hidden input holds.
    #[default]
    Student,
    /// Somebody who may see all.
    Lecturer,
}

/// What a reader may know of a run.
pub(super) enum Told<'a> {
    /// Everything; nothing where there was no run.
    Open(Option<&'a Ran>),
    /// Whether it passes.
    Hidden { passes: bool },
}

/// A run with its name, as a reader may know it.
pub(super) struct Line<'a> {
    /// The index of the run.
    pub(super) run: usize,
    /// `case on machine`
    pub(super) name: String,
    /// What is told.
    pub(super) told: Told<'a>,
}

impl<'a> Bench<'a> {
    /// The runs as the reader may know them; `passes` says of each whether it does.
    pub(super) fn told(&self, runs: &[usize], passes: &dyn Fn(usize) -> bool) -> Vec<Line<'a>> {
        let own = self.own;
        let told = |run: usize| match self.reader {
            Reader::Student if self.assignment.is_hidden(run) => Told::Hidden { passes: passes(run) },
            _ => Told::Open(own.runs.get(run)),
        };
        runs.iter().map(|&run| Line { run, name: self.assignment.run_name(run), told: told(run) }).collect()
    }
}

impl Line<'_> {
    /// The sentence on a hidden input that does not pass.
    pub(super) fn failure(&self) -> Option<String> {
        matches!(self.told, Told::Hidden { passes: false }).then(|| format!("{}: fails (a hidden input)", self.name))
    }
}

/// How many hidden inputs pass, where all are hidden.
pub(super) fn only_hidden(lines: &[Line<'_>]) -> Option<String> {
    let passes = |line: &Line<'_>| match line.told {
        Told::Hidden { passes } => Some(passes),
        Told::Open(_) => None,
    };
    let all = lines.iter().map(passes).collect::<Option<Vec<bool>>>().filter(|all| !all.is_empty())?;
    Some(format!("{} of {} hidden inputs pass", all.iter().filter(|&&passes| passes).count(), all.len()))
}
