//! Lanes that exchange values: the active mask, votes, shuffles, and code that relies on lockstep.

use super::lab::{MODES, Trial, each};
use super::programs::*;
use super::{AskError, Experiment, Findings, Source, draw};
use simt_core::base::LaneMask;
use simt_core::divergence::SideOrder;
use simt_core::spec::Mode;
use simt_report::FigureTable;

pub(super) const EXPERIMENTS: &[Experiment] = &[
    Experiment {
        name: "activemask-vs-ballot",
        question: "__activemask() or __ballot_sync(): which one gives me the participating lanes?",
        programs: &[ACTIVEMASK_ARMS],
        sources: &[
            Source {
                says: "activemask vs ballot_sync",
                place: "https://stackoverflow.com/questions/54055195/activemask-vs-ballot-sync",
            },
            Source {
                says: "Misuse in the wild",
                place: "https://github.com/moderngpu/moderngpu/pull/36",
            },
        ],
        on_h200: Some(
            "Directly after an if/else the mask was always full: the compiler's convergence \
             barrier had joined the lanes.",
        ),
        find: activemask,
    },
    Experiment {
        name: "shuffle-partial",
        question: "What does the mask of __shfl_sync do if some of its lanes are on another path?",
        programs: &[SHUFFLE_PARTIAL],
        sources: &[Source {
            says: "Is a shuffle with a full mask legal in a branch?",
            place: "https://stackoverflow.com/questions/71831606",
        }],
        on_h200: Some("It ends; the sixteen lanes in the branch have their partners' values."),
        find: shuffle_partial,
    },
    Experiment {
        name: "shuffle-after-exit",
        question: "Does a shuffle with a full mask hang if some lanes have returned?",
        programs: &[SHUFFLE_AFTER_EXIT],
        sources: &[Source {
            says: "PTX ISA: shfl.sync waits for the non-exited threads of its mask",
            place: "https://docs.nvidia.com/cuda/parallel-thread-execution/#data-movement-and-conversion-instructions-shfl-sync",
        }],
        on_h200: None,
        find: shuffle_after_exit,
    },
    Experiment {
        name: "warp-synchronous",
        question: "The old volatile reduction without __syncwarp() still works on my new card. Is \
                   it correct after all?",
        programs: &[WARP_SYNC_REDUCTION],
        sources: &[
            Source {
                says: "Warp-synchronous code on Turing",
                place: "https://github.com/brucefan1983/GPUMD/issues/36",
            },
            Source {
                says: "The same in numba",
                place: "https://github.com/numba/numba/issues/2589",
            },
        ],
        on_h200: Some("The sum was right: code without a branch does not diverge."),
        find: warp_synchronous,
    },
];

fn activemask() -> Result<Findings, AskError> {
    let columns = [
        "--its-order",
        "mask, small side",
        "mask, large side",
        "ballot behind the branch",
        "first side",
    ];
    let mut table =
        FigureTable::new("Eight lanes branch, 24 fall through; all four orders, volta", &columns);
    let mut ballots = Vec::new();
    for (name, order) in [
        ("fewer", SideOrder::Fewer),
        ("more", SideOrder::More),
        ("taken", SideOrder::Taken),
        ("fall-through", SideOrder::FallThrough),
    ] {
        let done = Trial::new(&ACTIVEMASK_ARMS, Mode::Volta).order(order).run()?;
        let mask = |buffer, lane| Ok::<_, AskError>(LaneMask(done.word(buffer, lane)?).to_string());
        ballots.push(mask("votes", 0)?);
        let first = if done.word("ticket", 0)? == 0 { "small" } else { "large" };
        table.row(
            name,
            [
                mask("arm", 0)?.into(),
                mask("arm", 31)?.into(),
                mask("votes", 0)?.into(),
                first.into(),
            ],
        );
    }
    let before = Trial::new(&ACTIVEMASK_ARMS, Mode::PreVolta).run()?;
    ballots.push(LaneMask(before.word("votes", 0)?).to_string());
    ballots.dedup();
    let watched = Trial::new(&ACTIVEMASK_ARMS, Mode::Volta).watch()?;
    Ok(Findings {
        short: format!(
            "The ballot: it gathers the lanes you name and gives {} in every order and mode; \
             activemask returns the lanes that happen to be active.",
            ballots.join(" or ")
        ),
        pictures: vec![draw::lanes(
            "activemask returns one side at a time (volta)",
            &watched,
            0,
            "@%few",
        )],
        tables: vec![table],
        sentences: vec![
            "__activemask() returns the lanes active at this moment. In this model a side does not \
             split further, so the masks are those of the sides; nothing guarantees that, so do \
             not use the result to name the lanes of a later shuffle."
                .to_owned(),
            "__ballot_sync(mask, p) waits for all lanes of its mask and then collects their votes; \
             the program must know the mask in advance."
                .to_owned(),
        ],
    })
}

fn shuffle_partial() -> Result<Findings, AskError> {
    let columns = ["mode", "it ends", "lanes with their partner's value"];
    let mut table =
        FigureTable::new("if (lane < 16) value = shfl_xor_sync(0xffffffff, lane, 1)", &columns);
    each(MODES, |mode| {
        let done = Trial::new(&SHUFFLE_PARTIAL, mode).run()?;
        let words = done.words("out")?.iter().take(16).enumerate();
        let exchanged = words.filter(|&(l, &w)| w as usize == l ^ 1).count() as u64;
        table.row(mode.name(), [done.finish().into(), exchanged.into()]);
        Ok(done)
    })?;
    let watched = Trial::new(&SHUFFLE_PARTIAL, Mode::Volta).watch()?;
    Ok(Findings {
        short: "It names the lanes to wait for: since Volta the shuffle executes only when the \
                others have exited. Before, it does not wait."
            .to_owned(),
        pictures: vec![draw::lanes(
            "Lanes outside the branch exit first (volta)",
            &watched,
            0,
            "shfl",
        )],
        tables: vec![table],
        sentences: vec![
            "Before Volta the mask is ignored: the active lanes exchange among themselves."
                .to_owned(),
            "Since Volta the shuffle waits for all lanes of its mask that have not exited. The \
             missing ones wait at the end of the if, which does not hold them for ever: they go \
             on. PTX leaves this undefined. Name only the participating lanes, here 0x0000ffff."
                .to_owned(),
        ],
    })
}

fn shuffle_after_exit() -> Result<Findings, AskError> {
    let columns = ["mode", "it ends", "lanes left", "of them with their partner's value"];
    let mut table = FigureTable::new(
        "if (lane >= 16) return; value = shfl_xor_sync(0xffffffff, lane, 1)",
        &columns,
    );
    let [before, since] = each(MODES, |mode| {
        let trial = Trial::new(&SHUFFLE_AFTER_EXIT, mode);
        let done = trial.run()?;
        let exchanged = done
            .words("out")?
            .iter()
            .take(16)
            .enumerate()
            .filter(|&(l, &w)| w as usize == l ^ 1)
            .count() as u64;
        let left = trial.watch()?.of("shfl").next().map_or(0, |e| e.active.count());
        table.row(mode.name(), [done.finish().into(), left.into(), exchanged.into()]);
        Ok(done.finish())
    })?;
    let watched = Trial::new(&SHUFFLE_AFTER_EXIT, Mode::Volta).watch()?;
    Ok(Findings {
        short: format!("No ({before} and {since}): a shuffle does not wait for exited lanes."),
        pictures: vec![draw::lanes("The upper half has returned (x)", &watched, 0, "@%upper ret")],
        tables: vec![table],
        sentences: vec![
            "Reading from an exited lane gives an undefined value, so this is correct only if \
             every lane's partner is still running, as here."
                .to_owned(),
            "Lanes on another path that have not exited are a different case (`simt-sim ask \
             shuffle-partial`)."
                .to_owned(),
        ],
    })
}

fn warp_synchronous() -> Result<Findings, AskError> {
    let columns =
        ["--its-order", "sum, pre-volta", "sum, volta", "divergent branches", "sum expected"];
    let mut table = FigureTable::new("The last warp of a reduction, 64 values", &columns);
    let mut right = 0;
    let orders = [
        ("taken", SideOrder::Taken),
        ("fall-through", SideOrder::FallThrough),
        ("random:1", SideOrder::Random(1)),
        ("random:2", SideOrder::Random(2)),
    ];
    for (name, order) in orders {
        let [before, since] =
            each(MODES, |mode| Trial::new(&WARP_SYNC_REDUCTION, mode).order(order).run())?;
        let expected: u64 = since.words("in")?.iter().map(|&w| u64::from(w)).sum();
        let sums = [before.word("out", 0)?, since.word("out", 0)?];
        right += sums.iter().filter(|&&s| u64::from(s) == expected).count();
        // Only the last branch splits the warp: lane 0 stores, the others return.
        table.row(
            name,
            [
                sums[0].into(),
                sums[1].into(),
                since.count("divergent_branch")?.into(),
                expected.into(),
            ],
        );
    }
    let watched = Trial::new(&WARP_SYNC_REDUCTION, Mode::Volta).watch()?;
    Ok(Findings {
        short: format!(
            "It gives the correct sum in {right} of {} runs, because nothing in it splits the \
             warp; nothing guarantees that.",
            orders.len() * 2
        ),
        pictures: vec![draw::lanes(
            "No branch between the steps: always 32 lanes (volta)",
            &watched,
            0,
            "ld.volatile.shared.u32 %b, [%mine+128]",
        )],
        tables: vec![table],
        sentences: vec![
            "Since Volta, reading a value that another lane of the warp has just stored is a race: \
             the hardware may run lanes separately, and the compiler may assume that it does. Put \
             __syncwarp() between the steps or use shuffles; for converged lanes either costs next \
             to nothing."
                .to_owned(),
        ],
    })
}
