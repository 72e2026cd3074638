//! Matrix products of warpgroups: cycles of a GPU and of the model.
//!
//! `tests/observations/h200/products` has the source, its listing, and the cycles.

use std::fs;

use simt_core::Program;

use crate::spans::{Compared, left, words};

const FOLDER: &str = "tests/observations/h200/products";

#[test]
fn products_of_warpgroups_take_a_gpus_cycles() {
    let path = format!("{FOLDER}/products.sass");
    let program = Program::parse(&path, &fs::read_to_string(&path).expect("a listing"));
    let table = fs::read_to_string(format!("{FOLDER}/products.csv")).expect("a table");
    let mut compared = Compared::default();
    for row in table.lines().skip(1) {
        let [kernel, threads, issued, done] = row.split(',').collect::<Vec<_>>()[..] else {
            panic!("{row}")
        };
        let threads: u32 = threads.parse().expect(row);
        let launch = left(&program, Some(kernel), (1, threads), &[]);
        let warps = threads as usize / 32;
        let mean = |of: usize| {
            let times = words(&launch, "t").iter().skip(of).step_by(2).take(warps);
            times.map(|&cycles| f64::from(cycles)).sum::<f64>() / warps as f64
        };
        for (what, measured, found) in [("issued", issued, mean(0)), ("done", done, mean(1))] {
            let measured: f64 = measured.parse().expect(row);
            let error = 100.0 * (found / measured - 1.0);
            let row = format!(
                "{what:7}{kernel:20}{threads:4} {measured:6.0} {found:6.0} {error:+6.1} %\n"
            );
            compared.add(&row, error.abs());
        }
    }
    compared.check(60, [("issued", 6.5), ("done", 3.2)].into_iter());
}
