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

use std::io::{BufRead, BufReader, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::Duration;

use proptest::strategy::{BoxedStrategy, Strategy, ValueTree};
use proptest::test_runner::{Config, RngSeed, TestRunner};
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
use super::{Program, any_program};

/// Maximum number of programs that the probes miscount. ptxas may run the instructions of a probe
/// with other lanes than those of their block: then the count of a block lacks a lane that executed
/// it, as memory shows.
const MISCOUNTED: usize = 10;
/// More cycles than any generated program takes.
const MAX_CYCLES: u64 = 50_000_000;
/// Programs of a process.
const BATCH: u32 = 40;
/// Concurrent processes.
const PROCESSES: usize = 12;
/// Time limit of a kernel, and of a process without output: a compilation, a kernel, or shrinking
/// one.
const LIMIT: Duration = Duration::from_secs(5);
const SILENCE: Duration = Duration::from_secs(90);
/// Attempts at shrinking a program that disagrees.
const SHRINKS: u32 = 200;
/// Environment variable of a process with the family's record and the numbers, `RECORD from..to`.
const PART: &str = "SIMT_GENERATED_PART";
/// Prefix of a line for the parent; the test harness prints other lines.
const ANSWER: &str = "answer ";

/// Separator in a kept program's first line, between the device's counts and the simulator's.
const SIMULATED: &str = "; simulated ";
/// Shrunk programs whose counts differ on the device.
const KEPT: &str = "tests/disagreeing";

/// Reason for lanes being together elsewhere.
const EARLIER: &str = "lanes met earlier: ptxas makes one branch of two to one place, knows the range of a value, or unrolls a loop \
    (which then does not yield)";
const LATER: &str = "lanes met later: where ptxas has a copy of a block; with calls, where a function of its own yields because of the \
    probes' votes, or where activations share barrier registers";
const BOTH: &str = "lanes met earlier in one place and later in another";

/// Programs of one kind.
pub(super) struct Family {
    pub(super) record: &'static str,
    /// Seed of the first program.
    seed: u64,
    /// Number of programs.
    pub(super) programs: u32,
    /// True if they may call functions.
    calls: bool,
}

/// Branches, loops, shared memory, shuffles, votes, reductions, atomics.
pub(super) const PLAIN: Family = Family {
    record: "tests/observations/h200/random.ron",
    seed: 0x51d8_0000,
    programs: 2_100,
    calls: false,
};
/// Calls as well.
pub(super) const CALLING: Family = Family {
    record: "tests/observations/h200/random_calls.ron",
    seed: 0x51d7_0000,
    programs: 2_040,
    calls: true,
};
pub(super) const FAMILIES: [&Family; 2] = [&PLAIN, &CALLING];

/// Folder for programs that disagree, as input for `tests/regressions`.
pub(super) const DISAGREEING: &str = "target/disagreeing";

type Tree = Box<dyn ValueTree<Value = Program>>;

impl Family {
    fn tree(&self, number: u32) -> Tree {
        let rng_seed = RngSeed::Fixed(self.seed + u64::from(number));
        let mut runner =
            TestRunner::new(Config { rng_seed, failure_persistence: None, ..Config::default() });
        // Building a strategy takes longer than drawing from it.
        thread_local! {
            static CALLING: BoxedStrategy<Program> = any_program().boxed();
            // Calls without functions are omitted.
            static PLAIN: BoxedStrategy<Program> =
                any_program().prop_map(Program::without_functions).boxed();
        }
        let strategy = if self.calls { &CALLING } else { &PLAIN };
        let drawn = strategy.with(|strategy| strategy.new_tree(&mut runner));
        Box::new(drawn.expect("no strategy rejects anything"))
    }

    pub(super) fn name(&self) -> &'static str {
        if self.calls { "calls" } else { "plain" }
    }

    pub(super) fn text(&self, number: u32) -> String {
        self.tree(number).current().print()
    }

    pub(super) fn recorded(&self) -> Option<gpu::GeneratedRecord> {
        std::fs::read_to_string(self.record)
            .ok()
            .and_then(|text| gpu::GeneratedRecord::parse(&text).ok())
    }
}

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

/// A fault to keep while shrinking.
type Fault = fn(Held) -> Option<String>;

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

/// Describes the first execution count that differs; nothing if the probes miscounted.
fn counted_otherwise(held: Held) -> Option<String> {
    if held.is_miscounted() {
        return None;
    }
    let mut both = in_words(&held.device).into_iter().zip(in_words(&held.simulated));
    let ((what, line, device), (_, _, simulated)) =
        both.find(|(device, simulated)| device != simulated)?;
    Some(format!("{what} of line {line}: device {device}{SIMULATED}{simulated}"))
}

/// Returns the smallest program found that still has the fault, and its description.
fn shrink(mut tree: Tree, mut what: String, fault: Fault) -> (String, String) {
    let wrong = |program: &Program| fault(hold(&parse(&program.print())).ok()?);
    let mut smallest = tree.current().print();
    for _ in 0..SHRINKS {
        if !tree.simplify() {
            break;
        }
        loop {
            // Signs of life for the parent.
            let _ = writeln!(std::io::stdout(), ".");
            let now = tree.current();
            if let Some(still) = wrong(&now) {
                (smallest, what) = (now.print(), still);
                break;
            }
            if !tree.complicate() {
                return (smallest, what);
            }
        }
    }
    (smallest, what)
}

/// Stores a faulty program, shrunk, for inspection.
fn keep(name: &str, tree: Tree, what: String, fault: Fault) -> String {
    let (smallest, what) = shrink(tree, what, fault);
    let _ = std::fs::create_dir_all(DISAGREEING);
    let file = Path::new(DISAGREEING).join(format!("{name}.ir"));
    let _ = std::fs::write(file, format!("// {what}\n{smallest}"));
    what
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

/// Runs a share of the programs in processes, one after the other if one ends early, and forwards
/// their output.
fn run_part(family: &Family, part: Range<u32>, hand_on: &impl Fn(u32, &str)) {
    let Range { start: mut next, end: to } = part;
    while next < to {
        let program = std::env::current_exe().expect("this binary");
        let mut child = Command::new(program)
            .args([
                "--exact",
                "generated::device::part",
                "--ignored",
                "--nocapture",
                "--test-threads=1",
            ])
            .env(PART, format!("{} {next}..{to}", family.record))
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("a process");
        let lines = BufReader::new(child.stdout.take().expect("its output")).lines();
        let (send, receive) = mpsc::channel();
        let reader = std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                let _ = send.send(line);
            }
        });
        let before = next;
        let mut hung = false;
        loop {
            match receive.recv_timeout(SILENCE) {
                Ok(line) => {
                    let Some((number, what)) =
                        line.strip_prefix(ANSWER).and_then(|l| l.split_once(' '))
                    else {
                        continue;
                    };
                    let number: u32 = number.parse().unwrap_or(u32::MAX);
                    hand_on(number, what);
                    if !what.starts_with("differs") {
                        next = next.max(number.saturating_add(1));
                    }
                }
                Err(mpsc::RecvTimeoutError::Disconnected) => break,
                Err(mpsc::RecvTimeoutError::Timeout) => {
                    hung = true;
                    let _ = child.kill();
                    break;
                }
            }
        }
        let _ = child.wait();
        drop(receive);
        let _ = reader.join();
        if hung || next == before {
            hand_on(next, "failed the process hung or ended without an answer");
            next += 1;
        }
    }
}

/// Returns the numbers to run, in batches: all, or those without an entry.
fn batches(family: &Family, old: Option<&gpu::GeneratedRecord>) -> Vec<Range<u32>> {
    let is_missing = |number: &u32| {
        let entry = old.and_then(|old| old.programs.get(*number as usize));
        entry.is_none_or(String::is_empty)
    };
    let mut batches: Vec<Range<u32>> = Vec::new();
    for number in (0..family.programs).filter(is_missing) {
        match batches.last_mut().filter(|last| last.end == number && last.len() < BATCH as usize) {
            Some(last) => last.end = number + 1,
            None => batches.push(number..number + 1),
        }
    }
    batches
}

#[test]
#[ignore = "needs a GPU and the feature cuda"]
fn a_gpu_runs_the_generated_programs() {
    let bad: Vec<String> = FAMILIES.into_iter().flat_map(run_family).collect();
    assert!(bad.is_empty(), "{}", bad.join("\n"));
}

/// Runs the programs of a family; returns the failures.
fn run_family(family: &Family) -> Vec<String> {
    let answers: Mutex<Vec<(u32, String)>> = Mutex::default();
    let bless = std::env::var("BLESS").ok();
    let old = family.recorded();
    let old =
        old.filter(|record| bless.as_deref() == Some("missing") && record.seed == family.seed);
    let batches = batches(family, old.as_ref());
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..PROCESSES {
            scope.spawn(|| {
                while let Some(batch) = batches.get(next.fetch_add(1, Ordering::Relaxed)) {
                    run_part(family, batch.clone(), &|number, what| {
                        answers.lock().expect("no panic").push((number, what.to_string()));
                    });
                }
            });
        }
    });
    let mut answers = answers.into_inner().expect("no panic");
    answers.sort();
    let (good, bad): (Vec<_>, Vec<_>) =
        answers.into_iter().partition(|(_, what)| what.starts_with("good "));
    let (mut gpu, mut driver) = (String::new(), String::new());
    let (mut programs, mut explained) =
        old.map_or_else(Default::default, |old| (old.programs, old.explained));
    programs.resize(family.programs as usize, String::new());
    for (number, what) in &good {
        let words: Vec<&str> = what.splitn(6, ' ').collect();
        let who: Vec<&str> = words.get(5).map_or(Vec::new(), |w| w.split(" / ").collect());
        if let [name, version, reason] = who[..] {
            (gpu, driver) = (name.to_string(), version.to_string());
            let known = explained.iter_mut().find(|e| e.reason == reason);
            match known {
                Some(known) => known.programs.push(*number),
                None if reason != "-" => {
                    explained.push(gpu::Explained {
                        reason: reason.to_string(),
                        programs: vec![*number],
                    });
                }
                None => {}
            }
        }
        programs[*number as usize] = words[1..5].join(" ");
    }
    explained.iter_mut().for_each(|e| e.programs.sort_unstable());
    if bless.is_some() && !good.is_empty() {
        let date = std::env::var("DATE").unwrap_or_default();
        let record =
            gpu::GeneratedRecord { gpu, driver, date, seed: family.seed, explained, programs };
        let text = record.to_text().expect("a record is text");
        std::fs::write(family.record, text).expect("the record is written");
    }
    bad.into_iter()
        .map(|(number, what)| format!("{}, program {number}: {what}", family.record))
        .collect()
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
#[ignore = "long: all of 2,100 programs"]
fn long_the_simulator_leaves_and_counts_what_the_gpu_did() {
    replay(&PLAIN, 1);
}

#[test]
#[ignore = "long: all of 2,040 programs"]
fn long_with_calls_the_simulator_leaves_and_counts_what_the_gpu_did() {
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
