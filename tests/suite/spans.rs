//! Spans of machine code whose control words are known, between two reads of the clock: an H200's
//! and the model's.
//!
//! `tests/observations/h200/spans` has the listings, and in `spans.csv` the cycles: the mean of the
//! block's warps in the fourth of four rounds, less the 2 cycles of the clock itself.
//! `shared_queue` loads from address 0 on, where a GPU has reserved bytes that can be read; here its
//! shared memory begins there.

use std::fs;

use simt_core::launch::Overrides;
use simt_core::machine::Options;
use simt_core::spec::{Machine, Mode};
use simt_core::{Job, Program};
use simt_report::simulate::simulate;

const FOLDER: &str = "tests/observations/h200/spans";
/// Words of the output that a round takes.
const ROUND: usize = 4096;
/// Mean error of all spans, in percent. Most of it is of two: 16 loads of one warp (-44 %) and the
/// stores of four (+76 %). The others are 4 % off.
const MEAN: f64 = 11.0;

/// Returns the mean span of the warps of a block.
fn span(listing: &str, block: u32) -> f64 {
    let path = format!("{FOLDER}/{listing}.sass");
    let program = Program::parse(&path, &fs::read_to_string(&path).expect("a listing"));
    let kernel = program.kernel(None).unwrap_or_else(|e| panic!("{path}: {e:?}"));
    let overrides = Overrides { block: Some([block, 1, 1]), ..Overrides::default() };
    let launch = program
        .launch(kernel, &overrides, &|_, _| Err("no files".into()))
        .unwrap_or_else(|e| panic!("{path}: {e:?}"));
    let machine = Machine::preset("h200").expect("a machine");
    let options = Options::of(&machine, Mode::Volta);
    let done = simulate(Job::new(&program, kernel, launch, &machine, options), &())
        .unwrap_or_else(|e| panic!("{path}: {e}"));
    let out = done.launch.buffers.iter().find(|b| b.name == "out").expect("an output");
    // Two words a thread; lane 0 of each warp stores the clock before and after.
    let warps = block as usize / 32;
    let spans = (0..warps).map(|warp| {
        let at = 3 * ROUND + 64 * warp;
        f64::from(out.words[at + 1].wrapping_sub(out.words[at])) - 2.0
    });
    spans.sum::<f64>() / warps as f64
}

#[test]
fn spans_of_known_control_words_are_the_gpus() {
    let text = fs::read_to_string(format!("{FOLDER}/spans.csv")).expect("spans");
    let (mut errors, mut table) = (Vec::new(), String::new());
    for row in text.lines().skip(1) {
        let [listing, block, cycles]: [&str; 3] =
            row.split(',').collect::<Vec<_>>().try_into().expect(row);
        let measured: f64 = cycles.parse().expect(row);
        let simulated = span(listing, block.parse().expect(row));
        let error = 100.0 * (simulated / measured - 1.0);
        table +=
            &format!("{listing:16} {block:>4} {measured:7.1} {simulated:7.1} {error:+6.1} %\n");
        errors.push(error.abs());
    }
    assert!(errors.len() >= 16, "{} spans", errors.len());
    let mean = errors.iter().sum::<f64>() / errors.len() as f64;
    assert!(mean <= MEAN, "mean error {mean:.1} %\n{table}");
}
