//! `simt-sim check`: errors, warnings and a summary; with `--run` also what the checks find in a run.

use simt_sim::checks::Checks;
use simt_sim::diag::Severity;
use simt_sim::kernel::support;
use simt_sim::machine::Options;
use simt_sim::pipeline::Program;
use simt_sim::report::Run;

use super::args::CheckArgs;
use super::{Exit, Failure, checks, job, output, run, source};

/// Checks each file; ends with [`Exit::Usage`] when any has an error, else as the first run that did not end well.
pub(crate) fn check(args: &CheckArgs) -> Result<Exit, Failure> {
    let mut exit = Exit::Ok;
    for path in &args.files {
        match source::read(path) {
            Ok(program) => {
                output::error(&source::render(&program, &program.findings));
                if !program.is_sound() {
                    exit = Exit::Usage;
                }
                if !args.quiet {
                    output::print(&summary(&program))?;
                }
                if program.is_sound() && args.running.run {
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
            Err(Failure(text)) => {
                output::error(&text);
                exit = Exit::Usage;
            }
        }
    }
    Ok(exit)
}

/// Runs a sound program with all checks on, and says how that ended.
fn run_checked(args: &CheckArgs, program: &Program) -> Result<Exit, Failure> {
    let running = &args.running;
    let machine = job::machine(&running.machine)?;
    let kernel = program.kernel(running.kernel.as_deref()).map_err(Failure::new)?;
    let launch = job::launch(program, kernel, &running.launch)?;
    let options = Options {
        mode: machine.mode,
        order: machine.order,
        yields: !running.machine.no_yield,
        max_cycles: running.max_cycles,
        jobs: 1,
    };
    let wanted = checks::Wanted { on: Some(Checks::ALL), schedules: running.schedules };
    let (simulation, findings) = wanted.run(program, kernel, launch, &machine.spec, &options, &())?;
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
    Ok(run::exit(&simulation, &findings))
}

/// Why a run did not end well: what proves a hang and who waits where, and the expectations that do not hold.
fn why(run: &Run) -> String {
    let mut out = String::new();
    if let Some(verdict) = &run.verdict {
        out += &format!("  {}\n", verdict.message);
        for l in &verdict.lanes {
            out += &format!(
                "    block {} warp {} lanes {}: {}; line {}: {}\n",
                l.block, l.warp, l.lanes, l.state, l.line, l.text
            );
        }
        verdict.help.iter().for_each(|help| out += &format!("    help: {help}\n"));
    }
    let failed = run.expectations.iter().filter(|e| !e.passed);
    failed.for_each(|e| out += &format!("  does not hold: {}: {}\n", e.text, e.detail));
    out
}

fn summary(program: &Program) -> String {
    let count = |severity| program.findings.iter().filter(|d| d.severity == severity).count();
    let (supported, all) = support(&program.module);
    let mut out = format!(
        "{}: {}, {}; {supported} of {} supported\n",
        program.name,
        plural(count(Severity::Error), "error"),
        plural(count(Severity::Warning), "warning"),
        plural(all, "instruction"),
    );
    for kernel in &program.kernels {
        let flow = &kernel.flow;
        let divergent = flow.branches().iter().filter(|b| b.may_diverge).count();
        out += &format!(
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
    }
    out
}

fn plural(n: usize, what: &str) -> String {
    let ending = if what.ends_with("ch") { "es" } else { "s" };
    if n == 1 { format!("1 {what}") } else { format!("{n} {what}{ending}") }
}
