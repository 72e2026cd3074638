//! `simt-sim explain`: what a name means, and what a run says on it.

use std::path::Path;

use simt_core::{Job, Program};
use simt_report::explain::{self, Page, Subject};
use simt_report::simulate;

use super::args::ExplainArgs;
use super::{Exit, Failure, job, output, source};
use simt_threads::Threads;

/// Lists the names, or explains one.
pub(crate) fn explain(args: &ExplainArgs) -> Result<Exit, Failure> {
    let width = output::width();
    let Some(name) = args.name.as_deref() else {
        output::print(&explain::listing(width))?;
        return Ok(Exit::Ok);
    };
    let page = explain::find(name).ok_or_else(|| unknown(name))?;
    let mut text = explain::page_text(&page, width);
    if let Some(file) = &args.run {
        text.push('\n');
        text += &in_file(&page, file, args, width)?;
    }
    output::print(&text)?;
    Ok(Exit::Ok)
}

fn unknown(name: &str) -> Failure {
    let hint = match explain::nearest(name).as_slice() {
        [] => "`simt-sim explain --list` lists all names".to_owned(),
        near => format!("did you mean one of these: {}? `simt-sim explain --list` lists all", near.join(", ")),
    };
    Failure::new(format!("there is no page on `{name}`\nhelp: {hint}"))
}

/// What a file says on the subject: its findings of a kind, or the figures of its run.
fn in_file(page: &Page, file: &Path, args: &ExplainArgs, width: usize) -> Result<String, Failure> {
    match page.subject {
        Subject::Code(_) => findings(page.name, &source::read(file)?, args),
        Subject::Lane => Ok(format!("`simt-sim timeline {}` draws the lanes of a run.\n", file.display())),
        _ => {
            let machine = job::machine(&args.machine)?;
            let program = source::read_runnable(file, args.kernel.as_deref(), true)?;
            let kernel = program.kernel(args.kernel.as_deref()).map_err(Failure::new)?;
            let launch = job::launch(&program, kernel, &args.launch)?;
            let options = machine.options(&args.limit);
            let job = Job::new(&program, kernel, launch, &machine.spec, options);
            let done = simulate::simulate(job, &Threads::new(0)).map_err(Failure::new)?;
            Ok(explain::in_run(page, &done.run, width))
        }
    }
}

/// The findings with this code in a file, its directives evaluated included.
fn findings(code: &str, program: &Program, args: &ExplainArgs) -> Result<String, Failure> {
    let mut found = program.findings.clone();
    if program.is_sound()
        && let Ok(kernel) = program.kernel(args.kernel.as_deref())
    {
        found.extend(job::resolve(program, kernel, &args.launch)?.err().unwrap_or_default());
    }
    found.retain(|finding| finding.code == code);
    Ok(match found.len() {
        0 => format!("{} has no finding with this code.\n", program.name),
        _ => source::excerpts(program, &found, output::color_out()),
    })
}
