//! Generated programs on a real GPU: its memory and divergence, compared with the simulator.
//!
//! There are two families with a record each: [`PLAIN`] without function calls, [`CALLING`] with
//! them. For each program, a record holds a digest of the memory, which must equal that of both
//! modes, and a digest of the counts that the probes of `simt_gpu::instrument` made of each branch
//! and block, which must equal those of volta mode. Program `n` is drawn with the family's seed
//! plus `n`, so it is the same on every host. On a computer with a GPU,
//!
//! ```sh
//! BLESS=1 cargo test --release --features cuda --test suite -- --ignored generated::device
//! ```
//!
//! runs them all and writes those files; `BLESS=missing` runs and adds those without an entry.
//! Batches run in separate processes, because a fault or a hang of one kernel breaks a process for
//! the following ones.

mod family;
mod processes;
mod shrink;

use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

use rayon::prelude::*;
use simt_core::Job;
use simt_core::divergence::SideOrder;
use simt_core::kernel::Kernel;
use simt_core::launch::{Launch, Overrides};
use simt_core::spec::Mode;
use simt_gpu as gpu;
use simt_gpu::instrument::{Divergence, instrument, witness};
use simt_report::simulate;

use super::super::support;
use shrink::{counted_otherwise, keep};

pub(super) use family::{CALLING, FAMILIES, Family, PLAIN};

/// Maximum number of programs that the probes miscount. ptxas may run the instructions of a probe
/// with other lanes than those of their block: then the count of a block lacks a lane that executed
/// it, as memory shows.
const MISCOUNTED: usize = 10;
/// More cycles than any generated program takes.
const MAX_CYCLES: u64 = 50_000_000;
/// Time limit of a kernel.
const LIMIT: Duration = Duration::from_secs(5);
/// Environment variable of a process with the family's record and the numbers, `RECORD from..to`.
const PART: &str = "SIMT_GENERATED_PART";
/// Prefix of a line for the parent; the test harness prints other lines.
const ANSWER: &str = "answer ";

/// Separator in a kept program's first line, between the device's counts and the simulator's.
const SIMULATED: &str = "; simulated ";
/// Shrunk programs whose counts differ on the device.
const KEPT: &str = "tests/disagreeing";

/// Reason for lanes being together elsewhere.
const EARLIER: &str = "lanes met earlier: ptxas makes one branch of two to one place, knows the \
    range of a value, or unrolls a loop (which then does not yield)";
const LATER: &str = "lanes met later: where ptxas has a copy of a block; with calls, where a \
    function of its own yields because of the probes' votes, or where activations share barrier \
    registers";
const BOTH: &str = "lanes met earlier in one place and later in another";

/// Folder for programs that disagree, as input for `tests/regressions`.
pub(super) const DISAGREEING: &str = "target/disagreeing";

/// Digests of `text, memory, lanes, executions`: the first detects changes of the generator. The
/// lanes of a branch or block follow from the program's meaning, the executions from which of them
/// are together.
fn entry(text: &str, memory: &[Vec<u32>], counts: &Divergence) -> String {
    let memory = memory_digest(memory);
    let lanes = counts
        .branches
        .iter()
        .flat_map(|b| [b.lanes, b.taken])
        .chain(counts.blocks.iter().map(|b| b.lanes));
    let together = counts.branches.iter().flat_map(|b| [b.executed, b.divergent]);
    let together = together.chain(counts.blocks.iter().map(|b| b.executed)).collect();
    let [lanes, together] = [lanes.collect(), together].map(digest);
    format!("{:08x} {memory} {lanes} {together}", gpu::digest(text.bytes()) as u32)
}

/// Digest of a program's buffers.
pub(super) fn memory_digest(memory: &[Vec<u32>]) -> String {
    digest(memory.iter().flatten().map(|&word| word.into()).collect())
}

fn digest(words: Vec<u64>) -> String {
    format!("{:016x}", gpu::digest(words.into_iter().flat_map(u64::to_le_bytes)))
}

/// Describes the difference between a device's executions and the simulator's, if any.
fn together(device: &Divergence, simulated: &Divergence) -> Option<&'static str> {
    let executed = |d: &Divergence| -> Vec<u64> {
        d.branches.iter().map(|b| b.executed).chain(d.blocks.iter().map(|b| b.executed)).collect()
    };
    let (theirs, ours) = (executed(device), executed(simulated));
    let (fewer, more) =
        theirs.iter().zip(&ours).fold((false, false), |(f, m), (t, o)| (f || t < o, m || t > o));
    match (fewer, more) {
        (false, false) => (device != simulated).then_some(EARLIER),
        (true, false) => Some(EARLIER),
        (false, true) => Some(LATER),
        (true, true) => Some(BOTH),
    }
}

fn parse(text: &str) -> simt_core::Program {
    simt_core::Program::parse("generated.ir", text)
}

/// Returns the simulator's memory.
fn simulated(program: &simt_core::Program, mode: Mode) -> Result<Vec<Vec<u32>>, String> {
    let (kernel, launch) = support::launch(program, &Overrides::default())?;
    let options = support::options(mode, SideOrder::Fewer, MAX_CYCLES);
    let spec = support::machine(mode.default_machine());
    let done = simulate::simulate(Job::new(program, kernel, launch, &spec, options.clone()), &())
        .map_err(|e| e.to_string())?;
    match done.finish.name() {
        "ok" => Ok(done.launch.buffers.into_iter().map(|b| b.words).collect()),
        other => Err(other.to_string()),
    }
}

/// Failure of a run on the device, and whether the process can continue.
struct Ended {
    why: String,
    goes_on: bool,
}

/// Runs on the device, reading these variables.
fn on_device(
    text: &str,
    kernel: &Kernel,
    launch: &Launch,
    variables: &[&str],
) -> Result<gpu::DeviceRun, Ended> {
    let run = gpu::run_reading(gpu::Image::Ptx(text), kernel, launch, LIMIT, variables);
    let run = run.map_err(|e| Ended { why: e.to_string(), goes_on: true })?;
    match run.finish {
        gpu::DeviceFinish::Ok => Ok(run),
        other => Err(Ended { why: format!("{other:?}"), goes_on: false }),
    }
}

/// Returns the device's memory.
fn observed(program: &simt_core::Program) -> Result<gpu::DeviceRun, Ended> {
    let launched = support::launch(program, &Overrides::default());
    let (kernel, launch) = launched.map_err(|why| Ended { why, goes_on: true })?;
    on_device(&gpu::device_text(&program.name, &program.text), kernel, &launch, &[])
}

/// Returns the probes' counts on the device.
fn counted_there(program: &simt_core::Program) -> Result<Divergence, Ended> {
    let launched = support::launch(program, &Overrides::default());
    let (kernel, launch) = launched.map_err(|why| Ended { why, goes_on: true })?;
    let probes = instrument(&program.module, 32, None);
    let run = on_device(&probes.text, kernel, &launch, &[&probes.counters])?;
    Ok(probes.read(kernel, run.variables.first().map_or(&[][..], Vec::as_slice), &[]).0)
}

/// Returns the counts that probes would make of the simulator's as-written run in volta mode.
fn counted_here(program: &simt_core::Program) -> Result<Divergence, String> {
    let (kernel, launch) = support::launch(program, &Overrides::default())?;
    let spec = support::machine(Mode::Volta.default_machine());
    let options = support::options(Mode::Volta, spec.side_order(), MAX_CYCLES);
    let probes = instrument(&program.module, spec.warp_size, None);
    let counted = witness(kernel, launch, &spec, &options, &probes).map_err(|e| e.to_string())?;
    Ok(counted.divergence)
}

/// Describes the first word that differs, of any buffer.
fn difference(launch: &Launch, device: &[Vec<u32>], simulated: &[Vec<u32>]) -> Option<String> {
    let buffers = launch.buffers.iter().zip(device.iter().zip(simulated));
    buffers.into_iter().find_map(|(buffer, (theirs, ours))| {
        let i = (0..theirs.len()).find(|&i| theirs.get(i) != ours.get(i))?;
        Some(format!(
            "{}[{i}]: device {:x?}, simulated {:x?}",
            buffer.name,
            theirs.get(i),
            ours.get(i)
        ))
    })
}

/// Results of both on a program.
struct Held {
    run: gpu::DeviceRun,
    device: Divergence,
    simulated: Divergence,
    /// First difference of memory in either mode.
    wrong: Option<String>,
}

impl Held {
    /// Returns true if the lanes of a branch or block, which follow from the program's meaning,
    /// differ from the simulator's.
    fn is_miscounted(&self) -> bool {
        let branches = self.device.branches.iter().zip(&self.simulated.branches);
        let blocks = self.device.blocks.iter().zip(&self.simulated.blocks);
        branches.into_iter().any(|(a, b)| (a.lanes, a.taken) != (b.lanes, b.taken))
            || blocks.into_iter().any(|(a, b)| a.lanes != b.lanes)
    }
}

fn hold(program: &simt_core::Program) -> Result<Held, Ended> {
    let failed = |why| Ended { why, goes_on: true };
    let (_, launch) = support::launch(program, &Overrides::default()).map_err(failed)?;
    let (run, device) = (observed(program)?, counted_there(program)?);
    let counted = counted_here(program).map_err(failed)?;
    let wrong = support::MODES.iter().find_map(|&mode| {
        let found = simulated(program, mode)
            .map_or_else(Some, |ours| difference(&launch, &run.buffers, &ours));
        found.map(|what| format!("{}: {what}", mode.name()))
    });
    Ok(Held { run, device, simulated: counted, wrong })
}

/// Count of a branch or a block: its kind, its line, and its executions.
type Count = (&'static str, u32, String);

/// Returns the counts of each branch and block.
fn in_words(counts: &Divergence) -> Vec<Count> {
    let branches = counts.branches.iter().map(|b| {
        let words = format!("{} executions, {} divergent", b.executed, b.divergent);
        ("branch", b.line, words)
    });
    let blocks =
        counts.blocks.iter().map(|b| ("block", b.line, format!("{} executions", b.executed)));
    branches.chain(blocks).collect()
}

/// Runs a process's share of the programs: prints a line for each.
#[test]
#[ignore = "run by a_gpu_runs_the_generated_programs"]
fn part() {
    let Ok(part) = std::env::var(PART) else { return };
    let (record, range) = part.split_once(' ').expect("a family and a range");
    let family = FAMILIES.into_iter().find(|family| family.record == record).expect("a family");
    let (from, to) = range.split_once("..").expect("a range");
    let (from, to): (u32, u32) = (from.parse().expect("a number"), to.parse().expect("a number"));
    let say = |number: u32, what: &str| {
        let mut out = std::io::stdout().lock();
        let _ = writeln!(out, "\n{ANSWER}{number} {what}").and_then(|()| out.flush());
    };
    let _held = match gpu::hold() {
        Ok(held) => held,
        Err(e) => return say(from, &format!("absent {e}")),
    };
    for number in from..to {
        let text = family.text(number);
        match hold(&parse(&text)) {
            Err(Ended { why, goes_on }) => {
                say(number, &format!("failed {}", why.replace('\n', " | ")));
                if !goes_on {
                    return;
                }
            }
            Ok(held) => {
                let mut entry = entry(&text, &held.run.buffers, &held.device);
                let mut reason = together(&held.device, &held.simulated).unwrap_or("-");
                if held.is_miscounted() {
                    let known: Vec<&str> = entry.split(' ').take(2).collect();
                    (entry, reason) = (format!("{} - -", known.join(" ")), "-");
                }
                say(
                    number,
                    &format!("good {entry} {} / {} / {reason}", held.run.gpu, held.run.driver),
                );
                // Last: shrinking may take longer than a process may be silent.
                let kept = |name: &str, what, fault| {
                    keep(&format!("{name}_{number}"), family.tree(number), what, fault)
                };
                if let Some(what) = &held.wrong {
                    say(
                        number,
                        &format!("differs {}", kept("memory", what.clone(), |held| held.wrong)),
                    );
                } else if !family.calls
                    && let Some(what) = counted_otherwise(held)
                {
                    kept("counts", what, counted_otherwise);
                }
            }
        }
    }
}

/// Writes the programs out, for inspection or a compiler: `SIMT_GENERATED_OUT=folder`; those with
/// calls are numbered from 10,000 on.
#[test]
#[ignore = "writes files"]
fn write_out() {
    let Some(folder) = std::env::var_os("SIMT_GENERATED_OUT").map(PathBuf::from) else { return };
    for (family, number) in FAMILIES
        .into_iter()
        .flat_map(|family| (0..family.programs).map(move |number| (family, number)))
    {
        let text = family.text(number);
        let ptx = gpu::device_text("generated.ir", &text);
        let name = if family.calls { 10_000 + number } else { number };
        std::fs::write(folder.join(format!("{name}.ir")), text).expect("written");
        std::fs::write(folder.join(format!("{name}.ptx")), ptx).expect("written");
    }
}

/// A program of [`KEPT`] states the device's counts; once the simulator counts the same, it must be
/// removed.
#[test]
fn what_the_gpu_counts_otherwise_is_kept() {
    let mut wrong = Vec::new();
    for path in support::programs(KEPT) {
        let text = std::fs::read_to_string(&path).expect("a readable file");
        let (known, program) = text.split_once('\n').expect("lines");
        let counts =
            counted_here(&parse(program)).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let here = |(what, line, simulated): &Count| {
            known.starts_with(&format!("// {what} of line {line}: "))
                && known.ends_with(&format!("{SIMULATED}{simulated}"))
        };
        if !in_words(&counts).iter().any(here) {
            wrong.push(format!(
                "{}: {known}, but counted now: {:?}",
                path.display(),
                in_words(&counts)
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_simulator_leaves_and_counts_what_the_gpu_did() {
    replay(&PLAIN, FEW);
}

#[test]
fn with_calls_the_simulator_leaves_and_counts_what_the_gpu_did() {
    replay(&CALLING, FEW);
}

#[test]
#[ignore = "long: every third of 2,100 programs"]
fn long_the_simulator_leaves_and_counts_what_the_gpu_did() {
    replay(&PLAIN, 3);
}

#[test]
#[ignore = "long: every third of 2,040 programs"]
fn long_with_calls_the_simulator_leaves_and_counts_what_the_gpu_did() {
    replay(&CALLING, 3);
}

#[test]
#[ignore = "minutes: all programs"]
fn all_programs_leave_and_count_what_the_gpu_did() {
    replay(&PLAIN, 1);
    replay(&CALLING, 1);
}

/// One program of so many runs in a usual run.
const FEW: usize = 40;

/// Holds one program in `step` against its record.
fn replay(family: &Family, step: usize) {
    let record = family.recorded().expect("a record");
    let known = (record.seed, record.programs.len());
    assert_eq!(
        known,
        (family.seed, family.programs as usize),
        "{}: of other programs",
        family.record
    );
    let replay = |number: u32| -> Result<(), String> {
        let wanted = &record.programs[number as usize];
        if wanted.is_empty() {
            return Ok(()); // found below
        }
        let text = family.text(number);
        let program = parse(&text);
        let counts = counted_here(&program)?;
        for mode in support::MODES {
            let found = entry(&text, &simulated(&program, mode)?, &counts);
            if found.get(..8) != wanted.get(..8) {
                return Err("another program than the GPU ran: record it again".to_string());
            }
            let [ours, theirs]: [Vec<&str>; 2] =
                [&found, wanted].map(|entry| entry.split(' ').collect());
            // No lanes are counted if other lanes executed the probes' instructions on the GPU.
            let same = match theirs[..] {
                [text, memory, "-", "-"] => ours[..2] == [text, memory],
                // The executions differ, as explained: that must still be so.
                _ => {
                    ours[..3] == theirs[..3]
                        && (ours[3..] != theirs[3..]) == record.is_explained(number)
                }
            };
            if !same {
                return Err(format!("the GPU left {wanted}, {} {found}", mode.name()));
            }
        }
        Ok(())
    };
    let numbers: Vec<u32> = (0..family.programs).step_by(step).collect();
    let held = numbers
        .into_par_iter()
        .filter_map(|n| replay(n).err().map(|e| format!("program {n}: {e}")));
    let wrong: Vec<String> = held.collect();
    assert!(wrong.is_empty(), "{} of {}\n{}", wrong.len(), family.programs, wrong.join("\n"));
    let of = |what: fn(&&String) -> bool| record.programs.iter().filter(what).count();
    assert_eq!(of(|entry| entry.is_empty()), 0, "programs that got no answer from the GPU");
    let miscounted = of(|entry| entry.ends_with('-'));
    assert!(miscounted <= MISCOUNTED, "{miscounted} programs were miscounted by their probes");
}
