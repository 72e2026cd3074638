//! Windows, lane states and pictures: held against the counters of the same run, and against each other.

use std::collections::BTreeMap;

use simt_sim::base::{BlockId, LaneMask};
use simt_sim::divergence::{GroupState, SideOrder};
use simt_sim::launch::Overrides;
use simt_sim::machine::{self, Mode};
use simt_sim::observe::{LaneState, Timeline, Window};
use simt_sim::pipeline::{Program, record, simulate};
use simt_sim::report::plot::{self, Kind};
use simt_sim::report::timeline::{Axis, Recording};

use crate::support::{MODES, launch, machine, options, programs};

const LIMIT: u64 = 200_000;

fn everything(warps: std::ops::Range<u32>) -> Window {
    Window { block: BlockId(0), warps, cycles: 0..u64::MAX, limit: usize::MAX }
}

fn recorded(program: &Program, mode: Mode, window: &Window) -> Recording {
    let spec = machine(mode.default_machine());
    let (kernel, launch) = launch(program, &Overrides::default()).expect("a launch");
    let options = options(mode, SideOrder::Taken, LIMIT);
    record(program, kernel, launch, &spec, &options, window).expect("a block that fits")
}

fn read(path: &str) -> Program {
    Program::parse(path, &std::fs::read_to_string(path).expect("a program"))
}

/// The rows of a CSV by column name. No field of these tests holds a comma but the last.
fn rows(csv: &str) -> Vec<BTreeMap<&str, &str>> {
    let mut lines = csv.lines();
    let names: Vec<&str> = lines.next().expect("a line of names").split(',').collect();
    lines.map(|line| names.iter().copied().zip(line.splitn(names.len(), ',')).collect()).collect()
}

fn sum(rows: &[BTreeMap<&str, &str>], column: &str) -> u64 {
    rows.iter().map(|row| row[column].parse::<u64>().expect("a number")).sum()
}

#[test]
fn figures_of_a_window_of_everything_are_those_of_the_counters() {
    let mut compared = 0;
    for path in programs("programs/small") {
        let program = read(path.to_str().expect("a name"));
        for mode in MODES {
            let (kernel, resolved) = launch(&program, &Overrides::default()).expect("a launch");
            if resolved.grid != [1, 1, 1] {
                continue;
            }
            let spec = machine(mode.default_machine());
            let run = simulate(&program, kernel, resolved, &spec, &options(mode, SideOrder::Taken, LIMIT), &());
            let run = run.expect("a block that fits").run;
            let recording = recorded(&program, mode, &everything(0..u32::MAX));
            let place = format!("{} {}", program.name, mode.name());
            let metric = |name: &str| run.metric(name).map_or(0, |v| v.as_f64() as u64);

            let issues = plot::data(Kind::Timeline, &recording, Axis::Issue);
            let issues = rows(&issues);
            assert_eq!(sum(&issues, "slots"), run.slots.used, "{place}");
            assert_eq!(sum(&issues, "divergent"), metric("divergent_branch"), "{place}");
            assert_eq!(sum(&issues, "sectors"), run.instructions.iter().map(|i| i.sectors).sum::<u64>(), "{place}");

            for axis in [Axis::Issue, Axis::Cycle] {
                let lanes = plot::data(Kind::Lanes, &recording, axis);
                let lanes = rows(&lanes);
                for (n, &count) in run.histogram.iter().enumerate() {
                    assert_eq!(sum(&lanes, &format!("w{n}")), count, "{place}: W{n}");
                }
            }
            let ipc = plot::data(Kind::Ipc, &recording, Axis::Cycle);
            assert_eq!(sum(&rows(&ipc), "inst"), metric("inst_executed"), "{place}");
            assert_eq!(sum(&rows(&ipc), "thread_inst"), metric("thread_inst_executed"), "{place}");

            let schedule = plot::data(Kind::Schedule, &recording, Axis::Cycle);
            for (state, cycles) in &run.stalls.0 {
                let rows = rows(&schedule);
                let of_state = rows.iter().filter(|row| row["state"] == *state);
                let span = |row: &BTreeMap<&str, &str>| {
                    row["to"].parse::<u64>().expect("a cycle") - row["from"].parse::<u64>().expect("a cycle")
                };
                assert_eq!(of_state.map(span).sum::<u64>(), *cycles, "{place}: {state}");
            }
            compared += 1;
        }
    }
    assert!(compared > 40, "only {compared} runs were compared");
}

#[test]
fn every_lane_is_in_one_state_and_the_control_state_agrees() {
    for path in programs("programs/small") {
        let program = read(path.to_str().expect("a name"));
        for mode in MODES {
            let recording = recorded(&program, mode, &Window { limit: 2000, ..everything(0..2) });
            for strip in recording.timeline.strips() {
                for issue in &strip.issues {
                    let place = format!("{} {} issue {}", program.name, mode.name(), issue.number);
                    let masks = issue.masks(LaneMask::FULL);
                    let union = masks.iter().fold(0, |all, mask| all | mask.0);
                    let count: u32 = masks.iter().map(|mask| mask.count()).sum();
                    assert_eq!((union, count), (u32::MAX, 32), "{place}");
                    let running = issue.state.groups.first().expect("a group");
                    assert_eq!((running.pc, running.lanes), (issue.pc, issue.active), "{place}");
                    assert_eq!(running.state, GroupState::Running, "{place}");
                    let exited = masks[LaneState::Exited as usize];
                    assert_eq!(exited & strip.lanes, strip.lanes - issue.state.live(), "{place}");
                }
                for pair in strip.issues.windows(2) {
                    let gap = pair[1].cycle - pair[0].cycle - u64::from(pair[0].slots);
                    let free = u64::from(pair[0].slots == 0 || pair[1].slots == 0);
                    assert!(free == 1 || pair[1].waited() == gap, "{} issue {}", program.name, pair[1].number);
                }
            }
        }
    }
}

#[test]
fn a_window_is_a_piece_of_the_whole_run() {
    let program = read("programs/small/picture.ir");
    for mode in MODES {
        let spec = machine(mode.default_machine());
        let options = options(mode, SideOrder::Taken, LIMIT);
        let (kernel, whole) = launch(&program, &Overrides::default()).expect("a launch");
        for (block, warps, cycles, limit) in
            [(0, 0..1, 0..u64::MAX, 1000), (97, 2..5, 0..u64::MAX, 9), (40, 0..8, 300..500, 7)]
        {
            let window = Window { block: BlockId(block), warps, cycles, limit };
            let seen = || Timeline::new(window.clone());
            let code = machine::lower(kernel, &spec, mode);
            let run = machine::run(code, whole.clone(), &spec, &options, &(), seen).expect("a block that fits");
            assert_eq!(run.finish.name(), "ok", "the whole run, whatever the window");
            let recording = recorded(&program, mode, &window);
            assert!(!recording.timeline.strips().is_empty());
            assert_eq!(recording.timeline.strips(), run.observer.strips(), "{} block {block}", mode.name());
        }
    }
}

#[test]
fn pictures_are_the_same_bytes_each_time_and_as_large_as_they_say() {
    let cases = [("nested", 0), ("picture", 3), ("barrier_after_exit", 0), ("spin_lock", 0), ("early_return", 0)];
    for ((name, block), mode) in cases.into_iter().zip(MODES.into_iter().cycle()) {
        let axis = if mode == Mode::Volta { Axis::Issue } else { Axis::Cycle };
        let program = read(&format!("programs/small/{name}.ir"));
        let window = Window { block: BlockId(block), limit: 60, ..everything(0..3) };
        let (one, two) = (recorded(&program, mode, &window), recorded(&program, mode, &window));
        for kind in Kind::ALL {
            let (a, b) = (plot::picture(kind, &one, axis), plot::picture(kind, &two, axis));
            let svg = plot::svg(&a);
            assert_eq!(svg, plot::svg(&b), "{name} {}", kind.name());
            let png = plot::png(&a).expect("a picture of usual size");
            assert_eq!(png, plot::png(&b).expect("a picture of usual size"), "{name} {}", kind.name());
            // IHDR: width and height stand at bytes 16 and 20.
            let number = |at: usize| u32::from_be_bytes([png[at], png[at + 1], png[at + 2], png[at + 3]]);
            assert_eq!(u64::from(number(16)) * u64::from(number(20)), 4 * a.pixels());
            let head = format!(r#"<svg width="{}" height="{}""#, number(16) / 2, number(20) / 2);
            assert!(svg.starts_with(&head), "{}", &svg[..80]);
            assert!(svg.contains(&format!("{} on {}", mode.name(), one.machine)), "{name} {}", kind.name());
        }
    }
}
