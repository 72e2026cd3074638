//! Claims about profiler metrics.

use super::bench::{Bench, Sum};
use super::sums::per;
use super::verdict::Rule;
use super::{Claim, Evidence, held, measured};
use crate::ask::AskError;
use crate::ask::lab::Trial;
use crate::ask::programs::*;
use simt_core::spec::Mode;
use simt_report::{Cell, FigureTable};

pub(super) const CLAIMS: &[Claim] = &[
    Claim {
        title: "inst_per_warp: 444.9 against 150.5, 295.56 against 115.31",
        says: "The renumbered kernel issues about a third of the neighbored kernel's instructions \
               per warp; profilers show this as `inst_per_warp`.",
        sources: &["lecture", "book", "GTX 1060"],
        runs: "kernels compiled by nvcc as machine instructions, blocks of 512, on the preset \
               named; the value does not depend on the number of blocks",
        repeat: &[
            "simt-sim run programs/cuda/reduce_neighbored.ptx --machine fermi --set n=16384 --metrics inst_per_warp",
            "simt-sim run programs/cuda/reduce_neighbored_less.ptx --machine fermi --set n=16384 --metrics inst_per_warp",
        ],
        find: inst_per_warp,
    },
    Claim {
        title: "gld_throughput rises, and that is why the kernel is faster",
        says: "The renumbered kernel has the higher global load throughput. This is often read as \
               the cause of its speed.",
        sources: &["book"],
        runs: "as for the times: 2,112 blocks of 512 integers on `h200`",
        repeat: &[
            "simt-sim run programs/cuda/reduce_neighbored_less.ptx --machine h200 --set n=1081344 --metrics gld_throughput,gld_transactions,elapsed_cycles",
        ],
        find: throughput,
    },
    Claim {
        title: "Branch efficiency is 100 % although half of the lanes idle",
        says: "Profilers show no divergent branch for the neighbored reduction: the compiler has \
               predicated it.",
        sources: &["GTX 1060", "A100"],
        runs: "kernels compiled by nvcc as machine instructions, 32 blocks of 512, on `pascal`, \
               `ampere` and `h200`",
        repeat: &[
            "simt-sim run programs/cuda/reduce_neighbored.ptx --machine pascal --set n=16384 --metrics branch_efficiency",
            "simt-sim run programs/cuda/shared_doubling.ptx --machine ampere --set n=16384 --metrics divergent_branch",
        ],
        find: branch_efficiency,
    },
];

/// Blocks of a run; the counts per block do not depend on it.
const FEW: u64 = 32;

fn on(program: &'static Bundled, machine: &'static str, mode: Mode) -> Result<Sum, AskError> {
    Sum::of(Trial::new(program, mode).on(machine, |_| {}), FEW)
}

fn inst_per_warp(bench: &Bench) -> Result<Evidence, AskError> {
    let Bench { facts, h200, fermi } = bench;
    let mut table = FigureTable::new(
        "Machine instructions per warp, by generation",
        &["preset", "neighbored", "less", "ratio"],
    );
    let presets = [
        ("fermi", Mode::PreVolta),
        ("kepler", Mode::PreVolta),
        ("pascal", Mode::PreVolta),
        ("volta", Mode::Volta),
        ("ampere", Mode::Volta),
        ("h200", Mode::Volta),
    ];
    let mut pascal = (0.0, 0.0);
    for (name, mode) in presets {
        let [near, less] =
            [on(&CUDA_NEIGHBORED, name, mode)?, on(&CUDA_NEIGHBORED_LESS, name, mode)?]
                .map(|s| s.inst_per_warp);
        table.row(name, [near.into(), less.into(), per(near, less)]);
        if name == "pascal" {
            pascal = (near, less);
        }
    }
    let ten = Rule::Within(10.0);
    let number = |name| Ok::<Cell, AskError>(facts.number(name)?.into());
    Ok(Evidence {
        lines: vec![
            held(
                "M2070, neighbored (`fermi`)",
                ten,
                number("m2070 inst_per_warp neighbored")?,
                fermi.near.inst_per_warp,
                None,
            ),
            held(
                "M2070, less (`fermi`)",
                ten,
                number("m2070 inst_per_warp less")?,
                fermi.less.inst_per_warp,
                None,
            ),
            held(
                "GTX 1060, neighbored (`pascal`)",
                ten,
                number("gtx1060 inst_per_warp neighbored")?,
                pascal.0,
                None,
            ),
            held(
                "GTX 1060, less (`pascal`)",
                ten,
                number("gtx1060 inst_per_warp less")?,
                pascal.1,
                None,
            ),
            held(
                "lecture, ratio of the two (`fermi`)",
                Rule::Within(20.0),
                facts.ratio("lecture inst_per_warp neighbored", "lecture inst_per_warp less")?,
                per(fermi.near.inst_per_warp, fermi.less.inst_per_warp),
                Some(facts.ratio("h200 inst_per_warp neighbored", "h200 inst_per_warp less")?),
            ),
            measured(
                "H200, neighbored",
                ten,
                h200.near.inst_per_warp,
                number("h200 inst_per_warp neighbored")?,
            ),
            measured(
                "H200, less",
                ten,
                h200.less.inst_per_warp,
                number("h200 inst_per_warp less")?,
            ),
        ],
        tables: vec![table],
        why: vec![
            "Two causes, of which divergence is the smaller. Every warp of the neighbored kernel \
             computes `tid % (2 * stride)` in every step, and a remainder by a variable is some \
             twenty machine instructions; and 95 instead of 20 warps of a block issue the \
             addition. The absolute value depends on compiler and generation, which is why \
             published values differ so much."
                .to_owned(),
        ],
        ..Evidence::default()
    })
}

fn throughput(bench: &Bench) -> Result<Evidence, AskError> {
    let Bench { facts, h200, .. } = bench;
    let mut table = FigureTable::new(
        "Data loaded and throughput",
        &[
            "kernel",
            "sectors, ours",
            "sectors, H200 (2^24)",
            "GB/s, ours",
            "GB/s, H200",
            "cycles, ours",
        ],
    );
    let rows = [
        ("neighbored", h200.near, "h200 gld sectors neighbored", "h200 gld_throughput neighbored"),
        ("less", h200.less, "h200 gld sectors less", "h200 gld_throughput less"),
        (
            "interleaved",
            h200.apart,
            "h200 gld sectors interleaved",
            "h200 gld_throughput interleaved",
        ),
    ];
    for (name, sum, sectors, rate) in rows {
        let theirs = facts.number(sectors)? as u64;
        table.row(
            name,
            [
                sum.sectors.into(),
                theirs.into(),
                sum.gld_throughput.into(),
                facts.number(rate)?.into(),
                sum.cycles.into(),
            ],
        );
    }
    let book_rates = facts.number("m2070 gld_throughput less")?
        / facts.number("m2070 gld_throughput neighbored")?;
    let book_times = facts.number("m2070 neighbored")? / facts.number("m2070 less")?;
    let h200_rates = facts.number("h200 gld_throughput less")?
        / facts.number("h200 gld_throughput neighbored")?;
    let h200_times = facts.number("h200 neighbored")? / facts.number("h200 less")?;
    let rates = h200.less.gld_throughput / h200.near.gld_throughput;
    let times = h200.near.launch_cycles as f64 / h200.less.launch_cycles as f64;
    Ok(Evidence {
        lines: vec![
            held(
                "if the cause: throughput of the fastest, interleaved / less, as its speed",
                Rule::SameSide,
                facts.ratio("m2070 less", "m2070 interleaved")?,
                h200.apart.gld_throughput / h200.less.gld_throughput,
                Some(facts.ratio("h200 gld_throughput interleaved", "h200 gld_throughput less")?),
            ),
            held(
                "throughput, less / neighbored",
                Rule::SameSide,
                book_rates.into(),
                rates,
                Some(h200_rates.into()),
            ),
            held(
                "bytes loaded, less / neighbored",
                Rule::Within(10.0),
                (book_rates / book_times).into(),
                per(h200.less.sectors, h200.near.sectors),
                Some(facts.ratio("h200 gld sectors less", "h200 gld sectors neighbored")?),
            ),
            measured(
                "ratio of rates / ratio of times",
                Rule::Within(1.0),
                rates / times,
                (h200_rates / h200_times).into(),
            ),
        ],
        tables: vec![table],
        why: vec![
            "The two kernels load exactly the same number of sectors; the faster one loads them in \
             less time, so bytes per second rise by exactly the factor by which the time falls. \
             The interleaved kernel loads a quarter of them: it is the fastest and has the lowest \
             throughput of all. Throughput follows from the time, not the time from throughput."
                .to_owned(),
        ],
        ..Evidence::default()
    })
}

fn branch_efficiency(bench: &Bench) -> Result<Evidence, AskError> {
    let facts = &bench.facts;
    let pascal = on(&CUDA_NEIGHBORED, "pascal", Mode::PreVolta)?;
    let mut table = FigureTable::new(
        "Divergent branches per block",
        &["kernel", "pascal", "ampere", "h200", "H200"],
    );
    let ampere =
        |program| Ok::<u64, AskError>(on(program, "ampere", Mode::Volta)?.divergent_a_block);
    let near = ampere(&CUDA_NEIGHBORED)?;
    let theirs = facts.number("h200 divergent neighbored")? as u64;
    table.row(
        "neighbored, global memory",
        [
            pascal.divergent_a_block.into(),
            near.into(),
            bench.h200.near.divergent_a_block.into(),
            theirs.into(),
        ],
    );
    let mut shared = 0;
    let none = facts.number("h200 divergent shared pair")? as u64;
    for (name, program) in [
        ("stride doubling, shared memory", &CUDA_SHARED_DOUBLING),
        ("stride halving, shared memory", &CUDA_SHARED_HALVING),
    ] {
        let before = on(program, "pascal", Mode::PreVolta)?.divergent_a_block;
        let (mid, now) = (ampere(program)?, on(program, "h200", Mode::Volta)?.divergent_a_block);
        shared += mid;
        table.row(name, [before.into(), mid.into(), now.into(), none.into()]);
    }
    Ok(Evidence {
        lines: vec![
            held(
                "GTX 1060, neighbored in global memory: branch_efficiency % (`pascal`)",
                Rule::Within(2.0),
                facts.number("gtx1060 branch_efficiency neighbored")?.into(),
                pascal.branch_efficiency,
                Some(facts.number("h200 branch_efficiency neighbored")?.into()),
            ),
            held(
                "A100, reductions in shared memory: divergent branches a block (`ampere`)",
                Rule::Exact,
                facts.number("a100 divergent shared pair")?.into(),
                shared,
                Some(facts.number("h200 divergent shared pair")?.into()),
            ),
            measured(
                "H200, neighbored in global memory: branch_efficiency %",
                Rule::Within(1.0),
                bench.h200.near.branch_efficiency,
                facts.number("h200 branch_efficiency neighbored")?.into(),
            ),
        ],
        tables: vec![table],
        why: vec![
            "It depends on the body. Short bodies that stay in registers and shared memory are \
             predicated: no branch, no divergence to count. A body that loads from global memory \
             stays a branch with today's compiler, and the H200 counts 95 divergent branches per \
             block. How an older compiler translated it for the GTX 1060 is unknown; the figure \
             does not hold today."
                .to_owned(),
        ],
        ..Evidence::default()
    })
}
