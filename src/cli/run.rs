//! `simt-sim run`: from arguments to report and exit code.

use simt_core::Job;
use simt_core::diag::{Diagnostic, has_errors, printable};
use simt_core::machine::Finish;
use simt_report as report;
use simt_report::html::{self, Part};
use simt_report::simulate::Simulation;

use super::args::{Format, PictureFile, RunArgs};
use super::job::Setup;
use super::progress::Bar;
use super::{Exit, Failure, checks, output, page, plot};

/// Runs one kernel.
pub(crate) fn run(args: &RunArgs) -> Result<Exit, Failure> {
    for name in &args.metrics {
        report::known(name).map_err(Failure::new)?; // before the run, not after it
    }
    let on = checks::chosen(args.checks.checks.as_deref())?;
    page::sensible(&args.page)?;
    let (mut setup, launch) = Setup::new(&args.program, args.quiet)?;
    let recording = page::recording(&args.page, &setup, &launch)?;
    let bar = Bar::new(&launch, &setup.options, args.quiet, args.jobs);
    if let Some(seed) = args.checks.schedule {
        (setup.machine, setup.options) = Job::adversarial(&setup.machine, &setup.options, seed);
    }
    let wanted = checks::Wanted { on, schedules: args.checks.schedules };
    let (mut simulation, findings) = wanted.run(setup.job(launch), &bar)?;
    let program = &setup.program;
    bar.clear();
    output::error(&checks::shown(program, &findings, args.quiet));
    if let (Some(path), Some(recording)) = (&args.page.html, &recording) {
        let sources = page::sources(&simulation.run, program);
        let part = Part { run: &simulation.run, recording, sources: &sources };
        output::write_file(path, html::run_page(part).as_bytes())?;
    }
    if let (Some(printed), false) = (&simulation.run.output, args.format == Format::Json) {
        let lines: Vec<String> = printed.text.split('\n').map(printable).collect();
        let end = if printed.text.ends_with('\n') || args.quiet { "" } else { "\n" };
        output::print(&format!("{}{end}", lines.join("\n")))?;
    }
    if !args.quiet || args.format == Format::Json || args.output.is_some() {
        let style = output::style(args.output.as_deref());
        let text = if args.annotate {
            report::annotate::annotate(
                &simulation.run,
                &page::sources(&simulation.run, program),
                style,
            )
        } else if args.format == Format::Json {
            keep(&mut simulation.run, &args.metrics)?;
            simulation.run.to_json().map_err(Failure::new)?
        } else if !args.metrics.is_empty() {
            output::warn_of(simulation.run.ending());
            report::selected(&simulation.run, &args.metrics).map_err(Failure::new)?
        } else {
            report::text(&simulation.run, style)
        };
        output::deliver(args.output.as_deref(), &text)?;
    }
    for PictureFile { kind, path } in &args.plot {
        plot::draw_of_run(*kind, path, args, &simulation.run, &setup.machine)?;
    }
    Ok(exit(&simulation, &findings))
}

/// Keeps only the chosen metrics of a run; all if none is chosen. JSON has their nvprof names and
/// units.
fn keep(run: &mut report::Run, chosen: &[String]) -> Result<(), Failure> {
    if chosen.is_empty() {
        return Ok(());
    }
    let mut names = Vec::new();
    for name in chosen {
        names.push(report::known(name).map_err(Failure::new)?.1.name);
    }
    run.metrics.0.retain(|(name, _)| names.contains(name));
    Ok(())
}

/// Returns the exit code of a run. A hang or fault goes before findings, which often follow from
/// it.
pub(crate) fn exit(simulation: &Simulation, findings: &[Diagnostic]) -> Exit {
    match simulation.finish {
        Finish::Deadlock(_) | Finish::Livelock(_) => Exit::Hang,
        Finish::CycleLimit(_) => Exit::CycleLimit,
        Finish::Fault(_) => Exit::Fault,
        Finish::Ok if has_errors(findings) => Exit::CheckFound,
        Finish::Ok if !simulation.run.passed() => Exit::ExpectationFailed,
        Finish::Ok => Exit::Ok,
    }
}
