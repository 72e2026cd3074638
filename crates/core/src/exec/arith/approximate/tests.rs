//! Results of an H200, as sums (`tests/observations/h200/mufu.txt`, `ptx`).

use super::{approximate, divide, reciprocal, reciprocal_root};
use crate::exec::arith::mufu::tests::{hexadecimal, mix, observation, sum};
use crate::kernel::Approximation::*;

/// Returns the result of a form for a number.
fn form(name: &str, number: u32) -> u64 {
    let drawn = mix(u64::from(number).wrapping_add(0x9e37_79b9_7f4a_7c15));
    let (a, ftz) = (f32::from_bits(number), name.contains(".ftz"));
    let double = || {
        let subnormal = drawn & 7 == 1;
        f64::from_bits(if subnormal { mix(drawn) >> 12 | drawn << 63 } else { drawn })
    };
    let f = match name {
        "rcp.ftz.f64" => return reciprocal(double()).to_bits(),
        "rsqrt.f64" | "rsqrt.ftz.f64" => return reciprocal_root(double(), ftz).to_bits(),
        "div" | "div.ftz" | "div.full" | "div.full.ftz" => {
            let [a, b] = [drawn as u32, (drawn >> 32) as u32].map(f32::from_bits);
            return divide(a, b, name.contains("full"), ftz).to_bits().into();
        }
        "rcp" => Reciprocal,
        "sqrt" => Root,
        "rsqrt" => ReciprocalRoot,
        "sin" => Sine,
        "cos.ftz" => Cosine,
        "lg2" => Logarithm,
        "ex2" => Exponential,
        "tanh" => Tangent,
        _ => panic!("{name} is no form"),
    };
    approximate(f, a, ftz).to_bits().into()
}

#[test]
fn forms_are_those_of_an_h200() {
    let text = observation();
    let mut seen = 0;
    for line in text.lines().filter_map(|line| line.strip_prefix("ptx ")) {
        let words: Vec<&str> = line.split(' ').collect();
        let first = hexadecimal(words[1]) as u32;
        let found = sum(first, 1 << 17, |number| form(words[0], number));
        assert_eq!(found, hexadecimal(words[2]), "{line}");
        seen += 1;
    }
    assert_eq!(seen, 8 * 8 + 7 * 3);
}
