//! Filter for reports on hidden inputs: a student reads only their names and whether they pass.
//! Words are made from [`Told`], which holds nothing else about a hidden run. Points are computed
//! elsewhere (`points`), from everything.

use super::super::measure::Ran;
use super::Bench;

/// Reader of a grade.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reader {
    /// A reader who must not learn the contents of hidden inputs.
    #[default]
    Student,
    /// A reader who may see everything.
    Lecturer,
}

/// The part of a run that a reader may know.
pub(super) enum Told<'a> {
    /// The whole run; `None` if it was not run.
    Open(Option<&'a Ran>),
    /// Pass or fail only.
    Hidden { passes: bool },
}

/// A run with its name, as a reader may know it.
pub(super) struct Line<'a> {
    /// Index of the run.
    pub(super) run: usize,
    /// `case on machine`
    pub(super) name: String,
    /// The part that may be told.
    pub(super) told: Told<'a>,
}

impl<'a> Bench<'a> {
    /// Filters runs for the reader; `passes` decides pass or fail of each.
    pub(super) fn told(&self, runs: &[usize], passes: &dyn Fn(usize) -> bool) -> Vec<Line<'a>> {
        let own = self.own;
        let told = |run: usize| match self.reader {
            Reader::Student if self.assignment.is_hidden(run) => {
                Told::Hidden { passes: passes(run) }
            }
            _ => Told::Open(own.runs.get(run)),
        };
        runs.iter()
            .map(|&run| Line { run, name: self.assignment.run_name(run), told: told(run) })
            .collect()
    }
}

impl Line<'_> {
    /// Sentence on a hidden input that fails.
    pub(super) fn failure(&self) -> Option<String> {
        matches!(self.told, Told::Hidden { passes: false })
            .then(|| format!("{}: fails (a hidden input)", self.name))
    }
}

/// Number of passing hidden inputs, if all inputs are hidden.
pub(super) fn only_hidden(lines: &[Line<'_>]) -> Option<String> {
    let passes = |line: &Line<'_>| match line.told {
        Told::Hidden { passes } => Some(passes),
        Told::Open(_) => None,
    };
    let all =
        lines.iter().map(passes).collect::<Option<Vec<bool>>>().filter(|all| !all.is_empty())?;
    Some(format!(
        "{} of {} hidden inputs pass",
        all.iter().filter(|&&passes| passes).count(),
        all.len()
    ))
}
