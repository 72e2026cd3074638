//! Answers on machine code: their figures against an H200 that ran the same code, and against
//! counts made here from the listings.

use std::collections::BTreeMap;
use std::fs;

use simt_core::Job;
use simt_core::Program;
use simt_core::launch::Overrides;
use simt_core::spec::Mode;
use simt_report::Answer;
use simt_report::simulate::{Simulation, simulate};

use super::super::support;
use super::{ask, cell, count, counts, real, word};

const OBSERVED: &str = "crates/teach/observations/h200/divergence.txt";

/// A measured launch.
struct Launched {
    kernel: String,
    blocks: u64,
    threads: u64,
    constants: Vec<(String, String)>,
    /// What was measured, column by column.
    words: Vec<String>,
}

impl Launched {
    fn constant(&self, name: &str) -> u64 {
        let found = self.constants.iter().find(|(known, _)| known == name);
        found.and_then(|(_, value)| value.parse().ok()).unwrap_or_else(|| panic!("no {name}"))
    }

    fn number(&self, column: usize) -> u64 {
        self.words[column].parse().expect("a number")
    }

    fn file(&self) -> &'static str {
        match self.kernel.as_str() {
            name if name.starts_with("paths") => "paths_k",
            name if name.starts_with("arms") => "arms",
            _ => "unroll",
        }
    }

    fn title(&self) -> String {
        let Launched { kernel, blocks, threads, constants, .. } = self;
        format!("{kernel} {blocks} x {threads} {constants:?}")
    }

    /// Runs the launch on the simulated H200.
    fn run(&self) -> Simulation {
        let path = format!("programs/sass/{}.sass", self.file());
        let text = fs::read_to_string(&path).expect("a listing");
        let program = Program::parse(&path, &text);
        let kernel = program.kernel(Some(&self.kernel)).unwrap_or_else(|e| panic!("{e}"));
        let mut set = self.constants.clone();
        set.push(("block".to_owned(), self.threads.to_string()));
        let overrides = Overrides { set, ..Overrides::default() };
        let launch = program
            .launch(kernel, &overrides, &|_, _| Err("no file".to_owned()))
            .unwrap_or_else(|found| panic!("{}: {found:?}", self.title()));
        let spec = support::machine("h200");
        let options = support::options(Mode::Volta, spec.side_order(), 10_000_000);
        simulate(Job::new(&program, kernel, launch, &spec, options), &()).expect("it fits")
    }
}

/// Returns the launches of a kind: `cycles`, `count` or `chain`.
fn observed(kind: &str) -> Vec<Launched> {
    let text = fs::read_to_string(OBSERVED).expect("the observation");
    let of_kind = text.lines().filter_map(|line| line.strip_prefix(kind)?.strip_prefix(' '));
    let read = |line: &str| {
        let (launch, words) = line.split_once(" : ").expect("a launch and what was measured");
        let launch: Vec<&str> = launch.split(' ').collect();
        let constant = |c: &&str| c.split_once('=').map(|(n, v)| (n.to_owned(), v.to_owned()));
        Launched {
            kernel: launch[0].to_owned(),
            blocks: launch[1].parse().expect("blocks"),
            threads: launch[2].parse().expect("threads"),
            constants: launch[3..].iter().filter_map(constant).collect(),
            words: words.split(' ').map(str::to_owned).collect(),
        }
    };
    of_kind.map(read).collect()
}

fn metric(done: &Simulation, name: &str) -> u64 {
    done.run.metric(name).unwrap_or_else(|| panic!("no {name}")).as_f64() as u64
}

#[test]
fn counters_of_the_compiled_kernels_are_the_h200s() {
    let launches = observed("count");
    let mut kernels = BTreeMap::new();
    for launched in launches.iter().filter(|launched| launched.blocks == 1) {
        let done = launched.run();
        let names = [
            "inst_executed",
            "thread_inst_executed",
            "smsp__thread_inst_executed_pred_on.sum",
            "smsp__inst_executed_op_branch.sum",
            "branch",
            "divergent_branch",
        ];
        let ours = names.map(|name| metric(&done, name));
        let theirs: Vec<u64> = (0..names.len()).map(|i| launched.number(i)).collect();
        assert_eq!(ours.as_slice(), theirs, "{}", launched.title());
        *kernels.entry(launched.kernel.clone()).or_insert(0) += 1;
    }
    assert_eq!(kernels.len(), 2 + 6 + 4, "{kernels:?}");
}

#[test]
fn outputs_of_the_compiled_kernels_are_the_h200s() {
    let mut compared = 0;
    for launched in observed("cycles") {
        // Enough: one warp, all constants.
        if launched.threads > 32 {
            continue;
        }
        let done = launched.run();
        let out = done.launch.buffers.iter().find(|b| b.name == "out").expect("a buffer");
        assert_eq!(
            format!("{:016x}", support::hash(&out.words)),
            launched.words[1],
            "{}",
            launched.title()
        );
        compared += 1;
    }
    assert!(compared > 100, "{compared} launches");
}

/// Returns the cycles that the H200 took for one warp.
fn cycles(kernel: &str, constants: &[(&str, u64)]) -> u64 {
    let launches = observed("cycles");
    let is_it = |l: &&Launched| {
        l.kernel == kernel
            && (l.blocks, l.threads) == (1, 32)
            && constants.iter().all(|&(name, value)| l.constant(name) == value)
    };
    launches.iter().find(is_it).unwrap_or_else(|| panic!("{kernel} {constants:?}")).number(0)
}

/// Returns the counter of a launch of one warp.
fn counter(kernel: &str, constants: &[(&str, u64)], column: usize) -> u64 {
    let launches = observed("count");
    let is_it = |l: &&Launched| {
        l.kernel == kernel
            && (l.blocks, l.threads) == (1, 32)
            && constants.iter().all(|&(name, value)| l.constant(name) == value)
    };
    launches.iter().find(is_it).unwrap_or_else(|| panic!("{kernel} {constants:?}")).number(column)
}

/// Instructions of a kernel in a listing.
fn listing(file: &str, kernel: &str) -> Vec<String> {
    let text = fs::read_to_string(format!("programs/sass/{file}.sass")).expect("a listing");
    let header = format!("Function : {kernel}");
    let mut lines = text.lines().skip_while(|line| line.trim() != header);
    assert!(lines.next().is_some(), "{file}: no {kernel}");
    let body = lines.take_while(|line| !line.contains("Function : "));
    let instruction = |line: &str| {
        let (_, rest) = line.trim_start().strip_prefix("/*")?.split_once("*/")?;
        Some(rest.split_once(';')?.0.trim().to_owned())
    };
    body.filter_map(instruction).collect()
}

fn close(ours: u64, theirs: u64, percent: f64) -> bool {
    (ours as f64 / theirs as f64 - 1.0).abs() <= percent / 100.0
}

#[test]
fn ptxas_predicates_short_arms_and_branches_around_long_ones() {
    let answer = ask("predication");
    for length in [2, 4, 6, 7, 8, 16] {
        let (kernel, row) = (format!("arms{length}"), length.to_string());
        let code = listing("arms", &kernel);
        let has_branch = code.iter().any(|text| text.starts_with("BSSY"));
        // A guard on the round's end, and one on the lanes that do not write the cycles.
        let guarded = code.iter().filter(|text| text.starts_with('@')).count() - 2;
        let expected = match (has_branch, guarded) {
            (true, _) => "branch",
            (false, 1) => "select",
            (false, _) => "predicates",
        };
        assert_eq!(word(&answer, &row, "ptxas chose"), expected, "{kernel}: {code:#?}");
        assert_eq!(has_branch, length > 6, "{kernel}");
        for (low, inst, ours, theirs) in [
            (32, "inst, lanes agree", "cycles, agree", "H200, agree"),
            (16, "inst, 16 of 32", "cycles, 16 of 32", "H200, 16 of 32"),
        ] {
            let constants = [("low", low), ("rounds", 16)];
            let [inst, ours, theirs] = counts(&answer, &row, [inst, ours, theirs]);
            assert_eq!(inst, counter(&kernel, &[("low", low)], 0), "{kernel} {low}");
            assert_eq!(theirs, cycles(&kernel, &constants), "{kernel} {low}");
            assert!(close(ours, theirs, 10.0), "{kernel} {low}: {ours}, on the H200 {theirs}");
        }
        let divergent = counter(&kernel, &[("low", 16)], 5);
        assert_eq!(count(&answer, &row, "divergent"), divergent, "{kernel}");
    }
    assert!(
        answer.sentences.iter().any(|s| s.contains("up to 6 operations and branched around 7"))
    );
    let picture = answer.pictures.iter().find(|p| p.title.contains("machine code"));
    assert_eq!(picture.expect("a listing").lines.len(), 15, "one round of arms6");
}

#[test]
fn loops_are_unrolled_as_their_listings_show() {
    let answer = ask("unrolling");
    let ptx = fs::read_to_string("programs/cuda/unroll.ptx").expect("PTX");
    for (kernel, loads) in [("rolled", 1), ("plain", 7), ("byEight", 15), ("complete", 64)] {
        let listed = listing("unroll", kernel).iter().filter(|t| t.contains("LDG")).count() as u64;
        let body = ptx.split(&format!(".entry {kernel}(")).nth(1).expect("a kernel");
        let body = body.split(".entry").next().expect("its end");
        let in_ptx = body.matches("ld.global").count() as u64;
        assert_eq!([listed, in_ptx], [loads, loads], "{kernel}");
        let columns = ["loads in the PTX", "in machine code"];
        assert_eq!(counts(&answer, kernel, columns), [in_ptx, listed], "{kernel}");
        let expected = [4, 0].map(|column| counter(kernel, &[("trips", 64)], column));
        assert_eq!(counts(&answer, kernel, ["branches run", "inst"]), expected, "{kernel}");
        let [ours, theirs] = counts(&answer, kernel, ["cycles", "H200 cycles"]);
        assert_eq!(theirs, cycles(kernel, &[("trips", 64)]), "{kernel}");
        // 64 loads in sequence issue more slowly than on the H200.
        let percent = if kernel == "complete" { 45.0 } else { 10.0 };
        assert!(close(ours, theirs, percent), "{kernel}: {ours}, on the H200 {theirs}");
    }
    let lines = &answer.pictures[0].lines;
    assert_eq!(lines.iter().filter(|line| line.contains("LDG")).count(), 4, "{lines:#?}");
}

#[test]
fn k_paths_cost_k_times_one_on_machine_code() {
    let answer: Answer = ask("k-paths");
    let time = |k: u64, column: &str| count(&answer, &format!("k = {k}"), column);
    for k in [1, 2, 3, 4, 8, 16, 32] {
        let row = format!("k = {k}");
        let constants = [("k", k), ("cases", k), ("trips", 4)];
        let columns = ["inst", "divergent", "selected: inst"];
        let expected = [
            counter("paths", &constants, 0),
            counter("paths", &constants, 5),
            counter("pathsSelected", &constants, 0),
        ];
        assert_eq!(counts(&answer, &row, columns), expected, "{row}");
        let chain = observed("chain");
        let is_it = |l: &&Launched| {
            l.threads == 32 && constants.iter().all(|&(name, x)| l.constant(name) == x)
        };
        let chain = chain.iter().find(is_it).expect("recorded");
        let lanes = chain.number(1) as f64 / chain.number(0) as f64;
        assert_eq!([real(&answer, &row, "lanes in a path"), lanes], [32.0 / k as f64; 2], "{row}");
        for (kernel, ours, theirs) in
            [("paths", "cycles", "H200"), ("pathsSelected", "selected: cycles", "selected: H200")]
        {
            let [ours, theirs] = counts(&answer, &row, [ours, theirs]);
            assert_eq!(theirs, cycles(kernel, &constants), "{kernel} {k}");
            assert!(close(ours, theirs, 4.5), "{kernel} {k}: {ours}, on the H200 {theirs}");
        }
    }
    for column in ["cycles", "H200", "selected: cycles", "selected: H200"] {
        let slope = time(3, column) - time(2, column);
        for k in [4, 8, 16, 32] {
            let straight = time(2, column) + slope * (k - 2);
            assert_eq!(time(k, column), straight, "linear: {k} paths, {column}");
        }
    }
    assert!(cell(&answer, "k = 1", "divergent") == &simt_report::Cell::Count(0));
}
