//! SMs simulated on several threads of the computer: a [`Host`] with a thread pool.

use rayon::prelude::*;
use simt_core::machine::Host;

/// A host with a number of threads; 0: one per core.
pub struct Threads(usize);

impl Threads {
    /// Creates a host with `jobs` threads, 0 for one per core.
    pub fn new(jobs: usize) -> Threads {
        Threads(jobs)
    }
}

impl Host for Threads {
    fn each(&self, n: u32, task: &(dyn Fn(u32) + Sync)) {
        // More threads than tasks would be idle.
        let pool =
            || rayon::ThreadPoolBuilder::new().num_threads(self.0.min(n as usize)).build().ok();
        match if self.0 == 1 || n < 2 { None } else { pool() } {
            Some(pool) => pool.install(|| (0..n).into_par_iter().for_each(task)),
            None => (0..n).for_each(task),
        }
    }
}
