//! Float arithmetic against independent computations. Other modules' tests also use the samples.

use super::*;

pub(crate) const DIRECTIONS: [Round; 4] = [Round::Nearest, Round::Zero, Round::Down, Round::Up];

/// A simple generator for samples (xorshift64*; Vigna 2016).
pub(crate) fn samples(seed: u64) -> impl Iterator<Item = u64> {
    let mut x = seed | 1;
    std::iter::from_fn(move || {
        x ^= x >> 12;
        x ^= x << 25;
        x ^= x >> 27;
        Some(x.wrapping_mul(0x2545_f491_4f6c_dd1d))
    })
}

/// Returns corner cases, numbers over all exponents, and numbers close to each other.
pub(crate) fn samples32() -> Vec<f32> {
    let corners = [
        0,
        1,
        2,
        0x007f_ffff,
        0x0080_0000,
        0x3f80_0000,
        0x3f80_0001,
        0x7f7f_ffff,
        0x7f80_0000,
        0x7fc0_0001,
    ];
    let mut all: Vec<u32> = corners.into_iter().flat_map(|c| [c, c | 1 << 31]).collect();
    all.extend(samples(1).take(300).map(|x| (x >> 16) as u32));
    all.extend(samples(2).take(100).map(|x| 0x3f00_0000 | (x >> 16) as u32 & 0x80ff_000f));
    all.into_iter().map(f32::from_bits).collect()
}

/// As [`samples32`], for f64.
pub(crate) fn samples64() -> Vec<f64> {
    let one = 1f64.to_bits();
    let corners = [
        0,
        1,
        (1 << 52) - 1,
        1 << 52,
        one,
        one + 1,
        f64::MAX.to_bits(),
        f64::INFINITY.to_bits(),
        NAN64 >> 1,
    ];
    let mut all: Vec<u64> = corners.into_iter().flat_map(|c| [c, c | 1 << 63]).collect();
    all.extend(samples(3).take(300));
    all.extend(samples(4).take(200).map(|x| (x & 0x80ff_ffff_ffff_ffff) | 0x3f00_0000_0000_0000));
    all.extend(samples(5).take(100).map(|x| x & 0x807f_0000_0000_000f));
    all.into_iter().map(f64::from_bits).collect()
}

/// Rounds an f64 that represents an f32 result by comparing adjacent numbers.
/// The f64 is exact or has a sticky last bit.
fn round32(x: f64, round: Round) -> f32 {
    let near = x as f32;
    let above = f64::from(near) > x;
    let below = f64::from(near) < x;
    match round {
        Round::Down if above => near.next_down(),
        Round::Up if below => near.next_up(),
        Round::Zero if above && x > 0.0 => near.next_down(),
        Round::Zero if below && x < 0.0 => near.next_up(),
        _ => near,
    }
}

/// Rounds to odd: moves an inexact `x` to an odd significand.
/// The direction is that of `error`. A second rounding is then innocuous (Boldo and Melquiond
/// 2008).
fn to_odd(x: f64, error: f64) -> f64 {
    if error == 0.0 || x.to_bits() & 1 == 1 || !x.is_finite() {
        x
    } else if error > 0.0 {
        x.next_up()
    } else {
        x.next_down()
    }
}

#[test]
fn directed_sums_of_products_are_the_exact_ones() {
    let all: Vec<f32> = samples32().into_iter().filter(|x| x.is_finite()).collect();
    let at = |i: usize| all[i % all.len()];
    for i in 0..60_000 {
        let (a, b) = (at(i), at(i / 7 + i * 5));
        // Others cancel some or all of the product.
        let near = (-a * b).to_bits().wrapping_add(i as u32 % 5).wrapping_sub(2);
        let c = [at(i * 11 + 3), f32::from_bits(near)][i % 2];
        if !c.is_finite() {
            continue;
        }
        for round in [Round::Zero, Round::Down, Round::Up] {
            let [got, want] = [directed_fma32, exact_fma].map(|fma| fma(a, b, c, round).to_bits());
            assert_eq!(got, want, "{a:e} * {b:e} + {c:e} {round:?}");
        }
    }
}

/// f32 in every direction against f64 arithmetic with exact error terms.
#[test]
fn single_precision_agrees_with_exact_double_arithmetic() {
    let all: Vec<f32> = samples32().into_iter().filter(|x| x.is_finite()).collect();
    for (i, &a) in all.iter().enumerate() {
        for (j, &b) in all.iter().enumerate().skip(i % 3).step_by(3) {
            let (x, y) = (f64::from(a), f64::from(b));
            let z = f64::from(all[(i * 5 + j * 11) % all.len()]);
            let two_sum = |p: f64, q: f64| {
                let s = p + q;
                let t = s - p;
                to_odd(s, (p - (s - t)) + (q - t))
            };
            for round in DIRECTIONS {
                let signed = |value: f64, parts: [f64; 2]| {
                    let opposite = parts[0].is_sign_negative() != parts[1].is_sign_negative();
                    if value == 0.0 && opposite && round == Round::Down {
                        -0.0
                    } else {
                        round32(value, round)
                    }
                };
                let same = |got: f32, want: f32, what: &str| {
                    assert_eq!(
                        got.to_bits(),
                        want.to_bits(),
                        "{a:e} {what} {b:e} ({z:e}) {round:?}"
                    );
                };
                same(mul(a, b, round), round32(x * y, round), "*");
                same(add(a, b, round), signed(two_sum(x, y), [x, y]), "+");
                same(sub(a, b, round), signed(two_sum(x, -y), [x, -y]), "-");
                same(fma(a, b, z as f32, round), signed(two_sum(x * y, z), [x * y, z]), "fma");
                if b != 0.0 {
                    let q = x / y;
                    let rest = (-q).mul_add(y, x);
                    same(
                        div(a, b, round),
                        round32(to_odd(q, if y > 0.0 { rest } else { -rest }), round),
                        "/",
                    );
                }
                if b >= 0.0 {
                    let s = y.sqrt();
                    same(sqrt(b, round), round32(to_odd(s, (-s).mul_add(s, y)), round), "sqrt");
                }
            }
        }
    }
}

#[test]
fn fused_f32_agrees_with_the_c_library() {
    let all = samples32();
    for (i, &a) in all.iter().enumerate() {
        for (j, &b) in all.iter().enumerate() {
            // Nearly cancelling and tie-making addends, and unrelated ones.
            for c in [
                all[(i * 3 + j * 17) % all.len()],
                -(a * b),
                (a * b).next_up(),
                f32::from_bits(1),
                a * 0.5,
            ] {
                let (got, want) = (fma(a, b, c, Round::Nearest), a.mul_add(b, c));
                assert!(
                    got.to_bits() == want.to_bits() || got.to_bits() == NAN32 && want.is_nan(),
                    "{a:e} {b:e} {c:e}"
                );
            }
        }
    }
}

#[test]
fn special_results() {
    let (inf, down) = (f32::INFINITY, Round::Down);
    for (got, want) in [
        (add(1.0f32, -1.0, down), (-0.0f32).to_bits()),
        (add(1.0f32, -1.0, Round::Up), 0),
        (add(inf, -inf, Round::Nearest), NAN32),
        (mul(inf, 0.0, Round::Up), NAN32),
        (mul(f32::MAX, 2.0, Round::Zero), f32::MAX.to_bits()),
        (mul(f32::MAX, -2.0, Round::Up), (-f32::MAX).to_bits()),
        (mul(f32::from_bits(1), 0.5, Round::Up), 1),
        (mul(f32::from_bits(1), 0.5, Round::Nearest), 0),
        (div(1.0, -0.0f32, Round::Up), (-inf).to_bits()),
        (div(0.0f32, 0.0, down), NAN32),
        (sqrt(-0.0f32, down), (-0.0f32).to_bits()),
        (sqrt(-1.0f32, Round::Zero), NAN32),
        (flush32(f32::from_bits(0x807f_ffff)), 0x8000_0000),
        (flush32(f32::from_bits(0x8080_0000)), 0x8080_0000),
        (f32::NAN.saturate(), 0),
        ((-0.0f32).saturate(), 0),
        (7.0f32.saturate(), 1f32.to_bits()),
        (copysign(-1.0f32, 3.0), (-3f32).to_bits()),
    ] {
        assert_eq!(got.to_bits(), want, "{got:e}");
    }
    let payload = f64::from_bits(0x7ff0_0000_0000_0abc);
    assert_eq!(add(1.0, payload, down).to_bits(), 0x7ff8_0000_0000_0abc);
    assert_eq!(sub(1.0, payload, Round::Nearest).to_bits(), 0x7ff8_0000_0000_0abc);
    assert_eq!(sub(f64::INFINITY, f64::INFINITY, down).to_bits(), NAN64);
}

/// Rust classifies numbers too.
#[test]
fn kinds_of_numbers() {
    use TestFn::{Finite, Infinite, Normal, NotANumber, Number, Subnormal};
    use std::num::FpCategory as C;
    let holds = |category: C| -> &[TestFn] {
        match category {
            C::Nan => &[NotANumber],
            C::Infinite => &[Infinite, Number],
            // A zero counts as normal (PTX ISA, `testp`).
            C::Zero => &[Finite, Number, Normal],
            C::Subnormal => &[Finite, Number, Subnormal],
            C::Normal => &[Finite, Number, Normal],
        }
    };
    for kind in [Finite, Infinite, Number, NotANumber, Normal, Subnormal] {
        for x in samples32() {
            assert_eq!(is_kind(x, kind), holds(x.classify()).contains(&kind), "{x:e} {kind:?}");
        }
        for x in samples64() {
            assert_eq!(is_kind(x, kind), holds(x.classify()).contains(&kind), "{x:e} {kind:?}");
        }
    }
}

#[test]
fn minimum_and_maximum() {
    let nan = f32::from_bits(0xffc0_1234);
    for (a, b, smaller, larger) in [
        (1.0f32, 2.0, 1.0f32, 2.0f32),
        (0.0, -0.0, -0.0, 0.0),
        (-0.0, 0.0, -0.0, 0.0),
        (nan, 3.0, 3.0, 3.0),
        (-3.0, nan, -3.0, -3.0),
        (nan, nan, f32::from_bits(NAN32), f32::from_bits(NAN32)),
    ] {
        assert_eq!(min(a, b, false).to_bits(), smaller.to_bits(), "min {a} {b}");
        assert_eq!(max(a, b, false).to_bits(), larger.to_bits(), "max {a} {b}");
    }
    assert_eq!(min(1.0, nan, true).to_bits(), NAN32);
    assert_eq!(max(nan, 1.0, true).to_bits(), NAN32);
}
