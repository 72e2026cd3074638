//! Parts of a warp that meet, and votes of a block: an H200's cycles and the model's.
//!
//! `tests/observations/h200/elections` has two sources, their listings, and in `.csv` files the
//! cycles: the mean of the block's warps. A name is the kernel and its parameter.

use crate::spans::{compare, mean_left};

const FOLDER: &str = "tests/observations/h200/elections";
/// Number of launches and mean error in percent, by file and kernel.
const MEANS: [(&str, &str, usize, f64); 9] = [
    ("elections", "shuffles-", 15, 3.0),
    ("elections", "sums-", 10, 1.0),
    ("elections", "groups-", 10, 4.0),
    ("elections", "any-", 5, 5.5),
    ("elections", "count-", 5, 0.5),
    ("parts", "unrolled-", 9, 5.5),
    ("parts", "unrolled_sums-", 6, 7.0),
    ("parts", "branch-", 6, 1.0),
    ("parts", "whole-", 3, 12.0),
];

#[test]
fn parts_of_a_warp_meet_in_a_gpus_cycles() {
    let compared = |file: &str| {
        compare(&format!("{FOLDER}/{file}.csv"), |name, threads| {
            let (kernel, n) = name.split_once('-').expect(name);
            let listing = format!("{FOLDER}/{file}.sass");
            mean_left(&listing, kernel, (1, threads), &[("n", n)], 0)
        })
    };
    let files = ["elections", "parts"].map(|file| (file, compared(file)));
    let mut far = String::new();
    for (file, prefix, launches, limit) in MEANS {
        let of = files.iter().find(|f| f.0 == file).expect(file).1.of(prefix);
        assert_eq!(of.len(), launches, "{prefix}");
        if of.mean() > limit {
            far += &format!("{prefix}: mean error {:.1} %\n{}", of.mean(), of.table);
        }
    }
    assert!(far.is_empty(), "{far}");
}
