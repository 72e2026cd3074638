//! The three reductions as a WebAssembly module, which runs in a browser.
//!
//! `tests/wasm/check.mjs` compares its counters with those of the command line.
//!
//! `cargo build -p simt-wasm --target wasm32-unknown-unknown --release`

use std::cell::RefCell;

use simt_core::launch::Overrides;
use simt_core::machine::{Options, Timing};
use simt_core::spec::{Machine, Mode};
use simt_core::{Job, Program};

const PROGRAMS: [&str; 3] =
    ["reduce_neighbored.ir", "reduce_neighbored_less.ir", "reduce_interleaved.ir"];

thread_local! {
    /// Counters of the last run.
    static COUNTERS: RefCell<Vec<u64>> = const { RefCell::new(Vec::new()) };
}

/// Runs a program on `n` integers and returns the number of counters.
///
/// Mode 0 is pre-Volta on `fermi`, mode 1 Volta on `h200`.
#[expect(unsafe_code, reason = "the name under which JavaScript finds the function")]
#[unsafe(no_mangle)]
pub extern "C" fn run(program: u32, mode: u32, n: u32) -> u32 {
    let counters = reduce(program as usize, mode, n).unwrap_or_default();
    let count = counters.len() as u32;
    COUNTERS.set(counters);
    count
}

/// Returns a counter of the last run.
///
/// The counters are cycles, warp instructions, thread instructions, thread instructions not
/// predicated off, and slots used.
#[expect(unsafe_code, reason = "the name under which JavaScript finds the function")]
#[unsafe(no_mangle)]
pub extern "C" fn counter(i: u32) -> u64 {
    COUNTERS.with_borrow(|counters| counters.get(i as usize).copied().unwrap_or(u64::MAX))
}

fn reduce(program: usize, mode: u32, n: u32) -> Option<Vec<u64>> {
    let path = PROGRAMS.get(program)?;
    let program = Program::parse(path, simt_programs::text_of(path)?);
    let mode = if mode == 0 { Mode::PreVolta } else { Mode::Volta };
    let machine = Machine::parse(Machine::preset_text(mode.default_machine())?).ok()?;
    let kernel = program.kernel(None).ok()?;
    let overrides = Overrides { set: vec![("n".into(), n.to_string())], ..Overrides::default() };
    let launch = program.launch(kernel, &overrides, &|_, _| Err("no files".into())).ok()?;
    let order = machine.side_order();
    let options = Options {
        mode,
        order,
        yields: true,
        max_cycles: u64::MAX,
        max_issues: u64::MAX,
        timing: Timing::Cycles,
    };
    let outcome = Job::new(&program, kernel, launch, &machine, options).count(&()).ok()?;
    let totals = outcome.observer.finish();
    Some(vec![
        outcome.cycles,
        totals.inst_executed,
        totals.thread_inst_executed,
        totals.not_predicated_off,
        totals.slots_used,
    ])
}
