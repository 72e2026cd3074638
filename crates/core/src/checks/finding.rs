//! What is found: one value for each kind and pair of source lines, with the first case and how often it came.

use std::collections::BTreeMap;

use crate::base::{LaneMask, Pc};
use crate::diag::Severity;
use crate::event::MemoryKind;

/// What is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Two accesses to shared memory that nothing orders.
    RaceShared,
    /// Two accesses to global memory that nothing orders.
    RaceGlobal,
    /// A register is read that nothing has written.
    UnsetRegister,
    /// Shared memory is read that nothing has written.
    UnsetShared,
    /// Local memory is read that nothing has written.
    UnsetLocal,
    /// A branch keeps lanes of a warp from a block barrier.
    BarrierInParts,
    /// Threads meet at one barrier from different aligned instructions.
    BarrierMixed,
    /// A barrier's thread counts differ, or are more than can come.
    BarrierCount,
    /// A `.sync` instruction names live lanes that do not execute it.
    MaskAbsent,
    /// A shuffle reads a lane that does not take part.
    UndefinedShuffle,
    /// A race of two writes of the same value.
    RaceSameValue,
    /// A block barrier after some threads of the block have ended.
    BarrierAfterExit,
    /// A `.sync` instruction names lanes that have ended.
    MaskEnded,
}

impl Kind {
    /// Its diagnostic code.
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
            Kind::UndefinedShuffle => "undefined-shuffle",
        }
    }

    /// How bad it is. A warning leaves the result as it should be on the machines that there are.
    pub const fn severity(self) -> Severity {
        match self {
            Kind::RaceSameValue | Kind::BarrierAfterExit | Kind::MaskEnded => Severity::Warning,
            _ => Severity::Error,
        }
    }
}

/// What a thread does at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Does {
    /// Reads.
    Reads,
    /// Writes.
    Writes,
    /// Reads and writes at once.
    Updates,
    /// Is there.
    Is,
    /// Has ended there.
    Ends,
}

/// Lanes at an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The step.
    pub pc: Pc,
    /// The block.
    pub block: u32,
    /// The warp's index in it.
    pub warp: u32,
    /// The lanes.
    pub lanes: LaneMask,
    /// What they do.
    pub does: Does,
}

/// One finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What is wrong.
    pub kind: Kind,
    /// Where it came out.
    pub here: Place,
    /// The other place.
    pub there: Option<Place>,
    /// The memory and the address of the first byte that both touch.
    pub at: Option<(MemoryKind, u64)>,
    /// What else names it: a register, lanes, a count.
    pub detail: String,
    /// How often this pair of lines came.
    pub times: u64,
}

/// All that was found: by kind and pair of lines.
#[derive(Clone, Debug, Default)]
pub(super) struct Findings(BTreeMap<(Kind, u32, u32), Finding>);

impl Findings {
    /// One more. `lines` are those of its two places; `make` is asked for it if it is the first of its pair.
    pub(super) fn add(&mut self, kind: Kind, lines: [u32; 2], make: impl FnOnce() -> Finding) {
        let [a, b] = lines;
        let found = self.0.entry((kind, a.min(b), a.max(b))).or_insert_with(|| Finding { times: 0, ..make() });
        found.times += 1;
    }

    pub(super) fn merge(&mut self, other: Findings) {
        for (key, finding) in other.0 {
            match self.0.entry(key) {
                std::collections::btree_map::Entry::Vacant(place) => {
                    place.insert(finding);
                }
                std::collections::btree_map::Entry::Occupied(mut known) => known.get_mut().times += finding.times,
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
