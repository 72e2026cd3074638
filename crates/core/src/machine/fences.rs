//! Fences of memory beyond the block, in machine code (MEMBAR).
//!
//! A fence ends when the stores that the SM has sent are done. One of the GPU takes longer if the
//! SM has accessed memory since its last fence, and still longer if that was in the other partition
//! of L2, however long ago. It does not end before those of other warps that are under way.
//! Measured on an H200 with one to eight warps (docs/calibration.md, *Fences*). Not modeled: a
//! fence of the block waits for the load/store unit, and of two fences of a scheduler's warps,
//! without an access, the second one takes some 200 cycles more.

use crate::base::Cycle;
use crate::spec::Fences;

/// Fences of one SM.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FenceUnit {
    /// End of the fences of the GPU so far.
    until: Cycle,
}

impl FenceUnit {
    /// Returns the end of a fence of the GPU at `now`, which takes `alone` cycles by itself; `sent`
    /// is when the SM's last store so far has left it, 0 if there is none.
    pub(super) fn gpu(&mut self, now: Cycle, alone: Cycle, sent: Cycle) -> Cycle {
        self.until = self.until.max(now.max(sent) + alone);
        self.until
    }
}

/// Returns the end of a fence of the system at `now`.
pub(super) fn system(times: &Fences, now: Cycle, sent: Cycle) -> Cycle {
    (now + Cycle::from(times.system)).max(sent + Cycle::from(times.stores))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fence_waits_for_stores_and_for_fences_under_way() {
        let mut unit = FenceUnit::default();
        assert_eq!(unit.gpu(1000, 380, 0), 1380);
        assert_eq!(unit.gpu(1004, 250, 0), 1380, "with the first");
        assert_eq!(unit.gpu(1200, 250, 0), 1450);
        assert_eq!(unit.gpu(2000, 380, 1990), 2380);
        assert_eq!(unit.gpu(3000, 380, 3500), 3880, "the last store has left");
        let times = Fences { gpu: 250, accessed: 380, system: 960, stores: 900 };
        assert_eq!([0, 1990, 2990].map(|sent| system(&times, 2000, sent)), [2960, 2960, 3890]);
    }
}
