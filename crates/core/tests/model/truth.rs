//! The truth programs: every instruction form on corner values, as PTX that runs on a GPU
//! unchanged.
//!
//! `tests/truth/*.ptx` are generated from the rows of the ISA by the tables here, so that a new row
//! is a new line of a program: `BLESS=1 cargo test -p simt-core truth` writes them. What an H200
//! makes of them is kept in `tests/observations`, and `tests/suite/observations.rs` holds the
//! simulator against that. Each output buffer belongs to one form and bears its name, so that a
//! difference names the form.
//!
//! Inputs (see `tables`): all pairs of twelve corner values, sixteen chosen pairs, and random
//! values; a third operand cycles through the corners. Forms with one operand get more corners
//! instead.

mod forms;
mod memory;
mod print;
mod tables;
mod warp;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use simt_core::Program;
use simt_core::isa::Isa;

use super::support;

/// Where the programs are.
const FOLDER: &str = "tests/truth";

/// Returns every program by file name.
fn programs() -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    for (name, page) in forms::pages() {
        all.insert(name.to_string(), page.print());
    }
    for (name, text) in memory::programs().into_iter().chain(warp::programs()) {
        all.insert(name.to_string(), text);
    }
    all
}

/// The files of the folder.
fn files() -> Vec<PathBuf> {
    super::enter_repository();
    support::files(FOLDER, &["ptx"])
}

#[test]
fn the_committed_truth_programs_are_the_generated_ones() {
    super::enter_repository();
    let bless = std::env::var_os("BLESS").is_some_and(|v| v != "0");
    let mut stale = Vec::new();
    for (name, text) in programs() {
        let program = Program::parse(&name, &text);
        assert!(program.is_sound(), "{}", support::rendered(&program, &program.findings));
        let path = PathBuf::from(FOLDER).join(format!("{name}.ptx"));
        let committed = fs::read_to_string(&path).unwrap_or_default().replace("\r\n", "\n");
        if committed != text {
            if bless {
                fs::write(&path, text).expect("a writable file");
            } else {
                stale.push(name);
            }
        }
    }
    assert!(
        stale.is_empty(),
        "{stale:?} are out of date: BLESS=1 cargo test -p simt-core truth, then record them again"
    );
    let names: BTreeSet<String> =
        files().iter().filter_map(|p| Some(p.file_stem()?.to_str()?.to_string())).collect();
    assert_eq!(
        names,
        programs().into_keys().collect::<BTreeSet<_>>(),
        "files that nothing generates"
    );
}

/// Rows without their own truth program, with the reason.
const ELSEWHERE: &[(&str, &str)] = &[
    ("bra", "control flow: every program under programs/ has it"),
    ("brx.idx", "programs/small/jump_table.ir"),
    ("call", "programs/small/recursion.ir"),
    ("st{.weak}.(param", "arguments of calls: programs/small/recursion.ir"),
    ("ret", "every program ends so"),
    ("exit", "programs/small/barrier_after_exit.ir"),
    ("trap", "ends the program"),
    ("nanosleep", "only time passes"),
    ("membar", "leaves no value"),
    ("fence", "leaves no value"),
    ("cp.async", "programs/small/double_buffer.ir"),
    ("cp.async.bulk", "tests/observations/h200/forms"),
    ("cp.reduce", "tests/observations/h200/forms"),
    ("mbarrier", "a state is opaque; crates/core/tests/model/mbarrier.rs"),
    ("griddepcontrol", "leaves no value"),
    ("mma", "tests/observations/h200/tensor.txt"),
    ("wmma", "tests/observations/h200/tensor.txt"),
    ("ldmatrix", "tests/observations/h200/tensor.txt"),
    ("stmatrix", "tests/observations/h200/tensor.txt"),
    ("movmatrix", "tests/observations/h200/tensor.txt"),
    ("cvt.rn.satfinite{.relu}.(e4m3x2", "tests/observations/h200/tensor.txt"),
    ("cvt.rn{.relu}.f16x2.(e4m3x2", "tests/observations/h200/tensor.txt"),
    ("cvt.rna", "tests/observations/h200/tensor.txt"),
    ("cvt.(rn|rz){.relu}.tf32", "tests/observations/h200/tensor.txt"),
    ("tex.", "tests/observations/h200/textures.txt"),
    ("tld4", "as tex"),
    ("txq", "as tex"),
    ("suld", "tests/textures; an H200 gave the same bytes (`docs/calibration.md`)"),
    ("sust", "as suld"),
    ("sured", "as suld"),
    ("suq", "as suld"),
    ("alloca", "gives an address; tests/memory/stack.ir"),
    ("stacksave", "as alloca"),
    ("stackrestore", "as alloca"),
    ("atom{.<atom_order>}{.<scope>}{.global}.exch.b128", "tests/memory/quads.ir"),
    ("atom{.<atom_order>}{.<scope>}{.global}.cas.b128", "tests/memory/quads.ir"),
    ("atom{.<atom_order>}{.<scope>}.<shared>.exch.b128", "tests/memory/quads.ir"),
    ("atom{.<atom_order>}{.<scope>}.<shared>.cas.b128", "tests/memory/quads.ir"),
    ("createpolicy", "a policy is opaque"),
    ("atom{.<atom_order>}{.<scope>}{.global}.add.(v2|v4)", "vectors.rs; not recorded on a GPU"),
    ("atom{.<atom_order>}{.<scope>}{.global}.(add|min|max).noftz.(v2|v4", "as atom.add.v2"),
    ("red{.<red_order>}{.<scope>}{.global}.add.(v2|v4)", "as atom.add.v2"),
    ("red{.<red_order>}{.<scope>}{.global}.(add|min|max).noftz.(v2|v4", "as atom.add.v2"),
    ("ld.volatile.local", "tests/forms.ir; not recorded on a GPU"),
    ("st.volatile.local", "tests/forms.ir; not recorded on a GPU"),
    ("bar.warp", "programs/small/warp_sync_reduction.ir"),
    (
        "ex2.approx.(f16",
        "approximate, and buffers have no 16-bit float elements to measure the distance with",
    ),
    ("ex2.approx.ftz.(bf16", "as ex2.approx.f16"),
    ("tanh.approx.(f16", "as ex2.approx.f16"),
    ("sub.(u16x2", "NVIDIA's assembler has no such form"),
    ("wgmma", "warpgroup.rs, with sums of an H200"),
    ("setmaxnreg", "a hint"),
    ("prefetch", "a hint"),
    ("applypriority", "a hint"),
    ("discard", "leaves undefined values"),
    ("brkpt", "for debuggers"),
    ("pmevent", "for profilers"),
    ("cvta", "gives an address, which a GPU chooses otherwise"),
];

#[test]
fn every_row_is_in_a_truth_program_or_is_said_to_be_elsewhere() {
    let isa = Isa::ptx();
    let mut used = BTreeSet::new();
    for path in files() {
        let text = fs::read_to_string(&path).expect("a readable file");
        for mnemonic in text
            .lines()
            .filter_map(|line| line.split_whitespace().find(|word| !word.starts_with('@')))
        {
            used.extend(isa.lookup(mnemonic.trim_end_matches(';')).map(|found| found.index));
        }
    }
    let is_elsewhere = |syntax: &str| ELSEWHERE.iter().any(|(start, _)| syntax.starts_with(start));
    let rows = isa.rows().iter().enumerate();
    let missing: Vec<&str> = rows
        .filter(|(index, row)| !used.contains(&(*index as u16)) && !is_elsewhere(&row.syntax))
        .map(|(_, row)| row.syntax.as_str())
        .collect();
    assert!(missing.is_empty(), "no truth program has\n{}", missing.join("\n"));
}
