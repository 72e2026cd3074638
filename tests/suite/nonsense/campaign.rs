//! A mutation campaign: many edited inputs through every target, each within limits of time and
//! memory. Ignored by default, because it takes minutes (docs/fuzzing.md, "A campaign of
//! mutations"):
//!
//! `CAMPAIGN=3000 cargo test --test suite nonsense::campaign -- --ignored --nocapture`

use std::fs;
use std::panic::{catch_unwind, set_hook, take_hook};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::fuzz::{
    TARGETS,
    edit::{Edit, edited},
};
use super::{MOST_CHANGED, kept};

/// Inputs per target, unless `CAMPAIGN` sets another number.
const INPUTS: u64 = 3_000;
/// Maximum wall time of one input: far more than any takes on a busy host.
const MOST_TIME: Duration = Duration::from_secs(30);
/// Maximum memory of the whole process in KiB.
const MOST_MEMORY: u64 = 1 << 20;

/// Returns a number that depends only on the seed and the index (SplitMix64).
fn drawn(seed: u64, index: u64) -> u64 {
    let mut z = seed.wrapping_add(index.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}

/// Returns input `index` of a target: one to six edits of a kept one.
fn input(texts: &[String], seed: u64, index: u64) -> String {
    let number = |i: u64| drawn(drawn(seed, index), i);
    let pick =
        |i: u64| texts.get((number(i) % texts.len() as u64) as usize).map_or("", String::as_str);
    let edits = 1 + number(2) % 6;
    (0..edits).fold(pick(0).to_owned(), |text, i| {
        let edit = [3, 4, 5].map(|k| (number(8 + 8 * i + k) >> 32) as u32);
        edited(&text, pick(1), &Edit::drawn(edit))
    })
}

/// Returns a memory figure of this process in KiB, if the system provides it.
fn memory(figure: &str) -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(figure))?;
    line.trim_start_matches(':').trim().trim_end_matches("kB").trim().parse().ok()
}

#[expect(clippy::print_stderr, reason = "the report of a command that is asked for by name")]
fn say(text: &str) {
    eprintln!("{text}");
}

#[test]
#[ignore = "takes minutes; asked for by name"]
fn every_changed_input_keeps_within_bounds() {
    let set = |name: &str| std::env::var(name).ok().and_then(|n| n.parse().ok());
    let (inputs, seed): (u64, u64) =
        (set("CAMPAIGN").unwrap_or(INPUTS), set("CAMPAIGN_SEED").unwrap_or(1));
    let only = std::env::var("CAMPAIGN_TARGET").ok();
    // The current input, for the watchdog: an input that does not end cannot report itself.
    let current = Arc::new(Mutex::new(String::new()));
    let (beat, watch) = channel::<()>();
    let watched = Arc::clone(&current);
    let watch = thread::spawn(move || {
        loop {
            match watch.recv_timeout(MOST_TIME) {
                Ok(()) => {}
                Err(RecvTimeoutError::Disconnected) => return,
                Err(RecvTimeoutError::Timeout) => {
                    say(&format!(
                        "longer than {MOST_TIME:?}:\n{}",
                        watched.lock().unwrap_or_else(PoisonError::into_inner)
                    ));
                    std::process::exit(101);
                }
            }
        }
    });
    let hook = take_hook();
    set_hook(Box::new(|_| {}));
    let mut broken = Vec::new();
    say("target         inputs  broken  seconds  slowest ms  peak MiB");
    for (number, (target, body)) in
        TARGETS.into_iter().enumerate().filter(|(_, (t, _))| only.as_ref().is_none_or(|o| o == t))
    {
        let read =
            |path| String::from_utf8_lossy(&fs::read(path).expect("a readable file")).into_owned();
        let texts: Vec<String> =
            kept(target).into_iter().map(read).filter(|text| text.len() <= MOST_CHANGED).collect();
        let _ = fs::write("/proc/self/clear_refs", "5"); // resets the peak
        let (started, mut slowest, before) = (Instant::now(), Duration::ZERO, broken.len());
        for index in 0..inputs {
            let text = input(&texts, drawn(seed, number as u64), index);
            text.clone_into(&mut current.lock().unwrap_or_else(PoisonError::into_inner));
            let _ = beat.send(());
            let at = Instant::now();
            if catch_unwind(|| body(text.as_bytes())).is_err() {
                broken.push(format!("{target}, input {index}:\n{text}"));
            }
            slowest = slowest.max(at.elapsed());
        }
        let peak = memory("VmHWM").unwrap_or(0);
        say(&format!(
            "{target:<12} {inputs:>8} {:>7} {:>8.1} {:>11.1} {:>9}",
            broken.len() - before,
            started.elapsed().as_secs_f64(),
            slowest.as_secs_f64() * 1e3,
            peak >> 10
        ));
        assert!(
            peak <= MOST_MEMORY,
            "{target}: {peak} KiB at the peak; the limit is {MOST_MEMORY} KiB"
        );
    }
    set_hook(hook);
    drop(beat);
    watch.join().expect("the watch ends");
    assert!(
        broken.is_empty(),
        "{} inputs break a promise; the first ones:\n{}",
        broken.len(),
        broken[..broken.len().min(3)].join("\n\n")
    );
}
