//! Shapes of experiments: the common parts of several rows of the table.
//!
//! Most compare a loop with `LONG` and with `SHORT` passes, so that only the difference counts;
//! `chain` does so with one warp (latency), `flood` with 32 (interval: eight warps on each of four
//! schedulers).

use super::{Experiment, Figure, Setting};

/// Passes of a loop in the longer and the shorter run.
pub(super) const LONG: u64 = 48;
pub(super) const SHORT: u64 = 16;
/// Difference of the two.
pub(super) const PASSES: f64 = (LONG - SHORT) as f64;
/// Cycles that a block spins in the turnover experiments.
pub(super) const SPIN: u64 = 2000;
/// Warps per scheduler with 32 warps on an SM of four schedulers.
const WARPS: f64 = 8.0;
/// Tolerance of a latency or interval of one class.
pub(super) const CLOSE: f64 = 0.15;
/// Tolerance of a figure with several contributions.
pub(super) const WIDE: f64 = 0.25;

macro_rules! bundled {
    ($file:literal) => {
        (concat!("programs/calibrate/", $file), simt_programs::text(concat!("calibrate/", $file)))
    };
}

pub(super) const INTEGER: (&str, &str) = bundled!("integer.ir");
pub(super) const FLOAT: (&str, &str) = bundled!("float.ir");
pub(super) const WARP: (&str, &str) = bundled!("warp.ir");
pub(super) const NEAR: (&str, &str) = bundled!("near_memory.ir");
pub(super) const FAR: (&str, &str) = bundled!("far_memory.ir");
pub(super) const CONTROL: (&str, &str) = bundled!("control.ir");
pub(super) const BLOCKS: (&str, &str) = bundled!("blocks.ir");
pub(super) const LOCK: (&str, &str) = bundled!("lock.ir");
pub(super) const FETCH: (&str, &str) = bundled!("fetch.ir");
pub(super) const STORES: (&str, &str) = bundled!("stores.ir");
const DRAM: (&str, &str) = bundled!("dram_stream.ir");

/// Creates an experiment on spans, in cycles.
pub(super) const fn spans(
    name: &'static str,
    parameter: &'static str,
    (path, text): (&'static str, &'static str),
    kernel: &'static str,
    settings: &'static [Setting],
    per: f64,
    tolerance: f64,
) -> Experiment {
    Experiment {
        name,
        parameter,
        path,
        text,
        kernel,
        figure: Figure::Span,
        settings,
        per,
        unit: "cycle",
        tolerance,
    }
}

/// Creates a setting that is added to the figure.
pub(super) const fn plus(set: &'static [(&'static str, u64)]) -> Setting {
    Setting { weight: 1.0, set }
}

/// Creates a setting that is subtracted from the figure.
pub(super) const fn less(set: &'static [(&'static str, u64)]) -> Setting {
    Setting { weight: -1.0, set }
}

/// Creates an experiment with one warp and `ops` dependent operations per pass.
pub(super) const fn chain(
    name: &'static str,
    parameter: &'static str,
    program: (&'static str, &'static str),
    kernel: &'static str,
    ops: f64,
) -> Experiment {
    const SETTINGS: &[Setting] = &[plus(&[("loops", LONG)]), less(&[("loops", SHORT)])];
    spans(name, parameter, program, kernel, SETTINGS, PASSES * ops, CLOSE)
}

/// Creates the same experiment with 32 warps.
pub(super) const fn flood(
    name: &'static str,
    parameter: &'static str,
    program: (&'static str, &'static str),
    kernel: &'static str,
    ops: f64,
) -> Experiment {
    const SETTINGS: &[Setting] =
        &[plus(&[("loops", LONG), ("warps", 32)]), less(&[("loops", SHORT), ("warps", 32)])];
    spans(name, parameter, program, kernel, SETTINGS, PASSES * ops * WARPS, CLOSE)
}

/// Settings of [`chain`], with further constants besides `loops`.
macro_rules! longer {
    ($($more:expr),*) => {
        &[plus(&[("loops", LONG), $($more),*]), less(&[("loops", SHORT), $($more),*])]
    };
}

/// Creates an experiment on barriers at which all warps of a block arrive together.
pub(super) const fn barrier(
    name: &'static str,
    parameter: &'static str,
    settings: &'static [Setting],
) -> Experiment {
    spans(name, parameter, CONTROL, "barrier", settings, PASSES * 16.0, WIDE)
}

/// Creates an experiment on stores of 16 warps, in cycles per request of the SM.
pub(super) const fn stores(
    name: &'static str,
    parameter: &'static str,
    settings: &'static [Setting],
) -> Experiment {
    spans(name, parameter, STORES, "store", settings, PASSES * 8.0 * 16.0, CLOSE)
}

/// Creates an experiment on a DRAM stream on all SMs of an H200. The slowest of `of` loads counts.
pub(super) const fn stream(
    name: &'static str,
    parameter: &'static str,
    settings: &'static [Setting],
    of: usize,
) -> Experiment {
    Experiment {
        figure: Figure::Slowest { of },
        ..spans(name, parameter, DRAM, "dram_stream", settings, 1.0, CLOSE)
    }
}

/// Settings of [`stream`]: one block of eight warps per SM, 36 loads per warp.
pub(super) const CALM: &[Setting] = &[plus(&[("blocks", 132), ("loads", 40), ("bytes", 1 << 27)])];
/// Settings of [`stream`]: four blocks per SM. Before the twelve measured loads they read as many
/// lines as L2 holds that are newer than DRAM.
pub(super) const CROWD: &[Setting] =
    &[plus(&[("blocks", 528), ("loads", 76), ("skip", 64), ("bytes", 1 << 27)])];
/// The same, with each line written after it is read.
pub(super) const WRITTEN: &[Setting] =
    &[plus(&[("blocks", 528), ("loads", 76), ("skip", 64), ("stores", 1), ("bytes", 1 << 27)])];

/// Creates an experiment on consecutive blocks in one slot, `SPIN` cycles each.
pub(super) const fn turnover(
    name: &'static str,
    parameter: &'static str,
    settings: &'static [Setting],
) -> Experiment {
    let figure = Figure::Turnover { spin: SPIN as u32 };
    Experiment { figure, ..spans(name, parameter, BLOCKS, "turnover", settings, 1.0, CLOSE) }
}

/// Settings of [`turnover`], with so much shared memory that an SM holds one block.
macro_rules! one_an_sm {
    ($($more:expr),*) => {
        &[plus(&[("blocks", 1056), ("room", 160_000), ("spin", SPIN), $($more),*])]
    };
}

/// Widens the tolerance of an experiment. For known gaps of the model (docs/calibration.md).
pub(super) const fn loose(tolerance: f64, experiment: Experiment) -> Experiment {
    Experiment { tolerance, ..experiment }
}

pub(super) use {longer, one_an_sm};
