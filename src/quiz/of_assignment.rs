//! The questions of an assignment, asked before anything is handed in. The answer is what grading takes for right; what explains
//! it is a run of the starter (or of the assignment's baseline) under a launch that students may see.
//!
//! Of the reference nothing is shown but the figure that a question asks for: neither a line nor a lane.

use std::collections::BTreeMap;

use super::excerpt::{around_branches, excerpt};
use super::{EXACT, Other, Question, Revealed, Trouble};
use crate::ask::draw;
use crate::ask::lab::Watched;
use crate::grade::{Answer, Assignment, Criterion, Rule, Submission, Than, number, replay, trust, watch};
use crate::launch::Files;
use crate::observe::Issue;
use crate::pipeline::{Program, Simulation};
use crate::report::metrics::{self, Value};
use crate::report::{FigureTable, Finish};

/// Issues of a warp that are looked at.
const MOST_ISSUES: usize = 3000;
/// Figures of a whole run that a prediction may have meant.
const METRICS: [&str; 10] = [
    "warps_launched",
    "threads_launched",
    "branch",
    "divergent_branch",
    "inst_executed",
    "barriers",
    "gld_requests",
    "gld_transactions",
    "shared_ld_bank_conflict",
    "elapsed_cycles",
];

/// The questions of an assignment that students may see before the due date.
pub fn of_assignment<'a>(assignment: &'a Assignment, files: Files<'a>) -> Vec<Question<'a>> {
    let criteria = assignment.spec.criteria.iter().filter(|criterion| !criterion.hidden);
    criteria.filter_map(|criterion| question(assignment, criterion, files)).collect()
}

fn question<'a>(assignment: &'a Assignment, criterion: &'a Criterion, files: Files<'a>) -> Option<Question<'a>> {
    let Rule::Question { text, answer, within, show } = &criterion.rule else { return None };
    let program = &assignment.baseline;
    let chosen = show.as_ref().and_then(|(from, to)| excerpt(&program.name, &program.text, from, to));
    let shown = chosen.or_else(|| around_branches(&program.name, &program.text));
    // Points for being near enough are full points for a prediction, too.
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
                Answer::Number(figure) => told(assignment, *figure, files)?,
                Answer::Metric { name, of, case, machine } => measured(assignment, name, *of, (case, machine), files)?,
            };
            revealed.because.extend(Some(criterion.because.clone()).filter(|because| !because.is_empty()));
            Ok(revealed)
        }),
    })
}

/// What an assignment's program is, and what goes wrong with it.
struct Subject<'a> {
    assignment: &'a Assignment,
    submission: Submission,
    files: Files<'a>,
}

impl<'a> Subject<'a> {
    fn new(assignment: &'a Assignment, program: &Program, files: Files<'a>) -> Result<Subject<'a>, Trouble> {
        let submission = Submission::read(assignment, &program.name, &program.text)
            .map_err(|why| Trouble::Program { program: program.name.clone(), why })?;
        Ok(Subject { assignment, submission, files })
    }

    fn run(&self, run: usize) -> Result<Simulation, Trouble> {
        replay(self.assignment, &self.submission, run, self.files).map_err(|why| self.does_not_run(why))
    }

    fn watch(&self, run: usize) -> Result<Watched, Trouble> {
        let recording = watch(self.assignment, &self.submission, run, MOST_ISSUES, self.files);
        recording.map(Watched::new).map_err(|why| self.does_not_run(why))
    }

    fn name(&self) -> &str {
        &self.submission.program.name
    }

    fn does_not_run(&self, why: String) -> Trouble {
        Trouble::Program { program: self.name().to_owned(), why }
    }
}

/// A number that the assignment states: the starter's run is there to find it in.
fn told(assignment: &Assignment, figure: f64, files: Files<'_>) -> Result<Revealed, Trouble> {
    let visible = (0..assignment.runs.len()).find(|&run| !assignment.is_hidden(run));
    let Some(run) = visible else {
        return Ok(Revealed {
            answer: figure,
            is_stated: true,
            measured: "nothing, because all cases of the assignment are hidden".to_owned(),
            trust: EXACT,
            ..Revealed::default()
        });
    };
    let subject = Subject::new(assignment, &assignment.baseline, files)?;
    let mut revealed = seen(&subject, run)?;
    let here = |other: &&Other| (other.value - figure).abs() < 1e-9;
    match revealed.others.iter().find(here) {
        Some(other) => revealed.because.push(format!("{} is {}.", number(figure), other.what)),
        None => revealed.is_stated = true,
    }
    revealed.answer = figure;
    revealed.measured = format!("{}, {}", subject.name(), assignment.run_name(run));
    Ok(revealed)
}

/// A metric of the starter or the reference.
fn measured(
    assignment: &Assignment,
    name: &str,
    of: Than,
    (case, machine): (&str, &str),
    files: Files<'_>,
) -> Result<Revealed, Trouble> {
    let missing = || Trouble::Missing { program: assignment.spec.title.clone(), what: format!("`{name}` in `{case}`") };
    let run = assignment.run_at(case, machine).ok_or_else(missing)?;
    let figure = |program: &Program| -> Result<f64, Trouble> {
        let simulation = Subject::new(assignment, program, files)?.run(run)?;
        simulation.run.metric(name).map(Value::as_f64).ok_or_else(missing)
    };
    let (starter, reference) = (figure(&assignment.baseline)?, figure(&assignment.reference)?);
    let mut revealed = match assignment.is_hidden(run) {
        true => Revealed { trust: EXACT, ..Revealed::default() },
        false => seen(&Subject::new(assignment, &assignment.baseline, files)?, run)?,
    };
    let whose = if of == Than::Reference { "the reference" } else { &assignment.baseline.name };
    revealed.answer = if of == Than::Reference { reference } else { starter };
    revealed.measured = format!("{name} of {whose}, {}", assignment.run_name(run));
    let (own, other) = match of {
        Than::Reference => (reference, format!("{} of {}", number(starter), assignment.baseline.name)),
        _ => (starter, format!("{} of the reference", number(reference))),
    };
    revealed.because.push(format!("`{name}` is {} of {whose} and {other}, in the same run.", number(own)));
    let what = |program: &str| format!("`{name}` of {program} in the same run");
    revealed.others.insert(0, Other { value: starter, what: what(&assignment.baseline.name) });
    if of == Than::Reference {
        revealed.others.insert(1, Other { value: reference, what: what("the reference") });
    }
    let metric = metrics::find(name);
    revealed.trust = metric.map_or(EXACT, trust);
    let word = metric.map_or(name, |metric| metric.name);
    revealed.read_on.push(format!("simt-sim explain {word}"));
    Ok(revealed)
}

/// What a run shows: its branches in block 0, the lanes at the one that splits warps most often, how it ended.
fn seen(subject: &Subject<'_>, run: usize) -> Result<Revealed, Trouble> {
    let simulation = subject.run(run)?;
    let watched = subject.watch(run)?;
    let mut revealed = Revealed { trust: EXACT, ..Revealed::default() };
    let mut table = FigureTable::new("Branches of block 0", &["line", "executed", "diverged"]);
    // By line: times executed and diverged, the text, and the first warp that it split.
    let mut branches: BTreeMap<u32, (u64, u64, String, Option<u32>)> = BTreeMap::new();
    for warp in watched.warps() {
        for issue in watched.issues(warp).filter(|issue| issue.taken.is_some()) {
            let text = || watched.source(issue.pc);
            let seen = branches.entry(watched.line(issue.pc)).or_insert_with(|| (0, 0, text(), None));
            seen.0 += 1;
            seen.1 += u64::from(Issue::diverges(issue));
            seen.3 = seen.3.or(issue.diverges().then_some(warp));
        }
    }
    for (line, (executed, diverged, text, _)) in &branches {
        table.row(format!("{line}: {text}"), [(*executed).into(), (*diverged).into()]);
        let of = |what: &str| format!("the number of times that line {line} (`{text}`) {what} in block 0");
        revealed.others.push(Other { value: *diverged as f64, what: of("split a warp") });
        revealed.others.push(Other { value: *executed as f64, what: of("was executed") });
    }
    let worst = branches.values().filter_map(|(_, diverged, text, warp)| Some((*diverged, text, (*warp)?)));
    if let Some((_, text, warp)) = worst.max_by_key(|(diverged, ..)| *diverged) {
        let title = format!("Block 0, warp {warp} at `{text}` (# takes the branch, - does not)");
        revealed.pictures.push(draw::only(title, &watched, warp, text));
    }
    revealed.table = (!branches.is_empty()).then_some(table);
    for name in METRICS {
        if let Some(value) = simulation.run.metric(name).map(Value::as_f64) {
            revealed.others.push(Other { value, what: format!("`{name}` of the whole run") });
        }
    }
    if simulation.run.finish != Finish::Ok {
        let why = simulation.run.verdict.as_ref().map_or("", |verdict| verdict.message.as_str());
        revealed.because.push(format!("The run ended in {}: {why}.", simulation.run.finish.name()));
    }
    Ok(revealed)
}
