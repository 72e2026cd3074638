//! Bitwise comparison with an H200's recorded results: functions of doubles at corner cases.

use std::fs;
use std::path::Path;

use simt_core::divergence::SideOrder;
use simt_core::launch::Overrides;
use simt_core::{Job, Program};
use simt_report::simulate::simulate;

use super::super::support::{MODES, launch, machine, options};
use super::{FOLDER, read};

#[test]
fn every_bit_is_as_on_the_h200() {
    let text =
        fs::read_to_string("tests/observations/h200/cuda_math.txt").expect("the observation");
    let lines: Vec<&str> = text.lines().filter(|l| !l.starts_with('#')).collect();
    let mut names: Vec<&str> = lines.iter().filter_map(|l| l.split(' ').next()).collect();
    names.dedup();
    assert_eq!(names, ["math_exp_log", "math_sincos", "math_pow", "math_single"]);
    for name in names {
        let program =
            Program::parse(name, &read(&Path::new(FOLDER).join(name).with_extension("ptx")));
        for mode in MODES {
            let (kernel, launch) =
                launch(&program, &Overrides::default()).unwrap_or_else(|e| panic!("{e}"));
            let options = options(mode, SideOrder::Fewer, 100_000_000);
            let spec = machine(mode.default_machine());
            let done = simulate(Job::new(&program, kernel, launch, &spec, options.clone()), &())
                .expect("the block fits");
            for line in lines.iter().filter(|l| l.starts_with(name)) {
                let mut words = line.split(' ').skip(1);
                let buffer = words.next().expect("a buffer");
                let found =
                    done.launch.buffers.iter().find(|b| b.name == buffer).expect("that buffer");
                let expected: Vec<u32> = words.flat_map(halves).collect();
                let title = format!("{name} {buffer} [{}]", mode.name());
                assert_eq!(found.words.len(), expected.len(), "{title}");
                let differ: Vec<usize> =
                    (0..expected.len()).filter(|&i| found.words[i] != expected[i]).collect();
                assert!(differ.is_empty(), "{title}: words {differ:?}");
            }
        }
    }
}

/// Splits a hexadecimal number of 8 or 16 digits into words, low one first.
fn halves(number: &str) -> Vec<u32> {
    let digits = number.as_bytes().rchunks(8).map(|c| str::from_utf8(c).expect("digits"));
    digits.map(|d| u32::from_str_radix(d, 16).expect("a number")).collect()
}
