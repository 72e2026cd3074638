//! Shapes of experiments: what several rows of the table have in common.
//!
//! Most compare a loop run `LONG` and `SHORT` times, so that only the difference counts; `chain` is that with one warp (latency), `flood`
//! with 32 (interval: eight warps on each of four schedulers).

use super::{Experiment, Figure, Setting};

/// Passes of a loop in the longer and the shorter run.
pub(super) const LONG: u64 = 48;
pub(super) const SHORT: u64 = 16;
/// By how much they differ.
pub(super) const PASSES: f64 = (LONG - SHORT) as f64;
/// Cycles that a block lives whose successor is waited for.
pub(super) const SPIN: u64 = 2000;
/// Warps a scheduler when 32 are on an SM of four.
const WARPS: f64 = 8.0;
/// Of figures that are latencies or intervals of one class.
pub(super) const CLOSE: f64 = 0.15;
/// Of figures in which several things meet.
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

/// An experiment on spans, in cycles.
pub(super) const fn spans(
    name: &'static str,
    parameter: &'static str,
    (path, text): (&'static str, &'static str),
    kernel: &'static str,
    settings: &'static [Setting],
    per: f64,
    tolerance: f64,
) -> Experiment {
    Experiment { name, parameter, path, text, kernel, figure: Figure::Span, settings, per, unit: "cycle", tolerance }
}

/// A setting that adds to the figure.
pub(super) const fn plus(set: &'static [(&'static str, u64)]) -> Setting {
    Setting { weight: 1.0, set }
}

/// A setting that is taken off the figure.
pub(super) const fn less(set: &'static [(&'static str, u64)]) -> Setting {
    Setting { weight: -1.0, set }
}

/// One warp, in which `ops` operations a pass wait for each other.
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

/// 32 warps that do the same.
pub(super) const fn flood(
    name: &'static str,
    parameter: &'static str,
    program: (&'static str, &'static str),
    kernel: &'static str,
    ops: f64,
) -> Experiment {
    const SETTINGS: &[Setting] = &[plus(&[("loops", LONG), ("warps", 32)]), less(&[("loops", SHORT), ("warps", 32)])];
    spans(name, parameter, program, kernel, SETTINGS, PASSES * ops * WARPS, CLOSE)
}

/// The settings of [`chain`], with these constants beside `loops`.
macro_rules! longer {
    ($($more:expr),*) => {
        &[plus(&[("loops", LONG), $($more),*]), less(&[("loops", SHORT), $($more),*])]
    };
}

/// A block's barriers, to which all warps come together.
pub(super) const fn barrier(name: &'static str, parameter: &'static str, settings: &'static [Setting]) -> Experiment {
    spans(name, parameter, CONTROL, "barrier", settings, PASSES * 16.0, WIDE)
}

/// Stores of 16 warps of an SM: cycles a request of the SM.
pub(super) const fn stores(name: &'static str, parameter: &'static str, settings: &'static [Setting]) -> Experiment {
    spans(name, parameter, STORES, "store", settings, PASSES * 8.0 * 16.0, CLOSE)
}

/// A stream from DRAM on all SMs of an H200, of which the slowest of `of` loads count.
pub(super) const fn stream(
    name: &'static str,
    parameter: &'static str,
    settings: &'static [Setting],
    of: usize,
) -> Experiment {
    Experiment { figure: Figure::Slowest { of }, ..spans(name, parameter, DRAM, "dram_stream", settings, 1.0, CLOSE) }
}

/// The settings of [`stream`]: one block of eight warps an SM, 36 loads of each warp.
pub(super) const CALM: &[Setting] = &[plus(&[("blocks", 132), ("loads", 40), ("bytes", 1 << 27)])];
/// The same: four blocks an SM, and as many lines before the twelve loads that count as L2 holds that are newer than DRAM.
pub(super) const CROWD: &[Setting] = &[plus(&[("blocks", 528), ("loads", 76), ("skip", 64), ("bytes", 1 << 27)])];
/// The same, and each line is written when it has been read.
pub(super) const WRITTEN: &[Setting] =
    &[plus(&[("blocks", 528), ("loads", 76), ("skip", 64), ("stores", 1), ("bytes", 1 << 27)])];

/// Blocks one after the other in one place, `SPIN` cycles each.
pub(super) const fn turnover(name: &'static str, parameter: &'static str, settings: &'static [Setting]) -> Experiment {
    let figure = Figure::Turnover { spin: SPIN as u32 };
    Experiment { figure, ..spans(name, parameter, BLOCKS, "turnover", settings, 1.0, CLOSE) }
}

/// The settings of [`turnover`]: so much shared memory that an SM has room for one block.
macro_rules! one_an_sm {
    ($($more:expr),*) => {
        &[plus(&[("blocks", 1056), ("room", 160_000), ("spin", SPIN), $($more),*])]
    };
}

/// An experiment of which something is known not to be modelled: what, is said in docs/calibration.md.
pub(super) const fn loose(tolerance: f64, experiment: Experiment) -> Experiment {
    Experiment { tolerance, ..experiment }
}

pub(super) use {longer, one_an_sm};
