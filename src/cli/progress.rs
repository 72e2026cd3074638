//! Progress bar of longer runs: on standard error, if it is a terminal.

use std::io::IsTerminal;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressStyle};
use simt_core::launch::Launch;
use simt_core::machine::{Host, Options};

use simt_threads::Threads;

/// Shortest run that shows a bar.
const MOMENT: Duration = Duration::from_secs(1);

/// Progress bar: blocks done, instructions issued, and the estimated end.
pub(crate) struct Bar {
    bar: ProgressBar,
    wanted: bool,
    started: Instant,
    issued: AtomicU64,
    /// Issued instructions at which the run stops.
    limit: u64,
    threads: Threads,
}

impl Bar {
    /// Creates the bar of a run.
    pub(crate) fn new(launch: &Launch, options: &Options, quiet: bool, jobs: usize) -> Bar {
        let blocks = launch.grid.iter().map(|&n| u64::from(n)).product();
        let bar = ProgressBar::with_draw_target(Some(blocks), ProgressDrawTarget::hidden());
        if let Ok(style) =
            ProgressStyle::with_template("{wide_bar} {human_pos}/{human_len} blocks, {msg}")
        {
            bar.set_style(style);
        }
        let threads = Threads::new(jobs);
        let wanted = !quiet && std::io::stderr().is_terminal();
        Bar {
            bar,
            wanted,
            started: Instant::now(),
            issued: AtomicU64::new(0),
            limit: options.max_issues,
            threads,
        }
    }

    /// Removes the bar from the terminal.
    pub(crate) fn clear(&self) {
        self.bar.finish_and_clear();
    }

    fn show(&self) {
        let elapsed = self.started.elapsed();
        if !self.wanted || elapsed < MOMENT {
            return;
        }
        if self.bar.is_hidden() {
            self.bar.set_draw_target(ProgressDrawTarget::stderr_with_hz(5));
        }
        let done = self.bar.position() as f64 / self.bar.length().unwrap_or(1).max(1) as f64;
        self.bar.set_message(message(
            self.issued.load(Ordering::Relaxed),
            self.limit,
            done,
            elapsed,
        ));
    }
}

impl Host for Bar {
    fn each(&self, n: u32, task: &(dyn Fn(u32) + Sync)) {
        self.threads.each(n, task);
    }

    fn blocks_done(&self, blocks: u64) {
        self.bar.inc(blocks);
        self.show();
    }

    fn issued(&self, issues: u64) {
        self.issued.fetch_add(issues, Ordering::Relaxed);
        self.show();
    }
}

/// Formats the instructions issued, and the estimated time left. The estimate comes from the share
/// of blocks `done`, or else from the limit.
fn message(issued: u64, limit: u64, done: f64, elapsed: Duration) -> String {
    let millions = |n: u64| format!("{} M", n / 1_000_000);
    let left = |share: f64| HumanDuration(elapsed.mul_f64((1.0 / share - 1.0).clamp(0.0, 1e6)));
    let so_far = format!("{} instructions issued", millions(issued));
    if done > 0.0 {
        return format!("{so_far}, about {} left", left(done));
    }
    if limit == u64::MAX || issued == 0 {
        return so_far;
    }
    let until = left(issued as f64 / limit as f64);
    format!("{so_far}; stops at {}, in about {until}", millions(limit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_estimate_is_that_of_the_blocks_or_of_the_limit() {
        let second = Duration::from_secs(1);
        for (issued, limit, done, expected) in [
            (
                8_000_000,
                500_000_000,
                0.0,
                "8 M instructions issued; stops at 500 M, in about 62 seconds",
            ),
            (8_000_000, u64::MAX, 0.0, "8 M instructions issued"),
            (8_000_000, 500_000_000, 0.25, "8 M instructions issued, about 3 seconds left"),
            (0, 500_000_000, 0.0, "0 M instructions issued"),
        ] {
            assert_eq!(message(issued, limit, done, second), expected);
        }
    }
}
