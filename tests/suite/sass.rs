//! Machine code counts what an H200 counts, and leaves the memory that the PTX of the same source
//! leaves.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use simt_core::checks::Checks;
use simt_core::launch::{Launch, Overrides};
use simt_core::machine::{Finish, Options, Timing};
use simt_core::spec::{Machine, Mode};
use simt_core::{Job, Program};
use simt_report::profile::{Held, Profile};
use simt_report::simulate::{Simulation, simulate, simulate_checked};

use super::{support, unseen};

const UNSEEN: &str = "programs/unseen";
const SEEDS: &str = "crates/gpu/observations/h200/profile.csv";

/// Counters that follow from the machine code and its input.
const COUNTERS: [&str; 21] = [
    "smsp__warps_launched.sum",
    "smsp__inst_executed.sum",
    "smsp__thread_inst_executed.sum",
    "smsp__thread_inst_executed_pred_on.sum",
    "smsp__inst_executed_op_branch.sum",
    "smsp__sass_branch_targets.sum",
    "smsp__sass_branch_targets_threads_divergent.sum",
    "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
    "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    "l1tex__t_requests_pipe_lsu_mem_local_op_ld.sum",
    "l1tex__t_requests_pipe_lsu_mem_local_op_st.sum",
    "l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum",
    "l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum",
    "smsp__inst_executed_op_shared_ld.sum",
    "smsp__inst_executed_op_shared_st.sum",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum",
];

/// A reason why counters differ from the GPU's.
struct Different {
    reason: &'static str,
    kernels: &'static [&'static str],
    /// Parts of the counters' names; each must be needed. Empty: any counter.
    counters: &'static [&'static str],
}

/// Every kernel, and every counter of it, must be needed.
const DIFFERENT: &[Different] = &[
    Different {
        reason: "threads wait for others or race with them: counters depend on timing",
        kernels: &[
            "atomics_cas_loop",
            "atomics_float",
            "db_groupby_shared",
            "frontier_step",
            "hash_insert",
            "lock_block",
            "locklist",
        ],
        counters: &[],
    },
    Different {
        reason: "the GPU repeats a few shared stores that have no bank conflict",
        kernels: &[
            "argmax_block",
            "idm_tile8_hadamard",
            "num_pcr",
            "primes_sieve_block",
            "reduce_redux",
            "scan_shuffle_up",
            "sig_polyphase",
            "sort_bitonic_key_value",
        ],
        counters: &["wavefronts_mem_shared_op_st", "bank_conflicts_pipe_lsu_mem_shared_op_st"],
    },
    Different {
        reason: "the GPU repeats a few shared loads that have no bank conflict",
        kernels: &["gr_triangle_bitset", "reduce_groups"],
        counters: &["wavefronts_mem_shared_op_ld", "bank_conflicts_pipe_lsu_mem_shared_op_ld"],
    },
];

/// Kernels of the test that is not long: a small one for each kind of counter and control flow.
const QUICK: [&str; 12] = [
    "banks_apart",
    "bitonic",
    "break_continue",
    "early_outs",
    "gcd",
    "half_warps_loop",
    "histo",
    "nested_bits",
    "reduce_shuffle",
    "struct_of_three",
    "switch8",
    "vector_loads",
];

/// A listing whose frames do not fit the 1,024 bytes of a thread's stack.
const OVERFLOWS: &str = "call_recursive";

/// Instructions a warp that a listing executes and the recorded kernel does not: the records are of
/// the same algorithm in another source.
const OTHER_SOURCE: [(&str, u32); 3] =
    [("reduce_neighbored", 1), ("shared_doubling", 2), ("shared_halving", 2)];

#[test]
fn older_architectures_leave_the_expected_memory_on_their_machines() {
    for (arch, machine) in [(75, "turing"), (80, "ampere"), (86, "ampere"), (89, "ada")] {
        assert_eq!(Machine::of_architecture(arch), Some(machine));
        let spec = support::machine(machine);
        for name in ["reduce_neighbored", "reduce_shuffle", "switch_dense"] {
            let program = parsed(&format!("programs/sass/sm_{arch}/{name}.sass"));
            assert!(program.is_sound(), "{}: {:?}", program.name, program.findings);
            let small = ("n".to_owned(), "8192".to_owned());
            let set = if name == "switch_dense" { vec![] } else { vec![small] };
            let overrides = Overrides { set, ..Overrides::default() };
            let (kernel, launch) = support::launch(&program, &overrides).expect("a launch");
            let options = support::options(Mode::Volta, spec.side_order(), 1_000_000_000);
            let done = simulate(Job::new(&program, kernel, launch, &spec, options), &())
                .expect("it fits the machine");
            let held = &done.run.expectations;
            assert!(!held.is_empty() && held.iter().all(|e| e.passed), "{}", program.name);
            let label = done.run.trust.get(&"inst_executed").map(String::as_str);
            let expected = format!("program count; machine code of sm_{arch} was not measured");
            assert_eq!(label, Some(expected.as_str()), "{}", program.name);
        }
    }
}

#[test]
fn a_launch_may_give_a_larger_stack() {
    let program = parsed(&format!("programs/sass/{OVERFLOWS}.sass"));
    let spec = support::machine("h200");
    let (kernel, launch) = support::launch(&program, &Overrides::default()).expect("a launch");
    for (stack, timing) in [(8192, Timing::Cycles), (8192, Timing::Off), (1 << 19, Timing::Off)] {
        let launch = Launch { stack: Some(stack), ..launch.clone() };
        let options = support::options(Mode::Volta, spec.side_order(), 1_000_000);
        let options = Options { timing, ..options };
        let job = Job::new(&program, kernel, launch, &spec, options);
        let run = simulate_checked(job, &(), Checks::ALL).expect("it fits");
        let finish = &run.simulation.finish;
        assert!(matches!(finish, Finish::Ok), "{stack} bytes: {finish:?}");
        let held = &run.simulation.run.expectations;
        assert!(!held.is_empty() && held.iter().all(|e| e.passed), "{stack} bytes");
        assert!(run.findings.is_empty(), "{stack} bytes: {:?}", run.findings);
    }
}

fn parsed(path: &str) -> Program {
    let text = fs::read_to_string(path).unwrap_or_else(|e| panic!("{path}: {e}"));
    Program::parse(path, &text)
}

fn profile(path: &str) -> Profile {
    let text = fs::read_to_string(path).unwrap_or_else(|e| panic!("{path}: {e}"));
    Profile::parse(&text).unwrap_or_else(|e| panic!("{path}: {e}"))
}

fn run(program: &Program, set: &[(String, String)], timing: Timing) -> (Launch, Simulation) {
    let spec = support::machine("h200");
    let overrides = Overrides { set: set.to_vec(), ..Overrides::default() };
    let (kernel, launch) =
        support::launch(program, &overrides).unwrap_or_else(|e| panic!("{}: {e}", program.name));
    let options = support::options(Mode::Volta, spec.side_order(), 1_000_000_000);
    let options = Options { timing, ..options };
    let done = simulate(Job::new(program, kernel, launch.clone(), &spec, options), &())
        .unwrap_or_else(|e| panic!("{}: {e}", program.name));
    (launch, done)
}

/// Returns the counters that differ in a run of a program, by the records of its launch.
fn differing(
    program: &Program,
    profile: &Profile,
    set: &[(String, String)],
    timing: Timing,
) -> Vec<Held> {
    let (launch, done) = run(program, set, timing);
    let kernel = &done.run.kernel;
    let found = profile.launches_of(kernel, launch.grid, launch.block, &launch.constants);
    let launched = found.first().unwrap_or_else(|| panic!("{}: not recorded", program.name));
    different(&program.name, launched.hold(&done.run).held)
}

/// Returns the counters of a kernel that differ.
fn different(name: &str, held: Vec<Held>) -> Vec<Held> {
    let counted = |held: &&Held| COUNTERS.contains(&held.name.as_str());
    assert!(held.iter().filter(counted).count() > 6, "{name}: few counters");
    held.into_iter().filter(|held| counted(&held) && !held.is_exact()).collect()
}

/// Returns a line for each counter that differs.
fn told(name: &str, held: &[Held]) -> String {
    let line =
        |h: &Held| format!("{name}: {} is {}, measured {}\n", h.name, h.simulated, h.measured);
    held.iter().map(line).collect()
}

/// Compares what differs in a kernel with the list: a line for each surprise.
fn surprises(name: &str, found: &[Held]) -> String {
    let listed: Vec<&Different> = DIFFERENT.iter().filter(|d| d.kernels.contains(&name)).collect();
    let is_listed = |held: &&Held| {
        let of = |d: &&&Different| {
            d.counters.is_empty() || d.counters.iter().any(|part| held.name.contains(part))
        };
        !listed.iter().any(|d| of(&d))
    };
    let new: Vec<Held> = found.iter().filter(is_listed).cloned().collect();
    let mut text = told(name, &new);
    for Different { reason, counters, .. } in listed {
        let any = [""];
        let parts = if counters.is_empty() { &any[..] } else { counters };
        for part in parts.iter().filter(|part| !found.iter().any(|h| h.name.contains(**part))) {
            text += &format!("{name}: `{part}` is equal now, remove it from `{reason}`\n");
        }
    }
    text
}

fn stem(path: &str) -> String {
    Path::new(path).file_stem().expect("a name").to_string_lossy().into_owned()
}

#[test]
fn counts_are_the_h200s() {
    let (mut kernels, mut wrong) = (0, String::new());
    for half in ["mend", "held"] {
        let profile = profile(&format!("{UNSEEN}/{half}/profile.csv"));
        for path in support::files(&format!("{UNSEEN}/{half}"), &["sass"]) {
            let path = path.display().to_string();
            let name = stem(&path);
            if QUICK.contains(&name.as_str()) {
                wrong +=
                    &surprises(&name, &differing(&parsed(&path), &profile, &[], Timing::Cycles));
                kernels += 1;
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert_eq!(kernels, QUICK.len());
}

/// Counters differ if and only if they are in the list. The runs are those of `unseen`.
#[test]
#[ignore = "long: every unseen kernel"]
fn long_counts_are_the_h200s() {
    let (mut kernels, mut wrong) = (BTreeSet::new(), String::new());
    for (name, held) in unseen::counters_of_machine_code() {
        wrong += &surprises(name, &different(name, held));
        kernels.insert(name);
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(kernels.len() >= 258, "{} kernels", kernels.len());
    for name in DIFFERENT.iter().flat_map(|d| d.kernels) {
        let is_there = |half: &str| Path::new(&format!("{UNSEEN}/{half}/{name}.sass")).exists();
        assert!(is_there("mend") || is_there("held"), "{name} is not there");
    }
}

/// Kernels of `programs/sass` with a recorded launch of so many elements.
fn seeds_of(n: u64, timing: Timing) {
    let profile = profile(SEEDS);
    let set = [("n".to_owned(), n.to_string())];
    // What is wrong with a kernel, if it is recorded.
    let wrong = |path: PathBuf| {
        let path = path.display().to_string();
        if path.contains("/sm_") {
            return None; // other architectures than the recorded one
        }
        let program = parsed(&path);
        let kernel = &program.kernel(None).unwrap_or_else(|e| panic!("{e}")).name;
        if !profile.launches.iter().any(|launched| launched.kernel == *kernel) {
            return None;
        }
        let name = stem(&path);
        let extra = OTHER_SOURCE.iter().find(|(other, _)| *other == name);
        let warps = (n / 32) as f64;
        let is_explained = |held: &Held| {
            // In a full SM the GPU repeats accesses that have no bank conflict.
            if n > 1 << 20 && held.name.contains("pipe_lsu") && held.name.contains("mem_shared") {
                return held.simulated < held.measured;
            }
            let lanes = match held.name.as_str() {
                "smsp__inst_executed.sum" => 1.0,
                name if name.starts_with("smsp__thread_inst_executed") => 32.0,
                _ => return false,
            };
            let each = (held.simulated - held.measured) / warps / lanes;
            extra.is_some_and(|(_, extra)| each == f64::from(*extra))
        };
        let mut found = differing(&program, &profile, &set, timing);
        assert!(extra.is_none() || !found.is_empty(), "{name} is equal: remove it");
        found.retain(|held| !is_explained(held));
        Some(told(&name, &found))
    };
    let kernels = support::files("programs/sass", &["sass"]).into_par_iter();
    let wrong: Vec<String> = kernels.filter_map(wrong).collect();
    assert!(wrong.concat().is_empty(), "{}", wrong.concat());
    assert_eq!(wrong.len(), 5);
}

#[test]
fn counts_of_the_reductions_are_the_h200s() {
    seeds_of(1 << 9, Timing::Cycles);
}

#[test]
#[ignore = "long: 2^24 threads five times"]
fn long_counts_of_large_reductions_are_the_h200s() {
    seeds_of(1 << 24, Timing::Off);
}

/// The PTX and the machine code of a source leave the same memory.
#[test]
fn machine_code_leaves_the_memory_of_its_ptx() {
    // Enough for every branch; whole blocks of every kernel.
    let small = BTreeMap::from([("n = 1 << 24", 1 << 13), ("n = 1 << 20", 1 << 13)]);
    let mut kernels = 0;
    for path in support::files("programs/sass", &["sass"]) {
        let path = path.display().to_string();
        let machine_code = parsed(&path);
        if stem(&path) == OVERFLOWS {
            let done = run(&machine_code, &[], Timing::Cycles).1;
            assert!(matches!(done.finish, Finish::Fault(_)), "{path}: {:?}", done.finish);
            continue;
        }
        let ptx = parsed(&format!("programs/cuda/{}.ptx", stem(&path)));
        let n = small.iter().find(|(text, _)| machine_code.text.contains(**text));
        let set: Vec<_> = n.map(|(_, n)| ("n".to_owned(), n.to_string())).into_iter().collect();
        let [a, b] = [&machine_code, &ptx].map(|program| run(program, &set, Timing::Cycles).1);
        let names = |s: &Simulation| -> Vec<String> {
            s.launch.buffers.iter().map(|buffer| buffer.name.clone()).collect()
        };
        assert_eq!(names(&a), names(&b), "{path}");
        assert!(matches!(a.finish, Finish::Ok), "{path}: {:?}", a.finish);
        // `from` and `to` hold clock reads.
        let holds_data = |name: &str| !["from", "to"].contains(&name);
        for (a, b) in a.launch.buffers.iter().zip(&b.launch.buffers) {
            if !holds_data(&a.name) {
                continue;
            }
            let differs =
                (0..a.words.len().max(b.words.len())).find(|&i| a.words.get(i) != b.words.get(i));
            assert_eq!(differs, None, "{path}: word of `{}` that differs", a.name);
        }
        assert!(a.run.passed(), "{path}: an expectation fails");
        kernels += 1;
    }
    assert!(kernels >= 17, "{kernels} kernels");
}
