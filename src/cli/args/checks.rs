//! Arguments about checks and schedules.

use super::{LaunchChoice, LimitChoice, MachineChoice};

/// What is looked for while a program runs.
#[derive(clap::Args, Debug)]
pub(crate) struct ChecksChoice {
    /// Look for data races, uninitialised reads, misuse of barriers and masks, bad addresses: races, init, barrier, sync,
    /// bounds [default with --checks alone: all]
    #[arg(long, value_name = "LIST", num_args = 0..=1, require_equals = true, default_missing_value = "all")]
    pub(crate) checks: Option<String>,
    /// Run N times more, under adversarial schedules of warps and groups, and tell of the first that gives another result
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    pub(crate) schedules: u64,
    /// Run under the adversarial schedule of this number
    #[arg(long, value_name = "SEED")]
    pub(crate) schedule: Option<u64>,
}

/// How `check --run` runs a program.
#[derive(clap::Args, Debug)]
pub(crate) struct RunningChoice {
    /// Run each program as well, with all checks on
    #[arg(long)]
    pub(crate) run: bool,
    /// Judge this kernel only, by what it reaches; with --run, run it
    #[arg(long, value_name = "NAME")]
    pub(crate) kernel: Option<String>,
    /// Run N times more, under adversarial schedules, and tell of the first that gives another result
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true, requires = "run")]
    pub(crate) schedules: u64,
    #[command(flatten)]
    pub(crate) machine: MachineChoice,
    #[command(flatten)]
    pub(crate) launch: LaunchChoice,
    #[command(flatten)]
    pub(crate) limit: LimitChoice,
}
