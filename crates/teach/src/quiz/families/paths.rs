//! Issue counts. A warp issues a line once per path and per trip with at least one active lane.

use crate::ask::draw;
use crate::ask::programs::{
    EARLY_RETURN, IF_ELSE, LOOP_BY, PATHS_K, REDUCE_INTERLEAVED, REDUCE_NEIGHBORED,
    REDUCE_NEIGHBORED_LESS,
};
use crate::quiz::bench::{Setup, issued, issued_in, lanes, other, split};
use crate::quiz::{AskError, Dice, Question, Revealed};
use simt_report::numbers::{grouped, real};

const EACH_ISSUE: &str = "A line counts each time the warp issues it, for any number of lanes.";

/// An if / else with four instructions per side.
pub(in crate::quiz) fn same_path(dice: &mut Dice) -> Question<'static> {
    let lanes = if dice.once_in(2) { 32 } else { dice.between(4, 31) };
    let low = match dice.below(4) {
        0 => 0,
        1 => dice.between(lanes, 32),
        _ => dice.between(1, lanes - 1),
    };
    let setup =
        Setup::new(&IF_ELSE, ("setp.lt.u32", "st.global"), [("lanes", lanes), ("low", low)]);
    let text = format!(
        "One warp with {lanes} threads, lanes 0 to {}; %low is {low}. How many instructions of the \
         lines below does it issue, including the comparison and the store? {EACH_ISSUE}",
        lanes - 1
    );
    setup.question(
        "same-path",
        text,
        "Which lanes go to Then? Are any left for the other side?",
        |setup| {
            let lines = setup.excerpt().map(|excerpt| excerpt.lines).unwrap_or_default();
            let (mut revealed, done) =
                setup.measure("divergent_branch", |done| Ok(issued_in(done, lines)))?;
            let fork = split(&done, "bra Then");
            let (fall, taken) =
                (issued(&done, "xor.b32 %x, %x, 42"), issued(&done, "xor.b32 %x, %x, 21"));
            revealed.pictures.push(draw::lanes(
                "The warp, issue by issue",
                &setup.watch(0)?,
                0,
                "setp.lt.u32",
            ));
            revealed.because.push(match fork.divergent {
            0 => format!(
                "All lanes agree, so only one side issues, {}; the other costs nothing.",
                if taken > 0 { "Then" } else { "the lines before Then" }
            ),
            _ => format!(
                "The lanes disagree: both sides issue, {} + {} times, one after the other, each \
                 with the lanes of the other side inactive.",
                fall, taken
            ),
        });
            revealed.others = vec![
                other(12, "what a warp issues if its lanes disagree: both sides"),
                other(11, "what both sides would issue without the jump over the second one"),
                other(7, "what a warp issues if all its lanes go to Then"),
                other(
                    8,
                    "what a warp issues if none of its lanes goes to Then, including the jump \
                      over the other side",
                ),
            ];
            Ok(revealed)
        },
    )
}

/// `if (lane >= stay) return;`
pub(in crate::quiz) fn early_return(dice: &mut Dice) -> Question<'static> {
    let stay = if dice.once_in(3) { 32 * dice.below(2) } else { dice.between(1, 31) };
    let setup = Setup::new(&EARLY_RETURN, ("setp.lt.u32", "st.global"), [("stay", stay)]);
    let text = format!(
        "One warp of 32 lanes; %stay is {stay}, so {} lanes return at once. How many instructions \
         of the lines below does the warp issue? {EACH_ISSUE}",
        32 - stay
    );
    setup.question("early-return", text, "Do the lines after Go issue again for the lanes that returned?", |setup| {
        let lines = setup.excerpt().map(|excerpt| excerpt.lines).unwrap_or_default();
        let (mut revealed, done) = setup.measure("divergent_branch", |done| Ok(issued_in(done, lines)))?;
        let go = lanes(&done, "activemask");
        revealed.pictures.push(draw::lanes("The warp, issue by issue", &setup.watch(0)?, 0, "setp.lt.u32"));
        revealed.because = vec![match split(&done, "bra Go").divergent {
            0 => "All lanes agree: the warp takes one path.".to_owned(),
            _ => format!(
                "The branch splits the warp: the return issues once for the lanes that leave, and \
                 the lines after Go once for the {go} that stay. Nothing issues twice, and no lane \
                 waits."
            ),
        }];
        revealed.others = vec![
            other(
                13,
                "what it would issue if the lines after Go issued twice; they do not issue \
                       for returned lanes",
            ),
            other(8, "what a warp issues if some lanes return and some stay"),
            other(7, "what a warp issues if no lane returns"),
            other(3, "what a warp issues if every lane returns"),
        ];
        Ok(revealed)
    })
}

/// A loop with one trip count per group of threads.
pub(in crate::quiz) fn uniform_loop(dice: &mut Dice) -> Question<'static> {
    let (by, block) = (dice.of(&[1, 2, 4, 8, 16, 32]), dice.of(&[32, 64, 96, 128]));
    let setup = Setup::new(&LOOP_BY, ("div.u32", "bra Loop"), [("by", by), ("block", block)]);
    let given = format!(
        "One block of {block} threads, %by is {by}: thread t makes t / {by} + 1 trips (integer \
         division)."
    );
    if dice.once_in(2) {
        let text = format!("{given} How many times do all warps together issue the body?");
        let hint = "A warp makes as many trips as its longest lane. Which lane is that, in each \
                    warp?";
        setup.question("uniform-loop", text, hint, |setup| trips(setup, false))
    } else {
        let text = format!(
            "{given} How many times does the loop's branch split a warp, in all warps together?"
        );
        let hint = "The branch splits a warp if some lanes leave and others continue: count the \
                    different trip counts in a warp.";
        setup.question("uniform-loop", text, hint, |setup| trips(setup, true))
    }
}

fn trips(setup: &Setup, diverging: bool) -> Result<Revealed, AskError> {
    const BODY: &str = "add.u32 %count, %count, 1";
    let (mut revealed, done) = setup.measure("divergent_branch", |done| {
        Ok(if diverging { split(done, "bra Loop").divergent } else { issued(done, BODY) })
    })?;
    let (issues, work, exits) = (issued(&done, BODY), lanes(&done, BODY), split(&done, "bra Loop"));
    let (by, block) = (setup.get("by").max(1), setup.get("block"));
    let watched = setup.watch(0)?;
    revealed.pictures.push(draw::only("Warp 0 at the body, trip by trip", &watched, 0, BODY));
    revealed.because = vec![
        format!(
            "The body is issued {} times with {} active lanes in all: {} % of the lane slots.",
            grouped(issues),
            grouped(work),
            real(100.0 * work as f64 / (32 * issues.max(1)) as f64)
        ),
        match exits.divergent {
            0 => format!(
                "The branch was executed {} times and never split a warp: its lanes have the same \
                 trip count.",
                exits.executed
            ),
            n => format!(
                "The branch was executed {} times and split a warp {} times.",
                grouped(exits.executed),
                grouped(n)
            ),
        },
    ];
    revealed.others = vec![
        other(issues, "the number of times the body is issued"),
        other(exits.divergent, "the number of times the branch splits a warp"),
        other(
            work,
            "the sum of the trips of all threads; the lanes of a warp make their trips \
                     together",
        ),
        other(
            (block.saturating_sub(1)) / by + 1,
            "the trips of the longest thread; each warp has its own longest lane",
        ),
        other(block / by, "the number of groups of threads"),
        other(block.div_ceil(32), "the number of warps"),
    ];
    Ok(revealed)
}

/// A switch with `k` cases.
pub(in crate::quiz) fn k_paths(dice: &mut Dice) -> Question<'static> {
    let (k, steps) = (dice.between(2, 12), dice.of(&[8, 16, 24, 32]));
    let setup = Setup::new(&PATHS_K, ("Case:", "bra Chain"), [("k", k), ("steps", steps)]);
    let text = format!(
        "One warp of 32 lanes, %k is {k} and %steps is {steps}: lane l works in round l % {k} of \
         {k} rounds, {} trips of the inner loop. How many times does the warp issue `sub.u32 \
         %left, %left, 8`?",
        steps / 8
    );
    setup.question(
        "k-paths",
        text,
        "How many lanes work in one round, and does another round wait for them?",
        |setup| {
            const INNER: &str = "sub.u32 %left, %left, 8";
            let (mut revealed, done) = setup.measure("divergent_branch", |done| Ok(issued(done, INNER)))?;
            let (k, trips) = (setup.get("k"), setup.get("steps") / 8);
            let rounds = split(&done, "bra Next");
            revealed.pictures.push(draw::only(
                "Active lanes in each round",
                &setup.watch(0)?,
                0,
                "mov.u32 %left, %steps",
            ));
            revealed.because = vec![format!(
                "The warp was split {} times: {} rounds, one after the other, each with {} trips for \
             {} active lanes on average.",
                rounds.divergent,
                rounds.executed,
                trips,
                real(lanes(&done, INNER) as f64 / issued(&done, INNER).max(1) as f64)
            )];
            revealed.others = vec![
                other(trips, "the trips of one round; the rounds run one after the other"),
                other(k, "the number of rounds; each has more than one trip"),
                other(
                    32 * trips,
                    "the sum of the trips of all lanes; the lanes of one round run \
                               together",
                ),
                other(k * setup.get("steps"), "the additions of all rounds; a trip makes eight"),
            ];
            Ok(revealed)
        },
    )
}

/// The textbook reductions.
pub(in crate::quiz) fn reductions(dice: &mut Dice) -> Question<'static> {
    let block = dice.of(&[64, 128, 256, 512, 1024]);
    let which = dice.below(3);
    let (program, pairs) = match which {
        0 => (&REDUCE_NEIGHBORED, "thread t adds if t % (2 * stride) is 0"),
        1 => (&REDUCE_NEIGHBORED_LESS, "thread t adds at 2 * stride * t if that is in the block"),
        _ => (&REDUCE_INTERLEAVED, "thread t adds if t < stride, and stride halves"),
    };
    let setup = Setup::new(program, ("Loop:", "Next:"), [("n", block), ("block", block)]);
    let steps = block.ilog2();
    let text = format!(
        "One block of {block} threads adds up {block} integers in {steps} steps; {pairs}. How many \
         times does a warp diverge at that if, in all warps and steps together?"
    );
    let hint = "Step by step: which threads work? How many warps have both working and idle \
                threads?";
    setup.question("reductions", text, hint, |setup| {
        let (mut revealed, done) =
            setup.measure("divergent_branch", |done| Ok(split(done, "bra Next").divergent))?;
        let (fork, adds) = (split(&done, "bra Next"), issued(&done, "st.global.u32 [%"));
        let block = setup.get("block");
        let title = "Warp 0 at the if, step by step (# skips the addition, - adds)";
        revealed.pictures.push(draw::only(title, &setup.watch(0)?, 0, "bra Next"));
        revealed.because = vec![
            format!(
                "{} warps x {} steps execute the if {} times; {} of these split the warp.",
                block / 32,
                block.ilog2(),
                fork.executed,
                fork.divergent
            ),
            format!(
                "Warps stored {} times (the last store is the block's sum): {}",
                adds,
                if fork.divergent > u64::from(block.ilog2()) {
                    "every warp with at least one working thread issues the whole body."
                } else {
                    "whole warps work or idle, until fewer threads than a warp are left."
                }
            ),
        ];
        revealed.others = vec![
            other(fork.executed, "the number of times a warp executes the if"),
            other(block.ilog2().into(), "the number of steps"),
            other(block - 1, "the number of additions"),
            other(block / 32, "the number of warps"),
            other(adds, "the number of times a warp stores"),
        ];
        Ok(revealed)
    })
}
