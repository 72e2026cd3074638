//! The answers of `simt-sim ask`: each figure against a closed form, brute force, or an H200.

mod compiled;
mod figures;
mod waiting;

use std::collections::BTreeSet;

use simt_report::{Answer, Cell, Style, answer_text};
use simt_teach::ask::{self, experiments};

use crate::cli::{good, refused};

/// The answer to a question.
fn ask(name: &str) -> Answer {
    let experiment = ask::find(name).unwrap_or_else(|| panic!("no question `{name}`"));
    experiment.answer().unwrap_or_else(|e| panic!("{name}: {e}"))
}

fn cell<'a>(answer: &'a Answer, row: &str, column: &str) -> &'a Cell {
    answer.cell(row, column).unwrap_or_else(|| {
        panic!("{}: no figure `{row}` / `{column}`: {:#?}", answer.name, answer.tables)
    })
}

fn count(answer: &Answer, row: &str, column: &str) -> u64 {
    match cell(answer, row, column) {
        Cell::Count(n) => *n,
        other => panic!("{}: `{row}` / `{column}` is {other:?}", answer.name),
    }
}

fn real(answer: &Answer, row: &str, column: &str) -> f64 {
    match cell(answer, row, column) {
        Cell::Real(x) => *x,
        other => panic!("{}: `{row}` / `{column}` is {other:?}", answer.name),
    }
}

fn word<'a>(answer: &'a Answer, row: &str, column: &str) -> &'a str {
    match cell(answer, row, column) {
        Cell::Word(word) => word,
        other => panic!("{}: `{row}` / `{column}` is {other:?}", answer.name),
    }
}

/// Returns the counts of a row, in order of columns.
fn counts<const N: usize>(answer: &Answer, row: &str, columns: [&str; N]) -> [u64; N] {
    columns.map(|column| count(answer, row, column))
}

#[test]
fn every_question_has_an_answer_fit_to_print() {
    let names: BTreeSet<&str> = experiments().map(|e| e.name).collect();
    assert!(
        names.len() >= 20 && names.len() == experiments().count(),
        "names are unique: {names:?}"
    );
    for experiment in experiments() {
        let name = experiment.name;
        assert!(
            name.chars().all(|c| c.is_ascii_lowercase() || c == '-')
                && experiment.question.ends_with(['?', '.']),
            "{name}"
        );
        assert!(!experiment.programs.is_empty() && !experiment.sources.is_empty(), "{name}");
        let answer = ask(name);
        assert!(!answer.short.is_empty() && answer.short.len() < 200, "{name}: {}", answer.short);
        assert!(!answer.sentences.is_empty() && !answer.tables.is_empty(), "{name}");
        for table in &answer.tables {
            let widths: BTreeSet<usize> = table.rows.iter().map(|r| r.cells.len() + 1).collect();
            assert_eq!(widths, BTreeSet::from([table.columns.len()]), "{name}: {}", table.title);
        }
        for width in [72, 100] {
            for line in answer_text(&answer, Style { width, color: false }).lines() {
                assert!(
                    line.len() <= width || line.trim_start().starts_with("http"),
                    "{name}: {line}"
                );
            }
        }
        assert_eq!(answer, ask(name), "{name} gives the same answer every time");
    }
}

#[test]
fn the_committed_page_is_the_generated_one() {
    let page = ask::page().expect("answers");
    if std::env::var_os("BLESS").is_some_and(|v| v != "0") {
        std::fs::write("docs/reference/ask.md", &page).expect("docs/reference/ask.md is writable");
    }
    let committed = std::fs::read_to_string("docs/reference/ask.md").unwrap_or_default();
    assert!(
        committed == page,
        "docs/reference/ask.md is out of date; rewrite it with: BLESS=1 cargo test --test suite ask"
    );
}

#[test]
fn answers_come_as_json_as_well() {
    let answer = ask("trip-counts");
    let json: serde_json::Value =
        serde_json::from_str(&answer.to_json().expect("JSON")).expect("JSON");
    assert_eq!(json["schema"], "simt-sim/answer/1");
    assert_eq!(json["tables"][0]["rows"][1]["cells"][0], 31);
    let listed: serde_json::Value =
        serde_json::from_str(&ask::questions().to_json().expect("JSON")).expect("JSON");
    assert_eq!(listed["questions"].as_array().map(Vec::len), Some(experiments().count()));
    assert_eq!(ask::suggest("spin-lok"), Some("spin-lock"));
}

#[test]
fn words_find_questions() {
    let found = good(&["ask", "lock"]);
    assert!(found.contains(" questions match `lock`, best first"), "{found}");
    let first = found
        .lines()
        .find(|line| line.starts_with("  ") || line.contains("spin-lock"))
        .expect("a hit");
    assert!(first.contains("lock"), "{found}");
    let json: serde_json::Value =
        serde_json::from_str(&good(&["ask", "lock", "--format", "json"])).expect("JSON");
    let names: Vec<&str> = json["questions"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|question| question["name"].as_str())
        .collect();
    assert!(names.len() > 1 && names[0].contains("lock"), "{names:?}");
    // One hit opens the question, as its name does in any spelling.
    assert_eq!(good(&["ask", "trip", "counts"]), good(&["ask", "trip-counts"]));
    refused(&["ask", "lock", "--source"], &["`lock` matches", "choose one of"]);
    refused(&["ask", "spin-lok"], &["no question matches `spin-lok`", "did you mean `spin-lock`?"]);
}
