//! `simt-sim crosscheck`: the simulator held against a GPU, or against what one did earlier.

mod cuda_source;
mod divergence;
mod ncu;
mod suite;
mod unseen;

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use simt_core::isa::Type;
use simt_core::kernel::Kernel;
use simt_core::launch::Launch;
use simt_core::machine::Finish;
use simt_core::{Job, Program};
use simt_gpu::{self as gpu, BufferComparison, Comparison, DeviceError, DeviceRun, Observation, Tolerance};
use simt_report::simulate::{self, Simulation};

use super::args::{CrosscheckArgs, LaunchChoice};
use super::{Exit, Failure, job, output, source};
use simt_threads::Threads;

/// Compares each file; the worst result is the exit code.
pub(crate) fn crosscheck(args: &CrosscheckArgs) -> Result<Exit, Failure> {
    if let Some(folder) = &args.suite.suite {
        return suite::suite(args, folder);
    }
    if let Some(folder) = &args.suite.unseen {
        return unseen::unseen(args, folder);
    }
    if let Some(report) = &args.suite.ncu {
        return ncu::ncu(args, report);
    }
    let mut worst = Exit::Ok;
    for path in &args.files {
        let judged = if args.divergence { divergence::divergence(args, path) } else { one(args, path) };
        match judged {
            Ok(Judged { text, exit }) => {
                output::print(&text)?;
                worst = graver(worst, exit);
                if exit == Exit::Hang {
                    break; // the device is busy with this kernel until the process ends
                }
            }
            Err(Failure(text)) => {
                output::error(&text);
                worst = graver(worst, Exit::Usage);
            }
        }
    }
    Ok(worst)
}

/// The exit code that says more about what is wrong.
fn graver(a: Exit, b: Exit) -> Exit {
    let rank = |exit: Exit| match exit {
        Exit::Ok => 0,
        Exit::NothingToCompare => 1,
        Exit::ExpectationFailed => 2,
        Exit::Hang => 3,
        _ => 4,
    };
    if rank(b) > rank(a) { b } else { a }
}

/// What to print about a file, and how it ends.
struct Judged {
    text: String,
    exit: Exit,
}

fn one(args: &CrosscheckArgs, path: &Path) -> Result<Judged, Failure> {
    let program = source::read_runnable(path, args.kernel.as_deref(), true)?;
    let kernel = program.kernel(args.kernel.as_deref()).map_err(Failure::new)?;
    let name = &program.name;
    if args.recorded.is_none() {
        let launch = job::launch(&program, kernel, &args.launch)?;
        match run_on_device(args, &program, kernel, &launch) {
            Ok(run) => {
                let date = args.date.clone().unwrap_or_else(today);
                let observation = Observation::of(&run, &program.text, &launch, &date);
                if let Some(folder) = &args.record {
                    record(folder, path, &observation)?;
                }
                let simulated = simulate(args, &program, kernel, launch)?;
                let mut judged = held(args, name, &program.text, kernel, &simulated, &observation, true)?;
                if let Some(source) = cuda_source::beside(path).filter(|_| observation.finish == gpu::Finish::Ok) {
                    let second = cuda_source::held(args, &source, kernel, &simulated)?;
                    judged = Judged { text: judged.text + &second.text, exit: graver(judged.exit, second.exit) };
                }
                return Ok(judged);
            }
            Err(e) if !e.is_absence() => return Err(Failure::new(format!("{name}: {e}"))),
            Err(e) if args.record.is_some() => {
                let help = e.help().map(|h| format!("\nhelp: {h}")).unwrap_or_default();
                return Err(Failure::new(format!("nothing can be recorded: {e}{help}")));
            }
            Err(e) => output::error(&absence(&e)),
        }
    }
    let folder = args.recorded.clone().unwrap_or_else(default_folder);
    let file = observation_file(&folder, path);
    if !file.exists() {
        let text = format!(
            "{name}: no observation\n  there is no `{}`; on a computer with a GPU, `--record {}` writes it\n",
            file.display(),
            folder.display()
        );
        return Ok(Judged { text, exit: Exit::NothingToCompare });
    }
    let (file_name, text) = source::read_text(&file)?;
    let observation = Observation::parse(&text).map_err(|e| Failure::new(format!("`{file_name}`: {e}")))?;
    let launch = job::launch(&program, kernel, &as_recorded(&program, &args.launch, &observation.constants))?;
    let simulated = simulate(args, &program, kernel, launch)?;
    held(args, name, &program.text, kernel, &simulated, &observation, false)
}

/// Where observations are looked for when no folder is named.
fn default_folder() -> PathBuf {
    PathBuf::from("tests/observations/h200")
}

/// `FOLDER/vector_add.ir.ron`: the ending stays, because twins differ in it alone.
fn observation_file(folder: &Path, program: &Path) -> PathBuf {
    let mut name = program.file_name().map(std::ffi::OsStr::to_os_string).unwrap_or_default();
    name.push(".ron");
    folder.join(name)
}

fn run_on_device(
    args: &CrosscheckArgs,
    program: &Program,
    kernel: &Kernel,
    launch: &Launch,
) -> Result<DeviceRun, DeviceError> {
    let text = gpu::device_text(&program.name, &program.text);
    gpu::run(&text, kernel, launch, Duration::from_secs(args.timeout))
}

/// What is missing, said once.
fn absence(error: &DeviceError) -> String {
    static SAID: std::sync::Once = std::sync::Once::new();
    let mut text = String::new();
    SAID.call_once(|| {
        let help = error.help().map(|h| format!("help: {h}\n")).unwrap_or_default();
        text = format!("note: {error}; comparing with recorded observations\n{help}");
    });
    text
}

fn record(folder: &Path, program: &Path, observation: &Observation) -> Result<(), Failure> {
    std::fs::create_dir_all(folder)
        .map_err(|e| Failure::new(format!("cannot make the folder `{}`: {e}", folder.display())))?;
    let text = observation.to_text().map_err(Failure::new)?;
    output::write_file(&observation_file(folder, program), text.as_bytes())
}

/// The launch options with the constants that were in force when the observation was made; what is typed counts more.
fn as_recorded(program: &Program, typed: &LaunchChoice, constants: &[(String, i64)]) -> LaunchChoice {
    let known: Vec<&str> = program.plan.constants().collect();
    let recorded = constants.iter().filter(|(name, _)| known.contains(&name.as_str()));
    let mut set: Vec<String> = recorded.map(|(name, value)| format!("{name}={value}")).collect();
    set.extend(typed.set.iter().cloned());
    LaunchChoice { set, ..typed.clone() }
}

/// A simulated run.
struct Simulated {
    before: Launch,
    done: Simulation,
    /// On what, in words.
    ours: String,
}

fn simulate(args: &CrosscheckArgs, program: &Program, kernel: &Kernel, launch: Launch) -> Result<Simulated, Failure> {
    let machine = job::machine(&args.machine)?;
    let options = machine.options(&args.limit);
    let before = launch.clone();
    let done = simulate::simulate(Job::new(program, kernel, launch, &machine.spec, options), &Threads::new(0))
        .map_err(Failure::new)?;
    Ok(Simulated { before, done, ours: format!("{}, {}", machine.spec.name, machine.mode.name()) })
}

/// Holds a simulated run against the observation of `text`, which was made just now when `live`.
fn held(
    args: &CrosscheckArgs,
    name: &str,
    text: &str,
    kernel: &Kernel,
    Simulated { before, done, ours }: &Simulated,
    observation: &Observation,
    live: bool,
) -> Result<Judged, Failure> {
    let who = format!("{} ({}, {})", observation.gpu, observation.driver, observation.date);
    let device_hangs = live && observation.finish == gpu::Finish::Timeout;
    let (theirs, same) = finishes(&observation.finish, &done.finish);
    if !same || observation.finish != gpu::Finish::Ok {
        let verdict = if same { "agree" } else { "differ" };
        let text = format!("{name}: {verdict}\n  {who}: {theirs}\n  {ours}: {}\n", done.finish.name());
        let exit = match (device_hangs, same) {
            (true, _) => Exit::Hang,
            (false, true) => Exit::Ok,
            (false, false) => Exit::ExpectationFailed,
        };
        return Ok(Judged { text, exit });
    }
    match observation.compare(text, before, &done.launch, Tolerance::of(kernel)) {
        Ok(comparison) => {
            let exit = if comparison.agrees() { Exit::Ok } else { Exit::ExpectationFailed };
            Ok(Judged { text: report(name, &who, ours, &comparison, before, args.verbose), exit })
        }
        Err(e) => {
            let text = format!("{name}: stale observation\n  {who}: {e}; record it again\n");
            Ok(Judged { text, exit: Exit::NothingToCompare })
        }
    }
}

/// How the device's run ended, in words, and whether the simulator's ended so too.
fn finishes(device: &gpu::Finish, simulated: &Finish) -> (String, bool) {
    match device {
        gpu::Finish::Ok => ("ok".to_string(), matches!(simulated, Finish::Ok)),
        gpu::Finish::Timeout => {
            let hangs = matches!(simulated, Finish::Deadlock(_) | Finish::Livelock(_) | Finish::CycleLimit(_));
            ("did not end in time".to_string(), hangs)
        }
        gpu::Finish::Fault(why) => (format!("fault: {why}"), matches!(simulated, Finish::Fault(_))),
    }
}

fn report(name: &str, who: &str, ours: &str, done: &Comparison, launch: &Launch, verbose: bool) -> String {
    let differing: Vec<&BufferComparison> = done.buffers.iter().filter(|b| !b.agrees()).collect();
    let all = done.buffers.len();
    let mut out = if differing.is_empty() {
        format!("{name}: agree ({all} buffers written, {})\n", done.tolerance)
    } else {
        format!("{name}: differ in {} of {all} buffers written ({})\n", differing.len(), done.tolerance)
    };
    // Writing to a string cannot fail.
    let _ = writeln!(out, "  {who}; {ours}");
    for buffer in differing {
        let _ = match (buffer.differing, &buffer.first) {
            (Some(n), Some(first)) => writeln!(
                out,
                "  {}: {n} of {} elements; first [{}]{}: device {}, simulated {}",
                buffer.name,
                buffer.elements,
                first.index,
                thread_of(first.index, buffer.elements, launch),
                show(first.expected, buffer.element),
                show(first.actual, buffer.element),
            ),
            _ => writeln!(out, "  {}: some of {} elements (only a digest is kept)", buffer.name, buffer.elements),
        };
    }
    for buffer in done.buffers.iter().filter(|_| verbose) {
        if let Some((ulps, index)) = buffer.widest {
            let _ = writeln!(out, "  {}: at most {ulps} ulp apart, at [{index}]", buffer.name);
        }
    }
    for buffer in &done.skipped {
        let _ = writeln!(out, "  {buffer}: not compared (only a digest is kept, and it need not agree bit by bit)");
    }
    out
}

/// The thread that an element belongs to, where a buffer has one for each thread of the launch.
fn thread_of(index: usize, elements: usize, launch: &Launch) -> String {
    let size = |extent: [u32; 3]| extent.iter().map(|&n| n as usize).product::<usize>();
    let block = size(launch.block);
    if block == 0 || size(launch.grid).checked_mul(block) != Some(elements) {
        return String::new();
    }
    let thread = index % block;
    format!(" (block {} warp {} lane {})", index / block, thread / 32, thread % 32)
}

/// An element's bits, and its value where that helps.
fn show(bits: Option<u64>, element: Type) -> String {
    let Some(bits) = bits else { return "nothing".to_string() };
    let digits = element.bytes() as usize * 2;
    match element {
        Type::F32 => format!("{bits:0digits$x} ({:e})", f32::from_bits(bits as u32)),
        Type::F64 => format!("{bits:0digits$x} ({:e})", f64::from_bits(bits)),
        _ => format!("{bits:0digits$x}"),
    }
}

/// Today, in UTC (Howard Hinnant's `civil_from_days`).
pub(super) fn today() -> String {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs());
    let days = seconds / 86_400 + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (month, year) = if month < 10 { (month + 3, year) } else { (month - 9, year + 1) };
    format!("{:04}-{month:02}-{day:02}", year + era * 400)
}
