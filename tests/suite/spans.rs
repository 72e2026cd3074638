//! Spans of machine code whose control words are known, between two reads of the clock: an H200's
//! and the model's.
//!
//! `tests/observations/h200/spans` has the listings, and in `spans.csv` the cycles: the mean of the
//! block's warps in the fourth of four rounds, less the 2 cycles of the clock itself.
//! `shared_queue` loads from address 0 on, where a GPU has reserved bytes that can be read; here
//! its shared memory begins there.

use std::fs;

use simt_core::launch::{Buffer, Overrides};
use simt_core::machine::Options;
use simt_core::spec::{Machine, Mode};
use simt_core::{Job, Program};
use simt_report::simulate::{Simulation, simulate};

const FOLDER: &str = "tests/observations/h200/spans";
/// Words of the output that a round takes.
const ROUND: usize = 4096;
/// Mean error of all spans, in percent. Most of it is of two: 16 loads of one warp (-44 %) and the
/// stores of four (+76 %). The others are 4 % off.
const MEAN: f64 = 11.0;

/// Cycles of some launches, a GPU's and the model's.
#[derive(Default)]
pub(crate) struct Compared {
    /// Absolute errors in percent.
    errors: Vec<f64>,
    /// A line for each launch.
    pub table: String,
}

impl Compared {
    pub(crate) fn add(&mut self, row: &str, error: f64) {
        self.table += row;
        self.errors.push(error);
    }

    /// Returns the launches of kernels whose names begin with `prefix`.
    pub(crate) fn of(&self, prefix: &str) -> Compared {
        let mut of = Compared::default();
        for (row, error) in self.table.split_inclusive('\n').zip(&self.errors) {
            if row.starts_with(prefix) {
                of.add(row, *error);
            }
        }
        of
    }

    /// Returns the number of launches.
    pub(crate) fn len(&self) -> usize {
        self.errors.len()
    }

    /// Returns the mean of the absolute errors in percent.
    pub(crate) fn mean(&self) -> f64 {
        self.errors.iter().sum::<f64>() / self.errors.len() as f64
    }

    /// Panics unless there are `least` launches, and the mean error of the kernels whose names
    /// begin with each prefix is within its limit, in percent.
    pub(crate) fn check(&self, least: usize, limits: impl Iterator<Item = (&'static str, f64)>) {
        let found: Vec<_> = limits.map(|(prefix, most)| (prefix, self.of(prefix), most)).collect();
        let means: Vec<_> =
            found.iter().map(|(prefix, of, _)| format!("{prefix} {:.1}", of.mean())).collect();
        let holds = found.iter().all(|(_, of, most)| of.mean() <= *most);
        assert!(self.len() >= least && holds, "{}\n{}", means.join(", "), self.table);
    }
}

/// Compares the rows `name,block,cycles` of a file, after its heading, with
/// `simulated(name, block)`.
pub(crate) fn compare(path: &str, simulated: impl Fn(&str, u32) -> f64) -> Compared {
    let text = fs::read_to_string(path).unwrap_or_else(|e| panic!("{path}: {e}"));
    let mut compared = Compared::default();
    for row in text.lines().skip(1) {
        let [name, block, cycles]: [&str; 3] =
            row.split(',').collect::<Vec<_>>().try_into().expect(row);
        let measured: f64 = cycles.parse().expect(row);
        let simulated = simulated(name, block.parse().expect(row));
        let error = 100.0 * (simulated / measured - 1.0);
        let row = format!("{name:16} {block:>4} {measured:8.1} {simulated:8.1} {error:+6.1} %\n");
        compared.add(&row, error.abs());
    }
    compared
}

/// Returns the mean of the cycles that the warps of a launch leave at `t[2 * warp]`.
pub(crate) fn mean_cycles(path: &str, kernel: &str, launch: (u32, u32)) -> f64 {
    mean_left(path, kernel, launch, &[], 0)
}

/// Returns the mean of what the warps of a launch, with the constants of `set`, leave at
/// `t[2 * warp + word]`.
pub(crate) fn mean_left(
    path: &str,
    kernel: &str,
    (blocks, threads): (u32, u32),
    set: &[(&str, &str)],
    word: usize,
) -> f64 {
    let program = Program::parse(path, &fs::read_to_string(path).expect("a listing"));
    mean_of(&program, kernel, (blocks, threads), set, word)
}

/// The same of a program.
pub(crate) fn mean_of(
    program: &Program,
    kernel: &str,
    (blocks, threads): (u32, u32),
    set: &[(&str, &str)],
    word: usize,
) -> f64 {
    mean_in(&left(program, Some(kernel), (blocks, threads), set), blocks * threads / 32, word)
}

/// Returns the mean of what the warps of a run left at `t[2 * warp + word]`.
pub(crate) fn mean_in(done: &Simulation, warps: u32, word: usize) -> f64 {
    let t = words(done, "t");
    let values = (0..warps as usize).map(|warp| f64::from(t[2 * warp + word]));
    values.sum::<f64>() / f64::from(warps)
}

/// Returns the words of a buffer after a run.
pub(crate) fn words<'a>(done: &'a Simulation, buffer: &str) -> &'a [u32] {
    &done.launch.buffers.iter().find(|b| b.name == buffer).expect("a buffer").words
}

/// Runs a kernel of a program with `blocks` of `threads` on `h200`; `set` are constants with their
/// values.
pub(crate) fn left(
    program: &Program,
    kernel: Option<&str>,
    (blocks, threads): (u32, u32),
    set: &[(&str, &str)],
) -> Simulation {
    let overrides = Overrides {
        grid: Some([blocks, 1, 1]),
        block: Some([threads, 1, 1]),
        set: set.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect(),
        ..Overrides::default()
    };
    simulated(program, kernel, &overrides)
}

/// Runs a kernel on `h200`.
pub(crate) fn simulated(
    program: &Program,
    kernel: Option<&str>,
    overrides: &Overrides,
) -> Simulation {
    let machine = Machine::preset("h200").expect("a machine");
    simulated_on(&machine, program, kernel, overrides)
}

/// Runs a kernel on a machine.
pub(crate) fn simulated_on(
    machine: &Machine,
    program: &Program,
    kernel: Option<&str>,
    overrides: &Overrides,
) -> Simulation {
    let path = &program.name;
    let kernel = program.kernel(kernel).unwrap_or_else(|e| panic!("{path}: {e:?}"));
    let launch = program
        .launch(kernel, overrides, &|_, _| Err("no files".into()))
        .unwrap_or_else(|e| panic!("{path}: {e:?}"));
    let options = Options::of(machine, Mode::Volta);
    simulate(Job::new(program, kernel, launch, machine, options), &())
        .unwrap_or_else(|e| panic!("{path}: {e}"))
}

/// Returns the digest of the buffer `out`, as in recorded outputs.
pub(crate) fn digest(buffers: &[Buffer]) -> String {
    let out = buffers.iter().find(|buffer| buffer.name == "out").expect("a buffer");
    out.words.iter().fold(0_u32, |h, word| h.wrapping_mul(31).wrapping_add(*word)).to_string()
}

/// Returns the mean span of the warps of a block.
fn span(listing: &str, block: u32) -> f64 {
    let path = format!("{FOLDER}/{listing}.sass");
    let program = Program::parse(&path, &fs::read_to_string(&path).expect("a listing"));
    let done = left(&program, None, (1, block), &[]);
    let out = words(&done, "out");
    // Two words a thread; lane 0 of each warp stores the clock before and after.
    let warps = block as usize / 32;
    let spans = (0..warps).map(|warp| {
        let at = 3 * ROUND + 64 * warp;
        f64::from(out[at + 1].wrapping_sub(out[at])) - 2.0
    });
    spans.sum::<f64>() / warps as f64
}

#[test]
fn spans_of_known_control_words_are_the_gpus() {
    let spans = compare(&format!("{FOLDER}/spans.csv"), span);
    assert!(spans.len() >= 16, "{} spans", spans.len());
    assert!(spans.mean() <= MEAN, "mean error {:.1} %\n{}", spans.mean(), spans.table);
}
