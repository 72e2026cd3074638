//! Generated programs as machine code: they must leave the memory that an H200 left, and nearly all
//! must count what a GPU counted.
//!
//! ptxas compiles the programs; this needs CUDA's compiler, no GPU. The listing of one that fails
//! is left in `target/disagreeing`.
//!
//! ```sh
//! cargo test --release --test suite -- --ignored generated::compiled
//! ```
//!
//! The counters are of an H200, and of an H100 for the programs that no rule was found with. A few
//! small listings, which show the rules, are kept in `tests/observations/h200/generated`.

use std::collections::BTreeMap;
use std::path::Path;

use rayon::prelude::*;
use simt_core::Program;
use simt_core::launch::Overrides;
use simt_gpu as gpu;
use simt_report::profile::Profile;

use super::device::{CALLING, DISAGREEING, FAMILIES, Family, PLAIN, memory_digest};
use crate::assembled::machine_code;
use crate::spans::simulated;
use crate::support;

/// Counters of each program: family, number, GPU, values.
const COUNTERS: &str = "tests/observations/h200/random_counters.csv";
/// Listings named as in `plain_124.sass`.
const LISTINGS: &str = "tests/observations/h200/generated";

/// Returns the profile of each program, by family and number.
fn profiles() -> BTreeMap<(String, u32), Profile> {
    let text = std::fs::read_to_string(COUNTERS).expect("counters");
    let mut lines = text.lines();
    let names: Vec<&str> = lines.next().expect("a header").split(',').skip(3).collect();
    let profile = |line: &str| {
        let cells: Vec<&str> = line.split(',').collect();
        let mut text = String::from("kernel,log2_n,block,metric,unit,value\n");
        for (name, value) in names.iter().zip(&cells[3..]) {
            text.push_str(&format!("generated,0,32,{name},inst,{value}\n"));
        }
        let number = cells[1].parse().expect("a number");
        ((cells[0].to_string(), number), Profile::parse(&text).expect("a profile"))
    };
    lines.map(profile).collect()
}

/// Returns the counters that differ from a GPU's; an error for other memory than `memory`.
fn differences(code: &str, memory: &str, profile: &Profile) -> Result<Vec<String>, String> {
    let program = Program::parse("generated.sass", code);
    if !program.is_sound() {
        return Err(support::rendered(&program, &program.findings));
    }
    let done = simulated(&program, None, &Overrides::default());
    let left: Vec<Vec<u32>> = done.launch.buffers.iter().map(|b| b.words.clone()).collect();
    match done.finish.name() {
        "ok" if memory_digest(&left) == memory => {}
        "ok" => return Err("other memory than the GPU's".to_string()),
        other => return Err(other.to_string()),
    }
    let held = profile.launches.iter().flat_map(|launched| launched.hold(&done.run).held);
    let differing = held.filter(|held| !held.is_exact());
    Ok(differing.map(|h| format!("{}: {}, GPU {}", h.name, h.simulated, h.measured)).collect())
}

/// Runs the programs of a family, and returns the number of those that count what a GPU counted.
/// All must leave the same memory.
fn exact(family: &Family) -> usize {
    let record = family.recorded().expect("a record");
    let profiles = profiles();
    let one = |number: u32| -> Result<bool, String> {
        let memory = record.programs[number as usize].split(' ').nth(1).expect("an answer");
        let text = family.text(number);
        let code = machine_code(&text, &gpu::device_text("generated.ir", &text))?;
        let name = family.name();
        let found = differences(&code, memory, &profiles[&(name.to_string(), number)]);
        if !found.as_ref().is_ok_and(Vec::is_empty) {
            let file = Path::new(DISAGREEING).join(format!("{name}_{number}.sass"));
            let _ = std::fs::create_dir_all(DISAGREEING);
            let _ = std::fs::write(file, code);
        }
        Ok(found.map_err(|why| format!("{name} {number}: {why}"))?.is_empty())
    };
    let results: Vec<_> = (0..family.programs).into_par_iter().map(one).collect();
    let wrong: Vec<_> = results.iter().filter_map(|result| result.as_ref().err()).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    results.into_iter().filter(|result| *result == Ok(true)).count()
}

#[test]
#[ignore = "needs CUDA's compiler"]
fn machine_code_leaves_and_counts_what_the_gpu_did() {
    assert_eq!(exact(&PLAIN), 2_099);
}

#[test]
#[ignore = "needs CUDA's compiler"]
fn with_calls_machine_code_leaves_and_counts_what_the_gpu_did() {
    assert_eq!(exact(&CALLING), 2_011);
}

#[test]
fn kept_listings_leave_and_count_what_the_gpu_did() {
    let profiles = profiles();
    let paths = support::files(LISTINGS, &["sass"]);
    assert!(paths.len() >= 10, "{} listings", paths.len());
    let wrong: Vec<String> = paths
        .par_iter()
        .filter_map(|path| {
            let code = std::fs::read_to_string(path).expect("a listing");
            let name = path.file_stem().expect("a name").to_string_lossy();
            let (name, number) = name.split_once('_').expect("a family and a number");
            let number: u32 = number.parse().expect("a number");
            let family = FAMILIES.into_iter().find(|f| f.name() == name).expect("a family");
            let record = family.recorded().expect("a record");
            let memory = record.programs[number as usize].split(' ').nth(1).expect("an answer");
            match differences(&code, memory, &profiles[&(name.to_string(), number)]) {
                Ok(differing) if differing.is_empty() => None,
                other => Some(format!("{}: {other:?}", path.display())),
            }
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
