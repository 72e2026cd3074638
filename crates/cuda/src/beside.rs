//! The host of a launch: threads, and patience with a program that runs beside it.

use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use simt_core::machine::Host;
use simt_threads::Threads;

/// Time for which a kernel that makes no progress may wait for the program to write to memory.
const PATIENCE: Duration = Duration::from_secs(5);
/// Pause before the kernel looks again.
const PAUSE: Duration = Duration::from_millis(1);

/// Threads of a launch whose kernel can wait for the program.
pub(crate) struct Beside {
    threads: Threads,
    /// Begin of the wait.
    since: Mutex<Option<Instant>>,
}

impl Beside {
    pub(crate) fn new(jobs: usize) -> Beside {
        Beside { threads: Threads::new(jobs), since: Mutex::default() }
    }
}

impl Host for Beside {
    fn each(&self, n: u32, task: &(dyn Fn(u32) + Sync)) {
        self.threads.each(n, task);
    }

    fn waits(&self, progressed: bool) -> bool {
        let mut since = self.since.lock().unwrap_or_else(PoisonError::into_inner);
        if progressed {
            *since = None;
        }
        let patient = since.get_or_insert_with(Instant::now).elapsed() < PATIENCE;
        drop(since);
        if patient {
            thread::sleep(PAUSE);
        }
        patient
    }
}
