//! The three reductions against an H200's hardware counters (2^24 integers, blocks of 512) and
//! closed forms (other blocks).

use simt_core::Job;
use simt_core::Program;
use simt_core::base::BlockId;
use simt_core::observe::Trace;
use simt_core::spec::Mode;
use simt_report::simulate::Simulation;

use super::{assert_expected, count, program, run_on, run_with, set, usual};
use crate::support::{MODES, launch, machine};

/// The loop's `if` of each reduction.
const LOOP_IF: &str = "Next;";

/// Counts of the H200 at n = 2^24, block 512.
struct Measured {
    file: &'static str,
    divergent: u64,
    requests: u64,
    sectors: u64,
    /// Sectors of loads that hit in L1.
    hits: u64,
}

const NEIGHBORED: Measured = Measured {
    file: "reduce_neighbored.ir",
    divergent: 3_112_960,
    requests: 6_258_688,
    sectors: 16_744_448,
    hits: 14_647_290,
};
const LESS: Measured = Measured {
    file: "reduce_neighbored_less.ir",
    divergent: 163_840,
    requests: 1_343_488,
    sectors: 16_744_448,
    hits: 14_647_295,
};
const INTERLEAVED: Measured = Measured {
    file: "reduce_interleaved.ir",
    divergent: 163_840,
    requests: 1_343_488,
    sectors: 4_358_144,
    hits: 2_260_992,
};

/// Runs one part in `parts` of the measured elements, and expects that part of the counts.
fn as_measured(measured: &Measured, mode: Mode, parts: u64) {
    let program = program(measured.file);
    let n = (1 << 24) / parts;
    let done = run_on(&program, mode.default_machine(), &[("n", n as i64), ("block", 512)]);
    assert_eq!(done.run.mode, mode.name());
    assert_expected(&done);
    assert_eq!(done.run.expectations.len(), 3, "every block's sum, the sum, the recursive sum");
    let counts =
        ["divergent_branch", "gld_requests", "gld_transactions"].map(|name| count(&done, name));
    let expected =
        [measured.divergent, measured.requests, measured.sectors].map(|count| count / parts);
    assert_eq!(counts, expected, "{}, {n} elements, {}", measured.file, mode.name());
    if mode == Mode::Volta && parts == 1 {
        let (hits, real) = (count(&done, "l1_hit_sectors") as f64, measured.hits as f64);
        assert!((hits - real).abs() <= real / 1000.0, "{hits} L1 hits, the H200 had {real}");
    }
}

#[test]
#[ignore = "long: 2^20 elements"]
fn long_a_sixteenth_counts_a_sixteenth() {
    for measured in [NEIGHBORED, LESS, INTERLEAVED] {
        for mode in MODES {
            as_measured(&measured, mode, 16);
        }
    }
}

#[test]
#[ignore = "long: 2^24 elements"]
fn long_neighbored_before_volta() {
    as_measured(&NEIGHBORED, Mode::PreVolta, 1);
}

#[test]
#[ignore = "long: 2^24 elements"]
fn long_neighbored_on_an_h200() {
    as_measured(&NEIGHBORED, Mode::Volta, 1);
}

#[test]
#[ignore = "long: 2^24 elements"]
fn long_neighbored_less_before_volta() {
    as_measured(&LESS, Mode::PreVolta, 1);
}

#[test]
#[ignore = "long: 2^24 elements"]
fn long_neighbored_less_on_an_h200() {
    as_measured(&LESS, Mode::Volta, 1);
}

#[test]
#[ignore = "long: 2^24 elements"]
fn long_interleaved_before_volta() {
    as_measured(&INTERLEAVED, Mode::PreVolta, 1);
}

#[test]
#[ignore = "long: 2^24 elements"]
fn long_interleaved_on_an_h200() {
    as_measured(&INTERLEAVED, Mode::Volta, 1);
}

/// Executions of the loop's `if`, and divergent ones.
fn loop_if(done: &Simulation) -> (u64, u64) {
    let branch =
        done.run.branches.iter().find(|b| b.text.ends_with(LOOP_IF)).expect("the loop's if");
    (branch.executed, branch.divergent)
}

/// One reduction in one block: divergent executions of the loop's `if`, executions of the body,
/// sectors of the body's loads.
type InABlock = (u64, u64, u64);

/// Block; executions of the loop's `if` per block; the three reductions. From the sources, by hand:
/// in step s of neighbored, lanes t % 2s == 0 add data[t + s]; in less, thread t adds data[2st +
/// s]; in interleaved, threads below s add data[t + s].
const PER_BLOCK: [(u64, u64, [InABlock; 3]); 4] = [
    (128, 28, [(23, 23, 126), (5, 8, 126), (5, 8, 36)]),
    (256, 64, [(47, 47, 254), (5, 12, 254), (5, 12, 68)]),
    (512, 144, [(95, 95, 510), (5, 20, 510), (5, 20, 132)]),
    (1024, 320, [(191, 191, 1022), (5, 36, 1022), (5, 36, 260)]),
];

#[test]
fn every_block_size_follows_the_closed_form() {
    closed_form(1 << 16);
}

#[test]
#[ignore = "long: 24 runs of 2^18 elements"]
fn long_every_block_size_follows_the_closed_form() {
    closed_form(1 << 18);
}

fn closed_form(n: u64) {
    for (file, which) in [(NEIGHBORED.file, 0), (LESS.file, 1), (INTERLEAVED.file, 2)] {
        let program = program(file);
        for (block, tests, per_kernel) in PER_BLOCK {
            let (divergent, bodies, sectors) = per_kernel[which];
            let blocks = n / block;
            let mut issued = Vec::new();
            for mode in MODES {
                let constants = [("n", n as i64), ("block", block as i64)];
                let done = run_on(&program, mode.default_machine(), &constants);
                let what = format!("{file}, block {block}, {}", mode.name());
                assert_expected(&done);
                assert_eq!(loop_if(&done), (tests * blocks, divergent * blocks), "{what}");
                // Every block ends with one load of one word.
                assert_eq!(count(&done, "gld_requests"), (2 * bodies + 1) * blocks, "{what}");
                assert_eq!(count(&done, "gld_transactions"), (sectors + 1) * blocks, "{what}");
                // One addition per thread and step with a partner: block - 1 in all.
                let add = done
                    .run
                    .instructions
                    .iter()
                    .filter(|i| i.text.starts_with("st.global"))
                    .min_by_key(|i| i.pc);
                let add = add.expect("the body's store");
                let lanes = add.average_active_lanes.expect("executed") * add.executed as f64;
                assert_eq!(
                    (add.executed, lanes.round() as u64),
                    (bodies * blocks, (block - 1) * blocks),
                    "{what}"
                );
                issued.push(["inst_executed", "ptx_inst_executed"].map(|name| count(&done, name)));
            }
            assert_eq!(
                issued[0][1], issued[1][1],
                "{file}, block {block}: the modes execute the same instructions"
            );
        }
    }
}

/// Returns the divergent warps of block 0 in each step of the loop.
fn divergent_warps(program: &Program, mode: Mode) -> Vec<u32> {
    let constants = [("n", 1 << 11), ("block", 512)];
    let spec = machine(mode.default_machine());
    let options = usual(&spec, mode);
    let done = run_with(program, &spec, &options, &constants);
    let branch =
        done.run.branches.iter().find(|b| b.text.ends_with(LOOP_IF)).expect("the loop's if").pc;

    let (kernel, launch) = launch(program, &set(&constants)).unwrap_or_else(|e| panic!("{e}"));
    let job = Job::new(program, kernel, launch, &spec, options);
    let seen = job.run(&(), || Trace::new(0..1)).unwrap_or_else(|e| panic!("{e}"));
    let mut steps = Vec::new();
    for warp in 0..16 {
        let tests = seen.observer.of_warp(BlockId(0), warp).filter(|e| e.pc.0 == branch);
        for (step, test) in tests.enumerate() {
            if steps.len() <= step {
                steps.resize(step + 1, 0);
            }
            steps[step] += u32::from(!test.lanes.is_empty() && test.lanes != test.active);
        }
    }
    steps
}

#[test]
fn divergent_warps_of_each_step() {
    let folds = [0, 0, 0, 0, 1, 1, 1, 1, 1];
    for (file, expected) in [
        (NEIGHBORED.file, [16, 16, 16, 16, 16, 8, 4, 2, 1]),
        (LESS.file, folds),
        (INTERLEAVED.file, folds),
    ] {
        for mode in MODES {
            assert_eq!(divergent_warps(&program(file), mode), expected, "{file}, {}", mode.name());
        }
    }
}
