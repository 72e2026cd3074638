//! Files that are not programs: machines and recorded data.

use std::sync::LazyLock;

use simt_core::launch::Overrides;
use simt_core::machine::{Options, Timing};
use simt_core::spec::Machine;
use simt_core::{Job, Program};
use simt_gpu::calibrate;
use simt_gpu::{DivergenceRecord, Explanations, GeneratedRecord, Observation};
use simt_report::profile::Profile;
use simt_report::validation::Known;
use simt_teach::sweep::Results;

use super::{laws, text_of};

/// A program that uses every part of a machine: shared memory, barriers, divergence, both caches,
/// atomics, a slow unit.
static PROGRAM: LazyLock<Program> = LazyLock::new(|| {
    let program = Program::parse("fuzz.ir", include_str!("../seeds/everything.ir"));
    assert!(program.is_sound(), "{:?}", program.findings);
    program
});

/// Parses machine files; an accepted one runs a program that uses every part of it.
pub fn machine(data: &[u8]) {
    let text = text_of(data);
    let spec = match Machine::parse(&text) {
        Ok(spec) => spec,
        Err(found) => return laws::findings(&found, &text),
    };
    let program = &*PROGRAM;
    let kernel = &program.kernels[0];
    let launch = program
        .launch(kernel, &Overrides::default(), &|_, _| Err("no files".to_owned()))
        .unwrap_or_else(|found| panic!("the program cannot be launched: {found:?}"));
    for &mode in &spec.modes {
        let options = Options {
            mode,
            order: spec.side_order(),
            yields: true,
            max_cycles: 2_000,
            max_issues: u64::MAX,
            timing: Timing::Cycles,
        };
        let _ = Job::new(program, kernel, launch.clone(), &spec, options)
            .execute(&())
            .map(|outcome| outcome.finish);
    }
}

/// Parses records: observations of a GPU, its divergence, calibrations, known differences, results
/// of sweeps, profiler reports. Writing and parsing again must give the same record.
pub fn records(data: &[u8]) {
    let text = text_of(data);
    same(&text, Observation::parse, Observation::to_text);
    same(&text, DivergenceRecord::parse, DivergenceRecord::to_text);
    same(&text, GeneratedRecord::parse, GeneratedRecord::to_text);
    same(&text, calibrate::Record::parse, calibrate::Record::to_text);
    let _ = Explanations::parse(&text);
    let _ = Known::parse(&text);
    if let Ok(observation) = Observation::parse(&text) {
        observation.buffers.iter().for_each(|buffer| drop(buffer.content.read()));
    }
    if let Ok((results, _)) = Results::read(&text) {
        let (again, _) = Results::read(&results.text()).expect("written results can be read");
        assert_eq!(again.text(), results.text());
    }
    match Profile::parse(&text) {
        Ok(profile) => profile.launches.iter().for_each(|launched| drop(launched.title())),
        Err(unreadable) => drop(unreadable.to_string()),
    }
}

/// Checks that parsing, writing and parsing again gives the same text.
fn same<T>(
    text: &str,
    read: fn(&str) -> Result<T, String>,
    write: fn(&T) -> Result<String, String>,
) {
    let Ok(first) = read(text) else { return };
    let written = write(&first).expect("a record can be written");
    let again = read(&written)
        .unwrap_or_else(|e| panic!("cannot parse the written record: {e}\n{written}"));
    assert_eq!(write(&again).as_ref(), Ok(&written));
}
