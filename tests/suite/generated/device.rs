//! Generated programs on a real GPU: what it left in memory, and what the simulator leaves in both modes.
//!
//! `tests/observations/h200/random.ron` holds a digest of the memory for each of [`KERNELS`] programs. Program `n` is drawn with seed
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
use serde::{Deserialize, Serialize};
use simt_sim::divergence::SideOrder;
use simt_sim::gpu;
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

/// What a GPU made of the programs.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Record {
    gpu: String,
    driver: String,
    date: String,
    /// [`SEED`].
    seed: u64,
    /// By number: digest of the text, and of the memory.
    kernels: Vec<String>,
}

type Tree = Box<dyn ValueTree<Value = Program>>;

fn tree(number: u32) -> Tree {
    let rng_seed = RngSeed::Fixed(SEED + u64::from(number));
    let mut runner = TestRunner::new(Config { rng_seed, failure_persistence: None, ..Config::default() });
    Box::new(any_program().new_tree(&mut runner).expect("no strategy rejects anything"))
}

/// `text digest, memory digest`: the first is for finding out that the generator has changed.
fn entry(text: &str, memory: &[Vec<u32>]) -> String {
    let bytes = memory.iter().flatten().flat_map(|word| word.to_le_bytes());
    format!("{:08x} {:016x}", gpu::digest(text.bytes()) as u32, gpu::digest(bytes))
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

/// What the device leaves in memory. The error: how else it ended, and whether the process can go on.
fn observed(program: &pipeline::Program) -> Result<gpu::DeviceRun, (String, bool)> {
    let (kernel, launch) = support::launch(program, &Overrides::default()).map_err(|e| (e, true))?;
    let text = gpu::device_text(&program.name, &program.text);
    let run = gpu::run(&text, kernel, &launch, LIMIT).map_err(|e| (e.to_string(), true))?;
    match run.finish {
        gpu::Finish::Ok => Ok(run),
        other => Err((format!("{other:?}"), false)),
    }
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
fn disagreement(program: &Program) -> Option<String> {
    let program = parse(&program.print());
    let (_, launch) = support::launch(&program, &Overrides::default()).ok()?;
    let device = observed(&program).ok()?.buffers;
    support::MODES.iter().find_map(|&mode| {
        let found = simulated(&program, mode).map_or_else(Some, |ours| difference(&launch, &device, &ours));
        found.map(|what| format!("{}: {what}", mode.name()))
    })
}

/// The smallest program found that still disagrees, and how.
fn shrink(mut tree: Tree, mut what: String) -> (String, String) {
    let mut smallest = tree.current().print();
    for _ in 0..SHRINKS {
        if !tree.simplify() {
            break;
        }
        loop {
            let now = tree.current();
            if let Some(still) = disagreement(&now) {
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
        let tree = tree(number);
        let text = tree.current().print();
        let program = parse(&text);
        match observed(&program) {
            Err((why, goes_on)) => {
                say(number, &format!("failed {}", why.replace('\n', " | ")));
                if !goes_on {
                    return;
                }
            }
            Ok(run) => {
                if let Some(what) = disagreement(&tree.current()) {
                    let (smallest, what) = shrink(tree, what);
                    let file = Path::new(DISAGREEING).join(format!("generated_{number}.ir"));
                    let _ = std::fs::create_dir_all(DISAGREEING);
                    let _ = std::fs::write(&file, format!("// {what}\n{smallest}"));
                    say(number, &format!("differs {what}"));
                }
                say(number, &format!("memory {} {} / {}", entry(&text, &run.buffers), run.gpu, run.driver));
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
    let (good, bad): (Vec<_>, Vec<_>) = answers.into_iter().partition(|(_, what)| what.starts_with("memory "));
    let (mut gpu, mut driver) = (String::new(), String::new());
    let mut kernels = vec![String::new(); KERNELS as usize];
    for (number, what) in &good {
        let words: Vec<&str> = what.splitn(4, ' ').collect();
        let (who, with) = words.get(3).and_then(|w| w.split_once(" / ")).unwrap_or_default();
        (gpu, driver) = (who.to_string(), with.to_string());
        kernels[*number as usize] = words[1..3].join(" ");
    }
    if std::env::var_os("BLESS").is_some() {
        let date = std::env::var("DATE").unwrap_or_default();
        let pretty = ron::ser::PrettyConfig::new().indentor(" ").new_line("\n");
        let record = Record { gpu, driver, date, seed: SEED, kernels };
        let text = ron::ser::to_string_pretty(&record, pretty).expect("a record is text");
        std::fs::write(RECORD, text + "\n").expect("the record is written");
    }
    let bad: Vec<String> = bad.into_iter().map(|(number, what)| format!("program {number}: {what}")).collect();
    assert!(bad.is_empty(), "{} of {KERNELS} agree\n{}", good.len(), bad.join("\n"));
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
fn both_modes_leave_the_memory_that_the_gpu_left() {
    let text = std::fs::read_to_string(RECORD).expect("the record");
    let record: Record = ron::from_str(&text).expect("a record");
    assert_eq!((record.seed, record.kernels.len()), (SEED, KERNELS as usize), "{RECORD}: of other programs");
    let wrong: Vec<String> = (0..KERNELS)
        .into_par_iter()
        .filter_map(|number| {
            let wanted = &record.kernels[number as usize];
            let text = tree(number).current().print();
            let program = parse(&text);
            let found = support::MODES.map(|mode| simulated(&program, mode).map(|memory| entry(&text, &memory)));
            let same_text = wanted.get(..8) == Some(&entry(&text, &[])[..8]);
            match (same_text, found) {
                (false, _) => Some(format!("program {number} is another than the GPU ran: record it again")),
                (true, [Ok(a), Ok(b)]) if a == *wanted && b == *wanted => None,
                (true, found) => Some(format!("program {number}: the GPU left {wanted}, the simulator {found:?}")),
            }
        })
        .collect();
    assert!(wrong.is_empty(), "{} of {KERNELS}\n{}", wrong.len(), wrong.join("\n"));
}
