//! Profiler reports of a real GPU.
//! An `ncu --csv` report as a value, and its comparison with a run.
//!
//! Three layouts are accepted. *Long* is the output of `ncu --csv`: a row per metric, in the
//! columns `Metric Name`, `Metric Unit` and `Metric Value`. *Wide* is `ncu --csv --page raw`: a
//! column per metric, units in the row below the names, then a row per launch. *Tidy* is the long
//! layout with one-word columns (`kernel,n,block,metric,unit,value`), for figures collected by
//! hand. Lines before the header (`==PROF==`, the application's output) are skipped. Numbers may be
//! quoted and may have commas between groups of digits; values are converted to the base units of
//! [`Metric::in_ncu_units`].
//!
//! Not read: reports in languages other than English, rules (`Rule Name`), instances of a metric
//! after its value, source pages. Source: Nsight Compute CLI, "Output" and "CSV".

mod csv;
mod layout;
mod units;

use serde::Serialize;

use super::Run;
use super::metrics::{self, Metric};

/// A profiler report.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Profile {
    /// Launches, in the report's order.
    pub launches: Vec<Launched>,
}

/// A profiled launch.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Launched {
    /// Kernel name, without parameters and template arguments.
    pub kernel: String,
    /// First line of the report about it.
    pub line: usize,
    /// Grid size in x, y, z, if the report has it.
    pub grid: Option<[u32; 3]>,
    /// Block size in x, y, z, if the report has it.
    pub block: Option<[u32; 3]>,
    /// Other columns of the launch and their values.
    pub labels: Vec<(String, String)>,
    /// Measured values, in the report's order.
    pub measurements: Vec<Measurement>,
}

/// A measured value.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Measurement {
    /// Nsight Compute's name.
    pub name: String,
    /// Value in base units.
    pub value: f64,
    /// Maximum rounding error of the printed value: half of its last digit.
    /// 0 for a plain count.
    pub rounding: f64,
}

/// Error: a report cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {reason}")]
pub struct Unreadable {
    /// Line, from 1.
    pub line: usize,
    /// Reason.
    pub reason: String,
}

/// A measured metric with the simulated one.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Held {
    /// Nsight Compute's name.
    pub name: String,
    /// Unit of both values; empty for plain ratios.
    pub unit: &'static str,
    /// Simulated value.
    pub simulated: f64,
    /// Measured value.
    pub measured: f64,
    /// Rounding error, see [`Measurement::rounding`].
    pub rounding: f64,
}

impl Held {
    /// Returns the error of the simulated value in percent of the measured one.
    /// `None` if exactly one of them is zero.
    pub fn error(&self) -> Option<f64> {
        match self.simulated - self.measured {
            0.0 => Some(0.0),
            _ if self.measured == 0.0 => None,
            difference => Some(100.0 * difference / self.measured),
        }
    }

    /// Returns true if the values are equal to the report's digits.
    pub fn is_exact(&self) -> bool {
        // The tolerance covers the floating-point error of a sum of decimals.
        (self.simulated - self.measured).abs() <= self.rounding * (1.0 + 1e-9)
    }
}

/// Comparison of a run with a profiled launch.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// Metrics that both have.
    pub held: Vec<Held>,
    /// Metrics of the report without a simulated value.
    pub unknown: Vec<String>,
}

impl Profile {
    /// Parses a report.
    ///
    /// # Errors
    /// Fails at the first invalid line.
    pub fn parse(text: &str) -> Result<Profile, Unreadable> {
        layout::read(text)
    }

    /// Returns the launches that match a run.
    /// Kernel, grid and block (if the report has them) must be equal, and so must the constants for
    /// which it has columns (`log2_n` is the logarithm of `n`).
    pub fn launches_of<'p>(
        &'p self,
        kernel: &str,
        grid: [u32; 3],
        block: [u32; 3],
        constants: &[(String, i64)],
    ) -> Vec<&'p Launched> {
        let fits = |l: &&Launched| {
            l.kernel == kernel
                && l.grid.is_none_or(|g| g == grid)
                && l.block.is_none_or(|b| b == block)
                && l.constants(constants.iter().map(|(name, _)| name.as_str()))
                    .iter()
                    .all(|c| constants.contains(c))
        };
        self.launches.iter().filter(fits).collect()
    }
}

impl Launched {
    /// Returns the constants among `known` that the report states, with their values.
    pub fn constants<'n>(&self, known: impl Iterator<Item = &'n str>) -> Vec<(String, i64)> {
        let value = |name: &str| {
            self.labels.iter().find_map(|(label, text)| {
                let number: i64 = text.parse().ok()?;
                match label.strip_prefix("log2_") {
                    _ if label == name => Some(number),
                    Some(rest) if rest == name => {
                        1i64.checked_shl(u32::try_from(number).ok()?).filter(|n| *n > 0)
                    }
                    _ => None,
                }
            })
        };
        known.filter_map(|name| Some((name.to_string(), value(name)?))).collect()
    }

    /// Names the launch by its labels or its shape.
    pub fn title(&self) -> String {
        let shape = |extent: [u32; 3]| extent.map(|n| n.to_string()).join("x");
        let labels = self.labels.iter().map(|(name, value)| format!("{name} {value}"));
        let grid = self.grid.map(|grid| format!("grid {}", shape(grid)));
        let block = self.block.map(|block| format!("block {}", shape(block)));
        let all: Vec<String> = labels.chain(grid).chain(block).collect();
        if all.is_empty() {
            self.kernel.clone()
        } else {
            format!("{} ({})", self.kernel, all.join(", "))
        }
    }

    /// Compares a run with the measured values.
    pub fn hold(&self, run: &Run) -> Comparison {
        let mut done = Comparison { held: Vec::new(), unknown: Vec::new() };
        for measurement in &self.measurements {
            let simulated = known(&measurement.name).and_then(|metric| {
                let value = run.metrics.get(&metric.name).copied()?;
                Some(metric.in_ncu_units(value))
            });
            match simulated {
                Some((value, unit)) => done.held.push(Held {
                    name: measurement.name.clone(),
                    unit,
                    simulated: value.as_f64(),
                    measured: measurement.value,
                    rounding: measurement.rounding,
                }),
                None => done.unknown.push(measurement.name.clone()),
            }
        }
        done
    }
}

/// Returns true for names of numeric metrics.
/// They are Nsight's own (`unit__counter.rollup`) and ours. Other columns and rows hold text.
fn is_counted(name: &str) -> bool {
    name.split_once("__").is_some_and(|(unit, _)| COUNTING.contains(&unit)) || known(name).is_some()
}

/// Units of a GPU that have counters.
const COUNTING: [&str; 12] =
    ["dram", "gpc", "gpu", "l1tex", "lts", "pcie", "sm", "smsp", "sys", "tpc", "fbpa", "idc"];

/// Finds the metric of a name in a report.
fn known(name: &str) -> Option<&'static Metric> {
    metrics::find(name).or_else(|| {
        let (_, ncu) = SECTION_NAMES.iter().find(|(section, _)| *section == name)?;
        metrics::find(ncu)
    })
}

/// Names in Nsight Compute's sections that mean the same as a metric of ours.
const SECTION_NAMES: &[(&str, &str)] = &[
    ("Elapsed Cycles", "sm__cycles_elapsed.max"),
    ("Duration", "gpu__time_duration.sum"),
    ("Executed Ipc Active", "sm__inst_executed.avg.per_cycle_active"),
    ("Issued Ipc Active", "sm__inst_issued.avg.per_cycle_active"),
    ("Executed Instructions", "smsp__inst_executed.sum"),
    ("Issued Instructions", "smsp__inst_issued.sum"),
    ("Achieved Occupancy", "sm__warps_active.avg.pct_of_peak_sustained_active"),
    ("Avg. Active Threads Per Warp", "smsp__thread_inst_executed_per_inst_executed.ratio"),
    (
        "Avg. Not Predicated Off Threads Per Warp",
        "smsp__thread_inst_executed_pred_on_per_inst_executed.ratio",
    ),
    ("Branch Efficiency", "smsp__sass_average_branch_targets_threads_uniform.pct"),
];

#[cfg(test)]
mod tests;
