//! State of each lane of a warp at an issue.

use super::{Control, Issue};
use crate::base::LaneMask;
use crate::divergence::GroupState;

/// Lane state. Each lane of a warp is in one state at each issue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LaneState {
    /// Executes the step.
    Active,
    /// Active with a false guard: the step has no effect for it.
    PredicatedOff,
    /// Ready, while another group of its warp runs; or yielded to it.
    MaskedOff,
    /// Waits for other lanes of its warp: at a join, the reconvergence point, or a `.sync`
    /// instruction.
    AtJoin,
    /// Waits at a block barrier.
    AtBarrier,
    /// Exited, or never existed (in the last warp of a block).
    Exited,
}

impl LaneState {
    /// All states in declaration order.
    pub const ALL: [LaneState; 6] = [
        LaneState::Active,
        LaneState::PredicatedOff,
        LaneState::MaskedOff,
        LaneState::AtJoin,
        LaneState::AtBarrier,
        LaneState::Exited,
    ];

    /// Returns the letter used in lane maps.
    pub const fn letter(self) -> char {
        match self {
            LaneState::Active => '#',
            LaneState::PredicatedOff => '-',
            LaneState::MaskedOff => '.',
            LaneState::AtJoin => 'w',
            LaneState::AtBarrier => 'b',
            LaneState::Exited => 'x',
        }
    }

    /// Returns the name of the state.
    pub const fn name(self) -> &'static str {
        match self {
            LaneState::Active => "active",
            LaneState::PredicatedOff => "predicated off",
            LaneState::MaskedOff => "masked off",
            LaneState::AtJoin => "waits at a join",
            LaneState::AtBarrier => "waits at a barrier",
            LaneState::Exited => "exited",
        }
    }
}

impl Control {
    /// Returns the live lanes blocked at a join and at a block barrier.
    pub fn blocked(&self) -> (LaneMask, LaneMask) {
        let (mut join, mut barrier) = (LaneMask::EMPTY, LaneMask::EMPTY);
        for group in &self.groups {
            match group.state {
                GroupState::Running | GroupState::Ready | GroupState::Yielded => {}
                GroupState::AtJoin(_)
                | GroupState::AtReconvergence
                | GroupState::Gathering(_)
                | GroupState::Aligning => {
                    join |= group.lanes;
                }
                GroupState::AtBarrier(_) => barrier |= group.lanes,
            }
        }
        (join, barrier)
    }
}

impl Issue {
    /// Returns the lanes in each state, by `LaneState as usize`.
    ///
    /// They partition `lanes`, the lanes of a full warp.
    pub fn masks(&self, lanes: LaneMask) -> [LaneMask; LaneState::ALL.len()] {
        let live = self.state.live() | self.active;
        let (join, barrier) = self.state.blocked();
        let off = live - self.active;
        [
            self.executed,
            self.active - self.executed,
            off - join - barrier,
            off & join,
            (off & barrier) - join,
            lanes - live,
        ]
    }

    /// Returns the state of each lane of a warp of `warp_size` lanes.
    pub fn lane_states(&self, warp_size: u32) -> Vec<LaneState> {
        let masks = self.masks(LaneMask::first_n(warp_size));
        let of =
            |lane| LaneState::ALL.into_iter().find(|&state| masks[state as usize].contains(lane));
        (0..warp_size.min(32)).map(|lane| of(lane).unwrap_or(LaneState::Exited)).collect()
    }
}
