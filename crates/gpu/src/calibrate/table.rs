//! The experiments: runs and figures. Each program describes what it does.

mod control;
mod instructions;
mod memory;
mod scheduling;

use super::Experiment;

/// Experiments by subject.
const SUBJECTS: [&[Experiment]; 4] =
    [instructions::EXPERIMENTS, memory::EXPERIMENTS, control::EXPERIMENTS, scheduling::EXPERIMENTS];

/// Number of experiments.
const COUNT: usize = {
    let (mut count, mut subject) = (0, 0);
    while subject < SUBJECTS.len() {
        count += SUBJECTS[subject].len();
        subject += 1;
    }
    count
};

/// Every experiment.
pub const EXPERIMENTS: &[Experiment] = &{
    let mut all = [SUBJECTS[0][0]; COUNT];
    let (mut i, mut subject) = (0, 0);
    while subject < SUBJECTS.len() {
        let mut row = 0;
        while row < SUBJECTS[subject].len() {
            all[i] = SUBJECTS[subject][row];
            (i, row) = (i + 1, row + 1);
        }
        subject += 1;
    }
    all
};
