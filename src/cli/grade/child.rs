//! A submission in a process of its own: what that process does, and how this one watches it.
//!
//! The process is this program again, told to measure. Cycles, memory and the file's size are limited from within, by figures that do
//! not depend on the host; what that misses is caught from without: the process is ended when it takes longer, grows larger or writes
//! more than it may. Limits of the operating system (`setrlimit`) are not used: the library would need `unsafe` for them, they differ
//! between systems, and a limit on address space counts what is reserved rather than used. A panic or a stack overflow ends that process
//! alone.

use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use simt_sim::grade::{self, Assignment, Failed, Limits, Measured, Submission, one_line, plain};

use super::super::{Exit, Failure, output};
use super::{files, nvcc};

/// The most that the process may write: figures of many runs, not more.
const MOST_OUTPUT: u64 = 16 << 20;
/// What is kept of its complaints.
const MOST_ERRORS: u64 = 4 << 10;

/// In the child: measures a submission and prints the figures.
pub(crate) fn measure(folder: &Path, assignment: &Assignment, file: &Path, cycles: &[u64]) -> Result<Exit, Failure> {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let files = |path: &str| fs::read(folder.join(path)).map_err(|e| format!("cannot read `{path}`: {e}"));
    let measured = match text(file, &assignment.spec.limits).and_then(|text| Submission::read(assignment, &name, &text))
    {
        Ok(submission) => grade::measure(assignment, &submission, cycles, &files),
        Err(why) => Measured { refused: Some(why), ..Measured::default() },
    };
    output::print(&serde_json::to_string(&measured).map_err(Failure::new)?)?;
    Ok(Exit::Ok)
}

/// The program's text; of a `.cu` file what nvcc makes of it.
fn text(file: &Path, limits: &Limits) -> Result<String, String> {
    files::regular(file, limits.file_kib << 10)?;
    let bytes = fs::read(file).map_err(|e| format!("it cannot be read: {e}"))?;
    let text = String::from_utf8(bytes)
        .map_err(|e| format!("byte {} of the file is not UTF-8 text", e.utf8_error().valid_up_to()))?;
    if file.extension().is_some_and(|e| e == "cu") { nvcc::compile(&text, limits) } else { Ok(text) }
}

/// Measures a file in a child.
pub(crate) fn run(folder: &Path, file: &Path, assignment: &Assignment, cycles: &[u64]) -> Result<Measured, Failed> {
    let broken = |what: &str, e: &dyn std::fmt::Display| Failed::Grader(format!("{what}: {e}"));
    let program = std::env::current_exe().map_err(|e| broken("cannot find this program", &e))?;
    let list: Vec<String> = cycles.iter().map(u64::to_string).collect();
    let mut command = Command::new(program);
    command.arg("grade").arg(format!("--measure={}", list.join(","))).arg("--").arg(folder).arg(file);
    // One thread: submissions run side by side.
    command.env("RAYON_NUM_THREADS", "1").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().map_err(|e| broken("cannot start a process", &e))?;
    let limits = &assignment.spec.limits;
    let ended = watch(child, Duration::from_secs(limits.seconds), limits.memory_mib, MOST_OUTPUT)
        .map_err(|e| broken("cannot watch a process", &e))?;
    match ended {
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

/// How a process ended.
pub(crate) enum Ended {
    /// By itself.
    Itself {
        /// Whether its exit code is 0.
        success: bool,
        /// What it wrote.
        out: Vec<u8>,
        /// What it complained about.
        errors: Vec<u8>,
    },
    /// It was ended: the limit that it went over.
    Over(String),
}

/// Waits for a process, and ends it when it goes over a limit.
pub(crate) fn watch(mut child: Child, time: Duration, memory_mib: u64, output: u64) -> std::io::Result<Ended> {
    let (out, errors) = (child.stdout.take(), child.stderr.take());
    let out = thread::spawn(move || some(out, output + 1));
    let errors = thread::spawn(move || some(errors, MOST_ERRORS));
    let started = Instant::now();
    let mut pause = Duration::from_millis(1);
    let over = loop {
        if child.try_wait()?.is_some() {
            break None;
        }
        if started.elapsed() > time {
            break Some(format!("it took longer than {} s", time.as_secs()));
        }
        if resident(child.id()).is_some_and(|kib| kib > memory_mib << 10) {
            break Some(format!("it took more than {memory_mib} MiB of memory"));
        }
        thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(20));
    };
    if over.is_some() {
        child.kill()?;
    }
    let status = child.wait()?;
    let out = out.join().unwrap_or_default();
    let errors = errors.join().unwrap_or_default();
    Ok(match over {
        Some(limit) => Ended::Over(limit),
        None if out.len() as u64 > output => Ended::Over(format!("it wrote more than {} KiB", output >> 10)),
        None => Ended::Itself { success: status.success(), out, errors },
    })
}

/// The first bytes of a stream. What follows is not read: closing the stream ends who writes on.
fn some(stream: Option<impl Read>, limit: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    if let Some(stream) = stream {
        let _ = stream.take(limit).read_to_end(&mut bytes); // what came before an error is what there is
    }
    bytes
}

/// Resident memory of a process in KiB, where the system tells (Linux).
fn resident(process: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.trim().trim_end_matches("kB").trim().parse().ok()
}
