//! Figures known from other sources: counted on an H200, derived by hand, or stated in
//! publications.
//!
//! Masks and memory contents are expectations of the programs (`programs/small`, run by
//! `tests/programs.rs`). These tests cover what a program cannot state: counters, times, orders,
//! and outcomes under other options.

mod h200;
mod orders;
mod progress;
mod reductions;
mod teaching;
mod times;
mod traffic;

use std::fs;

use simt_core::divergence::SideOrder;
use simt_core::launch::Overrides;
use simt_core::machine::Options;
use simt_core::spec::{Lowering, Machine, Mode};
use simt_core::{Job, Program};
use simt_report::metrics::Value;
use simt_report::simulate::{Simulation, simulate};

use crate::support::{launch, machine, options};

/// Cycle limit of a test's run.
const MAX_CYCLES: u64 = 50_000_000;

/// Reads a program of this repository.
fn program(path: &str) -> Program {
    let path = format!("programs/{path}");
    let text = fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path}: {e}"));
    Program::parse(&path, &text)
}

/// Builds the overrides of `--set` for these constants.
fn set(constants: &[(&str, i64)]) -> Overrides {
    let set = constants.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
    Overrides { set, ..Overrides::default() }
}

/// Returns a machine's default options in one of its modes.
fn usual(spec: &Machine, mode: Mode) -> Options {
    use simt_core::spec::Side;
    let order = match spec.side {
        Side::Taken => SideOrder::Taken,
        Side::FallThrough => SideOrder::FallThrough,
        Side::Fewer => SideOrder::Fewer,
        Side::More => SideOrder::More,
    };
    options(mode, order, MAX_CYCLES)
}

/// Runs a program with these constants.
fn run_with(
    program: &Program,
    spec: &Machine,
    options: &Options,
    constants: &[(&str, i64)],
) -> Simulation {
    let (kernel, launch) = launch(program, &set(constants)).unwrap_or_else(|e| panic!("{e}"));
    simulate(Job::new(program, kernel, launch, spec, options.clone()), &())
        .unwrap_or_else(|e| panic!("{}: {e}", program.name))
}

/// Runs a program on a preset in its first mode.
fn run_on(program: &Program, preset: &str, constants: &[(&str, i64)]) -> Simulation {
    let spec = machine(preset);
    let options = usual(&spec, spec.modes[0]);
    run_with(program, &spec, &options, constants)
}

/// As [`run_on`], but as written: every instruction one issue, every branch a branch.
fn run_as_written(program: &Program, preset: &str, constants: &[(&str, i64)]) -> Simulation {
    let spec = machine(preset).lowered(Lowering::AsWritten);
    let options = usual(&spec, spec.modes[0]);
    run_with(program, &spec, &options, constants)
}

/// Returns a count from a run's metrics.
fn count(done: &Simulation, name: &str) -> u64 {
    match done.run.metric(name) {
        Some(Value::Count(n)) => n,
        other => panic!("{name} is {other:?}"),
    }
}

/// Panics unless all of the program's expectations hold.
fn assert_expected(done: &Simulation) {
    let failed: Vec<_> = done.run.expectations.iter().filter(|e| !e.passed).collect();
    assert!(failed.is_empty(), "{}: {failed:#?}", done.run.program);
}

/// Returns the words of a buffer after the run.
fn words<'a>(done: &'a Simulation, buffer: &str) -> &'a [u32] {
    let found = done.launch.buffers.iter().find(|b| b.name == buffer);
    &found.unwrap_or_else(|| panic!("no buffer `{buffer}`")).words
}
