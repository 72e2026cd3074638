//! Finds what each step of a reduction adds, and which lanes work in it.

use super::super::bench::{Bench, Sum};
use super::super::verdict::{Line, Referee, Rule};
use super::super::{Evidence, held, measured};
use crate::ask::lab::{Trial, each};
use crate::ask::programs::*;
use crate::ask::{AskError, Bundled};
use simt_core::spec::Mode;
use simt_report::{Cell, FigureTable};

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

pub(super) fn partial_sums(bench: &Bench) -> Result<Evidence, AskError> {
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

pub(super) fn steps(bench: &Bench) -> Result<Evidence, AskError> {
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

pub(super) fn utilisation(bench: &Bench) -> Result<Evidence, AskError> {
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
