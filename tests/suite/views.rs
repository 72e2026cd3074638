//! Views of one run say the same: pictures, annotated source, reports, lane maps, comparisons.

use std::collections::BTreeMap;
use std::path::PathBuf;

use simt_sim::base::BlockId;
use simt_sim::divergence::SideOrder;
use simt_sim::launch::Overrides;
use simt_sim::machine::{MachineSpec, Mode};
use simt_sim::observe::Window;
use simt_sim::pipeline::{Program, record, simulate};
use simt_sim::report::plot::{self, View};
use simt_sim::report::timeline::{Axis, MapStyle, Recording, transposed};
use simt_sim::report::{Run, Style};

use crate::support::{MODES, launch, machine, machines, options, programs};

const LIMIT: u64 = 300_000;

/// Block 0 with all its warps, from the first cycle to the last.
fn everything() -> Window {
    Window { block: BlockId(0), warps: 0..u32::MAX, cycles: 0..u64::MAX, limit: usize::MAX }
}

fn read(path: &str) -> Program {
    Program::parse(path, &std::fs::read_to_string(path).expect("a program"))
}

fn constants(pairs: &[(&str, u32)]) -> Overrides {
    let set = pairs.iter().map(|&(name, value)| (name.to_string(), value.to_string())).collect();
    Overrides { set, ..Overrides::default() }
}

/// The report and the recording of one run.
fn both(program: &Program, spec: &MachineSpec, mode: Mode, overrides: &Overrides) -> (Run, Recording) {
    let (kernel, resolved) = launch(program, overrides).unwrap_or_else(|e| panic!("{}: {e}", program.name));
    let options = options(mode, SideOrder::Taken, LIMIT);
    let done = simulate(program, kernel, resolved.clone(), spec, &options, &()).expect("a block that fits");
    let recording = record(program, kernel, resolved, spec, &options, &everything()).expect("a block that fits");
    (done.run, recording)
}

/// Programs of one block: all the small ones, and reductions of one block that divide and shuffle.
fn of_one_block() -> Vec<(PathBuf, Overrides)> {
    let mut found: Vec<(PathBuf, Overrides)> =
        programs("programs/small").into_iter().map(|path| (path, Overrides::default())).collect();
    for name in ["reduce_neighbored.ir", "reduce_neighbored_less.ir", "cuda/reduce_neighbored.ptx"] {
        found.push((format!("programs/{name}").into(), constants(&[("n", 512)])));
    }
    for name in ["cuda/shared_halving.ptx", "cuda/even_odd.ptx", "cuda/math_sincos.ptx"] {
        found.push((format!("programs/{name}").into(), constants(&[("n", 256)])));
    }
    found.retain(|(path, overrides)| {
        let program = read(path.to_str().expect("a name"));
        launch(&program, overrides).is_ok_and(|(_, launch)| launch.grid == [1, 1, 1])
    });
    found
}

#[test]
fn the_stalls_of_a_line_are_the_same_in_the_picture_and_beside_the_source() {
    let mut compared = 0;
    for (path, overrides) in of_one_block() {
        let program = read(path.to_str().expect("a name"));
        for mode in MODES {
            let (run, recording) = both(&program, &machine(mode.default_machine()), mode, &overrides);
            let mut beside: BTreeMap<u32, u64> = BTreeMap::new();
            for row in run.instructions.iter().filter(|row| row.stalled_cycles > 0) {
                *beside.entry(row.line).or_default() += row.stalled_cycles;
            }
            let mut drawn: BTreeMap<u32, u64> = BTreeMap::new();
            for row in plot::data(View::Stalls, &recording, Axis::Issue).lines().filter(|row| row.starts_with("line,"))
            {
                let line = row.split(',').nth(1).and_then(|n| n.parse().ok()).expect("a line");
                let cycles: u64 = row.rsplit(',').next().and_then(|n| n.parse().ok()).expect("cycles");
                *drawn.entry(line).or_default() += cycles;
            }
            assert_eq!(drawn, beside, "{} {}: waits by line", program.name, mode.name());
            compared += 1;
        }
    }
    assert!(compared > 80, "only {compared} runs were compared");
}

#[test]
fn no_scheduler_issues_two_instructions_in_one_cycle() {
    let mut expanded = 0;
    let four = constants(&[("n", 2048)]);
    for (name, overrides) in [
        ("reduce_neighbored.ir", &four),
        ("reduce_neighbored_less.ir", &four),
        ("cuda/even_odd.ptx", &four),
        ("cuda/math_sincos.ptx", &Overrides::default()),
        ("small/nested.ir", &Overrides::default()),
    ] {
        let program = read(&format!("programs/{name}"));
        for spec in machines() {
            for &mode in &spec.modes {
                let (kernel, resolved) = launch(&program, overrides).expect("a launch");
                let options = options(mode, SideOrder::Taken, LIMIT);
                let Ok(recording) = record(&program, kernel, resolved, &spec, &options, &everything()) else {
                    continue; // the block does not fit the machine
                };
                let place = format!("{name} {} on {}", mode.name(), spec.name);
                let issues = || recording.timeline.strips().iter().flat_map(|strip| &strip.issues);
                expanded += issues().filter(|issue| !issue.parts.is_empty()).count();
                // Cycle by cycle, which no bin can hide ..
                let mut slots: BTreeMap<u64, u32> = BTreeMap::new();
                for span in issues().flat_map(|issue| issue.spans()).filter(|span| span.stall.is_none()) {
                    (span.from..span.to).for_each(|cycle| *slots.entry(cycle).or_default() += 1);
                }
                let most = slots.values().max().copied().unwrap_or(0);
                assert!(
                    most <= spec.schedulers,
                    "{place}: {most} slots in one cycle of {} schedulers",
                    spec.schedulers
                );
                // .. and as the picture has it.
                for row in plot::data(View::Ipc, &recording, Axis::Cycle).lines().skip(1) {
                    let rate: f64 = row.split(',').nth(4).and_then(|n| n.parse().ok()).expect("a rate");
                    assert!(rate <= f64::from(spec.schedulers), "{place}: {row}");
                }
            }
        }
    }
    assert!(expanded > 1000, "only {expanded} steps became several machine instructions");
}

#[test]
fn the_header_of_the_transposed_map_stands_above_its_lanes() {
    let program = read("programs/small/nested.ir");
    for mode in MODES {
        let (_, recording) = both(&program, &machine(mode.default_machine()), mode, &Overrides::default());
        for width in [60, 100] {
            let style = MapStyle { style: Style { width, color: false }, axis: Axis::Issue };
            let map = transposed(&recording, style);
            assert!(map.lines().all(|line| line.len() <= width), "{map}");
            let strip = &recording.timeline.strips()[0];
            let mut issues = strip.issues.iter();
            for panel in map.split("\n\n").skip(2) {
                // `lane  0  #..`: the letters begin two blanks after the name.
                let lane = panel.lines().find(|line| line.starts_with("lane  0")).expect("lane 0");
                let first = lane.find(|c| "#-.wbx".contains(c) && c != 'l').expect("a letter");
                let header: Vec<&str> = panel.lines().take_while(|line| !line.starts_with("lane")).collect();
                for column in first..lane.len() {
                    let digits: String = header.iter().filter_map(|row| row.chars().nth(column)).collect();
                    let issue = issues.next().expect("an issue for each column");
                    assert_eq!(digits.trim(), recording.line(issue.pc).to_string(), "column {column} of\n{panel}");
                }
            }
            assert_eq!(issues.next(), None, "every issue has a column\n{map}");
        }
    }
}
