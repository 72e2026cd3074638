//! Lanes of a warp that store to the same places: an H200 leaves the words of some of them.
//! `tests/observations/h200/winners` has source, listing and what it left.

use std::fs;

use simt_core::Program;
use simt_core::launch::Overrides;

use crate::spans::{digest, simulated};

const FOLDER: &str = "tests/observations/h200/winners";

#[test]
fn the_same_stores_win_as_on_a_gpu() {
    let [listing, left] = ["winners.sass", "winners.csv"]
        .map(|file| fs::read_to_string(format!("{FOLDER}/{file}")).expect(file));
    let program = Program::parse("winners.sass", &listing);
    let rows: Vec<_> = left.lines().skip(1).filter_map(|row| row.split_once(',')).collect();
    assert_eq!(rows.len(), 10);
    for (kernel, hash) in rows {
        let done = simulated(&program, Some(kernel), &Overrides::default());
        assert_eq!(digest(&done.launch.buffers), hash, "{kernel}");
    }
}
