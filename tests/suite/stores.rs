//! Stores that join others in an SM: the sectors that leave an H200's, and the model's.
//!
//! `tests/observations/h200/stores` has the sources, their listings, and in `stores.csv` the
//! sectors that each launch stores, and those that leave the SM in two launches on the GPU.
//! `loops.csv` has the cycles of loops, too.

use std::fs;

use simt_core::Program;
use simt_core::launch::Overrides;
use simt_report::simulate::Simulation;

use crate::spans::{mean_in, simulated};

const FOLDER: &str = "tests/observations/h200/stores";
/// Launches, those with a GPU's sectors, and the mean error of all in percent of what is stored.
///
/// The others are stores whose distance is close to that at which the lines leave, and stores to
/// one line by eight and more warps: the GPU lets more of these leave.
const EXACT: (usize, usize, f64) = (107, 90, 2.4);
/// Lanes and words between them of the loops that the model was made from.
const SEEN: [(u32, u32); 6] = [(1, 32), (16, 2), (32, 1), (32, 8), (8, 32), (32, 2)];
/// Loops with these and with others: launches, and mean errors in percent of the cycles and of the
/// sectors stored.
const LOOPS: [(usize, f64, f64); 2] = [(360, 3.3, 3.3), (420, 2.5, 3.0)];

fn text(file: &str) -> String {
    fs::read_to_string(format!("{FOLDER}/{file}")).expect(file)
}

/// Returns the sectors that leave the SM.
fn left_of(done: &Simulation) -> u32 {
    let metric = |name: &'static str| done.run.metrics.get(&name).expect(name).as_f64() as u32;
    metric("l2_write_transactions") - metric("l2_crossed_sectors")
}

#[test]
fn stores_that_join_others_leave_once() {
    let program = Program::parse("stores.sass", &text("stores.sass"));
    let (mut launches, mut exact, mut errors) = (0, 0, 0.0);
    let mut table = String::new();
    for row in text("stores.csv").lines().skip(1) {
        let [name, counts @ ..]: [&str; 5] =
            row.split(',').collect::<Vec<_>>().try_into().expect(row);
        let [threads, stored, a, b] = counts.map(|count| count.parse::<u32>().expect(row));
        let set = vec![("block".to_owned(), threads.to_string())];
        let done = simulated(&program, Some(name), &Overrides { set, ..Overrides::default() });
        let stores = done.run.metrics.get(&"gst_transactions").expect("a metric").as_f64() as u32;
        assert_eq!(stores, stored, "{name}");
        let left = left_of(&done);
        let error = if left < a.min(b) { a.min(b) - left } else { left.saturating_sub(a.max(b)) };
        (launches, exact) = (launches + 1, exact + usize::from(error == 0));
        errors += 100.0 * f64::from(error) / f64::from(stored);
        table += &format!("{name:>16} {threads:>4} {stored:>5} {a:>5} {b:>5} {left:>5}\n");
    }
    let found = (launches, exact, errors / launches as f64);
    assert!(found.0 == EXACT.0 && found.1 >= EXACT.1 && found.2 <= EXACT.2, "{found:?}\n{table}");
}

#[test]
fn lines_that_are_stored_again_take_a_gpus_cycles() {
    let program = Program::parse("loops.sass", &text("loops.sass"));
    let mut sums = [(0, 0.0, 0.0); 2];
    let mut table = String::new();
    for row in text("loops.csv").lines().skip(1) {
        let [name, block, lanes, words, cycles, left]: [&str; 6] =
            row.split(',').collect::<Vec<_>>().try_into().expect(row);
        let [threads, lanes, words, left] =
            [block, lanes, words, left].map(|count| count.parse::<u32>().expect(row));
        let cycles: f64 = cycles.parse().expect(row);
        let set = [("block", threads), ("lanes", lanes), ("words", words)];
        let set = set.map(|(name, value)| (name.to_owned(), value.to_string())).to_vec();
        let done = simulated(&program, Some(name), &Overrides { set, ..Overrides::default() });
        let stored = done.run.metrics.get(&"gst_transactions").expect("a metric").as_f64();
        let sectors = left_of(&done);
        let found = mean_in(&done, threads / 32, 0);
        let in_cycles = 100.0 * (found / cycles - 1.0);
        let in_sectors = 100.0 * (f64::from(sectors) - f64::from(left)) / stored;
        let sum = &mut sums[usize::from(!SEEN.contains(&(lanes, words)))];
        *sum = (sum.0 + 1, sum.1 + in_cycles.abs(), sum.2 + in_sectors.abs());
        table +=
            &format!("{row:36} {found:8.1} {in_cycles:+6.1} %, {sectors:6} {in_sectors:+6.1} %\n");
    }
    let found = sums.map(|(n, a, b)| (n, a / n as f64, b / n as f64));
    let within = found.iter().zip(LOOPS).all(|(found, expected)| {
        found.0 == expected.0 && found.1 <= expected.1 && found.2 <= expected.2
    });
    assert!(within, "{found:.2?}\n{table}");
}
