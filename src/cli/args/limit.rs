//! The argument that limits a run.

/// Cycles after which a run is given up unless told otherwise.
const CYCLES: u64 = 2_000_000_000;
/// Instructions after whose issue a run is given up unless told otherwise: about a minute of one host core, and some
/// ten times what a reduction of 2^24 numbers issues.
const ISSUES: u64 = 500_000_000;

/// How long a run may go on. Both limits are counts, so that a run ends alike on every host.
#[derive(clap::Args, Clone, Copy, Debug, Default)]
pub(crate) struct LimitChoice {
    /// Give up after this many cycles [default: 2000000000 cycles, or 500000000 instructions issued]
    #[arg(long, value_name = "N")]
    max_cycles: Option<u64>,
}

impl LimitChoice {
    /// Cycles after which a run is given up.
    pub(crate) fn cycles(self) -> u64 {
        self.max_cycles.unwrap_or(CYCLES)
    }

    /// Instructions that may be issued before a run is given up: any number for who chooses a number of cycles.
    pub(crate) fn issues(self) -> u64 {
        if self.max_cycles.is_some() { u64::MAX } else { ISSUES }
    }
}
