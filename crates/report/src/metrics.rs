//! The table of metrics.
//! Name, unit, formula, meaning and value of every number of a run.
//!
//! The first name is nvprof's (metric or event, from CUPTI's metric reference), the second is
//! Nsight Compute's for the same quantity; a metric that nvprof does not have is marked ours.
//! Definitions are NVIDIA's. [`simt_core::observe::Totals`] explains the units of counting:
//! instructions are *machine instructions*, as in the profilers, and convergence-barrier steps
//! count only in metrics that say so. Instruction replays are not modelled; their
//! metrics are left out instead of reported as zero.

mod basis;
mod docs;
mod flow;
mod memory;
mod stalls;
mod time;

pub use basis::Basis;
pub use docs::{listing, reference};

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use super::MachineFacts;
use simt_core::diag::closest;
use simt_core::observe::{AccessWay, MemoryKind, Stall, Totals, TrafficTotals};

/// A metric's value. Counts stay exact.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Value {
    /// An integer.
    Count(u64),
    /// Ratio, percentage or rate; always finite.
    Real(f64),
}

impl Value {
    /// Returns the value as a real; counts above 2^53 lose their last digits.
    pub const fn as_f64(self) -> f64 {
        match self {
            Value::Count(n) => n as f64,
            Value::Real(x) => x,
        }
    }
}

/// Inputs of the metrics.
#[derive(Clone, Copy, Debug)]
pub struct Inputs<'a> {
    /// Counts of the run.
    pub totals: &'a Totals,
    /// Machine of the run.
    pub machine: &'a MachineFacts,
}

impl Inputs<'_> {
    fn global(&self, way: AccessWay) -> &TrafficTotals {
        self.totals.traffic(MemoryKind::Global, way)
    }

    /// Global accesses of the load/store unit, which bulk copies do not use.
    fn of_lsu(&self, way: AccessWay) -> TrafficTotals {
        self.global(way).without(&self.totals.bulk_copies[way as usize])
    }

    fn local(&self, way: AccessWay) -> &TrafficTotals {
        self.totals.traffic(MemoryKind::Local, way)
    }

    fn texture(&self) -> &TrafficTotals {
        self.totals.traffic(MemoryKind::Texture, AccessWay::Load)
    }

    fn surface(&self, way: AccessWay) -> &TrafficTotals {
        self.totals.traffic(MemoryKind::Surface, way)
    }

    fn shared(&self, way: AccessWay) -> &TrafficTotals {
        self.totals.traffic(MemoryKind::Shared, way)
    }

    /// Cycles from the start of the launch to its end.
    fn launch_cycles(&self) -> u64 {
        self.totals.elapsed_cycles + u64::from(self.machine.launch_overhead)
    }

    fn seconds(&self) -> f64 {
        self.launch_cycles() as f64 / self.machine.clock_hz as f64
    }
}

/// Groups of the table, in printing order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Group {
    /// Cycles, rates, occupancy.
    Time,
    /// Instructions and issue slots.
    Instructions,
    /// Branches and lanes.
    Divergence,
    /// Global memory.
    Global,
    /// L2 and DRAM.
    Device,
    /// Shared memory.
    Shared,
    /// Local memory.
    Local,
    /// Textures and surfaces.
    Texture,
    /// Stall reasons, by nvprof's names.
    Stalls,
    /// Warp states, by Nsight Compute's names.
    WarpStates,
}

impl Group {
    /// Returns the group's heading.
    pub const fn title(self) -> &'static str {
        match self {
            Group::Time => "Time and occupancy",
            Group::Instructions => "Instructions and issue slots",
            Group::Divergence => "Branches and lanes",
            Group::Global => "Global memory",
            Group::Device => "L2 and DRAM",
            Group::Shared => "Shared memory",
            Group::Local => "Local memory",
            Group::Texture => "Textures and surfaces",
            Group::Stalls => "Stall reasons (nvprof: shares of all stall cycles)",
            Group::WarpStates => {
                "Warp states (Nsight Compute: cycles in a state per issued instruction)"
            }
        }
    }
}

/// A metric.
#[derive(Clone, Copy, Debug)]
pub struct Metric {
    /// nvprof's name, or ours if nvprof has none.
    pub name: &'static str,
    /// Nsight Compute's name, if it has one.
    pub ncu: Option<&'static str>,
    /// Other names that [`find`] accepts.
    pub aliases: &'static [&'static str],
    /// Unit; empty for plain ratios.
    pub unit: &'static str,
    /// Group.
    pub group: Group,
    /// Formula, in terms of other metrics and counts.
    pub formula: &'static str,
    /// Meaning, one sentence.
    pub meaning: &'static str,
    /// True if the name is ours because nvprof has none.
    pub ours: bool,
    value: fn(&Inputs<'_>) -> Option<Value>,
}

impl Metric {
    /// Returns value and unit as the profiler that calls the metric `name` prints them.
    pub fn in_unit_of(&self, name: &str, value: Value) -> (Value, &'static str) {
        if self.ncu == Some(name) { self.in_ncu_units(value) } else { (value, self.unit) }
    }

    /// Returns value and unit as Nsight Compute prints them.
    /// Bytes per second for nvprof's gigabytes, a percentage for nvprof's fraction.
    pub fn in_ncu_units(&self, value: Value) -> (Value, &'static str) {
        let is_percentage = self.ncu.is_some_and(|ncu| ncu.contains(".pct"));
        match self.unit {
            "GB/s" => (Value::Real(value.as_f64() * 1e9), "byte/s"),
            "" if is_percentage => (Value::Real(value.as_f64() * 100.0), "%"),
            unit => (value, unit),
        }
    }
}

/// Returns every metric, by group.
pub fn all() -> &'static [Metric] {
    static ALL: LazyLock<Vec<Metric>> =
        LazyLock::new(|| [time::TABLE, flow::TABLE, memory::TABLE, stalls::TABLE].concat());
    &ALL
}

/// Evaluates `metric`; `None` if it has no value, such as a ratio to zero events, or if it needs
/// time and the run had no clock.
pub fn evaluate(metric: &Metric, inputs: &Inputs<'_>) -> Option<Value> {
    if !inputs.totals.timed && metric.needs_time() {
        return None;
    }
    (metric.value)(inputs).filter(|value| value.as_f64().is_finite())
}

/// Finds a metric by nvprof's name, Nsight Compute's or ours.
pub fn find(name: &str) -> Option<&'static Metric> {
    all().iter().find(|m| m.name == name || m.ncu == Some(name) || m.aliases.contains(&name))
}

/// Returns the nvprof reason that includes a warp state (Nsight's name).
/// Empty for an unknown state.
pub fn stall_reason(state: &str) -> &'static str {
    Stall::ALL.into_iter().find(|s| s.name() == state).map_or("", stalls::reason)
}

/// Returns the name closest to one that [`find`] does not know.
pub fn suggest(name: &str) -> Option<&'static str> {
    let names = |m: &'static Metric| {
        [Some(m.name), m.ncu].into_iter().flatten().chain(m.aliases.iter().copied())
    };
    closest(name, all().iter().flat_map(names))
}

/// NVIDIA's metrics that PTX does not show: names, the closest metric that it shows, and the
/// difference.
const INSTEAD: [(&[&str], &str, &str); 3] = [
    (
        &[
            "branch",
            "branches",
            "smsp__sass_branch_targets.sum",
            "smsp__inst_executed_op_branch.sum",
        ],
        "conditional_branches",
        "NVIDIA's count includes unconditional branches and branches inside division and square \
         root, which PTX does not show",
    ),
    (
        &["shared_load", "inst_executed_shared_loads", "smsp__inst_executed_op_shared_ld.sum"],
        "shared_load_requests",
        "NVIDIA's count includes loads whose lanes are all predicated off",
    ),
    (
        &["shared_store", "inst_executed_shared_stores", "smsp__inst_executed_op_shared_st.sum"],
        "shared_store_requests",
        "NVIDIA's count includes stores whose lanes are all predicated off",
    ),
];

/// Returns the closest simulated metric for one of NVIDIA's, and the difference.
pub fn instead(name: &str) -> Option<(&'static str, &'static str)> {
    INSTEAD.iter().find(|(names, ..)| names.contains(&name)).map(|&(_, metric, why)| (metric, why))
}

/// Formats the error for an unknown name, with the metric that was probably meant.
pub fn unknown(name: &str) -> String {
    let meant = match (instead(name), suggest(name)) {
        (Some((metric, why)), _) => format!("; use `{metric}`: {why}"),
        (None, Some(near)) => format!("; did you mean `{near}`?"),
        (None, None) => String::new(),
    };
    format!("unknown metric `{name}`{meant}")
}

fn count(n: u64) -> Option<Value> {
    Some(Value::Count(n))
}

fn ratio(part: f64, whole: f64) -> Option<Value> {
    (whole > 0.0).then_some(Value::Real(part / whole))
}

fn per(part: u64, whole: u64) -> Option<Value> {
    ratio(part as f64, whole as f64)
}

fn percent(part: u64, whole: u64) -> Option<Value> {
    ratio(100.0 * part as f64, whole as f64)
}

/// Gigabytes (10^9) per second.
fn rate(bytes: u64, inputs: &Inputs<'_>) -> Option<Value> {
    ratio(bytes as f64 * 1e-9, inputs.seconds())
}

#[cfg(test)]
mod tests;
