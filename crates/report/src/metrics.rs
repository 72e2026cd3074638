//! The table of metrics: names, unit, formula and meaning of every number a run answers for, and its value.
//!
//! The first name is nvprof's (metric or event; CUPTI's metric reference), the second Nsight Compute's, which counts
//! the same thing under another name; a metric that nvprof does not have is marked ours. Definitions are NVIDIA's.
//! Counting units are explained in [`simt_core::observe::Totals`]: instructions are *machine instructions*, as the
//! profilers count, and convergence-barrier steps are in no metric but those that say so. Not modelled: instruction fetch,
//! textures, the constant cache's misses, replays; their metrics are left out rather than reported as zero.

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
    /// A ratio, percentage or rate; always finite.
    Real(f64),
}

impl Value {
    /// The value as a real; counts above 2^53 lose their last digits.
    pub const fn as_f64(self) -> f64 {
        match self {
            Value::Count(n) => n as f64,
            Value::Real(x) => x,
        }
    }
}

/// What metrics are computed from.
#[derive(Clone, Copy, Debug)]
pub struct Inputs<'a> {
    /// What was counted.
    pub totals: &'a Totals,
    /// The machine it was counted on.
    pub machine: &'a MachineFacts,
}

impl Inputs<'_> {
    fn global(&self, way: AccessWay) -> &TrafficTotals {
        self.totals.traffic(MemoryKind::Global, way)
    }

    fn local(&self, way: AccessWay) -> &TrafficTotals {
        self.totals.traffic(MemoryKind::Local, way)
    }

    fn shared(&self, way: AccessWay) -> &TrafficTotals {
        self.totals.traffic(MemoryKind::Shared, way)
    }

    /// Cycles from the beginning of the launch to its end.
    fn launch_cycles(&self) -> u64 {
        self.totals.elapsed_cycles + u64::from(self.machine.launch_overhead)
    }

    fn seconds(&self) -> f64 {
        self.launch_cycles() as f64 / self.machine.clock_hz as f64
    }
}

/// Groups of the table, in the order they are printed.
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
    /// Why warps waited, in nvprof's words.
    Stalls,
    /// Why warps waited, in Nsight Compute's words.
    WarpStates,
}

impl Group {
    /// The group's heading.
    pub const fn title(self) -> &'static str {
        match self {
            Group::Time => "Time and occupancy",
            Group::Instructions => "Instructions and issue slots",
            Group::Divergence => "Branches and lanes",
            Group::Global => "Global memory",
            Group::Device => "L2 and DRAM",
            Group::Shared => "Shared memory",
            Group::Local => "Local memory",
            Group::Stalls => "Stall reasons (nvprof: shares of the cycles that warps waited)",
            Group::WarpStates => "Warp states (Nsight Compute: cycles a warp spends in a state per issued instruction)",
        }
    }
}

/// One metric.
#[derive(Clone, Copy, Debug)]
pub struct Metric {
    /// nvprof's name, or ours where nvprof has none.
    pub name: &'static str,
    /// Nsight Compute's name for the same, if it has one.
    pub ncu: Option<&'static str>,
    /// Other names under which it is found.
    pub aliases: &'static [&'static str],
    /// What one of it is; empty for plain ratios.
    pub unit: &'static str,
    /// Where it belongs.
    pub group: Group,
    /// How it is computed, in terms of other metrics and counted events.
    pub formula: &'static str,
    /// What it says, in one sentence.
    pub meaning: &'static str,
    /// Whether the name is ours: nvprof has none for it.
    pub ours: bool,
    value: fn(&Inputs<'_>) -> Option<Value>,
}

impl Metric {
    /// A value of this metric and its unit as the profiler that calls it `name` has them.
    pub fn in_unit_of(&self, name: &str, value: Value) -> (Value, &'static str) {
        if self.ncu == Some(name) { self.in_ncu_units(value) } else { (value, self.unit) }
    }

    /// A value of this metric and its unit as Nsight Compute has them: bytes a second where nvprof has gigabytes, a
    /// percentage where nvprof has a fraction.
    pub fn in_ncu_units(&self, value: Value) -> (Value, &'static str) {
        let is_percentage = self.ncu.is_some_and(|ncu| ncu.contains(".pct"));
        match self.unit {
            "GB/s" => (Value::Real(value.as_f64() * 1e9), "byte/s"),
            "" if is_percentage => (Value::Real(value.as_f64() * 100.0), "%"),
            unit => (value, unit),
        }
    }
}

/// Every metric, grouped.
pub fn all() -> &'static [Metric] {
    static ALL: LazyLock<Vec<Metric>> =
        LazyLock::new(|| [time::TABLE, flow::TABLE, memory::TABLE, stalls::TABLE].concat());
    &ALL
}

/// The value of `metric`; `None` where it has none, such as a ratio to zero events.
pub fn evaluate(metric: &Metric, inputs: &Inputs<'_>) -> Option<Value> {
    (metric.value)(inputs).filter(|value| value.as_f64().is_finite())
}

/// The metric called `name` by nvprof, by Nsight Compute or by us.
pub fn find(name: &str) -> Option<&'static Metric> {
    all().iter().find(|m| m.name == name || m.ncu == Some(name) || m.aliases.contains(&name))
}

/// nvprof's reason that a warp state (Nsight's name) counts towards; empty for an unknown state.
pub fn stall_reason(state: &str) -> &'static str {
    Stall::ALL.into_iter().find(|s| s.name() == state).map_or("", stalls::reason)
}

/// The name closest to one that [`find`] does not know.
pub fn suggest(name: &str) -> Option<&'static str> {
    let names = |m: &'static Metric| [Some(m.name), m.ncu].into_iter().flatten().chain(m.aliases.iter().copied());
    closest(name, all().iter().flat_map(names))
}

/// NVIDIA's names for what is not counted here, what is counted instead, and how the two differ.
const INSTEAD: [(&[&str], &str, &str); 3] = [
    (
        &["branch", "branches", "smsp__sass_branch_targets.sum", "smsp__inst_executed_op_branch.sum"],
        "conditional_branches",
        "NVIDIA's branches include unconditional ones and those inside division and square root, which PTX does not show",
    ),
    (
        &["shared_load", "inst_executed_shared_loads", "smsp__inst_executed_op_shared_ld.sum"],
        "shared_load_requests",
        "NVIDIA's loads include those all of whose lanes are predicated off",
    ),
    (
        &["shared_store", "inst_executed_shared_stores", "smsp__inst_executed_op_shared_st.sum"],
        "shared_store_requests",
        "NVIDIA's stores include those all of whose lanes are predicated off",
    ),
];

/// The metric to ask for instead of one of NVIDIA's that is not simulated, and how the two differ.
pub fn instead(name: &str) -> Option<(&'static str, &'static str)> {
    INSTEAD.iter().find(|(names, ..)| names.contains(&name)).map(|&(_, metric, why)| (metric, why))
}

/// Why [`find`] finds nothing: "there is no metric `x`", and the metric that may have been meant.
pub fn unknown(name: &str) -> String {
    let meant = match (instead(name), suggest(name)) {
        (Some((metric, why)), _) => format!("; ask for `{metric}`: {why}"),
        (None, Some(near)) => format!("; did you mean `{near}`?"),
        (None, None) => String::new(),
    };
    format!("there is no metric `{name}`{meant}")
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

/// Gigabytes (10^9) a second.
fn rate(bytes: u64, inputs: &Inputs<'_>) -> Option<Value> {
    ratio(bytes as f64 * 1e-9, inputs.seconds())
}

#[cfg(test)]
mod tests;
