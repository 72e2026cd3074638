//! Generated programs on a real GPU: what it left in memory and how its warps diverged, and what the simulator says of both.
//!
//! `tests/observations/h200/random.ron` holds, for each of [`KERNELS`] programs, a digest of the memory, which must be that of both
//! modes, and one of what the probes of `simt_sim::instrument` counted of each branch and block, which must be what volta mode counts. Program `n` is drawn with seed
//! [`SEED`]` + n`, so it is the same wherever it is drawn. On a computer with a GPU,
//!
//! ```sh
//! BLESS=1 cargo test --release --features cuda --test suite -- --ignored generated::device
//! ```
//!
//! runs them all and writes that file; `BLESS=missing` runs those that the file has no entry of, and adds them. Batches run in processes of their own, because a fault or a hang of one kernel spoils a process
//! for those behind it.

use std::io::{BufRead, BufReader, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::Duration;

use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngSeed, TestRunner};
use rayon::prelude::*;
use simt_sim::divergence::SideOrder;
use simt_sim::gpu;
use simt_sim::instrument::{Divergence, instrument, witness};
use simt_sim::kernel::Kernel;
use simt_sim::launch::{Launch, Overrides};
use simt_sim::machine::Mode;
use simt_sim::pipeline;

use super::super::support;
use super::{MAX_CYCLES, Program, any_program};

/// How many programs.
const KERNELS: u32 = 2_040;
/// How many of them the probes may have miscounted. ptxas may run the instructions of a probe with other lanes than the block they are
/// in: then a lane is missing in the count of a block that it went through, as memory shows.
const MISCOUNTED: usize = 10;
/// Seed of the first.
const SEED: u64 = 0x51d7_0000;
/// Programs of a process.
const BATCH: u32 = 40;
/// Processes at a time.
const PROCESSES: usize = 12;
/// Longest that a kernel may take, and that a process may be silent: a compilation, a kernel, or the shrinking of one.
const LIMIT: Duration = Duration::from_secs(5);
const SILENCE: Duration = Duration::from_secs(90);
/// Attempts at making a program that disagrees smaller.
const SHRINKS: u32 = 200;
/// The numbers that a process runs, `from..to`.
const PART: &str = "SIMT_GENERATED_PART";
/// What a line for the parent begins with; the test harness prints lines of its own.
const ANSWER: &str = "answer ";

/// Why lanes are together elsewhere.
const EARLIER: &str = "lanes met earlier: ptxas folds a branch that is always decided alike, or two branches to one place into one, \
    or unrolls a loop that would yield";
const LATER: &str = "lanes met later: where a function of its own yields because of the probes' votes, where activations share \
    barrier registers, or where ptxas has a copy of a block";
const BOTH: &str = "lanes met earlier in one place and later in another";

const RECORD: &str = "tests/observations/h200/random.ron";
/// Where programs that disagree are left, for `tests/regressions`.
const DISAGREEING: &str = "target/disagreeing";

type Tree = Box<dyn ValueTree<Value = Program>>;

fn tree(number: u32) -> Tree {
    let rng_seed = RngSeed::Fixed(SEED + u64::from(number));
    let mut runner = TestRunner::new(Config { rng_seed, failure_persistence: None, ..Config::default() });
    Box::new(any_program().new_tree(&mut runner).expect("no strategy rejects anything"))
}

/// `text, memory, lanes, executions`, a digest each: the first is for finding out that the generator has changed. The lanes that
/// went through a branch or a block follow from the program's meaning, the executions from which of them were together.
fn entry(text: &str, memory: &[Vec<u32>], counts: &Divergence) -> String {
    let digest = |words: Vec<u64>| gpu::digest(words.into_iter().flat_map(u64::to_le_bytes));
    let memory = memory.iter().flatten().map(|&word| word.into()).collect();
    let lanes = counts.branches.iter().flat_map(|b| [b.lanes, b.taken]).chain(counts.blocks.iter().map(|b| b.lanes));
    let together = counts.branches.iter().flat_map(|b| [b.executed, b.divergent]);
    let together = together.chain(counts.blocks.iter().map(|b| b.executed)).collect();
    let [memory, lanes, together] = [memory, lanes.collect(), together].map(digest);
    format!("{:08x} {memory:016x} {lanes:016x} {together:016x}", gpu::digest(text.bytes()) as u32)
}

/// How the executions that a device counted differ from the simulator's, if they do.
fn together(device: &Divergence, simulated: &Divergence) -> Option<&'static str> {
    let executed = |d: &Divergence| -> Vec<u64> {
        d.branches.iter().map(|b| b.executed).chain(d.blocks.iter().map(|b| b.executed)).collect()
    };
    let (theirs, ours) = (executed(device), executed(simulated));
    let (fewer, more) = theirs.iter().zip(&ours).fold((false, false), |(f, m), (t, o)| (f || t < o, m || t > o));
    match (fewer, more) {
        (false, false) => (device != simulated).then_some(EARLIER),
        (true, false) => Some(EARLIER),
        (false, true) => Some(LATER),
        (true, true) => Some(BOTH),
    }
}

fn parse(text: &str) -> pipeline::Program {
    pipeline::Program::parse("generated.ir", text)
}

/// What the simulator leaves in memory.
fn simulated(program: &pipeline::Program, mode: Mode) -> Result<Vec<Vec<u32>>, String> {
    let (kernel, launch) = support::launch(program, &Overrides::default())?;
    let options = support::options(mode, SideOrder::Fewer, MAX_CYCLES);
    let spec = support::machine(mode.default_machine());
    let done = pipeline::simulate(program, kernel, launch, &spec, &options, &()).map_err(|e| e.to_string())?;
    match done.finish.name() {
        "ok" => Ok(done.launch.buffers.into_iter().map(|b| b.words).collect()),
        other => Err(other.to_string()),
    }
}

/// How a run on the device ended otherwise than well, and whether the process can go on.
struct Ended {
    why: String,
    goes_on: bool,
}

/// Runs on the device, reading these variables.
fn on_device(text: &str, kernel: &Kernel, launch: &Launch, variables: &[&str]) -> Result<gpu::DeviceRun, Ended> {
    let run = gpu::run_reading(text, kernel, launch, LIMIT, variables);
    let run = run.map_err(|e| Ended { why: e.to_string(), goes_on: true })?;
    match run.finish {
        gpu::Finish::Ok => Ok(run),
        other => Err(Ended { why: format!("{other:?}"), goes_on: false }),
    }
}

/// What the device leaves in memory.
fn observed(program: &pipeline::Program) -> Result<gpu::DeviceRun, Ended> {
    let launched = support::launch(program, &Overrides::default());
    let (kernel, launch) = launched.map_err(|why| Ended { why, goes_on: true })?;
    on_device(&gpu::device_text(&program.name, &program.text), kernel, &launch, &[])
}

/// What probes count on the device.
fn counted_there(program: &pipeline::Program) -> Result<Divergence, Ended> {
    let launched = support::launch(program, &Overrides::default());
    let (kernel, launch) = launched.map_err(|why| Ended { why, goes_on: true })?;
    let probes = instrument(&program.module, 32, None);
    let run = on_device(&probes.text, kernel, &launch, &[&probes.counters])?;
    Ok(probes.read(kernel, run.variables.first().map_or(&[][..], Vec::as_slice), &[]).0)
}

/// What probes would count of the simulator's run in volta mode, as the program is written.
fn counted_here(program: &pipeline::Program) -> Result<Divergence, String> {
    let (kernel, launch) = support::launch(program, &Overrides::default())?;
    let spec = support::machine(Mode::Volta.default_machine());
    let options = support::options(Mode::Volta, spec.side_order(), MAX_CYCLES);
    let probes = instrument(&program.module, spec.warp_size, None);
    let counted = witness(kernel, launch, &spec, &options, &probes).map_err(|e| e.to_string())?;
    Ok(counted.divergence)
}

/// The first word that is not the same, of any buffer.
fn difference(launch: &Launch, device: &[Vec<u32>], simulated: &[Vec<u32>]) -> Option<String> {
    let buffers = launch.buffers.iter().zip(device.iter().zip(simulated));
    buffers.into_iter().find_map(|(buffer, (theirs, ours))| {
        let i = (0..theirs.len()).find(|&i| theirs.get(i) != ours.get(i))?;
        Some(format!("{}[{i}]: device {:x?}, simulated {:x?}", buffer.name, theirs.get(i), ours.get(i)))
    })
}

/// What both did with a program.
struct Held {
    run: gpu::DeviceRun,
    device: Divergence,
    simulated: Divergence,
    /// The first difference of memory in either mode.
    wrong: Option<String>,
}

impl Held {
    /// Whether the lanes of each branch and block, which follow from what the program means, are not those of the simulator.
    fn is_miscounted(&self) -> bool {
        let branches = self.device.branches.iter().zip(&self.simulated.branches);
        let blocks = self.device.blocks.iter().zip(&self.simulated.blocks);
        branches.into_iter().any(|(a, b)| (a.lanes, a.taken) != (b.lanes, b.taken))
            || blocks.into_iter().any(|(a, b)| a.lanes != b.lanes)
    }
}

fn hold(program: &pipeline::Program) -> Result<Held, Ended> {
    let failed = |why| Ended { why, goes_on: true };
    let (_, launch) = support::launch(program, &Overrides::default()).map_err(failed)?;
    let (run, device) = (observed(program)?, counted_there(program)?);
    let counted = counted_here(program).map_err(failed)?;
    let wrong = support::MODES.iter().find_map(|&mode| {
        let found = simulated(program, mode).map_or_else(Some, |ours| difference(&launch, &run.buffers, &ours));
        found.map(|what| format!("{}: {what}", mode.name()))
    });
    Ok(Held { run, device, simulated: counted, wrong })
}

/// What is wrong with a program, if it runs.
fn wrong(program: &Program) -> Option<String> {
    hold(&parse(&program.print())).ok()?.wrong
}

/// The smallest program found that is still wrong, and how.
fn shrink(mut tree: Tree, mut what: String) -> (String, String) {
    let mut smallest = tree.current().print();
    for _ in 0..SHRINKS {
        if !tree.simplify() {
            break;
        }
        loop {
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

/// Leaves a program that is wrong, made small, where it can be looked at.
fn keep(number: u32, tree: Tree, what: String) -> String {
    let (smallest, what) = shrink(tree, what);
    let _ = std::fs::create_dir_all(DISAGREEING);
    let file = Path::new(DISAGREEING).join(format!("generated_{number}.ir"));
    let _ = std::fs::write(file, format!("// {what}\n{smallest}"));
    what
}

/// A process's part of the programs: prints a line for each.
#[test]
#[ignore = "run by a_gpu_runs_the_generated_programs"]
fn part() {
    let Ok(part) = std::env::var(PART) else { return };
    let (from, to) = part.split_once("..").expect("a range");
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
        let text = tree(number).current().print();
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
                say(number, &format!("good {entry} {} / {} / {reason}", held.run.gpu, held.run.driver));
                // Last: making it smaller may take longer than a process may be silent.
                if let Some(what) = held.wrong {
                    let what = keep(number, tree(number), what);
                    say(number, &format!("differs {what}"));
                }
            }
        }
    }
}

/// Runs programs `from..to` in processes, one after the other where one ends early. Hands on what each says.
fn run_part(from: u32, to: u32, hand_on: &impl Fn(u32, &str)) {
    let mut next = from;
    while next < to {
        let program = std::env::current_exe().expect("this binary");
        let mut child = Command::new(program)
            .args(["--exact", "generated::device::part", "--ignored", "--nocapture", "--test-threads=1"])
            .env(PART, format!("{next}..{to}"))
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
                    let Some((number, what)) = line.strip_prefix(ANSWER).and_then(|l| l.split_once(' ')) else {
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

/// The numbers to run, in batches: all, or those of which a record has no entry.
fn batches(old: Option<&gpu::GeneratedRecord>) -> Vec<Range<u32>> {
    let is_missing = |number: &u32| {
        let entry = old.and_then(|old| old.programs.get(*number as usize));
        entry.is_none_or(String::is_empty)
    };
    let mut batches: Vec<Range<u32>> = Vec::new();
    for number in (0..KERNELS).filter(is_missing) {
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
    let answers: Mutex<Vec<(u32, String)>> = Mutex::default();
    let bless = std::env::var("BLESS").ok();
    let old = std::fs::read_to_string(RECORD).ok().and_then(|text| gpu::GeneratedRecord::parse(&text).ok());
    let old = old.filter(|record| bless.as_deref() == Some("missing") && record.seed == SEED);
    let batches = batches(old.as_ref());
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..PROCESSES {
            scope.spawn(|| {
                while let Some(batch) = batches.get(next.fetch_add(1, Ordering::Relaxed)) {
                    run_part(batch.start, batch.end, &|number, what| {
                        answers.lock().expect("no panic").push((number, what.to_string()));
                    });
                }
            });
        }
    });
    let mut answers = answers.into_inner().expect("no panic");
    answers.sort();
    let (good, bad): (Vec<_>, Vec<_>) = answers.into_iter().partition(|(_, what)| what.starts_with("good "));
    let (mut gpu, mut driver) = (String::new(), String::new());
    let (mut programs, mut explained) = old.map_or_else(Default::default, |old| (old.programs, old.explained));
    programs.resize(KERNELS as usize, String::new());
    for (number, what) in &good {
        let words: Vec<&str> = what.splitn(6, ' ').collect();
        let who: Vec<&str> = words.get(5).map_or(Vec::new(), |w| w.split(" / ").collect());
        if let [name, version, reason] = who[..] {
            (gpu, driver) = (name.to_string(), version.to_string());
            let known = explained.iter_mut().find(|e| e.reason == reason);
            match known {
                Some(known) => known.programs.push(*number),
                None if reason != "-" => {
                    explained.push(gpu::Explained { reason: reason.to_string(), programs: vec![*number] });
                }
                None => {}
            }
        }
        programs[*number as usize] = words[1..5].join(" ");
    }
    explained.iter_mut().for_each(|e| e.programs.sort_unstable());
    if bless.is_some() {
        let date = std::env::var("DATE").unwrap_or_default();
        let record = gpu::GeneratedRecord { gpu, driver, date, seed: SEED, explained, programs };
        let text = record.to_text().expect("a record is text");
        std::fs::write(RECORD, text).expect("the record is written");
    }
    let bad: Vec<String> = bad.into_iter().map(|(number, what)| format!("program {number}: {what}")).collect();
    assert!(bad.is_empty(), "{} ran\n{}", good.len(), bad.join("\n"));
}

/// Writes the programs out, for a look at them or for a compiler: `SIMT_GENERATED_OUT=folder`.
#[test]
#[ignore = "writes files"]
fn write_out() {
    let Some(folder) = std::env::var_os("SIMT_GENERATED_OUT").map(PathBuf::from) else { return };
    for number in 0..KERNELS {
        let text = tree(number).current().print();
        let ptx = gpu::device_text("generated.ir", &text);
        std::fs::write(folder.join(format!("{number}.ir")), text).expect("written");
        std::fs::write(folder.join(format!("{number}.ptx")), ptx).expect("written");
    }
}

#[test]
fn the_simulator_leaves_and_counts_what_the_gpu_did() {
    let text = std::fs::read_to_string(RECORD).expect("the record");
    let record = gpu::GeneratedRecord::parse(&text).expect("a record");
    assert_eq!((record.seed, record.programs.len()), (SEED, KERNELS as usize), "{RECORD}: of other programs");
    let replay = |number: u32| -> Result<(), String> {
        let wanted = &record.programs[number as usize];
        if wanted.is_empty() {
            return Ok(()); // found below
        }
        let text = tree(number).current().print();
        let program = parse(&text);
        let counts = counted_here(&program)?;
        for mode in support::MODES {
            let found = entry(&text, &simulated(&program, mode)?, &counts);
            if found.get(..8) != wanted.get(..8) {
                return Err("another program than the GPU ran: record it again".to_string());
            }
            let [ours, theirs]: [Vec<&str>; 2] = [&found, wanted].map(|entry| entry.split(' ').collect());
            // No lanes stand there where the probes' own instructions were not executed by the same lanes on the GPU.
            let same = match theirs[..] {
                [text, memory, "-", "-"] => ours[..2] == [text, memory],
                // The executions are others of those that are explained: and that must still be so.
                _ => ours[..3] == theirs[..3] && (ours[3..] != theirs[3..]) == record.is_explained(number),
            };
            if !same {
                return Err(format!("the GPU left {wanted}, {} {found}", mode.name()));
            }
        }
        Ok(())
    };
    let held = (0..KERNELS).into_par_iter().filter_map(|n| replay(n).err().map(|e| format!("program {n}: {e}")));
    let wrong: Vec<String> = held.collect();
    assert!(wrong.is_empty(), "{} of {KERNELS}\n{}", wrong.len(), wrong.join("\n"));
    let of = |what: fn(&&String) -> bool| record.programs.iter().filter(what).count();
    assert_eq!(of(|entry| entry.is_empty()), 0, "programs that got no answer from the GPU");
    let miscounted = of(|entry| entry.ends_with('-'));
    assert!(miscounted <= MISCOUNTED, "{miscounted} programs were miscounted by their probes");
}
