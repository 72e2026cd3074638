//! The textbook reductions: same sums, same blocks, different order of additions.

use super::lab::{MODES, Trial, each};
use super::programs::*;
use super::{AskError, Bundled, Experiment, Findings, Source, draw};
use simt_core::spec::Mode;
use simt_report::FigureTable;
use simt_report::numbers::{grouped, real};

pub(super) const EXPERIMENTS: &[Experiment] = &[
    Experiment {
        name: "reductions",
        question: "Why is the neighbored reduction slow, and what makes the interleaved one fast?",
        programs: &[REDUCE_NEIGHBORED, REDUCE_NEIGHBORED_LESS, REDUCE_INTERLEAVED],
        sources: &[
            Source {
                says: "Reduction is frequently encountered: which kernel is better?",
                place: "https://quesba.com/questions/reduction-operation-frequently-encountered-many-algorithms-summing-elements-1190288",
            },
            Source {
                says: "reduceNeighbored, reduceNeighboredLess, reduceInterleaved",
                place: "Cheng, Grossman, McKercher: Professional CUDA C Programming, chapter 3",
            },
        ],
        on_h200: Some(
            "2^24 integers: 95, 5 and 5 divergent branches per block of 512; 511, 511 and 133 \
             sectors loaded per block; 0.210 ms, 0.111 ms and 0.092 ms.",
        ),
        find: reductions,
    },
    Experiment {
        name: "reduction-steps",
        question: "In which steps of a reduction do warps diverge?",
        programs: &[REDUCE_NEIGHBORED, REDUCE_NEIGHBORED_LESS, REDUCE_INTERLEAVED],
        sources: &[Source {
            says: "Divergence only in the last five steps, when fewer threads than a warp remain",
            place: "Cheng, Grossman, McKercher: Professional CUDA C Programming, chapter 3",
        }],
        on_h200: Some(
            "The counters match the sums: 95 and 5 divergent branches per block of 512, 304 \
             branches tested.",
        ),
        find: reduction_steps,
    },
];

/// Threads of the one block; all blocks of these kernels behave alike.
const BLOCK: u64 = 512;

const KERNELS: [(&str, &Bundled); 3] = [
    ("neighbored", &REDUCE_NEIGHBORED),
    ("neighbored, less", &REDUCE_NEIGHBORED_LESS),
    ("interleaved", &REDUCE_INTERLEAVED),
];

fn reductions() -> Result<Findings, AskError> {
    let columns = [
        "kernel",
        "inst_per_warp",
        "divergent, pre-volta",
        "divergent, volta",
        "load requests",
        "load sectors",
        "h200 cycles",
    ];
    let mut table = FigureTable::new("One block of 512 integers", &columns);
    let [near, less, apart] = each(KERNELS, |(name, program)| {
        let [before, since] = each(MODES, |mode| {
            Trial::new(program, mode).set("n", BLOCK).set("block", BLOCK).run()
        })?;
        let figures = (since.count("divergent_branch")?, since.loads()?.sectors);
        table.row(
            name,
            [
                since.real("inst_per_warp")?.into(),
                before.count("divergent_branch")?.into(),
                figures.0.into(),
                since.count("gld_requests")?.into(),
                figures.1.into(),
                since.cycles().into(),
            ],
        );
        Ok(figures)
    })?;
    let watched =
        |program| Trial::new(program, Mode::Volta).set("n", BLOCK).set("block", BLOCK).watch();
    Ok(Findings {
        short: format!(
            "Two causes: its warps stay half idle ({} divergent branches per block, {} after \
             renumbering), and only interleaving reads adjacent words ({} sectors before, {} \
             after).",
            near.0, less.0, less.1, apart.1
        ),
        pictures: vec![
            draw::only(
                "Neighbored: the additions of warp 0, step by step",
                &watched(&REDUCE_NEIGHBORED)?,
                0,
                "add.u32 %a, %a, %b",
            ),
            draw::only(
                "Interleaved: the additions of warp 0",
                &watched(&REDUCE_INTERLEAVED)?,
                0,
                "add.u32 %a, %a, %b",
            ),
        ],
        tables: vec![table],
        sentences: vec![
            "If the threads are renumbered so that the first ones work, whole warps retire early; \
             only the last warp diverges, in its last steps."
                .to_owned(),
            format!(
                "Renumbering does not change the elements that are read: {} sectors in both. \
                 Interleaving does, with the same divergence. A tool that reports only divergence \
                 cannot tell the last two apart.",
                grouped(less.1)
            ),
        ],
    })
}

fn reduction_steps() -> Result<Findings, AskError> {
    let columns = ["kernel", "step 1", "2", "3", "4", "5", "6", "7", "8", "9", "sum", "of"];
    let mut table = FigureTable::new("Divergent warps per step (16 warps, nine steps)", &columns);
    let sums = each(KERNELS, |(name, program)| {
        let watched =
            Trial::new(program, Mode::Volta).set("n", BLOCK).set("block", BLOCK).watch()?;
        let mut steps = [0_u64; 9];
        let mut tested = 0_u64;
        for warp in 0..16 {
            for (step, test) in steps.iter_mut().zip(watched.of_warp(warp, "bra Next")) {
                tested += 1;
                *step += u64::from(test.diverges());
            }
        }
        let sum: u64 = steps.iter().sum();
        let [a, b, c, d, e, f, g, h, i] = steps.map(Into::into);
        table.row(name, [a, b, c, d, e, f, g, h, i, sum.into(), tested.into()]);
        Ok((sum, tested, steps))
    })?;
    let [(near, tested, early), (less, _, late), _] = sums;
    let share = |sum: u64| real(100.0 * (1.0 - sum as f64 / tested.max(1) as f64));
    let first = late.iter().position(|&s| s > 0).unwrap_or(0);
    let full = early.iter().filter(|&&s| s == early[0]).count();
    Ok(Findings {
        short: format!(
            "Neighbored: in all nine, in {full} of them every warp. With consecutive working \
             threads: only in the last {} steps, one warp.",
            late.len() - first
        ),
        tables: vec![table],
        sentences: vec![
            format!(
                "That is {near} against {less} divergent of {tested} tests: branch efficiency {} % \
                 and {} %.",
                share(near),
                share(less),
            ),
            "At least 32 consecutive working threads fill whole warps; the last five steps have \
             16, 8, 4, 2 and 1 of them."
                .to_owned(),
        ],
        ..Findings::default()
    })
}
