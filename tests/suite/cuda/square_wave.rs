//! The square wave: bitwise equal to an H200, with times in the same ratios.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use simt_core::Job;
use simt_core::Program;
use simt_core::divergence::SideOrder;
use simt_core::launch::Overrides;
use simt_core::spec::{Machine, Mode};
use simt_report::simulate::{Simulation, simulate};

use super::super::support::{MODES, changed, launch, machine, options};

/// Period and heavy threads of each period.
type Setting = (u64, u64);

/// The wave forms of the question; the last two are all heavy and all light.
const SETTINGS: [Setting; 8] =
    [(64, 32), (32, 16), (62, 31), (66, 33), (56, 28), (48, 24), (1, 1), (1, 0)];

/// Contents of `tests/observations/h200/square_wave.txt`.
struct Observed {
    /// SM cycles at 2^20 threads.
    cycles: BTreeMap<Setting, f64>,
    /// SM cycles and instructions per warp, by the logarithm of the threads.
    counts: BTreeMap<(u32, Setting), (f64, f64)>,
    /// Results of heavy and light threads, by thread.
    heavy: Vec<u64>,
    light: Vec<u64>,
}

impl Observed {
    fn read() -> Observed {
        let text =
            fs::read_to_string("tests/observations/h200/square_wave.txt").expect("the observation");
        let mut observed = Observed {
            cycles: BTreeMap::new(),
            counts: BTreeMap::new(),
            heavy: Vec::new(),
            light: Vec::new(),
        };
        for line in text.lines().filter(|l| !l.starts_with('#')) {
            let words: Vec<&str> = line.split(' ').collect();
            let bits = || words[1..].iter().map(|w| u64::from_str_radix(w, 16).expect("a number"));
            match words[0] {
                "heavy" => observed.heavy.extend(bits()),
                "light" => observed.light.extend(bits()),
                "count" => {
                    let [threads, period, heavy, cycles] =
                        [1, 2, 3, 4].map(|i| words[i].parse::<u64>().expect("a number"));
                    let instructions = words[5].parse().expect("a number");
                    let counted = (cycles as f64, instructions);
                    observed.counts.insert((threads as u32, (period, heavy)), counted);
                    if threads == 20 {
                        observed.cycles.insert((period, heavy), cycles as f64);
                    }
                }
                _ => {}
            }
        }
        observed
    }
}

/// Runs `n` threads with the given iterations of heavy and light ones.
fn run(
    program: &Program,
    spec: &Machine,
    mode: Mode,
    (period, heavy): Setting,
    n: u64,
    [long, short]: [u64; 2],
) -> Simulation {
    let values = [("n", n), ("period", period), ("heavy", heavy), ("long", long), ("short", short)];
    let set = values.map(|(name, value)| (name.to_string(), value.to_string())).to_vec();
    let (kernel, launch) = launch(program, &Overrides { set, ..Overrides::default() })
        .unwrap_or_else(|e| panic!("{e}"));
    simulate(
        Job::new(program, kernel, launch, spec, options(mode, SideOrder::Fewer, u64::MAX)),
        &(),
    )
    .expect("the block fits")
}

/// The machine code that the H200 ran: the counters below are equal.
fn machine_code() -> Program {
    let text = fs::read_to_string("programs/sass/square_wave.sass").expect("the listing");
    Program::parse("square_wave.sass", &text)
}

fn program() -> Program {
    let path = Path::new(super::FOLDER).join("square_wave.ptx");
    Program::parse("square_wave.ptx", &super::read(&path))
}

#[test]
fn every_bit_is_as_on_the_h200() {
    let (program, observed) = (program(), Observed::read());
    for mode in MODES {
        let spec = machine(mode.default_machine());
        for (period, heavy) in SETTINGS {
            let done = run(&program, &spec, mode, (period, heavy), 512, [8, 1]);
            let written = done.launch.buffers[0]
                .words
                .chunks(2)
                .map(|w| u64::from(w[1]) << 32 | u64::from(w[0]));
            let expected = (0..512).map(|i| match i as u64 % period < heavy {
                true => observed.heavy[i],
                false => observed.light[i],
            });
            let differ: Vec<usize> = written
                .zip(expected)
                .enumerate()
                .filter(|(_, (a, b))| a != b)
                .map(|(i, _)| i)
                .collect();
            assert!(differ.is_empty(), "{period}/{heavy} [{}]: threads {differ:?}", mode.name());
        }
    }
}

/// Returns the numbers of warps with a heavy thread, with a light one, and with both.
fn warps((period, heavy): Setting, n: u64) -> [u64; 3] {
    let holds =
        |warp: u64, kind: bool| (warp * 32..warp * 32 + 32).any(|i| (i % period < heavy) == kind);
    let count = |test: &dyn Fn(u64) -> bool| (0..n / 32).filter(|&w| test(w)).count() as u64;
    [
        count(&|w| holds(w, true)),
        count(&|w| holds(w, false)),
        count(&|w| holds(w, true) && holds(w, false)),
    ]
}

#[test]
fn a_mixed_warp_splits_once_and_pays_for_both_arms() {
    let (program, n) = (program(), 2048);
    for mode in MODES {
        let spec = machine(mode.default_machine());
        for setting in SETTINGS {
            let [heavy, light, mixed] = warps(setting, n);
            let done = run(&program, &spec, mode, setting, n, [8, 1]);
            let metric = |name| done.run.metric(name).map_or(f64::NAN, |v| v.as_f64()) as u64;
            let title = format!("{setting:?} [{}]", mode.name());
            assert_eq!(metric("divergent_branch"), mixed, "{title}");
            // Two sines and a cosine, three loads of two coefficients each.
            assert_eq!(metric("gld_requests"), 9 * (8 * heavy + light), "{title}");
        }
    }
}

/// An SM of an H200 receives 31 blocks of 2^20 threads, eight at a time; SMs only share the end
/// here, so one is enough. Twenty iterations against none approximate the 320 against four. Where
/// every warp is mixed, the simulated SM gets closer to its limit than the real one: 1.79 for 1.96.
#[test]
#[ignore = "long: large grids"]
fn long_times_have_the_ratios_of_the_h200() {
    let (program, observed) = (program(), Observed::read());
    let spec = changed(&machine("h200"), |m| m.sms = 1);
    let cycles = |setting| {
        let done = run(&program, &spec, Mode::Volta, setting, 31 * 256, [20, 0]);
        done.run.metric("elapsed_cycles").expect("counted").as_f64()
    };
    let base = cycles((64, 32));
    for setting in [(32, 16), (62, 31), (66, 33), (1, 1)] {
        let (ours, theirs) =
            (cycles(setting) / base, observed.cycles[&setting] / observed.cycles[&(64, 32)]);
        assert!(
            (ours / theirs - 1.0).abs() < 0.1,
            "{setting:?}: {ours:.3}, on the H200 {theirs:.3}"
        );
    }
}

/// Iterations of heavy and light threads on the H200.
const WORK: [u64; 2] = [320, 4];

/// One block holds whole periods of these forms, so its mean is the whole grid's.
#[test]
fn machine_code_executes_the_instructions_of_the_h200() {
    let (program, observed) = (machine_code(), Observed::read());
    let spec = machine("h200");
    for setting in [(64, 32), (32, 16), (1, 1), (1, 0)] {
        let done = run(&program, &spec, Mode::Volta, setting, 256, WORK);
        let ours = done.run.metric("inst_per_warp").expect("counted").as_f64();
        assert_eq!(ours, observed.counts[&(18, setting)].1, "{setting:?}");
    }
}

/// The fullest SM of the H200 decides the time: it gets 8 of the 1,024 blocks of 2^18 threads and
/// 32 of the 4,096 of 2^20. SMs share nothing here but L2, so one is enough.
#[test]
#[ignore = "long: large grids"]
fn long_times_of_machine_code_have_the_ratios_of_the_h200() {
    let (program, observed) = (machine_code(), Observed::read());
    let spec = changed(&machine("h200"), |m| m.sms = 1);
    let mut compared = 0;
    for (threads, blocks, settings) in [(18, 8, &SETTINGS[..]), (20, 32, &SETTINGS[..3])] {
        let cycles = |setting| {
            let done = run(&program, &spec, Mode::Volta, setting, 256 * blocks, WORK);
            done.run.metric("elapsed_cycles").expect("counted").as_f64()
        };
        let theirs = |setting| observed.counts.get(&(threads, setting)).map(|counted| counted.0);
        let (base, base_h200) = (cycles((64, 32)), theirs((64, 32)).expect("recorded"));
        for &setting in settings.iter().filter(|&&s| s != (64, 32) && s != (1, 0)) {
            let Some(theirs) = theirs(setting) else { continue };
            let (ours, theirs) = (cycles(setting) / base, theirs / base_h200);
            assert!(
                (ours / theirs - 1.0).abs() < 0.02,
                "2^{threads} {setting:?}: {ours:.4}, on the H200 {theirs:.4}"
            );
            compared += 1;
        }
    }
    assert!(compared >= 8, "{compared} settings");
}
