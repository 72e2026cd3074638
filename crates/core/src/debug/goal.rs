//! Where one can run to.

use super::notes::StepNote;
use crate::base::{BlockId, Pc};

/// The warp that is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Focus {
    /// Its block, by its linear index in the grid.
    pub block: BlockId,
    /// Its index in the block.
    pub warp: u32,
}

/// After which step to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goal {
    /// An issue of the warp that is looked at.
    Issue,
    /// An issue of any warp.
    AnyIssue,
    /// A branch at which its lanes part.
    Divergence,
    /// A step with which lanes of it meet.
    Join,
    /// Its arrival at a block barrier, or the release of its block from one.
    Barrier,
    /// The step that brings it to this source line: the line is next.
    Line(u32),
    /// A divergent execution of this branch by any warp.
    BranchDiverges(Pc),
}

impl Goal {
    /// Whether a step is one after which to stop. `next` is asked for the source line that the warp in focus issues next.
    pub(super) fn is_met(self, focus: Focus, note: &StepNote, next: impl FnOnce() -> Option<u32>) -> bool {
        let in_block = note.block == focus.block;
        let mine = in_block && note.warp == focus.warp;
        match self {
            Goal::Issue => mine,
            Goal::AnyIssue => true,
            Goal::Divergence => mine && note.diverges(),
            Goal::Join => mine && note.met.is_some(),
            Goal::Barrier => mine && note.arrived || in_block && note.released > 0,
            Goal::Line(line) => (mine || in_block && note.released > 0) && next() == Some(line),
            Goal::BranchDiverges(pc) => note.pc == pc && note.diverges(),
        }
    }
}

/// How a search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reached {
    /// At a step that meets the goal.
    Goal,
    /// At the end of the run, or at its beginning when it went back.
    End,
    /// After as many steps as it was allowed.
    Budget,
}
