//! One side, both sides, predication; the order of the sides and races between them.

use super::lab::{Done, MODES, Trial, each};
use super::programs::*;
use super::{AskError, Bundled, Experiment, Findings, Source, compiled, draw};
use simt_core::divergence::SideOrder;
use simt_core::spec::Mode;
use simt_report::FigureTable;
use simt_report::numbers::grouped;

pub(super) const EXPERIMENTS: &[Experiment] = &[
    Experiment {
        name: "same-path",
        question: "If all threads of a warp take the same side of an if/else, do I pay for both \
                   sides?",
        programs: &[IF_ELSE],
        sources: &[Source {
            says: "Branching in kernels: what if all threads take the same route?",
            place: "https://forums.developer.nvidia.com/t/branching-in-kernels-what-if-all-kernels-take-the-same-route/1020",
        }],
        on_h200: None,
        find: same_path,
    },
    Experiment {
        name: "predication",
        question: "Is predication divergence? Is it cheaper than a branch?",
        programs: &[IF_ELSE, IF_ELSE_PREDICATED, CUDA_ARMS, SASS_ARMS],
        sources: &[Source {
            says: "CUDA: branch and predicated instructions",
            place: "https://stackoverflow.com/questions/30288669/branch-and-predicated-instructions",
        }],
        on_h200: Some(
            "ptxas predicates short bodies: the even/odd kernel, with one addition or subtraction \
             per arm, had 0 divergent branches in the counters, although half of the lanes idled. \
             A split warp took 629 cycles for 16 predicated arms of six operations, 2,411 for 16 \
             branches around seven.",
        ),
        find: predication,
    },
    Experiment {
        name: "ternary",
        question: "Does the ternary operator ?: make a warp diverge?",
        programs: &[IF_ELSE, IF_ELSE_PREDICATED, IF_ELSE_SELECT],
        sources: &[Source {
            says: "Ternary operators and branching",
            place: "https://forums.developer.nvidia.com/t/ternary-operators-and-branching/9220",
        }],
        on_h200: None,
        find: ternary,
    },
    Experiment {
        name: "side-order",
        question: "Which side of a divergent branch runs first? Can I rely on it?",
        programs: &[SIDE_ORDER],
        sources: &[Source {
            says: "If-else warp divergence: in which order?",
            place: "https://forums.developer.nvidia.com/t/if-else-warp-divergence-warp-divergence/2155",
        }],
        on_h200: Some(
            "The side with fewer active lanes ran first, taken or fall-through (1, 8, 16, 24 and \
             31 lanes, tried both ways); on a tie of 16 to 16 the fall-through side ran first.",
        ),
        find: side_order,
    },
    Experiment {
        name: "race",
        question: "Can the order of the two sides change my result?",
        programs: &[RACY_SIDES, IF_ELSE],
        sources: &[Source {
            says: "The CUDA guide guarantees no order between diverged threads of a warp",
            place: "https://docs.nvidia.com/cuda/cuda-c-programming-guide/#independent-thread-scheduling",
        }],
        on_h200: None,
        find: race,
    },
];

fn same_path() -> Result<Findings, AskError> {
    let columns =
        ["lanes that branch", "pre-volta inst", "volta inst", "divergent branches", "active lanes"];
    let mut table =
        FigureTable::new("Warp instructions of one if/else, four instructions per side", &columns);
    let [split, taken, fell] = each([16, 32, 0], |low| {
        let [before, since] = both(&IF_ELSE, low)?;
        table.row(
            format!("{low} of 32"),
            [
                before.count("inst_executed")?.into(),
                since.count("inst_executed")?.into(),
                since.count("divergent_branch")?.into(),
                since.real("average_active_lanes")?.into(),
            ],
        );
        since.count("inst_executed")
    })?;
    let watch = |low| Trial::new(&IF_ELSE, Mode::Volta).set("low", low).watch();
    Ok(Findings {
        short: format!("No. One side costs {taken} or {fell} warp instructions, both sides {split}.",),
        pictures: vec![
            draw::lanes("16 lanes branch: both sides issue, one after the other", &watch(16)?, 0, "bra Then"),
            draw::lanes("All 32 lanes branch: the other side never issues", &watch(32)?, 0, "bra Then"),
        ],
        tables: vec![table],
        sentences: vec![
            format!(
                "A warp whose lanes agree just jumps: it saves {} of the {split} instructions of \
                 the split warp.",
                split - taken
            ),
            "Only a branch on which the lanes of one warp disagree costs both sides; other warps do not matter."
                .to_owned(),
            "Both modes issue the same instructions.".to_owned(),
        ],
    })
}

/// Runs an if/else with `low` lanes on one side in both modes.
fn both(program: &'static Bundled, low: u64) -> Result<[Done; 2], AskError> {
    each(MODES, |mode| Trial::new(program, mode).set("low", low).run())
}

fn predication() -> Result<Findings, AskError> {
    let columns = [
        "lanes that branch",
        "inst, branch",
        "inst, predicated",
        "divergent, branch",
        "divergent, predicated",
    ];
    let mut table =
        FigureTable::new("Warp instructions of one if/else, four instructions per side", &columns);
    let [agree, split, _, _] = each([32, 16, 1, 0], |low| {
        let [_, branch] = both(&IF_ELSE, low)?;
        let [_, guard] = both(&IF_ELSE_PREDICATED, low)?;
        let counts = [branch.count("inst_executed")?, guard.count("inst_executed")?];
        let divergent = [branch.count("divergent_branch")?, guard.count("divergent_branch")?];
        let [branch, guard] = divergent;
        table.row(
            format!("{low} of 32"),
            [counts[0].into(), counts[1].into(), branch.into(), guard.into()],
        );
        Ok((counts[0], counts[1]))
    })?;
    let watched = Trial::new(&IF_ELSE_PREDICATED, Mode::Volta).watch()?;
    let arms = compiled::arms()?;
    Ok(Findings {
        short: format!(
            "It is not divergence, but not free: all {} instructions always issue; the branch \
             issues {} if the lanes agree and {} if they do not.",
            agree.1, agree.0, split.0
        ),
        pictures: vec![
            draw::lanes(
                "Predicated: the mask stays full, guards switch lanes off (-)",
                &watched,
                0,
                "setp",
            ),
            arms.shown,
        ],
        tables: vec![table, arms.table],
        sentences: vec![
            format!(
                "If lanes disagree, predication saves the jumps: {} instructions instead of {}.",
                split.1, split.0
            ),
            format!(
                "If they agree, the branch skips a side and predication cannot: {} against {}.",
                agree.0, agree.1
            ),
            format!(
                "Compilers therefore predicate short bodies: in this machine code ptxas predicated \
                 arms of up to {} operations and branched around {} and more. The step costs: {} \
                 cycles and {} for a split warp.",
                arms.longest,
                arms.shortest,
                grouped(arms.cycles[0]),
                grouped(arms.cycles[1])
            ),
            "From PTX alone that choice is a guess (`divergent, from PTX`); in machine code it is \
             a fact: `simt-sim run mine.cu --sass`."
                .to_owned(),
        ],
    })
}

fn ternary() -> Result<Findings, AskError> {
    let columns = [
        "written as",
        "inst",
        "branches",
        "divergent",
        "branch efficiency %",
        "active lanes",
        "working lanes",
    ];
    let mut table = FigureTable::new("x = lane < 16 ? a : b, volta on h200", &columns);
    let forms =
        [("branch", &IF_ELSE), ("predicates", &IF_ELSE_PREDICATED), ("select", &IF_ELSE_SELECT)];
    let [branch, _, select] = each(forms, |(name, program)| {
        let [_, done] = both(program, 16)?;
        table.row(
            name,
            [
                done.count("inst_executed")?.into(),
                done.count("conditional_branches")?.into(),
                done.count("divergent_branch")?.into(),
                done.real("branch_efficiency")?.into(),
                done.real("average_active_lanes")?.into(),
                done.real("average_pred_on_lanes")?.into(),
            ],
        );
        done.count("inst_executed")
    })?;
    let watched = Trial::new(&IF_ELSE_SELECT, Mode::Volta).watch()?;
    Ok(Findings {
        short: format!(
            "Not if the compiler emits a select: {select} instructions with every lane active, \
             against {branch} with a branch."
        ),
        pictures: vec![draw::lanes("As a select: every lane computes both values and picks one", &watched, 0, "setp")],
        tables: vec![table],
        sentences: vec![
            "?: is not an instruction: the compiler chooses a branch, predication or a select, for \
             ?: and for a short if alike."
                .to_owned(),
            "A select has no branch to count, so the profiler reports no divergence although half \
             of the computed values are discarded; branch efficiency is 0 if there is no branch at \
             all."
                .to_owned(),
            "Look at the machine code before you rewrite an if as ?:; it is often already the same.".to_owned(),
        ],
    })
}

fn side_order() -> Result<Findings, AskError> {
    let columns = [
        "lanes that branch",
        "pre-volta",
        "volta",
        "order taken",
        "order fall-through",
        "fewer lanes, else fall-through",
    ];
    let mut table = FigureTable::new("The side that runs first", &columns);
    for (few, falls) in [(1, 0), (8, 0), (16, 0), (24, 0), (31, 0), (8, 1), (24, 1)] {
        let trial = |mode| Trial::new(&SIDE_ORDER, mode).set("few", few).set("falls", falls);
        let first = |trial: Trial| -> Result<&'static str, AskError> {
            let done = trial.run()?;
            // Ticket 0 belongs to the side that ran first; lanes below `few` branch unless `falls`.
            let lane = done.words("ticket")?.iter().position(|&t| t == 0).unwrap_or(0) as u64;
            Ok(if (lane < few) != (falls == 1) { "taken" } else { "fall-through" })
        };
        let branch = if falls == 1 { 32 - few } else { few };
        let name = if falls == 1 { format!("{branch} (the upper)") } else { branch.to_string() };
        table.row(
            name,
            [
                first(trial(Mode::PreVolta))?.into(),
                first(trial(Mode::Volta))?.into(),
                first(trial(Mode::Volta).order(SideOrder::Taken))?.into(),
                first(trial(Mode::Volta).order(SideOrder::FallThrough))?.into(),
                if branch < 16 { "taken" } else { "fall-through" }.into(),
            ],
        );
    }
    let rows = table.rows.len();
    let fewer = table.rows.iter().filter(|r| r.cells[1] == r.cells[4]).count();
    let changed = table.rows.iter().filter(|r| r.cells[2] != r.cells[3]).count();
    let watched = |few| Trial::new(&SIDE_ORDER, Mode::Volta).set("few", few).watch();
    Ok(Findings {
        short: format!(
            "The hardware chooses: as on the H200, the smaller side (on a tie the fall-through \
             side) ran first in {fewer} of {rows} cases. Do not rely on it."
        ),
        pictures: vec![
            draw::lanes("8 lanes branch (volta): they run first", &watched(8)?, 0, "bra Taken"),
            draw::lanes(
                "24 lanes branch (volta): the 8 that fall through run first",
                &watched(24)?,
                0,
                "bra Taken",
            ),
        ],
        tables: vec![table],
        sentences: vec![
            format!(
                "Of the {rows} branches tried, {changed} ran in another order when the machine was \
                 configured to choose differently.",
            ),
            "A program that is correct under one order only is not correct; `simt-sim run \
             --its-order random:1` finds such programs."
                .to_owned(),
        ],
    })
}

fn race() -> Result<Findings, AskError> {
    let orders = [
        ("taken", SideOrder::Taken),
        ("fall-through", SideOrder::FallThrough),
        ("fewer", SideOrder::Fewer),
        ("more", SideOrder::More),
        ("random:1", SideOrder::Random(1)),
    ];
    let columns = [
        "--its-order",
        "racy, pre-volta",
        "racy, volta",
        "no race: sum, pre-volta",
        "no race: sum, volta",
    ];
    let mut table = FigureTable::new("Memory contents at the end", &columns);
    let (mut sums, mut left) = (Vec::new(), Vec::new());
    for (name, order) in orders {
        let racy =
            each(MODES, |mode| Trial::new(&RACY_SIDES, mode).order(order).run()?.word("last", 0))?;
        let safe = each(MODES, |mode| {
            let done = Trial::new(&IF_ELSE, mode).order(order).run()?;
            Ok(done.words("out")?.iter().map(|&w| u64::from(w)).sum::<u64>())
        })?;
        sums.extend_from_slice(&safe);
        left.extend_from_slice(&racy);
        table.row(name, [racy[0].into(), racy[1].into(), safe[0].into(), safe[1].into()]);
    }
    sums.dedup();
    left.sort_unstable();
    left.dedup();
    let watched = Trial::new(&RACY_SIDES, Mode::Volta).watch()?;
    Ok(Findings {
        short: format!(
            "Yes, if both sides access the same word without an atomic or a barrier: this one ends \
             as {}. Otherwise never.",
            left.iter().map(u32::to_string).collect::<Vec<_>>().join(" or ")
        ),
        pictures: vec![draw::lanes(
            "Both sides store to the same word: the last one wins",
            &watched,
            0,
            "bra Even",
        )],
        tables: vec![table],
        sentences: vec![
            "The racy program ends with 2 if the even lanes run last and with 1 if the odd lanes \
             do."
            .to_owned(),
            format!(
                "The program without a race has {} sum in all {} runs: the order affects time, not \
                 results.",
                if sums.len() == 1 { "the same" } else { "a different" },
                orders.len() * 2
            ),
        ],
    })
}
