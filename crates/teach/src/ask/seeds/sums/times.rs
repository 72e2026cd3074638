//! Finds the times of whole reductions, and the gain of each change to them.

use super::super::bench::{BLOCKS_FERMI, Bench, Sum};
use super::super::verdict::Rule;
use super::super::{Evidence, held};
use super::per;
use crate::ask::lab::Trial;
use crate::ask::programs::*;
use crate::ask::{AskError, Bundled};
use simt_core::spec::Mode;
use simt_report::FigureTable;

pub(super) fn times(bench: &Bench) -> Result<Evidence, AskError> {
    let Bench { facts, h200, fermi } = bench;
    let mut table = FigureTable::new(
        "Cycles and their causes",
        &[
            "kernel",
            "cycles, h200",
            "cycles, fermi",
            "inst_per_warp, h200",
            "divergent branches per block",
            "sectors loaded",
        ],
    );
    let kernels = [
        ("neighbored", h200.near, fermi.near),
        ("less", h200.less, fermi.less),
        ("interleaved", h200.apart, fermi.apart),
    ];
    for (name, new, old) in kernels {
        let row = [
            new.cycles.into(),
            old.cycles.into(),
            new.inst_per_warp.into(),
            new.divergent_a_block.into(),
            new.sectors.into(),
        ];
        table.row(name, row);
    }
    Ok(Evidence {
        lines: vec![
            held(
                "H200: neighbored / less",
                Rule::Within(25.0),
                facts.number("renumbering halves")?.into(),
                per(h200.near.cycles, h200.less.cycles),
                Some(facts.ratio("h200 neighbored", "h200 less")?),
            ),
            held(
                "H200: less / interleaved",
                Rule::SameSide,
                facts.ratio("m2070 less", "m2070 interleaved")?,
                per(h200.less.cycles, h200.apart.cycles),
                Some(facts.ratio("h200 less", "h200 interleaved")?),
            ),
            held(
                "M2070: neighbored / less",
                Rule::Within(25.0),
                facts.ratio("m2070 neighbored", "m2070 less")?,
                per(fermi.near.cycles, fermi.less.cycles),
                None,
            ),
            held(
                "M2070: less / interleaved",
                Rule::Within(25.0),
                facts.ratio("m2070 less", "m2070 interleaved")?,
                per(fermi.less.cycles, fermi.apart.cycles),
                None,
            ),
        ],
        tables: vec![table],
        why: vec![
            "Renumbering retires whole warps, so fewer instructions issue; it reads the same \
             sectors. Interleaving issues about as many, with the same divergence, and reads a \
             quarter of the sectors. Divergence explains only the first step."
                .to_owned(),
            "The gain of a step depends on the bottleneck of the machine; the order of the three \
             does not. The book measured its times with a host clock around a launch, on a GPU \
             that we do not have; our Fermi takes its structure and latencies from papers."
                .to_owned(),
        ],
        ..Evidence::default()
    })
}

pub(super) fn ladder(bench: &Bench) -> Result<Evidence, AskError> {
    let facts = &bench.facts;
    let rungs: [(&str, &str, &'static Bundled); 5] = [
        ("unroll 2", "m2070 unroll 2", &CUDA_UNROLL_2),
        ("unroll 4", "m2070 unroll 4", &CUDA_UNROLL_4),
        ("unroll 8", "m2070 unroll 8", &CUDA_UNROLL_8),
        ("unroll last warp", "m2070 unroll last warp", &CUDA_UNROLL_LAST_WARP),
        ("unroll complete", "m2070 unroll complete", &CUDA_UNROLL_COMPLETE),
    ];
    let mut table = FigureTable::new(
        "The steps on `fermi`, and the book's M2070",
        &[
            "kernel",
            "cycles",
            "stall_sync %",
            "faster than interleaved",
            "book, ms",
            "book, faster than interleaved",
        ],
    );
    let base = bench.fermi.apart;
    let mut row = |name: &str, sum: Sum, published: f64, first: f64| {
        table.row(
            name,
            [
                sum.cycles.into(),
                sum.stall_sync.into(),
                per(base.cycles, sum.cycles),
                (1e3 * published).into(),
                (first / published).into(),
            ],
        );
    };
    let first = facts.number("m2070 interleaved")?;
    row("interleaved", base, first, first);
    let mut before = ("interleaved", "m2070 interleaved", base);
    let mut lines = Vec::new();
    let mut waits = Vec::new();
    for (name, fact, kernel) in rungs {
        let sum = Sum::of(Trial::new(kernel, Mode::PreVolta), BLOCKS_FERMI)?;
        row(name, sum, facts.number(fact)?, first);
        let what = format!("{} / {name}", before.0);
        lines.push(held(
            &what,
            Rule::SameSide,
            facts.ratio(before.1, fact)?,
            per(before.2.cycles, sum.cycles),
            None,
        ));
        waits.push(sum.stall_sync);
        before = (name, fact, sum);
    }
    if let [_, _, eight, last, _] = waits.as_slice() {
        let published =
            facts.ratio("m2070 stall_sync unroll 8", "m2070 stall_sync unroll last warp")?;
        lines.push(held(
            "stall_sync, unroll 8 / unroll last warp",
            Rule::SameSide,
            published,
            per(*eight, *last),
            None,
        ));
    }
    let shuffle = Trial::new(&CUDA_SHUFFLE, Mode::Volta).lowered().set("n", 512 * 4).run()?;
    let arrivals = per(shuffle.count("barriers")?, shuffle.count("warps_launched")?);
    lines.push(held(
        "shuffle: barriers a warp",
        Rule::Exact,
        facts.number("a barrier for a shuffle")?.into(),
        arrivals,
        None,
    ));
    Ok(Evidence {
        lines,
        tables: vec![table],
        why: vec![
            "Unrolling over blocks lets a warp have several loads in flight, and there are fewer \
             blocks to start and to drain: the gain comes from bytes in flight, not from \
             divergence. The last two steps save issues and barriers of warps that have no other \
             work left."
                .to_owned(),
        ],
        ..Evidence::default()
    })
}
