//! Runs all programs on the GPU, in batches that are processes, and records the answers.

use std::io::{BufRead, BufReader};
use std::ops::Range;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::Duration;

use simt_gpu as gpu;

use super::{ANSWER, FAMILIES, Family, PART};

/// Programs of a process.
const BATCH: u32 = 40;
/// Concurrent processes.
const PROCESSES: usize = 12;
/// Time limit of a process without output: a compilation, a kernel, or shrinking one.
const SILENCE: Duration = Duration::from_secs(90);

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
