//! Claims about the order of additions in a reduction.

use super::bench::{BLOCKS_FERMI, Bench, Sum};
use super::verdict::{Line, Referee, Rule};
use super::{Claim, Evidence, held, measured};
use crate::ask::lab::{Trial, each};
use crate::ask::programs::*;
use crate::ask::{AskError, Bundled};
use simt_core::spec::Mode;
use simt_report::{Cell, FigureTable};

pub(super) const CLAIMS: &[Claim] = &[
    Claim {
        title: "Renumbering the threads halves the time; interleaving is faster still",
        says: "Neighbored pairs keep every other thread idle. With the threads renumbered so that \
               the first ones work, the same additions take half the time; pairs half a block \
               apart are faster again.",
        sources: &["book", "lecture"],
        runs: "kernels compiled by nvcc as machine instructions: 2,112 blocks of 512 integers on \
               `h200`, 4,032 on `fermi` (the H200 and the book: 32,768)",
        repeat: &[
            "simt-sim run programs/cuda/reduce_neighbored.ptx --machine h200 --set n=1081344",
            "simt-sim run programs/cuda/reduce_neighbored_less.ptx --machine h200 --set n=1081344",
            "simt-sim run programs/cuda/reduce_interleaved.ptx --machine h200 --set n=1081344",
        ],
        find: times,
    },
    Claim {
        title: "Partial sums by thread",
        says: "With doubling strides (`t % (2 * stride) == 0`) thread 0 holds the sum of 2, 4, 8 \
               .. neighbours and every second, fourth, eighth .. thread works; with halving \
               strides (`t < stride`) the first threads work, on elements half the data apart.",
        sources: &["textbook"],
        runs: "8 words of one bit each, so that a partial sum identifies its elements; one run per \
               number of steps",
        repeat: &[
            "simt-sim run programs/small/shared_reduction.ir --set n=8 --set order=0 --set steps=2 --machine h200",
        ],
        find: partial_sums,
    },
    Claim {
        title: "Divergence in every step, or only in the last five",
        says: "With doubling strides warps diverge in each step. With halving strides they diverge \
               only when fewer threads than a warp work: in the last five steps.",
        sources: &["textbook", "lecture slides"],
        runs: "the textbook's two kernels by nvcc, as written (branches stay branches), one block \
               of 512; global-memory twins and predicated forms on `h200`",
        repeat: &[
            "simt-sim ask reduction-steps",
            "simt-sim run programs/cuda/shared_halving.ptx --lowering as-written --set n=512",
        ],
        find: steps,
    },
    Claim {
        title: "35 % of the lanes work, or 66 %",
        says: "256 elements, 128 threads: the simple kernel occupies 736 lanes for 255 additions, \
               the convergent one 384.",
        sources: &["textbook"],
        runs: "one block of 128 threads on 256 words: every issue of the addition, its active \
               lanes out of 32",
        repeat: &[
            "simt-sim timeline programs/small/shared_reduction.ir --set n=256 --set block=128 --set order=3 --machine h200 --warp 0..3",
        ],
        find: utilisation,
    },
    Claim {
        title: "Renumbered threads trade divergence for bank conflicts",
        says: "In shared memory the renumbered kernel no longer diverges, but its lanes access \
               words 2, 4, 8 .. apart, which lie in the same banks; sequential addressing has \
               neither problem.",
        sources: &["Harris"],
        runs: "one block of 512 words on `h200`, as written; passes over the banks per load of the \
               additions",
        repeat: &[
            "simt-sim run programs/small/shared_reduction.ir --set n=512 --set order=1 --machine h200 --metrics shared_load_transactions_per_request",
        ],
        find: conflicts,
    },
    Claim {
        title: "Unrolling step by step: blocks, the last warp, the whole loop; then shuffle",
        says: "Each step of the usual course is faster than the one before: 2, 4, 8 blocks of data \
               per block of threads, no barriers in the last warp, no loop at all. Without its \
               barriers a kernel waits half as much for them; a shuffle reduction needs one.",
        sources: &["book"],
        runs: "kernels compiled by nvcc as machine instructions on `fermi`, 4,032 blocks of 512 \
               integers",
        repeat: &[
            "simt-sim run programs/cuda/reduce_unroll8.ptx --machine fermi --set n=2064384",
            "simt-sim run programs/cuda/reduce_unroll_last_warp.ptx --machine fermi --set n=2064384",
        ],
        find: ladder,
    },
];

/// Ratio `a / b`.
pub(super) fn per(a: impl Into<Amount>, b: impl Into<Amount>) -> Cell {
    Cell::Real(a.into().0 / b.into().0)
}

/// A count or a real as operand of a ratio.
pub(super) struct Amount(f64);

impl From<u64> for Amount {
    fn from(n: u64) -> Amount {
        Amount(n as f64)
    }
}

impl From<f64> for Amount {
    fn from(x: f64) -> Amount {
        Amount(x)
    }
}

fn times(bench: &Bench) -> Result<Evidence, AskError> {
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

/// Elements in a partial sum: `0..3`, or `0+4` if they are not adjacent.
fn elements(sum: u32) -> String {
    let (first, last) = (sum.trailing_zeros(), 31_u32.saturating_sub(sum.leading_zeros()));
    if sum.count_ones() == last.saturating_sub(first) + 1 && sum.count_ones() > 1 {
        return format!("{first}..{last}");
    }
    let each: Vec<String> =
        (0..32).filter(|bit| sum >> bit & 1 == 1).map(|bit: u32| bit.to_string()).collect();
    each.join("+")
}

fn partial_sums(bench: &Bench) -> Result<Evidence, AskError> {
    let columns = ["after", "t0", "t1", "t2", "t3", "t4", "t5", "t6", "t7"];
    let mut evidence = Evidence::default();
    let orders = [
        ("doubling", 0_u64, ["doubling, step 1", "doubling, step 2", "doubling, step 3"]),
        ("halving", 2, ["halving, step 1", "halving, step 2", "halving, step 3"]),
    ];
    for (name, order, published) in orders {
        let mut table = FigureTable::new(
            format!("Stride {name}: elements summed in each word (bold: changed in this step)"),
            &columns,
        );
        let mut before: Vec<u32> = Vec::new();
        for (step, published) in (0_u64..).zip(std::iter::once(None).chain(published.map(Some))) {
            let trial = Trial::new(&SHARED_REDUCTION, Mode::Volta)
                .set("n", 8)
                .set("order", order)
                .set("steps", step);
            let done = trial.run()?;
            let words = done.words("out")?.to_vec();
            let grown = |t: usize| before.get(t).is_some_and(|old| Some(old) != words.get(t));
            let cell = |t: usize| -> Cell {
                let held = elements(words.get(t).copied().unwrap_or_default());
                if grown(t) { format!("**{held}**").into() } else { held.into() }
            };
            table.row(
                if step == 0 { "start".to_owned() } else { format!("step {step}") },
                [0, 1, 2, 3, 4, 5, 6, 7].map(cell),
            );
            if let Some(what) = published {
                let holders = words.iter().enumerate().filter(|&(t, _)| grown(t));
                let ours: Vec<String> =
                    holders.map(|(t, &sum)| format!("t{t}: {}", elements(sum))).collect();
                evidence.lines.push(held(
                    what,
                    Rule::Exact,
                    bench.facts.word(what)?,
                    ours.join(", "),
                    None,
                ));
            }
            before = words;
        }
        evidence.tables.push(table);
    }
    evidence.why.push(
        "Words that no thread adds to any more keep their value. Both orders need three steps for \
         eight elements; they differ in the threads that work: 0 and 4 or 0 and 1 in the second \
         step."
            .to_owned(),
    );
    Ok(evidence)
}

fn steps(bench: &Bench) -> Result<Evidence, AskError> {
    let columns = ["kernel", "step 1", "2", "3", "4", "5", "6", "7", "8", "9", "sum"];
    let mut table = FigureTable::new("Warps of 16 split by the step's `if`, as written", &columns);
    let kernels: [(&str, &'static Bundled); 2] =
        [("stride doubling", &CUDA_SHARED_DOUBLING), ("stride halving", &CUDA_SHARED_HALVING)];
    let [doubling, halving] = each(kernels, |(name, kernel)| {
        let watched = Trial::new(kernel, Mode::Volta).set("n", 512).watch()?;
        let mut steps = [0_u64; 9];
        for warp in 0..16 {
            for (step, test) in steps.iter_mut().zip(watched.of_warp(warp, "@%p3 bra")) {
                *step += u64::from(test.diverges());
            }
        }
        let [a, b, c, d, e, f, g, h, i] = steps.map(Cell::from);
        table.row(name, [a, b, c, d, e, f, g, h, i, steps.iter().sum::<u64>().into()]);
        Ok(steps)
    })?;
    let splitting = |steps: [u64; 9]| steps.iter().filter(|&&s| s > 0).count() as u64;
    let predicated =
        |kernel| Ok::<_, AskError>(Sum::run(kernel, Mode::Volta, 4)?.divergent_a_block);
    let pair = predicated(&CUDA_SHARED_DOUBLING)? + predicated(&CUDA_SHARED_HALVING)?;
    let last = halving.iter().rev().take_while(|&&s| s > 0).count() as u64;
    let facts = &bench.facts;
    Ok(Evidence {
        lines: vec![
            held(
                "doubling: steps that split a warp",
                Rule::Exact,
                facts.number("steps that diverge, doubling")?.into(),
                splitting(doubling),
                None,
            ),
            held(
                "halving: steps that split a warp",
                Rule::Exact,
                facts.number("steps that diverge, halving")?.into(),
                splitting(halving),
                None,
            ),
            held(
                "halving: of them at the end, without a gap",
                Rule::Exact,
                facts.number("steps that diverge, halving")?.into(),
                last,
                None,
            ),
            measured(
                "neighbored, global memory: divergent branches a block",
                Rule::Exact,
                bench.h200.near.divergent_a_block,
                facts.number("h200 divergent neighbored")?.into(),
            ),
            measured(
                "interleaved, global memory: divergent branches a block",
                Rule::Exact,
                bench.h200.apart.divergent_a_block,
                facts.number("h200 divergent interleaved")?.into(),
            ),
            measured(
                "both in shared memory, predicated by the compiler",
                Rule::Exact,
                pair,
                facts.number("h200 divergent shared pair")?.into(),
            ),
        ],
        tables: vec![table],
        why: vec![
            "256, 128, 64 and 32 consecutive threads fill whole warps; 16, 8, 4, 2 and 1 do not. \
             Spread over all threads, the same numbers leave no warp whole from the first step on."
                .to_owned(),
            "The H200's counters show the totals: 95 and 5 divergent branches per block if the \
             body reads global memory. The body of the shared-memory kernels is short, so the \
             compiler predicates it: no branch is left to count, and only \
             `warp_nonpred_execution_efficiency` shows the idle lanes."
                .to_owned(),
        ],
        ..Evidence::default()
    })
}

fn utilisation(bench: &Bench) -> Result<Evidence, AskError> {
    let mut table = FigureTable::new(
        "The addition, by step: warps that issue it / lanes that add",
        &["kernel", "1", "2", "3", "4", "5", "6", "7", "8", "working", "paid for", "%"],
    );
    let kernels = [("simple, `t % s == 0`", 3_u64), ("convergent, `t < s`", 2)];
    let [simple, convergent] = each(kernels, |(name, order)| {
        let trial = Trial::new(&SHARED_REDUCTION, Mode::Volta)
            .set("n", 256)
            .set("block", 128)
            .set("order", order);
        let watched = trial.watch()?;
        let mut steps = [(0_u64, 0_u64); 8];
        for warp in 0..4 {
            let mut step = 0;
            for issue in watched.issues(warp) {
                let text = watched.source(issue.pc);
                let at = steps.get_mut(step);
                if let Some((warps, lanes)) = at.filter(|_| text.starts_with("add.u32 %a, %a, %b"))
                {
                    *warps += 1;
                    *lanes += u64::from(issue.executed.count());
                }
                step += usize::from(text.ends_with("bra Step;"));
            }
        }
        let (issued, lanes) = steps.iter().fold((0, 0), |(w, l), step| (w + step.0, l + step.1));
        let paid = 32 * issued;
        let [a, b, c, d, e, f, g, h] =
            steps.map(|(warps, lanes)| Cell::from(format!("{warps} / {lanes}")));
        table.row(
            name,
            [
                a,
                b,
                c,
                d,
                e,
                f,
                g,
                h,
                lanes.into(),
                paid.into(),
                Cell::Real(100.0 * lanes as f64 / paid.max(1) as f64),
            ],
        );
        Ok((lanes, paid))
    })?;
    // Warps with a thread that adds, in the steps of stride 1, 2, .. 128.
    let at_work = |warp: u64, stride: u64| (32 * warp..32 * warp + 32).any(|t| t % stride == 0);
    let counted: u64 =
        (0..8).map(|step| (0..4).filter(|&warp| at_work(warp, 1 << step)).count() as u64).sum();
    let facts = &bench.facts;
    let working = || Ok::<Cell, AskError>(facts.number("lanes working")?.into());
    Ok(Evidence {
        lines: vec![
            Line {
                referee: Referee::Counted((32 * counted).into()),
                ..held(
                    "simple: lanes paid for",
                    Rule::Exact,
                    facts.number("lanes paid, simple")?.into(),
                    simple.1,
                    None,
                )
            },
            held("simple: lanes that add", Rule::Exact, working()?, simple.0, None),
            held(
                "convergent: lanes paid for",
                Rule::Exact,
                facts.number("lanes paid, convergent")?.into(),
                convergent.1,
                None,
            ),
            held("convergent: lanes that add", Rule::Exact, working()?, convergent.0, None),
        ],
        tables: vec![table],
        why: vec![
            "A warp with one working lane occupies 32. 736 is (5 x 4 + 2 + 1) x 32: seven steps. \
             But 256 elements take eight, and with a stride of 32 all four warps still have one \
             thread that adds: (6 x 4 + 2 + 1) x 32 = 864. The simple kernel is therefore worse \
             than claimed, 30 % instead of 35 %. For the convergent one (4 + 2 + 1 + 5) x 32 = 384 \
             is correct."
                .to_owned(),
        ],
        ..Evidence::default()
    })
}

fn conflicts(bench: &Bench) -> Result<Evidence, AskError> {
    let columns =
        ["kernel", "loads of the additions", "passes", "passes a load", "divergent branches"];
    let mut table = FigureTable::new("One block of 512 words", &columns);
    let kernels =
        [("first: `t % (2 * s)`", 0_u64), ("second: `i = 2 * s * t`", 1), ("third: `t < s`", 2)];
    let [first, second, third] = each(kernels, |(name, order)| {
        let trial = || Trial::new(&SHARED_REDUCTION, Mode::Volta).set("n", 512).set("order", order);
        let (whole, none) = (trial().run()?, trial().set("steps", 0).run()?);
        let added =
            |metric| Ok::<u64, AskError>(whole.count(metric)?.saturating_sub(none.count(metric)?));
        let (loads, passes) = (added("shared_load_requests")?, added("shared_load_transactions")?);
        let (each_load, divergent) =
            (passes as f64 / loads.max(1) as f64, added("divergent_branch")?);
        table.row(name, [loads.into(), passes.into(), each_load.into(), divergent.into()]);
        Ok((each_load, divergent))
    })?;
    let facts = &bench.facts;
    // Lanes 2 s words apart, s = 1, 2, .. 256: active warps, and lanes of a warp per bank.
    let ways = [(8, 2), (4, 4), (2, 8), (1, 16), (1, 16), (1, 8), (1, 4), (1, 2), (1, 1_u64)];
    let passes: u64 = ways.iter().map(|&(warps, ways)| warps * ways).sum();
    let warps: u64 = ways.iter().map(|w| w.0).sum();
    let meets = |passes: f64| if passes > 1.0 { "yes" } else { "no" };
    Ok(Evidence {
        lines: vec![
            held(
                "second kernel: bank conflicts",
                Rule::Exact,
                facts.word("conflicts of the second kernel")?,
                meets(second.0),
                None,
            ),
            held(
                "third kernel: bank conflicts",
                Rule::Exact,
                facts.word("conflicts of the third kernel")?,
                meets(third.0),
                None,
            ),
            Line {
                source: None,
                referee: Referee::Counted(per(passes, warps)),
                ..held("second kernel: passes a load", Rule::Exact, "".into(), second.0, None)
            },
            measured(
                "second kernel: divergent branches",
                Rule::Exact,
                second.1,
                facts.number("h200 divergent less")?.into(),
            ),
        ],
        tables: vec![table],
        why: vec![format!(
            "The second and the third kernel diverge alike ({} and {} branches, {} in the first); \
             the {warps} warp-wide additions of the second take {passes} passes over the banks for \
             each operand. A tool that reports only divergence rates the two equal.",
            second.1, third.1, first.1
        )],
        ..Evidence::default()
    })
}

fn ladder(bench: &Bench) -> Result<Evidence, AskError> {
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
