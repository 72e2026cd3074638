//! What a profiler measured on a real GPU: an `ncu --csv` report as a value, and a run held against it.
//!
//! Three layouts are read. *Long* is what `ncu --csv` prints: a row for each metric, in the columns `Metric Name`, `Metric Unit` and
//! `Metric Value`. *Wide* is `ncu --csv --page raw`: a column for each metric, the units in the row below the names, then a row
//! for each launch. *Tidy* is the long one with one-word columns (`kernel,n,block,metric,unit,value`), for figures that were
//! collected by hand. Lines before the header (`==PROF==`, what the application printed) are skipped. Numbers may be quoted and
//! may have commas between groups of digits; values are brought to the base units that [`Metric::in_ncu_units`] has.
//!
//! Not read: reports in a language other than English, rules (`Rule Name`), instances of a metric behind its value, source pages.
//! Source: Nsight Compute CLI, "Output" and "CSV".

mod csv;
mod layout;
mod units;

use serde::Serialize;

use super::Run;
use super::metrics::{self, Metric};

/// A report: the launches in it, in its order.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Profile {
    /// The launches.
    pub launches: Vec<Launched>,
}

/// A launch that was profiled.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Launched {
    /// The kernel, without parameters and template arguments.
    pub kernel: String,
    /// The line of the report where it is first spoken of.
    pub line: usize,
    /// Blocks in x, y, z, if the report says so.
    pub grid: Option<[u32; 3]>,
    /// Threads a block in x, y, z, if the report says so.
    pub block: Option<[u32; 3]>,
    /// What else stands beside the kernel: column and value.
    pub labels: Vec<(String, String)>,
    /// What was measured, in the report's order.
    pub measurements: Vec<Measurement>,
}

/// One measured value.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Measurement {
    /// Nsight Compute's name.
    pub name: String,
    /// The value in base units.
    pub value: f64,
    /// How far the printed value may be from the measured one: half of its last digit; 0 of a plain count.
    pub rounding: f64,
}

/// What cannot be read, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {reason}")]
pub struct Unreadable {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub reason: String,
}

/// A measured metric beside the simulated one.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Held {
    /// Nsight Compute's name.
    pub name: String,
    /// The unit of both values; empty for plain ratios.
    pub unit: &'static str,
    /// What the simulator says.
    pub simulated: f64,
    /// What the GPU did.
    pub measured: f64,
    /// See [`Measurement::rounding`].
    pub rounding: f64,
}

impl Held {
    /// How far the simulated value is from the measured one, in percent of that; `None` where one of the two is zero and the other
    /// is not.
    pub fn error(&self) -> Option<f64> {
        match self.simulated - self.measured {
            0.0 => Some(0.0),
            _ if self.measured == 0.0 => None,
            difference => Some(100.0 * difference / self.measured),
        }
    }

    /// Whether the two are the same as far as the report's digits go.
    pub fn is_exact(&self) -> bool {
        // The last place of a sum of decimals is no difference.
        (self.simulated - self.measured).abs() <= self.rounding * (1.0 + 1e-9)
    }
}

/// A run held against a launch that was profiled.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// The metrics that both have.
    pub held: Vec<Held>,
    /// Metrics of the report that the simulator does not have, or has no value for in this run.
    pub unknown: Vec<String>,
}

impl Profile {
    /// Reads a report.
    ///
    /// # Errors
    /// The first line that is not as it must be.
    pub fn parse(text: &str) -> Result<Profile, Unreadable> {
        layout::read(text)
    }

    /// The launches that a run is of: the same kernel, the same grid and block where the report has them, and the same constants
    /// where it has columns of their names (`log2_n` stands for the logarithm of `n`).
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
                && l.constants(constants.iter().map(|(name, _)| name.as_str())).iter().all(|c| constants.contains(c))
        };
        self.launches.iter().filter(fits).collect()
    }
}

impl Launched {
    /// The constants among `known` that the report's columns state, with their values.
    pub fn constants<'n>(&self, known: impl Iterator<Item = &'n str>) -> Vec<(String, i64)> {
        let value = |name: &str| {
            self.labels.iter().find_map(|(label, text)| {
                let number: i64 = text.parse().ok()?;
                match label.strip_prefix("log2_") {
                    _ if label == name => Some(number),
                    Some(rest) if rest == name => 1i64.checked_shl(u32::try_from(number).ok()?).filter(|n| *n > 0),
                    _ => None,
                }
            })
        };
        known.filter_map(|name| Some((name.to_string(), value(name)?))).collect()
    }

    /// The launch in a few words: its labels, or its shape.
    pub fn title(&self) -> String {
        let shape = |extent: [u32; 3]| extent.map(|n| n.to_string()).join("x");
        let labels = self.labels.iter().map(|(name, value)| format!("{name} {value}"));
        let grid = self.grid.map(|grid| format!("grid {}", shape(grid)));
        let block = self.block.map(|block| format!("block {}", shape(block)));
        let all: Vec<String> = labels.chain(grid).chain(block).collect();
        if all.is_empty() { self.kernel.clone() } else { format!("{} ({})", self.kernel, all.join(", ")) }
    }

    /// Holds a run against what was measured.
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

/// Whether a name is one of those that have numbers: Nsight's own (`unit__counter.rollup`), or one that we know. Other
/// columns and rows hold text.
fn is_counted(name: &str) -> bool {
    name.split_once("__").is_some_and(|(unit, _)| COUNTING.contains(&unit)) || known(name).is_some()
}

/// The units of a GPU that count.
const COUNTING: [&str; 12] = ["dram", "gpc", "gpu", "l1tex", "lts", "pcie", "sm", "smsp", "sys", "tpc", "fbpa", "idc"];

/// The metric that a name of a report stands for.
fn known(name: &str) -> Option<&'static Metric> {
    metrics::find(name).or_else(|| {
        let (_, ncu) = SECTION_NAMES.iter().find(|(section, _)| *section == name)?;
        metrics::find(ncu)
    })
}

/// Names that Nsight Compute's sections print for a metric, where they mean the same as ours.
const SECTION_NAMES: &[(&str, &str)] = &[
    ("Elapsed Cycles", "sm__cycles_elapsed.max"),
    ("Duration", "gpu__time_duration.sum"),
    ("Executed Ipc Active", "sm__inst_executed.avg.per_cycle_active"),
    ("Issued Ipc Active", "sm__inst_issued.avg.per_cycle_active"),
    ("Executed Instructions", "smsp__inst_executed.sum"),
    ("Issued Instructions", "smsp__inst_issued.sum"),
    ("Achieved Occupancy", "sm__warps_active.avg.pct_of_peak_sustained_active"),
    ("Avg. Active Threads Per Warp", "smsp__thread_inst_executed_per_inst_executed.ratio"),
    ("Avg. Not Predicated Off Threads Per Warp", "smsp__thread_inst_executed_pred_on_per_inst_executed.ratio"),
    ("Branch Efficiency", "smsp__sass_average_branch_targets_threads_uniform.pct"),
];

#[cfg(test)]
mod tests;
