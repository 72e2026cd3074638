//! `simt-sim ask`: questions, answered by experiment.

use simt_report as report;
use simt_teach::ask::{self, Experiment};

use super::args::{AskArgs, Format};
use super::{Exit, Failure, output};

/// Lists the questions, or answers one or all.
pub(crate) fn ask(args: &AskArgs) -> Result<Exit, Failure> {
    if args.seeds {
        output::print(&ask::seeds().map_err(Failure::new)?)?;
        return Ok(Exit::Ok);
    }
    let Some(name) = args.name.as_deref() else {
        return if args.all { answer_all(args.format) } else { list(args.format) };
    };
    let Some(experiment) = ask::find(name) else {
        let hint = match ask::suggest(name) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "`simt-sim ask` lists the questions".to_owned(),
        };
        return Err(Failure::new(format!("there is no question `{name}`\nhelp: {hint}")));
    };
    let text = if args.source {
        experiment.programs.iter().map(|p| p.text).collect::<Vec<_>>().join("\n")
    } else {
        answer(experiment, args.format)?
    };
    output::print(&text)?;
    Ok(Exit::Ok)
}

fn list(format: Format) -> Result<Exit, Failure> {
    let listed = ask::questions();
    let text = match format {
        Format::Json => listed.to_json().map_err(Failure::new)?,
        Format::Table => report::questions_text(&listed, style()),
    };
    output::print(&text)?;
    Ok(Exit::Ok)
}

/// All answers, one below the other; in JSON a list of them.
fn answer_all(format: Format) -> Result<Exit, Failure> {
    let mut answers = Vec::new();
    for experiment in ask::experiments() {
        answers.push(answer(experiment, format)?);
    }
    output::print(&match format {
        Format::Json => format!("[\n{}]\n", answers.join(",\n")),
        Format::Table => answers.join("\n\n"),
    })?;
    Ok(Exit::Ok)
}

fn answer(experiment: &Experiment, format: Format) -> Result<String, Failure> {
    let answer = experiment.answer().map_err(Failure::new)?;
    match format {
        Format::Json => answer.to_json().map_err(Failure::new),
        Format::Table => Ok(report::answer_text(&answer, style())),
    }
}

fn style() -> report::Style {
    report::Style { width: output::width(), color: output::color_out() }
}
