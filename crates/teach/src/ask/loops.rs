//! Loops: trips that differ from lane to lane, trips that do not, and leaving in the middle.

use super::lab::{MODES, Trial, Watched, each};
use super::programs::*;
use super::{Experiment, Findings, Source, Trouble, draw};
use simt_core::spec::Mode;
use simt_report::FigureTable;
use simt_report::numbers::grouped;

pub(super) const EXPERIMENTS: &[Experiment] = &[
    Experiment {
        name: "trip-counts",
        question: "A loop runs a different number of times in each thread: does the warp pay the longest, or the sum?",
        programs: &[FOR_TID],
        sources: &[Source {
            says: "Loops in kernels: what if the threads of a warp go round differently often?",
            place: "https://forums.developer.nvidia.com/t/loops-in-kernels/11936",
        }],
        on_h200: Some(
            "After a loop with lane-dependent trips the mask was full again: the compiler's barrier joins the lanes.",
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
        question: "break or continue in the middle of a loop: how does the hardware know when to switch lanes back on?",
        programs: &[BREAK],
        sources: &[Source {
            says: "Continue statement: how are threads re-activated?",
            place: "https://forums.developer.nvidia.com/t/continue-statement/8793",
        }],
        on_h200: Some("After a loop left by break the mask was full again; lanes did not meet earlier."),
        find: leave,
    },
];

/// How often an instruction was issued, and with how many lanes in all.
fn work(watched: &Watched, part: &str) -> (u64, u64) {
    watched.of(part).fold((0, 0), |(issues, lanes), e| (issues + 1, lanes + u64::from(e.executed.count())))
}

fn trip_counts() -> Result<Findings, Trouble> {
    let columns = ["mode", "body issues", "longest lane", "all lanes' trips", "lanes x issues", "efficiency %"];
    let mut table = FigureTable::new("for (i = 0; i < threadIdx.x; i++), one warp", &columns);
    let [_, watched] = each(MODES, |mode| {
        let trial = Trial::new(&FOR_TID, mode);
        let done = trial.run()?;
        let watched = trial.watch()?;
        let (issues, lanes) = work(&watched, "add.u32 %count");
        let longest = done.words("out")?.iter().copied().max().unwrap_or(0);
        let efficiency = 100.0 * lanes as f64 / (32 * issues) as f64;
        table.row(mode.name(), [issues.into(), longest.into(), lanes.into(), (32 * issues).into(), efficiency.into()]);
        Ok(watched)
    })?;
    let (issues, lanes) = work(&watched, "add.u32 %count");
    Ok(Findings {
        short: format!("The longest: {issues} issues of the body, as many as lane 31 needs, not the sum of {lanes}."),
        pictures: vec![draw::only("The body, trip by trip: one lane after the other is done and waits", &watched, 0, "add.u32 %count")],
        tables: vec![table],
        sentences: vec![
            format!(
                "Lane k goes round k times. The warp issues the body {issues} times with fewer and fewer lanes: {} of the {} lane \
                 slots paid for do work.",
                grouped(lanes),
                grouped(32 * issues)
            ),
            "Lanes that are done wait behind the loop for the slowest. Sorting work so that the lanes of a warp have similar trip \
             counts is what helps."
                .to_owned(),
        ],
    })
}

fn uniform_loop() -> Result<Findings, Trouble> {
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
            "No: when all lanes of a warp go round equally often, {none} of its branches diverge, even if other warps go round more often."
        ),
        tables: vec![table],
        sentences: vec![
            format!(
                "With 32 threads going round together the four warps make 1, 2, 3 and 4 trips: {whole} issues of the body and {none} \
                 divergent branches."
            ),
            format!(
                "With a trip count of its own for each thread there are {single} issues and {most} divergent branches."
            ),
            "Unrolling saves the loop's own instructions; it is not needed against divergence.".to_owned(),
        ],
        ..Findings::default()
    })
}

fn leave() -> Result<Findings, Trouble> {
    let columns = ["mode", "trips issued", "lanes' trips", "divergent exits", "lanes together behind the loop"];
    let mut table = FigureTable::new("for (k = 0; k < 64; k++) { if (k * k > lane) break; }", &columns);
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
            "It knows where the ways meet: the first instruction behind the loop. Lanes that broke out wait there; {trips} trips \
             later all are together."
        ),
        pictures: vec![draw::only("The break branch, trip by trip: who takes it (#) waits behind the loop (pre-volta)", &watched, 0, "bra After")],
        tables: vec![table],
        sentences: vec![
            format!("{divergent} of the break branches split the warp, and none of these splits needs an instruction of the program to undo it."),
            "Before Volta the reconvergence point (the immediate post-dominator) stands in the stack entry; since Volta the compiler \
             sets a convergence barrier before the loop and waits at it behind the loop. `simt-sim cfg` draws these points."
                .to_owned(),
        ],
    })
}
