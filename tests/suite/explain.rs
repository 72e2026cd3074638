//! The pages of `simt-sim explain`: they cover every code, metric, warp state and outcome, and are
//! true.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;

use simt_core::diag::codes;
use simt_core::launch::Overrides;
use simt_core::observe::{LaneState, Stall};
use simt_core::spec::Mode;
use simt_core::{Job, Program};
use simt_report::explain::{self, Example, Subject};
use simt_report::simulate;
use simt_report::{Run, metrics};

use super::support;

/// Returns the codes that a text raises, including those of its evaluated directives.
fn raised(text: &str) -> BTreeSet<&'static str> {
    let program = Program::parse("sample.ir", text);
    let mut findings = program.findings.clone();
    if let (true, Ok(kernel)) = (program.is_sound(), program.kernel(None)) {
        let launched = program
            .launch(kernel, &Overrides::default(), &|_, _| Err("there are no files".to_string()));
        findings.extend(launched.err().unwrap_or_default());
    }
    findings.iter().map(|f| f.code).collect()
}

#[test]
fn samples_raise_the_codes_that_they_show() {
    let mut wrong = Vec::new();
    for code in codes::all() {
        if let Some(file) = code.sample.file()
            && !raised(&file).contains(code.name)
        {
            wrong.push(format!("{}: its sample raises {:?}\n{file}", code.name, raised(&file)));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// Returns the strings of a source that become codes, judged by the text before them.
fn codes_in(source: &str) -> BTreeSet<String> {
    let makers = [
        "Diagnostic::error",
        "Diagnostic::warning",
        "LookupError::new",
        "unexpected",
        "unexpected_help",
        "command_line",
    ];
    let code = source.split("#[cfg(test)]").next().unwrap_or_default();
    let mut found = BTreeSet::new();
    for maker in makers {
        for (at, _) in code.match_indices(&format!("{maker}(")) {
            let after = code[at + maker.len() + 1..].trim_start();
            if let Some(rest) = after.strip_prefix('"') {
                found.insert(rest.split('"').next().unwrap_or_default().to_string());
            }
        }
    }
    found
}

fn sources(folder: &Path, into: &mut Vec<String>) {
    for path in fs::read_dir(folder).expect("a folder").flatten().map(|e| e.path()) {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() && name != "tests" {
            sources(&path, into);
        } else if name.ends_with(".rs") && name != "tests.rs" {
            into.push(fs::read_to_string(&path).expect("readable source"));
        }
    }
}

#[test]
fn every_code_is_registered_and_used() {
    let names: Vec<&str> = codes::all().map(|c| c.name).collect();
    assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len(), "a code stands twice");
    let mut texts = Vec::new();
    for folder in
        ["src", "crates/core/src", "crates/report/src", "crates/teach/src", "crates/gpu/src"]
    {
        sources(Path::new(folder), &mut texts);
    }
    let used: BTreeSet<String> = texts.iter().flat_map(|t| codes_in(t)).collect();
    assert!(used.len() > 80, "the codes of the sources were not found");
    let unknown: Vec<_> = used.iter().filter(|c| codes::find(c).is_none()).collect();
    assert!(
        unknown.is_empty(),
        "give these codes a row in crates/core/src/diag/codes: {unknown:?}"
    );
    let anywhere =
        |code: &str| texts.iter().filter(|t| t.contains(&format!("\"{code}\""))).count() > 1;
    let idle: Vec<_> = names.iter().filter(|c| !anywhere(c)).collect();
    assert!(idle.is_empty(), "no source finds these: {idle:?}");
}

#[test]
fn every_code_metric_state_and_outcome_has_its_page() {
    let mut names: Vec<String> = codes::all().map(|c| c.name.to_string()).collect();
    names.extend(metrics::all().iter().map(|m| m.name.to_string()));
    names.extend(metrics::all().iter().filter_map(|m| m.ncu).map(str::to_string));
    names.extend(Stall::ALL.iter().map(|s| s.name().to_string()));
    names.extend(LaneState::ALL.iter().map(|s| s.name().to_string()));
    names.extend(
        ["ok", "deadlock", "livelock", "cycle-limit", "fault", "no_warp", "launch", "selected"]
            .map(str::to_string),
    );
    names.extend((0..=7).map(|code: u8| code.to_string()));
    let missing: Vec<_> = names.iter().filter(|name| explain::find(name).is_none()).collect();
    assert!(missing.is_empty(), "without a page: {missing:?}");
}

#[test]
fn names_are_unique_and_pages_are_whole() {
    let mut names = BTreeSet::new();
    for page in explain::pages() {
        for name in std::iter::once(page.name).chain(page.aliases.iter().copied()) {
            assert!(
                names.insert(name.to_lowercase().replace(['-', ' '], "_")),
                "{name} stands for two pages"
            );
        }
        for (what, text) in [
            ("meaning", page.meaning.as_str()),
            ("formula", &page.formula),
            ("remedy", page.remedy),
        ] {
            assert!(!text.trim().is_empty(), "{}: no {what}", page.name);
        }
        for width in [72, 100] {
            let text = explain::page_text(&page, width);
            let typed = |line: &&str| {
                !line.contains("simt-sim ")
                    && matches!(
                        page.example,
                        Example::Run { .. } | Example::Command(_) | Example::None(_)
                    )
            };
            let long = text.lines().filter(typed).find(|line| line.chars().count() > width);
            assert_eq!(long, None, "{} at {width} columns", page.name);
        }
    }
}

/// Runs a bundled program; large ones with a small `n`.
fn run(program: &str) -> Run {
    let text = fs::read_to_string(program).unwrap_or_else(|e| panic!("{program}: {e}"));
    let parsed = Program::parse(program, &text);
    let mut overrides = Overrides::default();
    if text.contains("n = 1 << 24") {
        overrides.set.push(("n".to_string(), "16384".to_string()));
    }
    let (kernel, launch) =
        support::launch(&parsed, &overrides).unwrap_or_else(|e| panic!("{program}: {e}"));
    let spec = support::machine(Mode::Volta.default_machine());
    let options = support::options(Mode::Volta, spec.side_order(), 100_000_000);
    simulate::simulate(Job::new(&parsed, kernel, launch, &spec, options.clone()), &())
        .expect("it fits")
        .run
}

#[test]
fn examples_show_what_they_are_for() {
    let mut runs: BTreeMap<&str, Run> = BTreeMap::new();
    let mut wrong = Vec::new();
    for page in explain::pages() {
        let Example::Run { program, .. } = page.example else { continue };
        let run = runs.entry(program).or_insert_with(|| run(program));
        let shown = match page.subject {
            Subject::Metric(metric) => run.metric(metric.name).is_some(),
            Subject::State(stall) => {
                run.stalls.get(&stall.name()).is_some_and(|&cycles| cycles > 0)
            }
            _ => true,
        };
        if !shown {
            wrong.push(format!("{}: {program} does not show it", page.name));
        }
        if let Subject::Metric(metric) = page.subject
            && let Some(worked) = explain::worked(metric, run)
        {
            let filled = worked.filled(|v| format!("{:.12}", v.as_f64()));
            let (found, wanted) =
                (evaluate(&filled), run.metric(metric.name).map_or(f64::NAN, |v| v.as_f64()));
            let close = (found - wanted).abs() <= 1e-6 * wanted.abs(); // false for NaN
            if !close {
                wrong.push(format!("{}: {filled} is {found}, not {wanted}", metric.name));
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// Formulas with these operators must be filled in; the others describe counted events.
#[test]
fn every_formula_that_computes_is_filled_in() {
    let run = run("programs/small/shared_conflicts.ir");
    let mut computed = 0;
    for metric in
        metrics::all().iter().filter(|m| run.metric(m.name).is_some() && m.formula.contains(" / "))
    {
        assert!(explain::worked(metric, &run).is_some(), "{}: {}", metric.name, metric.formula);
        computed += 1;
    }
    assert!(computed > 30, "only {computed}");
}

/// Evaluates an expression of numbers, `+ - x /` and parentheses, independently of the formulas'
/// code.
fn evaluate(text: &str) -> f64 {
    let tokens: Vec<String> = text
        .replace('(', " ( ")
        .replace(')', " ) ")
        .split_whitespace()
        .map(str::to_string)
        .collect();
    let mut at = 0;
    let value = sum(&tokens, &mut at);
    assert_eq!(at, tokens.len(), "{text}");
    value
}

fn sum(tokens: &[String], at: &mut usize) -> f64 {
    let mut value = product(tokens, at);
    while let Some(sign @ ("+" | "-")) = tokens.get(*at).map(String::as_str) {
        *at += 1;
        let next = product(tokens, at);
        value += if sign == "+" { next } else { -next };
    }
    value
}

fn product(tokens: &[String], at: &mut usize) -> f64 {
    let mut value = atom(tokens, at);
    while let Some(sign @ ("x" | "/")) = tokens.get(*at).map(String::as_str) {
        *at += 1;
        let next = atom(tokens, at);
        value = if sign == "x" { value * next } else { value / next };
    }
    value
}

fn atom(tokens: &[String], at: &mut usize) -> f64 {
    let token = tokens[*at].as_str();
    *at += 1;
    if token != "(" {
        return token.parse().unwrap_or_else(|_| panic!("{token} in {tokens:?}"));
    }
    let value = sum(tokens, at);
    assert_eq!(tokens.get(*at).map(String::as_str), Some(")"));
    *at += 1;
    value
}

fn simt_sim(arguments: &[&str]) -> (i32, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_simt-sim"))
        .args(arguments)
        .env("COLUMNS", "100")
        .output()
        .expect("it runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code().unwrap_or(-1), text(&output.stdout), text(&output.stderr))
}

#[test]
fn commands_end_as_their_pages_say() {
    for page in explain::pages() {
        let Example::Command(command) = page.example else { continue };
        let arguments: Vec<&str> =
            command.strip_prefix("simt-sim ").expect("our binary").split_whitespace().collect();
        let (status, out, err) = simt_sim(&arguments);
        let wanted = match (page.subject, page.name) {
            (Subject::Exit, name) => name.trim_start_matches("exit-").parse().expect("a number"),
            (_, "deadlock" | "livelock") => 3,
            (_, "cycle-limit") => 4,
            (_, "fault") => 5,
            (Subject::Code(code), name) if code.stage == codes::Stage::Run => {
                // Warnings exit with 0, errors with 7, unless the run failed for the same reason.
                assert!([0, 3, 5, 7].contains(&status), "`{command}` ends with {status}");
                assert!(err.contains(&format!("[{name}]")), "`{command}` prints\n{out}{err}");
                status
            }
            _ => 0,
        };
        assert_eq!(status, wanted, "`{command}` prints\n{out}{err}");
    }
}

#[test]
fn exit_codes_are_those_of_the_help() {
    let (_, help, _) = simt_sim(&["--help"]);
    let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
    for (code, meaning) in explain::exit_codes() {
        let meaning = meaning.split([':', ',']).next().unwrap_or_default();
        assert!(help.contains(&format!("{code} {meaning}")), "{code} {meaning}");
    }
}

#[test]
fn a_page_is_printed_with_the_numbers_of_a_run() {
    let reduction = "programs/reduce_neighbored.ir";
    let arguments =
        ["--run", reduction, "--set", "n=512", "--mode", "pre-volta", "--lowering", "as-written"];
    // One block of 512, nine steps, 16 warps: 144 branches of the `if`, 95 of them divergent; 144
    // of the loop, and 16 around it.
    for (name, expected) in [
        ("branch_efficiency", "= 100 x (304 - 95) / 304"),
        ("divergent_branch", "divergent_branch = 95"),
        ("smsp__sass_branch_targets_threads_divergent.sum", "divergent_branch = 95"),
        ("long-scoreboard", "waited mainly in this state"),
        ("OK", "ended after"),
        ("unused-register", "has no finding with this code"),
    ] {
        let (status, out, err) = simt_sim(&[&["explain", name][..], &arguments].concat());
        assert_eq!((status, err.as_str()), (0, ""), "{name}");
        assert!(out.contains(expected), "{name} prints\n{out}");
    }
    let (status, out, _) =
        simt_sim(&["explain", "type-mismatch", "--run", "tests/bad/check/one_error_each.ir"]);
    assert!(status == 0 && out.contains("error[type-mismatch]"), "{out}");
}

#[test]
fn words_find_pages() {
    for (words, expected) in
        [(&["coalescing"][..], "gld_efficiency"), (&["scoreboard"], "long_scoreboard")]
    {
        let (status, out, err) = simt_sim(&[&["explain"], words].concat());
        assert_eq!((status, err.as_str()), (0, ""), "{words:?}");
        assert!(
            out.contains("best first") && out.contains(&format!("\n  {expected} ")),
            "{words:?}\n{out}"
        );
        assert!(out.lines().all(|line| line.chars().count() <= 100), "{out}");
    }
    assert_eq!(
        simt_sim(&["explain", "Long", "scoreboard"]).1,
        simt_sim(&["explain", "long_scoreboard"]).1
    );
    let (status, out, err) =
        simt_sim(&["explain", "scoreboard", "--run", "programs/small/diamond.ir"]);
    assert!(status == 2 && out.is_empty() && err.contains("choose one of"), "{err}");
}

#[test]
fn an_unknown_name_is_told_its_neighbours() {
    for (name, near) in
        [("branch_eficiency", "branch_efficiency"), ("unknown-labl", "unknown-label")]
    {
        let (status, out, err) = simt_sim(&["explain", name]);
        assert_eq!((status, out.as_str()), (2, ""));
        assert!(err.contains(near), "{name}: {err}");
    }
    let (status, _, err) = simt_sim(&["explain", "qqqq"]);
    assert!(status == 2 && err.contains("--list"), "{err}");
    let (_, _, err) = simt_sim(&["run", "tests/bad/check/unknown_names.ir"]);
    assert!(err.ends_with("Learn more with `simt-sim explain unknown-name`.\n"), "{err}");
}

/// `BLESS=1 cargo test --test suite explain` rewrites the page.
#[test]
fn the_page_of_the_documentation_is_up_to_date() {
    let path = "docs/reference/explain.md";
    if std::env::var_os("BLESS").is_some_and(|v| v != "0") {
        fs::write(path, explain::reference()).expect("a writable page");
    }
    let page = fs::read_to_string(path).unwrap_or_default().replace("\r\n", "\n");
    assert!(
        page == explain::reference(),
        "{path} is out of date: run `BLESS=1 cargo test --test suite explain`"
    );
}
