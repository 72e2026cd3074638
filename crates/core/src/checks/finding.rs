//! Findings: one per kind and pair of source lines, with one case and a count.
//!
//! The case is the first one with the threads farthest from each other: what orders threads of
//! different warps or blocks orders those of one warp, too.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

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
    /// Uninitialized read of device memory.
    UnsetGlobal,
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
            Kind::UnsetGlobal => "unset-global",
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

impl Finding {
    /// Returns how far its threads are from each other.
    fn reach(&self) -> Reach {
        self.there.map_or(Reach::Warp, |there| {
            Reach::between((self.here.block, self.here.warp), (there.block, there.warp))
        })
    }
}

/// Smallest group of threads that has both of two threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Reach {
    /// A warp.
    Warp,
    /// A block.
    Block,
    /// The grid.
    Grid,
}

impl Reach {
    /// Returns the group of two warps, each given by its block and its index.
    pub(super) fn between(a: (u32, u32), b: (u32, u32)) -> Reach {
        if a.0 != b.0 {
            Reach::Grid
        } else if a.1 != b.1 {
            Reach::Block
        } else {
            Reach::Warp
        }
    }
}

/// Findings by kind and pair of lines.
#[derive(Clone, Debug, Default)]
pub(super) struct Findings(BTreeMap<(Kind, u32, u32), Finding>);

impl Findings {
    /// Counts an occurrence at two lines. The first one of a pair calls `make`.
    pub(super) fn add(&mut self, kind: Kind, lines: [u32; 2], make: impl FnOnce() -> Finding) {
        self.add_between(kind, lines, Reach::Warp, make);
    }

    /// As [`Findings::add`], for threads this far from each other.
    pub(super) fn add_between(
        &mut self,
        kind: Kind,
        [a, b]: [u32; 2],
        reach: Reach,
        make: impl FnOnce() -> Finding,
    ) {
        let made = || Finding { times: 1, ..make() };
        match self.0.entry((kind, a.min(b), a.max(b))) {
            Entry::Vacant(place) => _ = place.insert(made()),
            Entry::Occupied(mut known) if known.get().reach() < reach => {
                let times = known.get().times + 1;
                known.insert(Finding { times, ..made() });
            }
            Entry::Occupied(mut known) => known.get_mut().times += 1,
        }
    }

    pub(super) fn merge(&mut self, other: Findings) {
        for ((kind, a, b), finding) in other.0 {
            let (times, reach) = (finding.times, finding.reach());
            self.add_between(kind, [a, b], reach, || finding);
            if let Some(known) = self.0.get_mut(&(kind, a, b)) {
                known.times += times - 1;
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
