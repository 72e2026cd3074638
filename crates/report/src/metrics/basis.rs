//! The basis of a metric: program, compiler, or the model of time and caches.
//!
//! A count follows from the program, its input and the rules of the machine (which lanes share an
//! instruction, a sector, a bank); it does not depend on latencies. Some counts follow from the
//! program alone (requests, sectors, wavefronts, conflicts); others also from the compiler
//! (instructions, branches, divergence), which a simulator of PTX can only model. An estimate
//! follows from cycles or from the contents of caches. If lanes wait for each other in a loop, or
//! threads race, the program makes its counts depend on time.

use super::{Group, Metric};

/// Basis of a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Basis {
    /// Count, or ratio of counts, that follows from the program alone.
    Program,
    /// Count, or ratio of counts, that also follows from the compiler.
    Compiler,
    /// Estimate by the model of time and caches.
    Model,
}

impl Basis {
    /// All, most accurate first.
    pub const ALL: [Basis; 3] = [Basis::Program, Basis::Compiler, Basis::Model];

    /// Returns the basis in two words.
    pub const fn words(self) -> &'static str {
        match self {
            Basis::Program => "program count",
            Basis::Compiler => "compiler count",
            Basis::Model => "model estimate",
        }
    }

    /// Returns a heading for figures of this basis.
    pub const fn title(self) -> &'static str {
        match self {
            Basis::Program => "Program counts",
            Basis::Compiler => "Compiler counts",
            Basis::Model => "Model estimates (time and caches)",
        }
    }
}

/// Program counts in a group of other figures.
const PROGRAM: [&str; 5] =
    ["warps_launched", "threads_launched", "sm_cta_launched", "l2_atomic_transactions", "barriers"];
/// Model estimates in a group of counts.
const ESTIMATES: [&str; 5] = [
    "issue_slot_utilization",
    "issue_slots_lost",
    "l1_hit_sectors",
    "global_hit_rate",
    "local_hit_rate",
];
/// Compiler counts in a group of program counts.
const COMPILER: [&str; 1] = ["shared_replay_overhead"];

impl Metric {
    /// Returns true if the metric follows from cycles or the contents of caches: a run without a
    /// clock does not have it.
    pub fn needs_time(&self) -> bool {
        self.basis() == Basis::Model
    }

    /// Returns the basis of the metric.
    pub fn basis(&self) -> Basis {
        let named = |names: &[&str]| names.contains(&self.name);
        match self.group {
            _ if named(&PROGRAM) => Basis::Program,
            _ if named(&ESTIMATES) || self.unit.ends_with("/s") => Basis::Model,
            Group::Time | Group::Device | Group::Stalls | Group::WarpStates => Basis::Model,
            // ptxas chooses registers and spills.
            Group::Instructions | Group::Divergence | Group::Local => Basis::Compiler,
            Group::Global | Group::Shared if named(&COMPILER) => Basis::Compiler,
            // Sectors follow from a layout that NVIDIA does not publish.
            Group::Texture if !self.name.ends_with("_requests") => Basis::Model,
            Group::Global | Group::Shared | Group::Texture => Basis::Program,
        }
    }
}
