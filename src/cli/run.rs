//! `simt-sim run`: from arguments to report and exit code.

use simt_core::Job;
use simt_core::diag::{Diagnostic, has_errors, printable};
use simt_core::launch::Launch;
use simt_core::machine::{Finish, Timing};
use simt_report as report;
use simt_report::html::{self, Part};
use simt_report::simulate::Simulation;

use super::args::{Format, PictureFile, RunArgs, TimingArg};
use super::job::{Planned, Setup};
use super::progress::Bar;
use super::{Exit, Failure, buffers, checks, output, page, plot};

/// Runs the launches of a program in order, or the chosen one.
pub(crate) fn run(args: &RunArgs) -> Result<Exit, Failure> {
    for name in &args.metrics {
        report::known(name).map_err(Failure::new)?; // before the run, not after it
    }
    page::sensible(&args.page)?;
    let timing = TimingArg::of(args.timing);
    if timing == Timing::Off {
        needs_no_time(args)?;
    }
    let (mut setup, mut launches) = Setup::series(&args.program, args.quiet)?;
    setup.options.timing = timing;
    if launches.len() > 1 && args.program.launch.number.is_none() {
        return all(args, setup, launches);
    }
    let Some(last) = launches.pop() else { return Err(Failure::new("no launch")) };
    let launch = setup.after(launches, last)?;
    buffers::known(args, &launch)?;
    let (mut simulation, findings) = one(args, &mut setup, launch)?;
    if let Some(text) = text(args, &setup, &mut simulation)? {
        output::deliver(args.output.as_deref(), &text)?;
    }
    for PictureFile { kind, path } in &args.plot {
        plot::draw_of_run(*kind, path, args, &simulation.run, &setup.machine)?;
    }
    buffers::deliver(args, &simulation.launch)?;
    Ok(exit(&simulation, &findings))
}

/// Refuses what a run without a clock cannot show.
fn needs_no_time(args: &RunArgs) -> Result<(), Failure> {
    let given = [
        ("--max-cycles", args.program.limit.has_cycles()),
        ("--schedule", args.checks.schedule.is_some()),
        ("--schedules", args.checks.schedules > 0),
    ];
    if let Some((option, _)) = given.iter().find(|(_, given)| *given) {
        return Err(needs_time(option));
    }
    if let Some(picture) = args.plot.iter().find(|picture| picture.kind.needs_time()) {
        return Err(needs_time(&format!("--plot {}", picture.kind.name())));
    }
    for name in &args.metrics {
        let (_, metric) = report::known(name).map_err(Failure::new)?;
        if metric.needs_time() {
            return Err(needs_time(&format!("--metrics {name}")));
        }
    }
    Ok(())
}

/// The failure for an option that a run without a clock cannot follow.
pub(crate) fn needs_time(option: &str) -> Failure {
    Failure::new(format!("{option} needs time, and timing is off\nhelp: leave out --timing off"))
}

/// Runs several launches in order, each on the memory that the one before left.
///
/// A launch that does not finish is the last.
fn all(args: &RunArgs, mut setup: Setup, launches: Vec<Planned>) -> Result<Exit, Failure> {
    let one_only = [("--html", args.page.html.is_some()), ("--plot", !args.plot.is_empty())];
    if let Some((option, _)) = one_only.iter().find(|(_, given)| *given) {
        return Err(Failure::new(format!(
            "{option} shows one launch; `{}` has {}\nhelp: choose one with --launch N",
            setup.program.name,
            launches.len()
        )));
    }
    if let Some(first) = launches.first() {
        buffers::known(args, &first.launch)?;
    }
    let count = launches.len();
    let whole = args.metrics.is_empty() && !args.annotate;
    let (mut runs, mut texts) = (Vec::new(), String::new());
    let (mut worst, mut left): (Exit, Option<Launch>) = (Exit::Ok, None);
    for (number, planned) in (1..).zip(launches) {
        let launch = setup.turn_to(planned, left.take());
        let (mut simulation, findings) = one(args, &mut setup, launch)?;
        let text = text(args, &setup, &mut simulation)?;
        if let Some(text) = text.filter(|_| args.format != Format::Json) {
            let between = if number > 1 && whole { "\n" } else { "" };
            let text =
                format!("{between}Launch {number} of {count}: {}\n{text}", simulation.run.kernel);
            match args.output {
                None => output::print(&text)?,
                Some(_) => texts += &text,
            }
        }
        let ended = exit(&simulation, &findings);
        if worst == Exit::Ok {
            worst = ended;
        }
        let finished = matches!(simulation.finish, Finish::Ok);
        runs.push(simulation.run);
        left = Some(simulation.launch);
        if !finished {
            break;
        }
    }
    let series = report::Series::new(runs);
    if args.format == Format::Json {
        texts = series.to_json().map_err(Failure::new)?;
    } else if whole && !args.quiet {
        texts += &format!("\n{}", series.summary());
    }
    output::deliver(args.output.as_deref(), &texts)?;
    if let Some(launch) = &left {
        buffers::deliver(args, launch)?;
    }
    Ok(worst)
}

/// Runs one launch: findings and texts of `printf` are printed, the page is written.
fn one(
    args: &RunArgs,
    setup: &mut Setup,
    launch: Launch,
) -> Result<(Simulation, Vec<Diagnostic>), Failure> {
    let on = checks::chosen(args.checks.list.checks.as_deref())?;
    let recording = page::recording(&args.page, setup, &launch)?;
    let bar = Bar::new(&launch, &setup.options, args.quiet, args.jobs);
    if let Some(seed) = args.checks.schedule {
        (setup.machine, setup.options) = Job::adversarial(&setup.machine, &setup.options, seed);
    }
    let wanted = checks::Wanted { on, schedules: args.checks.schedules };
    let (simulation, findings) = wanted.run(setup.job(launch), &bar)?;
    let program = &setup.program;
    bar.clear();
    output::error(&checks::shown(program, &findings, args.quiet));
    if let Some(path) = &args.page.html {
        let sources = page::sources(&simulation.run, program);
        let recording = recording.as_ref();
        let part = Part { run: &simulation.run, recording, sources: &sources };
        output::write_file(path, html::run_page(part).as_bytes())?;
    }
    if let (Some(printed), false) = (&simulation.run.output, args.format == Format::Json) {
        let lines: Vec<String> = printed.text.split('\n').map(printable).collect();
        let end = if printed.text.ends_with('\n') || args.quiet { "" } else { "\n" };
        output::print(&format!("{}{end}", lines.join("\n")))?;
    }
    Ok((simulation, findings))
}

/// Returns the report of a launch, if one is wanted; keeps only the chosen metrics for JSON.
fn text(
    args: &RunArgs,
    setup: &Setup,
    simulation: &mut Simulation,
) -> Result<Option<String>, Failure> {
    if args.quiet && args.format != Format::Json && args.output.is_none() {
        return Ok(None);
    }
    let style = output::style(args.output.as_deref());
    if !simulation.run.is_timed() && (args.annotate || !args.metrics.is_empty()) {
        output::error(COUNTS_ONLY);
    }
    let text = if args.annotate {
        let sources = page::sources(&simulation.run, &setup.program);
        report::annotate::annotate(&simulation.run, &sources, style)
    } else if args.format == Format::Json {
        keep(&mut simulation.run, &args.metrics)?;
        simulation.run.to_json().map_err(Failure::new)?
    } else if !args.metrics.is_empty() {
        output::warn_of(simulation.run.ending());
        report::selected(&simulation.run, &args.metrics).map_err(Failure::new)?
    } else {
        report::text(&simulation.run, style)
    };
    Ok(Some(text))
}

/// Note of a result without a title.
pub(crate) const COUNTS_ONLY: &str = "note: timing is off: counts only\n";

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
