//! Experiments that measure how warps are chosen and how blocks follow each other.

use super::super::shape::{
    BLOCKS, FLOAT, INTEGER, LONG, SPIN, WIDE, loose, one_an_sm, plus, spans, turnover,
};
use super::super::{Experiment, Figure};

pub(super) const EXPERIMENTS: &[Experiment] = &[
    Experiment {
        figure: Figure::Youth,
        unit: "share",
        ..spans(
            "youth-fma32",
            "policy: as youth, limited by the scheduler instead of the unit",
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
        figure: Figure::Ages,
        unit: "share",
        ..spans(
            "ages",
            "policy: four blocks of 16 warps with equal work on each SM: time of the first over \
             the last",
            BLOCKS,
            "ages",
            &[plus(&[("blocks", 528), ("warps", 16), ("spin", 40)])],
            1.0,
            0.1,
        )
    },
    loose(
        0.35,
        Experiment {
            figure: Figure::Slowest { of: 1 },
            ..spans(
                "greedy",
                "policy: a dependent Float32 of the oldest block beside three blocks that can \
                 issue every cycle",
                BLOCKS,
                "greedy",
                &[plus(&[("blocks", 528), ("warps", 4), ("spin", 2), ("late", 40)])],
                64.0,
                WIDE,
            )
        },
    ),
    turnover("turnover-1", "block_start: one block of 1 warp per SM", one_an_sm!(("warps", 1))),
    turnover("turnover-16", "block_start: one block of 16 warps per SM", one_an_sm!(("warps", 16))),
    turnover("turnover-32", "block_start: one block of 32 warps per SM", one_an_sm!(("warps", 32))),
    turnover(
        "turnover-16-late",
        "as turnover-16, but each block ends with a store",
        one_an_sm!(("warps", 16), ("late", 1)),
    ),
    Experiment {
        figure: Figure::Turnover { spin: 0 },
        ..spans(
            "turnover-flood",
            "empty blocks of 16 warps, four resident: cycles per block",
            BLOCKS,
            "turnover",
            &[plus(&[("blocks", 8448), ("warps", 16), ("spin", 0)])],
            1.0,
            WIDE,
        )
    },
    loose(
        0.45,
        Experiment {
            figure: Figure::Skew,
            ..spans(
                "skew-32",
                "from the begin of the first warp to that of the last in a block of 32",
                BLOCKS,
                "turnover",
                one_an_sm!(("warps", 32)),
                1.0,
                WIDE,
            )
        },
    ),
];
