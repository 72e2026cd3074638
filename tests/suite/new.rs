//! `simt-sim new`: its output passes check, run, grade and ask; refused calls leave nothing behind.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use super::cli::{good, refused};

/// Creates an empty folder for one test.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("new").join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("a folder");
    folder
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .expect("a folder")
        .flatten()
        .map(|e| e.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

fn exit(arguments: &[&str]) -> i32 {
    let mut command = Command::new(env!("CARGO_BIN_EXE_simt-sim"));
    command.args(arguments).output().expect("the binary starts").status.code().expect("no signal")
}

/// Returns true if a file passes the checks without findings, and runs in both modes with checks.
fn is_clean(file: &str) {
    assert!(good(&["check", file]).contains("0 errors, 0 warnings"), "{file}");
    for mode in ["pre-volta", "volta"] {
        good(&["check", "--run", "--mode", mode, file]);
        good(&["run", "--quiet", "--mode", mode, "--set", "n=77", file]);
    }
}

#[test]
fn a_new_program_runs_as_it_is() {
    for name in ["first", "my-first_kernel2", "ret", "ld"] {
        let folder = folder(name);
        let out = good(&["new", "program", name, "--dir", &folder.display().to_string()]);
        assert_eq!(names(&folder), [format!("{name}.ir")]);
        let file = folder.join(format!("{name}.ir"));
        let text = fs::read_to_string(&file).expect("a program");
        assert!(text.contains(&format!(".entry {}(", name.replace('-', "_"))), "{text}");
        assert!(["TITLE", "KERNEL", "FILE"].iter().all(|word| !text.contains(word)), "{text}");
        let file = file.display().to_string();
        is_clean(&file);
        for command in out.lines().filter_map(|line| line.trim().strip_prefix("simt-sim ")) {
            good(&command.split_whitespace().collect::<Vec<_>>());
        }
    }
}

#[test]
fn a_new_assignment_grades_and_asks_as_it_is() {
    let folder = folder("assignment");
    let out = good(&["new", "assignment", "last-steps", "--dir", &folder.display().to_string()]);
    assert_eq!(names(&folder), ["last-steps"]);
    let at = folder.join("last-steps");
    let made = [
        "assignment.ron",
        "reference.answers.ron",
        "reference.ir",
        "starter.ir",
        "statement.md",
        "wrong",
    ];
    assert_eq!(names(&at), made);
    for file in
        ["assignment.ron", "statement.md", "starter.ir", "reference.ir", "wrong/no_bounds.ir"]
    {
        let text = fs::read_to_string(at.join(file)).expect("a file");
        assert!(
            ["TITLE", "KERNEL", "FOLDER", "NAME"].iter().all(|word| !text.contains(word)),
            "{file}: {text}"
        );
        assert!(out.contains(file), "{out}");
    }
    let path = |file: &str| at.join(file).display().to_string();
    is_clean(&path("starter.ir"));
    is_clean(&path("reference.ir"));
    for (file, points, code) in
        [("reference.ir", 11.0, 0), ("starter.ir", 5.0, 1), ("wrong/no_bounds.ir", 0.0, 1)]
    {
        let mut command = Command::new(env!("CARGO_BIN_EXE_simt-sim"));
        let output = command
            .args(["grade", &at.display().to_string(), &path(file), "--format", "json"])
            .output();
        let output = output.expect("the binary starts");
        let json: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert_eq!(
            (json["score"].as_f64(), output.status.code()),
            (Some(points), Some(code)),
            "{file}: {json:#}"
        );
    }
    // 31 of the 32 different trip counts diverge, in each of 32 warps.
    let quiz = good(&["quiz", &at.display().to_string(), "--answers", "992"]);
    assert!(
        quiz.contains("1 of 1 right")
            && quiz.contains("divergent_branch of starter.ir, even on h200"),
        "{quiz}"
    );
}

#[test]
fn nothing_is_overwritten_and_nothing_is_left_half_done() {
    let folder = folder("refused");
    let dir = folder.display().to_string();
    good(&["new", "program", "mine", "--dir", &dir]);
    good(&["new", "assignment", "mine", "--dir", &dir]);
    let program = folder.join("mine.ir");
    fs::write(&program, "precious").expect("a file");
    fs::write(folder.join("mine/statement.md"), "precious").expect("a file");
    for kind in ["program", "assignment"] {
        refused(&["new", kind, "mine", "--dir", &dir], &["already exists", "choose another name"]);
    }
    for file in [program, folder.join("mine/statement.md")] {
        assert_eq!(fs::read_to_string(file).expect("a file"), "precious");
    }
    let long = "a".repeat(41);
    for name in [
        "",
        "Upper",
        "9lives",
        "-x",
        "a b",
        "../up",
        "a/b",
        "a.ir",
        "\u{e4}rger",
        "a\u{1b}[2J",
        "a\nb",
        &long,
    ] {
        for kind in ["program", "assignment"] {
            // Names with a leading dash are refused by clap.
            assert_eq!(exit(&["new", kind, "--dir", &dir, "--", name]), 2, "{kind} {name:?}");
        }
    }
    refused(
        &["new", "program", "fine", "--dir", &folder.join("nowhere").display().to_string()],
        &["is not a folder"],
    );
    refused(
        &["new", "assignment", "fine", "--dir", &folder.join("mine.ir").display().to_string()],
        &["is not a folder"],
    );
    // No name of the user's is in the way of the temporary folder.
    fs::create_dir(folder.join("fine.part")).expect("a folder");
    good(&["new", "assignment", "fine", "--dir", &dir]);
    assert_eq!(names(&folder), ["fine", "fine.part", "mine", "mine.ir"]);
}

#[cfg(unix)]
#[test]
fn a_link_that_leads_nowhere_is_not_written_through() {
    let folder = folder("links");
    std::os::unix::fs::symlink(folder.join("nowhere"), folder.join("mine.ir")).expect("a link");
    refused(
        &["new", "program", "mine", "--dir", &folder.display().to_string()],
        &["already exists"],
    );
    assert_eq!(names(&folder), ["mine.ir"]);
}
