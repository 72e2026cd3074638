//! Reports of runs without a clock: what follows from time is absent, not zero.

use serde_json::Value;

use super::cli::simt_sim;

const PROGRAM: &str = "programs/reduce_neighbored.ir";
const SIZE: [&str; 2] = ["--set", "n=4096"];

/// Returns the JSON of a run.
fn json(timing: &str) -> Value {
    let [set, n] = SIZE;
    let run = simt_sim(&["run", PROGRAM, set, n, "--format", "json", "--timing", timing]);
    serde_json::from_str(&run.out).unwrap_or_else(|e| panic!("{e}: {}", run.err))
}

#[test]
fn json_has_no_key_of_time() {
    let (timed, off) = (json("cycles"), json("off"));
    assert_eq!((&timed["timing"], &off["timing"]), (&Value::Null, &Value::from("off")));
    for key in ["cycles", "stalls", "slots"] {
        assert!(timed.get(key).is_some() && off.get(key).is_none(), "{key}");
    }
    for key in ["stalled_cycles", "main_stall"] {
        let of = |run: &Value| run["instructions"][0].get(key).is_some();
        assert_eq!((of(&timed), of(&off)), (true, false), "{key}");
    }
    for key in ["l1_hits", "l2_hits", "dram_sectors"] {
        let of = |run: &Value| run["memory"][0].get(key).is_some();
        assert_eq!((of(&timed), of(&off)), (true, false), "{key}");
    }
    // What is there is the same.
    let metrics = off["metrics"].as_object().expect("metrics");
    assert!(metrics.len() > 30 && !metrics.contains_key("ipc"), "{metrics:?}");
    for (name, value) in metrics {
        assert_eq!(value, &timed["metrics"][name], "{name}");
    }
    for key in ["branches", "histogram", "expectations", "warps"] {
        assert_eq!(timed[key], off[key], "{key}");
    }
}

#[test]
fn text_has_no_section_of_time() {
    let [set, n] = SIZE;
    let run = simt_sim(&["run", PROGRAM, set, n, "--timing", "off"]);
    assert_eq!(run.code, 0, "{}", run.err);
    assert!(run.out.contains("Timing is off"), "{}", run.out);
    for word in ["Warp states", "Issue slots", "L1 hits", "gld_throughput", "ipc", " MHz"] {
        assert!(!run.out.contains(word), "{word}: {}", run.out);
    }
}

#[test]
fn what_needs_time_is_refused() {
    for option in [
        &["--metrics", "ipc"][..],
        &["--max-cycles", "9"],
        &["--schedule", "1"],
        &["--schedules", "1"],
        &["--plot", "ipc=x.svg"],
    ] {
        let run = simt_sim(&[&["run", PROGRAM, "--timing", "off"], option].concat());
        assert_eq!(run.code, 2, "{option:?}: {}", run.out);
        assert!(run.err.contains("needs time, and timing is off"), "{}", run.err);
    }
    let fits = ["run", PROGRAM, SIZE[0], SIZE[1], "--timing", "off", "--metrics", "inst_executed"];
    let run = simt_sim(&fits);
    assert_eq!(run.code, 0, "{}", run.err);
}

#[test]
fn checks_and_hangs_are_found_without_time() {
    let race = ["run", "programs/cuda/shared_doubling_race.ptx", "--checks", "--timing", "off"];
    assert_eq!(simt_sim(&race).code, 7);
    for (program, mode, code) in [
        ("programs/small/spin_lock.ir", "pre-volta", 3),
        ("programs/small/spin_lock.ir", "volta", 0),
        ("programs/small/barrier_one_arm.ir", "volta", 3),
    ] {
        let run = |timing| simt_sim(&["run", program, "--mode", mode, "--timing", timing, "-q"]);
        assert_eq!((run("cycles").code, run("off").code), (code, code), "{program} {mode}");
    }
}
