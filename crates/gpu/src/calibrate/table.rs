//! The experiments: runs and figures. Each program describes what it does.

mod control;
mod instructions;
mod memory;
mod scheduling;

use super::Experiment;

/// Experiments by subject.
const SUBJECTS: [&[Experiment]; 4] =
    [instructions::EXPERIMENTS, memory::EXPERIMENTS, control::EXPERIMENTS, scheduling::EXPERIMENTS];

/// Returns every experiment.
pub fn experiments() -> impl Iterator<Item = &'static Experiment> {
    SUBJECTS.into_iter().flatten()
}
