//! `simt-sim check`: errors and warnings, a summary of kernels, findings of a run.

use simt_core::checks::Checks;
use simt_core::diag::{Diagnostic, Severity, Span, has_errors, line_column, printable};
use simt_core::kernel::{Kernel, Refused, support};
use simt_core::launch::Launch;
use simt_core::machine::{Options, Timing};
use simt_core::sass::{self, is_listing};
use simt_core::{Job, NoKernel, Program};
use simt_report::Run;
use simt_report::simulate::{self, Simulation};

use super::args::{CheckArgs, RunningChoice, TimingArg};
use super::job::Planned;
use super::progress::Bar;
use super::run::needs_time;
use super::{Exit, Failure, checks, job, output, run, source};

/// Errors of a kernel shown in a summary.
const MOST_REASONS: usize = 3;
/// Micro-ops of a run without a clock, after which the launch runs with one.
const MOST_COUNTED: u64 = 50_000_000;
/// Lines shown of an error that occurs several times.
const MOST_LINES: usize = 5;

/// Checks each file. Returns [`Exit::Usage`] if any has an error (with `--kernel`: in code that the
/// kernel can reach), else the code of the first run that failed.
pub(crate) fn check(args: &CheckArgs) -> Result<Exit, Failure> {
    let wanted = args.running.kernel.as_deref();
    let mut exit = Exit::Ok;
    source::has_compiled(&args.files, &args.sass)?;
    for path in &args.files {
        let mut program = match source::read(path, &args.sass.of(path)) {
            Ok(program) => program,
            Err(Failure(text)) => {
                output::error(&text);
                exit = Exit::Usage;
                continue;
            }
        };
        let mut shown = findings(&program, wanted);
        let launch = of_launch(&args.running, &program)?;
        let launches = !has_errors(&launch);
        if !launches {
            exit = Exit::Usage;
        }
        shown.extend(launch.iter().cloned());
        output::error(&source::render(&program, &shown));
        program.findings.extend(launch);
        let chosen = program.kernel(wanted);
        if !args.quiet {
            output::print(&summary(&program))?;
        }
        match (&chosen, wanted) {
            (Err(why), Some(_)) => {
                output::error(&Failure::new(why).0);
                exit = Exit::Usage;
            }
            (Ok(_), Some(_)) => {}
            // A file without code is no library of functions either.
            (Err(why @ NoKernel::None(..)), None) if program.module.items.is_empty() => {
                output::error(&Failure::new(why).0);
                exit = Exit::Usage;
            }
            (_, None) if !program.is_sound() => exit = Exit::Usage,
            (_, None) => {}
        }
        if args.running.run && launches && (chosen.is_ok() || program.is_sound()) {
            match run_checked(args, &program) {
                Ok(ended) if exit == Exit::Ok => exit = ended,
                Ok(_) => {}
                Err(Failure(text)) => {
                    output::error(&text);
                    exit = Exit::Usage;
                }
            }
        }
    }
    Ok(exit)
}

/// Returns the findings, without the errors of kernels other than the chosen one.
fn findings(program: &Program, wanted: Option<&str>) -> Vec<Diagnostic> {
    match (program.kernel(wanted), wanted) {
        (Ok(_), Some(_)) => {
            program.findings.iter().filter(|d| d.severity != Severity::Error).cloned().collect()
        }
        (Err(_), Some(_)) => program.findings_against(wanted).to_vec(),
        (_, None) => program.findings.clone(),
    }
}

/// Returns what `run` reports of a sound program's launch before execution. A file without
/// directives, as compilers write it, gets a note.
fn of_launch(running: &RunningChoice, program: &Program) -> Result<Vec<Diagnostic>, Failure> {
    let Some(first) = program.module.directives.first() else {
        let note = |kernel: &Kernel| {
            let message = format!("no directives say how to launch `{}`", kernel.name);
            let note = Diagnostic::warning("missing-directive", kernel.span, message);
            Diagnostic { severity: Severity::Note, ..note }
                .help("add directives as in docs/directives.md")
        };
        return Ok(program.kernels.first().map(note).into_iter().collect());
    };
    let kernel = match program.kernel(running.kernel.as_deref()) {
        Ok(kernel) => kernel,
        Err(_) if !program.is_sound() => return Ok(Vec::new()), // the reasons are findings already
        Err(_) if running.kernel.is_some() => return Ok(Vec::new()), // the caller reports it
        Err(why @ NoKernel::Several { .. }) => {
            let warning = Diagnostic::warning("missing-directive", first.span, why.to_string());
            return Ok(vec![warning.help("write `//! kernel NAME`, or run with --kernel NAME")]);
        }
        Err(why) => {
            let at = program.plan.kernel().map_or(first.span, |name| name.span);
            return Ok(vec![Diagnostic::error("wrong-kernel", at, why.to_string())]);
        }
    };
    let machine = job::machine_for(&running.machine, kernel, true)?;
    let options = machine.options(&running.limit);
    let launches = match job::planned(program, running.kernel.as_deref(), &running.launch)? {
        Ok(launches) => launches,
        Err(found) => return Ok(found),
    };
    let faults = launches.into_iter().filter_map(|Planned { kernel, launch }| {
        let kernel = &program.kernels[kernel];
        let fits = Job::new(program, kernel, launch, &machine.spec, options.clone()).fits();
        fits.err().map(|why| Diagnostic::error("too-large", kernel.span, why.to_string()))
    });
    Ok(faults.collect())
}

/// Runs the launches of a sound program in order, with all checks enabled.
fn run_checked(args: &CheckArgs, program: &Program) -> Result<Exit, Failure> {
    let running = &args.running;
    let kernel = program.kernel(running.kernel.as_deref()).map_err(Failure::new)?;
    let machine = job::machine_for(&running.machine, kernel, args.quiet)?;
    let timing = TimingArg::of(running.timing);
    let timed = [("--max-cycles", running.limit.has_cycles())];
    if let (Timing::Off, Some((option, _))) = (timing, timed.iter().find(|(_, given)| *given)) {
        return Err(needs_time(option));
    }
    let options = Options { timing, ..machine.options(&running.limit) };
    let launches = job::planned(program, running.kernel.as_deref(), &running.launch)?
        .map_err(|found| Failure(source::render(program, &found)))?;
    let count = launches.len();
    let (mut worst, mut left): (Exit, Option<Launch>) = (Exit::Ok, None);
    for (number, Planned { kernel, mut launch }) in (1..).zip(launches) {
        if let Some(before) = left.take() {
            launch.follow(before);
        }
        let job =
            Job::new(program, &program.kernels[kernel], launch, &machine.spec, options.clone());
        if count > 1 && !args.quiet {
            output::print(&format!("  launch {number} of {count}: {}\n", job.kernel().name))?;
        }
        let (ended, after) = run_one(args, job)?;
        if worst == Exit::Ok {
            worst = ended;
        }
        match ended {
            Exit::Hang | Exit::CycleLimit | Exit::Fault => break,
            _ => left = Some(after),
        }
    }
    Ok(worst)
}

/// Runs one launch with all checks enabled; returns it with the memory that it leaves.
fn run_one(args: &CheckArgs, job: Job<'_>) -> Result<(Exit, Launch), Failure> {
    let program = job.program;
    let wanted = checks::Wanted { on: Some(Checks::ALL), schedules: args.running.schedules };
    let bar = Bar::new(&job.launch, &job.options, args.quiet, 1);
    let (simulation, findings) = match without_time(args, &job, &bar)? {
        Some(simulation) => (simulation, Vec::new()),
        None => wanted.run(job, &bar)?,
    };
    bar.clear();
    output::error(&checks::shown(program, &findings, args.quiet));
    if !args.quiet {
        let result = &simulation.run;
        let held = result.expectations.iter().filter(|e| e.passed).count();
        let expected = match result.expectations.len() {
            0 => String::new(),
            all => format!(", {held} of {} held", plural(all, "expectation")),
        };
        let ended = result.finish.title();
        let mut out = format!("  run on {} ({}): {ended}{expected}\n", result.machine, result.mode);
        out += &why(result);
        result.notes.iter().for_each(|note| out += &format!("  {note}\n"));
        output::print(&out)?;
    }
    Ok((run::exit(&simulation, &findings), simulation.launch))
}

/// Runs a launch without a clock if a run with one must end in the same way: without a race, and
/// with every expectation fulfilled.
fn without_time(
    args: &CheckArgs,
    job: &Job<'_>,
    host: &Bar,
) -> Result<Option<Simulation>, Failure> {
    let running = &args.running;
    if running.timing.is_some() || running.schedules > 0 || running.limit.has_cycles() {
        return Ok(None);
    }
    let mut counted = job.clone();
    counted.options.max_issues = counted.options.max_issues.min(MOST_COUNTED);
    let simulation = simulate::without_time(counted, host, Checks::ALL).map_err(Failure::new)?;
    let Some(mut simulation) = simulation else { return Ok(None) };
    // Nothing that is printed depends on time.
    simulation.run.notes.retain(|note| note != simulate::COUNTS_ONLY);
    Ok(Some(simulation))
}

/// Explains a failed run: proof and waiting lanes of a hang, failed expectations.
fn why(run: &Run) -> String {
    let mut out = String::new();
    if let Some(verdict) = &run.verdict {
        out += &format!("  {}\n", verdict.message);
        for l in &verdict.lanes {
            out += &format!(
                "    block {} warp {} {}: {}; line {}: {}\n",
                l.block,
                l.warp,
                l.named(),
                l.state,
                l.line,
                l.text
            );
        }
        verdict.help.iter().for_each(|help| out += &format!("    help: {help}\n"));
    }
    let failed = run.expectations.iter().filter(|e| !e.passed);
    failed.for_each(|e| out += &format!("  failed: {}: {}\n", e.text, e.detail));
    out
}

fn summary(program: &Program) -> String {
    let count = |severity| program.findings.iter().filter(|d| d.severity == severity).count();
    let (supported, all) = match is_listing(program.code()) {
        true => sass::support(program.code()),
        false => support(&program.module),
    };
    let mut out = format!(
        "{}: {}, {}; {supported} of {} supported\n",
        program.name,
        plural(count(Severity::Error), "error"),
        plural(count(Severity::Warning), "warning"),
        plural(all, if is_listing(program.code()) { "machine instruction" } else { "instruction" }),
    );
    let mut kernels: Vec<(Span, String)> =
        program.kernels.iter().map(|kernel| (kernel.span, of_kernel(kernel))).collect();
    kernels
        .extend(program.refused.iter().map(|refused| (refused.span, of_refused(refused, program))));
    kernels.sort_by_key(|(span, _)| *span);
    out.extend(kernels.into_iter().map(|(_, text)| text));
    out
}

/// Summarizes a kernel that can be run, with its functions.
fn of_kernel(kernel: &Kernel) -> String {
    let flow = &kernel.flow;
    let divergent = flow.branches().iter().filter(|b| b.may_diverge).count();
    let mut out = format!(
        "  kernel {}: {}, {}, {}, {} ({} may diverge); {} registers a thread, {} bytes shared\n",
        kernel.name,
        plural(kernel.insts.len(), "instruction"),
        plural(flow.blocks().len(), "basic block"),
        plural(flow.loops().len(), "loop"),
        plural(flow.branches().len(), "conditional branch"),
        divergent,
        kernel.registers_per_thread,
        kernel.shared_bytes,
    );
    for function in &kernel.functions {
        out += &format!(
            "    calls {}: {}, a frame of {} bytes{}\n",
            function.name,
            plural((function.end - function.first) as usize, "instruction"),
            function.frame,
            if function.recursive { ", recursive" } else { "" },
        );
    }
    out
}

/// Summarizes a kernel that cannot be run, with the first errors.
fn of_refused(refused: &Refused, program: &Program) -> String {
    let mut out = format!("  kernel {}: cannot be run: ", refused.name);
    if refused.errors.is_empty() {
        out += "the file has errors outside its kernels\n";
        return out;
    }
    out += &format!("{}\n", plural(refused.errors.len(), "error"));
    if is_listing(program.code()) {
        return out + &missing(refused, &program.text);
    }
    for error in refused.errors.iter().take(MOST_REASONS) {
        let line =
            error.labels.first().map_or(1, |label| line_column(&program.text, label.span.start).0);
        out += &format!("    line {line}: {}\n", printable(&error.message));
    }
    let more = refused.errors.len().saturating_sub(MOST_REASONS);
    if more > 0 {
        out += &format!("    and {more} more\n");
    }
    out
}

/// Lists the errors of a listing, equal ones once with their lines: what it would take to run it.
fn missing(refused: &Refused, text: &str) -> String {
    let mut found: Vec<(&str, Vec<u32>)> = Vec::new();
    let line = |error: &Diagnostic| {
        error.labels.first().map_or(1, |label| line_column(text, label.span.start).0)
    };
    let mut errors: Vec<(u32, &Diagnostic)> = refused.errors.iter().map(|e| (line(e), e)).collect();
    errors.sort_by_key(|(line, _)| *line);
    for (line, error) in errors {
        match found.iter_mut().find(|(message, _)| *message == error.message) {
            Some((_, lines)) => lines.push(line),
            None => found.push((&error.message, vec![line])),
        }
    }
    let mut out = String::new();
    for (message, lines) in &found {
        let shown: Vec<String> = lines.iter().take(MOST_LINES).map(u32::to_string).collect();
        let more = match lines.len().saturating_sub(MOST_LINES) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let noun = if lines.len() == 1 { "line" } else { "lines" };
        out += &format!("    {} ({noun} {}{more})\n", printable(message), shown.join(", "));
    }
    out
}

fn plural(n: usize, what: &str) -> String {
    let ending = if what.ends_with("ch") { "es" } else { "s" };
    if n == 1 { format!("1 {what}") } else { format!("{n} {what}{ending}") }
}
