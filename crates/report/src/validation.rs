//! Comparison of the simulator with a GPU.
//! Programs and counters get an accuracy label by a stated rule.
//!
//! [`Validation`] is the value that `simt-sim crosscheck --suite` prints as text, as JSON and as
//! the page `docs/reference/validation.md`. Its inputs are computed elsewhere: memory of each
//! program ([`ProgramRow`]), and runs compared with profiled launches ([`ProfileRow`]).
//! [`Trust::of`] is the rule. Reasons for differences, and what is not modelled, are data:
//! [`Known`]. Labels of metrics come from unseen kernels ([`super::evidence`]).

mod known;
mod page;
mod trust;

pub use known::{Gap, Known, Reason};
pub use trust::{Feature, Trust};

pub(super) use page::cells;

use serde::Serialize;

use super::profile::Held;

/// Results of a comparison with a GPU.
#[derive(Clone, Debug, Serialize)]
pub struct Validation {
    /// [`Validation::SCHEMA`].
    pub schema: &'static str,
    /// The simulator's version.
    pub version: &'static str,
    /// Simulated machine and mode.
    pub simulated: String,
    /// Programs by path, with the results for their memory.
    pub programs: Vec<ProgramRow>,
    /// Profiled launches.
    pub profiles: Vec<ProfileRow>,
    /// Generated programs with observations.
    pub generated: Vec<GeneratedRow>,
    /// Machine parameters, measured by small programs.
    pub parameters: Vec<ParameterRow>,
    /// Accuracy of each feature of the model.
    pub features: Vec<Feature>,
    /// Known differences and gaps.
    #[serde(skip)]
    pub known: Known,
}

/// Results of a program.
#[derive(Clone, Debug, Serialize)]
pub struct ProgramRow {
    /// Path in the folder.
    pub program: String,
    /// Device, driver and date; empty if not measured.
    pub measured_on: String,
    /// Accuracy of the memory contents.
    pub memory: Trust,
    /// Data that was compared, or the first difference.
    pub detail: String,
    /// Accuracy of the divergence counts of each branch.
    /// `None` if not counted on the device.
    pub divergence: Option<Trust>,
    /// Kernel time in microseconds: simulated, and between two events on the device. The latter
    /// times a first launch; for a short kernel that is mostly loading, so it gets no label.
    pub micros: Option<[f64; 2]>,
}

/// A run compared with a profiled launch.
#[derive(Clone, Debug, Serialize)]
pub struct ProfileRow {
    /// Path of the program in the folder.
    pub program: String,
    /// Launch: kernel and shape or constants.
    pub launch: String,
    /// Threads of the launch.
    pub threads: u64,
    /// Counters.
    pub held: Vec<Held>,
    /// Measured counters that the simulator does not have.
    pub unknown: Vec<String>,
}

/// A machine parameter measured by a small program, on the simulator and on a GPU.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ParameterRow {
    /// Experiment.
    pub experiment: &'static str,
    /// Parameter of the machine file, and anything else that the figure includes.
    pub parameter: &'static str,
    /// Unit of both figures.
    pub unit: &'static str,
    /// Figure of the simulated machine.
    pub simulated: f64,
    /// Figure of the GPU.
    pub measured: f64,
}

/// Generated programs of one kind that ran on a device.
#[derive(Clone, Debug, Serialize)]
pub struct GeneratedRow {
    /// Contents of the programs.
    pub kind: &'static str,
    /// Device, driver and date.
    pub measured_on: String,
    /// Number of programs.
    pub programs: usize,
    /// Programs whose lanes reconverged elsewhere than in volta mode.
    pub explained: usize,
    /// Programs without divergence counts, because the probes' lane counts varied.
    pub uncounted: usize,
}

impl ProfileRow {
    /// Returns a counter by Nsight Compute's name.
    pub fn counter(&self, name: &str) -> Option<&Held> {
        self.held.iter().find(|h| h.name == name)
    }

    /// Returns the number of exact counters.
    pub fn exact(&self) -> usize {
        self.held.iter().filter(|h| h.is_exact()).count()
    }
}

/// Page with the results for each program's memory.
pub const PROGRAMS: &str = "docs/reference/validation-programs.md#programs";

/// Counters shown in tables; `--verbose` and JSON have all.
pub const SHOWN: [&str; 15] = [
    "smsp__sass_branch_targets_threads_divergent.sum",
    "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
    "lts__t_sectors_op_read.sum",
    "lts__t_sectors_op_write.sum",
    "dram__bytes_read.sum",
    "dram__bytes_write.sum",
    "smsp__average_inst_executed_per_warp.ratio",
    "smsp__thread_inst_executed_per_inst_executed.ratio",
    "sm__inst_executed.avg.per_cycle_active",
    "sm__warps_active.avg.pct_of_peak_sustained_active",
    "sm__cycles_elapsed.max",
    CYCLES,
];

/// Counter of active cycles of the busiest SM.
pub const CYCLES: &str = "sm__cycles_active.max";

/// Minimum threads of a large launch.
pub const LARGE: u64 = 1 << 20;

/// Makes the page `docs/reference/validation.md`.
/// It has the accuracy on unseen kernels, and what is not modelled.
pub fn summary(known: &Known) -> String {
    page::page(known)
}

impl Validation {
    /// Schema tag of the JSON form.
    pub const SCHEMA: &'static str = "simt-sim/validation/2";

    /// Builds a validation and labels the features.
    pub fn new(
        simulated: String,
        programs: Vec<ProgramRow>,
        profiles: Vec<ProfileRow>,
        generated: Vec<GeneratedRow>,
        parameters: Vec<ParameterRow>,
        known: Known,
    ) -> Validation {
        let features = trust::features(&programs, &profiles, &generated, &known);
        let (schema, version) = (Validation::SCHEMA, env!("CARGO_PKG_VERSION"));
        Validation {
            schema,
            version,
            simulated,
            programs,
            profiles,
            generated,
            parameters,
            features,
            known,
        }
    }

    /// Returns true if every difference has a known reason.
    pub fn is_explained(&self) -> bool {
        let divergence = self.programs.iter().filter_map(|p| p.divergence.as_ref());
        let mut all = self
            .programs
            .iter()
            .map(|p| &p.memory)
            .chain(divergence)
            .chain(self.features.iter().map(|f| &f.trust));
        all.all(|trust| !matches!(trust, Trust::Differs { reason: None }))
    }

    /// Makes the page `docs/reference/validation-programs.md`: details of each program and launch.
    pub fn appendix(&self) -> String {
        page::appendix(self)
    }

    /// Returns the validation as indented JSON, ending in a line break.
    ///
    /// # Errors
    /// None of its own: every value has a JSON form.
    pub fn to_json(&self) -> serde_json::Result<String> {
        serde_json::to_string_pretty(self).map(|json| json + "\n")
    }
}

#[cfg(test)]
mod tests;
