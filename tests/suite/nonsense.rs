//! Nothing that a user can write makes the simulator panic: programs with random changes go the whole way, through parser,
//! checker, launch and machine as far as each lets them.

mod edit;

use std::fs;
use std::path::Path;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::{TestCaseError, TestRunner};
use simt_sim::divergence::SideOrder;
use simt_sim::kernel::Kernel;
use simt_sim::launch::{Launch, Overrides};
use simt_sim::machine::{self, Mode};
use simt_sim::pipeline::Program;
use simt_sim::{oracle, text};

use super::generated::any_program;
use super::support;
use edit::{edit, edited, vary, words};

/// Goes the whole way to a launch and renders what is found on it; what can be launched is run for a while. What is not
/// `modest` may ask for gigabytes and is not launched.
fn survive(name: &str, text: &str, modest: bool) {
    let program = Program::parse(name, text);
    let _ = support::rendered(&program, &program.findings);
    let _ = text::print(&program.module);
    if !modest {
        return;
    }
    for kernel in &program.kernels {
        let set = vec![("n".to_string(), "256".to_string()), ("block".to_string(), "64".to_string())];
        let set = set.into_iter().filter(|(name, _)| program.plan.constants().any(|c| c == name)).collect();
        let overrides = Overrides { set, ..Overrides::default() };
        match program.launch(kernel, &overrides, &|_| Ok(vec![1, 2, 3, 4])) {
            Err(found) => drop(support::rendered(&program, &found)),
            Ok(launch) if program.is_sound() => attempt(kernel, &launch),
            Ok(_) => {}
        }
    }
}

/// Runs what may be any nonsense that the checks let through: it may end in any way but a panic.
fn attempt(kernel: &Kernel, launch: &Launch) {
    let size = |extent: &[u32; 3]| extent.iter().map(|&n| u64::from(n)).product::<u64>();
    if size(&launch.grid) * size(&launch.block) > 1 << 12 {
        return;
    }
    for (name, mode) in [("teaching", Mode::PreVolta), ("teaching", Mode::Volta), ("h200", Mode::Volta)] {
        let options = support::options(mode, SideOrder::Fewer, 3000);
        let done = machine::run(kernel, launch.clone(), &support::machine(name), &options, &(), || ());
        let _ = done.map(|outcome| outcome.finish);
    }
    let _ = oracle::run(kernel, launch, 10_000);
}

/// Whether the numbers in the directives are so small that no product of three of them needs much memory.
fn is_modest(text: &str) -> bool {
    let directives = text.lines().filter(|l| l.contains("//!") && !l.contains("const")).collect::<Vec<_>>().join(" ");
    let numbers = words(&directives).into_iter().filter(|w| w.starts_with(|c: char| c.is_ascii_digit()));
    numbers.into_iter().all(|w| w.parse::<u64>().is_ok_and(|n| n <= 512)) && !directives.contains("<<")
}

/// The text without plain comments, where a change would be none.
fn without_comments(text: &str) -> String {
    let code = |line: &str| match line.find("//") {
        Some(at) if !line[at..].starts_with("//!") => line[..at].trim_end().to_string(),
        _ => line.to_string(),
    };
    text.lines().map(code).filter(|l| !l.is_empty()).map(|l| l + "\n").collect()
}

/// Runs the property `cases` times.
fn hold<S: Strategy>(cases: u32, strategy: S, text_of: impl Fn(S::Value) -> (String, bool)) {
    let result = TestRunner::new(support::cases(cases)).run(&strategy, |case| {
        let (text, modest) = text_of(case);
        std::panic::catch_unwind(|| survive("nonsense.ir", &text, modest))
            .map_err(|_| TestCaseError::fail(format!("a panic on this text:\n{text}")))
    });
    if let Err(failure) = result {
        panic!("{failure}");
    }
}

#[test]
fn changed_files_make_nothing_panic() {
    let good = support::programs("programs");
    let read = |p: &Path| without_comments(&fs::read_to_string(p).expect("a readable file"));
    let texts: Vec<String> = good.iter().chain(&support::programs("tests/bad")).map(|p| read(p)).collect();
    assert!(!good.is_empty(), "no programs to change");
    let rough = (0..texts.len(), vec(edit(), 1..5));
    let gentle = (0..good.len(), vec(vary(), 1..4));
    hold(6000, (prop_oneof![2 => gentle, 1 => rough], 0..texts.len()), |((one, edits), other)| {
        let text = edits.iter().fold(texts[one].clone(), |text, e| edited(&text, &texts[other], e));
        let modest = is_modest(&text);
        (text, modest)
    });
}

#[test]
fn changed_kernels_make_nothing_panic() {
    hold(1000, (any_program(), vec(vary(), 1..4)), |(program, edits)| {
        let text = program.print();
        let (directives, kernel) = text.split_at(text.find(".visible").unwrap_or(0));
        (directives.to_string() + &edits.iter().fold(kernel.to_string(), |text, e| edited(&text, "", e)), true)
    });
}
