//! Lanes of a warp that store or copy to the same places: an H200 leaves the words of some of them.
//! `tests/observations/h200/winners` has source, listing and what it left.

use std::fs;

use simt_core::Program;
use simt_core::launch::Overrides;

use crate::spans::{digest, simulated};

const FOLDER: &str = "tests/observations/h200/winners";

/// Runs the kernels of a listing, which must leave what a GPU left.
fn check(listing: &str, kernels: usize) {
    let [text, left] = ["sass", "csv"].map(|extension| {
        let path = format!("{FOLDER}/{listing}.{extension}");
        fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path}: {e}"))
    });
    let program = Program::parse(listing, &text);
    let rows: Vec<_> = left.lines().skip(1).filter_map(|row| row.split_once(',')).collect();
    assert_eq!(rows.len(), kernels);
    for (kernel, hash) in rows {
        let done = simulated(&program, Some(kernel), &Overrides::default());
        assert_eq!(digest(&done.launch.buffers), hash, "{kernel}");
    }
}

#[test]
fn the_same_stores_win_as_on_a_gpu() {
    check("winners", 10);
}

#[test]
fn the_same_copies_and_rows_win_as_on_a_gpu() {
    check("copies", 5);
}
