//! No user input makes the simulator panic, hang, or violate an invariant of the fuzz targets:
//! their bodies (`fuzz/src`) run on kept inputs and edits of them, the same ones in every run. See
//! docs/fuzzing.md.

mod campaign;
#[expect(unreachable_pub, reason = "it is the library of the fuzz targets as well")]
#[path = "../../fuzz/src/lib.rs"]
mod fuzz;
mod limits;

use std::fs;
use std::panic::catch_unwind;
use std::path::PathBuf;

use proptest::array::uniform3;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::{TestCaseError, TestRunner};

use super::generated::any_program;
use super::support;
use fuzz::edit::{Edit, edited};

/// Folders of programs, sound and not.
const PROGRAMS: &[&str] = &[
    "programs",
    "tests/bad",
    "tests/calls",
    "tests/hostile",
    "tests/races",
    "tests/regressions",
    "fuzz/seeds",
];
/// Longer inputs are replayed, but not edited: most edits would be far apart.
const MOST_CHANGED: usize = 8 << 10;

/// Returns the kept inputs of a target: folders and file extensions.
fn kept(target: &str) -> Vec<PathBuf> {
    let (folders, endings): (&[&str], &[&str]) = match target {
        "answers" => (&["fuzz/seeds/answers"], &["ron"]),
        "arguments" => (&["fuzz/seeds/arguments"], &["txt"]),
        "assignment" => (&["fuzz/seeds/assignment", "programs/assignments"], &["ron"]),
        "machine" => (&["isa/machines", "fuzz/seeds/machine"], &["ron"]),
        "records" => (
            &["crates/gpu/observations", "tests/observations", "fuzz/seeds/records"],
            &["ron", "csv", "jsonl"],
        ),
        _ => (PROGRAMS, &["ir", "ptx"]),
    };
    let files: Vec<PathBuf> =
        folders.iter().flat_map(|folder| support::files(folder, endings)).collect();
    assert!(!files.is_empty(), "no inputs for `{target}`");
    files
}

fn body(target: &str) -> fn(&[u8]) {
    let found = fuzz::TARGETS.iter().find(|(name, _)| *name == target);
    found.unwrap_or_else(|| panic!("no target `{target}`")).1
}

#[test]
#[ignore = "long: every kept input"]
fn long_kept_inputs_break_no_promise() {
    let mut broken = Vec::new();
    for (target, body) in fuzz::TARGETS {
        for path in kept(target) {
            let input = fs::read(&path).expect("a readable file");
            if catch_unwind(|| body(&input)).is_err() {
                broken.push(format!("{target} {}", path.display()));
            }
        }
    }
    assert!(broken.is_empty(), "\n{}", broken.join("\n"));
}

#[test]
fn every_target_can_be_fuzzed() {
    let manifest = fs::read_to_string("fuzz/Cargo.toml").expect("the manifest of the targets");
    for (target, _) in fuzz::TARGETS {
        assert!(
            manifest.contains(&format!("name = \"{target}\"")),
            "fuzz/Cargo.toml has no `{target}`"
        );
        let text = fs::read_to_string(format!("fuzz/fuzz_targets/{target}.rs")).expect("a target");
        assert!(
            text.contains(&format!("simt_sim_fuzz::{target}(data)")),
            "{target} runs another body"
        );
    }
    assert!(fuzz::edit::dictionary().len() > 100, "the dictionary cannot be read");
}

/// Runs a body on `cases` inputs.
fn hold<S: Strategy>(
    cases: u32,
    strategy: S,
    body: fn(&[u8]),
    text_of: impl Fn(S::Value) -> String,
) {
    let result = TestRunner::new(support::cases(cases)).run(&strategy, |case| {
        let text = text_of(case);
        catch_unwind(|| body(text.as_bytes()))
            .map_err(|_| TestCaseError::fail(format!("broken by this text:\n{text}")))
    });
    if let Err(failure) = result {
        panic!("{failure}");
    }
}

/// Tests a target on edits of its inputs.
fn changed(target: &str, cases: u32) {
    let read = |path: PathBuf| {
        String::from_utf8_lossy(&fs::read(path).expect("a readable file")).into_owned()
    };
    let texts: Vec<String> =
        kept(target).into_iter().map(read).filter(|text| text.len() <= MOST_CHANGED).collect();
    let edits = vec(uniform3(any::<u32>()), 1..5);
    hold(cases, (0..texts.len(), edits, 0..texts.len()), body(target), |(one, edits, other)| {
        edits.into_iter().fold(texts[one].clone(), |text, drawn| {
            edited(&text, &texts[other], &Edit::drawn(drawn))
        })
    });
}

#[test]
fn changed_answers() {
    changed("answers", 400);
}

#[test]
fn changed_arguments() {
    changed("arguments", 1500);
}

#[test]
fn changed_assignments() {
    changed("assignment", 800);
}

#[test]
fn changed_texts_are_checked() {
    changed("check", 600);
}

#[test]
fn changed_machines() {
    changed("machine", 800);
}

#[test]
fn changed_records() {
    changed("records", 800);
}

#[test]
fn changed_programs_run() {
    changed("run", 1000);
}

#[test]
fn changed_submissions() {
    changed("submission", 600);
}

#[test]
fn changed_texts_are_parsed() {
    changed("text", 500);
}

/// How many changes of each target a long run tries.
const MANY: [(&str, u32); 9] = [
    ("answers", 1500),
    ("arguments", 5000),
    ("assignment", 3000),
    ("check", 3000),
    ("machine", 3000),
    ("records", 3000),
    ("run", 5000),
    ("submission", 2500),
    ("text", 3000),
];

#[test]
#[ignore = "long: 29,000 changes"]
fn long_changed_inputs() {
    for (target, cases) in MANY {
        changed(target, cases);
    }
}

#[test]
fn changed_kernels_run() {
    changed_kernels(200);
}

#[test]
#[ignore = "long: 1,000 programs"]
fn long_changed_kernels_run() {
    changed_kernels(1000);
}

fn changed_kernels(cases: u32) {
    let gentle =
        vec((any::<u32>(), any::<u32>()).prop_map(|(at, from)| Edit::Vary(at, from)), 1..4);
    hold(cases, (any_program(), gentle), body("run"), |(program, edits)| {
        let text = program.print();
        let (directives, kernel) = text.split_at(text.find(".visible").unwrap_or(0));
        directives.to_string()
            + &edits.iter().fold(kernel.to_string(), |text, edit| edited(&text, "", edit))
    });
}
