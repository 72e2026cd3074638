//! Loads and stores of local memory in machine code: an H200's cycles and the model's.
//!
//! `tests/observations/h200/local` has the sources, their listings, and the cycles: in `local.csv`
//! the mean of the block's warps, in `lines.csv` of those of all SMs.

use crate::spans::{compare, mean_cycles};

const FOLDER: &str = "tests/observations/h200/local";
/// Mean error of loads alone, and of all, in percent. With stores of parts of loaded lines by warps
/// that together almost fill the path to L2, the two worst are 41 % too fast: a GPU's loads miss
/// more often.
const MEANS: [(&str, usize, f64); 2] = [("load", 16, 0.5), ("", 60, 3.3)];

#[test]
fn local_memory_takes_a_gpus_cycles() {
    let local = compare(&format!("{FOLDER}/local.csv"), |kernel, block| {
        mean_cycles(&format!("{FOLDER}/local.sass"), kernel, (1, block))
    });
    for (prefix, launches, limit) in MEANS {
        let of = local.of(prefix);
        assert_eq!(of.len(), launches, "{prefix}");
        assert!(of.mean() <= limit, "{prefix}: mean error {:.1} %\n{}", of.mean(), of.table);
    }
}

/// Mean errors of stores of whole lines by all SMs, in percent.
const LINES: [(&str, f64); 2] = [("local", 4.2), ("global", 5.9)];

#[test]
fn lines_stored_by_all_sms_take_a_gpus_cycles() {
    let lines = compare(&format!("{FOLDER}/lines.csv"), |kernel, block| {
        mean_cycles(&format!("{FOLDER}/lines.sass"), kernel, (132, block))
    });
    lines.check(28, LINES.into_iter());
}
