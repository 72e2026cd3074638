//! Views of one run agree: pictures, annotated source, reports, lane maps, comparisons.

use std::collections::BTreeMap;
use std::path::PathBuf;

use simt_core::base::BlockId;
use simt_core::divergence::SideOrder;
use simt_core::launch::Overrides;
use simt_core::observe::Window;
use simt_core::spec::{Lowering, Machine, Mode};
use simt_core::{Job, Program};
use simt_report::plot::{self, View};
use simt_report::simulate::{record, simulate};
use simt_report::timeline::{Axis, MapStyle, Recording, transposed};
use simt_report::{Ending, InstructionRow, Run, Style};

use crate::cli::{good, refused};
use crate::support::{MODES, launch, machine, machines, options, programs};

const LIMIT: u64 = 300_000;

/// Returns the window of block 0 with all its warps, from the first cycle to the last.
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

/// Returns the report and the recording of one run.
fn both(program: &Program, spec: &Machine, mode: Mode, overrides: &Overrides) -> (Run, Recording) {
    let (kernel, resolved) =
        launch(program, overrides).unwrap_or_else(|e| panic!("{}: {e}", program.name));
    let options = options(mode, SideOrder::Taken, LIMIT);
    let job = Job::new(program, kernel, resolved, spec, options);
    let recording = record(&job, &everything()).expect("a block that fits");
    let done = simulate(job, &()).expect("a block that fits");
    (done.run, recording)
}

/// Returns one-block programs: all small ones, and reductions that divide and shuffle.
fn of_one_block() -> Vec<(PathBuf, Overrides)> {
    let mut found: Vec<(PathBuf, Overrides)> =
        programs("programs/small").into_iter().map(|path| (path, Overrides::default())).collect();
    for name in ["reduce_neighbored.ir", "reduce_neighbored_less.ir", "cuda/reduce_neighbored.ptx"]
    {
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
            let (run, recording) =
                both(&program, &machine(mode.default_machine()), mode, &overrides);
            let mut beside: BTreeMap<u32, u64> = BTreeMap::new();
            let stalled = |row: &InstructionRow| row.wait.map_or(0, |wait| wait.stalled_cycles);
            for row in run.instructions.iter().filter(|row| stalled(row) > 0) {
                *beside.entry(row.line).or_default() += stalled(row);
            }
            let mut drawn: BTreeMap<u32, u64> = BTreeMap::new();
            for row in plot::data(View::Stalls, &recording, Axis::Issue)
                .lines()
                .filter(|row| row.starts_with("line,"))
            {
                let line = row.split(',').nth(1).and_then(|n| n.parse().ok()).expect("a line");
                let cycles: u64 =
                    row.rsplit(',').next().and_then(|n| n.parse().ok()).expect("cycles");
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
                let Ok(recording) =
                    record(&Job::new(&program, kernel, resolved, &spec, options), &everything())
                else {
                    continue; // the block does not fit the machine
                };
                let place = format!("{name} {} on {}", mode.name(), spec.name);
                let issues = || recording.timeline.strips().iter().flat_map(|strip| &strip.issues);
                expanded += issues().filter(|issue| !issue.parts.is_empty()).count();
                // By cycle, without bins.
                let mut slots: BTreeMap<u64, u32> = BTreeMap::new();
                for span in
                    issues().flat_map(|issue| issue.spans()).filter(|span| span.stall.is_none())
                {
                    (span.from..span.to).for_each(|cycle| *slots.entry(cycle).or_default() += 1);
                }
                let most = slots.values().max().copied().unwrap_or(0);
                assert!(
                    most <= spec.schedulers,
                    "{place}: {most} slots in one cycle of {} schedulers",
                    spec.schedulers
                );
                // As in the picture.
                for row in plot::data(View::Ipc, &recording, Axis::Cycle).lines().skip(1) {
                    let rate: f64 =
                        row.split(',').nth(4).and_then(|n| n.parse().ok()).expect("a rate");
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
        let (_, recording) =
            both(&program, &machine(mode.default_machine()), mode, &Overrides::default());
        for width in [60, 100] {
            let style = MapStyle { style: Style { width, color: false }, axis: Axis::Issue };
            let map = transposed(&recording, style);
            assert!(map.lines().all(|line| line.len() <= width), "{map}");
            let strip = &recording.timeline.strips()[0];
            let mut issues = strip.issues.iter();
            for panel in map.split("\n\n").skip(2) {
                // `lane  0  #..`: the letters start two blanks after the name.
                let lane = panel.lines().find(|line| line.starts_with("lane  0")).expect("lane 0");
                let first = lane.find(|c| "#-.wbx".contains(c) && c != 'l').expect("a letter");
                let header: Vec<&str> =
                    panel.lines().take_while(|line| !line.starts_with("lane")).collect();
                for column in first..lane.len() {
                    let digits: String =
                        header.iter().filter_map(|row| row.chars().nth(column)).collect();
                    let issue = issues.next().expect("an issue for each column");
                    assert_eq!(
                        digits.trim(),
                        recording.line(issue.pc).to_string(),
                        "column {column} of\n{panel}"
                    );
                }
            }
            assert_eq!(issues.next(), None, "every issue has a column\n{map}");
        }
    }
}

/// Returns reached and mixed counts of every predicated branch, executed and divergent counts of
/// every real one, by line.
fn divisions(run: &Run) -> BTreeMap<u32, (u64, u64)> {
    let branches = run.branches.iter().map(|b| (b.line, b.executed, b.divergent));
    let predicated = run.predicated.iter().map(|b| (b.line, b.executed, b.mixed));
    let mut found = BTreeMap::new();
    for (line, executed, divided) in branches.chain(predicated) {
        let at: &mut (u64, u64) = found.entry(line).or_default();
        *at = (at.0 + executed, at.1 + divided);
    }
    found
}

#[test]
fn a_predicated_branch_is_counted_as_the_branch_it_was() {
    let sized = |name: &str| (format!("programs/{name}"), constants(&[("n", 1536)]));
    let mut cases: Vec<(String, Overrides)> = programs("programs/small")
        .into_iter()
        .map(|path| (path.display().to_string(), Overrides::default()))
        .collect();
    for name in [
        "shared_halving",
        "shared_doubling",
        "even_odd",
        "even_odd_aligned",
        "reduce_shuffle",
        "reduce_unroll8",
    ] {
        cases.push(sized(&format!("cuda/{name}.ptx")));
    }
    for name in ["reduce_neighbored", "reduce_neighbored_less", "reduce_interleaved"] {
        cases.push(sized(&format!("{name}.ir")));
    }
    let (mut predicated, mut mixed) = (0, 0);
    for (path, overrides) in cases {
        let program = read(&path);
        for mode in MODES {
            let [hardware, written] = [Lowering::Hardware, Lowering::AsWritten].map(|lowering| {
                let spec = machine(mode.default_machine()).lowered(lowering);
                let (kernel, resolved) =
                    launch(&program, &overrides).unwrap_or_else(|e| panic!("{path}: {e}"));
                let options = options(mode, SideOrder::Taken, LIMIT);
                simulate(Job::new(&program, kernel, resolved, &spec, options.clone()), &())
                    .expect("a block that fits")
                    .run
            });
            assert!(written.predicated.is_empty(), "{path}: as written every branch is one");
            // Spinning depends on time, and on other work of the warp.
            if hardware.predicated.is_empty()
                || hardware.finish != Ending::Ok
                || path.contains("spin")
            {
                continue;
            }
            assert_eq!(
                divisions(&hardware),
                divisions(&written),
                "{path} {}: reached, divided",
                mode.name()
            );
            for branch in &hardware.predicated {
                let real = written
                    .branches
                    .iter()
                    .find(|b| b.line == branch.line)
                    .expect("the branch as written");
                assert_eq!(
                    branch.taken_lanes_average, real.taken_lanes_average,
                    "{path}:{}",
                    branch.line
                );
                assert_eq!(
                    branch.average_active_lanes, real.average_active_lanes,
                    "{path}:{}",
                    branch.line
                );
                mixed += branch.mixed;
            }
            predicated += hardware.predicated.len();
        }
    }
    assert!(
        predicated > 30 && mixed > 200,
        "only {predicated} branches were predicated, {mixed} times mixed"
    );
}

#[test]
fn predicated_branches_are_named_in_every_view() {
    let args = ["programs/cuda/even_odd.ptx", "--set", "n=1024"];
    let run = flat(&good(&[&["run"], &args[..]].concat()));
    assert!(
        run.contains("No divergent branch; 2 were predicated (lines 56, 80): as branches"),
        "{run}"
    );
    assert!(run.contains("Try `--lowering as-written`."), "{run}");
    let beside = good(&[&["run", "--annotate"], &args[..]].concat());
    let line = beside
        .lines()
        .find(|line| line.contains("if (i % 2 == 0)"))
        .expect("the line of the branch");
    assert!(line.contains(" p32 "), "{line}");
    let page = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("predicated.html");
    let page_name = page.display().to_string();
    good(&[&["run", "--quiet", "--html", &page_name], &args[..]].concat());
    let html = std::fs::read_to_string(&page).expect("a page");
    assert!(
        html.contains("2 were predicated (lines 56, 80)") && html.contains(">p32<"),
        "the HTML page"
    );
    let before = flat(&good(&[&["step", "--script", "16n"], &args[..]].concat()));
    assert!(before.contains("80 pred. @%p5 bra"), "{before}");
    let stepped = flat(&good(&[&["step", "--script", "18n"], &args[..]].concat()));
    assert!(
        stepped.contains("predicated branch of line 80: 16 would branch, 16 would fall through"),
        "{stepped}"
    );
    let none = flat(&good(&[&["step", "--script", "m"], &args[..]].concat()));
    assert!(none.contains("no divergent branch; 2 were predicated (lines 56, 80)"), "{none}");
    // Next to the branches as written.
    let both = good(&[&["compare"], &args[..], &["--lowering", "hardware,as-written"]].concat());
    let rows: Vec<&str> = both.lines().filter(|line| line.contains("even_odd.cu:27")).collect();
    assert!(rows.iter().any(|row| row.contains("p32") && row.contains(" 32")), "{both}");
    let same = flat(&good(&[&["compare"], &args[..], &["--set", "block=128,256"]].concat()));
    assert!(!same.contains("no divergent branch in either run; it"), "{same}");
    assert!(same.contains("2 were predicated (lines 56, 80)"), "{same}");
}

/// Joins a page's lines and columns.
fn flat(page: &str) -> String {
    page.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Both runs use one machine, so only the mode differs; if machines differ, the names show it.
#[test]
fn comparing_modes_compares_nothing_else() {
    let modes = [
        "compare",
        "programs/reduce_neighbored.ir",
        "--set",
        "n=4096",
        "--mode",
        "pre-volta,volta",
    ];
    let modes = flat(&good(&modes));
    for (letter, mode) in [("A", "pre-volta"), ("B", "volta")] {
        let title =
            format!("{letter} programs/reduce_neighbored.ir: reduceNeighbored, {mode} on h200");
        assert!(modes.contains(&title), "{modes}");
    }
    assert!(modes.contains("note: A: No h200 has pre-volta mode"), "{modes}");
    assert!(modes.contains("Compared with pre-volta, volta issues"), "{modes}");
    // One machine named for both modes is that machine in both.
    let named =
        ["compare", "programs/small/nested.ir", "--machine", "pascal", "--mode", "pre-volta,volta"];
    let named = flat(&good(&named));
    assert!(
        named.contains("pre-volta on pascal") && named.contains(", volta on pascal"),
        "{named}"
    );
    // Two machines of two modes: the difference is not only the mode's.
    let machines =
        ["compare", "programs/reduce_neighbored.ir", "--set", "n=4096", "--machine", "fermi,h200"];
    let machines = flat(&good(&machines));
    assert!(
        machines.contains("A: pre-volta on fermi") && machines.contains("B: volta on h200"),
        "{machines}"
    );
    assert!(
        machines.contains("Compared with pre-volta on fermi, volta on h200 issues"),
        "{machines}"
    );
    let programs = ["programs/reduce_neighbored.ir", "programs/reduce_interleaved.ir"];
    let both =
        good(&["compare", programs[0], programs[1], "--set", "n=4096", "--machine", "fermi,h200"]);
    assert!(both.contains("reduceInterleaved on h200"), "{both}");
    // A single run on a machine of the other mode is a mistake.
    refused(
        &["run", programs[0], "--machine", "h200", "--mode", "pre-volta"],
        &["contradicts", "--machine h200"],
    );
    // A sweep over the modes isolates them, too.
    let sweep = good(&[
        "sweep",
        "programs/small/paths_k.ir",
        "-P",
        "mode=pre-volta,volta",
        "-P",
        "k",
        "1",
        "2",
    ]);
    assert!(!sweep.contains("fermi"), "{sweep}");
}

/// No view shows an unfinished run as a result.
#[test]
fn a_run_that_did_not_end_says_so_in_every_view() {
    const HUNG: [&str; 3] = ["programs/small/spin_lock.ir", "--mode", "pre-volta"];
    let out = |name: &str| format!("{}/hung-{name}", env!("CARGO_TARGET_TMPDIR"));
    for short in ["--limit=3", "--limit=0"] {
        for lanes in [&[][..], &["--lanes"]] {
            let map = good(&[&["timeline", short], lanes, &HUNG[..]].concat());
            assert!(map.lines().take(4).any(|line| line.starts_with("LIVELOCK")), "{map}");
        }
    }
    let short = "--limit=3";
    for kind in
        ["timeline", "masks", "lanes", "stack", "schedule", "stalls", "ipc", "cfg", "roofline"]
    {
        let limit: &[&str] = if kind == "roofline" { &[] } else { &[short] };
        let svg = good(&[&["plot", kind], limit, &HUNG[..]].concat());
        assert!(svg.contains("LIVELOCK"), "{kind} {short} does not say that the run did not end");
    }
    for format in ["perfetto", "kanata", "trace"] {
        let text = good(&[&["export", format, short], &HUNG[..]].concat());
        assert!(text.contains("LIVELOCK"), "{format} {short}: {text}");
    }
    let both = ["programs/small/spin_lock.ir", "--mode", "pre-volta,volta"];
    let page = flat(&good(&[&["compare"], &both[..]].concat()));
    assert!(
        page.contains("pre-volta: livelock; volta: finished. An unfinished run has no result"),
        "{page}"
    );
    assert!(!page.contains("faster") && !page.contains("x the cycles"), "{page}");
    let svg = good(&[&["plot", "compare"], &both[..]].concat());
    assert!(svg.contains("A: LIVELOCK"), "the bars of a comparison");
    good(&[&["compare", "--html", &out("both.html")], &both[..]].concat());
    let html = std::fs::read_to_string(out("both.html")).expect("a page");
    assert!(html.contains("LIVELOCK"), "the page of a comparison");
    // Next to the source; the exit code shows it, too.
    let annotated = crate::cli::simt_sim(&[&["run", "--annotate"], &HUNG[..]].concat());
    let annotated = annotated.out;
    assert!(
        annotated.lines().nth(1).is_some_and(|line| line.starts_with("LIVELOCK")),
        "{annotated}"
    );
    // Figures alone: standard error shows it.
    for figures in [
        &[&["run", "--metrics", "ipc"], &HUNG[..]].concat(),
        &[&["timeline", "--format", "csv"], &HUNG[..]].concat(),
        &[&["plot", "ipc", "--format", "csv"], &HUNG[..]].concat(),
        &[&["plot", "roofline", "--format", "csv"], &HUNG[..]].concat(),
        &[&["plot", "cfg", "--format", "csv"], &HUNG[..]].concat(),
        &[&["plot", "compare", "--format", "csv"], &both[..]].concat(),
    ] {
        let ended = crate::cli::simt_sim(figures);
        assert!(
            ended.err.contains("LIVELOCK") && !ended.out.contains("LIVELOCK"),
            "{}: {}",
            ended.command,
            ended.err
        );
    }
    // A hanging point of a sweep is not on a line.
    let lines = out("sweep.jsonl");
    let sweep = [
        "sweep",
        "programs/small/spin_lock.ir",
        "-P",
        "mode=pre-volta,volta",
        "-P",
        "warp-size",
        "16",
        "32",
    ];
    let more = ["-D", "x2", "--results", &lines];
    let _ = std::fs::remove_file(&lines);
    crate::cli::simt_sim(&[&sweep[..], &more[..]].concat());
    let svg = good(&["plot", "sweep", &lines, "--y", "elapsed_cycles"]);
    assert!(svg.contains("2 unfinished omitted (2 livelock)"), "{svg}");
}

/// What lanes print stands beside the instruction that prints it, and first in a run's output.
#[test]
fn printed_text_stands_where_lanes_print_it() {
    let file = "programs/cuda/print_arms.ptx";
    let timeline = good(&["timeline", file, "--mode", "volta", "--width", "100"]);
    for text in [
        r#"lane 0 prints "block 0: lane 0 is even\n""#,
        r#"lane 3 prints "block 0: lane 3 is odd\n""#,
    ] {
        assert!(timeline.contains(text), "{timeline}");
    }
    // The lanes of an arm print together.
    let at = |text: &str| timeline.find(text).expect(text);
    let (even, odd) = (at("lane 0 prints"), at("lane 1 prints"));
    assert_eq!(at("lane 2 prints") > odd, even > odd, "{timeline}");
    for mode in ["pre-volta", "volta"] {
        let out = good(&["run", file, "--mode", mode]);
        for lane in 0..4 {
            let arm = if lane % 2 == 0 { "even" } else { "odd" };
            let line = format!("block 1: lane {lane} is {arm}\n");
            assert_eq!(out.matches(&line).count(), 1, "{mode}: {out}");
        }
    }
}
