//! Intrinsics on parts of words in machine code: what an H200 computed.
//! `tests/observations/h200/simd` has source, listing and outputs.

use std::fs;

use simt_core::Program;
use simt_core::launch::Overrides;

use crate::spans::{digest, simulated};

const FOLDER: &str = "tests/observations/h200/simd";

#[test]
fn intrinsics_on_parts_of_words_give_the_bits_of_a_gpu() {
    let text = |file: &str| fs::read_to_string(format!("{FOLDER}/{file}")).expect(file);
    let program = Program::parse("simd.sass", &text("simd.sass"));
    let outputs = text("outputs.csv");
    let outputs: Vec<_> = outputs.lines().skip(1).filter_map(|row| row.split_once(',')).collect();
    assert_eq!(outputs.len(), 14);
    for (name, hash) in outputs {
        let done = simulated(&program, Some(name), &Overrides::default());
        assert_eq!(digest(&done.launch.buffers), hash, "{name}");
    }
}
