//! Every instruction form against an independent expectation.

mod approx;
mod atomic;
mod carry;
mod compare;
mod convert;
mod elementwise;
mod exact;
mod expected;
mod float;
mod harness;
mod inputs;
mod integer;
mod memory;
mod mnemonics;
mod moves;
mod warp;

use std::collections::BTreeSet;

use simt_core::isa::{Class, Form, Isa, Sem};

use expected::Expected;
use harness::{Case, lookup};

/// Meanings that direct threads instead of computing, and where they are tested.
const ELSEWHERE: [(&str, &[Sem]); 14] = [
    (
        "tests/programs.rs runs programs/small, which branch, return and sleep",
        &[Sem::Branch, Sem::Exit, Sem::Sleep],
    ),
    (
        "programs/small with calls and tables of branches",
        &[Sem::BranchIndex, Sem::Call, Sem::Return],
    ),
    (
        "programs/small/barrier_*.ir and src/exec/tests.rs",
        &[Sem::BarrierSync, Sem::BarrierArrive, Sem::BarrierRed, Sem::WarpSync],
    ),
    (
        "nothing to see: memory is always in order, and a trap ends the run (src/exec/tests.rs)",
        &[Sem::Fence, Sem::Trap],
    ),
    ("mbarrier.rs", &[Sem::MBarrier, Sem::PendingCount]),
    (
        "tensor.rs",
        &[
            Sem::Mma,
            Sem::FragmentLoad,
            Sem::FragmentStore,
            Sem::MatrixLoad,
            Sem::MatrixStore,
            Sem::MatrixTranspose,
            Sem::CvtTensor,
        ],
    ),
    ("warpgroup.rs", &[Sem::GroupMma, Sem::GroupSync]),
    ("copies.rs", &[Sem::AsyncCopy, Sem::CopyGroups]),
    ("bulk.rs", &[Sem::BulkCopy, Sem::BulkReduce]),
    (
        "tests/textures, which tests/suite/textures.rs runs",
        &[Sem::Texture, Sem::ImageQuery, Sem::SurfaceLoad, Sem::SurfaceStore, Sem::SurfaceReduce],
    ),
    ("vectors.rs", &[Sem::AtomicVector]),
    ("video.rs", &[Sem::Video]),
    (
        "tests/memory, which tests/suite/memory.rs runs",
        &[Sem::Alloca, Sem::StackSave, Sem::StackRestore],
    ),
    ("nothing to see: the model has no use for a hint", &[Sem::Hint, Sem::Policy]),
];

/// Returns the rows that a test of this module runs.
fn covered() -> BTreeSet<u16> {
    let special = exactly(moves::cases())
        .into_iter()
        .chain(exactly(memory::cases()))
        .chain(exactly(carry::cases()));
    let special = special.chain(atomic::cases()).chain(warp::cases());
    let subjects = special.flat_map(|(case, _)| case.subjects);
    let mut rows: BTreeSet<u16> = subjects.map(|subject| lookup(&subject).index).collect();
    let groups = Isa::ptx().groups().iter().filter(|g| ELEMENTWISE.contains(&g.title.as_str()));
    for row in groups.flat_map(|g| g.rows.clone()) {
        if elementwise::covers(&Isa::ptx().rows()[row]) {
            rows.insert(row as u16);
        }
    }
    rows
}

#[test]
fn every_row_that_computes_is_held_against_an_expectation() {
    let covered = covered();
    // Arguments of calls are tested with calls.
    let argument = |form: &Form| form.sem == Sem::Store && form.class == Class::Move;
    let elsewhere =
        |form: &Form| argument(form) || ELSEWHERE.iter().any(|(_, sems)| sems.contains(&form.sem));
    let missing: Vec<&str> = Isa::ptx()
        .rows()
        .iter()
        .enumerate()
        .filter(|(i, form)| !covered.contains(&(*i as u16)) && !elsewhere(form))
        .map(|(_, form)| form.syntax.as_str())
        .collect();
    assert!(
        missing.is_empty(),
        "no test expects anything of these rows of isa/ptx.ron; give their opcode an oracle in crates/core/tests/model/forms/ \
         (integer, float, approx, compare or convert), written from the PTX manual and not from src/exec of the core, or a module like \
         carry.rs when one instruction alone shows nothing:\n{}",
        missing.join("\n")
    );
}

/// The table's groups whose rows compute lane by lane; each has a test below.
const ELEMENTWISE: [&str; 6] = [
    "Integer arithmetic",
    "Floating point",
    "Half precision",
    "Comparison and selection",
    "Logic and shift",
    "Data movement and conversion",
];

/// One operand of so many is tried in a usual run.
const FEW: usize = 6;

/// Runs programs and compares each cell they leave behind.
fn prove(cases: Vec<(Case, Vec<Expected>)>) {
    for (case, expected) in cases {
        for (i, (found, wanted)) in case.run().into_iter().zip(expected).enumerate() {
            assert!(
                wanted.admits(found),
                "{:?}: out[{i}] is {found:#x}, not {wanted:x?}\n{}",
                case.subjects,
                case.text
            );
        }
    }
}

fn exactly(cases: Vec<(Case, Vec<u64>)>) -> Vec<(Case, Vec<Expected>)> {
    let bits = |expected: Vec<u64>| expected.into_iter().map(Expected::Bits).collect();
    cases.into_iter().map(|(case, expected)| (case, bits(expected))).collect()
}

#[test]
fn integer_arithmetic() {
    elementwise::check("Integer arithmetic", |_| true, FEW);
}

#[test]
#[ignore = "long: all operands"]
fn long_integer_arithmetic() {
    elementwise::check("Integer arithmetic", |_| true, 1);
}

#[test]
fn float_arithmetic_of_up_to_32_bits() {
    elementwise::check("Floating point", |form| !form.syntax.ends_with("f64"), FEW);
}

#[test]
#[ignore = "long: all operands"]
fn long_float_arithmetic_of_up_to_32_bits() {
    elementwise::check("Floating point", |form| !form.syntax.ends_with("f64"), 1);
}

#[test]
fn float_arithmetic_of_64_bits() {
    elementwise::check("Floating point", |form| form.syntax.ends_with("f64"), FEW);
}

#[test]
#[ignore = "long: all operands"]
fn long_float_arithmetic_of_64_bits() {
    elementwise::check("Floating point", |form| form.syntax.ends_with("f64"), 1);
}

#[test]
fn comparison_and_selection() {
    elementwise::check("Comparison and selection", |_| true, FEW);
}

#[test]
#[ignore = "long: all operands"]
fn long_comparison_and_selection() {
    elementwise::check("Comparison and selection", |_| true, 1);
}

#[test]
fn logic_and_shift() {
    elementwise::check("Logic and shift", |_| true, FEW);
}

#[test]
#[ignore = "long: all operands"]
fn long_logic_and_shift() {
    elementwise::check("Logic and shift", |_| true, 1);
}

#[test]
fn conversion() {
    elementwise::check("Data movement and conversion", |_| true, FEW);
}

#[test]
#[ignore = "long: all operands"]
fn long_conversion() {
    elementwise::check("Data movement and conversion", |_| true, 1);
}

#[test]
fn moves_and_addresses() {
    prove(exactly(moves::cases()));
}

#[test]
fn loads_and_stores() {
    prove(exactly(memory::cases()));
}

#[test]
fn atomics() {
    prove(atomic::cases());
}

#[test]
fn lanes_of_a_warp() {
    prove(warp::cases());
}

#[test]
fn carry_chains() {
    prove(exactly(carry::cases()));
}

#[test]
fn half_precision() {
    elementwise::check("Half precision", |_| true, FEW);
}

#[test]
#[ignore = "long: all operands"]
fn long_half_precision() {
    elementwise::check("Half precision", |_| true, 1);
}
