//! Experiments that measure the memory system: shared memory, caches, DRAM, atomics and stores.

use super::super::shape::{
    CALM, CLOSE, CROWD, FAR, LONG, NEAR, PASSES, SHORT, STORES, WIDE, WRITTEN, chain, flood, less,
    longer, loose, plus, spans, stores, stream,
};
use super::super::{Experiment, Figure};

pub(super) const EXPERIMENTS: &[Experiment] = &[
    chain(
        "constant-latency",
        "latency: LoadConst from a computed address, and IntAdd",
        NEAR,
        "constant",
        16.0,
    ),
    flood(
        "constant-interval",
        "interval: LoadConst from a computed address, and IntAdd",
        NEAR,
        "constant",
        16.0,
    ),
    chain(
        "shared-load-latency",
        "latency: memory.shared_latency; LoadShared",
        NEAR,
        "shared_load",
        16.0,
    ),
    flood(
        "shared-load-interval",
        "interval: memory.shared_latency; LoadShared",
        NEAR,
        "shared_load",
        16.0,
    ),
    loose(0.55, chain("shared-store-latency", "latency: StoreShared", NEAR, "shared_store", 16.0)),
    flood("shared-store-interval", "interval: StoreShared", NEAR, "shared_store", 16.0),
    chain(
        "shared-atomic-latency",
        "latency: AtomicShared, distinct words",
        NEAR,
        "shared_atomic",
        8.0,
    ),
    flood(
        "shared-atomic-interval",
        "interval: AtomicShared, distinct words",
        NEAR,
        "shared_atomic",
        8.0,
    ),
    spans(
        "shared-conflict-load",
        "memory.shared_conflict: an additional pass, one warp",
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
        "passes of the SM's shared memory: 32 warps, 32-way conflicts, per pass",
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
        "passes of the SM's shared memory: stores, 32 warps, 32-way conflicts, per pass",
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
        "memory.shared_atomic_conflict: an additional lane on the word, one warp",
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
        "memory.atomic_conflict: an additional lane on the word",
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
    stores(
        "store-1",
        "memory.stores.sector: whole lines, lanes 1 word apart",
        longer!(("warps", 16), ("stride", 4)),
    ),
    stores(
        "store-8",
        "memory.stores.line: one sector per lane, 8 words apart",
        longer!(("warps", 16), ("stride", 32)),
    ),
    stores(
        "store-32",
        "memory.stores.line: one line per lane, 32 words apart",
        longer!(("warps", 16), ("stride", 128)),
    ),
    spans(
        "store-burst",
        "memory.stores.queue: 16 stores, lanes 8 words apart, followed by a load that hits in L1",
        STORES,
        "burst",
        &[plus(&[("stride", 32)])],
        1.0,
        CLOSE,
    ),
    Experiment {
        figure: Figure::Slowest { of: 8 },
        ..spans(
            "store-crowd",
            "memory.stores.l2_packets_per_cycle: stores of all SMs, lanes 8 words apart, cycles \
             per request of an SM",
            STORES,
            "store",
            &[
                plus(&[("loops", 96), ("stride", 32), ("warps", 8), ("blocks", 132)]),
                less(&[("loops", 48), ("stride", 32), ("warps", 8), ("blocks", 132)]),
            ],
            48.0 * 8.0 * 8.0,
            CLOSE,
        )
    },
    Experiment {
        figure: Figure::Slowest { of: 1 },
        ..spans(
            "store-behind",
            "memory.stores.l2_queue_cycles: a load that bypasses L1 while all SMs store, lanes 8 \
             words apart",
            STORES,
            "behind",
            &[plus(&[("loops", 24), ("stride", 32), ("warps", 9), ("blocks", 132)])],
            8.0,
            WIDE,
        )
    },
    stream(
        "dram-stream",
        "memory.dram_latency: all SMs read lines in order; includes a comparison and a guarded \
         instruction",
        CALM,
        1,
    ),
    stream(
        "dram-stream-slowest",
        "memory.dram_spread: as dram-stream, the slowest of eight warps",
        CALM,
        8,
    ),
    stream("dram-crowd", "memory.dram_wait: as dram-stream, four times as many warps", CROWD, 1),
    stream(
        "dram-crowd-slowest",
        "memory.dram_wait: as dram-crowd, the slowest of eight warps",
        CROWD,
        8,
    ),
    stream(
        "dram-written",
        "memory.dram_wait: as dram-crowd, and each line read is written",
        WRITTEN,
        1,
    ),
    stream(
        "dram-written-slowest",
        "memory.dram_wait: as dram-written, the slowest of eight warps",
        WRITTEN,
        8,
    ),
];
