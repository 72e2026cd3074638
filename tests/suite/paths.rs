//! Paths of machine code to constants, to the targets of jumps, and of stores to L2: a GPU's cycles
//! and the model's.
//!
//! `tests/observations/h200/paths` has the source, its listing, and the cycles on one SM and on
//! all.

use crate::spans::{compare, mean_cycles};

const FOLDER: &str = "tests/observations/h200/paths";
/// Mean errors with one SM and with all, in percent. Stores of all SMs to a sector of local memory
/// are 18 % too fast.
const MEANS: [(&str, u32, f64); 2] = [("one", 1, 3.9), ("all", 132, 4.3)];

#[test]
fn paths_take_a_gpus_cycles() {
    for (file, blocks, limit) in MEANS {
        let path = format!("{FOLDER}/{file}.csv");
        let paths = compare(&path, |kernel, block| {
            mean_cycles(&format!("{FOLDER}/paths.sass"), kernel, (blocks, block))
        });
        assert!(paths.len() >= 20, "{path}: {} kernels", paths.len());
        assert!(paths.mean() <= limit, "{path}: mean error {:.1} %\n{}", paths.mean(), paths.table);
    }
}
