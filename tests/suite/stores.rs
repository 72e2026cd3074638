//! Stores that join others in an SM: the sectors that leave an H200's, and the model's.
//!
//! `tests/observations/h200/stores` has the source, its listing, and in `stores.csv` the sectors
//! that each launch stores, and those that leave the SM in two launches on the GPU.

use std::fs;

use simt_core::Program;
use simt_core::launch::Overrides;

use crate::spans::simulated;

const FOLDER: &str = "tests/observations/h200/stores";
/// Launches, those with a GPU's sectors, and the mean error of all in percent of what is stored.
///
/// The others are stores whose distance is close to that at which the lines leave, and stores to
/// one line by eight and more warps: the GPU lets more of these leave.
const EXACT: (usize, usize, f64) = (107, 87, 3.7);

#[test]
fn stores_that_join_others_leave_once() {
    let text = |file: &str| fs::read_to_string(format!("{FOLDER}/{file}")).expect(file);
    let program = Program::parse("stores.sass", &text("stores.sass"));
    let (mut launches, mut exact, mut errors) = (0, 0, 0.0);
    let mut table = String::new();
    for row in text("stores.csv").lines().skip(1) {
        let [name, counts @ ..]: [&str; 5] =
            row.split(',').collect::<Vec<_>>().try_into().expect(row);
        let [threads, stored, a, b] = counts.map(|count| count.parse::<u32>().expect(row));
        let set = vec![("block".to_owned(), threads.to_string())];
        let done = simulated(&program, Some(name), &Overrides { set, ..Overrides::default() });
        let metric =
            |name: &'static str| done.run.metrics.get(&name).expect("a metric").as_f64() as u32;
        assert_eq!(metric("gst_transactions"), stored, "{name}");
        let left = metric("l2_write_transactions") - metric("l2_crossed_sectors");
        let error = if left < a.min(b) { a.min(b) - left } else { left.saturating_sub(a.max(b)) };
        (launches, exact) = (launches + 1, exact + usize::from(error == 0));
        errors += 100.0 * f64::from(error) / f64::from(stored);
        table += &format!("{name:>16} {threads:>4} {stored:>5} {a:>5} {b:>5} {left:>5}\n");
    }
    let found = (launches, exact, errors / launches as f64);
    assert!(found.0 == EXACT.0 && found.1 >= EXACT.1 && found.2 <= EXACT.2, "{found:?}\n{table}");
}
