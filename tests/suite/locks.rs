//! Locks and counters of shared memory, in machine code: an H200's cycles and the model's.
//!
//! `tests/observations/h200/locks` has the source, its listing, and in `locks.csv` the cycles of
//! launches of up to half a million. A name is the kernel and the lanes of each warp that take
//! part.

use simt_core::Program;

use crate::spans::{compare, mean_of};

const FOLDER: &str = "tests/observations/h200/locks";
/// Launches and mean error in percent, by kernel.
const MEANS: [(&str, usize, f64); 8] = [
    ("slock-", 27, 9.9),
    ("slock_plain-", 28, 13.8),
    ("sticket-", 22, 3.0),
    ("scount-", 30, 3.5),
    ("scas-", 29, 13.5),
    ("sexch-", 30, 2.5),
    ("sfloat-", 29, 7.0),
    ("sfloat_own-", 30, 12.5),
];

#[test]
fn locks_of_shared_memory_take_a_gpus_cycles() {
    let path = format!("{FOLDER}/locks.sass");
    let program = Program::parse(&path, &std::fs::read_to_string(&path).expect("a listing"));
    let compared = compare(&format!("{FOLDER}/locks.csv"), |launch, threads| {
        let (kernel, lanes) = launch.split_once('-').expect(launch);
        mean_of(&program, kernel, (1, threads), &[("lanes", lanes)], 0)
    });
    let mut far = String::new();
    for (prefix, launches, limit) in MEANS {
        let of = compared.of(prefix);
        if of.len() != launches || of.mean() > limit {
            far += &format!("{prefix}: {}, mean {:.1} %\n{}", of.len(), of.mean(), of.table);
        }
    }
    assert!(far.is_empty(), "{far}");
}
