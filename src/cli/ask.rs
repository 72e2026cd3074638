//! `simt-sim ask`: questions, answered by experiment.

use simt_report::{self as report, Questions};
use simt_teach::ask::{self, Experiment};

use super::args::{AskArgs, Format};
use super::search::{self, Fields, MOST_HITS};
use super::{Exit, Failure, output};

/// Lists the questions, or answers one or all.
pub(crate) fn ask(args: &AskArgs) -> Result<Exit, Failure> {
    let text = text(args)?;
    output::deliver(args.output.as_deref(), &text)?;
    Ok(Exit::Ok)
}

fn text(args: &AskArgs) -> Result<String, Failure> {
    if args.seeds {
        return ask::seeds().map_err(Failure::new);
    }
    if args.name.is_empty() {
        return if args.all { answer_all(args) } else { listed(&ask::questions(), args) };
    }
    let typed = args.name.join(" ");
    match found(&typed).as_slice() {
        [] => Err(unknown(&typed)),
        [one] if args.source => {
            Ok(one.programs.iter().map(|p| p.text).collect::<Vec<_>>().join("\n"))
        }
        [one] => answer(one, args),
        several if args.source => Err(ambiguous(&typed, several)),
        several => hits(&typed, several, args),
    }
}

/// Returns the question of this name, or all with the typed words, best first.
fn found(typed: &str) -> Vec<&'static Experiment> {
    if let Some(experiment) = ask::find(typed).or_else(|| ask::find(&typed.replace(' ', "-"))) {
        return vec![experiment];
    }
    search::best(typed, ask::experiments().map(|experiment| (experiment, fields(experiment))))
}

fn fields(experiment: &Experiment) -> Fields {
    let sources = experiment.sources.iter().map(|source| source.says);
    let programs = experiment.programs.iter().map(|program| program.text);
    let text: Vec<&str> = experiment.on_h200.into_iter().chain(sources).chain(programs).collect();
    Fields {
        name: experiment.name.to_owned(),
        title: experiment.question.to_owned(),
        text: text.join("\n"),
    }
}

fn unknown(typed: &str) -> Failure {
    let hint = match ask::suggest(typed) {
        Some(near) => format!("did you mean `{near}`?"),
        None => "list the questions with `simt-sim ask`".to_owned(),
    };
    Failure::new(format!("no question matches `{typed}`\nhelp: {hint}"))
}

fn ambiguous(typed: &str, several: &[&Experiment]) -> Failure {
    let names: Vec<&str> =
        several.iter().take(MOST_HITS).map(|experiment| experiment.name).collect();
    let count = several.len();
    Failure::new(format!(
        "`{typed}` matches {count} questions\nhelp: choose one of {}",
        names.join(", ")
    ))
}

/// Lists the hits of a search.
fn hits(typed: &str, several: &[&'static Experiment], args: &AskArgs) -> Result<String, Failure> {
    let mut questions = ask::questions();
    let all = std::mem::take(&mut questions.questions);
    let of = |experiment: &&Experiment| {
        all.iter().find(|question| question.name == experiment.name).cloned()
    };
    questions.questions = several.iter().take(MOST_HITS).filter_map(of).collect();
    let list = listed(&questions, args)?;
    Ok(match args.format {
        Format::Json => list,
        Format::Table => search::heading(several.len(), "question", typed) + &list,
    })
}

fn listed(questions: &Questions, args: &AskArgs) -> Result<String, Failure> {
    match args.format {
        Format::Json => questions.to_json().map_err(Failure::new),
        Format::Table => {
            Ok(report::questions_text(questions, output::style(args.output.as_deref())))
        }
    }
}

/// Returns all answers, one below the other; in JSON a list of them.
fn answer_all(args: &AskArgs) -> Result<String, Failure> {
    let mut answers = Vec::new();
    for experiment in ask::experiments() {
        answers.push(answer(experiment, args)?);
    }
    Ok(match args.format {
        Format::Json => format!("[\n{}]\n", answers.join(",\n")),
        Format::Table => answers.join("\n\n"),
    })
}

fn answer(experiment: &Experiment, args: &AskArgs) -> Result<String, Failure> {
    let answer = experiment.answer().map_err(Failure::new)?;
    match args.format {
        Format::Json => answer.to_json().map_err(Failure::new),
        Format::Table => Ok(report::answer_text(&answer, output::style(args.output.as_deref()))),
    }
}
