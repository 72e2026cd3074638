//! Fences of memory beyond the block, in machine code (MEMBAR).
//!
//! A fence ends when the stores that the SM has sent are done. An SM has one fence of the GPU under
//! way: those of the same few cycles end with it, later ones wait and then take their time
//! together. Measured on an H200 with one to eight warps (docs/calibration.md, *Fences*). Not
//! modeled: a fence of the block waits for the load/store unit, and two or more stores of many
//! lines by one warp take some 200 cycles more.

use crate::base::Cycle;
use crate::spec::Fences;

/// Fences of one SM.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FenceUnit {
    /// Begin and end of the last fences of the GPU; the begin may be to come.
    from: Cycle,
    until: Cycle,
}

impl FenceUnit {
    /// Returns the end of a fence of the GPU at `now`; `sent` is when the SM's last store so far
    /// has left it.
    pub(super) fn gpu(&mut self, times: &Fences, now: Cycle, sent: Cycle) -> Cycle {
        let (alone, together) = (Cycle::from(times.gpu), Cycle::from(times.together));
        if now >= self.until {
            (self.from, self.until) = (now, now + alone);
        } else if now > self.from + together {
            (self.from, self.until) = (self.until, self.until + alone);
        }
        self.until = self.until.max(done(sent, times.stores));
        self.until
    }
}

/// Returns the end of a fence of the system at `now`.
pub(super) fn system(times: &Fences, now: Cycle, sent: Cycle) -> Cycle {
    (now + Cycle::from(times.system)).max(done(sent, times.stores + times.beyond))
}

/// Returns when stores are done of which the last has left the SM at `sent`; 0 if there are none.
fn done(sent: Cycle, cycles: u32) -> Cycle {
    if sent == 0 { 0 } else { sent + Cycle::from(cycles) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIMES: Fences = Fences { gpu: 250, system: 960, stores: 380, beyond: 300, together: 3 };

    #[test]
    fn a_fence_waits_for_stores_and_for_the_fence_before() {
        let mut unit = FenceUnit::default();
        assert_eq!(unit.gpu(&TIMES, 1000, 0), 1250);
        assert_eq!(unit.gpu(&TIMES, 1003, 0), 1250, "with the first");
        assert_eq!(unit.gpu(&TIMES, 1004, 0), 1500, "after the first");
        assert_eq!(unit.gpu(&TIMES, 1200, 0), 1500, "with that one");
        assert_eq!(unit.gpu(&TIMES, 2000, 1990), 2370, "the store is done");
        assert_eq!(system(&TIMES, 2000, 1990), 2960);
        assert_eq!(system(&TIMES, 2000, 2990), 3670);
    }
}
