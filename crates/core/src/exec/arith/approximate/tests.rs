//! Results of an H200, as sums (`tests/observations/h200/mufu.txt`, `ptx`), and fused quotients.

use super::{approximate, divide, divide_add, reciprocal, reciprocal_root, unit};
use crate::exec::arith::mufu::tests::{hexadecimal, mix, observation, sum};
use crate::isa::FloatMode;
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

#[test]
fn a_quotient_and_a_sum_round_once() {
    for (a, b) in [(5.0, 3.0), (-7.0, 11.0), (1e30, 9.0), (3.0, 1e-39), (2.0, 1.5e38)] {
        for (full, ftz) in [(false, false), (false, true), (true, false), (true, true)] {
            let quotient = divide(a, b, full, ftz);
            if !quotient.is_finite() || quotient == 0.0 {
                continue;
            }
            let mode = FloatMode { ftz, ..FloatMode::PLAIN };
            let rest = divide_add([a, b, -quotient], full, mode);
            assert!(rest.abs() <= quotient.abs() * f32::EPSILON / 2.0, "{a} / {b}: {rest:e}");
            assert_eq!(divide_add([-a, b, quotient], full, mode), -rest, "{a} / {b}");
        }
    }
    // The reciprocal of 3 is too large by 1/3 of its last place, 2^-25.
    let rest = divide_add([5.0, 3.0, -divide(5.0, 3.0, false, true)], false, FloatMode::FLUSHING);
    let product = 5.0 * f64::from(unit(Reciprocal, 3.0));
    assert_eq!(f64::from(rest), product - f64::from(product as f32));
    assert_ne!(rest, 0.0);
}
