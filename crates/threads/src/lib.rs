//! A [`Host`] with a thread pool: SMs are simulated on several host threads.

use rayon::prelude::*;
use simt_core::machine::Host;

/// A thread pool; without a pool, one thread.
pub struct Threads(Option<rayon::ThreadPool>);

impl Threads {
    /// Creates a pool of `jobs` threads, 0 for one per core.
    pub fn new(jobs: usize) -> Threads {
        let pool = || rayon::ThreadPoolBuilder::new().num_threads(jobs).build().ok();
        Threads(if jobs == 1 { None } else { pool() })
    }
}

impl Host for Threads {
    fn each(&self, n: u32, task: &(dyn Fn(u32) + Sync)) {
        match &self.0 {
            Some(pool) if n > 1 => pool.install(|| (0..n).into_par_iter().for_each(task)),
            _ => (0..n).for_each(task),
        }
    }
}
