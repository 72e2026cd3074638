//! What kind of figure a metric is: what it follows from.
//!
//! A count follows from the program, its input and the rules of the machine (which lanes share an instruction, a sector, a
//! bank); it is the same whatever an instruction or an access takes. Of counts, some follow from the program alone
//! (requests, sectors, wavefronts, conflicts); others from what the compiler makes of it as well (instructions, branches,
//! divergence), which a simulator of PTX can only model. An estimate follows from cycles, or from what caches happened to
//! hold. Where lanes wait for each other in a loop, or threads race, counts depend on time as well: then the program, not
//! the simulator, is what cannot be told in advance.

use super::{Group, Metric};

/// What kind of figure a metric is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Basis {
    /// A count, or a ratio of such, that follows from the program alone.
    Program,
    /// A count, or a ratio of such, that follows from the compiler, too.
    Compiler,
    /// An estimate by the model of time and caches.
    Model,
}

impl Basis {
    /// All, in the order of trust.
    pub const ALL: [Basis; 3] = [Basis::Program, Basis::Compiler, Basis::Model];

    /// It in a few words.
    pub const fn words(self) -> &'static str {
        match self {
            Basis::Program => "program count",
            Basis::Compiler => "compiler count",
            Basis::Model => "model estimate",
        }
    }

    /// A heading for figures of this kind.
    pub const fn title(self) -> &'static str {
        match self {
            Basis::Program => "Counts that follow from the program alone",
            Basis::Compiler => "Counts that follow from the compiler, too",
            Basis::Model => "Time and caches",
        }
    }
}

/// Counts of the program in a group of other figures.
const PROGRAM: [&str; 5] =
    ["warps_launched", "threads_launched", "sm_cta_launched", "l2_atomic_transactions", "barriers"];
/// Estimates in a group of counts.
const ESTIMATES: [&str; 5] =
    ["issue_slot_utilization", "issue_slots_lost", "l1_hit_sectors", "global_hit_rate", "local_hit_rate"];
/// Counts of the compiler in a group of counts of the program.
const COMPILER: [&str; 1] = ["shared_replay_overhead"];

impl Metric {
    /// What kind of figure it is.
    pub fn basis(&self) -> Basis {
        let named = |names: &[&str]| names.contains(&self.name);
        match self.group {
            _ if named(&PROGRAM) => Basis::Program,
            _ if named(&ESTIMATES) || self.unit.ends_with("/s") => Basis::Model,
            Group::Time | Group::Device | Group::Stalls | Group::WarpStates => Basis::Model,
            // What ptxas keeps in registers, and what it spills, is its own choice.
            Group::Instructions | Group::Divergence | Group::Local => Basis::Compiler,
            Group::Global | Group::Shared if named(&COMPILER) => Basis::Compiler,
            Group::Global | Group::Shared => Basis::Program,
        }
    }
}
