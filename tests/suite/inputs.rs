//! Programs and arguments that asked for more than they should get, and those that were refused without a reason: the
//! binary on `tests/inputs`, each of which says what it is about.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use super::cli::{good, refused};

/// A file for one test.
fn file(name: &str, content: &str) -> String {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("inputs");
    fs::create_dir_all(&folder).expect("a folder for temporary files");
    let path = folder.join(name);
    fs::write(&path, content).expect("a temporary file");
    path.display().to_string()
}

/// A metric of a run.
fn metric(arguments: &[&str], name: &str) -> f64 {
    let out = good(&[arguments, &["--metrics", name]].concat());
    let value = out.split_whitespace().nth(1).and_then(|value| value.parse().ok());
    value.unwrap_or_else(|| panic!("{arguments:?}: {out}"))
}

#[test]
fn a_sleep_has_an_end() {
    let sleep = metric(&["run", "tests/inputs/long_sleep.ir", "--max-cycles", "10000000"], "cycles");
    let clock = 1.98e9; // of the H200
    assert!((sleep / clock - 1e-3).abs() < 1e-5, "{sleep} cycles");
    good(&["run", "tests/inputs/backoff.ir", "--max-cycles", "100000000"]);
}

#[test]
fn barriers_count_in_warps_of_the_machine() {
    let program = "tests/inputs/barrier_of_eight.ir";
    for mode in ["pre-volta", "volta"] {
        good(&["run", program, "--machine", "teaching", "--mode", mode]);
    }
    let ended =
        Command::new(env!("CARGO_BIN_EXE_simt-sim")).args(["run", program]).output().expect("the binary starts");
    let out = String::from_utf8_lossy(&ended.stdout);
    assert_eq!(ended.status.code(), Some(5), "{out}");
    assert!(out.contains("a positive multiple of the warp size, 32; found 16"), "{out}");
}

#[test]
fn numbers_of_the_command_line_say_what_they_can_be() {
    let program = "tests/inputs/long_sleep.ir";
    for (arguments, words) in [
        (["run", program, "--max-cycles", "-1"], "'-1' for '--max-cycles <N>': expected a whole number from 0 to"),
        (["run", program, "--jobs", "-1"], "'-1' for '--jobs <N>'"),
        (["run", program, "--warp-size", "-8"], "expected a whole number from 0 to 4294967295"),
        (["timeline", program, "--from", "-5"], "'-5' for '--from <CYCLE>'"),
        (["quiz", "branches", "--count", "-2"], "'-2' for '--count <N>'"),
    ] {
        refused(&arguments, &[words]);
    }
    good(&["run", program, "--max-cycles", "10_000_000", "-q"]);
}
