//! 16-bit floats against exact arithmetic, which shares no rounding code with them.

use super::*;
use crate::exec::arith::exact::Exact;
use crate::exec::arith::float::tests::{samples, samples64};
use crate::exec::arith::float::{add, finish, fma, max, min, mul, sum_to_odd, xorsign};
use crate::isa::{FloatMode, Round};

fn every<F: Short>() -> impl Iterator<Item = F> {
    (0..=u64::from(u16::MAX)).map(F::from_bits64)
}

/// Returns corner cases, and a number of each kind and sign.
fn some<F: Short>() -> Vec<F> {
    let (normal, infinity) = (F::FORMAT.least_normal(), F::FORMAT.infinity());
    let one = F::one().to_bits64();
    let corners = [
        0,
        1,
        2,
        normal - 1,
        normal,
        normal + 1,
        one,
        one + 1,
        infinity - 1,
        infinity,
        infinity + 1,
        0x7fff,
    ];
    let mut all: Vec<u64> = corners.into_iter().flat_map(|bits| [bits, bits | 0x8000]).collect();
    all.extend(samples(6).take(120));
    all.extend(samples(7).take(40).map(|x| one & !0xf | x & 0x801f));
    all.into_iter().map(F::from_bits64).collect()
}

fn decode<F: Float>(x: F) -> Exact {
    Exact::decode(F::FORMAT, x.to_bits64())
}

fn widening_is_exact_and_narrowing_the_nearest<F: Short>() {
    for x in every::<F>() {
        let wide = x.widen();
        assert_eq!(wide.is_nan(), x.nan(), "{:x}", x.to_bits64());
        assert_eq!(wide.is_finite(), x.finite());
        if x.finite() {
            assert_eq!(
                wide.to_bits(),
                decode(x).round(exact::F64, Round::Zero),
                "{:x}",
                x.to_bits64()
            );
        }
        let back = if x.nan() { 0x7fff } else { x.to_bits64() };
        assert_eq!(F::narrow(wide).to_bits64(), back);
        // Around the number and around the midpoint to the next.
        let next = F::from_bits64(x.to_bits64() + 1).widen();
        for y in
            [wide.next_up(), wide.next_down(), (wide + next) / 2.0, ((wide + next) / 2.0).next_up()]
        {
            if y.is_finite() && x.finite() {
                let nearest =
                    Exact::decode(exact::F64, y.to_bits()).round(F::FORMAT, Round::Nearest);
                assert_eq!(F::narrow(y).to_bits64(), nearest, "{y:e}");
            }
        }
    }
    for y in samples64().into_iter().filter(|y| y.is_finite()) {
        let nearest = Exact::decode(exact::F64, y.to_bits()).round(F::FORMAT, Round::Nearest);
        assert_eq!(F::narrow(y).to_bits64(), nearest, "{y:e}");
    }
}

#[test]
fn every_half_widens_and_narrows() {
    widening_is_exact_and_narrowing_the_nearest::<Half>();
}

#[test]
fn every_brain_float_widens_and_narrows() {
    widening_is_exact_and_narrowing_the_nearest::<Brain>();
}

fn results_are_rounded_once<F: Short>() {
    let all: Vec<F> = some();
    let near = |x: Exact| x.round(F::FORMAT, Round::Nearest);
    for (i, &a) in all.iter().enumerate() {
        for (j, &b) in all.iter().enumerate() {
            if a.finite() && b.finite() {
                assert_eq!(mul(a, b, Round::Nearest).to_bits64(), near(decode(a).times(decode(b))));
                let sum = decode(a).plus(decode(b), Round::Nearest);
                assert_eq!(add(a, b, Round::Nearest).to_bits64(), near(sum));
                // Unrelated addends, cancelling ones, and tiny ones that break a tie.
                let product = mul(a, b, Round::Nearest);
                for c in [
                    all[(i * 7 + j * 13) % all.len()],
                    product.flip(),
                    F::from_bits64(1),
                    F::from_bits64(0x8001),
                ] {
                    if c.finite() {
                        let exact = decode(a).times(decode(b)).plus(decode(c), Round::Nearest);
                        let got = fma(a, b, c, Round::Nearest).to_bits64();
                        assert_eq!(
                            got,
                            near(exact),
                            "{:x} {:x} {:x}",
                            a.to_bits64(),
                            b.to_bits64(),
                            c.to_bits64()
                        );
                    }
                }
            } else if a.nan() || b.nan() {
                assert_eq!(
                    (add(a, b, Round::Nearest).to_bits64(), mul(a, b, Round::Nearest).to_bits64()),
                    (0x7fff, 0x7fff)
                );
            }
        }
    }
}

#[test]
fn half_results_are_rounded_once() {
    results_are_rounded_once::<Half>();
}

/// Compares sums and products of halves in f32 with those in f64.
fn singles_suffice(a: Half, b: Half) {
    let (wide, other) = ([a.widen(), b.widen()], Half(a.0.rotate_left(7) ^ b.0));
    assert_eq!(Half::add_near(a, b).0, Half::narrow(wide[0] + wide[1]).0, "{a:?} + {b:?}");
    assert_eq!(Half::mul_near(a, b).0, Half::narrow(wide[0] * wide[1]).0, "{a:?} * {b:?}");
    let sum = sum_to_odd(wide[0] * wide[1], other.widen());
    assert_eq!(Half::fma_near(a, b, other).0, Half::narrow(sum).0, "{a:?} * {b:?} + {other:?}");
}

#[test]
fn singles_suffice_for_halves() {
    for b in some::<Half>() {
        every::<Half>().for_each(|a| singles_suffice(a, b));
    }
}

/// Tests each pair in one order, and with one sign: the other orders and signs are the same sums
/// and products.
#[test]
#[ignore = "takes half a minute"]
fn long_singles_suffice_for_all_halves() {
    for b in 0..=0x7fff {
        for magnitude in 0..=b {
            singles_suffice(Half(magnitude), Half(b));
            singles_suffice(Half(magnitude | 0x8000), Half(b));
        }
    }
}

#[test]
fn brain_results_are_rounded_once() {
    results_are_rounded_once::<Brain>();
}

#[test]
fn modifiers_of_results() {
    let mode = FloatMode::default();
    let (sat, ftz, relu) = (
        FloatMode { sat: true, ..mode },
        FloatMode { ftz: true, ..mode },
        FloatMode { relu: true, ..mode },
    );
    for (bits, mode, expected) in [
        (0x4000, sat, 0x3c00), // 2
        (0x3800, sat, 0x3800), // 0.5
        (0xbc00, sat, 0),      // -1
        (0x8000, sat, 0),      // -0
        (0x7fff, sat, 0),
        (0x03ff, ftz, 0), // the largest subnormal
        (0x83ff, ftz, 0x8000),
        (0x0400, ftz, 0x0400),
        (0xbc00, relu, 0),
        (0x8000, relu, 0),
        (0x7fff, relu, 0x7fff),
        (0x3c01, relu, 0x3c01),
    ] {
        assert_eq!(finish(Half(bits), mode).0, expected, "{bits:x} {mode:?}");
    }
}

#[test]
fn minimum_and_maximum_choose() {
    let nan = Half(0x7e01);
    for (a, b, smaller, larger) in [
        (Half(0x3c00), Half(0xbc00), 0xbc00, 0x3c00),
        (Half(0), Half(0x8000), 0x8000, 0),
        (nan, Half(0x3c00), 0x3c00, 0x3c00),
        (nan, nan, NAN16, NAN16),
    ] {
        assert_eq!((min(a, b, false).0, max(a, b, false).0), (smaller, larger), "{a:?} {b:?}");
    }
    assert_eq!(min(nan, Half(0x3c00), true).0, NAN16);
    // -2 and 1: the smaller magnitude is 1, the signs differ.
    let smaller = xorsign(Brain(0xc000), Brain(0x3f80), |a, b| min(a, b, false));
    assert_eq!(smaller.0, 0xbf80);
    assert_eq!(xorsign(Brain(0xc000), Brain(0xbf80), |a, b| max(a, b, false)).0, 0x4000);
}
