//! Checkpoints: which states of the past are kept, so that any place is reached by a short replay.
//!
//! A checkpoint is due every [`INTERVAL`] steps. When they are too many or too large, the one goes whose absence is felt
//! least: whose neighbours are closest together in proportion to its distance from the present. So near the present
//! checkpoints stand close, far from it their distance grows with theirs, and going back n steps replays at most a fixed
//! fraction of n. Memory: at most [`MOST`] checkpoints and about [`BUDGET`] bytes, but never fewer than [`LEAST`].

/// Steps between two checkpoints, at first.
pub(super) const INTERVAL: u64 = 2048;
/// The most checkpoints.
pub(super) const MOST: usize = 64;
/// The fewest that are kept, whatever their size.
const LEAST: usize = 4;
/// Bytes that they may take.
const BUDGET: usize = 256 << 20;

/// Checkpoints by place.
pub(super) struct History<T> {
    /// Ascending by place; the first is at the beginning.
    kept: Vec<Kept<T>>,
}

struct Kept<T> {
    at: u64,
    bytes: usize,
    state: T,
}

impl<T> History<T> {
    /// With the state at the beginning.
    pub(super) fn new(start: T, bytes: usize) -> History<T> {
        History { kept: vec![Kept { at: 0, bytes, state: start }] }
    }

    /// Whether a checkpoint at `at` is due: none is near.
    pub(super) fn is_due(&self, at: u64) -> bool {
        let behind = self.index_behind(at);
        let near = |kept: Option<&Kept<T>>| kept.is_some_and(|kept| kept.at.abs_diff(at) < INTERVAL);
        !near(self.kept.get(behind)) && !near(behind.checked_sub(1).and_then(|before| self.kept.get(before)))
    }

    /// Keeps a state of place `at`, where a run is now.
    pub(super) fn keep(&mut self, at: u64, state: T, bytes: usize) {
        let i = self.index_behind(at);
        self.kept.insert(i, Kept { at, bytes, state });
        while self.kept.len() > LEAST && (self.kept.len() > MOST || self.bytes() > BUDGET) {
            let neighbours = self.kept.windows(3).enumerate();
            let density = |w: &[Kept<T>]| (w[2].at - w[0].at) as f64 / (w[1].at.abs_diff(at) + INTERVAL) as f64;
            let least = neighbours.min_by(|(_, a), (_, b)| density(a).total_cmp(&density(b)));
            let Some((i, _)) = least else { break };
            self.kept.remove(i + 1);
        }
    }

    /// The last checkpoint that is not behind `at`; there is always one.
    pub(super) fn before(&self, at: u64) -> (u64, &T) {
        let kept = &self.kept[self.index_behind(at).saturating_sub(1)];
        (kept.at, &kept.state)
    }

    /// The first place of a checkpoint behind `at`, if there is one.
    pub(super) fn next_behind(&self, at: u64) -> Option<u64> {
        self.kept.get(self.index_behind(at)).map(|kept| kept.at)
    }

    /// The past has been changed at `at`: what is behind it never was.
    pub(super) fn forget_behind(&mut self, at: u64) {
        self.kept.truncate(self.index_behind(at).max(1));
    }

    fn index_behind(&self, at: u64) -> usize {
        self.kept.partition_point(|kept| kept.at <= at)
    }

    fn bytes(&self) -> usize {
        self.kept.iter().map(|kept| kept.bytes).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(steps: u64, bytes: usize) -> History<u64> {
        let mut history = History::new(0, bytes);
        for at in 1..=steps {
            if history.is_due(at) {
                history.keep(at, at, bytes);
            }
        }
        history
    }

    #[test]
    fn the_way_back_is_a_fraction_of_the_distance() {
        for steps in [INTERVAL * 10, INTERVAL * 1000, INTERVAL * 20_000] {
            let history = after(steps, 1);
            assert!(history.kept.len() <= MOST);
            for back in [1, 10, 10_000, steps / 100, steps / 2, steps] {
                let target = steps - back.min(steps);
                let (at, &state) = history.before(target);
                assert_eq!(at, state);
                assert!(target - at <= INTERVAL + back, "back {back} of {steps}: replays {}", target - at);
            }
        }
    }

    #[test]
    fn memory_is_bounded_by_bytes_too() {
        let history = after(INTERVAL * 500, BUDGET / 10);
        assert_eq!(history.kept.len(), 10);
        assert_eq!(after(INTERVAL * 500, BUDGET * 2).kept.len(), LEAST);
    }

    #[test]
    fn a_changed_past_has_no_future() {
        let mut history = after(INTERVAL * 8, 1);
        history.forget_behind(INTERVAL * 3);
        assert_eq!(history.before(u64::MAX).0, INTERVAL * 3);
        assert_eq!(history.next_behind(INTERVAL), Some(INTERVAL * 2));
        history.forget_behind(0);
        assert_eq!((history.before(5).0, history.next_behind(0)), (0, None));
    }
}
