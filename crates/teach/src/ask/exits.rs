//! Early return: its cost, and where the remaining lanes reconverge.

use super::lab::{MODES, Trial, each};
use super::programs::*;
use super::{AskError, Experiment, Findings, Source, draw};
use simt_core::spec::Mode;
use simt_report::FigureTable;

pub(super) const EXPERIMENTS: &[Experiment] = &[
    Experiment {
        name: "early-return",
        question: "Does an early return in some threads make the warp diverge and slow down the \
                   others?",
        programs: &[EARLY_RETURN],
        sources: &[
            Source {
                says: "Yes: a returning thread is divergence like any other",
                place: "https://forums.developer.nvidia.com/t/branch-diveragence-with-if-while-same-as-if-one-of-the-threads-in-a-warp-returning/25206",
            },
            Source {
                says: "No: exited threads do not create divergence",
                place: "https://forums.developer.nvidia.com/t/cooperative-group-tiled-partitions-terminate-early/196930",
            },
        ],
        on_h200: Some(
            "ptxas turns `if (idx >= n) return;` into a predicated EXIT: not even a branch is \
             counted.",
        ),
        find: early_return,
    },
    Experiment {
        name: "return-in-nested-if",
        question: "if (a) { if (b) return; X } Y: do the remaining threads reconverge before Y?",
        programs: &[EARLY_RETURN_NESTED],
        sources: &[Source {
            says: "How is control flow divergence undone with gotos and returns?",
            place: "https://forums.developer.nvidia.com/t/question-about-control-flow-divergence/4718",
        }],
        on_h200: Some(
            "The remaining lanes reconverged before Y, with mask 0x77777777: the reconvergence \
             point ignores the path through the return.",
        ),
        find: return_nested,
    },
];

fn early_return() -> Result<Findings, AskError> {
    let columns = [
        "threads that stay",
        "pre-volta inst",
        "volta inst",
        "divergent branches",
        "active lanes",
        "volta cycles",
    ];
    let mut table = FigureTable::new("One warp; the other threads return at once", &columns);
    let [all, some] = each([32_u64, 20], |stay| {
        let [before, since] =
            each(MODES, |mode| Trial::new(&EARLY_RETURN, mode).set("stay", stay).run())?;
        let instructions = since.count("inst_executed")?;
        table.row(
            stay.to_string(),
            [
                before.count("inst_executed")?.into(),
                instructions.into(),
                since.count("divergent_branch")?.into(),
                since.real("average_active_lanes")?.into(),
                since.cycles().into(),
            ],
        );
        Ok((stay, instructions))
    })?;
    let watched = Trial::new(&EARLY_RETURN, Mode::Volta).watch()?;
    Ok(Findings {
        short: format!(
            "It counts as one divergent branch; the others lose {} instruction and never wait for \
             lanes that have exited.",
            some.1 - all.1
        ),
        pictures: vec![draw::lanes(
            format!("{} lanes stay; the others have returned (x)", some.0),
            &watched,
            0,
            "setp",
        )],
        tables: vec![table],
        sentences: vec![
            format!(
                "With {} threads left the warp issues {} instructions, with all left {}: the \
                 difference is the return itself.",
                some.0, some.1, all.1
            ),
            "Both forum answers are half right: the warp splits at the branch, but there is no \
             second path, so nothing issues twice. The loss is in lanes: they stay empty until the \
             whole warp has ended."
                .to_owned(),
        ],
    })
}

fn return_nested() -> Result<Findings, AskError> {
    let columns = ["mode", "times Y is issued", "mask at Y", "lanes at X", "lanes that returned"];
    let mut table = FigureTable::new("if (lane & 1) { if (lane & 2) return; X } Y", &columns);
    let [_, (times, mask, watched)] = each(MODES, |mode| {
        let trial = Trial::new(&EARLY_RETURN_NESTED, mode);
        let done = trial.run()?;
        let watched = trial.watch()?;
        // Both X and Y record the active mask; Y does so last.
        let marks: Vec<_> = watched.of("activemask").map(|e| (e.pc, e.active)).collect();
        let y = marks.last().copied().unwrap_or_default();
        let times = marks.iter().filter(|m| m.0 == y.0).count() as u64;
        let at_x = marks.first().map_or(0, |m| m.1.count());
        let returned = done.words("y")?.iter().filter(|&&w| w == 0).count() as u64;
        table
            .row(mode.name(), [times.into(), y.1.to_string().into(), at_x.into(), returned.into()]);
        Ok((times, y.1, watched))
    })?;
    Ok(Findings {
        short: format!(
            "Yes: Y is issued {times} time, by the {} lanes of mask {mask}.",
            mask.count(),
        ),
        pictures: vec![draw::lanes(
            "The lanes of X do not wait for returned lanes (volta)",
            &watched,
            0,
            "setp.eq.u32 %outer",
        )],
        tables: vec![table],
        sentences: vec![
            "Strictly, the sides of the inner if reconverge only at the end of the kernel, because \
             one of them ends there: Y would run twice."
                .to_owned(),
            "Both models compute the reconvergence point from the paths that continue, and lanes \
             that return are removed from every mask that waits for them."
                .to_owned(),
        ],
    })
}
