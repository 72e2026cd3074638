//! How far the simulator may be trusted: programs and counters held against a GPU, and a label for each by a stated rule.
//!
//! [`Validation`] is what `simt-sim crosscheck --suite` prints, as text, as JSON and as the page `docs/validation.md`. It is made of
//! values that others computed: what became of each program's memory ([`ProgramRow`]), and runs held against profiled launches
//! ([`ProfileRow`]). The rule is [`Trust::of`]. Reasons of differences and what is not modelled are data: [`Known`].
//! The labels of metrics come from elsewhere: kernels that nothing was built on ([`super::evidence`]).

mod known;
mod page;
mod trust;

pub use known::{Gap, Known, Reason};
pub use trust::{Feature, Trust};

pub(super) use page::cells;

use serde::Serialize;

use super::profile::Held;

/// Everything that was held against a GPU.
#[derive(Clone, Debug, Serialize)]
pub struct Validation {
    /// [`Validation::SCHEMA`].
    pub schema: &'static str,
    /// The simulator's version.
    pub version: &'static str,
    /// The machine and mode that were simulated.
    pub simulated: String,
    /// Programs and their memory, by path.
    pub programs: Vec<ProgramRow>,
    /// Profiled launches.
    pub profiles: Vec<ProfileRow>,
    /// The generated programs of which there are observations.
    pub generated: Vec<GeneratedRow>,
    /// The machine's parameters, as small programs measure them.
    pub parameters: Vec<ParameterRow>,
    /// What all of it says of each feature of the model.
    pub features: Vec<Feature>,
    /// The reasons and gaps that the labels come from.
    #[serde(skip)]
    pub known: Known,
}

/// A program, and what became of its memory.
#[derive(Clone, Debug, Serialize)]
pub struct ProgramRow {
    /// Its path in the folder.
    pub program: String,
    /// The device, driver and day; empty when nothing was measured.
    pub measured_on: String,
    /// Whether the memory agrees.
    pub memory: Trust,
    /// What was compared, or where the first difference is.
    pub detail: String,
    /// Whether each branch diverged as counted on the device; `None` where nobody counted.
    pub divergence: Option<Trust>,
    /// Microseconds of the kernel: simulated, and between two events on the device. The latter are of a first launch, which of a short
    /// kernel is loading more than anything else, so that no label is made of them.
    pub micros: Option<[f64; 2]>,
}

/// A run held against a launch that a profiler measured.
#[derive(Clone, Debug, Serialize)]
pub struct ProfileRow {
    /// The program's path in the folder.
    pub program: String,
    /// The launch: kernel and shape or constants.
    pub launch: String,
    /// Threads of the launch.
    pub threads: u64,
    /// Counter by counter.
    pub held: Vec<Held>,
    /// Measured counters that the simulator does not have.
    pub unknown: Vec<String>,
}

/// A figure that a small program measures of a machine, on the simulator and on a GPU.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ParameterRow {
    /// The experiment.
    pub experiment: &'static str,
    /// The parameter of the machine file, and what else is in the figure.
    pub parameter: &'static str,
    /// The unit of both figures.
    pub unit: &'static str,
    /// On the simulated machine.
    pub simulated: f64,
    /// On the GPU.
    pub measured: f64,
}

/// The generated programs of one kind that ran on a device.
#[derive(Clone, Debug, Serialize)]
pub struct GeneratedRow {
    /// What they are made of.
    pub kind: &'static str,
    /// The device, driver and day.
    pub measured_on: String,
    /// How many.
    pub programs: usize,
    /// Those whose lanes were together elsewhere than in volta mode.
    pub explained: usize,
    /// Those of which probes did not count the same lanes throughout, so that nothing is known of their divergence.
    pub uncounted: usize,
}

impl ProfileRow {
    /// A counter by Nsight Compute's name.
    pub fn counter(&self, name: &str) -> Option<&Held> {
        self.held.iter().find(|h| h.name == name)
    }

    /// How many counters are exact.
    pub fn exact(&self) -> usize {
        self.held.iter().filter(|h| h.is_exact()).count()
    }
}

/// Where a reader finds what became of each program's memory.
pub const PROGRAMS: &str = "docs/validation-programs.md#programs";

/// The counters that tables show; `--verbose` and JSON have all.
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

/// The counter of cycles: those in which the busiest SM had work.
pub const CYCLES: &str = "sm__cycles_active.max";

/// Threads from which on a launch counts as large.
pub const LARGE: u64 = 1 << 20;

/// The page `docs/validation.md`: what is known of kernels that nothing was built with, and what is not modelled.
pub fn summary(known: &Known) -> String {
    page::page(known)
}

impl Validation {
    /// The tag of the JSON form.
    pub const SCHEMA: &'static str = "simt-sim/validation/2";

    /// Puts everything together and labels the features.
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
        Validation { schema, version, simulated, programs, profiles, generated, parameters, features, known }
    }

    /// Whether nothing differs without a reason.
    pub fn is_explained(&self) -> bool {
        let divergence = self.programs.iter().filter_map(|p| p.divergence.as_ref());
        let mut all =
            self.programs.iter().map(|p| &p.memory).chain(divergence).chain(self.features.iter().map(|f| &f.trust));
        all.all(|trust| !matches!(trust, Trust::Differs { reason: None }))
    }

    /// The page `docs/validation-programs.md`: what the other has of each program and launch.
    pub fn appendix(&self) -> String {
        page::appendix(self)
    }

    /// The validation as indented JSON, ending in a line break.
    ///
    /// # Errors
    /// None of its own: every value has a JSON form.
    pub fn to_json(&self) -> serde_json::Result<String> {
        serde_json::to_string_pretty(self).map(|json| json + "\n")
    }
}

#[cfg(test)]
mod tests;
