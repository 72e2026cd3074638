//! Windows, lane states and pictures, compared with the counters of the same run and with each
//! other.

mod addresses;
mod control_flow;

use std::collections::BTreeMap;

use simt_core::base::{BlockId, LaneMask};
use simt_core::divergence::{GroupState, SideOrder};
use simt_core::launch::Overrides;
use simt_core::observe::{LaneState, Span, Timeline, Window};
use simt_core::spec::Mode;
use simt_core::{Job, Program};
use simt_report::plot::{self, Kind, View};
use simt_report::simulate::{record, simulate};
use simt_report::timeline::{Axis, Recording};

use crate::cli::{good, refused};
use crate::drawing::summary;
use crate::support::{MODES, launch, machine, options, programs};

const LIMIT: u64 = 200_000;

fn everything(warps: std::ops::Range<u32>) -> Window {
    Window { block: BlockId(0), warps, cycles: 0..u64::MAX, limit: usize::MAX }
}

fn recorded(program: &Program, mode: Mode, window: &Window) -> Recording {
    let spec = machine(mode.default_machine());
    let (kernel, launch) = launch(program, &Overrides::default()).expect("a launch");
    let options = options(mode, SideOrder::Taken, LIMIT);
    record(&Job::new(program, kernel, launch, &spec, options.clone()), window)
        .expect("a block that fits")
}

fn read(path: &str) -> Program {
    Program::parse(path, &std::fs::read_to_string(path).expect("a program"))
}

/// Parses the rows of a CSV by column name. In these tests, only the last field may contain a
/// comma.
fn rows(csv: &str) -> Vec<BTreeMap<&str, &str>> {
    let mut lines = csv.lines();
    let names: Vec<&str> = lines.next().expect("a line of names").split(',').collect();
    lines.map(|line| names.iter().copied().zip(line.splitn(names.len(), ',')).collect()).collect()
}

fn sum(rows: &[BTreeMap<&str, &str>], column: &str) -> u64 {
    rows.iter().map(|row| row[column].parse::<u64>().expect("a number")).sum()
}

#[test]
#[ignore = "long: every small program"]
fn long_figures_of_a_window_of_everything_are_those_of_the_counters() {
    let mut compared = 0;
    for path in programs("programs/small") {
        let program = read(path.to_str().expect("a name"));
        for mode in MODES {
            let (kernel, resolved) = launch(&program, &Overrides::default()).expect("a launch");
            if resolved.grid != [1, 1, 1] {
                continue;
            }
            let spec = machine(mode.default_machine());
            let run = simulate(
                Job::new(&program, kernel, resolved, &spec, options(mode, SideOrder::Taken, LIMIT)),
                &(),
            );
            let run = run.expect("a block that fits").run;
            let recording = recorded(&program, mode, &everything(0..u32::MAX));
            let place = format!("{} {}", program.name, mode.name());
            let metric = |name: &str| run.metric(name).map_or(0, |v| v.as_f64() as u64);

            let issues = plot::data(View::Timeline, &recording, Axis::Issue);
            let issues = rows(&issues);
            assert_eq!(sum(&issues, "slots"), run.slots.used, "{place}");
            assert_eq!(sum(&issues, "divergent"), metric("divergent_branch"), "{place}");
            assert_eq!(
                sum(&issues, "sectors"),
                run.instructions.iter().map(|i| i.sectors).sum::<u64>(),
                "{place}"
            );

            for axis in [Axis::Issue, Axis::Cycle] {
                let lanes = plot::data(View::Lanes, &recording, axis);
                let lanes = rows(&lanes);
                for (n, &count) in run.histogram.iter().enumerate() {
                    assert_eq!(sum(&lanes, &format!("w{n}")), count, "{place}: W{n}");
                }
            }
            let ipc = plot::data(View::Ipc, &recording, Axis::Cycle);
            assert_eq!(sum(&rows(&ipc), "inst"), metric("inst_executed"), "{place}");
            assert_eq!(sum(&rows(&ipc), "thread_inst"), metric("thread_inst_executed"), "{place}");

            let schedule = plot::data(View::Schedule, &recording, Axis::Cycle);
            for (state, cycles) in &run.stalls.0 {
                let rows = rows(&schedule);
                let of_state = rows.iter().filter(|row| row["state"] == *state);
                let span = |row: &BTreeMap<&str, &str>| {
                    row["to"].parse::<u64>().expect("a cycle")
                        - row["from"].parse::<u64>().expect("a cycle")
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
                    let began = pair[1].spans().first().map(|span| span.from);
                    let free = pair[0].slots == 0 || pair[1].slots == 0;
                    assert!(
                        free || began == Some(pair[0].end()),
                        "{} issue {}",
                        program.name,
                        pair[1].number
                    );
                    let joined =
                        |spans: &[Span]| spans.windows(2).all(|two| two[0].to == two[1].from);
                    assert!(joined(&pair[1].spans()), "{} issue {}", program.name, pair[1].number);
                }
                // Steps with a slot are numbered one by one; steps without one belong to the
                // previous issue.
                let issued = strip.issues.iter().filter(|issue| issue.slots > 0);
                assert!(issued.zip(0..).all(|(issue, n)| issue.number == n), "{}", program.name);
                let in_order = strip
                    .issues
                    .windows(2)
                    .all(|pair| pair[1].number - pair[0].number <= u64::from(pair[1].slots > 0));
                assert!(in_order, "{}", program.name);
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
            let job = Job::new(&program, kernel, whole.clone(), &spec, options.clone());
            let run = job.run(&(), seen).expect("a block that fits");
            assert_eq!(run.finish.name(), "ok", "the whole run, whatever the window");
            let recording = recorded(&program, mode, &window);
            assert!(!recording.timeline.strips().is_empty());
            assert_eq!(
                recording.timeline.strips(),
                run.observer.strips(),
                "{} block {block}",
                mode.name()
            );
        }
    }
}

#[test]
#[ignore = "long: draws pixels"]
fn long_pictures_are_the_same_bytes_each_time_and_as_large_as_they_say() {
    let cases = [
        ("nested", 0),
        ("picture", 3),
        ("barrier_after_exit", 0),
        ("spin_lock", 0),
        ("early_return", 0),
    ];
    for ((name, block), mode) in cases.into_iter().zip(MODES.into_iter().cycle()) {
        let axis = if mode == Mode::Volta { Axis::Issue } else { Axis::Cycle };
        let program = read(&format!("programs/small/{name}.ir"));
        let window = Window { block: BlockId(block), limit: 60, ..everything(0..3) };
        let (one, two) = (recorded(&program, mode, &window), recorded(&program, mode, &window));
        for kind in Kind::ALL {
            let Kind::Window(view) = kind else { continue };
            let (a, b) = (plot::picture(view, &one, axis), plot::picture(view, &two, axis));
            let svg = plot::svg(&a);
            assert_eq!(svg, plot::svg(&b), "{name} {}", kind.name());
            let png = plot::png(&a).expect("a picture of usual size");
            assert_eq!(
                png,
                plot::png(&b).expect("a picture of usual size"),
                "{name} {}",
                kind.name()
            );
            // IHDR: width and height are at bytes 16 and 20.
            let number =
                |at: usize| u32::from_be_bytes([png[at], png[at + 1], png[at + 2], png[at + 3]]);
            assert_eq!(u64::from(number(16)) * u64::from(number(20)), 4 * a.pixels());
            let head = format!(r#"<svg width="{}" height="{}""#, number(16) / 2, number(20) / 2);
            assert!(svg.starts_with(&head), "{}", &svg[..80]);
            assert!(
                svg.contains(&format!("{} on {}", mode.name(), one.machine)),
                "{name} {}",
                kind.name()
            );
        }
    }
}

fn number(row: &BTreeMap<&str, &str>, column: &str) -> u64 {
    row[column].parse().unwrap_or_else(|_| panic!("{column} of {row:?}"))
}

#[test]
fn several_runs_share_their_axes_and_their_table() {
    let program = read("programs/small/nested.ir");
    let recordings = MODES.map(|mode| recorded(&program, mode, &everything(0..1)));
    for kind in Kind::ALL {
        let Kind::Window(view) = kind else { continue };
        if view == View::Banks {
            continue; // the program has no shared memory
        }
        let both = plot::data_of_all(view, &recordings, Axis::Issue);
        let rows = rows(&both);
        for (run, recording) in ["A", "B"].into_iter().zip(&recordings) {
            let own = rows.iter().filter(|row| row["run"] == run).count();
            let alone = plot::data(view, recording, Axis::Issue).lines().skip(1).count();
            assert_eq!(own, alone, "{} {run}", kind.name());
        }
        let svg = plot::svg(&plot::pictures(view, &recordings, Axis::Issue));
        assert!(svg.contains("A. nested") && svg.contains("B. nested"), "{}", kind.name());
    }
}

#[test]
fn whole_runs_are_drawn_by_their_counters() {
    let table =
        good(&["plot", "roofline", NEIGHBORED, INTERLEAVED, "--set", "n=65536", "--format", "csv"]);
    let rows = rows(&table);
    assert_eq!(rows.len(), 2);
    for (row, file) in rows.iter().zip([NEIGHBORED, INTERLEAVED]) {
        let metrics = good(&[
            "run",
            file,
            "--set",
            "n=65536",
            "--metrics",
            "inst_executed,dram_read_bytes",
            "--format",
            "json",
        ]);
        let run: serde_json::Value = serde_json::from_str(&metrics).expect("JSON");
        assert_eq!(row["inst"], run["metrics"]["inst_executed"].to_string());
        assert_eq!(row["dram_bytes"], run["metrics"]["dram_read_bytes"].to_string());
        let real = |column: &str| row[column].parse::<f64>().expect("a number");
        assert!(real("lane_inst_per_cycle") <= real("inst_per_cycle"));
        assert!(real("inst_per_cycle") <= real("issue_ceiling"));
        assert!(real("dram_bytes") <= real("dram_bytes_per_cycle") * real("cycles"));
    }
    let pair =
        good(&["plot", "compare", NEIGHBORED, INTERLEAVED, "--set", "n=65536", "--format", "csv"]);
    let divergent = pair.lines().find(|line| line.starts_with("divergent_branch,")).expect("a row");
    assert!(divergent.starts_with("divergent_branch,branch,12160,640,"), "{divergent}");
}

const NEIGHBORED: &str = "programs/reduce_neighbored.ir";
const INTERLEAVED: &str = "programs/reduce_interleaved.ir";

#[test]
fn what_cannot_be_drawn_is_refused() {
    refused(&["plot", "banks", NEIGHBORED, "--set", "n=1024"], &["no access to shared memory"]);
    refused(
        &["plot", "sectors", NEIGHBORED, "--set", "n=1024", "--line", "40"],
        &["at line 40", "66, 67, 69"],
    );
    refused(&["plot", "compare", NEIGHBORED], &["expected two runs"]);
    refused(
        &["plot", "masks", NEIGHBORED, INTERLEAVED, "--set", "n=1,2,3"],
        &["FILE is given 2 times", "3 runs"],
    );
    refused(&["plot", "pie", NEIGHBORED], &["timeline", "roofline"]);
    refused(&["run", NEIGHBORED, "--plot", "masks"], &["KIND=FILE"]);
    refused(&["run", NEIGHBORED, "--plot", "compare=a.svg"], &["unknown kind `compare`"]);
    refused(&["plot", "sweep", NEIGHBORED], &["line 1 is not a result"]);
}

/// The pictures that `tests/pictures` describes ([`summary`]), each by its command; BLESS=1 writes
/// them anew.
#[test]
fn pictures_are_those_that_lie_here() {
    const PICTURES: [(&str, &[&str]); 8] = [
        (
            "banks",
            &[
                "banks",
                "programs/small/shared_conflicts.ir",
                "--set",
                "stride=2",
                "--machine",
                "teaching",
            ],
        ),
        (
            "sectors",
            &[
                "sectors",
                "programs/small/strided_load.ir",
                "--set",
                "stride=3",
                "--machine",
                "teaching",
            ],
        ),
        ("cfg", &["cfg", "programs/small/diamond.ir", "--mode", "pre-volta"]),
        ("cfg_table", &["cfg", "programs/small/jump_table.ir"]),
        ("roofline", &["roofline", NEIGHBORED, INTERLEAVED, "--set", "n=65536"]),
        ("compare", &["compare", "programs/small/nested.ir", "--mode", "pre-volta,volta"]),
        (
            "stack_of_two",
            &[
                "stack",
                "programs/small/diamond.ir",
                "--machine",
                "teaching",
                "--mode",
                "pre-volta,volta",
            ],
        ),
        ("timeline", &["timeline", "programs/small/diamond.ir", "--machine", "teaching"]),
    ];
    for (name, arguments) in PICTURES {
        let drawn = summary(&good(&[&["plot"], arguments].concat()));
        let path = format!("tests/pictures/{name}.txt");
        if std::env::var_os("BLESS").is_some() {
            std::fs::write(&path, &drawn).expect("a description is written");
        }
        let there = std::fs::read_to_string(&path).unwrap_or_default();
        let differ = drawn.lines().zip(there.lines()).find(|(drawn, there)| drawn != there);
        let command = arguments.join(" ");
        assert!(
            drawn == there,
            "{path} is not what `plot {command}` draws; BLESS=1 writes it anew: {differ:?}"
        );
    }
}
