//! Times of bulk copies: a GPU's cycles and the model's.
//!
//! `tests/observations/h200/bulk` has the sources, their listings, and the cycles.

use std::fs;

use simt_core::Program;

use crate::spans::{Compared, left, words};

const FOLDER: &str = "tests/observations/h200/bulk";
/// Limits of mean errors in percent, by kernel.
const MEANS: [(&str, f64); 3] = [("load", 4.0), ("store", 3.0), ("sum", 3.0)];

#[test]
fn bulk_copies_take_a_gpus_cycles() {
    let path = format!("{FOLDER}/bulk.sass");
    let program = Program::parse(&path, &fs::read_to_string(&path).expect("a listing"));
    let table = fs::read_to_string(format!("{FOLDER}/bulk.csv")).expect("a table");
    let mut compared = Compared::default();
    for row in table.lines().skip(1) {
        let fields: Vec<&str> = row.split(',').collect();
        let [kernel, bytes, cycles] = fields[..] else { panic!("{row}") };
        let done = left(&program, Some(kernel), (1, 32), &[("bytes", bytes)]);
        // The first copy comes from DRAM.
        let found = f64::from(words(&done, "t")[11]);
        let error = 100.0 * (found / cycles.parse::<f64>().expect(row) - 1.0);
        compared.add(&format!("{row:24} {found:9.0} {error:+6.1} %\n"), error.abs());
    }
    compared.check(39, MEANS.into_iter());
}

/// Limits of mean errors of tiles in percent, by kernel.
const TILES: [(&str, f64); 3] = [("load", 4.0), ("store", 3.0), ("reduce", 2.0)];

#[test]
fn tiles_take_a_gpus_cycles() {
    let listing = |name: &str| {
        let path = format!("{FOLDER}/{name}.sass");
        Program::parse(&path, &fs::read_to_string(&path).expect("a listing"))
    };
    let (loads, stores) = (listing("tile_loads"), listing("tile_stores"));
    let table = fs::read_to_string(format!("{FOLDER}/tiles.csv")).expect("a table");
    let mut compared = Compared::default();
    for row in table.lines().skip(1) {
        let fields: Vec<&str> = row.split(',').collect();
        let [kernel, width, height, n, cycles] = fields[..] else { panic!("{row}") };
        let program = if kernel == "load" { &loads } else { &stores };
        let set = [("width", width), ("height", height), ("n", n)];
        let done = left(program, Some(kernel), (1, 32), &set);
        // The first tiles come from DRAM. Times have 64 bits.
        let found = f64::from(words(&done, "t")[6]);
        let error = 100.0 * (found / cycles.parse::<f64>().expect(row) - 1.0);
        compared.add(&format!("{row:24} {found:9.0} {error:+6.1} %\n"), error.abs());
    }
    compared.check(126, TILES.into_iter());
}
