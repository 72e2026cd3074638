//! Additions of floats to shared memory, which ATOMS.CAST.SPIN makes in a loop: what an H200 counts
//! of one warp, and the model.
//!
//! `tests/observations/h200/casts` has the source, its listing, and in `casts.csv` a launch a line:
//! the lanes that add, the counts, and the word of each lane.

use std::fs;

use simt_core::launch::Overrides;
use simt_core::machine::{Options, Timing};
use simt_core::spec::{Machine, Mode};
use simt_core::{Job, Program};
use simt_report::simulate::simulate;

const FOLDER: &str = "tests/observations/h200/casts";

#[test]
fn casts_serve_a_lane_of_each_bank_as_a_gpu() {
    let text = |file: &str| fs::read_to_string(format!("{FOLDER}/{file}")).expect(file);
    let program = Program::parse("casts.sass", &text("casts.sass"));
    let machine = Machine::preset("h200").expect("a machine");
    let rows = text("casts.csv");
    assert_eq!(rows.lines().count(), 147);
    let mut differ = Vec::new();
    for row in rows.lines().skip(1) {
        let [name, active, counts @ .., words]: [&str; 6] =
            row.split(',').collect::<Vec<_>>().try_into().expect(row);
        let kernel = program.kernel(Some(name)).expect("a kernel");
        let set = vec![("active".to_owned(), active.to_owned())];
        let overrides = Overrides { set, ..Overrides::default() };
        let mut launch =
            program.launch(kernel, &overrides, &|_, _| Err("no files".into())).expect("a launch");
        launch.buffers[1].words = words.split(' ').map(|w| w.parse().expect(row)).collect();
        for timing in Timing::ALL {
            let options = Options { timing, ..Options::of(&machine, Mode::Volta) };
            let job = Job::new(&program, kernel, launch.clone(), &machine, options);
            let done = simulate(job, &()).expect("it fits");
            let found = ["inst_executed", "thread_inst_executed", "divergent_branch"]
                .map(|name| done.run.metrics.get(&name).expect(name).as_f64().to_string());
            if found != counts {
                differ.push(format!("{row}: {found:?}"));
            }
        }
    }
    assert!(differ.is_empty(), "{} of 292 runs:\n{}", differ.len(), differ.join("\n"));
}
