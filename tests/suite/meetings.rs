//! Lanes that meet by masks of their own, or from different places, and lanes that stay apart: what
//! a GPU computed, and how often it executed each instruction. `tests/observations/h200/meetings`
//! has source, listing and data.

use std::collections::BTreeMap;
use std::fs;

use simt_core::Program;
use simt_core::launch::Overrides;
use simt_report::profile::Profile;
use simt_report::simulate::Simulation;

use crate::spans::{digest, simulated};

const FOLDER: &str = "tests/observations/h200/meetings";
const COUNTERS: [&str; 6] = [
    "smsp__inst_executed.sum",
    "smsp__thread_inst_executed.sum",
    "smsp__thread_inst_executed_pred_on.sum",
    "smsp__inst_executed_op_branch.sum",
    "smsp__sass_branch_targets.sum",
    "smsp__sass_branch_targets_threads_divergent.sum",
];

fn text(file: &str) -> String {
    let path = format!("{FOLDER}/{file}");
    fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path}: {e}"))
}

/// Executions and lanes of each instruction, by kernel and address.
fn instructions(listing: &str) -> BTreeMap<(String, u32), (u64, u64)> {
    let text = text(&format!("{listing}-instructions.csv"));
    let row = |row: &str| {
        let [kernel, address, executed, lanes, _]: [&str; 5] =
            row.split(',').collect::<Vec<_>>().try_into().expect(row);
        let number = |word: &str| word.parse().expect(word);
        let address = u32::from_str_radix(address.trim_start_matches("0x"), 16).expect(address);
        ((kernel.to_string(), address), (number(executed), number(lanes)))
    };
    text.lines().skip(1).map(row).collect()
}

/// Runs the kernels of a listing, which must leave the outputs of a GPU.
fn runs(listing: &str, kernels: usize) -> Vec<(String, Simulation)> {
    let program = Program::parse(listing, &text(&format!("{listing}.sass")));
    let outputs = text(&format!("{listing}-outputs.csv"));
    let outputs: Vec<_> = outputs.lines().skip(1).filter_map(|row| row.split_once(',')).collect();
    assert_eq!(outputs.len(), kernels);
    let run = |(name, hash): (&str, &str)| {
        let done = simulated(&program, Some(name), &Overrides::default());
        assert_eq!(digest(&done.launch.buffers), hash, "{name}: outputs");
        (name.to_string(), done)
    };
    outputs.into_iter().map(run).collect()
}

fn profile(listing: &str) -> Profile {
    Profile::parse(&text(&format!("{listing}-profile.csv"))).expect("a profile")
}

/// Returns the counters of a kernel that differ from an H200's.
fn different_counters(name: &str, done: &Simulation, profile: &Profile) -> Vec<String> {
    let launched = profile.launches.iter().find(|launched| launched.kernel == name);
    let held = launched.unwrap_or_else(|| panic!("{name}: not recorded")).hold(&done.run).held;
    let of = |counter| held.iter().find(|h| h.name == counter).expect(counter);
    let different = COUNTERS.map(of).into_iter().filter(|held| !held.is_exact());
    different.map(|h| format!("{name} {}: {}, {}", h.name, h.simulated, h.measured)).collect()
}

/// Returns where kernels of a listing differ from an H200. Their outputs must be equal.
fn differences(listing: &str, kernels: usize) -> Vec<String> {
    let profile = profile(listing);
    let instructions = instructions(listing);
    let mut differences = Vec::new();
    for (name, done) in runs(listing, kernels) {
        let mut compared = 0;
        for row in &done.run.instructions {
            let place = row.machine.as_ref().expect("a place");
            let Some(&measured) = instructions.get(&(name.clone(), place.address)) else {
                continue;
            };
            let lanes = row.average_active_lanes.unwrap_or(0.0) * row.executed as f64;
            let simulated = (row.executed, lanes.round() as u64);
            compared += 1;
            // The GPU's count by instruction leaves out lanes that execute one of these again.
            let repeated = ["WARPSYNC", "BSYNC"].iter().any(|name| row.text.contains(name));
            let again = repeated && simulated > measured;
            if simulated != measured && !again {
                differences.push(format!("{name} {}: {simulated:?} {measured:?}", row.text));
            }
        }
        assert!(compared > 20, "{name}: {compared} instructions");
        differences.extend(different_counters(&name, &done, &profile));
    }
    differences
}

/// The kernels that the rules come from.
#[test]
fn lanes_meet_as_on_a_gpu() {
    assert_eq!(differences("meetings", 10), Vec::<String>::new());
}

/// Kernels that came later.
#[test]
fn cooperative_groups_meet_as_on_a_gpu() {
    assert_eq!(differences("groups", 12), Vec::<String>::new());
}

/// Lanes that are apart at a block barrier, or in recursive functions: outputs only.
#[test]
fn lanes_that_are_apart_go_on_as_on_a_gpu() {
    assert_eq!(runs("apart", 9).len(), 9);
}

/// Functions that call themselves log which lanes are where.
#[test]
fn lanes_of_recursive_functions_take_turns_as_on_a_gpu() {
    assert_eq!(runs("recursion", 4).len(), 4);
}

/// Kernels that came after the rules of the lanes. `ncu` counts branches in code that it has
/// changed, in which lanes of `flood` take other turns.
#[test]
fn later_recursive_functions_count_as_on_a_gpu() {
    let profile = profile("recursion-later");
    let mut different = Vec::new();
    for (name, done) in runs("recursion-later", 8) {
        let counters = different_counters(&name, &done, &profile);
        if counters.iter().any(|counter| !counter.contains("_sass_")) {
            different.push(name);
        } else {
            assert!(counters.is_empty() || name == "flood", "{counters:?}");
        }
    }
    assert_eq!(different, ["collatz"]);
}
