//! Parts of a warp that meet, and votes of a block: an H200's cycles and the model's.
//!
//! `tests/observations/h200/elections` has the source, its listing, and in `elections.csv` the
//! cycles: the mean of the block's warps. A name is the kernel and its parameter.

use crate::spans::{compare, mean_left};

const FOLDER: &str = "tests/observations/h200/elections";
/// Number of launches and mean error in percent, by kernel.
const MEANS: [(&str, usize, f64); 5] = [
    ("shuffles", 15, 3.0),
    ("sums", 10, 5.0),
    ("groups", 10, 4.5),
    ("any", 5, 5.5),
    ("count", 5, 1.0),
];

#[test]
fn parts_of_a_warp_meet_in_a_gpus_cycles() {
    let elections = compare(&format!("{FOLDER}/elections.csv"), |name, threads| {
        let (kernel, n) = name.split_once('-').expect(name);
        let listing = format!("{FOLDER}/elections.sass");
        mean_left(&listing, kernel, (1, threads), &[("n", n)], 0)
    });
    let mut far = String::new();
    for (prefix, launches, limit) in MEANS {
        let of = elections.of(prefix);
        assert_eq!(of.len(), launches, "{prefix}");
        if of.mean() > limit {
            far += &format!("{prefix}: mean error {:.1} %\n{}", of.mean(), of.table);
        }
    }
    assert!(far.is_empty(), "{far}");
}
