//! Work that takes several launches: the end of a launch is the barrier of a grid.

use super::lab::{Done, Trial};
use super::programs::*;
use super::{AskError, Experiment, Findings, Source};
use simt_core::spec::Mode;
use simt_report::FigureTable;
use simt_report::numbers::grouped;

pub(super) const EXPERIMENTS: &[Experiment] = &[
    Experiment {
        name: "two-pass-sum",
        question: "Should a second launch add the sums of the blocks, or an atomic of each block?",
        programs: &[SUM_TWO_PASS, SUM_ATOMIC],
        sources: &[Source {
            says: "A kernel launch serves as a global synchronization point",
            place: "Harris: Optimizing Parallel Reduction in CUDA, NVIDIA",
        }],
        on_h200: None,
        find: two_pass_sum,
    },
    Experiment {
        name: "grid-barrier",
        question: "Does a barrier of the whole grid cost less than a second launch?",
        programs: &[CUDA_GRID, SUM_TWO_PASS],
        sources: &[Source {
            says: "To synchronize across the grid, launch the kernel by \
                   cudaLaunchCooperativeKernel; all of its blocks must be resident",
            place: "CUDA C++ Programming Guide, Cooperative Groups, Grid Synchronization",
        }],
        on_h200: None,
        find: grid_barrier,
    },
    Experiment {
        name: "scan-launches",
        question: "Why does a prefix sum of a whole grid take three launches?",
        programs: &[SCAN_TWO_PASS],
        sources: &[Source {
            says: "Arrays of arbitrary size: scan blocks, scan their sums, add them",
            place: "Harris, Sengupta, Owens: Parallel Prefix Sum (Scan) with CUDA, GPU Gems 3, \
                    chapter 39",
        }],
        on_h200: None,
        find: scan_launches,
    },
];

/// Cycles from the start of a launch to its end, the overhead of a launch included.
fn cycles(done: &Done) -> Result<u64, AskError> {
    done.count("launch_cycles")
}

fn two_pass_sum() -> Result<Findings, AskError> {
    let mut table = FigureTable::new(
        "Cycles on h200, the overhead of each launch included",
        &["integers", "blocks", "first launch", "second launch", "both", "atomics"],
    );
    let mut last = (0, 0);
    for n in [1_u64 << 12, 1 << 14, 1 << 16, 1 << 18] {
        let two = Trial::new(&SUM_TWO_PASS, Mode::Volta).set("n", n).run_all()?;
        let one = Trial::new(&SUM_ATOMIC, Mode::Volta).set("n", n).run()?;
        let each = two.iter().map(cycles).collect::<Result<Vec<u64>, AskError>>()?;
        let [first, second] = each[..] else {
            return Err(AskError::Missing {
                program: SUM_TWO_PASS.path.to_owned(),
                what: "second launch".to_owned(),
            });
        };
        last = (first + second, cycles(&one)?);
        table.row(
            grouped(n),
            [n.div_ceil(256).into(), first.into(), second.into(), last.0.into(), last.1.into()],
        );
    }
    let (two, one) = last;
    Ok(Findings {
        short: format!(
            "An atomic of each block: {} cycles against {} for 2^18 integers, since one per block \
             is few.",
            grouped(one),
            grouped(two)
        ),
        tables: vec![table],
        sentences: vec![
            "Blocks of one launch may run one after another, so none can wait for the others; the \
             end of a launch is the only barrier of a grid without cooperative groups."
                .to_owned(),
            "The second launch is one block on one SM: it costs a launch, and its loads have no \
             other warps to hide behind."
                .to_owned(),
            "Atomics add in any order. Sums of integers do not depend on it; those of floats do, \
             and two launches give the same bits in every run."
                .to_owned(),
        ],
        ..Findings::default()
    })
}

fn grid_barrier() -> Result<Findings, AskError> {
    const BLOCK: u64 = 256;
    let mut table = FigureTable::new(
        "Cycles on h200, the overhead of each launch included",
        &["integers", "blocks", "one cooperative launch", "two launches"],
    );
    let mut last = (0, 0);
    for blocks in [16_u64, 64, 256, 1024] {
        let n = blocks * BLOCK;
        let one = Trial::new(&CUDA_GRID, Mode::Volta).set("n", n);
        let one = cycles(&one.set("block", BLOCK).set("blocks", blocks).run()?)?;
        let two = Trial::new(&SUM_TWO_PASS, Mode::Volta).set("n", n).run_all()?;
        let two = two.iter().map(cycles).sum::<Result<u64, AskError>>()?;
        last = (one, two);
        table.row(grouped(n), [blocks.into(), one.into(), two.into()]);
    }
    let (one, two) = last;
    let word = if one < two { "less" } else { "more" };
    Ok(Findings {
        short: format!(
            "For 2^18 integers it costs {word}: {} cycles in one launch against {} in two.",
            grouped(one),
            grouped(two)
        ),
        tables: vec![table],
        sentences: vec![
            "At `grid.sync()` thread 0 of each block adds 1 to a word of the grid and reads it \
             until its uppermost bit flips; block 0 adds what is missing to that bit."
                .to_owned(),
            "A block that is not resident cannot arrive, so a cooperative launch of more blocks \
             than the GPU holds at once is an error: 1,056 blocks of 256 threads on the H200."
                .to_owned(),
            "Without a cooperative launch the word does not exist: `grid.sync()` traps.".to_owned(),
        ],
        ..Findings::default()
    })
}

fn scan_launches() -> Result<Findings, AskError> {
    let all = Trial::new(&SCAN_TWO_PASS, Mode::Volta).run_all()?;
    let mut table = FigureTable::new(
        "Prefix sums of 2^14 integers, 64 blocks of 256",
        &["launch", "instructions", "load requests", "divergent branches", "h200 cycles"],
    );
    let names = ["scan of each block", "scan of the totals", "addition of earlier totals"];
    let (mut loads, mut spent) = (0, Vec::new());
    for (name, done) in names.into_iter().zip(&all) {
        let requests = done.count("gld_requests")?;
        loads += requests;
        spent.push(cycles(done)?);
        table.row(
            name,
            [
                done.count("inst_executed")?.into(),
                requests.into(),
                done.count("divergent_branch")?.into(),
                cycles(done)?.into(),
            ],
        );
    }
    let total: u64 = spent.iter().sum();
    Ok(Findings {
        short: format!(
            "A block needs the total of all blocks before it, and only the end of a launch makes \
             that known: {} cycles in {} launches.",
            grouped(total),
            all.len()
        ),
        tables: vec![table],
        sentences: vec![
            "The first launch leaves the total of each block, one block scans these totals, and \
             the last launch adds to each block the total of those before it."
                .to_owned(),
            format!(
                "Every element is loaded twice, {} requests in all; single-pass scans avoid that, \
                 but their blocks wait for each other by flags in memory.",
                grouped(loads)
            ),
        ],
        ..Findings::default()
    })
}
