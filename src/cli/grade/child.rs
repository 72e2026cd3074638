//! A submission in its own process: the work of that process, and its start.
//!
//! The process is this program again with `--measure`. It limits cycles, issues, memory and file
//! size itself, by counts that do not depend on the host; `watch` limits it from outside. A panic
//! or a stack overflow ends only that process.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use simt_teach::grade::{
    self, Assignment, Failed, Limits, Measured, RunLimit, Submission, one_line, plain,
};

use super::super::{Exit, Failure, output, reading, source};
use super::{files, nvcc};
use simt_toolkit::watch::{Bounds, Ended};

/// Bytes that the process may write: the figures of many runs.
const MOST_OUTPUT: u64 = 16 << 20;

/// Measures a submission and prints the figures, in the child.
pub(crate) fn measure(
    folder: &Path,
    assignment: &Assignment,
    file: &Path,
    limits: &[RunLimit],
) -> Result<Exit, Failure> {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let files = reading::beside(folder);
    let measured = match text(file, &assignment.spec.limits)
        .and_then(|text| Submission::read(assignment, &name, &text))
    {
        Ok(submission) => grade::measure(assignment, &submission, limits, &files),
        Err(why) => Measured { refused: Some(why), ..Measured::default() },
    };
    output::print(&serde_json::to_string(&measured).map_err(Failure::new)?)?;
    Ok(Exit::Ok)
}

/// Reads the text of a program.
pub(super) fn text(file: &Path, limits: &Limits) -> Result<String, String> {
    files::regular(file, limits.file_kib << 10)?;
    let bytes = reading::regular(file, limits.file_kib << 10, "the limit is")?;
    source::utf8(bytes)
}

/// Measures a file in a child; compiles a `.cu` file first.
pub(crate) fn run(
    folder: &Path,
    file: &Path,
    assignment: &Assignment,
    run_limits: &[RunLimit],
) -> Result<Measured, Failed> {
    let limits = &assignment.spec.limits;
    if file.extension().is_none_or(|e| e != "cu") {
        return measured(folder, file, limits, run_limits);
    }
    let compiled = nvcc::compile(&text(file, limits).map_err(Failed::Refused)?, limits)?;
    measured(folder, &compiled.ptx(), limits, run_limits)
}

fn measured(
    folder: &Path,
    file: &Path,
    limits: &Limits,
    run_limits: &[RunLimit],
) -> Result<Measured, Failed> {
    let broken = |what: &str, e: &dyn std::fmt::Display| Failed::Grader(format!("{what}: {e}"));
    let program = std::env::current_exe().map_err(|e| broken("cannot find this program", &e))?;
    let list: Vec<String> = run_limits.iter().map(RunLimit::to_string).collect();
    let mut command = Command::new(program);
    command
        .arg("grade")
        .arg(format!("--measure={}", list.join(",")))
        .arg("--")
        .arg(folder)
        .arg(file);
    // One thread: submissions run side by side.
    command.env("RAYON_NUM_THREADS", "1");
    let bounds = Bounds {
        time: Duration::from_secs(limits.seconds),
        memory_mib: limits.memory_mib,
        output: MOST_OUTPUT,
        folder: None,
    };
    match bounds.run(&mut command).map_err(|e| broken("cannot run a process", &e))? {
        Ended::Over(limit) => Err(Failed::Limit(limit)),
        Ended::Itself { success: true, out, .. } => {
            serde_json::from_slice(&out).map_err(|e| broken("the figures cannot be read", &e))
        }
        Ended::Itself { errors, .. } => {
            let errors = plain(&String::from_utf8_lossy(&errors), 1000);
            Err(broken("its process ended early", &one_line(errors.trim())))
        }
    }
}
