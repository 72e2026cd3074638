//! The limit of a run.

/// Default limit in cycles.
const CYCLES: u64 = 2_000_000_000;
/// Default limit in issued instructions: about a minute of one host core, and about ten times the
/// instructions of a reduction of 2^24 numbers.
const ISSUES: u64 = 500_000_000;

/// Limits of a run. Both are counts, so a run ends at the same point on every host.
#[derive(clap::Args, Clone, Copy, Debug, Default)]
pub(crate) struct LimitChoice {
    /// Stop after N cycles [default: 2000000000 cycles, or 500000000 issued instructions]
    #[arg(long, value_name = "N")]
    max_cycles: Option<u64>,
}

impl LimitChoice {
    /// Cycles after which a run is stopped.
    pub(crate) fn cycles(self) -> u64 {
        self.max_cycles.unwrap_or(CYCLES)
    }

    /// True if a number of cycles is given.
    pub(crate) fn has_cycles(self) -> bool {
        self.max_cycles.is_some()
    }

    /// Issued instructions after which a run is stopped; unlimited if a number of cycles is given.
    pub(crate) fn issues(self) -> u64 {
        if self.max_cycles.is_some() { u64::MAX } else { ISSUES }
    }
}
