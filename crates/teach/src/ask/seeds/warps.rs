//! Claims about mixed, waiting and split warps.

mod square_wave;

use super::bench::Bench;
use super::sums::per;
use super::verdict::Rule;
use super::{Claim, Evidence, held, measured};
use crate::ask::lab::{Trial, Watched, each};
use crate::ask::programs::*;
use crate::ask::{AskError, find};
use simt_core::base::Pc;
use simt_core::divergence::{SideOrder, StackEntry};
use simt_core::spec::Mode;
use simt_report::numbers::real;
use simt_report::{Answer, Cell, FigureTable};
use square_wave::square_wave;

pub(super) const CLAIMS: &[Claim] = &[
    Claim {
        title: "A square wave over the threads: 0.872 : 1.370 : 1.394 : 1.063",
        says: "Half of the threads do heavy work, in periods of 64, 32, 66 and 62 threads. Periods \
               that are not aligned with warps cost more; a period of 62 costs much less than one \
               of 32.",
        sources: &["article of 2009", "H200 wave"],
        runs: "the kernel compiled by nvcc in double precision, its machine code on one SM of \
               `h200` with 32 blocks of 256, as many as the fullest of the 132 SMs gets there; 20 \
               iterations against none (the H200: 320 against 4)",
        repeat: &[
            "simt-sim run programs/sass/square_wave.sass --set n=1048576 --set period=62 --set heavy=31 --set long=20 --set short=0",
        ],
        find: square_wave,
    },
    Claim {
        title: "Five warps hide a nine-cycle load",
        says: "A load takes nine cycles, and a warp has one other instruction to issue per load: \
               five warps keep the scheduler busy.",
        sources: &["lecture"],
        runs: "the `teaching` machine with one scheduler, warps of 32 lanes and shared-memory \
               loads of nine cycles; 1 to 8 warps, 32 loads each",
        repeat: &["simt-sim ask latency-hiding"],
        find: five_warps,
    },
    Claim {
        title: "Assigning even and odd elements to whole warps helps little",
        says: "`a + b` on even, `a - b` on odd elements: assigning the even ones to one warp and \
               the odd ones to the next removes the divergence and gains next to nothing.",
        sources: &["lecture"],
        runs: "kernels compiled by nvcc on `h200`, 2,112 blocks of 512 (the H200: 32,768), as \
               written for the branches, as machine instructions for the times",
        repeat: &[
            "simt-sim run programs/cuda/even_odd.ptx --machine h200 --set n=1081344 --set block=512",
            "simt-sim run programs/cuda/even_odd_aligned.ptx --machine h200 --set n=1081344 --set block=512",
        ],
        find: even_odd,
    },
    Claim {
        title: "The stack example and its entries",
        says: "Each entry is a reconvergence point, the next block, and a mask. A divergent branch \
               turns the top entry into the reconvergence entry and pushes the two sides; a side \
               that arrives there is popped.",
        sources: &["stack"],
        runs: "a warp of four lanes on `teaching`, pre-Volta, the fall-through side first as in \
               the figure; lane 0 on the left",
        repeat: &[
            "simt-sim timeline programs/small/stack_example.ir --machine teaching --warp-size 4 --its-order fall-through",
        ],
        find: stack_example,
    },
    Claim {
        title: "Does an early return diverge? Does a barrier after it hang?",
        says: "Forums say both: a thread that returns makes its warp diverge, and it does not; a \
               `__syncthreads()` after it hangs, and it works.",
        sources: &[
            "forum: return diverges",
            "forum: return does not diverge",
            "forum: barrier hangs",
            "forum: barrier works",
        ],
        runs: "the neighbored reduction compiled by nvcc as machine instructions on `h200` (it \
               returns early twice), against the splits of its nine steps; two warps in which half \
               of the lanes return before a barrier, both modes",
        repeat: &["simt-sim ask early-return", "simt-sim ask barrier-after-return"],
        find: exits,
    },
];

/// Returns a figure of an answer as a number.
pub(super) fn figure(answer: &Answer, row: &str, column: &str) -> Result<f64, AskError> {
    match answer.cell(row, column) {
        Some(Cell::Count(n)) => Ok(*n as f64),
        Some(Cell::Real(x)) => Ok(*x),
        _ => Err(AskError::Missing {
            program: answer.name.to_owned(),
            what: format!("figure `{row}` / `{column}`"),
        }),
    }
}

/// Returns the answer to a question of `simt-sim ask`.
pub(super) fn ask(name: &str) -> Result<Answer, AskError> {
    let missing = || AskError::Missing { program: name.to_owned(), what: "experiment".to_owned() };
    find(name).ok_or_else(missing)?.answer()
}

fn five_warps(bench: &Bench) -> Result<Evidence, AskError> {
    let answer = ask("latency-hiding")?;
    let mut used = Vec::new();
    for warps in 1..=8 {
        used.push((warps, figure(&answer, &warps.to_string(), "slots used %")?));
    }
    let needed = used.iter().find(|(_, share)| *share > 99.5).map_or(0, |found| found.0);
    let bar = |(warps, share): &(u64, f64)| {
        format!(
            "{warps} warps  {:<50}  {} %",
            "#".repeat((share / 2.0).round() as usize),
            real(*share)
        )
    };
    Ok(Evidence {
        lines: vec![held(
            "warps that fill every issue slot",
            Rule::Exact,
            bench.facts.number("warps for nine cycles")?.into(),
            needed,
            None,
        )],
        drawing: used.iter().map(bar).collect(),
        tables: answer.tables,
        why: vec![
            "Nine cycles are nine slots. A warp fills two of them, with its load and its other \
             instruction: 9 / 2 = 4.5, rounded up. With four warps one slot in nine stays empty; \
             beyond five, another warp only adds its own work."
                .to_owned(),
            "Real loads take longer (23 cycles from shared memory, 32 from L1, 280 from L2, 686 \
             from DRAM on the H200), and a scheduler has at most 16 warps: there, a warp needs \
             several loads in flight."
                .to_owned(),
        ],
    })
}

fn even_odd(bench: &Bench) -> Result<Evidence, AskError> {
    let facts = &bench.facts;
    let mut table = FigureTable::new(
        "Even and odd",
        &[
            "kernel",
            "divergent, as written",
            "divergent, machine code",
            "sectors loaded",
            "inst_per_warp",
            "cycles",
            "H200 cycles (2^24)",
        ],
    );
    let kernels = [
        ("by neighbouring lanes", &CUDA_EVEN_ODD, "h200 even/odd"),
        ("by whole warps", &CUDA_EVEN_ODD_ALIGNED, "h200 even/odd aligned"),
    ];
    let [mixed, aligned] = each(kernels, |(name, program, theirs)| {
        let trial =
            |blocks: u64| Trial::new(program, Mode::Volta).set("block", 512).set("n", 512 * blocks);
        let written = trial(32).run()?.count("divergent_branch")?;
        let done = trial(super::bench::BLOCKS_H200).lowered().run()?;
        let (divergent, sectors) = (done.count("divergent_branch")?, done.loads()?.sectors);
        let theirs = facts.number(theirs)? as u64;
        table.row(
            name,
            [
                written.into(),
                divergent.into(),
                sectors.into(),
                done.real("inst_per_warp")?.into(),
                done.cycles().into(),
                theirs.into(),
            ],
        );
        Ok((done.cycles(), divergent, sectors, written))
    })?;
    Ok(Evidence {
        lines: vec![
            held(
                "time, by lanes / by warps",
                Rule::Within(15.0),
                facts.number("aligned helps little")?.into(),
                per(mixed.0, aligned.0),
                Some(facts.ratio("h200 even/odd", "h200 even/odd aligned")?),
            ),
            measured(
                "by lanes: divergent branches of the machine code",
                Rule::Exact,
                mixed.1,
                facts.number("h200 divergent even/odd")?.into(),
            ),
            measured(
                "sectors, by warps / by lanes",
                Rule::Exact,
                per(aligned.2, mixed.2),
                facts.ratio("h200 sectors even/odd aligned", "h200 sectors even/odd")?,
            ),
        ],
        tables: vec![table],
        why: vec![format!(
            "As written, {} warps of 512 diverge in the first form and {} in the second. But both \
             arms are an addition and a store: the compiler predicates them, and no branch is left \
             to remove. The second form changes the words that a warp touches, to every second \
             one: twice the sectors. On the H200 it is the slower of the two.",
            mixed.3, aligned.3
        )],
        ..Evidence::default()
    })
}

/// Block of the example that contains a step: the last label at or above its line.
fn block(watched: &Watched, pc: Pc) -> &'static str {
    let lines = STACK_EXAMPLE.text.lines().take(watched.line(pc) as usize);
    lines
        .filter_map(|line| line.strip_suffix(':').filter(|name| name.len() == 1))
        .last()
        .unwrap_or("-")
}

fn stack_example(bench: &Bench) -> Result<Evidence, AskError> {
    let trial = Trial::new(&STACK_EXAMPLE, Mode::PreVolta)
        .on("teaching", |spec| spec.warp_size = 4)
        .order(SideOrder::FallThrough);
    let watched = trial.watch()?;
    let entry = |e: &StackEntry| {
        let mask: String =
            (0..4).map(|lane| if e.lanes.0 >> lane & 1 == 1 { '1' } else { '0' }).collect();
        let meets = e.reconverge.map_or("-", |pc| block(&watched, pc));
        format!("({meets}, {}, {mask})", block(&watched, e.pc))
    };
    // Stack when the warp leaves a block.
    let mut story: Vec<(&str, String)> = Vec::new();
    for issue in watched.issues(0) {
        let here = block(&watched, issue.pc);
        let entries: Vec<String> = issue.after.stack.iter().map(entry).collect();
        match story.last_mut() {
            Some((last, state)) if *last == here => *state = entries.join(" "),
            _ => story.push((here, entries.join(" "))),
        }
    }
    let mut lines = Vec::new();
    for (leaving, name) in [("A", "stack after A"), ("B", "stack after B"), ("D", "stack after D")]
    {
        let ours =
            story.iter().find(|(name, _)| *name == leaving).map_or("", |found| found.1.as_str());
        lines.push(held(name, Rule::Exact, bench.facts.word(name)?, ours, None));
    }
    let mut drawing =
        vec!["after  entries, bottom first: (reconvergence point, next block, mask)".to_owned()];
    drawing.extend(story.iter().map(|(name, state)| {
        format!(
            "{name:<5}  {}",
            if state.is_empty() { "empty: the warp has exited" } else { state }
        )
    }));
    Ok(Evidence {
        lines,
        drawing,
        why: vec![
            "Only the last entry of a line issues. The entry below it is the reconvergence entry: \
             its mask has all lanes that will arrive, and it continues when they have, at no cost. \
             Both sides of a branch are pushed at once; the second one waits below the first."
                .to_owned(),
            "Since Volta this stack does not exist; the same program runs with convergence \
             barriers, in the same order and with the same masks, as `--machine h200` shows."
                .to_owned(),
        ],
        ..Evidence::default()
    })
}

fn exits(bench: &Bench) -> Result<Evidence, AskError> {
    let facts = &bench.facts;
    let steps = ask("reduction-steps")?;
    let splits = figure(&steps, "neighbored", "sum")?;
    // A return that split the warp would add to the splits of the steps.
    let splits_more = |divergent: f64| Cell::from(if divergent > splits { "yes" } else { "no" });
    let ours = || splits_more(bench.h200.near.divergent_a_block as f64);
    let theirs =
        || Ok::<_, AskError>(Some(splits_more(facts.number("h200 divergent neighbored")?)));
    let ends = each([Mode::PreVolta, Mode::Volta], |mode| {
        Ok(Trial::new(&BARRIER_AFTER_EXIT, mode).run()?.finish())
    })?;
    let ended = if ends[0] == ends[1] { ends[0].to_owned() } else { ends.join(", ") };
    let barrier = || Ok::<_, AskError>(Some(facts.word("h200 barrier after return")?));
    let early = ask("early-return")?;
    Ok(Evidence {
        lines: vec![
            held(
                "a return splits the warp: one says",
                Rule::Exact,
                facts.word("return diverges")?,
                ours(),
                theirs()?,
            ),
            held(
                "a return splits the warp: another says",
                Rule::Exact,
                facts.word("return does not diverge")?,
                ours(),
                theirs()?,
            ),
            held(
                "a barrier after returns ends: one says",
                Rule::Exact,
                facts.word("barrier hangs")?,
                ended.as_str(),
                barrier()?,
            ),
            held(
                "a barrier after returns ends: another says",
                Rule::Exact,
                facts.word("barrier works")?,
                ended.as_str(),
                barrier()?,
            ),
        ],
        tables: early.tables,
        why: vec![
            "A return is a predicated exit in machine code: its lanes leave the mask for good, \
             there is no second side to issue, and the other lanes continue. (Written as a branch \
             around the rest, it counts as one divergent branch, and costs that branch.)"
                .to_owned(),
            "A block barrier does not wait for exited threads, in either model and on the H200. \
             CUDA leaves some of these cases undefined, so do not rely on it."
                .to_owned(),
        ],
        ..Evidence::default()
    })
}
