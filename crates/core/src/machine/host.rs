//! Threads of the host, and its receiver of progress.

use std::collections::BTreeMap;
use std::sync::Mutex;

/// Surroundings of a run: threads, and a receiver of progress. `()` has one thread and ignores
/// progress.
pub trait Host: Sync {
    /// Calls `task` with each number below `n`, in any order, possibly at the same time.
    fn each(&self, n: u32, task: &(dyn Fn(u32) + Sync)) {
        (0..n).for_each(task);
    }

    /// Reports `blocks` more finished blocks.
    fn blocks_done(&self, blocks: u64) {
        let _ = blocks;
    }

    /// Reports `issues` more issued instructions.
    fn issued(&self, issues: u64) {
        let _ = issues;
    }

    /// Waits a little for others to change memory that they lent, as nothing but that can let a
    /// warp of the launch go on; `progressed` if there was progress since the last call. Returns
    /// false if the launch hangs.
    fn waits(&self, progressed: bool) -> bool {
        let _ = progressed;
        false
    }
}

impl Host for () {}

/// Applies `one` to each number below `n` on the host's threads and returns the results in order.
pub(super) fn each<T: Send>(host: &dyn Host, n: u32, one: impl Fn(u32) -> T + Sync) -> Vec<T> {
    let mut made = Vec::new();
    each_in_order(host, n, one, |result| made.push(result));
    made
}

/// Applies `one` to each number below `n` on the host's threads, and `then` to each result once it
/// has had those of all lower numbers: few results exist at a time.
pub(super) fn each_in_order<T: Send>(
    host: &dyn Host,
    n: u32,
    one: impl Fn(u32) -> T + Sync,
    then: impl FnMut(T) + Send,
) {
    let waiting = Mutex::new((0, BTreeMap::new(), then));
    host.each(n, &|i| {
        let result = one(i);
        if let Ok(mut waiting) = waiting.lock() {
            let (next, early, then) = &mut *waiting;
            early.insert(i, result);
            while let Some(result) = early.remove(next) {
                *next += 1;
                then(result);
            }
        }
    });
}
