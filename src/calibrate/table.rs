//! The experiments. What each program does stands in the program; here: which runs, and what follows from them.
//!
//! Most compare a loop run `LONG` and `SHORT` times, so that only the difference counts; `chain` is that with one warp (latency), `flood`
//! with 32 (interval: eight warps on each of four schedulers).

use super::{Experiment, Figure, Setting};

/// Passes of a loop in the longer and the shorter run.
const LONG: u64 = 48;
const SHORT: u64 = 16;
/// By how much they differ.
const PASSES: f64 = (LONG - SHORT) as f64;
/// Warps a scheduler when 32 are on an SM of four.
const WARPS: f64 = 8.0;
/// Of figures that are latencies or intervals of one class.
const CLOSE: f64 = 0.15;
/// Of figures in which several things meet.
const WIDE: f64 = 0.25;

macro_rules! bundled {
    ($file:literal) => {
        (concat!("programs/calibrate/", $file), include_str!(concat!("../../programs/calibrate/", $file)))
    };
}

const INTEGER: (&str, &str) = bundled!("integer.ir");
const FLOAT: (&str, &str) = bundled!("float.ir");
const WARP: (&str, &str) = bundled!("warp.ir");
const NEAR: (&str, &str) = bundled!("near_memory.ir");
const FAR: (&str, &str) = bundled!("far_memory.ir");
const CONTROL: (&str, &str) = bundled!("control.ir");
const BLOCKS: (&str, &str) = bundled!("blocks.ir");
const LOCK: (&str, &str) = bundled!("lock.ir");
const FETCH: (&str, &str) = bundled!("fetch.ir");

/// An experiment on spans, in cycles.
const fn spans(
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
const fn plus(set: &'static [(&'static str, u64)]) -> Setting {
    Setting { weight: 1.0, set }
}

/// A setting that is taken off the figure.
const fn less(set: &'static [(&'static str, u64)]) -> Setting {
    Setting { weight: -1.0, set }
}

/// One warp, in which `ops` operations a pass wait for each other.
const fn chain(
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
const fn flood(
    name: &'static str,
    parameter: &'static str,
    program: (&'static str, &'static str),
    kernel: &'static str,
    ops: f64,
) -> Experiment {
    const SETTINGS: &[Setting] = &[plus(&[("loops", LONG), ("warps", 32)]), less(&[("loops", SHORT), ("warps", 32)])];
    spans(name, parameter, program, kernel, SETTINGS, PASSES * ops * WARPS, CLOSE)
}

/// An experiment of which something is known not to be modelled: what, is said in docs/calibration.md.
const fn loose(tolerance: f64, experiment: Experiment) -> Experiment {
    Experiment { tolerance, ..experiment }
}

/// Every experiment.
pub const EXPERIMENTS: &[Experiment] = &[
    chain("mad-latency", "latency: IntMul", INTEGER, "mad", 32.0),
    flood("mad-interval", "interval: IntMul", INTEGER, "mad", 32.0),
    chain("add-xor-latency", "latency: mean of IntAdd and Logic", INTEGER, "add_xor", 32.0),
    flood("add-xor-interval", "interval: mean of IntAdd and Logic", INTEGER, "add_xor", 32.0),
    loose(0.3, chain("min-max-latency", "latency: IntAdd (minimum, maximum)", INTEGER, "min_max", 32.0)),
    loose(0.5, flood("min-max-interval", "interval: IntAdd (minimum, maximum)", INTEGER, "min_max", 32.0)),
    chain("shift-latency", "latency: Shift", INTEGER, "shift", 32.0),
    flood("shift-interval", "interval: Shift", INTEGER, "shift", 32.0),
    chain("mul-hi-latency", "latency: IntMulHi", INTEGER, "mul_hi", 32.0),
    flood("mul-hi-interval", "interval: IntMulHi", INTEGER, "mul_hi", 32.0),
    chain("popc-latency", "latency: BitCount and IntAdd", INTEGER, "popc", 16.0),
    flood("popc-interval", "interval: BitCount and IntAdd", INTEGER, "popc", 16.0),
    chain("rem-latency", "latency: IntDiv (remainder) and IntAdd", INTEGER, "rem", 8.0),
    flood("rem-interval", "interval: IntDiv (remainder) and IntAdd", INTEGER, "rem", 8.0),
    chain("div64-latency", "latency: IntDiv64 and a 64-bit addition", INTEGER, "div64", 4.0),
    flood("div64-interval", "interval: IntDiv64 and a 64-bit addition", INTEGER, "div64", 4.0),
    chain("guard-latency", "latency: Compare, then IntAdd under its predicate", INTEGER, "setp_guard", 16.0),
    flood("guard-interval", "interval: Compare, then IntAdd under its predicate", INTEGER, "setp_guard", 16.0),
    chain("select-latency", "latency: Compare, then Move by its predicate", INTEGER, "setp_selp", 16.0),
    flood("select-interval", "interval: Compare, then Move by its predicate", INTEGER, "setp_selp", 16.0),
    chain("fma32-latency", "latency: Float32", FLOAT, "fma32", 32.0),
    flood("fma32-interval", "interval: Float32", FLOAT, "fma32", 32.0),
    chain("ex2-latency", "latency: Special", FLOAT, "ex2", 16.0),
    flood("ex2-interval", "interval: Special", FLOAT, "ex2", 16.0),
    loose(0.3, chain("sin-latency", "latency: sin.approx: a product, then Special", FLOAT, "sin", 16.0)),
    flood("sin-interval", "interval: sin.approx: a product, then Special", FLOAT, "sin", 16.0),
    chain("div32-latency", "latency: Float32Div", FLOAT, "div32", 4.0),
    flood("div32-interval", "interval: Float32Div", FLOAT, "div32", 4.0),
    chain("convert-latency", "latency: Convert to integer, Convert back, Float32", FLOAT, "convert", 8.0),
    flood("convert-interval", "interval: Convert to integer, Convert back, Float32", FLOAT, "convert", 8.0),
    chain("fma64-latency", "latency: Float64", FLOAT, "fma64", 32.0),
    flood("fma64-interval", "interval: Float64", FLOAT, "fma64", 32.0),
    chain("div-f64-latency", "latency: Float64Div", FLOAT, "div64", 4.0),
    flood("div-f64-interval", "interval: Float64Div", FLOAT, "div64", 4.0),
    chain("shuffle-latency", "latency: Shuffle", WARP, "shuffle", 16.0),
    flood("shuffle-interval", "interval: Shuffle", WARP, "shuffle", 16.0),
    chain("vote-latency", "latency: Compare, then Vote", WARP, "vote", 8.0),
    flood("vote-interval", "interval: Compare, then Vote", WARP, "vote", 8.0),
    chain("redux-latency", "latency: WarpReduce", WARP, "redux", 8.0),
    flood("redux-interval", "interval: WarpReduce", WARP, "redux", 8.0),
    loose(
        0.25,
        chain(
            "special-register-latency",
            "latency: SpecialRegister and IntAdd; on the GPU a field is cut out, too",
            WARP,
            "special_register",
            16.0,
        ),
    ),
    loose(
        0.7,
        flood(
            "special-register-interval",
            "interval: SpecialRegister and IntAdd; on the GPU a field is cut out, too",
            WARP,
            "special_register",
            16.0,
        ),
    ),
    chain(
        "constant-latency",
        "latency: LoadConst, from an address that is computed, and IntAdd",
        NEAR,
        "constant",
        16.0,
    ),
    flood(
        "constant-interval",
        "interval: LoadConst, from an address that is computed, and IntAdd",
        NEAR,
        "constant",
        16.0,
    ),
    chain("shared-load-latency", "latency: memory.shared_latency; LoadShared", NEAR, "shared_load", 16.0),
    flood("shared-load-interval", "interval: memory.shared_latency; LoadShared", NEAR, "shared_load", 16.0),
    loose(0.55, chain("shared-store-latency", "latency: StoreShared", NEAR, "shared_store", 16.0)),
    flood("shared-store-interval", "interval: StoreShared", NEAR, "shared_store", 16.0),
    chain("shared-atomic-latency", "latency: AtomicShared, distinct words", NEAR, "shared_atomic", 8.0),
    flood("shared-atomic-interval", "interval: AtomicShared, distinct words", NEAR, "shared_atomic", 8.0),
    spans(
        "shared-conflict-load",
        "memory.shared_conflict: a further pass, one warp",
        NEAR,
        "shared_load",
        &[
            plus(&[("loops", LONG), ("stride", 32)]),
            less(&[("loops", SHORT), ("stride", 32)]),
            less(&[("loops", LONG)]),
            plus(&[("loops", SHORT)]),
        ],
        PASSES * 16.0 * 31.0,
        WIDE,
    ),
    spans(
        "shared-conflict-load-flood",
        "passes of the SM's shared memory: 32 warps, 32 ways, a pass",
        NEAR,
        "shared_load",
        &[
            plus(&[("loops", LONG), ("stride", 32), ("warps", 32)]),
            less(&[("loops", SHORT), ("stride", 32), ("warps", 32)]),
        ],
        PASSES * 16.0 * 32.0 * 32.0,
        WIDE,
    ),
    spans(
        "shared-conflict-store-flood",
        "passes of the SM's shared memory: stores, 32 warps, 32 ways, a pass",
        NEAR,
        "shared_store",
        &[
            plus(&[("loops", LONG), ("stride", 32), ("warps", 32)]),
            less(&[("loops", SHORT), ("stride", 32), ("warps", 32)]),
        ],
        PASSES * 16.0 * 32.0 * 32.0,
        WIDE,
    ),
    spans(
        "shared-atomic-conflict",
        "memory.shared_atomic_conflict: a further lane on the word, one warp",
        NEAR,
        "shared_atomic",
        &[
            plus(&[("loops", LONG), ("stride", 0)]),
            less(&[("loops", SHORT), ("stride", 0)]),
            less(&[("loops", LONG)]),
            plus(&[("loops", SHORT)]),
        ],
        PASSES * 8.0 * 31.0,
        WIDE,
    ),
    loose(
        0.25,
        spans(
            "l1-latency",
            "memory.l1.latency, and four integer operations",
            FAR,
            "chase_l1",
            &[plus(&[("loops", 72)]), less(&[("loops", 8)])],
            64.0 * 8.0,
            CLOSE,
        ),
    ),
    spans(
        "l2-latency",
        "memory.l2.latency, and four integer operations",
        FAR,
        "chase_l2",
        &[plus(&[("loops", 72)]), less(&[("loops", 8)])],
        64.0 * 8.0,
        CLOSE,
    ),
    spans(
        "dram-latency",
        "memory.dram_latency, and four integer operations",
        FAR,
        "chase_l2",
        &[plus(&[("loops", 32), ("bytes", 1 << 28), ("step", 4096)])],
        32.0 * 8.0,
        CLOSE,
    ),
    spans(
        "atomic-latency",
        "memory.atomic_latency, distinct words, and four integer operations",
        FAR,
        "atomic",
        &[plus(&[("loops", LONG), ("lanes", 4)]), less(&[("loops", SHORT), ("lanes", 4)])],
        PASSES * 8.0,
        CLOSE,
    ),
    spans(
        "atomic-conflict",
        "memory.atomic_conflict: a further lane on the word",
        FAR,
        "atomic",
        &[
            plus(&[("loops", LONG)]),
            less(&[("loops", SHORT)]),
            less(&[("loops", LONG), ("lanes", 4)]),
            plus(&[("loops", SHORT), ("lanes", 4)]),
        ],
        PASSES * 8.0 * 31.0,
        WIDE,
    ),
    spans(
        "branch-taken",
        "Branch and IntMul behind it: what a taken branch over ten instructions adds to a loop of eight",
        CONTROL,
        "branches",
        &[plus(&[("loops", LONG), ("k", 1)]), less(&[("loops", SHORT), ("k", 1)])],
        PASSES * 8.0,
        CLOSE,
    ),
    spans(
        "branch-not-taken",
        "Branch, not taken, and the eleven operations behind it",
        CONTROL,
        "branches",
        &[plus(&[("loops", LONG), ("k", 0)]), less(&[("loops", SHORT), ("k", 0)])],
        PASSES * 8.0,
        CLOSE,
    ),
    spans(
        "barrier-1",
        "barrier: all 1 warp of a block arrive together",
        CONTROL,
        "barrier",
        &[plus(&[("loops", LONG), ("warps", 1)]), less(&[("loops", SHORT), ("warps", 1)])],
        PASSES * 4.0,
        WIDE,
    ),
    spans(
        "barrier-2",
        "barrier: all 2 warps of a block arrive together",
        CONTROL,
        "barrier",
        &[plus(&[("loops", LONG), ("warps", 2)]), less(&[("loops", SHORT), ("warps", 2)])],
        PASSES * 4.0,
        WIDE,
    ),
    spans(
        "barrier-4",
        "barrier: all 4 warps of a block arrive together",
        CONTROL,
        "barrier",
        &[plus(&[("loops", LONG), ("warps", 4)]), less(&[("loops", SHORT), ("warps", 4)])],
        PASSES * 4.0,
        WIDE,
    ),
    spans(
        "barrier-8",
        "barrier: all 8 warps of a block arrive together",
        CONTROL,
        "barrier",
        &[plus(&[("loops", LONG), ("warps", 8)]), less(&[("loops", SHORT), ("warps", 8)])],
        PASSES * 4.0,
        WIDE,
    ),
    spans(
        "barrier-16",
        "barrier: all 16 warps of a block arrive together",
        CONTROL,
        "barrier",
        &[plus(&[("loops", LONG), ("warps", 16)]), less(&[("loops", SHORT), ("warps", 16)])],
        PASSES * 4.0,
        WIDE,
    ),
    spans(
        "barrier-32",
        "barrier: all 32 warps of a block arrive together",
        CONTROL,
        "barrier",
        &[plus(&[("loops", LONG), ("warps", 32)]), less(&[("loops", SHORT), ("warps", 32)])],
        PASSES * 4.0,
        WIDE,
    ),
    spans(
        "barrier-late-2",
        "barrier: one of 2 warps arrives late, by 32 high products",
        CONTROL,
        "barrier_late",
        &[plus(&[("loops", LONG), ("warps", 2)]), less(&[("loops", SHORT), ("warps", 2)])],
        PASSES,
        CLOSE,
    ),
    spans(
        "barrier-late-32",
        "barrier: one of 32 warps arrives late, by 32 high products",
        CONTROL,
        "barrier_late",
        &[plus(&[("loops", LONG), ("warps", 32)]), less(&[("loops", SHORT), ("warps", 32)])],
        PASSES,
        CLOSE,
    ),
    spans(
        "paths-1",
        "1 divergent path of 63 IntMul each: cycles a path",
        CONTROL,
        "paths",
        &[plus(&[("loops", 4), ("k", 1)]), less(&[("loops", 2), ("k", 1)])],
        2.0 * 1.0,
        CLOSE,
    ),
    spans(
        "paths-2",
        "2 divergent paths of 63 IntMul each: cycles a path",
        CONTROL,
        "paths",
        &[plus(&[("loops", 4), ("k", 2)]), less(&[("loops", 2), ("k", 2)])],
        2.0 * 2.0,
        CLOSE,
    ),
    spans(
        "paths-8",
        "8 divergent paths of 63 IntMul each: cycles a path",
        CONTROL,
        "paths",
        &[plus(&[("loops", 4), ("k", 8)]), less(&[("loops", 2), ("k", 8)])],
        2.0 * 8.0,
        CLOSE,
    ),
    spans(
        "paths-32",
        "32 divergent paths of 63 IntMul each: cycles a path",
        CONTROL,
        "paths",
        &[plus(&[("loops", 4), ("k", 32)]), less(&[("loops", 2), ("k", 32)])],
        2.0 * 32.0,
        CLOSE,
    ),
    spans("spin-lock", "one critical section of 32", LOCK, "spin_lock", &[plus(&[])], 32.0, WIDE),
    spans(
        "fetch",
        "code.fetch: a line of eight instructions, first time",
        FETCH,
        "straight",
        &[Setting { weight: 2.0, set: &[("loops", 1)] }, less(&[("loops", 2)])],
        64.0,
        WIDE,
    ),
    loose(
        0.8,
        spans(
            "first-constant",
            "cold_start, in part: the first parameter that a block uses, and two operations; simulated it comes before the stamps",
            FETCH,
            "first_constant",
            &[plus(&[])],
            1.0,
            WIDE,
        ),
    ),
    Experiment {
        figure: Figure::Youth,
        unit: "share",
        ..spans(
            "youth-fma32",
            "policy: the same where the scheduler is the limit, not the unit",
            FLOAT,
            "fma32",
            &[plus(&[("loops", LONG), ("warps", 32)])],
            1.0,
            10.0,
        )
    },
    Experiment {
        figure: Figure::Youth,
        unit: "share",
        ..spans(
            "youth",
            "policy: share of the time by which younger warps end later",
            INTEGER,
            "mad",
            &[plus(&[("loops", LONG), ("warps", 32)])],
            1.0,
            10.0,
        )
    },
    Experiment {
        figure: Figure::Turnover { spin: 2000 },
        ..spans(
            "turnover-1",
            "block_start: one block of 1 warp an SM",
            BLOCKS,
            "turnover",
            &[plus(&[("blocks", 1056), ("warps", 1), ("room", 160000), ("spin", 2000), ("late", 0)])],
            1.0,
            CLOSE,
        )
    },
    Experiment {
        figure: Figure::Turnover { spin: 2000 },
        ..spans(
            "turnover-16",
            "block_start: one block of 16 warps an SM",
            BLOCKS,
            "turnover",
            &[plus(&[("blocks", 1056), ("warps", 16), ("room", 160000), ("spin", 2000), ("late", 0)])],
            1.0,
            CLOSE,
        )
    },
    Experiment {
        figure: Figure::Turnover { spin: 2000 },
        ..spans(
            "turnover-32",
            "block_start: one block of 32 warps an SM",
            BLOCKS,
            "turnover",
            &[plus(&[("blocks", 1056), ("warps", 32), ("room", 160000), ("spin", 2000), ("late", 0)])],
            1.0,
            CLOSE,
        )
    },
    Experiment {
        figure: Figure::Turnover { spin: 2000 },
        ..spans(
            "turnover-16-late",
            "as turnover-16, but the last thing that a block does is a store",
            BLOCKS,
            "turnover",
            &[plus(&[("blocks", 1056), ("warps", 16), ("room", 160000), ("spin", 2000), ("late", 1)])],
            1.0,
            CLOSE,
        )
    },
    Experiment {
        figure: Figure::Turnover { spin: 0 },
        ..spans(
            "turnover-flood",
            "blocks of 16 warps with nothing to do, four resident: cycles a block",
            BLOCKS,
            "turnover",
            &[plus(&[("blocks", 8448), ("warps", 16), ("spin", 0)])],
            1.0,
            WIDE,
        )
    },
    loose(
        0.3,
        Experiment {
            figure: Figure::Skew,
            ..spans(
                "skew-32",
                "from the first to the last warp of a block of 32 to begin",
                BLOCKS,
                "turnover",
                &[plus(&[("blocks", 1056), ("warps", 32), ("room", 160_000), ("spin", 2000)])],
                1.0,
                WIDE,
            )
        },
    ),
];
