//! Units that many warps share: atomic units of L2, the way to them, and an SM's unit of jumps
//! through registers. A GPU's cycles and the model's.
//!
//! `tests/observations/h200/units` has the source, its listing, and the cycles.

use std::fs;

use simt_core::Program;

use crate::spans::{Compared, left, mean_in, words};

const FOLDER: &str = "tests/observations/h200/units";
/// Limits of mean errors in percent: prefix of kernel names, all launches, every twelfth launch.
/// The simulated wait of a load behind few reductions is too short.
const MEANS: [(&str, f64, f64); 9] = [
    ("s32_add", 1.7, 1.5),
    ("u64_add", 2.3, 2.4),
    ("f32_add", 3.9, 2.9),
    ("f64_add", 4.7, 3.8),
    ("s32_cas", 3.3, 1.4),
    ("s32_random", 3.1, 4.4),
    ("f64_random", 6.8, 10.3),
    ("behind", 22.0, 27.1),
    ("call", 3.4, 2.4),
];

/// Compares every launch that `takes`, given its number.
fn compared(takes: impl Fn(usize) -> bool) -> Compared {
    let path = format!("{FOLDER}/units.sass");
    let program = Program::parse(&path, &fs::read_to_string(&path).expect("a listing"));
    let table = fs::read_to_string(format!("{FOLDER}/units.csv")).expect("a table");
    let mut compared = Compared::default();
    for (_, row) in table.lines().skip(1).enumerate().filter(|&(number, _)| takes(number)) {
        let (kernel, numbers) = row.split_once(',').expect(row);
        let numbers: Vec<&str> = numbers.split(',').collect();
        let [blocks, threads, word, sectors, lanes, rounds, mean, slowest] = numbers[..] else {
            panic!("{row}")
        };
        let [blocks, threads] = [blocks, threads].map(|number| number.parse().expect(row));
        let set = [("words", word), ("sectors", sectors), ("lanes", lanes), ("rounds", rounds)];
        let done = left(&program, Some(kernel), (blocks, threads), &set);
        let warps = blocks * threads / 32;
        let (measured, found): (f64, f64) = match kernel {
            "behind" => (mean.parse().expect(row), mean_in(&done, warps, 0)),
            _ => {
                let times = words(&done, "t").iter().step_by(2).take(warps as usize);
                (slowest.parse().expect(row), times.copied().max().unwrap_or(0).into())
            }
        };
        let error = 100.0 * (found / measured - 1.0);
        compared.add(&format!("{row:48} {found:9.0} {error:+6.1} %\n"), error.abs());
    }
    compared
}

#[test]
fn units_that_warps_share_take_a_gpus_cycles() {
    let some = compared(|number| number % 12 == 5);
    some.check(25, MEANS.iter().map(|&(name, _, most)| (name, most)));
}

#[test]
#[ignore = "two minutes: 300 launches"]
fn all_units_that_warps_share_take_a_gpus_cycles() {
    compared(|_| true).check(300, MEANS.iter().map(|&(name, most, _)| (name, most)));
}
