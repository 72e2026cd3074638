//! Questions of an assignment, asked before submission. The answer is the one that grading accepts;
//! the explanation comes from a run of the starter (or of the assignment's baseline) under a
//! visible launch.
//!
//! Of the reference only the requested figure is shown, never its text or its lanes.

use std::collections::BTreeMap;

use super::excerpt::{around_branches, excerpt};
use super::seen::{Focus, Subject};
use super::{AskError, EXACT, Other, Question, Revealed, STATED};
use crate::grade::{Answer, Assignment, Criterion, Rule, Than, number};
use simt_core::Program;
use simt_core::launch::Files;
use simt_report::evidence::Standing;
use simt_report::metrics::{self, Value};

/// Questions of an assignment that students may see before the due date.
pub fn of_assignment<'a>(assignment: &'a Assignment, files: Files<'a>) -> Vec<Question<'a>> {
    let criteria = assignment.spec.criteria.iter().filter(|criterion| !criterion.hidden);
    criteria.filter_map(|criterion| question(assignment, criterion, files)).collect()
}

fn question<'a>(
    assignment: &'a Assignment,
    criterion: &'a Criterion,
    files: Files<'a>,
) -> Option<Question<'a>> {
    let Rule::Question { text, answer, within, show } = &criterion.rule else { return None };
    // The answer and the starter's value would reveal a hidden input.
    if let Answer::Metric { case, machine, .. } = answer
        && assignment.run_at(case, machine).is_some_and(|run| assignment.is_hidden(run))
    {
        return None;
    }
    let program = &assignment.baseline;
    let chosen =
        show.as_ref().and_then(|(from, to)| excerpt(&program.name, &program.text, from, to));
    let shown = chosen.or_else(|| around_branches(&program.name, &program.text));
    let from = show.as_ref().map(|(from, _)| from.as_str());
    // Bands that give full points also apply to predictions.
    let full = criterion.bands.iter().find(|band| (band.points - criterion.points).abs() < 1e-9);
    Some(Question {
        name: criterion.id.clone(),
        text: text.clone(),
        shown: shown.map(|excerpt| excerpt.picture),
        within: full.and_then(|band| band.at_most).unwrap_or(*within),
        hint: criterion.hint.clone(),
        drawn: BTreeMap::new(),
        answer: Box::new(move || {
            let mut revealed = match answer {
                Answer::Number(figure) => told(assignment, *figure, from, files)?,
                Answer::Metric { name, of, case, machine } => {
                    measured(assignment, name, *of, (case, machine), from, files)?
                }
            };
            revealed
                .because
                .extend(Some(criterion.because.clone()).filter(|because| !because.is_empty()));
            Ok(revealed)
        }),
    })
}

/// Explains a number stated by the assignment with a run of the starter.
fn told(
    assignment: &Assignment,
    figure: f64,
    from: Option<&str>,
    files: Files<'_>,
) -> Result<Revealed, AskError> {
    let visible = (0..assignment.runs.len()).find(|&run| !assignment.is_hidden(run));
    let mut revealed = match visible {
        Some(run) => {
            let subject = Subject::new(assignment, &assignment.baseline, files)?;
            let seen = subject.look(run, Focus { metric: None, from })?;
            Revealed {
                measured: format!("{}, {}", subject.name(), assignment.run_name(run)),
                ..seen
            }
        }
        None => {
            Revealed { measured: "nothing, every case is hidden".to_owned(), ..Revealed::default() }
        }
    };
    revealed.answer = figure;
    match revealed.others.iter().find(|other| (other.value - figure).abs() < 1e-9) {
        Some(other) => {
            revealed.trust = EXACT.to_owned();
            revealed.because.push(format!("{} is {}.", number(figure), other.what));
        }
        None => {
            revealed.trust = STATED.to_owned();
            revealed.is_stated = true;
        }
    }
    Ok(revealed)
}

/// Measures a metric of the starter or of the reference.
fn measured(
    assignment: &Assignment,
    name: &str,
    of: Than,
    (case, machine): (&str, &str),
    from: Option<&str>,
    files: Files<'_>,
) -> Result<Revealed, AskError> {
    let missing = || AskError::Missing {
        program: assignment.spec.title.clone(),
        what: format!("`{name}` in `{case}`"),
    };
    let run = assignment.run_at(case, machine).ok_or_else(missing)?;
    let figure = |program: &Program| -> Result<f64, AskError> {
        let simulation = Subject::new(assignment, program, files)?.run(run)?;
        simulation.run.metric(name).map(Value::as_f64).ok_or_else(missing)
    };
    let metric = metrics::find(name);
    let starter = figure(&assignment.baseline)?;
    let focus = Focus { metric: metric.map(|metric| metric.name), from };
    let mut revealed = Subject::new(assignment, &assignment.baseline, files)?.look(run, focus)?;
    let own = &assignment.baseline.name;
    revealed
        .others
        .insert(0, Other { value: starter, what: format!("`{name}` of {own} in the same run") });
    let whose = if of == Than::Reference { "the reference" } else { own };
    revealed.answer = starter;
    if of == Than::Reference {
        revealed.answer = figure(&assignment.reference)?;
        revealed.because.push(format!(
            "`{name}` is {} for the reference and {} for {own}, in the same run.",
            number(revealed.answer),
            number(starter)
        ));
    }
    revealed.measured = format!("{name} of {whose}, {}", assignment.run_name(run));
    revealed.trust = metric.map_or_else(
        || EXACT.to_owned(),
        |metric| Standing::label(metric, &assignment.fingerprint(run).unwrap_or_default()),
    );
    revealed
        .read_on
        .push(format!("simt-sim explain {}", metric.map_or(name, |metric| metric.name)));
    Ok(revealed)
}
