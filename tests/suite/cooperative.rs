//! Cooperative launches: `grid.sync()` in PTX and in machine code.

use std::fs;
use std::path::Path;

use super::cli::{Ended, good, simt_sim};

const GRID: [&str; 2] = ["programs/cuda/reduce_grid.ptx", "programs/sass/reduce_grid.sass"];

#[test]
fn blocks_of_a_cooperative_launch_meet() {
    for file in GRID {
        for blocks in ["blocks=1", "blocks=4", "blocks=200"] {
            let report = good(&["run", file, "--set", blocks, "--checks"]);
            assert!(report.contains("ok      out[0] == sum(in)"), "{file} {blocks}\n{report}");
        }
    }
}

/// Thread 0 spins alone while the others wait at the WARPSYNC.ALL that ptxas puts before the
/// barrier, and lanes leave the loop over the partial sums early: each barrier is met by whole
/// warps.
#[test]
fn lanes_of_machine_code_meet_before_each_barrier() {
    let report = good(&["run", GRID[1], "--annotate"]);
    let at = |name: &str| report.lines().filter(|line| line.contains(name)).collect::<Vec<_>>();
    let barriers = at("BAR.SYNC");
    assert_eq!((barriers.len(), at("WARPSYNC.ALL").len()), (4, 1), "{report}");
    for line in barriers {
        assert!(line.split_whitespace().any(|word| word == "32.0"), "{line}");
    }
    let alone = at("YIELD").iter().all(|line| line.split_whitespace().any(|word| word == "1.0"));
    assert!(alone, "{report}");
}

/// 16 blocks of 128 threads fit each of 132 SMs.
#[test]
fn a_grid_that_is_not_resident_at_once_is_an_error() {
    for file in GRID {
        let Ended { code, err, .. } = simt_sim(&["run", file, "--set", "blocks=2113"]);
        assert_eq!(code, 2, "{file}");
        let words = "a cooperative launch of 2113 blocks does not fit: h200 holds 2112 at once";
        assert!(err.contains(words), "{file}\n{err}");
    }
}

#[test]
fn grid_sync_of_a_plain_launch_traps() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cooperative");
    fs::create_dir_all(&folder).expect("a folder");
    for file in GRID {
        let text = fs::read_to_string(file).expect("a program").replace("//! cooperative\n", "");
        let plain = folder.join(Path::new(file).file_name().expect("a name"));
        fs::write(&plain, text).expect("a file");
        let Ended { code, out, .. } = simt_sim(&["run", plain.to_str().expect("a path")]);
        assert_eq!(code, 5, "{file}\n{out}");
        assert!(out.contains("FAULT: trap: `grid.sync()` requires a cooperative launch"), "{out}");
    }
}
