//! Passes over the banks of shared memory: what an H200 counts, and the model.
//!
//! `tests/observations/h200/banks` has the source, its listing, and in `banks.csv` the counts of
//! each launch. A name is the kernel and its parameters.

use std::fs;

use simt_core::Program;
use simt_core::launch::Overrides;

use crate::spans::simulated;

const FOLDER: &str = "tests/observations/h200/banks";
const PARAMETERS: [&str; 7] = ["p", "q", "r", "s", "h", "c", "m"];
/// Metrics of loads and stores by column.
const COUNTS: [[&str; 2]; 2] = [
    ["shared_load_transactions", "shared_store_transactions"],
    ["shared_ld_bank_conflict", "shared_st_bank_conflict"],
];

#[test]
fn wavefronts_and_bank_conflicts_are_those_of_a_gpu() {
    let text = |file: &str| fs::read_to_string(format!("{FOLDER}/{file}")).expect(file);
    let program = Program::parse("banks.sass", &text("banks.sass"));
    let rows = text("banks.csv");
    assert_eq!(rows.lines().count(), 901);
    let mut differ = Vec::new();
    for row in rows.lines().skip(1) {
        let [name, counts @ ..]: [&str; 3] =
            row.split(',').collect::<Vec<_>>().try_into().expect(row);
        let [wavefronts, conflicts] = counts.map(|count| count.parse::<u64>().expect(row));
        let (kernel, values) = name.split_once('-').expect(row);
        let set = PARAMETERS.iter().zip(values.split('-'));
        let set = set.map(|(name, value)| (name.to_string(), value.to_string())).collect();
        let done = simulated(&program, Some(kernel), &Overrides { set, ..Overrides::default() });
        let found: [u64; 2] = COUNTS.map(|names| {
            names
                .iter()
                .filter_map(|name| done.run.metrics.get(name))
                .map(|n| n.as_f64() as u64)
                .sum()
        });
        if found != [wavefronts, conflicts] {
            differ.push(format!("{row}: {found:?}"));
        }
    }
    assert!(differ.is_empty(), "{} of 900:\n{}", differ.len(), differ.join("\n"));
}
