//! Every instruction form against an independent expectation.

mod approx;
mod atomic;
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

use expected::Expected;
use harness::Case;

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
    elementwise::check("Integer arithmetic", |_| true);
}

#[test]
fn float_arithmetic_of_32_bits() {
    elementwise::check("Floating point", |form| form.syntax.ends_with("f32"));
}

#[test]
fn float_arithmetic_of_64_bits() {
    elementwise::check("Floating point", |form| form.syntax.ends_with("f64"));
}

#[test]
fn comparison_and_selection() {
    elementwise::check("Comparison and selection", |_| true);
}

#[test]
fn logic_and_shift() {
    elementwise::check("Logic and shift", |_| true);
}

#[test]
fn conversion() {
    elementwise::check("Data movement and conversion", |_| true);
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
