//! Unseen kernels in larger grids than those of the labels: the simulated cycles are those in
//! `crates/report/evidence/larger.csv`.

use std::fs;

use simt_core::Program;
use simt_core::launch::Overrides;
use simt_report::evidence::{TIMES, larger_errors, larger_grids};

use crate::cli::good;
use crate::spans::left;

const FILE: &str = "crates/report/evidence/larger.csv";

/// Returns the cycles of a kernel in the larger grid.
fn cycles(kernel: &str) -> u64 {
    let path = format!("programs/unseen/held/{kernel}.sass");
    let text = fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path}: {e}"));
    let program = Program::parse(&path, &text);
    let code = program.kernel(None).expect("a kernel");
    let no_files = |_: &str, _| Err("no files".into());
    let small = program.launch(code, &Overrides::default(), &no_files).expect("a launch");
    let n = i64::from(TIMES) * small.constants.iter().find(|(name, _)| name == "n").expect("n").1;
    let launch = (TIMES * small.grid[0], small.block[0]);
    let done = left(&program, None, launch, &[("n", &n.to_string())]);
    assert_eq!(done.finish.name(), "ok", "{kernel}");
    done.run.cycles
}

#[test]
fn some_kernels_take_the_stated_cycles_in_larger_grids() {
    let some = larger_grids().into_iter().skip(3).step_by(9);
    let mut compared = 0;
    // The longest would take minutes.
    for (kernel, held) in some.filter(|(_, held)| held.measured < 20_000.0) {
        assert_eq!(cycles(kernel) as f64, held.simulated, "{kernel}: BLESS=1 writes {FILE} anew");
        compared += 1;
    }
    assert!(compared >= 10, "{compared}");
}

#[test]
#[ignore = "122 kernels in grids of a thousand blocks: minutes"]
fn all_kernels_take_the_stated_cycles_in_larger_grids() {
    let mut table = String::from("kernel,measured,simulated\n");
    for (kernel, held) in larger_grids() {
        table += &format!("{kernel},{},{}\n", held.measured, cycles(kernel));
    }
    if std::env::var_os("BLESS").is_some() {
        fs::write(FILE, &table).expect("the table is written");
    }
    assert!(fs::read_to_string(FILE).is_ok_and(|old| old == table), "BLESS=1 writes {FILE} anew");
}

/// The note in a run has the errors of the table.
#[test]
fn a_run_of_many_blocks_says_how_exact_such_runs_are() {
    let errors = larger_errors().expect("errors");
    let (step, within) = errors.within.expect("a step");
    let path = "programs/unseen/held/bits_gray_parity.sass";
    let says = format!("within {step} % on {within} of {} unseen kernels (H200)", errors.kernels);
    let text = |grid: &str| good(&["run", path, "--set", "n=262144", "--grid", grid]);
    let flat = |text: String| text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flat(text("1024")).contains(&says), "{says}");
    assert!(!flat(good(&["run", path])).contains("times as many"));
}
