//! Arguments about checks and schedules.

use super::{LaunchChoice, LimitChoice, MachineChoice, TimingArg};

/// Checks of a run.
#[derive(clap::Args, Debug)]
pub(crate) struct CheckList {
    /// Check each run for data races, uninitialized reads, misuse of barriers and masks, bad
    /// addresses: races, init, barrier, sync, bounds [default of --checks alone: all]
    #[arg(
        long,
        value_name = "LIST",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "all"
    )]
    pub(crate) checks: Option<String>,
}

/// Checks and schedules of a run.
#[derive(clap::Args, Debug)]
pub(crate) struct ChecksChoice {
    #[command(flatten)]
    pub(crate) list: CheckList,
    /// Run N more times under adversarial schedules; report the first schedule whose result differs
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    pub(crate) schedules: u64,
    /// Run under the adversarial schedule of this seed
    #[arg(long, value_name = "SEED")]
    pub(crate) schedule: Option<u64>,
}

/// Options of `check --run`.
#[derive(clap::Args, Debug)]
pub(crate) struct RunningChoice {
    /// Also run each program, with all checks enabled
    #[arg(long)]
    pub(crate) run: bool,
    /// Judge only this kernel and the code it can reach; with --run, run it
    #[arg(long, value_name = "NAME")]
    pub(crate) kernel: Option<String>,
    /// Run N more times under adversarial schedules; report the first schedule whose result differs
    #[arg(
        long,
        value_name = "N",
        default_value_t = 0,
        hide_default_value = true,
        requires = "run"
    )]
    pub(crate) schedules: u64,
    /// With --run, model time or count only [default: cycles]
    #[arg(long, value_enum, requires = "run")]
    pub(crate) timing: Option<TimingArg>,
    #[command(flatten)]
    pub(crate) machine: MachineChoice,
    #[command(flatten)]
    pub(crate) launch: LaunchChoice,
    #[command(flatten)]
    pub(crate) limit: LimitChoice,
}
