//! `simt-sim check`: errors, warnings and a summary, without a run.

use simt_sim::diag::Severity;
use simt_sim::kernel::support;
use simt_sim::pipeline::Program;

use super::args::CheckArgs;
use super::{Exit, Failure, output, source};

/// Checks each file; ends with [`Exit::Usage`] when any has an error.
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
            }
            Err(Failure(text)) => {
                output::error(&text);
                exit = Exit::Usage;
            }
        }
    }
    Ok(exit)
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
