//! Nested ifs, switches, and the reconvergence stack.

use super::lab::{MODES, Trial, each};
use super::programs::*;
use super::{AskError, Experiment, Findings, Source, compiled, draw};
use simt_core::base::LaneMask;
use simt_core::divergence::StackEntry;
use simt_core::observe::Issue;
use simt_core::spec::Mode;
use simt_report::FigureTable;
use simt_report::numbers::real;

pub(super) const EXPERIMENTS: &[Experiment] = &[
    Experiment {
        name: "nested",
        question: "Two nested ifs: do I pay for two paths or for four, and in what order do they \
                   run?",
        programs: &[NESTED],
        sources: &[Source {
            says: "How does the hardware know when to switch lanes back on?",
            place: "https://forums.developer.nvidia.com/t/continue-statement/8793",
        }],
        on_h200: Some(
            "Leaves ran 11, 10, 01, 00, depth first, the fall-through side first at every tie; \
             then all lanes had reconverged.",
        ),
        find: nested,
    },
    Experiment {
        name: "stack-example",
        question: "What does the reconvergence stack look like while nested ifs run?",
        programs: &[NESTED_FOUR],
        sources: &[Source {
            says: "The stack of {pc, mask, reconvergence pc} and the changes of its entries",
            place: "Fung, Sham, Yuan, Aamodt: Dynamic Warp Formation and Scheduling for Efficient \
                    GPU Control Flow, MICRO 2007",
        }],
        on_h200: None,
        find: stack_example,
    },
    Experiment {
        name: "switch",
        question: "Is a switch better than a chain of ifs for a warp?",
        programs: &[SWITCH],
        sources: &[Source {
            says: "Branching in kernels: what if all threads take the same route?",
            place: "https://forums.developer.nvidia.com/t/branching-in-kernels-what-if-all-kernels-take-the-same-route/1020",
        }],
        on_h200: Some(
            "After the switch the mask was full again; cases did not reconverge before its end.",
        ),
        find: switch,
    },
    Experiment {
        name: "k-paths",
        question: "What do k different paths in one warp cost?",
        programs: &[PATHS_K, SASS_PATHS],
        sources: &[Source {
            says: "Measured from Pascal to Blackwell: k paths cost k times one, at any occupancy",
            place: "https://arxiv.org/abs/2607.23402",
        }],
        on_h200: Some(
            "T(k) = T0 + 272 k cycles for 64 dependent additions per path, k = 1 .. 32, perfectly \
             linear: 1763, 2052, 2324, .. 10212. The machine code below: T(k) = 36 + 362 k cycles \
             from k = 2 on.",
        ),
        find: k_paths,
    },
];

fn nested() -> Result<Findings, AskError> {
    let columns = ["leaf (lane & 1, lane & 2)", "lanes", "place, pre-volta", "place, volta"];
    let mut table = FigureTable::new("Order of the four leaves", &columns);
    let [before, since] = each(MODES, |mode| Trial::new(&NESTED, mode).run())?;
    let mut lanes = 0;
    for leaf in [3_usize, 1, 2, 0] {
        // The lanes of a leaf draw consecutive tickets; its lowest lane is number `leaf`.
        let mask = LaneMask(since.word("leaf", leaf)?);
        lanes += mask.count();
        let place = |ticket: u32| u64::from(ticket / mask.count().max(1)) + 1;
        let name = format!("{}{}", leaf & 1, leaf >> 1);
        table.row(
            name,
            [
                mask.count().into(),
                place(before.word("ticket", leaf)?).into(),
                place(since.word("ticket", leaf)?).into(),
            ],
        );
    }
    let divergent = since.count("divergent_branch")?;
    let watched = Trial::new(&NESTED, Mode::Volta).watch()?;
    let together = LaneMask(since.word("join", 0)?);
    Ok(Findings {
        short: format!(
            "For four: {divergent} branches split the warp, and four leaves of {} lanes run one \
             after the other.",
            lanes / 4,
        ),
        pictures: vec![draw::lanes(
            "Depth first: an inner if finishes before the other outer side runs (volta)",
            &watched,
            0,
            "@%outer",
        )],
        tables: vec![table],
        sentences: vec![
            format!("After the ifs all {} lanes have reconverged.", together.count()),
            "Each level on which lanes disagree doubles the number of paths, up to one path per \
             lane: a warp has at most 32."
                .to_owned(),
        ],
    })
}

fn stack_example() -> Result<Findings, AskError> {
    let watched = Trial::new(&NESTED_FOUR, Mode::PreVolta).watch()?;
    let since = Trial::new(&NESTED_FOUR, Mode::Volta).watch()?;
    let mut story: Vec<(&Issue, &[StackEntry])> = Vec::new();
    let mut last = Vec::new();
    for issue in watched.issues(0) {
        let masks: Vec<LaneMask> = issue.after.stack.iter().map(|entry| entry.lanes).collect();
        if masks != last && !masks.is_empty() {
            story.push((issue, &issue.after.stack));
        }
        last = masks;
    }
    let deepest = story.iter().map(|(_, entries)| entries.len()).max().unwrap_or(0);
    let mut table = FigureTable::new(
        "Stack inside each if",
        &["ifs entered", "active lanes", "mask", "entries on the stack"],
    );
    let mut seen = Vec::new();
    for (_, entries) in &story {
        let Some(top) = entries.last().filter(|top| !seen.contains(&top.lanes)) else { continue };
        let depth = (seen.len() as u64).to_string();
        seen.push(top.lanes);
        table.row(
            depth,
            [top.lanes.count().into(), top.lanes.to_string().into(), (entries.len() as u64).into()],
        );
    }
    let joins = since.issues(0).filter(|issue| !since.is_written(issue.pc)).count();
    let title = "The stack after each line that changed it, top first: {line, mask, reconvergence \
                 line}";
    Ok(Findings {
        short: format!(
            "It grows by one entry with each if that splits the warp, to {deepest} here, and \
             shrinks at the end of each.",
        ),
        pictures: vec![draw::stack(title, &watched, &story)],
        tables: vec![table],
        sentences: vec![
            "Only the top entry issues. When its lanes reach their reconvergence line, the entry \
             is popped, and the entry below, which holds all of the lanes, continues there: this \
             costs no instruction."
                .to_owned(),
            format!(
                "Since Volta there is no stack; the same program uses convergence barriers \
                 instead, {joins} extra steps here."
            ),
        ],
    })
}

fn switch() -> Result<Findings, AskError> {
    let columns =
        ["mode", "inst", "conditional branches", "divergent", "cases run", "active lanes"];
    let mut table = FigureTable::new("switch (lane % 4) with four cases", &columns);
    let [_, (branches, divergent, cases)] = each(MODES, |mode| {
        let done = Trial::new(&SWITCH, mode).run()?;
        let mut arms = done.words("arm")?.to_vec();
        arms.sort_unstable();
        arms.dedup();
        let (branches, divergent) =
            (done.count("conditional_branches")?, done.count("divergent_branch")?);
        table.row(
            mode.name(),
            [
                done.count("inst_executed")?.into(),
                branches.into(),
                divergent.into(),
                (arms.len() as u64).into(),
                done.real("average_active_lanes")?.into(),
            ],
        );
        Ok((branches, divergent, arms.len()))
    })?;
    let watched = Trial::new(&SWITCH, Mode::Volta).watch()?;
    Ok(Findings {
        short: format!(
            "No, it saves only compares: {cases} different cases are {cases} paths, one after the \
             other, however they are reached.",
        ),
        pictures: vec![draw::lanes(
            "Four cases, eight lanes each (volta)",
            &watched,
            0,
            "setp.eq.u32 %p, %case, 0",
        )],
        tables: vec![table],
        sentences: vec![
            format!(
                "The chain of compares has {branches} branches, of which {divergent} split the \
                 warp.",
            ),
            "A jump table would save the compares, not the cases. If all lanes choose the same \
             case, both forms run one case."
                .to_owned(),
        ],
    })
}

fn k_paths() -> Result<Findings, AskError> {
    let columns =
        ["k", "lanes of the first path", "volta (h200) cycles", "pre-volta (fermi) cycles"];
    let mut table =
        FigureTable::new("Cycles of one warp, 64 dependent additions per path", &columns);
    let [(_, one), .., (_, all)] = each([1, 2, 3, 4, 8, 16, 32], |k| {
        let [fermi, h200] = each(MODES, |mode| Trial::new(&PATHS_K, mode).set("k", k).run())?;
        let lanes = h200.word("masks", 0)?.count_ones();
        table.row(k.to_string(), [lanes.into(), h200.cycles().into(), fermi.cycles().into()]);
        Ok((k, h200.cycles()))
    })?;
    let slope = all.saturating_sub(one) as f64 / 31.0;
    let watched = Trial::new(&PATHS_K, Mode::Volta).watch()?;
    let compiled = compiled::paths()?;
    Ok(Findings {
        short: format!(
            "k times one path: from 1 path to 32, each further path adds {} cycles on average, the \
             last as much as the second.",
            real(slope),
        ),
        pictures: vec![draw::only(
            "The four paths of k = 4: one issue per eight additions",
            &watched,
            0,
            "sub.u32 %left",
        )],
        tables: vec![table, compiled],
        sentences: vec![
            "A path costs the same with one lane or with sixteen: the inactive lanes wait."
                .to_owned(),
            "The same holds for machine code as nvcc makes it, instruction by instruction. If the \
             paths differ only in their constants, selecting these costs a few instructions a path \
             and leaves one chain for all lanes."
                .to_owned(),
            "The number of paths has no extra cost: a path adds its 64 dependent additions and \
             this program's own loop over the cases."
                .to_owned(),
        ],
    })
}
