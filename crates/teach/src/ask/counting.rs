//! Divergent warps and the metrics that profilers derive from them.

use super::lab::{MODES, Trial, each};
use super::programs::*;
use super::{AskError, Experiment, Findings, Source, draw};
use simt_core::spec::Mode;
use simt_report::FigureTable;
use simt_report::numbers::{grouped, real};

pub(super) const EXPERIMENTS: &[Experiment] = &[
    Experiment {
        name: "picture-warps",
        question: "A kernel handles an image in blocks of 16 x 16 and checks its borders: how many \
                   warps diverge?",
        programs: &[PICTURE],
        sources: &[Source {
            says: "A question from Programming Massively Parallel Processors",
            place: "https://forums.developer.nvidia.com/t/a-question-from-programming-massively-parallel-processors-a-hands-on-approach/189968",
        }],
        on_h200: None,
        find: picture_warps,
    },
    Experiment {
        name: "ragged-end",
        question: "if (i < n) at the start of every kernel: does the bounds check cause \
                   divergence?",
        programs: &[VECTOR_ADD],
        sources: &[Source {
            says: "Exercise of Programming Massively Parallel Processors: vector of 2000, blocks \
                   of 512",
            place: "Kirk, Hwu: Programming Massively Parallel Processors, chapter 4",
        }],
        on_h200: Some(
            "ptxas turns a conditional return into a predicated EXIT: the counters show no branch \
             for it.",
        ),
        find: ragged_end,
    },
    Experiment {
        name: "branch-efficiency",
        question: "Branch efficiency is 100 % but control-flow efficiency is low: how can that be?",
        programs: &[VECTOR_ADD, IF_ELSE, IF_ELSE_PREDICATED],
        sources: &[
            Source {
                says: "What does a high branch efficiency and low control-flow efficiency \
                       indicate?",
                place: "http://stackoverflow.com/questions/12539762/what-does-a-high-branch-efficiency-and-low-control-flow-efficiency-indicate",
            },
            Source {
                says: "100 % branch efficiency for an obvious if/else",
                place: "https://blog.csdn.net/UCAS_HMM/article/details/127485991",
            },
        ],
        on_h200: Some(
            "The even/odd kernel of the courses has 0 divergent branches in the counters, although \
             every warp holds even and odd lanes: ptxas predicated both arms.",
        ),
        find: branch_efficiency,
    },
    Experiment {
        name: "inst-per-warp",
        question: "What is inst_per_warp? Why is it not the number of lines of my kernel?",
        programs: &[FOR_TID],
        sources: &[Source {
            says: "About the metric inst_per_warp",
            place: "https://forums.developer.nvidia.com/t/about-instruction-per-warp-metric/116722",
        }],
        on_h200: None,
        find: inst_per_warp,
    },
    Experiment {
        name: "warp-aligned",
        question: "Heavy and light threads alternate: does the alignment of the pattern with warps \
                   matter?",
        programs: &[SQUARE_WAVE],
        sources: &[Source {
            says: "Does the hardware check every branch, and what does divergence cost?",
            place: "https://forums.developer.nvidia.com/t/question-about-control-flow-divergence/4718",
        }],
        on_h200: Some(
            "Square wave in double precision, 320 against 4 iterations: period 64 took 0.934 ms, \
             32 took 1.437, 62 took 1.440, all heavy took 1.418. A mixed warp costs as much as an \
             all-heavy one.",
        ),
        find: warp_aligned,
    },
];

fn picture_warps() -> Result<Findings, AskError> {
    let columns = ["picture", "blocks", "warps", "divergent, pre-volta", "divergent, volta"];
    let mut table = FigureTable::new("Warps split by the border check", &columns);
    let mut worst = (0, 0);
    for (width, height) in [(200, 150), (150, 200), (208, 150), (200, 160), (600, 800), (800, 600)]
    {
        let [before, since] = each(MODES, |mode| {
            Trial::new(&PICTURE, mode).set("width", width).set("height", height).run()
        })?;
        let (warps, divergent) = (since.count("warps_launched")?, since.count("divergent_branch")?);
        worst = worst.max((divergent, warps));
        table.row(
            format!("{width} x {height}"),
            [
                since.count("sm_cta_launched")?.into(),
                warps.into(),
                before.count("divergent_branch")?.into(),
                divergent.into(),
            ],
        );
    }
    Ok(Findings {
        short: format!(
            "Only the warps on the right edge: at most {} of {} here, and none if the width is a \
             multiple of 16.",
            grouped(worst.0),
            grouped(worst.1)
        ),
        tables: vec![table],
        sentences: vec![
            "A warp of a 16 x 16 block covers two rows of 16 pixels. The bottom edge cuts off \
             whole rows, two at a time here, so a warp is either in or out; the right edge cuts \
             through rows."
                .to_owned(),
            "Bounds checks split the warps of one block column, not of the whole grid: they do not \
             make a kernel slow."
                .to_owned(),
        ],
        ..Findings::default()
    })
}

fn ragged_end() -> Result<Findings, AskError> {
    let columns = ["n, block", "warps", "divergent, pre-volta", "divergent, volta", "active lanes"];
    let mut table = FigureTable::new("c[i] = a[i] + b[i] for i < n", &columns);
    let rows = each([(2000, 512), (2048, 512), (1000, 256)], |(n, block)| {
        let [before, since] = each(MODES, |mode| {
            Trial::new(&VECTOR_ADD, mode).set("n", n).set("block", block).run()
        })?;
        let (warps, divergent) = (since.count("warps_launched")?, since.count("divergent_branch")?);
        table.row(
            format!("{n}, {block}"),
            [
                warps.into(),
                before.count("divergent_branch")?.into(),
                divergent.into(),
                since.real("average_active_lanes")?.into(),
            ],
        );
        Ok((warps, divergent))
    })?;
    let [(warps, divergent), (_, even), _] = rows;
    Ok(Findings {
        short: format!(
            "Hardly: {divergent} of {warps} warps diverges for 2000 elements in blocks of 512, and \
             {even} if the block size divides n.",
        ),
        tables: vec![table],
        sentences: vec![
            "Only the warp that contains n has lanes on both sides. All lanes of later warps are \
             out of range and return at once."
                .to_owned(),
        ],
        ..Findings::default()
    })
}

fn branch_efficiency() -> Result<Findings, AskError> {
    let columns = [
        "program",
        "branches",
        "divergent",
        "branch efficiency %",
        "warp efficiency %",
        "with guards on %",
    ];
    let mut table = FigureTable::new("volta on h200", &columns);
    let one = Trial::new(&VECTOR_ADD, Mode::Volta).set("n", 64).set("block", 1);
    let full = Trial::new(&VECTOR_ADD, Mode::Volta).set("n", 64).set("block", 32);
    let (branch, guards) =
        (Trial::new(&IF_ELSE, Mode::Volta), Trial::new(&IF_ELSE_PREDICATED, Mode::Volta));
    let lowered = Trial::new(&IF_ELSE, Mode::Volta).lowered();
    let rows = [
        ("blocks of 32 threads", full),
        ("blocks of 1 thread", one),
        ("if/else as a branch", branch),
        ("if/else predicated", guards),
        ("if/else as a back end lowers it", lowered),
    ];
    let [_, lonely, split, guarded, made] = each(rows, |(name, trial)| {
        let done = trial.run()?;
        let figures =
            ["branch_efficiency", "warp_execution_efficiency", "warp_nonpred_execution_efficiency"]
                .map(|m| done.real(m));
        let [branches, warps, guards] = each(figures, |f| f)?;
        let (executed, divergent) =
            (done.count("conditional_branches")?, done.count("divergent_branch")?);
        table.row(
            name,
            [executed.into(), divergent.into(), branches.into(), warps.into(), guards.into()],
        );
        Ok((divergent, warps, guards, branches, executed))
    })?;
    Ok(Findings {
        short: format!(
            "They have different denominators: a block of one thread never diverges ({} divergent \
             branches) but uses {} % of the warp's lanes.",
            lonely.0,
            real(lonely.1)
        ),
        tables: vec![table],
        sentences: vec![
            "Branch efficiency is the share of branches on which all lanes agreed; warp execution \
             efficiency is the share of lanes active per issued instruction."
                .to_owned(),
            format!(
                "Lanes that never existed lower only the second. Predication hides from both: the \
                 if/else with a branch has {} % branch efficiency, the predicated one has {} \
                 branches. Only the efficiency that excludes predicated-off lanes, {} %, shows the \
                 loss.",
                real(split.3),
                guarded.4,
                real(guarded.2)
            ),
            format!(
                "Compilers predicate short bodies themselves: lowered for an H200, the if/else \
                 with a branch has {} branches (`--lowering hardware`).",
                made.4
            ),
            "Without any branch, branch efficiency is 0 here and in Nsight Compute; that does not \
             indicate divergence."
                .to_owned(),
        ],
        ..Findings::default()
    })
}

fn inst_per_warp() -> Result<Findings, AskError> {
    let columns = [
        "mode",
        "inst_executed",
        "warps_launched",
        "inst_per_warp",
        "thread_inst_executed",
        "active lanes",
    ];
    let mut table = FigureTable::new("for (i = 0; i < threadIdx.x; i++), one warp", &columns);
    let [_, (instructions, threads, lines)] = each(MODES, |mode| {
        let done = Trial::new(&FOR_TID, mode).run()?;
        let (instructions, threads) =
            (done.count("inst_executed")?, done.count("thread_inst_executed")?);
        table.row(
            mode.name(),
            [
                instructions.into(),
                done.count("warps_launched")?.into(),
                done.real("inst_per_warp")?.into(),
                threads.into(),
                done.real("average_active_lanes")?.into(),
            ],
        );
        let lines = done.report().instructions.iter().filter(|i| i.instruction.is_some()).count();
        Ok((instructions, threads, lines))
    })?;
    Ok(Findings {
        short: format!(
            "Instructions issued per warp: {instructions} here for {lines} lines, because a warp \
             issues a line once per trip and per path."
        ),
        tables: vec![table],
        sentences: vec![
            format!(
                "It counts warps, not threads: counted once per active lane, the same work is {} \
                 (thread_inst_executed).",
                grouped(threads)
            ),
            "It grows with divergence, since every path is issued, and with the code generated per \
             line: `x % y` by a variable is 17 machine instructions on an H200."
                .to_owned(),
        ],
        ..Findings::default()
    })
}

fn warp_aligned() -> Result<Findings, AskError> {
    let columns = [
        "period, heavy",
        "mixed warps, pre-volta",
        "mixed warps, volta",
        "warps",
        "inst_per_warp",
        "against 64, 32",
    ];
    let mut table = FigureTable::new("Heavy or light: the branch of each warp", &columns);
    let measure = |mode, (period, heavy): (u64, u64)| {
        let done =
            Trial::new(&SQUARE_WAVE, mode).set("period", period).set("heavy", heavy).run()?;
        // The heavy loop is uniform, so a divergent branch is a mixed warp.
        Ok((
            done.count("divergent_branch")?,
            done.count("warps_launched")?,
            done.real("inst_per_warp")?,
        ))
    };
    let waves = [(64, 32), (32, 16), (62, 31), (66, 33), (256, 128), (1, 1)];
    let (_, _, base) = measure(Mode::Volta, waves[0])?;
    let mut ratios = Vec::new();
    for wave in waves {
        let (before, ..) = measure(Mode::PreVolta, wave)?;
        let (since, warps, each_warp) = measure(Mode::Volta, wave)?;
        ratios.push(each_warp / base);
        let name =
            if wave == (1, 1) { "all heavy".to_owned() } else { format!("{}, {}", wave.0, wave.1) };
        table.row(
            name,
            [
                before.into(),
                since.into(),
                warps.into(),
                each_warp.into(),
                (each_warp / base).into(),
            ],
        );
    }
    let watched =
        Trial::new(&SQUARE_WAVE, Mode::Volta).set("period", 32).set("heavy", 16).watch()?;
    Ok(Findings {
        short: format!(
            "Yes: with a period of 64 no warp is mixed; with 62 nearly all are, and a warp issues \
             {} times as much.",
            real(ratios.get(2).copied().unwrap_or_default())
        ),
        pictures: vec![draw::only(
            "A mixed warp (period 32): first its heavy half, then its light half",
            &watched,
            0,
            "add.u32 %x, %x, 3",
        )],
        tables: vec![table],
        sentences: vec![
            "A warp with one heavy lane takes as long as its heavy lanes. If the pattern is \
             aligned with the warps, half of them are light; if every warp is mixed, none is, \
             whatever the share of heavy threads."
                .to_owned(),
            format!(
                "With all threads heavy, a warp issues {} times as much as with the aligned \
                 pattern.",
                real(ratios.last().copied().unwrap_or_default()),
            ),
        ],
    })
}
