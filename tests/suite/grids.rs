//! Grids of many short blocks: a GPU's cycles and the model's, and the part of L1 that the driver
//! makes shared memory.
//!
//! `tests/observations/h200/grids` has the source, its listing, and what was measured.

use std::fs;

use simt_core::Program;
use simt_core::launch::Overrides;
use simt_core::machine::Occupancy;
use simt_core::spec::Machine;

use crate::spans::{Compared, left};

const FOLDER: &str = "tests/observations/h200/grids";
/// Mean errors of the kernels whose names begin so, in percent, in grids of up to sixteen and of up
/// to eight times the smallest. Of additions, those to random words are the furthest: 40 % too
/// quick.
const MEANS: [(&str, f64, f64); 6] = [
    ("load_", 8.1, 8.5),
    ("copy_", 9.5, 7.8),
    ("store_", 13.0, 14.9),
    ("gather_", 5.4, 5.4),
    ("scatter", 6.5, 8.2),
    ("add_", 16.0, 16.3),
];

fn rows(file: &str) -> Vec<Vec<String>> {
    let text = fs::read_to_string(format!("{FOLDER}/{file}")).expect("a table");
    text.lines().skip(1).map(|row| row.split(',').map(str::to_owned).collect()).collect()
}

fn program() -> Program {
    let path = format!("{FOLDER}/grids.sass");
    Program::parse(&path, &fs::read_to_string(&path).expect("a listing"))
}

/// Compares grids of up to `most` times the smallest.
fn compared(most: u32) -> Compared {
    let program = program();
    let mut compared = Compared::default();
    for row in rows("grids.csv") {
        let [kernel, blocks, times, cycles] = &row[..] else { panic!("{row:?}") };
        let [blocks, times]: [u32; 2] = [blocks, times].map(|number| number.parse().expect(number));
        if times > most {
            continue;
        }
        let n = (65_536 * times).to_string();
        let done = left(&program, Some(kernel), (blocks * times, 256), &[("n", &n)]);
        let (measured, found): (f64, _) = (cycles.parse().expect(cycles), done.run.cycles as f64);
        let error = 100.0 * (found / measured - 1.0);
        let row = format!("{kernel:14} {times:>3} {measured:8.0} {found:8.0} {error:+6.1} %\n");
        compared.add(&row, error.abs());
    }
    compared
}

#[test]
fn grids_of_short_blocks_take_a_gpus_cycles() {
    compared(8).check(96, MEANS.iter().map(|&(name, _, most)| (name, most)));
}

#[test]
#[ignore = "half a minute"]
fn larger_grids_of_short_blocks_take_a_gpus_cycles() {
    compared(16).check(120, MEANS.iter().map(|&(name, most, _)| (name, most)));
}

/// Returns what fits of blocks of so many threads, registers and bytes of shared memory.
fn occupancy([threads, registers, shared]: [u32; 3]) -> Occupancy {
    let (program, machine) = (program(), Machine::preset("h200").expect("a machine"));
    let kernel = program.kernel(Some("load_word")).expect("a kernel");
    let overrides = Overrides { block: Some([threads, 1, 1]), ..Overrides::default() };
    let mut launch =
        program.launch(kernel, &overrides, &|_, _| Err("no files".into())).expect("a launch");
    (launch.registers, launch.dynamic_shared) = (Some(registers), shared);
    Occupancy::new(kernel, &launch, &machine).expect("it fits")
}

/// As `launch__occupancy_limit_shared_mem`: each block has 1 KB more than it asks for.
#[test]
fn a_driver_keeps_shared_memory_of_each_block() {
    for (launch, blocks) in [([64, 30, 32_768], 6), ([64, 19, 16_900], 12), ([256, 32, 49_152], 4)]
    {
        let found = occupancy(launch);
        assert_eq!((found.blocks, found.limit), (blocks, "shared memory"), "{launch:?}");
    }
}

#[test]
fn a_driver_leaves_l1_the_part_that_it_has() {
    let (mut others, mut all) = (Vec::new(), 0);
    for row in rows("carve_outs.csv") {
        let [threads, registers, shared, measured] =
            [0, 1, 2, 3].map(|at: usize| row[at].parse::<u32>().expect(&row[at]));
        let found = occupancy([threads, registers, shared]).carve_out / 1024;
        all += 1;
        if found != measured {
            others.push((threads, registers, shared, measured, found));
        }
    }
    assert!(all >= 120 && others.len() <= 5, "{} of {all}: {others:?}", others.len());
}
