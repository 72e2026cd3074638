//! Findings: one per kind and pair of source lines, with its first case and a count.

use std::collections::BTreeMap;

use crate::base::{LaneMask, Pc};
use crate::diag::Severity;
use crate::event::MemoryKind;

/// Kind of mistake.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Unsynchronized accesses to shared memory.
    RaceShared,
    /// Unsynchronized accesses to global memory.
    RaceGlobal,
    /// Uninitialized read of a register.
    UnsetRegister,
    /// Uninitialized read of shared memory.
    UnsetShared,
    /// Uninitialized read of local memory.
    UnsetLocal,
    /// Block barrier in divergent code.
    BarrierInParts,
    /// Threads arrive at one barrier from different aligned instructions.
    BarrierMixed,
    /// Thread counts of a barrier that differ or exceed the block.
    BarrierCount,
    /// `.sync` instruction whose mask names live lanes that do not execute it.
    MaskAbsent,
    /// `.sync` instruction whose mask does not name lanes that execute it.
    MaskWithoutSelf,
    /// Shuffle that reads an inactive lane.
    UndefinedShuffle,
    /// Race of two writes of the same value.
    RaceSameValue,
    /// Block barrier after threads of the block have exited.
    BarrierAfterExit,
    /// `.sync` instruction whose mask names exited lanes.
    MaskEnded,
}

impl Kind {
    /// Returns the diagnostic code.
    pub const fn code(self) -> &'static str {
        match self {
            Kind::RaceShared => "race-shared",
            Kind::RaceGlobal => "race-global",
            Kind::RaceSameValue => "race-same-value",
            Kind::UnsetRegister => "unset-register",
            Kind::UnsetShared => "unset-shared",
            Kind::UnsetLocal => "unset-local",
            Kind::BarrierInParts => "barrier-in-parts",
            Kind::BarrierMixed => "barrier-mixed",
            Kind::BarrierCount => "barrier-count",
            Kind::BarrierAfterExit => "barrier-after-exit",
            Kind::MaskAbsent => "mask-absent-lane",
            Kind::MaskEnded => "mask-ended-lane",
            Kind::MaskWithoutSelf => "mask-without-self",
            Kind::UndefinedShuffle => "undefined-shuffle",
        }
    }

    /// Returns the severity. A warning does not change the result on existing GPUs.
    pub const fn severity(self) -> Severity {
        match self {
            Kind::RaceSameValue | Kind::BarrierAfterExit | Kind::MaskEnded => Severity::Warning,
            _ => Severity::Error,
        }
    }
}

/// Action of a thread at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Does {
    /// Reads.
    Reads,
    /// Writes.
    Writes,
    /// Reads and writes atomically.
    Updates,
    /// Executes an instruction that accesses no memory.
    Is,
    /// Exited.
    Ends,
}

/// Lanes at an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// PC of the step.
    pub pc: Pc,
    /// Block index in the grid.
    pub block: u32,
    /// Warp index in the block.
    pub warp: u32,
    /// Lanes involved.
    pub lanes: LaneMask,
    /// Action of the lanes.
    pub does: Does,
}

/// One finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Kind of mistake.
    pub kind: Kind,
    /// Place at which the mistake was detected.
    pub here: Place,
    /// Other place, such as the earlier access of a race.
    pub there: Option<Place>,
    /// Memory and address of the first byte that both accesses touch.
    pub at: Option<(MemoryKind, u64)>,
    /// Further detail: a register, lanes or a count.
    pub detail: String,
    /// Number of occurrences of this pair of lines.
    pub times: u64,
}

/// Findings by kind and pair of lines.
#[derive(Clone, Debug, Default)]
pub(super) struct Findings(BTreeMap<(Kind, u32, u32), Finding>);

impl Findings {
    /// Counts an occurrence at two lines. The first one of a pair calls `make`.
    pub(super) fn add(&mut self, kind: Kind, lines: [u32; 2], make: impl FnOnce() -> Finding) {
        let [a, b] = lines;
        let found = self
            .0
            .entry((kind, a.min(b), a.max(b)))
            .or_insert_with(|| Finding { times: 0, ..make() });
        found.times += 1;
    }

    pub(super) fn merge(&mut self, other: Findings) {
        for (key, finding) in other.0 {
            match self.0.entry(key) {
                std::collections::btree_map::Entry::Vacant(place) => {
                    place.insert(finding);
                }
                std::collections::btree_map::Entry::Occupied(mut known) => {
                    known.get_mut().times += finding.times
                }
            }
        }
    }

    #[cfg(test)]
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn into_vec(self) -> Vec<Finding> {
        self.0.into_values().collect()
    }
}
