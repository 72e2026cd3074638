//! Resources of the points of a sweep, for a job array.
//!
//! Memory: the buffers and their expected values. Time: instructions for one warp, as the cheapest
//! points issue them here, times the warps of the largest point. Both are upper bounds where the
//! work of a warp is the same at every point; a sweep over the length of a loop needs a look.

use simt_core::kernel::Kernel;
use simt_core::{Job, Program};
use simt_report::metrics::Value;
use simt_report::{Ending, simulate};

use super::super::args::SweepArgs;
use super::super::array::Need;
use super::points::Planned;

/// Points whose launches are looked at.
const LOOKED_AT: usize = 16;
/// Points that run, the cheapest ones.
const TRIED: usize = 3;
/// Instructions of all of these runs.
const TRIAL: u64 = 8_000_000;
/// Machine instructions a second: those of a kernel whose blocks communicate, the slowest kind
/// (docs/performance.md).
const RATE: f64 = 1e6;
/// Factor for hosts that are slower or shared.
const MARGIN: f64 = 2.0;
/// Seconds for a point that nothing is known of.
const UNKNOWN: u64 = 600;

/// Estimates what one point needs.
pub(super) fn of(args: &SweepArgs, program: &Program, kernel: &Kernel, jobs: &[Planned]) -> Need {
    let every = jobs.len().div_ceil(LOOKED_AT).max(1);
    let last = jobs.len().saturating_sub(1);
    let prepared = |i: usize| jobs.get(i).and_then(|job| job.prepared(args, program, kernel).ok());
    let mut bytes = 0;
    // Warps and index of each point.
    let mut sizes: Vec<(u64, usize)> = Vec::new();
    for i in (0..jobs.len()).filter(|i| i % every == 0 || *i == last) {
        if let Some(job) = prepared(i) {
            let buffers = job.launch.buffers.iter().map(|buffer| buffer.bytes);
            bytes = bytes.max(buffers.fold(0, u64::saturating_add).saturating_mul(2));
            sizes.push((warps(&job), i));
        }
    }
    sizes.sort_unstable();
    let most = sizes.last().map_or(0, |&(warps, _)| warps);
    let mut left = TRIAL;
    let mut each: Option<f64> = None;
    for &(warps, i) in sizes.iter().take(TRIED) {
        let Some(mut job) = prepared(i) else { continue };
        job.options.max_issues = left;
        let Ok(done) = simulate::simulate(job, &()) else { continue };
        let issued = done.run.metric("inst_issued").map_or(0.0, Value::as_f64);
        left = left.saturating_sub(issued as u64);
        if done.run.finish == Ending::CycleLimit || left == 0 {
            break; // the count is of a part of the run
        }
        each = Some(each.unwrap_or(0.0).max(issued / warps.max(1) as f64));
    }
    let seconds = each.map_or(UNKNOWN, |each| {
        let issues = (each * most as f64).min(args.limit.issues() as f64);
        (issues * MARGIN / RATE).ceil() as u64
    });
    Need { bytes, seconds: seconds.max(1), start_seconds: 60 }
}

fn warps(job: &Job<'_>) -> u64 {
    let product = |sizes: [u32; 3]| sizes.iter().fold(1_u64, |n, &s| n.saturating_mul(s.into()));
    let lanes = u64::from(job.machine.warp_size.max(1));
    product(job.launch.grid).saturating_mul(product(job.launch.block).div_ceil(lanes))
}
