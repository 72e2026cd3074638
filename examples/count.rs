//! Runs a program and reads a counter: `cargo run --release --example count`

#![expect(clippy::print_stdout, reason = "an example prints")]

use simt_core::launch::Overrides;
use simt_core::machine::Options;
use simt_core::spec::{Machine, Mode};
use simt_core::{Job, Program};
use simt_report::simulate::simulate;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let program = Program::parse("reduce.ir", simt_programs::text("reduce_neighbored.ir"));
    let kernel = program.kernel(None)?;
    let overrides = Overrides { set: vec![("n".into(), "65536".into())], ..Overrides::default() };
    let launch = program
        .launch(kernel, &overrides, &|_, _| Err("no files".into()))
        .map_err(|found| format!("{found:?}"))?;
    let machine = Machine::preset("fermi").ok_or("no such machine")?;
    let options = Options::of(&machine, Mode::PreVolta);
    let done = simulate(Job::new(&program, kernel, launch, &machine, options), &())?;
    println!("{}: {:?} divergent branches", done.run.program, done.run.metric("divergent_branch"));
    Ok(())
}
