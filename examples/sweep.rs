//! Sweeps a constant over both modes on all cores. `cargo run --release --example sweep`

#![expect(clippy::print_stdout, reason = "an example prints")]

use simt_core::launch::Overrides;
use simt_core::machine::Options;
use simt_core::spec::{Machine, Mode};
use simt_core::{Job, Program};
use simt_report::simulate::simulate;
use simt_threads::Threads;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let program = Program::parse("paths_k.ir", simt_programs::text("small/paths_k.ir"));
    let (kernel, threads) = (program.kernel(None)?, Threads::new(0));
    for mode in [Mode::PreVolta, Mode::Volta] {
        let machine = Machine::preset(mode.default_machine()).ok_or("no such machine")?;
        for k in [1, 2, 4, 8, 16, 32] {
            let overrides =
                Overrides { set: vec![("k".into(), k.to_string())], ..Overrides::default() };
            let launch = program
                .launch(kernel, &overrides, &|_, _| Err("no files".into()))
                .map_err(|found| format!("{found:?}"))?;
            let job = Job::new(&program, kernel, launch, &machine, Options::of(&machine, mode));
            println!("{} k={k}: {} cycles", mode.name(), simulate(job, &threads)?.run.cycles);
        }
    }
    Ok(())
}
