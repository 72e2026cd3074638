//! Programs and arguments that once got more than their limits, or were refused without a reason:
//! the binary on `tests/inputs`, each of which states its subject.

use std::fs;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use super::cli::{good, refused};

/// Writes a file for one test.
fn file(name: &str, content: &str) -> String {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("inputs");
    fs::create_dir_all(&folder).expect("a folder for temporary files");
    let path = folder.join(name);
    fs::write(&path, content).expect("a temporary file");
    path.display().to_string()
}

/// Exit code, standard output and standard error of a command with this standard input.
fn fed(arguments: &[&str], input: &[u8]) -> (i32, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_simt-sim"));
    command.args(arguments).env("COLUMNS", "100");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the binary starts");
    let _ = child.stdin.take().expect("an input").write_all(input); // it may not read all
    let ended = child.wait_with_output().expect("an end");
    let text = |bytes| String::from_utf8(bytes).expect("text");
    (ended.status.code().expect("no signal"), text(ended.stdout), text(ended.stderr))
}

#[test]
fn a_program_can_come_from_standard_input() {
    const PROGRAM: &str = "programs/small/diamond.ir";
    let text = fs::read(PROGRAM).expect("a program");
    for arguments in [
        &["run", "FILE"][..],
        &["run", "FILE", "--annotate"],
        &["run", "FILE", "--format", "json"],
        &["check", "FILE", "--run"],
        &["timeline", "FILE"],
        &["compare", "FILE", "--mode", "pre-volta,volta"],
        &["plot", "masks", "FILE"],
        &["export", "trace", "FILE"],
        &["cfg", "FILE"],
        &["print", "FILE"],
        &["sweep", "FILE", "-P", "mode=pre-volta,volta"],
        &["step", "FILE", "--script", "nn"],
        &["explain", "divergent_branch", "--run", "FILE"],
    ] {
        let with = |name: &'static str| -> Vec<&str> {
            arguments.iter().map(|&word| if word == "FILE" { name } else { word }).collect()
        };
        let (code, out, err) = fed(&with("-"), &text);
        assert_eq!((code, err.as_str()), (0, ""), "{arguments:?}");
        // The title of a screen has the name without its folders.
        let named =
            good(&with(PROGRAM)).replace(PROGRAM, "<stdin>").replace("diamond.ir", "<stdin>");
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        let same = if arguments[0] == "plot" {
            out.contains("stdin")
        } else {
            words(&out) == words(&named)
        };
        assert!(same, "{arguments:?}\n{out}\n{named}");
    }
    let (code, _, err) = fed(&["run", "-"], b".entry k() { ret }");
    assert!(code == 2 && err.contains("--> <stdin>:1:"), "{err}");
    let (code, _, err) = fed(&["check", "-"], b"\xff");
    assert!(
        code == 2
            && err.contains(
                "cannot read `<stdin>`: line 1, column 1 is not UTF-8 text; save it as UTF-8"
            ),
        "{err}"
    );
    let (code, _, err) = fed(&["run", "-"], &vec![b' '; (16 << 20) + 1]);
    assert!(
        code == 2 && err.contains("cannot read `<stdin>`: it has more than 16777216 bytes"),
        "{err}"
    );
}

#[test]
fn an_argument_of_another_spelling_gets_a_tip() {
    const PROGRAM: &str = "programs/small/diamond.ir";
    const ASSIGNMENT: &str = "programs/assignments/read-a-lane-map";
    for (arguments, tip) in [
        (&["timeline", PROGRAM, "--data", "csv"][..], "tip: write `--format csv`"),
        (&["plot", "ipc", PROGRAM, "--data=csv"], "tip: write `--format csv`"),
        (&["sweep", PROGRAM, "--data", "csv"], "tip: write `--format csv`"),
        (
            &["export", "csv", PROGRAM],
            "tip: write `simt-sim timeline FILE --warp all --format csv`",
        ),
        (
            &["grade", ASSIGNMENT, "--all", ".", "--csv", "x"],
            "tip: write `--all DIR --format csv --output FILE`",
        ),
        (&["grade", ASSIGNMENT, ".", "--out", "x"], "tip: write `--output FILE`"),
        (&["sweep", PROGRAM, "--out", "x"], "tip: write `--results FILE.jsonl`"),
        (&["sweep", PROGRAM, "-L", "mode", "volta"], "tip: write `-P NAME=VALUE,VALUE`"),
        (&["man", "--out", "x"], "tip: write `--dir DIR`"),
        (&["run", PROGRAM, "--format", "table"], "[possible values: text, json]"),
    ] {
        refused(arguments, &[tip]);
    }
    let file = format!("{}/figures.csv", env!("CARGO_TARGET_TMPDIR"));
    let figures = good(&["plot", "ipc", PROGRAM, "--format", "csv"]);
    assert_eq!(good(&["plot", "ipc", PROGRAM, "-o", &file]), "");
    assert_eq!(fs::read_to_string(file).expect("a file"), figures);
    refused(
        &["plot", "ipc", PROGRAM, "--format", "png"],
        &["--format png needs a file", "--output FILE.png"],
    );
    refused(
        &["plot", "ipc", PROGRAM, "--format", "csv", "-o", "a.svg"],
        &["contradicts the ending of `a.svg`"],
    );
}

/// A metric of a run.
fn metric(arguments: &[&str], name: &str) -> f64 {
    let out = good(&[arguments, &["--metrics", name]].concat());
    let value = out.split_whitespace().nth(1).and_then(|value| value.parse().ok());
    value.unwrap_or_else(|| panic!("{arguments:?}: {out}"))
}

#[test]
fn a_sleep_has_an_end() {
    let sleep =
        metric(&["run", "tests/inputs/long_sleep.ir", "--max-cycles", "10000000"], "cycles");
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
    let ended = Command::new(env!("CARGO_BIN_EXE_simt-sim"))
        .args(["run", program])
        .output()
        .expect("the binary starts");
    let out = String::from_utf8_lossy(&ended.stdout);
    assert_eq!(ended.status.code(), Some(5), "{out}");
    assert!(out.contains("a positive multiple of the warp size (32), found 16"), "{out}");
}

#[test]
fn numbers_of_the_command_line_say_what_they_can_be() {
    let program = "tests/inputs/long_sleep.ir";
    for (arguments, words) in [
        (
            ["run", program, "--max-cycles", "-1"],
            "'-1' for '--max-cycles <N>': expected a whole number from 0 to",
        ),
        (["run", program, "--jobs", "-1"], "'-1' for '--jobs <N>'"),
        (["run", program, "--warp-size", "-8"], "expected a whole number from 0 to 4294967295"),
        (["timeline", program, "--from", "-5"], "'-5' for '--from <CYCLE>'"),
        (["quiz", "branches", "--count", "-2"], "'-2' for '--count <N>'"),
    ] {
        refused(&arguments, &[words]);
    }
    good(&["run", program, "--max-cycles", "10_000_000", "-q"]);
}

#[test]
fn the_ends_of_a_slice_can_depend_on_the_index() {
    good(&["run", "tests/inputs/pairs.ir", "-q"]);
    let quick = ["run", "tests/inputs/long_slices.ir", "-q"];
    good(&quick);
}

/// `check` reports what `run` refuses, in the same words.
#[test]
fn a_launch_that_is_refused_does_not_pass_the_check() {
    let parameter =
        "//! grid = 1\n//! block = 32\n//! arg y = 1\n.visible .entry k(.param .u32 x) { ret; }\n";
    let buffer = "//! grid = 1\n//! block = 32\n//! arg x = nowhere\n.visible .entry k(.param .u64 x) { ret; }\n";
    let large =
        "//! grid = 1\n//! block = 1024\n.visible .entry k() { .shared .b8 s[300000]; ret; }\n";
    let kernel = "//! kernel l\n//! grid = 1\n//! block = 32\n.visible .entry k() { ret; }\n";
    let missing = "//! title nothing else\n.visible .entry k() { ret; }\n";
    for (name, text, code) in [
        ("parameter.ir", parameter, "error[unknown-argument]"),
        ("buffer.ir", buffer, "error[unknown-name]"),
        ("large.ir", large, "error[too-large]"),
        ("kernel.ir", kernel, "error[wrong-kernel]"),
        ("missing.ir", missing, "error[missing-directive]"),
    ] {
        let path = file(name, text);
        let run = |command: &[&str]| {
            let ended = Command::new(env!("CARGO_BIN_EXE_simt-sim"))
                .args(command)
                .output()
                .expect("the binary starts");
            (ended.status.code(), String::from_utf8_lossy(&ended.stderr).into_owned())
        };
        let (checked, said) = run(&["check", "-q", &path]);
        assert_eq!(checked, Some(2), "{name}: {said}");
        assert!(said.contains(code) && said.contains(" --> "), "{name}: {said}");
        assert_eq!(run(&["run", "-q", &path]).0, Some(2), "{name}");
    }
    let bare = file("bare.ir", ".visible .entry k() { ret; }\n");
    assert!(good(&["check", &bare]).contains("0 errors"));
}

/// Writes a program with a buffer of this type and content as an argument.
fn of_buffer(name: &str, buffer: &str) -> String {
    let text = format!("//! grid = 1\n//! block = 32\n//! buffer a: {buffer}\n//! arg a = a\n");
    file(name, &(text + ".visible .entry k(.param .u64 a) { ret; }\n"))
}

#[test]
fn memory_is_estimated_before_it_is_taken() {
    for (n, buffer, takes) in [
        (0, "u8[16 << 30] = random(1, 0..9)", "16 GiB"),
        (1, "u32[3 << 28] = iota", "3 GiB"),
        (2, "u32[1 << 29] = fill(1)\n//! expect a == i for i", "4 GiB"),
        (3, "f64[(1 << 28) + 1] = i for i", "2049 MiB"),
    ] {
        let path = of_buffer(&format!("memory{n}.ir"), buffer);
        refused(&["run", &path], &["too-large", takes, "limit 2 GiB", "--max-memory"]);
    }
    let little = of_buffer("little.ir", "u32[4] = iota");
    refused(&["run", &little, "--max-memory", "0"], &["need 16 bytes", "--max-memory 1"]);
    good(&["run", &little, "--max-memory", "1", "-q"]);
}

#[test]
#[cfg(target_os = "linux")]
fn only_regular_files_are_read_and_no_more_than_needed() {
    let folder = PathBuf::from(file("sparse.bin", "")).parent().expect("a folder").to_path_buf();
    let sparse =
        fs::OpenOptions::new().write(true).open(folder.join("sparse.bin")).expect("a file");
    sparse.set_len(20 << 30).expect("a sparse file");
    let pipe = folder.join("pipe").display().to_string();
    let _ = fs::remove_file(&pipe);
    assert!(Command::new("mkfifo").arg(&pipe).status().expect("mkfifo").success());
    let bytes = file("four.bin", "\u{1}\u{2}\u{3}\u{4}");
    for (n, name, words) in [
        (0, "/dev/zero", "it is not a regular file"),
        (1, "pipe", "it is not a regular file"),
        (2, "sparse.bin", "it has 21474836480 bytes; the elements take 4"),
        (3, "/proc/version", "found 0 in the file"),
        (4, ".", "it is not a regular file"),
    ] {
        refused(
            &["run", &of_buffer(&format!("file{n}.ir"), &format!("u32[1] = file(\"{name}\")"))],
            &[words],
        );
    }
    good(&[
        "run",
        &of_buffer("file.ir", &format!("u32[1] = file(\"{bytes}\")\n//! expect a == 0x04030201")),
        "-q",
    ]);
    for path in [pipe.as_str(), "/dev/zero"] {
        for arguments in [
            &["run", path][..],
            &["check", path],
            &["run", "tests/inputs/pairs.ir", "--machine", &pipe.replace("pipe", "pipe.ron")],
            &["sweep", "--merge", path],
        ] {
            refused(arguments, &["cannot read"]);
        }
    }
    let long = folder.join("long.ir");
    fs::File::create(&long).and_then(|file| file.set_len(60 << 20)).expect("a sparse file");
    refused(
        &["run", &long.display().to_string()],
        &["it has 62914560 bytes; the limit of a text is 16777216"],
    );
    for path in [long, folder.join("sparse.bin")] {
        let _ = fs::remove_file(path);
    }
}
