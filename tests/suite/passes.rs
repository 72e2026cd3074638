//! Accesses that pass over the banks of an SM: an H200's passes and cycles, and the model's.
//!
//! `tests/observations/h200/atoms` has atomics of shared memory: the source, its listing, and by
//! kernel and places of the lanes in `counts.csv` what the profiler counts of one warp, in
//! `atoms.csv` the cycles. `widths` has loads and stores of 4, 8 and 16 bytes a lane, `dispatch`
//! loads of lines that share a bank of L1's tags, and rows of instructions whose operands take
//! turns.

use std::fs;

use simt_core::Program;
use simt_core::launch::Overrides;

use crate::spans::{mean_of, simulated};

const FOLDER: &str = "tests/observations/h200";
/// Launches of kernels whose names contain a text, and their mean error in percent. Chains are of
/// accesses that need the one before; 32 warps take turns in an order of their own.
const ATOMS: [(&str, usize, f64); 2] = [("_chain", 756, 1.2), ("_row", 972, 3.1)];
const WIDTHS: [(&str, usize, f64); 6] = [
    ("lds", 552, 2.0),
    ("sts", 276, 3.4),
    ("ldg", 552, 3.3),
    ("stg", 160, 3.2),
    ("_chain", 552, 1.1),
    ("_row", 908, 3.9),
];

const DISPATCH: [(&str, usize, f64); 6] = [
    ("_chain", 108, 2.1),
    ("_row", 162, 2.6),
    ("factor", 25, 3.1),
    ("uniform", 45, 4.6),
    ("with_", 15, 2.6),
    ("kept", 9, 1.7),
];

fn text(path: &str) -> String {
    fs::read_to_string(format!("{FOLDER}/{path}")).unwrap_or_else(|e| panic!("{path}: {e}"))
}

/// Returns the constants of a launch: names, from the heading of a file, and values.
fn constants<'a>(heading: &'a str, row: &'a str) -> Vec<(&'a str, &'a str)> {
    let names = heading.split(',').zip(row.split(','));
    names.filter(|(name, _)| ["active", "r", "s", "q", "u", "h"].contains(name)).collect()
}

#[test]
fn shared_atomics_pass_over_the_banks_as_a_gpus() {
    let program = Program::parse("atoms.sass", &text("atoms/atoms.sass"));
    let counts = text("atoms/counts.csv");
    let (heading, rows) = counts.split_once('\n').expect("a heading");
    let (mut launches, mut differ) = (0, Vec::new());
    for row in rows.lines() {
        let set = constants(heading, row).into_iter().map(|(n, v)| (n.into(), v.into())).collect();
        let name = row.split(',').next();
        let done = simulated(&program, name, &Overrides { set, ..Overrides::default() });
        let metric = |name: &'static str| done.run.metrics.get(&name).expect(name).as_f64();
        let found = ["shared_atomic_transactions", "shared_atomic_bank_conflict"].map(metric);
        let counted = row.rsplit(',').map(|count| count.parse::<f64>().expect(row));
        // Launches of the GPU differ by one wavefront.
        if found.iter().rev().zip(counted).any(|(found, counted)| (found - counted).abs() > 1.0) {
            differ.push(format!("{row}: {found:?}"));
        }
        launches += 1;
    }
    assert_eq!(launches, 432);
    assert!(differ.is_empty(), "{} differ:\n{}", differ.len(), differ.join("\n"));
}

/// Checks the cycles of the launches of a folder.
fn check(name: &str, means: &[(&str, usize, f64)]) {
    let program = Program::parse(name, &text(&format!("{name}/{name}.sass")));
    let cycles = text(&format!("{name}/{name}.csv"));
    let (heading, rows) = cycles.split_once('\n').expect("a heading");
    let mut table = String::new();
    let mut sums = vec![(0, 0.0); means.len()];
    for row in rows.lines() {
        let mut fields = row.split(',');
        let (kernel, block) = (fields.next().expect(row), fields.next().expect(row));
        let measured: f64 = fields.next_back().expect(row).parse().expect(row);
        let launch = (1, block.parse().expect(row));
        let found = mean_of(&program, kernel, launch, &constants(heading, row), 0);
        let error = 100.0 * (found / measured - 1.0);
        for ((part, ..), (launches, sum)) in means.iter().zip(&mut sums) {
            if kernel.contains(part) {
                (*launches, *sum) = (*launches + 1, *sum + error.abs());
            }
        }
        table += &format!("{row:50} {found:8.1} {error:+6.1} %\n");
    }
    let found: Vec<_> = sums.iter().map(|&(n, sum)| (n, sum / f64::from(n))).collect();
    let within = found.iter().zip(means).all(|(&(launches, mean), &(_, expected, limit))| {
        launches as usize == expected && mean <= limit
    });
    assert!(within, "{name}: {found:.2?}\n{table}");
}

#[test]
fn shared_atomics_take_a_gpus_cycles() {
    check("atoms", &ATOMS);
}

#[test]
fn loads_and_stores_of_each_width_take_a_gpus_cycles() {
    check("widths", &WIDTHS);
}

#[test]
fn instructions_are_dispatched_as_on_a_gpu() {
    check("dispatch", &DISPATCH);
}
