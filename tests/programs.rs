//! Runs every program under `programs/` in each mode and checks its expectations.
//!
//! One named test per file, mode and machine, e.g. `small/diamond [volta] h200`; to select some:
//! `cargo test --test programs diamond`. The machines are the mode's default and `teaching` with 32
//! lanes.

use std::fs;
use std::path::{Path, PathBuf};

use libtest_mimic::{Arguments, Failed, Trial};
use simt_core::diag::{self, Source};
use simt_core::divergence::SideOrder;
use simt_core::launch::{Launch, Overrides};
use simt_core::machine::{Options, Timing};
use simt_core::spec::{Machine, Mode, Side};
use simt_core::{Job, Program};
use simt_report::simulate::simulate;

/// Constant and value that shrink programs made for large data.
const SMALL: (&str, &str) = ("n", "1 << 14");
/// Largest `n` that is not shrunk.
const LARGE: u64 = 1 << 16;
/// Cycle limit, far above that of any program here.
const MAX_CYCLES: u64 = 1_000_000_000;

fn main() {
    let arguments = Arguments::from_args();
    let mut files = Vec::new();
    collect(Path::new("programs"), &mut files);
    files.sort();
    let mut trials = Vec::new();
    for path in &files {
        let name =
            path.strip_prefix("programs").unwrap_or(path).with_extension("").display().to_string();
        for mode in [Mode::PreVolta, Mode::Volta] {
            for machine in [mode.default_machine(), "teaching"] {
                let path = path.clone();
                let title = format!("{name} [{}] {machine}", mode.name());
                trials.push(Trial::test(title, move || {
                    hold(&path, mode, machine).map_err(Failed::from)
                }));
            }
        }
    }
    trials.push(Trial::test("there are programs", {
        let count = files.len();
        move || if count > 0 { Ok(()) } else { Err("programs/ holds no .ir or .ptx file".into()) }
    }));
    libtest_mimic::run(&arguments, trials).exit();
}

/// Collects the programs below a folder, except wrong answers to assignments, which test `grade`.
fn collect(folder: &Path, into: &mut Vec<PathBuf>) {
    for path in fs::read_dir(folder).into_iter().flatten().flatten().map(|e| e.path()) {
        if path.is_dir() {
            if !path.ends_with("wrong") && !path.ends_with("unseen") {
                collect(&path, into);
            }
        } else if path.extension().is_some_and(|e| e == "ir" || e == "ptx") {
            into.push(path);
        }
    }
}

/// Runs a program and checks its expectations.
fn hold(path: &Path, mode: Mode, machine: &str) -> Result<(), String> {
    let text = fs::read_to_string(path).map_err(|e| e.to_string())?;
    let program = Program::parse(&path.display().to_string(), &text);
    let show = |found: &[_]| {
        diag::render(found, Source { name: &program.name, text: &program.text }, false)
    };
    if !program.is_sound() {
        return Err(show(&program.findings));
    }
    let beside = |name: &str, _| fs::read(path.with_file_name(name)).map_err(|e| e.to_string());
    let small =
        Overrides { set: vec![(SMALL.0.to_string(), SMALL.1.to_string())], ..Overrides::default() };
    let overrides = if is_large(&text) { small } else { Overrides::default() };

    let preset = Machine::preset(machine).ok_or("no such preset")?;
    let spec =
        preset.changed(|spec| spec.warp_size = 32).map_err(|faults| format!("{faults:?}"))?;
    let order = match spec.side {
        Side::Taken => SideOrder::Taken,
        Side::FallThrough => SideOrder::FallThrough,
        Side::Fewer => SideOrder::Fewer,
        Side::More => SideOrder::More,
    };
    let options = Options {
        mode,
        order,
        yields: true,
        max_cycles: MAX_CYCLES,
        max_issues: u64::MAX,
        timing: Timing::Cycles,
    };
    let mut left: Option<Launch> = None;
    for index in 0..program.plan.launches() {
        let kernel = program.kernel_at(index, None).map_err(|e| e.to_string())?;
        let mut launch =
            program.launch_at(index, kernel, &overrides, &beside).map_err(|found| show(&found))?;
        if let Some(before) = left {
            launch.follow(before);
        }
        let done = simulate(Job::new(&program, kernel, launch, &spec, options.clone()), &())
            .map_err(|e| e.to_string())?;
        let failed: Vec<String> = done
            .run
            .expectations
            .iter()
            .filter(|e| !e.passed)
            .map(|e| format!("expectation failed: {}\n  {}", e.text, e.detail))
            .collect();
        if !failed.is_empty() {
            return Err(format!("{}\nfinish: {:?}", failed.join("\n"), done.finish));
        }
        left = Some(done.launch);
    }
    Ok(())
}

/// Returns true if the program's own `const n` is too large for a test.
fn is_large(text: &str) -> bool {
    let value = text.lines().find_map(|l| {
        l.strip_prefix("//! const")?.trim().strip_prefix("n")?.trim().strip_prefix('=')
    });
    value.is_some_and(|v| match v.split_once("<<") {
        Some((_, shift)) => {
            shift.trim().parse::<u32>().is_ok_and(|s| 1u64.checked_shl(s).is_none_or(|n| n > LARGE))
        }
        None => v.trim().parse::<u64>().is_ok_and(|n| n > LARGE),
    })
}
