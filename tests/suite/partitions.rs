//! Both partitions of L2, and blocks that share words through them, in machine code: an H200's
//! cycles and the model's.
//!
//! `tests/observations/h200/partitions` has the sources, their listings, and the cycles:
//! `partitions.cu` measures single accesses (`homes.csv`, `after.csv`); `blocks.cu` and `later.cu`
//! have locks, counters, barriers of the grid and values passed on (`blocks.csv`, `later.csv`).

use std::fs;

use simt_core::Program;

use crate::spans::{Compared, compare, left, words};

const FOLDER: &str = "tests/observations/h200/partitions";
/// Blocks of `homes`, and the additions of each: to word 0 and to words 2^10, 2^11 and so on. The
/// first ten words lie within 2 MB; beyond, homes differ from one allocation to the next.
const BLOCKS: usize = 132;
const ADDITIONS: usize = 17;
const WITHIN: usize = 10;
/// Cycles between those of an addition in an SM's own partition and in the other one.
const BETWEEN: u32 = 430;
/// Mean errors in percent, of single accesses, of the blocks' programs, and of those by which no
/// rule was found.
const AFTER: f64 = 4.7;
const SHARED: f64 = 7.1;
const LATER: f64 = 5.6;

fn program(name: &str) -> Program {
    let path = format!("{FOLDER}/{name}.sass");
    Program::parse(&path, &fs::read_to_string(&path).expect("a listing"))
}

/// Compares the cycles of blocks, their mean, with a GPU's. A launch is `kernel-blocks-rounds`.
fn compare_blocks(name: &str) -> Compared {
    let program = program(name);
    compare(&format!("{FOLDER}/{name}.csv"), |launch, threads| {
        let [kernel, blocks, rounds]: [&str; 3] =
            launch.split('-').collect::<Vec<_>>().try_into().expect(launch);
        let count: u32 = blocks.parse().expect(launch);
        let set = [("blocks", blocks), ("rounds", rounds)];
        let done = left(&program, Some(kernel), (count, threads), &set);
        let cycles = words(&done, "t").iter().map(|&cycles| f64::from(cycles));
        cycles.sum::<f64>() / f64::from(count)
    })
}

/// Returns for each addition within 2 MB whether it went to the other partition, and the mean
/// cycles of those that did not and that did.
fn homes(cycles: &[u32]) -> (Vec<Vec<bool>>, [f64; 2]) {
    let far = |&cycles: &u32| cycles > BETWEEN;
    let blocks = cycles.chunks_exact(ADDITIONS).map(|all| &all[..WITHIN]);
    let mean = |of_far: bool| {
        let all: Vec<f64> = blocks
            .clone()
            .flatten()
            .filter(|cycles| far(cycles) == of_far)
            .map(|&cycles| f64::from(cycles))
            .collect();
        all.iter().sum::<f64>() / all.len() as f64
    };
    let homes = blocks.clone().map(|block| block.iter().map(far).collect()).collect();
    (homes, [mean(false), mean(true)])
}

#[test]
fn each_4_kb_have_their_home_in_one_partition() {
    let text = fs::read_to_string(format!("{FOLDER}/homes.csv")).expect("cycles of a GPU");
    let rows = text.lines().skip(1);
    let of_gpu: Vec<u32> = rows
        .flat_map(|row| row.split(',').skip(1).map(|cycles| cycles.parse().expect("cycles")))
        .collect();
    let set = [("words", "33555456")];
    let done = left(&program("partitions"), Some("homes"), (BLOCKS as u32, 64), &set);
    let (of_gpu, cycles_of_gpu) = homes(&of_gpu);
    let (found, cycles) = homes(&words(&done, "t")[..BLOCKS * ADDITIONS]);
    for blocks in [&of_gpu, &found] {
        let first = &blocks[0];
        let differs =
            |block: &Vec<bool>| first.iter().zip(block).map(|(a, b)| a != b).collect::<Vec<_>>();
        let other = |block: &&Vec<bool>| differs(block) == [true; WITHIN];
        let same = blocks.iter().filter(|block| differs(block) == [false; WITHIN]).count();
        assert_eq!(same + blocks.iter().filter(other).count(), BLOCKS, "an SM has one partition");
        assert!((BLOCKS / 2).abs_diff(same) <= 2, "{same} of {BLOCKS}");
    }
    let pattern = |blocks: &[Vec<bool>]| -> Vec<bool> {
        blocks[0].iter().map(|far| *far != blocks[0][0]).collect()
    };
    assert_eq!(pattern(&found), pattern(&of_gpu));
    let errors = [0, 1].map(|i| 100.0 * (cycles[i] / cycles_of_gpu[i] - 1.0));
    assert!(errors.iter().all(|error| error.abs() <= 7.0), "{errors:.1?} {cycles_of_gpu:.0?}");
}

#[test]
fn fences_and_loads_depend_on_what_was_accessed_before() {
    let program = program("partitions");
    let compared = compare(&format!("{FOLDER}/after.csv"), |launch, threads| {
        let (kernel, piece) = launch.split_once('-').expect(launch);
        let done = left(&program, Some(kernel), (1, threads), &[("piece", piece)]);
        words(&done, "t")[0].into()
    });
    assert_eq!(compared.len(), 64);
    assert!(compared.mean() <= AFTER, "mean error {:.1} %\n{}", compared.mean(), compared.table);
}

#[test]
fn blocks_that_share_words_take_a_gpus_cycles() {
    let compared = compare_blocks("blocks");
    assert_eq!(compared.len(), 169);
    assert!(compared.mean() <= SHARED, "mean error {:.1} %\n{}", compared.mean(), compared.table);
}

#[test]
fn later_programs_of_blocks_take_a_gpus_cycles() {
    let compared = compare_blocks("later");
    assert_eq!(compared.len(), 98);
    assert!(compared.mean() <= LATER, "mean error {:.1} %\n{}", compared.mean(), compared.table);
}
