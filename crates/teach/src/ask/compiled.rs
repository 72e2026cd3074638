//! Experiments on machine code by nvcc: predicated arms, unrolled loops, divergent paths.
//!
//! The programs are compiled for sm_90 and bundled as PTX and as listings. Their warps read the
//! clock (`Done::clocked`); the H200's counters and cycles of the same code are in `observed`.

use super::lab::{Done, Trial, each};
use super::observed::Launched;
use super::programs::*;
use super::{AskError, Bundled, Experiment, Findings, Source};
use simt_core::spec::Mode;
use simt_report::numbers::grouped;
use simt_report::{FigureTable, InstructionRow, Picture};

pub(super) const EXPERIMENTS: &[Experiment] = &[Experiment {
    name: "unrolling",
    question: "Does the compiler unroll my loop, and what do I gain?",
    programs: &[CUDA_UNROLL, SASS_UNROLL],
    sources: &[Source {
        says: "What does #pragma unroll do exactly? Does it affect the number of threads?",
        place: "https://stackoverflow.com/questions/22278631/what-does-pragma-unroll-do-exactly-does-it-affect-the-number-of-threads",
    }],
    on_h200: Some(
        "64 loads a thread, one warp, warm caches: 3,987 cycles with one load a trip, 1,224 with \
         four, 1,055 with eight, 889 without a loop. A tail costs: 61 trips took longer than 64 \
         with four or eight loads a trip.",
    ),
    find: unrolling,
}];

/// Arms of `arms.cu`: kernel and operations of an arm.
const ARMS: [(&str, u64); 6] =
    [("arms2", 2), ("arms4", 4), ("arms6", 6), ("arms7", 7), ("arms8", 8), ("arms16", 16)];

/// Times that `arms.cu` runs its if / else.
const ROUNDS: u64 = 16;

/// Number of paths in the tables.
pub(super) const PATHS: [u64; 7] = [1, 2, 3, 4, 8, 16, 32];

/// Arms that ptxas predicated.
pub(super) struct Arms {
    pub(super) table: FigureTable,
    /// Round of the longest arms without a branch.
    pub(super) shown: Picture,
    /// Operations of the longest arm without a branch.
    pub(super) longest: u64,
    /// Operations of the shortest arm with a branch.
    pub(super) shortest: u64,
    /// Cycles of a split warp with these arms.
    pub(super) cycles: [u64; 2],
}

/// What ptxas made of the arms of a kernel.
fn decision(done: &Done) -> &'static str {
    let leaves = |text: &str| ["BRA", "EXIT"].iter().any(|opcode| text.contains(opcode));
    let is_guarded = |text: &str| text.starts_with('@') && !leaves(text);
    let guarded = done.listing().filter(|(_, text)| is_guarded(text)).count();
    match guarded {
        _ if done.listing().any(|(_, text)| text.contains("BSSY")) => "branch",
        // Both arms run, and one instruction picks the result.
        0 | 1 => "select",
        _ => "predicates",
    }
}

/// Compares arms of several lengths, as PTX and as machine code, with the H200.
pub(super) fn arms() -> Result<Arms, AskError> {
    let columns = [
        "operations an arm",
        "ptxas chose",
        "divergent, from PTX",
        "divergent",
        "inst, lanes agree",
        "inst, 16 of 32",
        "cycles, agree",
        "cycles, 16 of 32",
        "H200, agree",
        "H200, 16 of 32",
    ];
    let mut table = FigureTable::new(
        "Machine code by nvcc for sm_90: an if/else 16 times, one warp; the H200 ran the same",
        &columns,
    );
    let rows = each(ARMS, |(kernel, length)| {
        let low = |trial: Trial, low| trial.kernel(kernel).set("low", low).run();
        let [agree, split] = each([32, 16], |n| low(Trial::of_machine_code(&SASS_ARMS), n))?;
        let guess = low(Trial::new(&CUDA_ARMS, Mode::Volta).lowered(), 16)?;
        let theirs = |low| Launched::warp(kernel, &[("low", low), ("rounds", ROUNDS)]).cycles();
        let chosen = decision(&split);
        table.row(
            length.to_string(),
            [
                chosen.into(),
                guess.count("divergent_branch")?.into(),
                split.count("divergent_branch")?.into(),
                agree.count("inst_executed")?.into(),
                split.count("inst_executed")?.into(),
                agree.clocked()?.into(),
                split.clocked()?.into(),
                theirs(32)?.into(),
                theirs(16)?.into(),
            ],
        );
        Ok((length, chosen == "branch", split.clocked()?))
    })?;
    let longest = rows.iter().filter(|row| !row.1).max_by_key(|row| row.0);
    let shortest = rows.iter().filter(|row| row.1).min_by_key(|row| row.0);
    let of = |row: Option<&(u64, bool, u64)>| row.map_or((0, 0), |&(length, _, t)| (length, t));
    let (longest, shortest) = (of(longest), of(shortest));
    let arms = ARMS.iter().find(|arms| arms.1 == longest.0).map_or(ARMS[0].0, |arms| arms.0);
    let done = Trial::of_machine_code(&SASS_ARMS).kernel(arms).run()?;
    let title = format!("Arms of {} operations in machine code: both, predicated", longest.0);
    Ok(Arms {
        shown: loop_of(title, &done),
        table,
        longest: longest.0,
        shortest: shortest.0,
        cycles: [longest.1, shortest.1],
    })
}

/// Shows the instructions of a listing that were executed most often: the innermost loop.
fn loop_of(title: impl Into<String>, done: &Done) -> Picture {
    let most = done.listing().map(|(row, _)| row.executed).max().unwrap_or(0);
    let hot = done.listing().filter(|(row, _)| row.executed == most);
    let line = |(row, text): (&InstructionRow, &str)| {
        let address = row.machine.as_ref().map_or(0, |place| place.address);
        format!("{address:04x}  {text}")
    };
    Picture { title: title.into(), lines: hot.map(line).collect() }
}

/// Runs a kernel of `paths_k.cu` on machine code, with `k` paths and tests.
pub(super) fn run_paths(kernel: &'static str, k: u64) -> Result<Done, AskError> {
    Trial::of_machine_code(&SASS_PATHS).kernel(kernel).set("k", k).run()
}

/// Names the launch of the H200 for [`run_paths`].
pub(super) fn measured_paths(kernel: &str, k: u64) -> Launched {
    Launched::warp(kernel, &[("k", k), ("cases", k), ("trips", 4)])
}

/// Mean active lanes on the multiply-adds that are executed most often: those of the chain.
pub(super) fn lanes_of_chain(done: &Done) -> f64 {
    let chain = done.listing().filter(|(_, text)| text.starts_with("IMAD R"));
    let most = chain.map(|(row, _)| row).max_by_key(|row| row.executed);
    most.and_then(|row| row.average_active_lanes).unwrap_or(0.0)
}

/// Cycles of k paths with a branch each, and with selected constants.
pub(super) fn paths() -> Result<FigureTable, AskError> {
    let columns = [
        "paths",
        "inst",
        "divergent",
        "lanes in a path",
        "cycles",
        "H200",
        "selected: inst",
        "selected: cycles",
        "selected: H200",
    ];
    let mut table = FigureTable::new(
        "Machine code by nvcc for sm_90, 64 dependent multiply-adds per path; the H200 ran the same",
        &columns,
    );
    for k in PATHS {
        let [branch, select] = each(["paths", "pathsSelected"], |kernel| run_paths(kernel, k))?;
        table.row(
            format!("k = {k}"),
            [
                branch.count("inst_executed")?.into(),
                branch.count("divergent_branch")?.into(),
                lanes_of_chain(&branch).into(),
                branch.clocked()?.into(),
                measured_paths("paths", k).cycles()?.into(),
                select.count("inst_executed")?.into(),
                select.clocked()?.into(),
                measured_paths("pathsSelected", k).cycles()?.into(),
            ],
        );
    }
    Ok(table)
}

/// Kernels of `unroll.cu`, their pragmas, and trip counts measured.
const LOOPS: [(&str, &str); 4] = [
    ("rolled", "#pragma unroll 1"),
    ("plain", "none"),
    ("byEight", "#pragma unroll 8"),
    ("complete", "none, 64 trips known"),
];

/// Counts the instructions of a PTX kernel that contain `part`.
fn copies(program: &Bundled, kernel: &str, part: &str) -> u64 {
    let entry = format!(".entry {kernel}(");
    let body = program.text.split(&entry).nth(1).and_then(|rest| rest.split(".entry ").next());
    body.unwrap_or_default().lines().filter(|line| line.contains(part)).count() as u64
}

/// A share in whole percent.
fn percent(part: u64, of: u64) -> String {
    format!("{} %", (100.0 * part as f64 / of.max(1) as f64).round())
}

fn unrolling() -> Result<Findings, AskError> {
    let columns = [
        "kernel",
        "pragma",
        "loads in the PTX",
        "in machine code",
        "branches run",
        "inst",
        "cycles",
        "H200 cycles",
    ];
    let mut table = FigureTable::new(
        "A sum of 64 loads a thread, one warp, twice (cycles: the second time)",
        &columns,
    );
    let rows = each(LOOPS, |(kernel, pragma)| {
        let done = Trial::of_machine_code(&SASS_UNROLL).kernel(kernel).run()?;
        let loads = done.listing().filter(|(_, text)| text.contains("LDG")).count() as u64;
        let in_ptx = copies(&CUDA_UNROLL, kernel, "ld.global");
        table.row(
            kernel,
            [
                pragma.into(),
                in_ptx.into(),
                loads.into(),
                done.count("branch")?.into(),
                done.count("inst_executed")?.into(),
                done.clocked()?.into(),
                Launched::warp(kernel, &[("trips", 64)]).cycles()?.into(),
            ],
        );
        Ok((in_ptx == loads, loads, done.clocked()?, done.count("inst_executed")?))
    })?;
    let [rolled, plain, .., complete] = rows;
    let in_ptx = rows.iter().filter(|row| row.0).count();
    let shown = Trial::of_machine_code(&SASS_UNROLL).kernel("plain").run()?;
    Ok(Findings {
        short: format!(
            "Yes, by four without being asked, and completely if it knows the trips: {} and {} \
             instructions instead of {}.",
            grouped(plain.3),
            grouped(complete.3),
            grouped(rolled.3)
        ),
        pictures: vec![loop_of("The loop that had no pragma, in machine code", &shown)],
        tables: vec![table],
        sentences: vec![
            format!(
                "In {in_ptx} of {} kernels machine code has as many loads as the PTX: the front end \
                 unrolls, and ptxas keeps it so.",
                rows.len()
            ),
            format!(
                "Fewer instructions are the smaller part: the loads of one trip are all in flight \
                 together, and a trip waits once. Four loads a trip take {} of the time of one.",
                percent(plain.2, rolled.2)
            ),
            "A trip count that is not known needs a tail: the loads beyond those of the loop."
                .to_owned(),
        ],
    })
}
