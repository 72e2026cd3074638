//! Calibration without a GPU: simulated figures against recorded ones of an H200.

use simt_gpu::calibrate::{Record, Row, experiments, simulated};

use crate::support::machine;

#[test]
fn the_h200_that_is_simulated_measures_as_the_real_one() {
    measures_as_the_real_one(24);
}

#[test]
#[ignore = "long: all experiments"]
fn long_the_h200_that_is_simulated_measures_as_the_real_one() {
    measures_as_the_real_one(1);
}

/// Holds one experiment in `step` against the record.
fn measures_as_the_real_one(step: usize) {
    let (record, spec) = (Record::h200().expect("the bundled record"), machine("h200"));
    let mut far = Vec::new();
    for experiment in experiments().step_by(step) {
        let measured = record
            .figure(experiment)
            .unwrap_or_else(|| panic!("{} was not measured", experiment.name));
        let figure = simulated(experiment, &spec, &())
            .unwrap_or_else(|e| panic!("{}: {e}", experiment.name));
        let row = Row::new(experiment, Some(figure), Some(measured));
        if !row.is_close() {
            far.push(format!("{}: {figure:.2}, measured {measured:.2}", row.name));
        }
    }
    assert!(far.is_empty(), "farther from the H200 than before:\n{}", far.join("\n"));
}

#[test]
fn a_record_has_no_figure_of_an_experiment_that_is_gone() {
    let record = Record::h200().expect("the bundled record");
    for figure in &record.figures {
        assert!(experiments().any(|e| e.name == figure.name), "{}", figure.name);
    }
}
