//! Block barriers in divergent code.
//!
//! `bar.sync` promises that all lanes of a warp arrive together. Since Volta, a machine may run the
//! lanes to the same barrier one group after another, for example after a spin loop. That is no
//! mistake of the program. A mistake is a branch that sends some lanes of a warp to the barrier and
//! others past it. The checker therefore records every lane's outcomes at the branches around
//! aligned barriers and compares them when the barrier opens, independently of the order of
//! arrival.

use super::steps::Facts;
use crate::base::{LaneMask, MAX_LANES, Pc};

/// Latest outcomes of one branch for the lanes of a warp.
#[derive(Clone, Debug, Default)]
pub(super) struct Decisions {
    /// Executions of the branch by lane.
    times: [u32; MAX_LANES],
    /// Outcomes by lane, the latest in the lowest bit; 1 means taken.
    ways: [u64; MAX_LANES],
}

impl Decisions {
    /// Records that `lanes` execute the branch and `taken` take it.
    pub(super) fn decide(&mut self, lanes: LaneMask, taken: LaneMask) {
        for lane in lanes.lanes() {
            let i = lane as usize % MAX_LANES;
            self.times[i] = self.times[i].saturating_add(1);
            self.ways[i] = self.ways[i] << 1 | u64::from(taken.contains(lane));
        }
    }

    /// Returns a lane's outcome at its `time`-th execution (from 1), if recorded.
    fn way(&self, lane: u32, time: u32) -> Option<bool> {
        let lane = lane as usize % MAX_LANES;
        let later = self.times[lane].checked_sub(time).filter(|_| time > 0)?;
        (later < u64::BITS).then(|| self.ways[lane] >> later & 1 == 1)
    }
}

/// Arrival of lanes at an aligned barrier that may lie in divergent code.
#[derive(Clone, Debug)]
pub(super) struct AlignedArrival<F> {
    /// Warp slot.
    pub slot: usize,
    /// PC of the barrier.
    pub pc: Pc,
    /// Lanes that arrive.
    pub lanes: LaneMask,
    /// Executions of the branches around the barrier by each lane, at arrival.
    times: Vec<[u32; MAX_LANES]>,
    /// Finding to report if the barrier is not divergent.
    pub otherwise: Option<F>,
}

impl<F> AlignedArrival<F> {
    /// Creates an arrival. `facts` belong to the barrier, `decisions` to the warp.
    pub(super) fn new(
        (slot, pc, lanes): (usize, Pc, LaneMask),
        facts: &Facts,
        decisions: &[Decisions],
        otherwise: Option<F>,
    ) -> AlignedArrival<F> {
        let times =
            facts.decided_by.iter().filter_map(|&d| Some(decisions.get(d)?.times)).collect();
        AlignedArrival { slot, pc, lanes, times, otherwise }
    }

    /// Returns the lanes of `others` with another outcome at a controlling branch.
    pub(super) fn kept_away(
        &self,
        facts: &Facts,
        decisions: &[Decisions],
        others: LaneMask,
    ) -> LaneMask {
        let differs = |other: &u32| {
            facts.decided_by.iter().zip(&self.times).any(|(&d, times)| {
                let Some(decisions) = decisions.get(d) else { return false };
                self.lanes.lanes().any(|lane| {
                    // A lane with fewer executions may have left the loop around the barrier.
                    let time = times[lane as usize % MAX_LANES]
                        .min(decisions.times[*other as usize % MAX_LANES]);
                    let ways = (decisions.way(lane, time), decisions.way(*other, time));
                    matches!(ways, (Some(here), Some(there)) if here != there)
                })
            })
        };
        others.lanes().filter(differs).fold(LaneMask::EMPTY, |all, lane| all | LaneMask::lane(lane))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks::steps::Role;

    fn facts() -> Facts {
        let role = Role::Barrier { aligned: true, sync: true };
        Facts {
            line: 1,
            role,
            uses: Vec::new(),
            copies: false,
            decision: None,
            decided_by: vec![0],
            waits_whole: false,
            returns: false,
        }
    }

    /// Returns the lanes kept away from a barrier, by executions of one branch.
    ///
    /// Each pair holds the lanes of an execution and those that take the branch. Then lanes 0 and 1
    /// arrive at the barrier.
    fn kept(order: &[(u32, u32)]) -> u32 {
        let mut decisions = vec![Decisions::default()];
        for &(lanes, taken) in order {
            decisions[0].decide(LaneMask(lanes), LaneMask(taken));
        }
        let arrival: AlignedArrival<()> =
            AlignedArrival::new((0, Pc(0), LaneMask(0b11)), &facts(), &decisions, None);
        arrival.kept_away(&facts(), &decisions, LaneMask(0b1100)).0
    }

    #[test]
    fn lanes_that_took_another_way_are_kept_away() {
        assert_eq!(kept(&[(0b1111, 0b1111)]), 0);
        assert_eq!(kept(&[(0b1111, 0b0011)]), 0b1100);
        assert_eq!(
            kept(&[(0b0011, 0b0011), (0b0100, 0b0100), (0b1000, 0)]),
            0b1000,
            "one after the other"
        );
        assert_eq!(kept(&[(0b0011, 0b0011)]), 0, "the others have not come there yet");
        assert_eq!(kept(&[(0b1111, 0b0011), (0b1111, 0b1111)]), 0, "they were apart once, and met");
        assert_eq!(
            kept(&[(0b1111, 0b0111), (0b0111, 0b0011), (0b0011, 0b0011)]),
            0b1100,
            "a loop left early"
        );
        assert_eq!(
            kept(&[(0b1100, 0), (0b1100, 0b1100), (0b0011, 0b0011)]),
            0b1100,
            "they were ahead"
        );
    }
}
