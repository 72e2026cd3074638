//! Lanes that meet by masks of their own, or from different places: what an H200 computed, and how often
//! it executed each instruction. `tests/observations/h200/meetings` has source, listing and data.

use std::collections::BTreeMap;
use std::fs;

use simt_core::Program;
use simt_core::launch::Overrides;
use simt_report::profile::Profile;

use crate::spans::simulated;

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
fn instructions() -> BTreeMap<(String, u32), (u64, u64)> {
    let text = text("instructions.csv");
    let row = |row: &str| {
        let [kernel, address, executed, lanes, _]: [&str; 5] =
            row.split(',').collect::<Vec<_>>().try_into().expect(row);
        let number = |word: &str| word.parse().expect(word);
        let address = u32::from_str_radix(address.trim_start_matches("0x"), 16).expect(address);
        ((kernel.to_string(), address), (number(executed), number(lanes)))
    };
    text.lines().skip(1).map(row).collect()
}

#[test]
fn lanes_meet_as_on_a_gpu() {
    let program = Program::parse("meetings.sass", &text("meetings.sass"));
    let profile = Profile::parse(&text("profile.csv")).expect("a profile");
    let instructions = instructions();
    let outputs = text("outputs.csv");
    let outputs: Vec<_> = outputs.lines().skip(1).filter_map(|row| row.split_once(',')).collect();
    assert_eq!(outputs.len(), 10);
    for (name, hash) in outputs {
        let done = simulated(&program, Some(name), &Overrides::default());
        let out = done.launch.buffers.iter().find(|b| b.name == "out").expect("a buffer");
        let found = out.words.iter().fold(0_u32, |h, word| h.wrapping_mul(31).wrapping_add(*word));
        assert_eq!(found.to_string(), hash, "{name}: outputs");
        let mut compared = 0;
        for row in &done.run.instructions {
            let place = row.machine.as_ref().expect("a place");
            // The GPU's count by instruction leaves out the lanes that execute WARPSYNC again.
            let Some(&measured) = instructions.get(&(name.to_string(), place.address)) else {
                continue;
            };
            let lanes = row.average_active_lanes.unwrap_or(0.0) * row.executed as f64;
            let simulated = (row.executed, lanes.round() as u64);
            compared += 1;
            if row.text.contains("WARPSYNC") {
                assert!(simulated >= measured, "{name} {}: {simulated:?}", row.text);
            } else {
                assert_eq!(simulated, measured, "{name} {}", row.text);
            }
        }
        assert!(compared > 20, "{name}: {compared} instructions");
        let launched = profile.launches.iter().find(|launched| launched.kernel == name);
        let held = launched.unwrap_or_else(|| panic!("{name}: not recorded")).hold(&done.run).held;
        for counter in COUNTERS {
            let of = held.iter().find(|h| h.name == counter).expect(counter);
            assert!(of.is_exact(), "{name}: {counter} is {}, {}", of.simulated, of.measured);
        }
    }
}
