//! `simt-sim crosscheck --divergence`: every branch counted three times, and what differs.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use simt_core::Program;
use simt_core::kernel::Kernel;
use simt_core::launch::Launch;
use simt_core::machine::Finish;
use simt_core::spec::Lowering;
use simt_gpu::instrument::{
    BranchCount, Counted, Divergence, Instrumented, Log, Sequence, instrument, measure, witness,
};
use simt_gpu::{self as gpu, DeviceError, DivergenceRecord, Explanations};

use super::super::args::CrosscheckArgs;
use super::super::{Exit, Failure, job, output, source};
use super::{Judged, absence, as_recorded, default_folder, observation_file, today};

/// What is logged of a run: the first warps, long enough for every program of the repository.
const LOG: Log = Log { warps: 64, events: 512 };

/// What the device counted, now or earlier.
struct Device {
    record: DivergenceRecord,
    /// What the logged warps passed; only of a run made now.
    sequences: Vec<Sequence>,
}

pub(super) fn divergence(args: &CrosscheckArgs, path: &Path) -> Result<Judged, Failure> {
    let program = source::read_runnable(path, args.kernel.as_deref(), true)?;
    let kernel = program.kernel(args.kernel.as_deref()).map_err(Failure::new)?;
    let mut machine = job::machine(&args.machine)?;
    machine.spec = machine.spec.lowered(Lowering::AsWritten); // see `instrument::simulate`
    let options = machine.options(&args.limit);
    let logged = instrument(&program.module, machine.spec.warp_size, Some(LOG));
    let (device, launch) = observed(args, path, &program, kernel, &logged)?;
    let own = witness(kernel, launch.clone(), &machine.spec, &options, &logged).map_err(Failure::new)?;
    let name = &program.name;
    if !matches!(own.finish, Finish::Ok) {
        return not_counted(args, path, &machine, &own.finish, device.as_ref());
    }
    let probed = measure(kernel, launch, &machine.spec, &options, &logged).map_err(Failure::new)?;
    let ours = format!("{}, {}, as written", machine.spec.name, machine.mode.name());
    let judged = judge(args, path, &ours, [&own, &probed], device.as_ref())?;
    let mut text = format!("{name}: {}", judged.text);
    if let Some(warp) = args.trace {
        text += &trace(&logged, kernel, warp as usize, [&own.sequences, &probed.sequences], device.as_ref());
    }
    Ok(Judged { text, exit: judged.exit })
}

/// Runs the program with probes on the device, or finds what was recorded; and the launch that it is of.
fn observed(
    args: &CrosscheckArgs,
    path: &Path,
    program: &Program,
    kernel: &Kernel,
    logged: &Instrumented,
) -> Result<(Option<Device>, Launch), Failure> {
    if args.recorded.is_none() {
        let launch = job::launch(program, kernel, &args.launch)?;
        match on_device(args, program, kernel, &launch, logged) {
            Ok(device) => {
                if let Some(folder) = &args.record {
                    let folder = folder.join("divergence");
                    std::fs::create_dir_all(&folder)
                        .map_err(|e| Failure::new(format!("cannot make the folder `{}`: {e}", folder.display())))?;
                    let text = device.record.to_text().map_err(Failure::new)?;
                    output::write_file(&observation_file(&folder, path), text.as_bytes())?;
                }
                return Ok((Some(device), launch));
            }
            Err(e) if !e.is_absence() => return Err(Failure::new(format!("{}: {e}", program.name))),
            Err(e) if args.record.is_some() => {
                let help = e.help().map(|h| format!("\nhelp: {h}")).unwrap_or_default();
                return Err(Failure::new(format!("nothing can be recorded: {e}{help}")));
            }
            Err(e) => output::error(&absence(&e)),
        }
    }
    let file = observation_file(&recorded_folder(args), path);
    if !file.exists() {
        return Ok((None, job::launch(program, kernel, &args.launch)?));
    }
    let (file_name, text) = source::read_text(&file)?;
    let record = DivergenceRecord::parse(&text).map_err(|e| Failure::new(format!("`{file_name}`: {e}")))?;
    let launch = job::launch(program, kernel, &as_recorded(program, &args.launch, &record.constants))?;
    match record.is_of(&program.text, &launch) {
        Ok(()) => Ok((Some(Device { record, sequences: Vec::new() }), launch)),
        Err(e) => {
            output::error(&format!("note: `{file_name}`: {e}; record it again\n"));
            Ok((None, launch))
        }
    }
}

fn recorded_folder(args: &CrosscheckArgs) -> PathBuf {
    args.recorded.clone().unwrap_or_else(default_folder).join("divergence")
}

/// Two runs: one that only counts, and one that logs as well.
fn on_device(
    args: &CrosscheckArgs,
    program: &Program,
    kernel: &Kernel,
    launch: &Launch,
    logged: &Instrumented,
) -> Result<Device, DeviceError> {
    const WARP_SIZE: u32 = 32;
    let limit = Duration::from_secs(args.timeout);
    let light = instrument(&program.module, WARP_SIZE, None);
    let counts = |probes: &Instrumented, words: &[Vec<u32>]| {
        let words = |n: usize| words.get(n).map_or(&[][..], Vec::as_slice);
        probes.read(kernel, words(0), words(1))
    };
    let run = gpu::run_reading(&light.text, kernel, launch, limit, &[&light.counters])?;
    let (mut found, _) = counts(&light, &run.variables);
    let (mut disturbed, mut sequences) = (false, Vec::new());
    if let (gpu::Finish::Ok, Some((log, _))) = (&run.finish, &logged.log) {
        let second = gpu::run_reading(&logged.text, kernel, launch, limit, &[&logged.counters, log])?;
        let (with_log, passed) = counts(logged, &second.variables);
        for (branch, logged) in found.branches.iter_mut().zip(&with_log.branches) {
            branch.first = logged.first;
        }
        disturbed = found != with_log;
        sequences = passed;
    }
    let date = args.date.clone().unwrap_or_else(today);
    let log = (LOG.warps, LOG.events);
    let record = DivergenceRecord::of(&run, &program.text, launch, &date, log, found, disturbed);
    Ok(Device { record, sequences })
}

fn ending(finish: &gpu::Finish) -> String {
    match finish {
        gpu::Finish::Ok => "ok".to_string(),
        gpu::Finish::Timeout => "did not end in time".to_string(),
        gpu::Finish::Fault(why) => format!("fault: {why}"),
    }
}

/// The simulator's run does not end well. Probes change memory, so that no hang of a text with probes can be proved.
fn not_counted(
    args: &CrosscheckArgs,
    path: &Path,
    machine: &job::MachineSetup,
    finish: &Finish,
    device: Option<&Device>,
) -> Result<Judged, Failure> {
    let name = path.display();
    let mut text = format!("  {}, {}: {}\n", machine.spec.name, machine.mode.name(), finish.name());
    let Some(Device { record, .. }) = device else {
        return Ok(Judged { text: format!("{name}: not counted\n{text}"), exit: Exit::NothingToCompare });
    };
    let _ = writeln!(text, "  {} with probes: {}", record.gpu, ending(&record.finish));
    let (verdict, notes, exit) = explain(args, path, &record.differing(None))?;
    Ok(Judged { text: format!("{name}: not counted, {verdict}\n{text}{notes}"), exit })
}

/// A word on the lines that differ, the reasons, and the exit code.
fn explain(args: &CrosscheckArgs, path: &Path, differing: &[u32]) -> Result<(&'static str, String, Exit), Failure> {
    let program = path.file_name().and_then(|n| n.to_str()).unwrap_or_default();
    let explained = explanations(args)?;
    let judged = explained.judge(program, differing);
    let reasons: String = judged.reasons.iter().map(|e| format!("  because: {}\n", e.reason)).collect();
    Ok(match (differing, judged.unexplained.as_slice()) {
        ([], _) => ("equal", String::new(), Exit::Ok),
        (_, []) => ("differs, explained", reasons, Exit::Ok),
        _ => ("differs", reasons, Exit::ExpectationFailed),
    })
}

fn judge(
    args: &CrosscheckArgs,
    path: &Path,
    ours: &str,
    [own, probed]: [&Counted; 2],
    device: Option<&Device>,
) -> Result<Judged, Failure> {
    let mut columns = vec![&own.divergence, &probed.divergence];
    let mut heads = vec![ours.to_string(), "the same with probes".to_string()];
    let mut notes = String::new();
    let (mut verdict, mut exit) = match device {
        None => {
            let file = observation_file(&recorded_folder(args), path);
            let _ = writeln!(notes, "  no GPU, and no fresh `{}`", file.display());
            ("equal", Exit::NothingToCompare)
        }
        Some(Device { record, .. }) => {
            let unclear = if record.disturbed { "; logging changed what was counted" } else { "" };
            heads.push(format!("{} ({}, {}{unclear})", record.gpu, record.driver, record.date));
            if record.finish == gpu::Finish::Ok {
                columns.push(&record.counts);
            } else {
                let _ = writeln!(notes, "  {} with probes: {}", record.gpu, ending(&record.finish));
            }
            let (word, reasons, code) = explain(args, path, &record.differing(Some(&own.divergence)))?;
            notes += &reasons;
            (word, code)
        }
    };
    if own.divergence != probed.divergence {
        (verdict, exit) = ("the simulator's own probes differ", Exit::ExpectationFailed);
    }
    Ok(Judged { text: format!("{verdict}\n  {}\n{}{notes}", heads.join(" / "), table(&columns)), exit })
}

fn explanations(args: &CrosscheckArgs) -> Result<Explanations, Failure> {
    let file = recorded_folder(args).join("explained.ron");
    if !file.exists() {
        return Ok(Explanations::default());
    }
    let (name, text) = source::read_text(&file)?;
    Explanations::parse(&text).map_err(|e| Failure::new(format!("`{name}`: {e}")))
}

/// A line for each branch: one figure where all agree, else one of each column.
fn table(columns: &[&Divergence]) -> String {
    let Some(first) = columns.first() else { return String::new() };
    let mut out = String::new();
    for (number, branch) in first.branches.iter().enumerate() {
        let cell = |value: &dyn Fn(&BranchCount) -> u64| {
            let values: Vec<String> = columns
                .iter()
                .map(|c| c.branches.get(number).map_or("-".to_string(), |b| value(b).to_string()))
                .collect();
            if values.windows(2).all(|pair| pair[0] == pair[1]) { values[0].clone() } else { values.join("/") }
        };
        let _ = writeln!(
            out,
            "  line {:>4}: executed {}, divergent {}, lanes {}, taken {}; taken side first {}, other side first {}",
            branch.line,
            cell(&|b| b.executed),
            cell(&|b| b.divergent),
            cell(&|b| b.lanes),
            cell(&|b| b.taken),
            cell(&|b| b.first[0]),
            cell(&|b| b.first[1]),
        );
    }
    out
}

/// What a warp passed, up to where the columns part.
fn trace(
    probes: &Instrumented,
    kernel: &Kernel,
    warp: usize,
    ours: [&Vec<Sequence>; 2],
    device: Option<&Device>,
) -> String {
    let of = |all: &Vec<Sequence>| all.get(warp).cloned().unwrap_or_default();
    let mut columns = vec![("simulator", of(ours[0])), ("with probes", of(ours[1]))];
    if let Some(device) = device.filter(|d| !d.sequences.is_empty()) {
        columns.push(("device", of(&device.sequences)));
    }
    let mut out = format!("  warp {warp}:\n");
    for at in 0..columns.iter().map(|(_, c)| c.len()).max().unwrap_or(0) {
        let here: Vec<_> = columns.iter().map(|(_, c)| c.get(at)).collect();
        let show = |n: usize| here[n].map_or("nothing".to_string(), |passed| probes.describe(kernel, passed));
        if here.windows(2).all(|pair| pair[0] == pair[1]) {
            let _ = writeln!(out, "    {}", show(0));
        } else {
            for (n, (who, _)) in columns.iter().enumerate() {
                let _ = writeln!(out, "    {who} goes on with {}", show(n));
            }
            break;
        }
    }
    out
}
