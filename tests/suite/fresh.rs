//! Fresh generated kernels: each runs in both modes on three machines with all checks, and must
//! leave the scalar oracle's memory, without findings. `PROPTEST_CASES` sets their number, and
//! `PROPTEST_RNG_SEED` draws others (docs/fuzzing.md).

use std::cell::Cell;

use proptest::prelude::{Strategy, prop_oneof};
use proptest::test_runner::{TestCaseError, TestRunner};
use simt_core::checks::Checks;
use simt_core::launch::Overrides;
use simt_core::machine::Finish;
use simt_core::oracle;
use simt_core::{Job, Program};
use simt_report::simulate;

use super::{checks, generated, support};

const MACHINES: [&str; 3] = ["h200", "pascal", "teaching"];
const MAX_CYCLES: u64 = 50_000_000;

/// Runs a kernel everywhere; returns the number of runs.
fn judge(text: &str) -> Result<u32, String> {
    let program = Program::parse("fresh", text);
    let (kernel, launch) = support::launch(&program, &Overrides::default())?;
    let mut runs = 0;
    for name in MACHINES {
        let spec = support::machine(name);
        // Generated barrier counts assume warps of 32.
        if spec.warp_size != 32 && text.contains("bar.arrive") {
            continue;
        }
        let settings = oracle::Settings {
            max_steps: MAX_CYCLES,
            warp_size: spec.warp_size,
            traced: Vec::new(),
        };
        let expected =
            oracle::run_with(kernel, &launch, &settings).map_err(|e| format!("the oracle: {e}"))?;
        for mode in support::MODES {
            let whose = |what: String| format!("{name}, {}: {what}", mode.name());
            let options = support::options(mode, spec.side_order(), MAX_CYCLES);
            let run = simulate::simulate_checked(
                Job::new(&program, kernel, launch.clone(), &spec, options.clone()),
                &(),
                Checks::ALL,
            )
            .map_err(|e| whose(e.to_string()))?;
            let done = run.simulation;
            if !matches!(done.finish, Finish::Ok) {
                return Err(whose(format!("the run ends in {:?}", done.finish)));
            }
            for (buffer, wanted) in done.launch.buffers.iter().zip(&expected.buffers) {
                if let Some(i) = (0..wanted.len()).find(|&i| buffer.words.get(i) != wanted.get(i)) {
                    let (found, wanted) = (buffer.words.get(i), wanted[i]);
                    return Err(whose(format!(
                        "{}[{i}] is {found:?}, the oracle's is {wanted}",
                        buffer.name
                    )));
                }
            }
            if let Some(first) = run.findings.iter().find(|f| !checks::GENERATED.contains(&f.code))
            {
                return Err(whose(support::rendered(&program, std::slice::from_ref(first))));
            }
            runs += 1;
        }
    }
    Ok(runs)
}

#[test]
#[expect(clippy::print_stderr, reason = "a campaign says how much it ran")]
fn fresh_kernels_leave_what_the_oracle_leaves() {
    let (kernels, runs) = (Cell::new(0), Cell::new(0));
    let programs = prop_oneof![
        generated::any_program().boxed(),
        generated::program_in_parts().boxed(),
        generated::program_with_copies().boxed(),
    ];
    let result = TestRunner::new(support::cases(16)).run(&programs, |program| {
        runs.set(runs.get() + judge(&program.print()).map_err(TestCaseError::fail)?);
        kernels.set(kernels.get() + 1);
        Ok(())
    });
    eprintln!("{} kernels in {} runs", kernels.get(), runs.get());
    if let Err(failure) = result {
        panic!("{failure}\nto keep it, save the program under tests/regressions/ or tests/races/");
    }
}
