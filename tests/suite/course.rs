//! The course: in each assignment of `programs/assignments`, the reference gets all points, the
//! starter does not, and each plausible wrong answer loses exactly the criteria named in its line
//! `// loses: ID, ..`. Results of a race depend on the schedule, so the line may continue with `;
//! perhaps ID, ..`.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use simt_teach::grade::{Assignment, Rule, Spec};

const COURSE: &str = "programs/assignments";

/// Returns the folders of the assignments, sorted.
fn folders() -> Vec<PathBuf> {
    let found = fs::read_dir(COURSE).expect("the course").flatten().map(|entry| entry.path());
    let mut folders: Vec<PathBuf> = found.filter(|path| path.is_dir()).collect();
    folders.sort();
    folders
}

fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn spec(folder: &Path) -> Spec {
    let read = |file: &str| fs::read_to_string(folder.join(file)).map_err(|e| e.to_string());
    let text = read("assignment.ron").unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    Assignment::load(&text, &read)
        .unwrap_or_else(|faults| panic!("{}: {faults}", folder.display()))
        .spec
}

/// Returns true if a wrong answer loses the criteria that it names.
fn as_said(path: &Path, lost: &BTreeSet<String>) -> bool {
    let text = fs::read_to_string(path).expect("a wrong answer");
    let line = text.lines().find_map(|line| line.strip_prefix("// loses: "));
    let line = line.unwrap_or_else(|| panic!("{}: say `// loses: ID, ..`", path.display()));
    let (surely, perhaps) = line.split_once("; perhaps ").unwrap_or((line, ""));
    let ids = |list: &str| list.split(", ").map(str::to_owned).collect::<BTreeSet<String>>();
    let (surely, perhaps) = (ids(surely), ids(perhaps));
    surely.is_subset(lost) && lost.difference(&surely).all(|id| perhaps.contains(id))
}

/// Copies the programs of an assignment and their answers into one folder, as a class's
/// submissions.
fn hand_in(folder: &Path, spec: &Spec) -> (PathBuf, Vec<PathBuf>) {
    let class = Path::new(env!("CARGO_TARGET_TMPDIR")).join("course").join(name(folder));
    let _ = fs::remove_dir_all(&class);
    fs::create_dir_all(&class).expect("a folder");
    let mut programs = vec![folder.join(&spec.reference), folder.join(&spec.starter)];
    let wrong = fs::read_dir(folder.join("wrong"))
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path());
    programs.extend(wrong.filter(|path| path.extension().is_some_and(|e| e == "ir")));
    for program in &programs {
        for file in [program.clone(), program.with_extension("answers.ron")] {
            if file.exists() {
                fs::copy(&file, class.join(name(&file))).expect("a copy");
            }
        }
    }
    (class, programs)
}

/// Returns the criteria with missing points.
fn lost(grade: &Value) -> BTreeSet<String> {
    let marks = grade["criteria"].as_array().expect("criteria").iter();
    let missing = marks.filter(|mark| mark["points"].as_f64() < mark["max"].as_f64());
    missing.map(|mark| mark["id"].as_str().expect("an id").to_owned()).collect()
}

/// Assignments that take a second or more to grade; a usual run leaves them out.
const SLOW: [&str; 3] = ["count-divergent-warps", "fix-the-reduction", "reduction-on-a-budget"];

fn quick() -> Vec<PathBuf> {
    let mut folders = folders();
    folders.retain(|folder| !SLOW.contains(&name(folder).as_str()));
    folders
}

#[test]
fn each_answer_gets_what_it_deserves() {
    deserves(&quick());
}

#[test]
#[ignore = "long: all assignments"]
fn long_each_answer_gets_what_it_deserves() {
    let folders = folders();
    assert!(folders.len() >= 9, "{folders:?}");
    let named = deserves(&folders);
    assert!(named > 0, "no statement names cycles of its starter");
}

/// Grades every answer. Returns the number of statements that name the cycles of their starter.
fn deserves(folders: &[PathBuf]) -> usize {
    let (mut wrong, mut named) = (Vec::new(), 0);
    for folder in folders {
        let spec = spec(folder);
        let (class, programs) = hand_in(folder, &spec);
        assert!(programs.len() >= 4, "{}: too few wrong answers", folder.display());
        let output = Command::new(env!("CARGO_BIN_EXE_simt-sim"))
            .args(["grade", "--format", "json", "--all"])
            .args([&class, folder])
            .output()
            .expect("the binary starts");
        let errors = String::from_utf8_lossy(&output.stderr);
        let grades: Value = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|e| panic!("{}: {e}\n{errors}", folder.display()));
        let grade = |program: &Path| {
            let of = |grade: &&Value| grade["submission"] == name(program).as_str();
            grades.as_array().and_then(|grades| grades.iter().find(of)).expect("a grade")
        };
        let statement = fs::read_to_string(folder.join(&spec.statement)).expect("a statement");
        if let Some(cycles) = cycles_named(&statement) {
            let board = &grade(&folder.join(&spec.starter))["leaderboard"];
            assert_eq!(
                board[0]["value"].as_f64(),
                Some(cycles),
                "{}: cycles of the starter",
                folder.display()
            );
            named += 1;
        }
        for program in &programs {
            let lost = lost(grade(program));
            let right = match name(program) {
                name if name == spec.reference => lost.is_empty(),
                name if name == spec.starter => !lost.is_empty(),
                _ => as_said(program, &lost),
            };
            if !right {
                wrong.push(format!("{} loses {lost:?}\n{:#}", program.display(), grade(program)));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    named
}

/// Returns the figure of `the starter takes 24,603 cycles`, if a statement has one.
fn cycles_named(statement: &str) -> Option<f64> {
    let (figure, _) = statement.split_once("the starter takes ")?.1.split_once(" cycles")?;
    figure.replace(',', "").parse().ok()
}

#[test]
fn statements_say_what_is_asked_and_what_it_is_worth() {
    let chapter = fs::read_to_string("docs/teaching.md").expect("the chapter on teaching");
    for folder in folders() {
        let (spec, at) = (spec(&folder), name(&folder));
        let statement = fs::read_to_string(folder.join(&spec.statement)).expect("a statement");
        assert!(
            statement.starts_with(&format!("# {}\n", spec.title)),
            "{at}: the title of the statement"
        );
        for words in [
            &spec.starter,
            &format!("simt-sim grade {at} kernel.ir"),
            &format!("`{}`", spec.kernel),
        ] {
            assert!(statement.contains(words), "{at}: the statement does not say {words}");
        }
        for choice in spec.choices.keys() {
            assert!(
                statement.contains(&format!("const {choice} = ")),
                "{at}: how to choose `{choice}`"
            );
        }
        for criterion in &spec.criteria {
            assert!(!criterion.hint.is_empty(), "{at}: `{}` has no hint", criterion.id);
            if let Rule::Question { text, .. } = &criterion.rule {
                assert!(
                    statement.contains(&format!("\"{}\": 0", criterion.id)),
                    "{at}: where `{}` goes",
                    criterion.id
                );
                assert!(text.ends_with(['?', '.', ')']), "{at}: {text}");
            }
        }
        // The points in headings such as `## Predict (6 points)` add up.
        let of =
            |line: &str| line.strip_suffix(" points)")?.rsplit_once('(')?.1.parse::<f64>().ok();
        let parts: Vec<f64> =
            statement.lines().filter(|line| line.starts_with("## ")).filter_map(of).collect();
        let all: f64 = spec.criteria.iter().map(|criterion| criterion.points).sum();
        assert!(
            parts.is_empty() || parts.iter().sum::<f64>() == all,
            "{at}: {parts:?} of {all} points"
        );
        assert!(chapter.contains(&format!("`{at}`")), "docs/teaching.md does not know {at}");
    }
}

#[test]
fn commands_of_statements_run() {
    run_commands(quick());
}

#[test]
#[ignore = "long: all assignments"]
fn long_commands_of_statements_run() {
    run_commands(folders());
}

fn run_commands(folders: Vec<PathBuf>) {
    for folder in folders {
        let (spec, at) = (spec(&folder), name(&folder));
        let desk = Path::new(env!("CARGO_TARGET_TMPDIR")).join("desk").join(&at);
        fs::create_dir_all(&desk).expect("a folder");
        for (file, of) in [(&*spec.starter, &spec.starter), ("kernel.ir", &spec.reference)] {
            fs::copy(folder.join(of), desk.join(file)).expect("a copy");
        }
        let statement = fs::read_to_string(folder.join(&spec.statement)).expect("a statement");
        for command in
            statement.lines().filter_map(|line| line.trim_start().strip_prefix("simt-sim "))
        {
            let words = command.split_whitespace();
            let output = Command::new(env!("CARGO_BIN_EXE_simt-sim"))
                .args(words)
                .current_dir(&desk)
                .output();
            let output = output.expect("the binary starts");
            let errors = String::from_utf8_lossy(&output.stderr);
            assert!(
                output.status.code().is_some_and(|code| code != 2),
                "{at}: simt-sim {command}\n{errors}"
            );
        }
    }
}
