//! Generated programs with asynchronous copies and barriers: both modes leave the memory of the
//! scalar oracle.

use std::cell::Cell;

use proptest::test_runner::{TestCaseError, TestRunner};
use simt_core::launch::Overrides;
use simt_core::machine::Finish;
use simt_core::spec::{Lowering, Machine};
use simt_core::{Job, Program, oracle};

use super::generator::program_with_copies;
use super::support;

const MAX_CYCLES: u64 = 50_000_000;

/// Forms that a campaign must contain.
const FORMS: [&str; 12] = [
    "cp.async.ca.",
    "cp.async.cg.",
    "cp.async.wait_group",
    "cp.async.mbarrier.arrive.shared",
    "cp.async.mbarrier.arrive.noinc",
    "mbarrier.arrive.noComplete",
    "mbarrier.arrive.expect_tx",
    "mbarrier.arrive_drop",
    "mbarrier.test_wait.shared",
    "mbarrier.try_wait.shared",
    "_wait.parity",
    "bar.sync",
];

/// Compares runs of a program with the oracle.
fn compare(text: &str, machines: &[Machine]) -> Result<(), String> {
    let program = Program::parse("generated", text);
    let (kernel, launch) = support::launch(&program, &Overrides::default())?;
    for spec in machines {
        let (name, warp_size) = (&spec.name, spec.warp_size);
        let settings = oracle::Settings { max_steps: MAX_CYCLES, warp_size, traced: Vec::new() };
        let expected = oracle::run_with(kernel, &launch, &settings)
            .map_err(|e| format!("the oracle: {e}"))?
            .buffers;
        for mode in support::MODES {
            let whose = |what: String| format!("{name}, {}: {what}", mode.name());
            let options = support::options(mode, spec.side_order(), MAX_CYCLES);
            let outcome = Job::new(&program, kernel, launch.clone(), spec, options)
                .count(&())
                .map_err(|e| whose(e.to_string()))?;
            if !matches!(outcome.finish, Finish::Ok) {
                return Err(whose(format!("the run ends in {:?}", outcome.finish)));
            }
            for (buffer, expected) in outcome.launch.buffers.iter().zip(&expected) {
                if let Some(i) = (0..expected.len()).find(|&i| buffer.words[i] != expected[i]) {
                    let (found, wanted) = (buffer.words[i], expected[i]);
                    return Err(whose(format!(
                        "{}[{i}] is {found}, the oracle's is {wanted}",
                        buffer.name
                    )));
                }
            }
        }
    }
    Ok(())
}

/// Compares `cases` programs. The first ones are the same for every number.
fn campaign(cases: u32) {
    // Few SMs: a run's caches take time to make.
    let few = |name, lowering| {
        let machine = support::machine(name).lowered(lowering);
        support::changed(&machine, |spec| spec.sms = 2)
    };
    let machines = [few("h200", Lowering::Hardware), few("teaching", Lowering::AsWritten)];
    let seen = Cell::new([0u32; FORMS.len()]);
    let result = TestRunner::new(support::cases(cases)).run(&program_with_copies(), |program| {
        let text = program.print();
        let mut counts = seen.get();
        for (count, form) in counts.iter_mut().zip(FORMS) {
            *count += u32::from(text.contains(form));
        }
        seen.set(counts);
        compare(&text, &machines).map_err(TestCaseError::fail)
    });
    if let Err(failure) = result {
        panic!("{failure}\nto keep it, save the program under tests/regressions/");
    }
    let missing: Vec<&str> =
        FORMS.into_iter().zip(seen.get()).filter(|(_, n)| *n == 0).map(|(form, _)| form).collect();
    assert!(missing.is_empty(), "no program has {missing:?}");
}

#[test]
fn copies_and_barriers_leave_what_the_oracle_leaves() {
    campaign(60);
}

#[test]
#[ignore = "long: 1,000 programs"]
fn long_copies_and_barriers_leave_what_the_oracle_leaves() {
    campaign(1000);
}
