//! Parts of a warp that meet, and votes of a block: an H200's cycles and the model's.
//!
//! `tests/observations/h200/elections` has four sources, their listings, and in `.csv` files the
//! cycles: the mean of the block's warps. A name is the kernel and its parameter.

use crate::spans::{compare, mean_left};

const FOLDER: &str = "tests/observations/h200/elections";
/// Number of launches and mean error in percent, by file and kernel.
const MEANS: [(&str, &str, usize, f64); 18] = [
    ("elections", "shuffles-", 15, 1.5),
    ("elections", "sums-", 10, 1.5),
    ("elections", "groups-", 10, 4.0),
    ("elections", "any-", 5, 5.5),
    ("elections", "count-", 5, 1.1),
    ("parts", "unrolled-", 9, 4.0),
    ("parts", "unrolled_sums-", 6, 7.4),
    ("parts", "branch-", 6, 0.8),
    ("parts", "whole-", 3, 2.5),
    ("yields", "load-", 60, 2.0),
    ("yields", "load_own-", 60, 2.0),
    ("yields", "cas-", 60, 6.6),
    ("yields", "cas_own-", 60, 6.6),
    ("yields", "add_own-", 60, 2.5),
    ("matches", "any-", 30, 1.5),
    ("matches", "all-", 30, 3.1),
    ("matches", "any64-", 30, 3.0),
    ("matches", "all64-", 30, 1.5),
];

#[test]
fn parts_of_a_warp_meet_in_a_gpus_cycles() {
    let compared = |(file, parameter): (&str, &str)| {
        compare(&format!("{FOLDER}/{file}.csv"), |name, threads| {
            let (kernel, value) = name.split_once('-').expect(name);
            let listing = format!("{FOLDER}/{file}.sass");
            mean_left(&listing, kernel, (1, threads), &[(parameter, value)], 0)
        })
    };
    let files = [("elections", "n"), ("parts", "n"), ("yields", "lanes"), ("matches", "values")];
    let files = files.map(|file| (file.0, compared(file)));
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
