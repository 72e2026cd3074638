//! Loops: trip counts that differ between lanes, uniform trip counts, and break.

use super::lab::{MODES, Trial, Watched, each};
use super::programs::*;
use super::{AskError, Experiment, Findings, Source, draw};
use simt_core::spec::Mode;
use simt_report::FigureTable;
use simt_report::numbers::grouped;

pub(super) const EXPERIMENTS: &[Experiment] = &[
    Experiment {
        name: "trip-counts",
        question: "A loop runs a different number of times in each thread: does the warp pay for \
                   the longest or for the sum?",
        programs: &[FOR_TID],
        sources: &[Source {
            says: "Loops in kernels: what if the trip counts of a warp's threads differ?",
            place: "https://forums.developer.nvidia.com/t/loops-in-kernels/11936",
        }],
        on_h200: Some(
            "After a loop with lane-dependent trip counts the mask was full again: the compiler's \
             convergence barrier joins the lanes.",
        ),
        find: trip_counts,
    },
    Experiment {
        name: "uniform-loop",
        question: "Does every loop diverge? Do I have to unroll to avoid it?",
        programs: &[LOOP_BY],
        sources: &[Source {
            says: "Does the hardware check every branch, and what does it cost?",
            place: "https://forums.developer.nvidia.com/t/question-about-control-flow-divergence/4718",
        }],
        on_h200: None,
        find: uniform_loop,
    },
    Experiment {
        name: "break",
        question: "break or continue in the middle of a loop: how does the hardware know when to \
                   switch lanes back on?",
        programs: &[BREAK],
        sources: &[Source {
            says: "Continue statement: how are threads re-activated?",
            place: "https://forums.developer.nvidia.com/t/continue-statement/8793",
        }],
        on_h200: Some(
            "After a loop left by break the mask was full again; lanes did not reconverge earlier.",
        ),
        find: leave,
    },
];

/// Issues of an instruction, and its executed lanes in total.
fn work(watched: &Watched, part: &str) -> (u64, u64) {
    watched
        .of(part)
        .fold((0, 0), |(issues, lanes), e| (issues + 1, lanes + u64::from(e.executed.count())))
}

fn trip_counts() -> Result<Findings, AskError> {
    let columns = [
        "mode",
        "body issues",
        "longest lane",
        "all lanes' trips",
        "lanes x issues",
        "efficiency %",
    ];
    let mut table = FigureTable::new("for (i = 0; i < threadIdx.x; i++), one warp", &columns);
    let [_, watched] = each(MODES, |mode| {
        let trial = Trial::new(&FOR_TID, mode);
        let done = trial.run()?;
        let watched = trial.watch()?;
        let (issues, lanes) = work(&watched, "add.u32 %count");
        let longest = done.words("out")?.iter().copied().max().unwrap_or(0);
        let efficiency = 100.0 * lanes as f64 / (32 * issues) as f64;
        table.row(
            mode.name(),
            [issues.into(), longest.into(), lanes.into(), (32 * issues).into(), efficiency.into()],
        );
        Ok(watched)
    })?;
    let (issues, lanes) = work(&watched, "add.u32 %count");
    Ok(Findings {
        short: format!(
            "For the longest: {issues} issues of the body, as many as lane 31 needs, not the sum \
             of {lanes}.",
        ),
        pictures: vec![draw::only(
            "The body, trip by trip: one lane after another is done and waits",
            &watched,
            0,
            "add.u32 %count",
        )],
        tables: vec![table],
        sentences: vec![
            format!(
                "Lane k makes k trips. The warp issues the body {issues} times with fewer and \
                 fewer lanes: {} of the {} lane slots do work.",
                grouped(lanes),
                grouped(32 * issues)
            ),
            "Lanes that are done wait after the loop for the slowest. To reduce the loss, sort the \
             work so that the lanes of a warp have similar trip counts."
                .to_owned(),
        ],
    })
}

fn uniform_loop() -> Result<Findings, AskError> {
    let columns = [
        "threads that go round together",
        "body issues",
        "lanes at work",
        "loop branches",
        "divergent",
        "volta cycles",
    ];
    let mut table = FigureTable::new("Four warps; thread t makes t / by + 1 trips", &columns);
    let rows = each([32, 16, 8, 1], |by| {
        let trial = Trial::new(&LOOP_BY, Mode::Volta).set("by", by);
        let done = trial.run()?;
        let (issues, lanes) = work(&trial.watch()?, "add.u32 %count");
        let divergent = done.count("divergent_branch")?;
        table.row(
            by.to_string(),
            [
                issues.into(),
                lanes.into(),
                done.count("conditional_branches")?.into(),
                divergent.into(),
                done.cycles().into(),
            ],
        );
        Ok((issues, divergent))
    })?;
    let [(whole, none), .., (single, most)] = rows;
    Ok(Findings {
        short: format!(
            "No: if all lanes of a warp have the same trip count, {none} of its branches diverge, \
             even if other warps make more trips."
        ),
        tables: vec![table],
        sentences: vec![
            format!(
                "If 32 threads share a trip count, the four warps make 1, 2, 3 and 4 trips: \
                 {whole} issues of the body and {none} divergent branches."
            ),
            format!(
                "If each thread has its own trip count, there are {single} issues and {most} \
                 divergent branches."
            ),
            "Unrolling saves the loop's own instructions; avoiding divergence does not need it."
                .to_owned(),
        ],
        ..Findings::default()
    })
}

fn leave() -> Result<Findings, AskError> {
    let columns = [
        "mode",
        "trips issued",
        "lanes' trips",
        "divergent exits",
        "lanes together behind the loop",
    ];
    let mut table =
        FigureTable::new("for (k = 0; k < 64; k++) { if (k * k > lane) break; }", &columns);
    let [(trips, divergent, watched), _] = each(MODES, |mode| {
        let trial = Trial::new(&BREAK, mode);
        let done = trial.run()?;
        let watched = trial.watch()?;
        let (trips, lanes) = work(&watched, "mul.lo.u32 %square");
        let divergent = done.count("divergent_branch")?;
        let together = done.word("join", 0)?.count_ones();
        table.row(mode.name(), [trips.into(), lanes.into(), divergent.into(), together.into()]);
        Ok((trips, divergent, watched))
    })?;
    Ok(Findings {
        short: format!(
            "It knows the reconvergence point: the first instruction after the loop. Lanes that \
             broke out wait there; {trips} trips later all have reconverged."
        ),
        pictures: vec![draw::only(
            "The break branch, trip by trip: lanes that take it (#) wait after the loop (pre-volta)",
            &watched,
            0,
            "bra After",
        )],
        tables: vec![table],
        sentences: vec![
            format!(
                "{divergent} of the break branches split the warp; the program needs no \
                 instruction of its own to undo a split.",
            ),
            "Before Volta the stack entry holds the reconvergence point (the immediate \
             post-dominator); since Volta the compiler sets a convergence barrier before the loop \
             and waits at it after the loop. `simt-sim cfg` draws these points."
                .to_owned(),
        ],
    })
}
