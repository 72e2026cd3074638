//! The timing model of a run.

use clap::ValueEnum;
use simt_core::machine::Timing;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TimingArg {
    /// Cycle by cycle
    Cycles,
    /// Counts only: no cycles, rates, stalls or cache hits, at many times the speed
    Off,
}

impl TimingArg {
    /// Timing of a run, by cycles unless chosen.
    pub(crate) fn of(chosen: Option<TimingArg>) -> Timing {
        match chosen {
            Some(TimingArg::Off) => Timing::Off,
            Some(TimingArg::Cycles) | None => Timing::Cycles,
        }
    }
}
