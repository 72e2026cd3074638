//! `simt-sim sweep`: equal to single runs, in every order and number of shards, and without losses.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

use crate::cli::{good, refused};

const PATHS: &str = "programs/small/paths_k.ir";
const REDUCTION: &str = "programs/reduce_interleaved.ir";

/// Returns the path of a file that does not exist yet.
fn fresh(name: &str) -> String {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("sweep");
    fs::create_dir_all(&folder).expect("a folder for temporary files");
    let path = folder.join(name).display().to_string();
    let _ = fs::remove_file(&path);
    path
}

fn read(path: &str) -> String {
    fs::read_to_string(path).unwrap_or_else(|e| panic!("{path}: {e}"))
}

/// Returns exit code, standard output and standard error.
fn ended(arguments: &[&str]) -> (i32, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_simt-sim"))
        .args(arguments)
        .output()
        .expect("the binary starts");
    let text = |bytes| String::from_utf8(bytes).expect("output is UTF-8");
    (output.status.code().expect("no signal"), text(output.stdout), text(output.stderr))
}

#[test]
fn every_point_has_the_figures_of_its_own_run() {
    // A machine with both modes allows a single run of a point.
    let machine = ["--machine", "teaching", "--set", "block=128"];
    let modes = ["-P", "mode=pre-volta,volta"];
    let sweep =
        [&["sweep", REDUCTION, "-P", "n", "1024", "4096", "-D", "x2"], &modes[..], &machine[..]]
            .concat();
    let metrics = "elapsed_cycles,divergent_branch,gld_transactions";
    let csv = good(&[&sweep[..], &["--metrics", metrics, "--format", "csv"]].concat());
    let rows: Vec<Vec<&str>> = csv.lines().skip(1).map(|line| line.split(',').collect()).collect();
    let points: Vec<(&str, &str)> = rows.iter().map(|row| (row[0], row[1])).collect();
    let modes = |n| [(n, "pre-volta"), (n, "volta")];
    assert_eq!(points, [modes("1024"), modes("2048"), modes("4096")].concat());
    for row in &rows {
        let set = format!("n={}", row[0]);
        let run = ["run", REDUCTION, "--mode", row[1], "--set", &set, "--metrics", metrics];
        let run = good(&[&run[..], &machine[..]].concat());
        let figures: Vec<&str> =
            run.lines().map(|line| line.split(' ').nth(1).expect("a value")).collect();
        assert_eq!((row[2], &row[3..]), ("ok", &figures[..]), "{row:?}");
    }
}

#[test]
fn a_sweep_of_counts_equals_one_with_a_clock() {
    let sweep = ["sweep", REDUCTION, "-P", "n", "1024", "4096", "-D", "x2", "-P"];
    let metrics = ["mode=pre-volta,volta", "--format", "csv", "--metrics"];
    let counts = "inst_executed,divergent_branch,gld_transactions,inst_executed_barriers";
    let sweep = [&sweep[..], &metrics[..], &[counts]].concat();
    let timed = good(&[&sweep[..], &["--timing", "cycles"]].concat());
    assert_eq!(good(&sweep), timed);
    assert_eq!(timed.lines().count(), 7, "{timed}");
}

#[test]
fn a_constant_goes_before_an_option_of_its_name() {
    let sweep =
        ["sweep", REDUCTION, "--set", "n=1024", "--metrics", "divergent_branch", "--format", "csv"];
    // One mixed warp in each of the last five steps of a block; as an option, `block` would leave
    // the buffers as they were.
    assert_eq!(
        good(&[&sweep[..], &["-P", "block=128,256"]].concat()).lines().skip(1).collect::<Vec<_>>(),
        ["128,ok,40", "256,ok,20"]
    );
}

#[test]
fn a_sweep_goes_on_where_it_was_stopped() {
    let (whole, again) = (fresh("whole.jsonl"), fresh("again.jsonl"));
    let sweep = |out: &str, jobs: &str, last: &str| {
        ended(&[
            "sweep",
            PATHS,
            "-P",
            "k",
            "1",
            last,
            "-P",
            "mode=volta,pre-volta",
            "--results",
            out,
            "--jobs",
            jobs,
        ])
    };
    let (code, table, notes) = sweep(&whole, "1", "5");
    assert_eq!((code, notes.as_str()), (0, ""));
    let text = read(&whole);
    assert_eq!(text.lines().count(), 10);

    // The writer died after two points, with a third half written, including its last character.
    let piece: usize = text.lines().take(2).map(|line| line.len() + 1).sum();
    fs::write(&again, [&text.as_bytes()[..piece + 90], &[0xe2, 0x82]].concat()).expect("a file");
    let (code, resumed, notes) = sweep(&again, "3", "5");
    assert_eq!((code, &resumed), (0, &table));
    assert!(notes.contains("half written") && notes.contains("2 of 10 points are done"), "{notes}");
    assert_eq!(read(&again), text, "the same bytes, whatever the order of the runs");

    // Finished points stay, byte by byte; only the others run.
    let marked = text.replacen("\"elapsed_cycles\":", "\"elapsed_cycles\":99", 1);
    fs::write(&again, &marked).expect("a file");
    let (_, _, notes) = sweep(&again, "2", "6");
    assert!(notes.contains("10 of 12 points are done"), "{notes}");
    let longer = read(&again);
    assert!(
        marked.lines().all(|line| longer.lines().any(|l| l == line))
            && longer.lines().count() == 12
    );
}

#[test]
fn shards_together_are_the_whole() {
    let (whole, merged) = (fresh("all.jsonl"), fresh("merged.jsonl"));
    let sweep = ["sweep", PATHS, "-P", "k", "1", "8", "-P", "lowering=as-written,hardware"];
    let table = good(&[&sweep[..], &["--results", &whole]].concat());
    let parts = ["1/3", "2/3", "3/3"].map(|shard| {
        let part = fresh(&format!("part{}.jsonl", &shard[..1]));
        good(&[&sweep[..], &["--shard", shard, "--results", &part]].concat());
        part
    });
    let lines: usize = parts.iter().map(|part| read(part).lines().count()).sum();
    assert_eq!(lines, 16);
    let [one, two, three] = &parts;
    assert_eq!(good(&["sweep", "--merge", three, one, two, one, "--results", &merged]), table);
    assert_eq!(read(&merged), read(&whole));
    let other = fresh("other.jsonl");
    fs::write(&other, read(one).replacen("\"elapsed_cycles\":", "\"elapsed_cycles\":1", 1))
        .expect("a file");
    refused(&["sweep", "--merge", one, &other], &["other.jsonl", "k=1", "differ"]);
    refused(&["sweep", "--merge", "nowhere.jsonl"], &["nowhere.jsonl"]);
}

#[test]
fn a_point_that_fails_costs_no_other() {
    let out = fresh("failing.jsonl");
    let machines = ["-P", "machine=fermi,h200,abacus", "-P", "mode=pre-volta,volta"];
    let (code, csv, notes) =
        ended(&[&["sweep", PATHS, "--results", &out, "--format", "csv"][..], &machines].concat());
    assert_eq!(code, 2, "{notes}");
    let results: Vec<String> =
        csv.lines().skip(1).map(|l| l.split(',').take(3).collect::<Vec<_>>().join(" ")).collect();
    let expected =
        ["fermi pre-volta ok", "fermi volta error", "h200 pre-volta error", "h200 volta ok"];
    assert_eq!(
        results,
        [&expected[..], &["abacus pre-volta error", "abacus volta error"]].concat()
    );
    assert!(notes.contains("there is no machine `abacus`") && !notes.contains('\x1b'), "{notes}");
    let records: Vec<Value> =
        read(&out).lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(records.iter().filter(|record| record["finish"] == "ok").count(), 2);
    assert!(records.iter().all(|record| record["schema"] == "simt-sim/sweep/1"));
    // A program that hangs in one mode is a result, not an error, and decides the exit code.
    let lock = ["sweep", "programs/small/spin_lock.ir", "-P", "mode=volta,pre-volta"];
    let (code, table, notes) = ended(&lock);
    assert_eq!(code, 3, "{notes}");
    assert!(
        table.contains("livelock") && notes.starts_with("mode=pre-volta: livelock: "),
        "{table}{notes}"
    );
}

#[test]
fn results_of_another_text_are_neither_mixed_in_nor_lost() {
    let (program, out) = (fresh("program.ir"), fresh("stale.jsonl"));
    let text = read(PATHS);
    let sweep = ["sweep", &program, "-P", "k=2,4", "--results", &out];
    fs::write(&program, &text).expect("a program");
    good(&sweep);
    let before = read(&out);
    fs::write(&program, format!("{text}\n// changed\n")).expect("a program");
    refused(&sweep, &["stale.jsonl has 2 of these points", "--replace"]);
    refused(&[&sweep[..], &["--max-cycles", "1000000"]].concat(), &["2 of these points"]);
    assert_eq!(read(&out), before);
    good(&[&sweep[..], &["--replace"]].concat());
    let after = read(&out);
    assert!(after != before && after.lines().count() == 2);
    fs::write(&out, format!("no result\n{after}")).expect("a file");
    refused(&sweep, &["stale.jsonl: line 1"]);
}

#[test]
fn lines_are_drawn_of_runs_and_of_files() {
    let (out, svg, again) = (fresh("drawn.jsonl"), fresh("drawn.svg"), fresh("again.svg"));
    let sweep = ["sweep", PATHS, "-P", "k", "1", "8", "-D", "x2", "-P", "mode=pre-volta,volta"];
    let metrics = ["--metrics", "warp_execution_efficiency"];
    good(&[&sweep[..], &metrics, &["--results", &out, "--plot", &svg]].concat());
    let picture = read(&svg);
    for text in ["warp_execution_efficiency over k", "mode=volta", "mode=pre-volta", "8 runs."] {
        assert!(picture.contains(text), "{text}");
    }
    good(&[&["sweep", "--merge", &out, "--plot", &again, "--x", "k"][..], &metrics].concat());
    assert_eq!(read(&again), picture);
    let none =
        [&["sweep", "--merge", &out, "--plot", &again, "--x", "mode"][..], &metrics].concat();
    let (code, _, notes) = ended(&none);
    assert_eq!((code, notes.contains("nothing to draw over `mode`")), (2, true), "{notes}");
}

#[test]
fn what_cannot_be_swept_is_said_before_anything_runs() {
    for (arguments, words) in [
        (vec![], vec!["nothing is swept", "-P n"]),
        (vec!["-P", "k", "8", "1"], vec!["k goes from 8 to 1"]),
        (vec!["-P", "k", "one", "8"], vec!["expected a whole number, found `one`"]),
        (vec!["-P", "k", "0", "8", "-D", "x2"], vec!["k starts at 0"]),
        (vec!["-P", "k", "1", "8", "-D", "0"], vec!["invalid step `0`"]),
        (vec!["-P", "k", "1", "9999999"], vec!["more than 1000000 points"]),
        (vec!["-P", "kk", "1", "8"], vec!["has no `kk` to sweep", "did you mean `k`?"]),
        (vec!["-P", "k=1", "-P", "k", "1", "2"], vec!["k is swept twice"]),
        (vec!["-P", "k=1,2", "--set", "k=3"], vec!["`k` is swept"]),
        (vec!["-P", "mode=volta,turing"], vec!["mode turing", "pre-volta, volta"]),
        (vec!["-P", "warp-size=16,64"], vec!["warp-size 64"]),
        (vec!["-P", "k=,"], vec!["k has no value"]),
        (vec!["-P", "k=1", "--shard", "9/8"], vec!["invalid shard `9/8`"]),
        (vec!["-P", "k=1", "--metrics", "cycles_elapsed"], vec!["unknown metric `cycles_elapsed`"]),
        (vec!["-P", "k=1", "--results", "nowhere/at/all.jsonl"], vec!["nowhere/at/all.jsonl"]),
        (vec!["-P", "k=1", "--plot", "out.gif"], vec!["out.gif", ".svg"]),
    ] {
        refused(&[&["sweep", PATHS][..], &arguments].concat(), &words);
    }
}

#[test]
fn fields_of_the_machine_file_can_be_swept() {
    let out = fresh("fields.jsonl");
    let sweep = [
        "sweep",
        REDUCTION,
        "--set",
        "n=4096",
        "--format",
        "csv",
        "--metrics",
        "gld_transactions,cycles",
    ];
    let fields = [
        "-P",
        "machine.l1.bytes=16384,32768",
        "-P",
        "machine.dram_latency",
        "634",
        "2000",
        "-D",
        "x2",
    ];
    let csv = good(&[&sweep[..], &fields, &["--results", &out]].concat());
    let rows: Vec<Vec<&str>> = csv.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(rows[0][..3], ["machine.dram_latency", "machine.l1.bytes", "result"], "{csv}");
    let points: Vec<_> = rows[1..].iter().map(|row| (row[0], row[1], row[2])).collect();
    let of = |latency| [(latency, "16384", "ok"), (latency, "32768", "ok")];
    assert_eq!(points, [of("634"), of("1268")].concat());
    // Latency costs time; the same machine file, changed by hand, gives the same figures.
    let cycles = |row: usize| rows[row][4].parse::<u64>().expect("cycles");
    assert!(cycles(3) > cycles(1), "{csv}");
    let text = good(&["machine", "h200"]).replacen("l1: (bytes: 262144", "l1: (bytes: 16384", 1);
    let text = text.replacen("dram_latency: 634", "dram_latency: 1268", 1);
    let file = fresh("changed.ron");
    fs::write(&file, text).expect("a file");
    let single =
        good(&["run", REDUCTION, "--set", "n=4096", "--machine", &file, "--metrics", "cycles"]);
    assert_eq!(single.split(' ').nth(1), Some(rows[3][4]), "{single}");
    let record: Value =
        serde_json::from_str(read(&out).lines().next().expect("a line")).expect("JSON");
    assert_eq!(record["point"]["machine.l1.bytes"], 16384);

    for (values, words) in [
        ("machine.l1.bites=1", &["no field `l1.bites`", "did you mean `machine.l1.bytes`?"][..]),
        ("machine.bytes=1", &["ambiguous", "`machine.memory.l1.bytes`, `machine.memory.l2.bytes`"]),
        ("machine.l1.bytes=16384,7", &["error[bad-machine]: expected 1 to 1024 ways", "h200.ron:"]),
        ("machine.warp_size=many", &["error[bad-machine]", "h200.ron:"]),
        ("mashine.l1.bytes=1", &["has no `mashine.l1.bytes` to sweep"]),
    ] {
        refused(&["sweep", PATHS, "-P", values], words);
    }
    let twice =
        ["sweep", PATHS, "-P", "machine.l1.bytes=16384", "-P", "machine.memory.l1.bytes=16384"];
    refused(&twice, &["swept twice"]);
}
