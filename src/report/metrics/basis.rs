//! What kind of figure a metric is: counted, or estimated by the model of time.
//!
//! A count follows from the program, its input and the rules of the machine (which lanes share an instruction, a sector, a bank); it is
//! the same whatever an instruction or an access takes. An estimate follows from cycles, or from what caches happened to hold.
//! Where lanes wait for each other in a loop, or threads race, counts depend on time as well: then the program, not the
//! simulator, is what cannot be told in advance.

use super::{Group, Metric};

/// What kind of figure a metric is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Basis {
    /// An exact count, or a ratio of such.
    Count,
    /// An estimate by the model of time and caches.
    Model,
}

impl Basis {
    /// It in a word.
    pub const fn noun(self) -> &'static str {
        match self {
            Basis::Count => "count",
            Basis::Model => "estimate",
        }
    }

    /// It in words.
    pub const fn words(self) -> &'static str {
        match self {
            Basis::Count => "exact count",
            Basis::Model => "model estimate",
        }
    }
}

/// Counts in a group of estimates.
const COUNTS: [&str; 4] = ["warps_launched", "threads_launched", "sm_cta_launched", "l2_atomic_transactions"];
/// Estimates in a group of counts.
const ESTIMATES: [&str; 5] =
    ["issue_slot_utilization", "issue_slots_lost", "l1_hit_sectors", "global_hit_rate", "local_hit_rate"];

impl Metric {
    /// What kind of figure it is.
    pub fn basis(&self) -> Basis {
        let estimated = match self.group {
            Group::Time | Group::Device | Group::Stalls | Group::WarpStates => !COUNTS.contains(&self.name),
            Group::Instructions | Group::Divergence | Group::Global | Group::Shared | Group::Local => {
                ESTIMATES.contains(&self.name) || self.unit.ends_with("/s")
            }
        };
        if estimated { Basis::Model } else { Basis::Count }
    }
}
