//! Speed of simulation runs and of the front end: `cargo bench`.
//!
//! Rates count warp instructions as written (without join steps), cycle-level, with counters
//! enabled, on one thread unless the name states another number.

use criterion::{Criterion, SamplingMode, Throughput, criterion_group, criterion_main};
use simt_core::divergence::SideOrder;
use simt_core::launch::Overrides;
use simt_core::machine::{Options, Timing};
use simt_core::spec::{Machine, Mode};
use simt_core::{Job, Program};
use simt_report::simulate::simulate;
use simt_threads::Threads;

const REDUCTIONS: [&str; 3] = ["reduce_neighbored", "reduce_neighbored_less", "reduce_interleaved"];

fn program(name: &str) -> Program {
    let path = format!("{}/programs/{name}.ir", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).expect("a program of this repository");
    Program::parse(&path, &text)
}

/// Runs a program with `n` elements; returns the warp instructions issued.
fn run(program: &Program, mode: Mode, n: u64, jobs: usize) -> u64 {
    let spec = Machine::preset_text(mode.default_machine()).expect("a preset");
    let spec = Machine::parse(spec).expect("a sound preset");
    let kernel = program.kernel(None).expect("one kernel");
    let overrides = Overrides { set: vec![("n".into(), n.to_string())], ..Overrides::default() };
    let launch =
        program.launch(kernel, &overrides, &|_, _| Err("no files".into())).expect("a launch");
    let order = if mode == Mode::PreVolta { SideOrder::Taken } else { SideOrder::Fewer };
    let options = Options {
        mode,
        order,
        yields: true,
        max_cycles: u64::MAX,
        max_issues: u64::MAX,
        timing: Timing::Cycles,
    };
    let done = simulate(Job::new(program, kernel, launch, &spec, options), &Threads::new(jobs))
        .expect("a run");
    assert!(done.run.expectations.iter().all(|e| e.passed));
    done.run.metric("inst_executed").expect("counted").as_f64() as u64
}

fn reductions(c: &mut Criterion) {
    let mut group = c.benchmark_group("run");
    group.sampling_mode(SamplingMode::Flat).sample_size(10);
    for name in REDUCTIONS {
        let program = program(name);
        for mode in [Mode::PreVolta, Mode::Volta] {
            let n = 1 << 18;
            group.throughput(Throughput::Elements(run(&program, mode, n, 1)));
            group.bench_function(format!("{name}/{}/2^18", mode.name()), |b| {
                b.iter(|| run(&program, mode, n, 1))
            });
        }
    }
    let neighbored = program("reduce_neighbored");
    for (log2_n, jobs) in [(20, 1), (22, 1), (22, 2)] {
        let n = 1 << log2_n;
        group.throughput(Throughput::Elements(run(&neighbored, Mode::PreVolta, n, jobs)));
        group.bench_function(format!("reduce_neighbored/pre-volta/2^{log2_n}/jobs {jobs}"), |b| {
            b.iter(|| run(&neighbored, Mode::PreVolta, n, jobs));
        });
    }
    group.finish();
}

fn front_end(c: &mut Criterion) {
    let path = format!("{}/programs/reduce_neighbored.ir", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).expect("a program of this repository");
    c.bench_function("parse and check/reduce_neighbored", |b| {
        b.iter(|| Program::parse(&path, &text))
    });
}

criterion_group!(benches, reductions, front_end);
criterion_main!(benches);
