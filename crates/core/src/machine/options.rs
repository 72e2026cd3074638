//! Options of a run: mode, order of sides, limits, timing model.

use crate::base::Cycle;
use crate::divergence::SideOrder;
use crate::spec::{Machine, Mode};

/// Options of a run.
#[derive(Clone, Debug)]
pub struct Options {
    /// Divergence mode.
    pub mode: Mode,
    /// Order of the sides of a divergent branch.
    pub order: SideOrder,
    /// True if spin loops yield (independent mode; ptxas inserts YIELD).
    pub yields: bool,
    /// Cycle limit of the run.
    pub max_cycles: Cycle,
    /// Issue limit of all SMs together; each SM has an equal share.
    pub max_issues: u64,
    /// Timing model.
    pub timing: Timing,
}

/// Timing model of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Timing {
    /// Cycle by cycle.
    #[default]
    Cycles,
    /// No clock: counts only.
    ///
    /// Limits of cycles and schedules of warps mean nothing.
    Off,
}

impl Timing {
    /// Both, in the order of the command line.
    pub const ALL: [Timing; 2] = [Timing::Cycles, Timing::Off];

    /// Returns the name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Timing::Cycles => "cycles",
            Timing::Off => "off",
        }
    }
}

impl Options {
    /// Default options of a machine: its order of sides, yields, no limit.
    pub fn of(machine: &Machine, mode: Mode) -> Options {
        let order = machine.side_order();
        Options {
            mode,
            order,
            yields: true,
            max_cycles: Cycle::MAX,
            max_issues: u64::MAX,
            timing: Timing::Cycles,
        }
    }
}
