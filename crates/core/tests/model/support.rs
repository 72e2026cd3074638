//! What several tests need: files of the repository, machines, side orders, the way of a program to
//! its launch.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use proptest::test_runner::{Config, RngSeed};
use simt_core::Program;
use simt_core::diag::{self, Diagnostic, Source};
use simt_core::divergence::SideOrder;
use simt_core::kernel::Kernel;
use simt_core::launch::{Launch, Overrides};
use simt_core::machine::{Options, Timing};
use simt_core::spec::{Machine, Mode};

/// Every mode.
pub(crate) const MODES: [Mode; 2] = [Mode::PreVolta, Mode::Volta];

/// Every `.ir` file under `folder`, sorted; none when there is no such folder.
pub(crate) fn programs(folder: &str) -> Vec<PathBuf> {
    files(folder, &["ir"])
}

/// Every file under `folder` that ends so, sorted; none when there is no such folder.
pub(crate) fn files(folder: &str, extensions: &[&str]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    collect(Path::new(folder), extensions, &mut found);
    found.sort();
    found
}

fn collect(folder: &Path, extensions: &[&str], into: &mut Vec<PathBuf>) {
    for path in fs::read_dir(folder).into_iter().flatten().flatten().map(|e| e.path()) {
        if path.is_dir() {
            collect(&path, extensions, into);
        } else if path.extension().and_then(|e| e.to_str()).is_some_and(|e| extensions.contains(&e))
        {
            into.push(path);
        }
    }
}

/// Every preset machine.
pub(crate) fn machines() -> Vec<Machine> {
    Machine::presets().map(machine).collect()
}

/// A preset machine.
pub(crate) fn machine(name: &str) -> Machine {
    // Parsing one takes as long as simulating a small program.
    static PRESETS: LazyLock<BTreeMap<&str, Machine>> = LazyLock::new(|| {
        let parsed = |name| {
            let text = Machine::preset_text(name).expect("the text of a preset");
            Machine::parse(text).unwrap_or_else(|found| panic!("{name}: {found:?}"))
        };
        Machine::presets().map(|name| (name, parsed(name))).collect()
    });
    PRESETS.get(name).unwrap_or_else(|| panic!("no preset `{name}`")).clone()
}

/// Returns a machine with some parameters changed.
pub(crate) fn changed(
    machine: &Machine,
    change: impl FnOnce(&mut simt_core::spec::MachineSpec),
) -> Machine {
    machine.changed(change).unwrap_or_else(|faults| panic!("{faults:?}"))
}

/// Options of a run that may take `max_cycles` cycles on one host thread.
pub(crate) fn options(mode: Mode, order: SideOrder, max_cycles: u64) -> Options {
    Options { mode, order, yields: true, max_cycles, max_issues: u64::MAX, timing: Timing::Cycles }
}

/// Findings as the user reads them.
pub(crate) fn rendered(program: &Program, findings: &[Diagnostic]) -> String {
    diag::render(findings, Source { name: &program.name, text: &program.text }, false)
}

/// A program without errors, its kernel, and its launch as its directives say.
pub(crate) fn launch<'p>(
    program: &'p Program,
    overrides: &Overrides,
) -> Result<(&'p Kernel, Launch), String> {
    if !program.is_sound() {
        return Err(rendered(program, &program.findings));
    }
    let kernel = program.kernel(None).map_err(|e| e.to_string())?;
    let no_files = |path: &str, _| Err(format!("`{path}`: tests read no files"));
    let launch =
        program.launch(kernel, overrides, &no_files).map_err(|found| rendered(program, &found))?;
    Ok((kernel, launch))
}

/// The settings of a property test: the same cases in every run, `cases` of them unless
/// `PROPTEST_CASES` says otherwise; `PROPTEST_RNG_SEED` draws others.
pub(crate) fn cases(cases: u32) -> Config {
    let mut config = Config::default();
    if std::env::var_os("PROPTEST_CASES").is_none() {
        config.cases = cases;
    }
    if std::env::var_os("PROPTEST_RNG_SEED").is_none() {
        config.rng_seed = RngSeed::Fixed(0x51d7);
    }
    config.failure_persistence = None;
    config.max_shrink_iters = 4000;
    config
}
