//! Lanes of a warp that the program keeps from an aligned block barrier.
//!
//! `bar.sync` promises that the lanes of a warp come together. From Volta on the machine may bring
//! them one part after another to the same barrier, after a loop in which some of them waited for an
//! atomic for example: that is no fault of the program. It is at fault where its own branches send
//! some lanes of a warp to the barrier and others past it. So every lane's ways at the branches
//! around aligned barriers are kept, and compared when the barrier opens, whatever order the lanes
//! came in.

use super::steps::Facts;
use crate::base::{LaneMask, MAX_LANES, Pc};

/// The latest ways that the lanes of a warp took at one branch.
#[derive(Clone, Debug, Default)]
pub(super) struct Decisions {
    /// By lane: how often it came to the branch.
    times: [u32; MAX_LANES],
    /// By lane: whether it took the branch, the latest time in the lowest bit.
    ways: [u64; MAX_LANES],
}

impl Decisions {
    /// `lanes` come to the branch; those of `taken` take it.
    pub(super) fn decide(&mut self, lanes: LaneMask, taken: LaneMask) {
        for lane in lanes.lanes() {
            let i = lane as usize % MAX_LANES;
            self.times[i] = self.times[i].saturating_add(1);
            self.ways[i] = self.ways[i] << 1 | u64::from(taken.contains(lane));
        }
    }

    /// The way that a lane took the `time`-th time (the first is 1), if that is still known.
    fn way(&self, lane: u32, time: u32) -> Option<bool> {
        let lane = lane as usize % MAX_LANES;
        let later = self.times[lane].checked_sub(time).filter(|_| time > 0)?;
        (later < u64::BITS).then(|| self.ways[lane] >> later & 1 == 1)
    }
}

/// An arrival of lanes at an aligned barrier to which a branch may keep lanes from coming.
#[derive(Clone, Debug)]
pub(super) struct Came<F> {
    /// The warp slot.
    pub slot: usize,
    /// The barrier.
    pub pc: Pc,
    /// The lanes.
    pub lanes: LaneMask,
    /// How often they had come to each of the branches around the barrier by then.
    times: Vec<[u32; MAX_LANES]>,
    /// What is wrong with the arrival if the lanes are not apart.
    pub otherwise: Option<F>,
}

impl<F> Came<F> {
    /// `facts`: those of the barrier; `decisions`: the warp's.
    pub(super) fn new(
        (slot, pc, lanes): (usize, Pc, LaneMask),
        facts: &Facts,
        decisions: &[Decisions],
        otherwise: Option<F>,
    ) -> Came<F> {
        let times = facts.decided_by.iter().filter_map(|&d| Some(decisions.get(d)?.times)).collect();
        Came { slot, pc, lanes, times, otherwise }
    }

    /// The lanes of `others` that one of the branches around the barrier sent another way than these.
    pub(super) fn kept_away(&self, facts: &Facts, decisions: &[Decisions], others: LaneMask) -> LaneMask {
        let parted = |other: &u32| {
            facts.decided_by.iter().zip(&self.times).any(|(&d, times)| {
                let Some(decisions) = decisions.get(d) else { return false };
                self.lanes.lanes().any(|lane| {
                    // One that has come there less often may have left the loop around the barrier.
                    let time = times[lane as usize % MAX_LANES].min(decisions.times[*other as usize % MAX_LANES]);
                    let ways = (decisions.way(lane, time), decisions.way(*other, time));
                    matches!(ways, (Some(here), Some(there)) if here != there)
                })
            })
        };
        others.lanes().filter(parted).fold(LaneMask::EMPTY, |all, lane| all | LaneMask::lane(lane))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks::steps::What;

    fn facts() -> Facts {
        let what = What::Barrier { aligned: true, sync: true };
        Facts { line: 1, what, uses: Vec::new(), decision: None, decided_by: vec![0] }
    }

    /// Lanes come to a branch in this order, and those in the second mask take it; then lanes 0 and 1
    /// come to the barrier. Which of the others were kept away.
    fn kept(order: &[(u32, u32)]) -> u32 {
        let mut decisions = vec![Decisions::default()];
        for &(lanes, taken) in order {
            decisions[0].decide(LaneMask(lanes), LaneMask(taken));
        }
        let came: Came<()> = Came::new((0, Pc(0), LaneMask(0b11)), &facts(), &decisions, None);
        came.kept_away(&facts(), &decisions, LaneMask(0b1100)).0
    }

    #[test]
    fn lanes_that_took_another_way_are_kept_away() {
        assert_eq!(kept(&[(0b1111, 0b1111)]), 0);
        assert_eq!(kept(&[(0b1111, 0b0011)]), 0b1100);
        assert_eq!(kept(&[(0b0011, 0b0011), (0b0100, 0b0100), (0b1000, 0)]), 0b1000, "one after the other");
        assert_eq!(kept(&[(0b0011, 0b0011)]), 0, "the others have not come there yet");
        assert_eq!(kept(&[(0b1111, 0b0011), (0b1111, 0b1111)]), 0, "they were apart once, and met");
        assert_eq!(kept(&[(0b1111, 0b0111), (0b0111, 0b0011), (0b0011, 0b0011)]), 0b1100, "a loop left early");
        assert_eq!(kept(&[(0b1100, 0), (0b1100, 0b1100), (0b0011, 0b0011)]), 0b1100, "they were ahead");
    }
}
