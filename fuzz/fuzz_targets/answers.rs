#![no_main]
//! `cargo +nightly fuzz run answers`

mod edits;

use libfuzzer_sys::{fuzz_mutator, fuzz_target};

fuzz_target!(|data: &[u8]| simt_sim_fuzz::answers(data));
fuzz_mutator!(|data: &mut [u8], size: usize, most: usize, seed: u32| { edits::mutated(data, size, most, seed) });
