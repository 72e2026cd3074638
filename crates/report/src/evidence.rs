//! How far a figure may be trusted: what a GPU measured of kernels that the simulator was not built with.
//!
//! [`Evidence`] is a file, `trust/h200.ron`, that `simt-sim crosscheck --unseen` computes and that is compiled in. It has
//! the errors of each metric on two sets of kernels: those that the model may be corrected with, and those that only
//! state the error. Labels come from the second set alone ([`Standing`]), and hold for at least nine of ten of it.
//!
//! Evidence is of a machine file's contents: a run has it if its [`Fingerprint`] is the same. What follows from the
//! program or from the compiler does not depend on latencies, so there the digest of counts is enough.

mod standing;
mod table;

pub use standing::{PAGE, Standing};
pub use table::{CHOSEN, HEADER, KERNELS, by_basis, kernel_row};

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use super::metrics;
use super::profile::Held;

/// What evidence must have been taken with for it to hold of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fingerprint {
    /// Digest of what counts can depend on.
    pub counts: String,
    /// Digest of everything that a figure can depend on.
    pub whole: String,
}

/// The file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Evidence {
    /// The machine that was simulated, by name.
    pub machine: String,
    /// The same by contents.
    pub fingerprint: Fingerprint,
    /// What was measured on.
    pub recorded: Recorded,
    /// Kernels that the model may be corrected with, and kernels that only state the error.
    pub kernels: (usize, usize),
    /// The errors of each metric that a counter was recorded of.
    pub metrics: Vec<MetricErrors>,
    /// What came of each kernel.
    pub each: Vec<KernelErrors>,
}

/// What a set of counters was measured on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recorded {
    /// The GPU.
    pub gpu: String,
    /// The driver's version.
    pub driver: String,
    /// The compiler's version.
    pub cuda: String,
    /// The profiler's version.
    pub profiler: String,
    /// The day.
    pub date: String,
}

/// How a metric came out beside a counter of a GPU.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MetricErrors {
    /// The metric's first name.
    pub metric: String,
    /// Nsight Compute's name.
    pub counter: String,
    /// On kernels that the model may be corrected with.
    pub mend: Option<Errors>,
    /// On kernels that only state the error.
    pub held: Option<Errors>,
}

/// The errors of one metric on the kernels in which it occurs: where simulator or GPU have another value than 0.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Errors {
    /// Kernels in which it occurs.
    pub kernels: usize,
    /// Those in which it is the measured figure, as far as its printed digits go.
    pub exact: usize,
    /// The first of [`Errors::STEPS`] that at least nine of ten kernels stay within, and how many do; `None`: no step.
    pub within: Option<(u32, usize)>,
    /// Kernels that are further off than the last step.
    pub beyond: usize,
    /// The error in percent that at least nine of ten kernels stay within; `None`: more than one in ten has a figure where
    /// the GPU has none.
    pub nine_tenths: Option<f64>,
    /// The mean of the errors in percent, without signs; a figure where the GPU has none counts as 100.
    pub mean: f64,
}

/// What came of one kernel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KernelErrors {
    /// The kernel.
    pub kernel: String,
    /// Whether the model may be corrected with it.
    pub mend: bool,
    /// The modes in which its output is that of the GPU, bit by bit.
    pub output: Vec<String>,
    /// Counters that were compared and are not 0 on both sides, and how many of them are exact.
    pub figures: (usize, usize),
    /// The errors in percent of instructions, of active cycles and of cycles with the launch.
    pub errors: [Option<f64>; 3],
}

/// A kernel, run and held against what a GPU did with it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct UnseenRow {
    /// The kernel.
    pub kernel: String,
    /// Whether the model may be corrected with it.
    pub mend: bool,
    /// How each mode ended, and whether its output is the GPU's.
    pub outputs: Vec<(String, String, bool)>,
    /// Counter by counter, in the mode of the machine.
    pub held: Vec<Held>,
}

impl Errors {
    /// Percentages that labels speak of.
    pub const STEPS: [u32; 11] = [1, 2, 3, 5, 10, 15, 20, 25, 30, 40, 50];

    /// The errors of some figures; `None` where none occurs.
    pub fn of<'h>(figures: impl Iterator<Item = &'h Held>) -> Option<Errors> {
        let occurring: Vec<&Held> = figures.filter(|h| h.simulated != 0.0 || h.measured != 0.0).collect();
        let mut away: Vec<f64> = occurring.iter().map(|h| off(h)).collect();
        away.sort_by(f64::total_cmp);
        let kernels = away.len();
        let inside = |most: f64| away.iter().filter(|error| **error <= most).count();
        let bound = away.get((9 * kernels).div_ceil(10).checked_sub(1)?).copied()?;
        let most = f64::from(Errors::STEPS[Errors::STEPS.len() - 1]);
        let step = Errors::STEPS.into_iter().find(|step| bound <= f64::from(*step));
        Some(Errors {
            kernels,
            exact: inside(0.0),
            within: step.map(|step| (step, inside(f64::from(step)))),
            beyond: kernels - inside(most),
            nine_tenths: bound.is_finite().then(|| tenths(bound)),
            mean: tenths(
                away.iter().map(|error| if error.is_finite() { *error } else { 100.0 }).sum::<f64>() / kernels as f64,
            ),
        })
    }
}

/// The error of a figure in percent, without its sign.
fn off(held: &Held) -> f64 {
    if held.is_exact() { 0.0 } else { held.error().map_or(f64::INFINITY, f64::abs) }
}

/// Rounded up to a tenth, so that what is stated holds.
fn tenths(percent: f64) -> f64 {
    (percent * 10.0 - 1e-9).ceil() / 10.0 + 0.0
}

/// Counters of [`KernelErrors::errors`].
pub const TOTALS: [&str; 3] = ["smsp__inst_executed.sum", "sm__cycles_active.max", "sm__cycles_elapsed.max"];

impl Evidence {
    /// What runs of both sets say.
    pub fn new(machine: String, fingerprint: Fingerprint, recorded: Recorded, rows: &[UnseenRow]) -> Evidence {
        let of = |name: &str, mend: bool| {
            Errors::of(rows.iter().filter(|r| r.mend == mend).flat_map(|r| &r.held).filter(|h| h.name == name))
        };
        let measured = metrics::all().iter().filter_map(|metric| Some((metric, metric.ncu?)));
        let errors = measured.map(|(metric, counter)| MetricErrors {
            metric: metric.name.to_owned(),
            counter: counter.to_owned(),
            mend: of(counter, true),
            held: of(counter, false),
        });
        let number = |mend: bool| rows.iter().filter(|r| r.mend == mend).count();
        Evidence {
            machine,
            fingerprint,
            recorded,
            kernels: (number(true), number(false)),
            metrics: errors.filter(|e| e.mend.is_some() || e.held.is_some()).collect(),
            each: rows.iter().map(KernelErrors::of).collect(),
        }
    }

    /// Reads the file.
    ///
    /// # Errors
    /// Where and why it is none.
    pub fn parse(text: &str) -> Result<Evidence, String> {
        ron::from_str(text).map_err(|e| e.to_string())
    }

    /// The file: RON, a line for each metric and each kernel.
    ///
    /// # Errors
    /// Never in practice: every field can be written.
    pub fn to_text(&self) -> Result<String, String> {
        let pretty = ron::ser::PrettyConfig::new().depth_limit(2).indentor(" ").new_line("\n");
        let body = ron::ser::to_string_pretty(self, pretty).map_err(|e| e.to_string())?;
        Ok(format!("// Written by `BLESS=1 cargo test --test suite unseen`; see README.md.\n{body}\n"))
    }

    /// The errors of a metric.
    pub fn metric(&self, name: &str) -> Option<&MetricErrors> {
        self.metrics.iter().find(|e| e.metric == name)
    }

    /// The GPU's name without its maker.
    pub fn gpu(&self) -> &str {
        self.recorded.gpu.trim_start_matches("NVIDIA ")
    }

    /// What was measured on, in a line.
    pub fn measured_on(&self) -> String {
        let Recorded { gpu, driver, cuda, profiler, date } = &self.recorded;
        format!("{gpu}, driver {driver}, CUDA {cuda}, Nsight Compute {profiler}, {date}")
    }
}

impl KernelErrors {
    fn of(row: &UnseenRow) -> KernelErrors {
        let occurring: Vec<&Held> = row.held.iter().filter(|h| h.simulated != 0.0 || h.measured != 0.0).collect();
        let error = |name: &str| {
            let held = row.held.iter().find(|h| h.name == name)?;
            held.error().map(|percent| (percent * 10.0).round() / 10.0)
        };
        KernelErrors {
            kernel: row.kernel.clone(),
            mend: row.mend,
            output: row.outputs.iter().filter(|(.., same)| *same).map(|(mode, ..)| mode.clone()).collect(),
            figures: (occurring.len(), occurring.iter().filter(|h| h.is_exact()).count()),
            errors: TOTALS.map(error),
        }
    }
}

/// The evidence that is compiled in; `None` where the file is not one, which a test refuses.
pub fn known() -> Option<&'static Evidence> {
    static KNOWN: LazyLock<Option<Evidence>> =
        LazyLock::new(|| Evidence::parse(include_str!("../evidence/h200.ron")).ok());
    KNOWN.as_ref()
}

#[cfg(test)]
mod tests;
