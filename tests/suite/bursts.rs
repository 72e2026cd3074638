//! Bursts of accesses that the load/store unit serves slowly: the cycles in which a warp issues
//! them show how many the unit and the schedulers hold. A GPU's and the model's.
//!
//! `tests/observations/h200/bursts` has the source, its listing, and in `bursts.csv` the cycles: the
//! mean of the block's warps on an H100.

use std::fs;

use simt_core::launch::Overrides;
use simt_core::machine::Options;
use simt_core::spec::{Machine, Mode};
use simt_core::{Job, Program};
use simt_report::simulate::simulate;

const FOLDER: &str = "tests/observations/h200/bursts";
/// Mean error of all bursts, in percent.
const MEAN: f64 = 9.0;

/// Returns the mean cycles in which the warps of a block issue the burst of a kernel.
fn burst(program: &Program, kernel: &str, block: u32) -> f64 {
    let kernel = program.kernel(Some(kernel)).unwrap_or_else(|e| panic!("{kernel}: {e:?}"));
    let overrides = Overrides { block: Some([block, 1, 1]), ..Overrides::default() };
    let launch = program
        .launch(kernel, &overrides, &|_, _| Err("no files".into()))
        .unwrap_or_else(|e| panic!("{e:?}"));
    let machine = Machine::preset("h200").expect("a machine");
    let options = Options::of(&machine, Mode::Volta);
    let done = simulate(Job::new(program, kernel, launch, &machine, options), &())
        .unwrap_or_else(|e| panic!("{e}"));
    let t = done.launch.buffers.iter().find(|b| b.name == "t").expect("the cycles");
    let warps = block as usize / 32;
    (0..warps).map(|warp| f64::from(t.words[2 * warp])).sum::<f64>() / warps as f64
}

#[test]
fn bursts_issue_as_on_a_gpu() {
    let path = format!("{FOLDER}/bursts.sass");
    let program = Program::parse(&path, &fs::read_to_string(&path).expect("a listing"));
    let text = fs::read_to_string(format!("{FOLDER}/bursts.csv")).expect("cycles");
    let (mut errors, mut table) = (Vec::new(), String::new());
    for row in text.lines().skip(1) {
        let [kernel, block, cycles]: [&str; 3] =
            row.split(',').collect::<Vec<_>>().try_into().expect(row);
        let measured: f64 = cycles.parse().expect(row);
        let simulated = burst(&program, kernel, block.parse().expect(row));
        let error = 100.0 * (simulated / measured - 1.0);
        table += &format!("{kernel:10} {block:>4} {measured:8.1} {simulated:8.1} {error:+6.1} %\n");
        errors.push(error.abs());
    }
    let mean = errors.iter().sum::<f64>() / errors.len() as f64;
    assert!(errors.len() >= 18 && mean <= MEAN, "mean error {mean:.1} %\n{table}");
}
