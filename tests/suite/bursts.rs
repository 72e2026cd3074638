//! Bursts of accesses that the load/store unit serves slowly: the cycles in which a warp issues
//! them show how many the unit and the schedulers hold. A GPU's and the model's.
//!
//! `tests/observations/h200/bursts` has the source, its listing, and in `bursts.csv` the cycles:
//! the mean of the block's warps on an H100.

use crate::spans::{compare, mean_cycles};

const FOLDER: &str = "tests/observations/h200/bursts";
/// Mean error of all bursts, in percent.
const MEAN: f64 = 9.0;

#[test]
fn bursts_issue_as_on_a_gpu() {
    let bursts = compare(&format!("{FOLDER}/bursts.csv"), |kernel, block| {
        mean_cycles(&format!("{FOLDER}/bursts.sass"), kernel, (1, block))
    });
    assert!(bursts.len() >= 18, "{} bursts", bursts.len());
    assert!(bursts.mean() <= MEAN, "mean error {:.1} %\n{}", bursts.mean(), bursts.table);
}
