//! Results of an H200 for all operands, as sums (`tests/observations/h200/mufu.txt`).

use super::{function, short};
use crate::exec::arith::float::Float;
use crate::exec::arith::half::{Brain, Half};
use crate::kernel::Approximation::{self, *};
use std::fs;

const FUNCTIONS: [(&str, Approximation); 10] = [
    ("rcp", Reciprocal),
    ("rsq", ReciprocalRoot),
    ("sqrt", Root),
    ("ex2", Exponential),
    ("lg2", Logarithm),
    ("sin", Sine),
    ("cos", Cosine),
    ("tanh", Tangent),
    ("rcp64h", HighReciprocal),
    ("rsq64h", HighReciprocalRoot),
];

fn named(name: &str) -> fn(u32) -> u32 {
    let found = FUNCTIONS.iter().find(|(n, _)| *n == name);
    function(found.unwrap_or_else(|| panic!("{name} is no function")).1)
}

/// Returns the recorded sums.
pub(crate) fn observation() -> String {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/observations/h200/mufu.txt");
    fs::read_to_string(path).expect("the observation")
}

pub(crate) fn hexadecimal(word: &str) -> u64 {
    u64::from_str_radix(word, 16).expect("a hexadecimal number")
}

/// Mixes 64 bits.
pub(crate) fn mix(mut x: u64) -> u64 {
    x = (x ^ x >> 33).wrapping_mul(0xff51_afd7_ed55_8ccd);
    x = (x ^ x >> 33).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    x ^ x >> 33
}

/// Returns the sum over `count` operands.
pub(crate) fn sum(first: u32, count: u32, f: impl Fn(u32) -> u64) -> u64 {
    let term = |a: u32| mix((u64::from(a & 0x1_ffff) << 32) ^ f(a));
    (0..count).fold(0, |sum, i| sum.wrapping_add(term(first + i)))
}

#[test]
fn parts_are_those_of_an_h200() {
    let text = observation();
    let mut seen = 0;
    for line in text.lines().filter_map(|line| line.strip_prefix("part ")) {
        let words: Vec<&str> = line.split(' ').collect();
        let (f, first) = (named(words[0]), hexadecimal(words[1]) as u32);
        let found = sum(first, 1 << 17, |a| f(a).into());
        assert_eq!(found, hexadecimal(words[2]), "{line}");
        seen += 1;
    }
    assert_eq!(seen, 80);
}

#[test]
fn short_floats_are_those_of_an_h200() {
    let text = observation();
    let mut seen = 0;
    for line in text.lines().filter_map(|line| line.strip_prefix("short ")) {
        let (name, want) = line.split_once(' ').expect("two words");
        let (name, ty) = name.split_once('.').expect("a type");
        let f = named(name);
        let found = sum(0, 1 << 16, |a| match ty {
            "f16" => short(Half(a as u16), f).to_bits64(),
            _ => short(Brain(a as u16), f).to_bits64(),
        });
        assert_eq!(found, hexadecimal(want), "{line}");
        seen += 1;
    }
    assert_eq!(seen, 4);
}

/// Compares the sums of all operands, or of those whose leading nine bits are chosen.
fn compare_all(chosen: impl Fn(&str, u32) -> bool) {
    let text = observation();
    let mut lines = text.lines().peekable();
    let mut seen = 0;
    while let Some(line) = lines.next() {
        let Some(name) = line.strip_prefix("all ") else { continue };
        let f = named(name);
        let mut leading = 0;
        while let Some(line) = lines.next_if(|line| line.starts_with(' ')) {
            for want in line.split_whitespace().map(hexadecimal) {
                if chosen(name, leading) {
                    let first = leading << 23;
                    let found = sum(first, 1 << 23, |a| f(a).into());
                    assert_eq!(found, want, "{name} from {first:08x}");
                    seen += 1;
                }
                leading += 1;
            }
        }
        assert_eq!(leading, 512, "{name}");
    }
    assert!(seen > 0);
}

#[test]
#[ignore = "long: 2^23 operands of each of 40 exponents"]
fn long_segments_are_those_of_an_h200() {
    compare_all(|name, leading| match name {
        "tanh" => (118..131).contains(&leading),
        "lg2" => (125..129).contains(&leading),
        "ex2" => [125, 127, 133, 256 + 127].contains(&leading),
        "sin" | "cos" => (123..126).contains(&leading) || leading == 256 + 130,
        _ => (127..129).contains(&leading),
    });
}

#[test]
#[ignore = "2^32 operands of ten functions: minutes of a core"]
fn every_result_is_that_of_an_h200() {
    compare_all(|_, _| true);
}
