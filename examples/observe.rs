//! Observes events: counts issues by active lanes. `cargo run --release --example observe`

#![expect(clippy::print_stdout, reason = "an example prints")]

use simt_core::event::{Event, Observer};
use simt_core::launch::Overrides;
use simt_core::machine::Options;
use simt_core::spec::{Machine, Mode};
use simt_core::{Job, Program};

/// Issues by number of active lanes.
struct ActiveLanes([u64; 33]);

impl Observer for ActiveLanes {
    fn on(&mut self, event: Event) {
        if let Event::Issue { active, .. } = event {
            self.0[active.count() as usize] += 1;
        }
    }

    fn merge(&mut self, other: ActiveLanes) {
        self.0.iter_mut().zip(other.0).for_each(|(mine, theirs)| *mine += theirs);
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let program = Program::parse("nested.ir", simt_programs::text("small/nested.ir"));
    let kernel = program.kernel(None)?;
    let launch = program
        .launch(kernel, &Overrides::default(), &|_, _| Err("no files".into()))
        .map_err(|found| format!("{found:?}"))?;
    let machine = Machine::preset("h200").ok_or("no such machine")?;
    let job = Job::new(&program, kernel, launch, &machine, Options::of(&machine, Mode::Volta));
    let seen = job.run(&(), || ActiveLanes([0; 33]))?.observer;
    for (lanes, issues) in seen.0.iter().enumerate().filter(|(_, issues)| **issues > 0) {
        println!("{lanes:2} lanes: {issues} issues");
    }
    Ok(())
}
