//! Times at which an SM's blocks start ([`Launches`]).
//!
//! A grid's first blocks come one after the other, all SMs in turn. Later the GPU starts a block
//! where another has ended; it handles one end after the other, for all SMs together. Measured on
//! an H200 with the clock of the first instruction of each block (docs/calibration.md).

use crate::base::Cycle;
use crate::spec;

/// Launches of one SM.
#[derive(Clone, Default)]
pub(super) struct Launches {
    times: Option<spec::Launches>,
    /// Cycles that a first block takes.
    first: Cycle,
    /// Earliest start of the next first block.
    fills_at: Cycle,
    /// Cycle from which blocks that follow others are no longer ahead of their mean pace.
    on_pace: Cycle,
}

impl Launches {
    /// Creates those of blocks of `warps`.
    pub(super) fn new(times: Option<spec::Launches>, warps: u32) -> Launches {
        let warps = Cycle::from(warps.max(1));
        let first = times
            .map_or(0, |times| Cycle::from(times.block) + (warps - 1) * Cycle::from(times.warp));
        Launches { times, first, ..Launches::default() }
    }

    /// Returns the start of one of the first blocks.
    pub(super) fn fill(&mut self) -> Cycle {
        let at = self.fills_at;
        self.fills_at += self.first;
        at
    }

    /// Returns the start of a block that could follow another at `now`.
    pub(super) fn follow(&mut self, now: Cycle) -> Cycle {
        let Some(times) = self.times else { return now };
        let [pace, burst] = [times.next, times.burst].map(Cycle::from);
        let at = now.max(self.on_pace.saturating_sub(burst * pace));
        self.on_pace = self.on_pace.max(at) + pace;
        at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_blocks_come_in_turn_and_later_ones_at_a_pace() {
        let times = spec::Launches { block: 24, warp: 1, next: 150, burst: 2 };
        let mut launches = Launches::new(Some(times), 8);
        assert_eq!([(); 3].map(|()| launches.fill()), [0, 31, 62]);
        assert_eq!([(); 4].map(|()| launches.follow(1000)), [1000, 1000, 1000, 1150]);
        assert_eq!(launches.follow(9000), 9000);
        let mut none = Launches::new(None, 8);
        assert_eq!([none.fill(), none.fill(), none.follow(70), none.follow(70)], [0, 0, 70, 70]);
    }
}
