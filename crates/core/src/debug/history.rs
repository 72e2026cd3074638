//! Checkpoints, from which a short replay reaches any position.
//!
//! A checkpoint is due every [`INTERVAL`] steps. If there are too many or they are too large, one
//! is dropped: the one whose neighbors are closest together in proportion to its distance from the
//! present. Checkpoints are thus dense near the present and sparser with distance, and going back n
//! steps replays at most a fixed fraction of n. Memory: at most [`MOST`] checkpoints and about
//! [`BUDGET`] bytes, but at least [`LEAST`] checkpoints.

/// Initial steps between two checkpoints.
pub(super) const INTERVAL: u64 = 2048;
/// Maximum number of checkpoints.
pub(super) const MOST: usize = 64;
/// Minimum number of checkpoints, independent of their size.
const LEAST: usize = 4;
/// Memory budget in bytes.
const BUDGET: usize = 256 << 20;

/// Checkpoints by position.
pub(super) struct History<T> {
    /// Checkpoints, ascending; the first is the start.
    kept: Vec<Kept<T>>,
}

struct Kept<T> {
    at: u64,
    bytes: usize,
    state: T,
}

impl<T> History<T> {
    /// Creates a history with the initial state.
    pub(super) fn new(start: T, bytes: usize) -> History<T> {
        History { kept: vec![Kept { at: 0, bytes, state: start }] }
    }

    /// Returns true if a checkpoint at `at` is due, because none is near.
    pub(super) fn is_due(&self, at: u64) -> bool {
        let after = self.index_after(at);
        let near =
            |kept: Option<&Kept<T>>| kept.is_some_and(|kept| kept.at.abs_diff(at) < INTERVAL);
        !near(self.kept.get(after))
            && !near(after.checked_sub(1).and_then(|before| self.kept.get(before)))
    }

    /// Keeps the state at the present position `at`.
    pub(super) fn keep(&mut self, at: u64, state: T, bytes: usize) {
        let i = self.index_after(at);
        self.kept.insert(i, Kept { at, bytes, state });
        while self.kept.len() > LEAST && (self.kept.len() > MOST || self.bytes() > BUDGET) {
            let neighbours = self.kept.windows(3).enumerate();
            let density = |w: &[Kept<T>]| {
                (w[2].at - w[0].at) as f64 / (w[1].at.abs_diff(at) + INTERVAL) as f64
            };
            let least = neighbours.min_by(|(_, a), (_, b)| density(a).total_cmp(&density(b)));
            let Some((i, _)) = least else { break };
            self.kept.remove(i + 1);
        }
    }

    /// Returns the last checkpoint at or before `at`; there is always one.
    pub(super) fn before(&self, at: u64) -> (u64, &T) {
        let kept = &self.kept[self.index_after(at).saturating_sub(1)];
        (kept.at, &kept.state)
    }

    /// Returns the position of the first checkpoint after `at`, if any.
    pub(super) fn next_after(&self, at: u64) -> Option<u64> {
        self.kept.get(self.index_after(at)).map(|kept| kept.at)
    }

    /// Drops the checkpoints after `at`, where the past has been changed.
    pub(super) fn forget_after(&mut self, at: u64) {
        self.kept.truncate(self.index_after(at).max(1));
    }

    fn index_after(&self, at: u64) -> usize {
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
                assert!(
                    target - at <= INTERVAL + back,
                    "back {back} of {steps}: replays {}",
                    target - at
                );
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
        history.forget_after(INTERVAL * 3);
        assert_eq!(history.before(u64::MAX).0, INTERVAL * 3);
        assert_eq!(history.next_after(INTERVAL), Some(INTERVAL * 2));
        history.forget_after(0);
        assert_eq!((history.before(5).0, history.next_after(0)), (0, None));
    }
}
