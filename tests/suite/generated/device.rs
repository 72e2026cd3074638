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
//! runs them all and writes that file. Batches run in processes of their own, because a fault or a hang of one kernel spoils a process
//! for those behind it.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
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
const KERNELS: u32 = 2_000;
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
const SHRINKS: u32 = 300;
/// The numbers that a process runs, `from..to`.
const PART: &str = "SIMT_GENERATED_PART";
/// What a line for the parent begins with; the test harness prints lines of its own.
const ANSWER: &str = "answer ";

const RECORD: &str = "tests/observations/h200/random.ron";
/// Where programs that disagree are left, for `tests/regressions`.
const DISAGREEING: &str = "target/disagreeing";

type Tree = Box<dyn ValueTree<Value = Program>>;

fn tree(number: u32) -> Tree {
    let rng_seed = RngSeed::Fixed(SEED + u64::from(number));
    let mut runner = TestRunner::new(Config { rng_seed, failure_persistence: None, ..Config::default() });
    Box::new(any_program().new_tree(&mut runner).expect("no strategy rejects anything"))
}

/// `text, memory, counts`, a digest each: the first is for finding out that the generator has changed.
fn entry(text: &str, memory: &[Vec<u32>], counts: &Divergence) -> String {
    let memory = memory.iter().flatten().flat_map(|word| word.to_le_bytes());
    let branches = counts.branches.iter().flat_map(|b| [b.executed, b.divergent, b.lanes, b.taken]);
    let blocks = counts.blocks.iter().flat_map(|b| [b.executed, b.lanes]);
    let counts = branches.chain(blocks).flat_map(u64::to_le_bytes);
    format!("{:08x} {:016x} {:016x}", gpu::digest(text.bytes()) as u32, gpu::digest(memory), gpu::digest(counts))
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

/// Where a program's memory differs between the device and a mode; an end that is not good differs, too.
fn memory_differs(program: &Program) -> Option<String> {
    let program = parse(&program.print());
    let (_, launch) = support::launch(&program, &Overrides::default()).ok()?;
    let device = observed(&program).ok()?.buffers;
    support::MODES.iter().find_map(|&mode| {
        let found = simulated(&program, mode).map_or_else(Some, |ours| difference(&launch, &device, &ours));
        found.map(|what| format!("{}: {what}", mode.name()))
    })
}

/// The first branch or block of which the device counts otherwise.
fn counts_differ(program: &Program) -> Option<String> {
    let program = parse(&program.print());
    let (device, simulated) = (counted_there(&program).ok()?, counted_here(&program).ok()?);
    let branch = device.branches.iter().zip(&simulated.branches).find(|(a, b)| a != b);
    let block = device.blocks.iter().zip(&simulated.blocks).find(|(a, b)| a != b);
    match (branch, block) {
        (Some((theirs, ours)), _) => Some(format!("device {theirs:?}, simulated {ours:?}")),
        (None, Some((theirs, ours))) => Some(format!("device {theirs:?}, simulated {ours:?}")),
        (None, None) => None,
    }
}

/// The smallest program found that is still wrong, and how.
fn shrink(mut tree: Tree, mut what: String, wrong: fn(&Program) -> Option<String>) -> (String, String) {
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
fn keep(number: u32, kind: &str, tree: Tree, what: String, wrong: fn(&Program) -> Option<String>) -> String {
    let (smallest, what) = shrink(tree, what, wrong);
    let _ = std::fs::create_dir_all(DISAGREEING);
    let file = Path::new(DISAGREEING).join(format!("{kind}_{number}.ir"));
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
        let current = tree(number).current();
        let text = current.print();
        let program = parse(&text);
        let run = observed(&program).and_then(|run| Ok((run, counted_there(&program)?)));
        match run {
            Err(Ended { why, goes_on }) => {
                say(number, &format!("failed {}", why.replace('\n', " | ")));
                if !goes_on {
                    return;
                }
            }
            Ok((run, counts)) => {
                let checks: [(&str, fn(&Program) -> Option<String>); 2] =
                    [("memory", memory_differs), ("counts", counts_differ)];
                for (kind, wrong) in checks {
                    if let Some(what) = wrong(&current) {
                        let what = keep(number, kind, tree(number), what, wrong);
                        say(number, &format!("differs in {kind}: {what}"));
                    }
                }
                say(number, &format!("good {} {} / {}", entry(&text, &run.buffers, &counts), run.gpu, run.driver));
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
                    let Some((number, what)) = line.strip_prefix(ANSWER).and_then(|l| l.split_once(' ')) else { continue };
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

#[test]
#[ignore = "needs a GPU and the feature cuda"]
fn a_gpu_runs_the_generated_programs() {
    let answers: Mutex<Vec<(u32, String)>> = Mutex::default();
    let next = AtomicU32::new(0);
    std::thread::scope(|scope| {
        for _ in 0..PROCESSES {
            scope.spawn(|| {
                loop {
                    let from = next.fetch_add(BATCH, Ordering::Relaxed);
                    if from >= KERNELS {
                        break;
                    }
                    run_part(from, (from + BATCH).min(KERNELS), &|number, what| {
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
    let mut programs = vec![String::new(); KERNELS as usize];
    for (number, what) in &good {
        let words: Vec<&str> = what.splitn(5, ' ').collect();
        let (who, with) = words.get(4).and_then(|w| w.split_once(" / ")).unwrap_or_default();
        (gpu, driver) = (who.to_string(), with.to_string());
        programs[*number as usize] = words[1..4].join(" ");
    }
    if std::env::var_os("BLESS").is_some() {
        let date = std::env::var("DATE").unwrap_or_default();
        // Reasons are written by hand, and stay.
        let before = std::fs::read_to_string(RECORD).ok().and_then(|text| gpu::GeneratedRecord::parse(&text).ok());
        let explained = before.map(|record| record.explained).unwrap_or_default();
        let record = gpu::GeneratedRecord { gpu, driver, date, seed: SEED, explained, programs };
        let text = record.to_text().expect("a record is text");
        std::fs::write(RECORD, text).expect("the record is written");
    }
    let bad: Vec<String> = bad.into_iter().map(|(number, what)| format!("program {number}: {what}")).collect();
    assert!(bad.is_empty(), "{} of {KERNELS} ran\n{}", good.len(), bad.join("\n"));
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
    let hold = |number: u32| -> Result<(), String> {
        let wanted = &record.programs[number as usize];
        let text = tree(number).current().print();
        let program = parse(&text);
        let counts = counted_here(&program)?;
        for mode in support::MODES {
            let found = entry(&text, &simulated(&program, mode)?, &counts);
            if found.get(..8) != wanted.get(..8) {
                return Err("another program than the GPU ran: record it again".to_string());
            }
            let explained = record.explained.iter().any(|(n, _)| *n == number);
            // Without the last digest for those that are counted otherwise: and that must still be so.
            let same = if explained { found.get(..25) == wanted.get(..25) && found != *wanted } else { found == *wanted };
            if !same {
                return Err(format!("the GPU left {wanted}, {} {found}", mode.name()));
            }
        }
        Ok(())
    };
    let held = (0..KERNELS).into_par_iter().filter_map(|n| hold(n).err().map(|e| format!("program {n}: {e}")));
    let wrong: Vec<String> = held.collect();
    assert!(wrong.is_empty(), "{} of {KERNELS}\n{}", wrong.len(), wrong.join("\n"));
}
