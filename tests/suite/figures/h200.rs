//! nvcc's kernels against an H200's hardware counters: Nsight Compute, blocks of 512, 2^9 and 2^24
//! integers.
//!
//! Counts at 2^9 are of one block and must be exact where program and addresses determine them.
//! Cycles are `sm__cycles_active.max` at 1,980 MHz, without the launch; at 2^9, where runs differ
//! by a tenth, those of the three reductions are the mean of three runs. At 2^24 one SM is
//! simulated from start to end: SMs are independent, and block 0's is among those with the most
//! blocks. The whole GPU's counts at 2^24 are in `reductions`; L1, L2 and DRAM in `traffic`.

use simt_core::Job;
use simt_core::base::{BlockId, Cycle};
use simt_core::event::{Event, Observer};

use super::{count, program, run_on, set, usual};
use crate::support::{launch, machine};

/// One kernel's counters at 2^9, and cycles at 2^9 and 2^24.
struct Profile {
    file: &'static str,
    /// Global loads, their sectors, and sector hits in L1.
    loads: [u64; 3],
    /// Global stores and their sectors.
    stores: [u64; 2],
    /// Executed and divergent branches.
    branches: [u64; 2],
    /// `smsp__inst_executed.sum`.
    instructions: u64,
    small: f64,
    large: f64,
}

const NEIGHBORED: Profile = Profile {
    file: "cuda/reduce_neighbored.ptx",
    loads: [191, 511, 447],
    stores: [96, 256],
    branches: [304, 95],
    instructions: 4686,
    small: 4658.0,
    large: 413_775.0,
};
const LESS: Profile = Profile {
    file: "cuda/reduce_neighbored_less.ptx",
    loads: [41, 511, 447],
    stores: [21, 256],
    branches: [304, 5],
    instructions: 1862,
    small: 3042.0,
    large: 216_164.0,
};
const INTERLEAVED: Profile = Profile {
    file: "cuda/reduce_interleaved.ptx",
    loads: [41, 133, 69],
    stores: [21, 67],
    branches: [304, 5],
    instructions: 1570,
    small: 2710.0,
    large: 176_970.0,
};
const DOUBLING: Profile = Profile {
    file: "cuda/shared_doubling.ptx",
    loads: [16, 64, 0],
    stores: [1, 1],
    branches: [160, 0],
    instructions: 4360,
    small: 3975.0,
    large: 368_240.0,
};
const HALVING: Profile = Profile {
    file: "cuda/shared_halving.ptx",
    loads: [16, 64, 0],
    stores: [1, 1],
    branches: [160, 0],
    instructions: 1784,
    small: 2567.0,
    large: 173_451.0,
};

/// Panics unless `simulated` is within `percent` of `measured`.
fn close(what: &str, simulated: f64, measured: f64, percent: f64) {
    let error = 100.0 * (simulated - measured) / measured;
    assert!(
        error.abs() <= percent,
        "{what}: {simulated:.3}, measured {measured:.3}: {error:+.1} %"
    );
}

#[test]
fn one_block_is_counted_as_by_the_profiler() {
    for profile in [NEIGHBORED, LESS, INTERLEAVED, DOUBLING, HALVING] {
        let done = run_on(&program(profile.file), "h200", &[("n", 512), ("block", 512)]);
        let counts =
            |names: &[&str]| names.iter().map(|name| count(&done, name)).collect::<Vec<_>>();
        assert_eq!(
            counts(&["gld_requests", "gld_transactions"]),
            profile.loads[..2],
            "{}",
            profile.file
        );
        assert_eq!(counts(&["l1_hit_sectors"]), profile.loads[2..], "{}", profile.file);
        assert_eq!(
            counts(&["gst_requests", "gst_transactions"]),
            profile.stores,
            "{}",
            profile.file
        );
        assert_eq!(
            counts(&["conditional_branches", "divergent_branch"]),
            profile.branches,
            "{}",
            profile.file
        );
        close(
            profile.file,
            count(&done, "inst_executed") as f64,
            profile.instructions as f64,
            10.0,
        );
        close(profile.file, done.run.cycles as f64, profile.small, 15.0);
    }
}

/// End of an SM.
struct End(Cycle);

impl Observer for End {
    fn on(&mut self, event: Event) {
        if let Event::SmEnd { cycle, .. } = event {
            self.0 = cycle;
        }
    }

    fn merge(&mut self, other: End) {
        self.0 = self.0.max(other.0);
    }
}

/// Returns the cycles of the SM that runs block 0 of 2^24 integers.
fn large(profile: &Profile) -> f64 {
    let (program, spec) = (program(profile.file), machine("h200"));
    let options = usual(&spec, spec.modes[0]);
    let (kernel, launch) =
        launch(&program, &set(&[("n", 1 << 24), ("block", 512)])).unwrap_or_else(|e| panic!("{e}"));
    let job = Job::new(&program, kernel, launch, &spec, options);
    let seen = job.watch(BlockId(0), || End(0)).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(seen.simulated_sms, 1);
    seen.observer.0 as f64
}

#[test]
#[ignore = "long: 2^24 threads"]
fn long_the_three_reductions_take_as_long_as_on_the_gpu() {
    let cycles = [NEIGHBORED, LESS, INTERLEAVED].map(|profile| {
        let cycles = large(&profile);
        close(profile.file, cycles, profile.large, 15.0);
        cycles
    });
    assert!(cycles[0] > cycles[1] && cycles[1] > cycles[2], "{cycles:?}");
    close("neighbored / less", cycles[0] / cycles[1], NEIGHBORED.large / LESS.large, 5.0);
    close("less / interleaved", cycles[1] / cycles[2], LESS.large / INTERLEAVED.large, 5.0);
    close(
        "neighbored / interleaved",
        cycles[0] / cycles[2],
        NEIGHBORED.large / INTERLEAVED.large,
        5.0,
    );
}

#[test]
#[ignore = "long: 2^24 threads"]
fn long_the_shared_memory_kernels_take_as_long_as_on_the_gpu() {
    for profile in [DOUBLING, HALVING] {
        close(profile.file, large(&profile), profile.large, 15.0);
    }
}
