//! Measured accuracy of figures on unseen kernels.
//! The kernels were not used to build or tune the simulator.
//!
//! [`Evidence`] is a file written by `simt-sim crosscheck --unseen` and compiled in:
//! `crates/report/evidence/h200.ron` for runs of PTX, `h200-sass.ron` for runs of machine code. It
//! has the errors of each metric on two sets of kernels: *mend*, which may be used to correct the
//! model, and *held*, which only state the error. Labels come from *held* alone ([`Standing`]) and
//! hold for at least nine of ten of its kernels.
//!
//! These runs have two blocks an SM; `larger.csv` has the cycles of *held* with four times as many.
//!
//! Evidence applies to the contents of a machine file: a run has it if its [`Fingerprint`] is
//! equal. Program and compiler counts do not depend on latencies, so for them the digest of counts
//! is enough.

mod larger;
mod standing;
mod states;
mod table;

pub use larger::{TIMES, larger_errors, larger_grids, note_of_larger};
pub use standing::{PAGE, Standing};
pub use states::{ALL_STATES, POINTS, Points, STATES, Share, StateErrors, state_row};
pub use table::{CHOSEN, HEADER, KERNELS, by_basis, kernel_row};

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use super::metrics;
use super::profile::Held;

/// Code that a run executes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CodeKind {
    /// PTX, or a program in simt-sim's own assembly. Machine code is modelled.
    #[default]
    Ptx,
    /// Machine code.
    Sass,
}

impl CodeKind {
    /// All, in the order of tables.
    pub const ALL: [CodeKind; 2] = [CodeKind::Ptx, CodeKind::Sass];

    /// Returns the name in files and on the command line, also the extension of a program.
    pub const fn name(self) -> &'static str {
        match self {
            CodeKind::Ptx => "ptx",
            CodeKind::Sass => "sass",
        }
    }

    /// Returns the title of a table.
    pub const fn title(self) -> &'static str {
        match self {
            CodeKind::Ptx => "PTX",
            CodeKind::Sass => "Machine code",
        }
    }

    /// Returns the basis of a metric in runs of such code.
    /// Machine code needs no model of the compiler.
    pub fn basis(self, metric: &metrics::Metric) -> metrics::Basis {
        match (self, metric.basis()) {
            (CodeKind::Sass, metrics::Basis::Compiler) => metrics::Basis::Program,
            (_, basis) => basis,
        }
    }
}

/// Code of a run and digests of its machine, which evidence must match to apply.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fingerprint {
    /// Code that the run executes.
    pub code: CodeKind,
    /// Digest of everything that counts depend on.
    pub counts: String,
    /// Digest of everything that any figure depends on.
    pub whole: String,
    /// Architecture of machine code that no GPU was measured with: 75 for sm_75.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unmeasured: Option<u32>,
}

/// Contents of the evidence file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Evidence {
    /// Name of the simulated machine.
    pub machine: String,
    /// Digests of the simulated machine.
    pub fingerprint: Fingerprint,
    /// Measurement setup.
    pub recorded: Recorded,
    /// Number of kernels in the sets *mend* and *held*.
    pub kernels: (usize, usize),
    /// Errors of each metric with a recorded counter.
    pub metrics: Vec<MetricErrors>,
    /// Errors of the warp states' shares, of all together first. Empty for PTX.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub states: Vec<StateErrors>,
    /// Results of each kernel.
    pub each: Vec<KernelErrors>,
}

/// Setup of a measurement.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recorded {
    /// GPU name.
    pub gpu: String,
    /// Driver version.
    pub driver: String,
    /// Compiler version.
    pub cuda: String,
    /// Profiler version.
    pub profiler: String,
    /// Date.
    pub date: String,
    /// Kernels whose counters depend on timing: their threads wait for, or race with, others.
    pub timed: Vec<String>,
}

/// Errors of a metric against a GPU's counter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MetricErrors {
    /// First name of the metric.
    pub metric: String,
    /// Nsight Compute's name.
    pub counter: String,
    /// Errors on the set *mend*.
    pub mend: Option<Errors>,
    /// Errors on the set *held*.
    pub held: Option<Errors>,
}

/// Errors of one metric on the kernels in which it occurs.
/// It occurs if simulator or GPU have a value other than 0.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Errors {
    /// Kernels in which the metric occurs.
    pub kernels: usize,
    /// Kernels in which it equals the measured figure, to the printed digits.
    pub exact: usize,
    /// First of [`Errors::STEPS`] that holds for nine of ten kernels, and their number.
    /// `None` if there is none.
    pub within: Option<(u32, usize)>,
    /// Kernels beyond the last step.
    pub beyond: usize,
    /// Error in percent that at least nine of ten kernels stay within.
    /// `None` if more than one in ten has a figure that the GPU does not have.
    pub nine_tenths: Option<f64>,
    /// Mean absolute error in percent; a figure that the GPU does not have counts as 100.
    pub mean: f64,
}

/// Results of one kernel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KernelErrors {
    /// Kernel name.
    pub kernel: String,
    /// True for the set *mend*.
    pub mend: bool,
    /// Modes in which the output equals the GPU's, bit by bit.
    pub output: Vec<String>,
    /// Number of compared counters that are not 0 on both sides, and how many are exact.
    pub figures: (usize, usize),
    /// Errors in percent of instructions, active cycles, and cycles with the launch.
    pub errors: [Option<f64>; 3],
}

/// A kernel run compared with a GPU's results.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct UnseenRow {
    /// Kernel name.
    pub kernel: String,
    /// True for the set *mend*.
    pub mend: bool,
    /// Each mode with its outcome, and true if its output equals the GPU's.
    pub outputs: Vec<(String, String, bool)>,
    /// Counters, in the mode of the machine.
    pub held: Vec<Held>,
    /// Shares of the warp states, of machine code.
    pub states: Vec<Share>,
}

impl Errors {
    /// Percentages used in labels.
    pub const STEPS: [u32; 11] = [1, 2, 3, 5, 10, 15, 20, 25, 30, 40, 50];

    /// Computes the errors of some figures; `None` if none occurs.
    pub fn of<'h>(figures: impl Iterator<Item = &'h Held>) -> Option<Errors> {
        let occurring: Vec<&Held> =
            figures.filter(|h| h.simulated != 0.0 || h.measured != 0.0).collect();
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
                away.iter()
                    .map(|error| if error.is_finite() { *error } else { 100.0 })
                    .sum::<f64>()
                    / kernels as f64,
            ),
        })
    }
}

/// Returns the absolute error of a figure in percent.
fn off(held: &Held) -> f64 {
    if held.is_exact() { 0.0 } else { held.error().map_or(f64::INFINITY, f64::abs) }
}

/// Rounds up to a tenth, so that the stated bound holds.
fn tenths(percent: f64) -> f64 {
    (percent * 10.0 - 1e-9).ceil() / 10.0 + 0.0
}

/// Counters of [`KernelErrors::errors`].
pub const TOTALS: [&str; 3] =
    ["smsp__inst_executed.sum", "sm__cycles_active.max", "sm__cycles_elapsed.max"];

impl Evidence {
    /// Builds evidence from runs of both sets.
    pub fn new(
        machine: String,
        fingerprint: Fingerprint,
        recorded: Recorded,
        rows: &[UnseenRow],
    ) -> Evidence {
        let of = |name: &str, mend: bool| {
            Errors::of(
                rows.iter()
                    .filter(|r| r.mend == mend)
                    .flat_map(|r| &r.held)
                    .filter(|h| h.name == name),
            )
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
            states: states::errors(rows),
            each: rows.iter().map(KernelErrors::of).collect(),
        }
    }

    /// Parses the file.
    ///
    /// # Errors
    /// Fails with place and reason if the file is not valid evidence.
    pub fn parse(text: &str) -> Result<Evidence, String> {
        ron::from_str(text).map_err(|e| e.to_string())
    }

    /// Prints the file: RON, a line per metric and kernel.
    ///
    /// # Errors
    /// Never fails in practice: every field has a RON form.
    pub fn to_text(&self) -> Result<String, String> {
        let pretty = ron::ser::PrettyConfig::new().depth_limit(2).indentor(" ").new_line("\n");
        let body = ron::ser::to_string_pretty(self, pretty).map_err(|e| e.to_string())?;
        Ok(format!(
            "// Written by `BLESS=1 cargo test --test suite unseen`; see README.md.\n{body}\n"
        ))
    }

    /// Returns the errors of a metric.
    pub fn metric(&self, name: &str) -> Option<&MetricErrors> {
        self.metrics.iter().find(|e| e.metric == name)
    }

    /// Returns the GPU's name without its maker.
    pub fn gpu(&self) -> &str {
        self.recorded.gpu.trim_start_matches("NVIDIA ")
    }

    /// Returns the kernels of a set whose counters depend on timing.
    pub fn timed(&self, mend: bool) -> Vec<&str> {
        let timed = |kernel: &&KernelErrors| {
            kernel.mend == mend && self.recorded.timed.contains(&kernel.kernel)
        };
        self.each.iter().filter(timed).map(|kernel| kernel.kernel.as_str()).collect()
    }

    /// Returns sentences about kernels whose counters depend on timing, and about those that
    /// cannot be run; empty without any.
    pub fn exceptions(&self) -> String {
        let mut text = String::new();
        let [mend, held] = [true, false].map(|mend| self.timed(mend));
        let n = mend.len() + held.len();
        if n > 0 {
            let names = [held.as_slice(), &mend].concat().join(", ");
            text += &format!(
                "The counters of {n} kernels depend on timing ({names}; {} held); these kernels \
                 count like the others.",
                held.len()
            );
        }
        let refused: Vec<&str> = self
            .each
            .iter()
            .filter(|kernel| kernel.figures.0 == 0)
            .map(|kernel| kernel.kernel.as_str())
            .collect();
        if !refused.is_empty() {
            let (n, names) = (refused.len(), refused.join(", "));
            text += &format!(" {n} kernels have unsupported instructions ({names}).");
        }
        text
    }

    /// Returns the measurement setup in one line.
    pub fn measured_on(&self) -> String {
        let Recorded { gpu, driver, cuda, profiler, date, .. } = &self.recorded;
        format!("{gpu}, driver {driver}, CUDA {cuda}, Nsight Compute {profiler}, {date}")
    }
}

impl KernelErrors {
    fn of(row: &UnseenRow) -> KernelErrors {
        let occurring: Vec<&Held> =
            row.held.iter().filter(|h| h.simulated != 0.0 || h.measured != 0.0).collect();
        let error = |name: &str| {
            let held = row.held.iter().find(|h| h.name == name)?;
            held.error().map(|percent| (percent * 10.0).round() / 10.0)
        };
        KernelErrors {
            kernel: row.kernel.clone(),
            mend: row.mend,
            output: row
                .outputs
                .iter()
                .filter(|(.., same)| *same)
                .map(|(mode, ..)| mode.clone())
                .collect(),
            figures: (occurring.len(), occurring.iter().filter(|h| h.is_exact()).count()),
            errors: TOTALS.map(error),
        }
    }
}

/// Returns the evidence of a kind of code that is compiled in.
/// `None` if the file is not valid, which a test refuses.
pub fn known(code: CodeKind) -> Option<&'static Evidence> {
    static PTX: LazyLock<Option<Evidence>> =
        LazyLock::new(|| Evidence::parse(include_str!("../evidence/h200.ron")).ok());
    static SASS: LazyLock<Option<Evidence>> =
        LazyLock::new(|| Evidence::parse(include_str!("../evidence/h200-sass.ron")).ok());
    match code {
        CodeKind::Ptx => PTX.as_ref(),
        CodeKind::Sass => SASS.as_ref(),
    }
}

#[cfg(test)]
mod tests;
