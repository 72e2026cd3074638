//! Fences after stores in machine code: an H200's cycles and the model's.
//!
//! `tests/observations/h200/fences` has the source, its listing, and in `fences.csv` the cycles:
//! the mean of the block's warps. A name is the fence, the number of stores, and the bytes between
//! lanes.

use crate::spans::{compare, mean_left};

const FOLDER: &str = "tests/observations/h200/fences";
/// Mean errors in percent.
const MEANS: [(&str, f64); 2] = [("gpu", 5.0), ("sys", 6.0)];

/// Returns the mean cycles of a fence by `threads` threads.
fn fence(name: &str, threads: u32) -> f64 {
    let [kernel, n, m]: [&str; 3] = name.split('-').collect::<Vec<_>>().try_into().expect(name);
    let set = [("n", n), ("m", m)];
    mean_left(&format!("{FOLDER}/fences.sass"), kernel, (1, threads), &set, 1)
}

#[test]
fn fences_beyond_the_block_take_a_gpus_cycles() {
    let fences = compare(&format!("{FOLDER}/fences.csv"), fence);
    for (prefix, limit) in MEANS {
        let of = fences.of(prefix);
        assert_eq!(of.len(), 57, "{prefix}");
        assert!(of.mean() <= limit, "{prefix}: mean error {:.1} %\n{}", of.mean(), of.table);
    }
}

#[test]
fn fences_of_an_idle_sm_differ_by_scope() {
    let alone = ["block", "gpu", "sys"].map(|kernel| fence(&format!("{kernel}-0-4"), 32));
    assert_eq!(alone, [12.0, 265.0, 977.0], "an H200 takes 9, 265 and 977 cycles");
}
