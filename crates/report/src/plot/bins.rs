//! A recording split into equal spans of time.
//! Each has its instructions by number of active lanes.

use super::axis::Scale;
use crate::timeline::{Axis, Recording};
use simt_core::base::MAX_LANES;

/// A span.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Bin {
    /// First issue number or cycle of the span.
    pub from: u64,
    pub to: u64,
    /// Machine instructions by number of active lanes.
    /// Join steps are included if the machine counts them.
    pub lanes: [u64; MAX_LANES + 1],
}

impl Bin {
    /// Machine instructions.
    pub(super) fn instructions(&self) -> u64 {
        self.lanes.iter().sum()
    }

    /// Thread instructions: machine instructions x active lanes.
    pub(super) fn thread_instructions(&self) -> u64 {
        (0..).zip(&self.lanes).map(|(lanes, n)| lanes * n).sum()
    }
}

/// Splits an axis into at most `most` spans.
pub(super) fn bins(recording: &Recording, scale: &Scale, most: u64) -> Vec<Bin> {
    let (from, to) = scale.span();
    let step = (to - from).div_ceil(most).max(1);
    let count = (to - from).div_ceil(step);
    let empty = |i: u64| Bin {
        from: from + i * step,
        to: (from + (i + 1) * step).min(to),
        lanes: [0; MAX_LANES + 1],
    };
    let mut bins: Vec<Bin> = (0..count).map(empty).collect();
    for issue in recording.timeline.strips().iter().flat_map(|s| &s.issues) {
        let is_join = recording.step(issue.pc).is_some_and(|step| step.source.is_none());
        if is_join && !recording.counts_joins {
            continue;
        }
        let mut add = |at: u64, slots: u64| {
            let i = usize::try_from(at.saturating_sub(from) / step).unwrap_or(usize::MAX);
            if let Some(bin) = bins.get_mut(i) {
                bin.lanes[issue.active.count() as usize] += slots;
            }
        };
        match scale.axis {
            Axis::Issue => add(issue.number, issue.slots.into()),
            // Each machine instruction counts in the cycle of its slot.
            Axis::Cycle => {
                let slots = issue.spans().into_iter().filter(|span| span.stall.is_none());
                slots.flat_map(|span| span.from..span.to).for_each(|cycle| add(cycle, 1));
            }
        }
    }
    bins
}
