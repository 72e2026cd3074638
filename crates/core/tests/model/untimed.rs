//! A run without time counts what the timed run counts, and leaves the same memory.

use std::fs;
use std::path::{Path, PathBuf};

use simt_core::checks::Checks;
use simt_core::launch::{Launch, Overrides};
use simt_core::machine::{Finish, Options, Outcome, Timing};
use simt_core::observe::{Counts, Totals};
use simt_core::spec::{Machine, Mode};
use simt_core::{Job, Program};

use super::support;

/// Size of programs made for large data, and the largest `n` that is not shrunk.
const SMALL: &str = "1 << 14";
const LARGE: u64 = 1 << 16;
/// Limits of a run: cycles with a clock, micro-ops without.
const MOST: u64 = 40_000_000;

/// Programs whose figures depend on time, and why.
const DEPENDS_ON_TIME: [(&str, &str); 20] = [
    ("arrive_and_leave.ir", "a loop of compare-and-swap"),
    ("fix-the-reduction/wrong/no_barrier.ir", "a race"),
    ("calibrate/blocks.ir", "waits for the clock"),
    ("calibrate/control.ir", "stores clocks"),
    ("calibrate/dram_stream.ir", "stores clocks"),
    ("calibrate/far_memory.ir", "stores clocks"),
    ("calibrate/fetch.ir", "stores clocks"),
    ("calibrate/float.ir", "stores clocks"),
    ("calibrate/integer.ir", "stores clocks"),
    ("calibrate/lock.ir", "spins"),
    ("calibrate/near_memory.ir", "stores clocks"),
    ("calibrate/stores.ir", "stores clocks"),
    ("calibrate/warp.ir", "stores clocks"),
    ("/arms.", "stores clocks"),
    ("/paths_k.ptx", "stores clocks"),
    ("/paths_k.sass", "stores clocks"),
    ("/reduce_grid.", "spins at grid.sync"),
    ("shared_doubling_race.ptx", "a race"),
    ("shared_halving_race.ptx", "a race"),
    ("/unroll.", "stores clocks"),
];

/// Everything that a run without time counts: a timed run's totals without those of time.
fn without_time(totals: Totals) -> Totals {
    let mut totals = Totals {
        timed: false,
        resident_warp_cycles: 0,
        stalls: Default::default(),
        slots_stalled: Default::default(),
        slots_no_warp: 0,
        slots_launch: 0,
        elapsed_cycles: 0,
        active_cycles: 0,
        active_sms: 0,
        ..totals
    };
    for step in &mut totals.steps {
        step.stalls = Default::default();
    }
    for traffic in totals.traffic.iter_mut().flatten() {
        traffic.l1_hits = 0;
        traffic.l2_hits = 0;
        traffic.l2_crossed = 0;
        traffic.combined = 0;
        traffic.dram_sectors = 0;
        traffic.written_back = 0;
    }
    totals
}

/// A launch that has run: outcome, totals, buffers.
struct Ran {
    finish: Finish,
    totals: Totals,
    launch: Launch,
}

fn ran(outcome: Outcome<Counts>) -> Ran {
    let Outcome { finish, launch, observer, .. } = outcome;
    Ran { finish, totals: without_time(observer.finish()), launch }
}

/// Returns the differences of two runs, in words.
fn differences(timed: &Ran, untimed: &Ran) -> Vec<String> {
    let mut found = Vec::new();
    if timed.finish.name() != untimed.finish.name() {
        found.push(format!("ends in {} not {}", untimed.finish.name(), timed.finish.name()));
        return found;
    }
    if matches!(timed.finish, Finish::Fault(_) | Finish::Livelock(_)) {
        return found; // how far the other warps are when the run stops depends on time
    }
    let (a, b) = (&timed.totals, &untimed.totals);
    for (pc, (a, b)) in a.steps.iter().zip(&b.steps).enumerate().filter(|(_, (a, b))| a != b) {
        found.push(format!("step {pc}: {a:?}\n    is {b:?}"));
        if found.len() > 2 {
            break;
        }
    }
    let less = |t: &Totals| Totals { steps: Vec::new(), ..t.clone() };
    if less(a) != less(b) {
        found.push(format!("{:?}\n    is {:?}", less(a), less(b)));
    }
    for (a, b) in timed.launch.buffers.iter().zip(&untimed.launch.buffers) {
        if a.words != b.words {
            let at = a.words.iter().zip(&b.words).position(|(a, b)| a != b);
            found.push(format!("buffer {} differs at word {at:?}", a.name));
        }
    }
    found
}

/// Runs a program's launches with and without time.
fn compare(program: &Program, mode: Mode, machine: &Machine) -> Result<Vec<String>, String> {
    let is_large = program.text.lines().any(|line| {
        let rest = line.strip_prefix("//! const").map(str::trim);
        let value = rest.and_then(|rest| rest.strip_prefix("n")?.trim().strip_prefix('='));
        let value = value.map(|value| match value.split_once("<<") {
            Some((_, shift)) => shift.trim().parse::<u32>().map_or(0, |s| 1_u64 << s.min(60)),
            None => value.trim().parse().unwrap_or(0),
        });
        value.is_some_and(|value| value > LARGE)
    });
    let set = is_large.then(|| ("n".to_owned(), SMALL.to_owned())).into_iter().collect();
    let overrides = Overrides { set, ..Overrides::default() };
    let mut found = Vec::new();
    let mut left: Option<Launch> = None;
    let folder = Path::new(&program.name).parent().unwrap_or(Path::new(""));
    let beside = |name: &str, _| fs::read(folder.join(name)).map_err(|e| e.to_string());
    for index in 0..program.plan.launches() {
        let kernel = program.kernel_at(index, None).map_err(|e| e.to_string())?;
        let mut launch = program
            .launch_at(index, kernel, &overrides, &beside)
            .map_err(|found| support::rendered(program, &found))?;
        if let Some(before) = left.take() {
            launch.follow(before);
        }
        let options = Options { max_cycles: MOST, ..Options::of(machine, mode) };
        let off = Options { timing: Timing::Off, max_issues: MOST, ..options.clone() };
        let timed = Job::new(program, kernel, launch.clone(), machine, options);
        let untimed = Job {
            options: off,
            ..Job::new(program, kernel, launch, machine, timed.options.clone())
        };
        let timed = ran(timed.count(&()).map_err(|e| e.to_string())?);
        let checked = untimed.clone().check(&(), Checks::ALL).map_err(|e| e.to_string())?;
        let untimed = ran(untimed.count(&()).map_err(|e| e.to_string())?);
        if matches!(timed.finish, Finish::CycleLimit(_)) {
            return Ok(found);
        }
        // Events one by one give the same totals as those told together.
        let Outcome { finish, launch, observer: (counts, _), .. } = checked;
        let one_by_one = Ran { finish, totals: without_time(counts.finish()), launch };
        let both = [("", &timed, &untimed), ("with checks: ", &untimed, &one_by_one)];
        for (what, a, b) in both {
            found.extend(
                differences(a, b).into_iter().map(|d| format!("{what}launch {index}: {d}")),
            );
        }
        let finished = matches!(timed.finish, Finish::Ok);
        left = Some(timed.launch);
        if !finished {
            break;
        }
    }
    Ok(found)
}

fn hold(paths: &[PathBuf]) {
    super::enter_repository();
    let mut wrong = Vec::new();
    let mut compared = 0;
    for path in paths {
        let Ok(text) = fs::read_to_string(path) else { continue };
        let name = path.display().to_string();
        let program = Program::parse(&name, &text);
        if !program.is_sound() || DEPENDS_ON_TIME.iter().any(|(file, _)| name.contains(file)) {
            continue;
        }
        for mode in support::MODES {
            for machine in [mode.default_machine(), "teaching"] {
                let machine = support::changed(&support::machine(machine), |m| m.warp_size = 32);
                let Ok(found) = compare(&program, mode, &machine) else { continue };
                compared += 1;
                let place = format!("{name} [{}] {}", mode.name(), machine.name);
                wrong.extend(found.into_iter().map(|what| format!("{place}: {what}")));
            }
        }
    }
    assert!(compared > 0, "no program was compared");
    assert!(wrong.is_empty(), "{} differences\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn programs_count_the_same_without_time() {
    super::enter_repository();
    let mut paths = support::files("programs", &["ir", "ptx", "sass"]);
    paths.retain(|path| !path.starts_with("programs/unseen"));
    hold(&paths);
}

#[test]
fn regressions_count_the_same_without_time() {
    super::enter_repository();
    let folders = ["tests/regressions", "tests/calls"];
    let files = |folder| support::files(folder, &["ir", "ptx", "sass"]);
    hold(&folders.into_iter().flat_map(files).collect::<Vec<_>>());
}
