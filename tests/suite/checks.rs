//! Findings of the checks in incorrect programs (`tests/races`, each of which names the expected
//! findings and lines), and their silence on correct ones.
//!
//! The oracle for races compares every pair of accesses of a random trace by the definition of
//! happens-before; it is next to the method: `src/checks/tests.rs`.

use std::collections::BTreeSet;
use std::fs;

use proptest::test_runner::{TestCaseError, TestRunner};
use simt_core::checks::Checks;
use simt_core::diag::{Diagnostic, line_column};
use simt_core::launch::Overrides;
use simt_core::machine::{Finish, Options, Timing};
use simt_core::spec::Mode;
use simt_core::{Job, Program};
use simt_report::simulate::{self, CheckedSimulation};

use super::{generated, support};

const MAX_CYCLES: u64 = 20_000_000;

/// Runs a text with all checks, on the mode's default machine.
fn checked(name: &str, text: &str, mode: Mode) -> Result<CheckedSimulation, String> {
    checked_at(name, text, mode, Timing::Cycles)
}

fn checked_at(
    name: &str,
    text: &str,
    mode: Mode,
    timing: Timing,
) -> Result<CheckedSimulation, String> {
    let program = Program::parse(name, text);
    let mut overrides = Overrides::default();
    if text.contains("const  n = 1 << 2") || text.contains("const n = 1 << 2") {
        overrides.set.push(("n".to_string(), "1 << 12".to_string()));
    }
    let (kernel, launch) = support::launch(&program, &overrides)?;
    let spec = support::machine(mode.default_machine());
    let options = support::options(mode, spec.side_order(), MAX_CYCLES);
    let options = Options { timing, ..options };
    simulate::simulate_checked(
        Job::new(&program, kernel, launch, &spec, options.clone()),
        &(),
        Checks::ALL,
    )
    .map_err(|e| e.to_string())
}

/// Formats a finding as `race-shared 12 15`: the code and its lines, ascending; a line with both
/// accesses counts twice.
fn brief(finding: &Diagnostic, text: &str) -> String {
    let mut lines: Vec<u32> =
        finding.labels.iter().map(|l| line_column(text, l.span.start).0).collect();
    lines.sort_unstable();
    lines.iter().fold(finding.code.to_string(), |all, line| format!("{all} {line}"))
}

#[test]
fn what_is_wrong_is_found_on_its_lines() {
    let programs = support::programs("tests/races");
    assert!(programs.len() > 20, "tests/races holds {} programs", programs.len());
    let mut wrong = Vec::new();
    for path in programs {
        let text = fs::read_to_string(&path).expect("a readable file");
        let name = path.display().to_string();
        for mode in support::MODES {
            let head = format!("// found[{}]: ", mode.name());
            let line = text.lines().find_map(|l| l.strip_prefix(&head));
            let Some(line) = line else {
                panic!("{name} does not say what is found in {}", mode.name())
            };
            let mut expected: Vec<String> = line.split(';').map(|f| f.trim().to_string()).collect();
            expected.retain(|f| f != "nothing");
            expected.sort();
            let checked = checked(&name, &text, mode).unwrap_or_else(|e| panic!("{name}: {e}"));
            let mut found: Vec<String> = checked.findings.iter().map(|f| brief(f, &text)).collect();
            found.sort();
            // The advice of findings or verdict, if it matters which one it is.
            if let Some(advice) = text.lines().find_map(|l| l.strip_prefix("// advice: ")) {
                let run = &checked.simulation.run;
                let helps = checked.findings.iter().filter_map(|f| f.help.as_deref());
                let helps: Vec<&str> = helps
                    .chain(run.verdict.iter().filter_map(|verdict| verdict.help.as_deref()))
                    .collect();
                let fits = helps.iter().all(|help| help.contains(advice));
                if helps.is_empty() || !fits {
                    wrong.push(format!("{name} [{}] advises {helps:?}", mode.name()));
                }
            }
            let hangs =
                matches!(checked.simulation.finish, Finish::Deadlock(_) | Finish::Livelock(_));
            if hangs
                && checked.simulation.run.notes.iter().any(|note| note.contains("nothing found"))
            {
                wrong.push(format!("{name} [{}] hangs, and nothing is found", mode.name()));
            }
            if found != expected {
                let program = Program::parse(&name, &text);
                let shown = support::rendered(&program, &checked.findings);
                wrong.push(format!(
                    "{name} [{}]\nexpected {expected:?}\nfound    {found:?}\n{shown}",
                    mode.name()
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn a_product_that_no_lane_executes_reads_nothing() {
    let name = "tests/races/warpgroup_guarded_off.ir";
    let text = fs::read_to_string(name).expect("a readable file");
    for timing in Timing::ALL {
        let checked = checked_at(name, &text, Mode::Volta, timing).expect("it runs");
        assert!(checked.findings.is_empty(), "{timing:?}: {:?}", checked.findings);
    }
}

/// Findings in generated programs that are not mistakes: threads exit early, masks name all lanes,
/// and a shuffle tests its source lane before the value is used.
pub(crate) const GENERATED: [&str; 3] =
    ["barrier-after-exit", "mask-ended-lane", "undefined-shuffle"];

/// Bundled programs, by the start of their names, with their findings and the reason.
const LISTED: &[(&str, &[&str], &str)] = &[
    ("calibrate/", &["race-same-value"], "all lanes leave the same measurement in one place"),
    ("cuda/shared_doubling_race", &["race-shared"], "its barrier is missing on purpose"),
    (
        "cuda/shared_halving_race",
        &["race-shared", "unset-shared"],
        "its barrier is missing on purpose",
    ),
    ("small/ballot_both_arms", &["mask-absent-lane"], "shows a full mask in both arms of a branch"),
    ("small/barrier_after_exit", &["barrier-after-exit"], "shows what machines make of it"),
    ("small/barrier_both_arms", &["barrier-in-parts"], "shows what machines make of it"),
    ("small/barrier_one_arm", &["barrier-in-parts"], "shows what machines make of it"),
    (
        "small/hoisted_load",
        &["race-shared", "race-same-value"],
        "waits for a plain store, which a compiler may move",
    ),
    ("small/nested_four", &["race-same-value"], "lanes mark where they have been"),
    (
        "small/racy_sides",
        &["race-global", "race-same-value"],
        "shows which side of a branch runs last",
    ),
    ("small/shuffle_after_exit", &["mask-ended-lane"], "shows a full mask after an exit"),
    (
        "small/shuffle_partial",
        &["mask-absent-lane", "mask-ended-lane"],
        "shows a full mask in a branch",
    ),
    ("small/warp_sync_reduction", &["race-shared"], "written for lock-step; volta only"),
];

#[test]
fn no_clean_program_is_accused() {
    let paths = support::texts("programs");
    assert!(paths.len() > 80);
    let mut wrong = Vec::new();
    let mut seen = vec![BTreeSet::new(); LISTED.len()];
    for path in paths {
        let text = fs::read_to_string(&path).expect("a readable file");
        let name =
            path.strip_prefix("programs").unwrap_or(&path).with_extension("").display().to_string();
        let listed = LISTED.iter().position(|(n, ..)| name.starts_with(n));
        for mode in support::MODES {
            match checked(&name, &text, mode) {
                Err(e) => wrong.push(format!("{name} [{}]: {e}", mode.name())),
                Ok(checked) => {
                    let allowed = listed.map_or(&[][..], |i| LISTED[i].1);
                    let mut codes: Vec<&str> = checked.findings.iter().map(|f| f.code).collect();
                    if let Some(i) = listed {
                        seen[i].extend(codes.iter().copied());
                    }
                    codes.retain(|code| !allowed.contains(code));
                    if !codes.is_empty() {
                        let program = Program::parse(&name, &text);
                        let shown = support::rendered(
                            &program,
                            checked.findings.get(..1).unwrap_or_default(),
                        );
                        wrong.push(format!("{name} [{}]: {codes:?}\n{shown}", mode.name()));
                    }
                }
            }
        }
    }
    for (listed, seen) in LISTED.iter().zip(seen) {
        for code in listed.1.iter().filter(|code| !seen.contains(*code)) {
            wrong.push(format!("{}: {code} is listed, and not found", listed.0));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn no_generated_program_is_accused() {
    let mut runner = TestRunner::new(support::cases(24));
    let result = runner.run(&generated::any_program(), |program| {
        let text = program.print();
        for mode in support::MODES {
            let checked = checked("generated", &text, mode).map_err(TestCaseError::fail)?;
            if let Some(first) = checked.findings.iter().find(|f| !GENERATED.contains(&f.code)) {
                let parsed = Program::parse("generated", &text);
                let shown = support::rendered(&parsed, std::slice::from_ref(first));
                return Err(TestCaseError::fail(format!("{}\n{shown}\n{text}", mode.name())));
            }
        }
        Ok(())
    });
    if let Err(failure) = result {
        panic!("{failure}");
    }
}

#[test]
fn schedules_find_results_that_depend_on_them() {
    let cases = [
        ("tests/races/missing_barrier.ir", Mode::Volta, true),
        ("tests/races/missing_barrier.ir", Mode::PreVolta, true),
        ("tests/races/warp_synchronous.ir", Mode::Volta, true),
        ("tests/races/warp_synchronous.ir", Mode::PreVolta, false),
        ("tests/races/warp_barrier.ir", Mode::Volta, false),
        ("tests/races/producer_consumer.ir", Mode::Volta, false),
        ("tests/races/arrive_and_end.ir", Mode::Volta, false),
        ("tests/races/arrive_and_end.ir", Mode::PreVolta, false),
        ("tests/races/ticket.ir", Mode::Volta, false),
        ("programs/small/shared_reduction.ir", Mode::Volta, false),
        ("programs/small/shuffle_reduction.ir", Mode::Volta, false),
    ];
    for (path, mode, differs) in cases {
        let text = fs::read_to_string(path).expect("a readable file");
        let program = Program::parse(path, &text);
        let (kernel, launch) =
            support::launch(&program, &Overrides::default()).expect("a sound program");
        let spec = support::machine(mode.default_machine());
        let options = support::options(mode, spec.side_order(), MAX_CYCLES);
        let done = {
            let job = Job::new(&program, kernel, launch.clone(), &spec, options.clone());
            simulate::simulate(job, &()).expect("it fits")
        };
        assert!(matches!(done.finish, Finish::Ok), "{path}");
        let ended = (&done.finish, &done.launch);
        let other = simt_core::schedules::another_result(
            &Job::new(&program, kernel, launch, &spec, options),
            24,
            ended,
        )
        .expect("it fits");
        let said = other.map(|o| o.finding.message);
        assert_eq!(said.is_some(), differs, "{path} [{}]: {said:?}", mode.name());
    }
}

#[test]
fn checks_change_no_figure() {
    for path in ["programs/small/shared_reduction.ir", "programs/small/spin_lock.ir"] {
        let text = fs::read_to_string(path).expect("a readable file");
        let program = Program::parse(path, &text);
        let (kernel, launch) =
            support::launch(&program, &Overrides::default()).expect("a sound program");
        let spec = support::machine("h200");
        let options = support::options(Mode::Volta, spec.side_order(), MAX_CYCLES);
        let plain =
            simulate::simulate(Job::new(&program, kernel, launch, &spec, options.clone()), &())
                .expect("it fits");
        let checked = checked(path, &text, Mode::Volta).expect("it runs");
        assert_eq!(plain.run.metrics, checked.simulation.run.metrics, "{path}");
        assert_eq!(plain.run.cycles, checked.simulation.run.cycles, "{path}");
    }
}
