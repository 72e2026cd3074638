//! Files for other tools, read by parsers of their formats and compared with the counters of the
//! run.
//!
//! The parsers only know the formats (Konata's `docs/kanata-log-format.md`, Google's "Trace Event
//! Format"). Small files are also kept in `tests/exports`; `BLESS=1` updates them.

mod kanata;

use std::collections::BTreeMap;

use serde_json::Value;
use simt_core::base::BlockId;
use simt_core::divergence::SideOrder;
use simt_core::event::Stall;
use simt_core::launch::Overrides;
use simt_core::observe::Window;
use simt_core::spec::Mode;
use simt_core::{Job, Program};
use simt_report::Run;
use simt_report::export::{Format, export};
use simt_report::simulate::{record, simulate};
use simt_report::timeline::{Recording, csv};

use crate::cli::{good, refused};
use crate::support::{MODES, launch, machine, options, programs};

const LIMIT: u64 = 200_000;

fn everything() -> Window {
    Window { block: BlockId(0), warps: 0..u32::MAX, cycles: 0..u64::MAX, limit: usize::MAX }
}

fn recorded(program: &Program, mode: Mode, window: &Window) -> Recording {
    let spec = machine(mode.default_machine());
    let (kernel, launch) = launch(program, &Overrides::default()).expect("a launch");
    record(
        &Job::new(program, kernel, launch, &spec, options(mode, SideOrder::Taken, LIMIT)),
        window,
    )
    .expect("a block that fits")
}

fn read(path: &str) -> Program {
    Program::parse(path, &std::fs::read_to_string(path).expect("a program"))
}

/// A one-block program, run and recorded in a mode.
struct Case {
    place: String,
    run: Run,
    recording: Recording,
}

/// Returns every small one-block program in both modes.
fn cases() -> impl Iterator<Item = Case> {
    let with_mode = |path: std::path::PathBuf| MODES.map(|mode| (path.clone(), mode));
    programs("programs/small").into_iter().flat_map(with_mode).filter_map(|(path, mode)| {
        let program = read(path.to_str().expect("a name"));
        let (kernel, resolved) = launch(&program, &Overrides::default()).expect("a launch");
        let spec = machine(mode.default_machine());
        let options = options(mode, SideOrder::Taken, LIMIT);
        (resolved.grid == [1, 1, 1]).then(|| Case {
            place: format!("{} {}", program.name, mode.name()),
            run: simulate(Job::new(&program, kernel, resolved, &spec, options.clone()), &())
                .expect("a block that fits")
                .run,
            recording: recorded(&program, mode, &everything()),
        })
    })
}

/// Slices (name, start, length) by category, process and thread.
type Tracks = BTreeMap<(String, u64, u64), Vec<(String, u64, u64)>>;

/// Returns the complete events of a trace by category and track; none may overlap on a track.
fn slices(json: &str, place: &str) -> Tracks {
    let trace: Value = serde_json::from_str(json).unwrap_or_else(|e| panic!("{place}: {e}"));
    let mut names = BTreeMap::new();
    let mut tracks = Tracks::new();
    let mut ends: BTreeMap<(u64, u64), u64> = BTreeMap::new();
    for event in trace["traceEvents"].as_array().expect("a list of events") {
        let number = |key: &str| {
            event[key].as_u64().unwrap_or_else(|| panic!("{place}: no {key} in {event}"))
        };
        let text = |key: &str| {
            event[key].as_str().unwrap_or_else(|| panic!("{place}: no {key} in {event}")).to_owned()
        };
        let track = (number("pid"), number("tid"));
        match text("ph").as_str() {
            "M" => {
                if text("name") == "thread_name" {
                    names.insert(track, event["args"]["name"].as_str().expect("a name").to_owned());
                }
            }
            "i" => assert_eq!(text("s"), "t", "{place}"),
            "X" => {
                let (from, cycles) = (number("ts"), number("dur"));
                assert!(
                    ends.get(&track).is_none_or(|&end| end <= from),
                    "{place}: {event} overlaps on its track"
                );
                ends.insert(track, from + cycles);
                tracks.entry((text("cat"), track.0, track.1)).or_default().push((
                    text("name"),
                    from,
                    cycles,
                ));
            }
            other => panic!("{place}: phase {other}"),
        }
    }
    for (_, pid, tid) in tracks.keys() {
        assert!(names.contains_key(&(*pid, *tid)), "{place}: a track without a name");
    }
    tracks
}

/// Returns the cycles of all tracks of a category, by name.
fn cycles<'a>(tracks: &'a Tracks, category: &str) -> BTreeMap<&'a str, u64> {
    let mut sums = BTreeMap::new();
    for (_, slices) in tracks.iter().filter(|((cat, ..), _)| cat == category) {
        for (name, _, cycles) in slices {
            *sums.entry(name.as_str()).or_default() += cycles;
        }
    }
    sums
}

#[test]
#[ignore = "long: every format of every program"]
fn long_every_format_has_the_issues_and_waits_that_the_run_counted() {
    let mut compared = 0;
    for Case { place, run, recording } in cases() {
        let stalls: BTreeMap<&str, u64> =
            run.stalls.0.iter().copied().filter(|&(_, n)| n > 0).collect();
        let tracks = slices(&export(Format::Perfetto, &recording), &place);
        let on = |pid: u64, category: &str| -> u64 {
            let chosen = tracks.iter().filter(|((cat, p, _), _)| cat == category && *p == pid);
            chosen.flat_map(|(_, slices)| slices).map(|&(_, _, cycles)| cycles).sum()
        };
        assert_eq!(on(1, "issue"), run.slots.used, "{place}: slots of warps");
        assert_eq!(on(2, "issue"), run.slots.used, "{place}: slots of schedulers");
        assert_eq!(on(2, "issue") + on(2, "lost"), run.slots.total, "{place}: all slots");
        let lost: BTreeMap<&str, u64> =
            run.slots.lost.0.iter().copied().filter(|&(_, n)| n > 0).collect();
        assert_eq!(cycles(&tracks, "lost"), lost, "{place}");

        let rows = kanata::parse(&export(Format::Kanata, &recording))
            .unwrap_or_else(|e| panic!("{place}: {e}"));
        let mut waited: BTreeMap<&str, u64> = BTreeMap::new();
        let mut issued = Vec::new();
        for row in &rows {
            for stage in row.stages.iter().filter(|stage| stage.lane == 1) {
                *waited.entry(&stage.name).or_default() += stage.end - stage.start;
            }
            let last = row.stages.iter().rfind(|stage| stage.lane == 0).expect("a stage");
            assert!(
                row.retired == last.end && ["X", "free"].contains(&last.name.as_str()),
                "{place}: {row:?}"
            );
            issued.push((last.start, row.thread, row.number));
        }
        // Waiting after a warp's last issue belongs to no issue.
        if run.finish == simt_report::Ending::Ok {
            assert_eq!(waited, stalls, "{place}");
            assert_eq!(cycles(&tracks, "stall"), stalls, "{place}");
        }
        issued.sort_unstable();
        let text = export(Format::Trace, &recording);
        let line = |line: &str| -> (u64, u64) {
            let mut cells =
                line.split_whitespace().map(|cell| cell.parse::<u64>().expect("a number"));
            (cells.next().expect("a cycle"), cells.next().expect("a warp"))
        };
        let first_two = |l: &str| l.split_whitespace().take(2).collect::<Vec<_>>().join(" ");
        let lines: Vec<_> =
            text.lines().filter(|l| !l.starts_with('#')).map(|l| line(&first_two(l))).collect();
        assert_eq!(
            lines,
            issued.iter().map(|&(cycle, warp, _)| (cycle, warp)).collect::<Vec<_>>(),
            "{place}"
        );
        assert_eq!(export(Format::Csv, &recording), csv(&recording));
        compared += 1;
    }
    assert!(compared > 60, "only {compared} runs were compared");
}

#[test]
fn every_wait_has_a_name_that_the_tools_accept() {
    for stall in Stall::ALL {
        assert!(
            stall.name().chars().all(|c| c.is_ascii_lowercase() || c == '_'),
            "{}",
            stall.name()
        );
    }
}

#[test]
fn small_files_are_as_they_were() {
    let program = read("programs/small/shared_reduction.ir");
    let window = Window { warps: 0..2, limit: 12, ..everything() };
    let mut stale = Vec::new();
    for mode in MODES {
        let recording = recorded(&program, mode, &window);
        for format in Format::ALL {
            let ending = if format == Format::Perfetto { "perfetto.json" } else { format.name() };
            let path = format!("tests/exports/{}.{ending}", mode.name());
            let text = export(format, &recording);
            assert_eq!(
                text,
                export(format, &recorded(&program, mode, &window)),
                "the same bytes each time"
            );
            if std::env::var_os("BLESS").is_some() {
                std::fs::create_dir_all("tests/exports").expect("a folder");
                std::fs::write(&path, &text).expect("a file");
            } else if std::fs::read_to_string(&path).unwrap_or_default() != text {
                stale.push(path);
            }
        }
    }
    assert!(stale.is_empty(), "changed: {stale:?}; if on purpose, BLESS=1 cargo test");
}

#[test]
fn the_command_writes_files_and_takes_windows() {
    let path = format!("{}/export.json", env!("CARGO_TARGET_TMPDIR"));
    let reduction = "programs/reduce_interleaved.ir";
    let window =
        ["--set", "n=4096", "--block-id", "1", "--warp", "2..4", "--from", "100", "--to", "900"];
    let text = good(&[&["export", "perfetto", reduction][..], &window].concat());
    assert_eq!(good(&[&["export", "perfetto", reduction, "-o", &path][..], &window].concat()), "");
    assert_eq!(std::fs::read_to_string(&path).expect("the file"), text);
    let tracks = slices(&text, "window");
    assert_eq!(tracks.keys().filter(|(cat, pid, _)| cat == "issue" && *pid == 1).count(), 2);
    for ((category, pid, _), slices) in &tracks {
        assert!(slices.iter().all(|&(_, from, _)| from < 900), "{category} {pid}");
    }
    refused(&["export", "vcd", reduction], &["vcd", "perfetto", "kanata"]);
    refused(&["export", "kanata", reduction, "--warp", "99"], &["--warp 99"]);
    refused(
        &["export", "trace", reduction, "-o", "nowhere/at/all.txt", "--set", "n=1024"],
        &["nowhere/at/all.txt"],
    );
}
