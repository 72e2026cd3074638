//! Goals of a search through the run.

use super::notes::StepNote;
use crate::base::{BlockId, Pc};

/// Warp in focus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Focus {
    /// Block, by its linear index in the grid.
    pub block: BlockId,
    /// Warp index in the block.
    pub warp: u32,
}

/// Step after which to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goal {
    /// Issue of the warp in focus.
    Issue,
    /// Issue of any warp.
    AnyIssue,
    /// Divergent branch of the warp.
    Divergence,
    /// Step after which lanes of the warp have reconverged.
    Join,
    /// Arrival of the warp at a block barrier, or release of its block.
    Barrier,
    /// Step after which this source line is next.
    Line(u32),
    /// Divergent execution of this branch by any warp.
    BranchDiverges(Pc),
}

impl Goal {
    /// Returns true if a step meets the goal. `next` returns the source line that the focused warp
    /// issues next.
    pub(super) fn is_met(
        self,
        focus: Focus,
        note: &StepNote,
        next: impl FnOnce() -> Option<u32>,
    ) -> bool {
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

/// End of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reached {
    /// Stopped at a step that meets the goal.
    Goal,
    /// Stopped at the end of the run or, backwards, at its start.
    End,
    /// Stopped after the step budget.
    Budget,
}
