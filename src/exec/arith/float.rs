//! f32 and f64 arithmetic (PTX ISA, "Floating Point Instructions").
//!
//! To nearest, the processor's own operations are used: IEEE 754 leaves them no freedom. The other directions go
//! through [`super::exact`]. Approximations (`sin`, `ex2`, ..) are the f64 function of the argument, rounded to f32:
//! more accurate than the hardware's, within the error the manual allows.
//!
//! NaN: every f32 result that is NaN is the canonical `0x7fffffff` (PTX ISA, "Floating-Point Comparisons": payloads are
//! not preserved). PTX does not say which f64 NaN comes out; here it is the first NaN operand, made quiet, and
//! `0xfff8000000000000` when no operand is NaN.

use super::exact::{Exact, F32, F64, Format};
use crate::isa::{FloatMode, Round};

/// What f32 and f64 have in common.
pub(crate) trait Float: Copy + PartialOrd {
    /// The format, for exact arithmetic.
    const FORMAT: Format;
    /// From the bits of this format, zero-extended.
    fn from_bits64(bits: u64) -> Self;
    /// The bits of this format, zero-extended.
    fn to_bits64(self) -> u64;
    /// Whether the value is NaN.
    fn nan(self) -> bool;
    /// Whether the value is neither NaN nor infinite.
    fn finite(self) -> bool;
    /// The value with its sign flipped, NaN too.
    fn flip(self) -> Self;
    /// The value without its sign, NaN too.
    fn magnitude(self) -> Self;
    /// `result`, or the NaN that stands for it given the operands.
    fn canonical(result: Self, operands: [Self; 3]) -> Self;
    /// A subnormal f32 becomes a zero of its sign; f64 has no flushing.
    fn flush(self) -> Self;
    /// Clamped to [0, 1]; NaN and -0 become +0.
    fn saturate(self) -> Self;
    /// `a + b` to nearest.
    fn add_near(a: Self, b: Self) -> Self;
    /// `a * b` to nearest.
    fn mul_near(a: Self, b: Self) -> Self;
    /// `a * b + c` to nearest.
    fn fma_near(a: Self, b: Self, c: Self) -> Self;
    /// `a / b` to nearest.
    fn div_near(a: Self, b: Self) -> Self;
    /// Square root to nearest.
    fn sqrt_near(a: Self) -> Self;
    /// One.
    fn one() -> Self;
    /// Both operands are zeros: the smaller is the negative one.
    fn min_zero(a: Self, b: Self) -> Self;
    /// Both operands are zeros: the larger is the positive one.
    fn max_zero(a: Self, b: Self) -> Self;
}

macro_rules! floats {
    ($t:ident, $bits:ident, $format:expr, $canonical:expr, $flush:expr, $fma:expr) => {
        impl Float for $t {
            const FORMAT: Format = $format;
            #[inline(always)]
            fn from_bits64(bits: u64) -> $t {
                $t::from_bits(bits as $bits)
            }
            #[inline(always)]
            fn to_bits64(self) -> u64 {
                self.to_bits() as u64
            }
            #[inline(always)]
            fn nan(self) -> bool {
                self.is_nan()
            }
            #[inline(always)]
            fn finite(self) -> bool {
                self.is_finite()
            }
            #[inline(always)]
            fn flip(self) -> $t {
                $t::from_bits(self.to_bits() ^ (1 << ($bits::BITS - 1)))
            }
            #[inline(always)]
            fn magnitude(self) -> $t {
                $t::from_bits(self.to_bits() & ($bits::MAX >> 1))
            }
            #[inline(always)]
            fn canonical(result: $t, operands: [$t; 3]) -> $t {
                if result.is_nan() { $canonical(operands) } else { result }
            }
            #[inline(always)]
            fn flush(self) -> $t {
                $flush(self)
            }
            #[inline(always)]
            fn saturate(self) -> $t {
                // Written so that NaN and -0 fail the first comparison.
                if self > 0.0 { if self < 1.0 { self } else { 1.0 } } else { 0.0 }
            }
            #[inline(always)]
            fn add_near(a: $t, b: $t) -> $t {
                a + b
            }
            #[inline(always)]
            fn mul_near(a: $t, b: $t) -> $t {
                a * b
            }
            #[inline(always)]
            fn fma_near(a: $t, b: $t, c: $t) -> $t {
                $fma(a, b, c)
            }
            #[inline(always)]
            fn div_near(a: $t, b: $t) -> $t {
                a / b
            }
            #[inline(always)]
            fn sqrt_near(a: $t) -> $t {
                a.sqrt()
            }
            #[inline(always)]
            fn one() -> $t {
                1.0
            }
            #[inline(always)]
            fn min_zero(a: $t, b: $t) -> $t {
                $t::from_bits(a.to_bits() | b.to_bits())
            }
            #[inline(always)]
            fn max_zero(a: $t, b: $t) -> $t {
                $t::from_bits(a.to_bits() & b.to_bits())
            }
        }
    };
}

/// The NaN every f32 instruction returns.
pub(crate) const NAN32: u32 = 0x7fff_ffff;
/// The NaN an f64 instruction returns when no operand is NaN.
pub(crate) const NAN64: u64 = 0xfff8_0000_0000_0000;

floats!(f32, u32, F32, |_| f32::from_bits(NAN32), flush32, fma32);
floats!(f64, u64, F64, first_nan, |x| x, f64::mul_add);

/// `a * b + c`, rounded once to nearest, without a fused instruction: the baseline x86-64 has none, and a call of the C
/// library a lane costs more than the whole loop does here. The product is exact in f64; the sum is rounded to odd in
/// f64, which makes rounding it again to f32 innocuous (Boldo and Melquiond, "Emulation of FMA and correctly rounded
/// sums", 2008).
#[inline(always)]
fn fma32(a: f32, b: f32, c: f32) -> f32 {
    let (p, c) = (f64::from(a) * f64::from(b), f64::from(c));
    let sum = p + c;
    // Knuth's two-sum: what the addition lost. Nothing overflows in f64.
    let t = sum - p;
    let lost = (p - (sum - t)) + (c - t);
    let bits = sum.to_bits();
    let away = (lost > 0.0) == (sum > 0.0);
    let odd = if away { bits.wrapping_add(1) } else { bits.wrapping_sub(1) };
    // Infinities and NaN lose NaN, which compares as neither.
    let inexact = lost > 0.0 || lost < 0.0;
    (if inexact && bits & 1 == 0 { f64::from_bits(odd) } else { sum }) as f32
}

/// A subnormal becomes a zero of its sign.
#[inline(always)]
pub(crate) fn flush32(x: f32) -> f32 {
    let bits = x.to_bits();
    f32::from_bits(if bits & 0x7f80_0000 == 0 { bits & 0x8000_0000 } else { bits })
}

#[inline(always)]
fn first_nan(operands: [f64; 3]) -> f64 {
    for x in operands {
        if x.is_nan() {
            return f64::from_bits(x.to_bits() | 1 << 51);
        }
    }
    f64::from_bits(NAN64)
}

fn exact<F: Float>(x: F) -> Exact {
    Exact::decode(F::FORMAT, x.to_bits64())
}

fn rounded<F: Float>(x: Exact, round: Round) -> F {
    F::from_bits64(x.round(F::FORMAT, round))
}

/// `a + b`
#[inline]
pub(crate) fn add<F: Float>(a: F, b: F, round: Round) -> F {
    if round == Round::Nearest || !a.finite() || !b.finite() {
        return F::canonical(F::add_near(a, b), [a, b, b]);
    }
    rounded(exact(a).plus(exact(b), round), round)
}

/// `a - b`
#[inline]
pub(crate) fn sub<F: Float>(a: F, b: F, round: Round) -> F {
    // A NaN keeps its sign: only numbers are flipped.
    add(a, if b.nan() { b } else { b.flip() }, round)
}

/// `a * b`
#[inline]
pub(crate) fn mul<F: Float>(a: F, b: F, round: Round) -> F {
    if round == Round::Nearest || !a.finite() || !b.finite() {
        return F::canonical(F::mul_near(a, b), [a, b, b]);
    }
    rounded(exact(a).times(exact(b)), round)
}

/// `a * b + c`, rounded once.
#[inline]
pub(crate) fn fma<F: Float>(a: F, b: F, c: F, round: Round) -> F {
    if round == Round::Nearest || !a.finite() || !b.finite() || !c.finite() {
        return F::canonical(F::fma_near(a, b, c), [a, b, c]);
    }
    rounded(exact(a).times(exact(b)).plus(exact(c), round), round)
}

/// `a / b`
#[inline]
pub(crate) fn div<F: Float>(a: F, b: F, round: Round) -> F {
    if round == Round::Nearest || !a.finite() || !b.finite() || b.magnitude().to_bits64() == 0 {
        return F::canonical(F::div_near(a, b), [a, b, b]);
    }
    rounded(exact(a).over(exact(b)), round)
}

/// The square root.
#[inline]
pub(crate) fn sqrt<F: Float>(a: F, round: Round) -> F {
    if round == Round::Nearest || !a.finite() || a < F::from_bits64(0) {
        return F::canonical(F::sqrt_near(a), [a; 3]);
    }
    rounded(exact(a).root(), round)
}

/// Applies `.ftz` to an operand or a result.
#[inline(always)]
pub(crate) fn flushed<F: Float>(x: F, ftz: bool) -> F {
    if ftz { x.flush() } else { x }
}

/// Applies `.ftz` and `.sat` to a result. Flushing looks at the rounded result.
#[inline(always)]
pub(crate) fn finish<F: Float>(x: F, mode: FloatMode) -> F {
    let x = flushed(x, mode.ftz);
    if mode.sat { x.saturate() } else { x }
}

/// The smaller; -0 is smaller than +0; a NaN loses against a number unless `nan`.
#[inline(always)]
pub(crate) fn min<F: Float>(a: F, b: F, nan: bool) -> F {
    choose(
        a,
        b,
        nan,
        if a == b {
            F::min_zero(a, b)
        } else if a < b {
            a
        } else {
            b
        },
    )
}

/// The larger; +0 is larger than -0; a NaN loses against a number unless `nan`.
#[inline(always)]
pub(crate) fn max<F: Float>(a: F, b: F, nan: bool) -> F {
    choose(
        a,
        b,
        nan,
        if a == b {
            F::max_zero(a, b)
        } else if a > b {
            a
        } else {
            b
        },
    )
}

/// The NaN rules of min and max around their choice between numbers.
#[inline(always)]
fn choose<F: Float>(a: F, b: F, nan: bool, number: F) -> F {
    match (a.nan(), b.nan()) {
        (false, false) => number,
        (true, false) if !nan => b,
        (false, true) if !nan => a,
        _ => F::canonical(if a.nan() { a } else { b }, [a, b, b]),
    }
}

/// The sign of `a` with the magnitude of `b`.
#[inline(always)]
pub(crate) fn copysign<F: Float>(a: F, b: F) -> F {
    if F::FORMAT.is_negative(a.to_bits64()) { b.magnitude().flip() } else { b.magnitude() }
}

/// An approximated f32 function: `f` in double precision, rounded, flushed where asked.
#[inline(always)]
pub(crate) fn approximate(a: f32, ftz: bool, f: impl Fn(f64) -> f64) -> f32 {
    let a = flushed(a, ftz);
    flushed(f32::canonical(f(f64::from(a)) as f32, [a; 3]), ftz)
}

/// `1 / sqrt(a)`
#[inline(always)]
pub(crate) fn rsqrt(a: f64) -> f64 {
    1.0 / a.sqrt()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) const DIRECTIONS: [Round; 4] = [Round::Nearest, Round::Zero, Round::Down, Round::Up];

    /// A plain generator for samples (xorshift64*; Vigna 2016).
    pub(crate) fn samples(seed: u64) -> impl Iterator<Item = u64> {
        let mut x = seed | 1;
        std::iter::from_fn(move || {
            x ^= x >> 12;
            x ^= x << 25;
            x ^= x >> 27;
            Some(x.wrapping_mul(0x2545_f491_4f6c_dd1d))
        })
    }

    /// Corners, then numbers spread over all exponents, then numbers near one another.
    pub(crate) fn samples32() -> Vec<f32> {
        let corners =
            [0, 1, 2, 0x007f_ffff, 0x0080_0000, 0x3f80_0000, 0x3f80_0001, 0x7f7f_ffff, 0x7f80_0000, 0x7fc0_0001];
        let mut all: Vec<u32> = corners.into_iter().flat_map(|c| [c, c | 1 << 31]).collect();
        all.extend(samples(1).take(300).map(|x| (x >> 16) as u32));
        all.extend(samples(2).take(100).map(|x| 0x3f00_0000 | (x >> 16) as u32 & 0x80ff_000f));
        all.into_iter().map(f32::from_bits).collect()
    }

    /// As [`samples32`], for f64.
    pub(crate) fn samples64() -> Vec<f64> {
        let one = 1f64.to_bits();
        let corners =
            [0, 1, (1 << 52) - 1, 1 << 52, one, one + 1, f64::MAX.to_bits(), f64::INFINITY.to_bits(), NAN64 >> 1];
        let mut all: Vec<u64> = corners.into_iter().flat_map(|c| [c, c | 1 << 63]).collect();
        all.extend(samples(3).take(300));
        all.extend(samples(4).take(200).map(|x| (x & 0x80ff_ffff_ffff_ffff) | 0x3f00_0000_0000_0000));
        all.extend(samples(5).take(100).map(|x| x & 0x807f_0000_0000_000f));
        all.into_iter().map(f64::from_bits).collect()
    }

    /// Rounds an f64 that stands for an f32 result (exact, or with a sticky last bit) by comparing neighbours.
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

    /// `x`, moved towards the exact value to an odd significand when `error` says it is inexact: rounding to odd, which
    /// makes the second rounding innocuous (Boldo and Melquiond 2008).
    fn to_odd(x: f64, error: f64) -> f64 {
        if error == 0.0 || x.to_bits() & 1 == 1 || !x.is_finite() {
            x
        } else if error > 0.0 {
            x.next_up()
        } else {
            x.next_down()
        }
    }

    /// f32 in every direction against f64 arithmetic with exact error terms: a second way to the same results.
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
                        if value == 0.0 && opposite && round == Round::Down { -0.0 } else { round32(value, round) }
                    };
                    let same = |got: f32, want: f32, what: &str| {
                        assert_eq!(got.to_bits(), want.to_bits(), "{a:e} {what} {b:e} ({z:e}) {round:?}");
                    };
                    same(mul(a, b, round), round32(x * y, round), "*");
                    same(add(a, b, round), signed(two_sum(x, y), [x, y]), "+");
                    same(sub(a, b, round), signed(two_sum(x, -y), [x, -y]), "-");
                    same(fma(a, b, z as f32, round), signed(two_sum(x * y, z), [x * y, z]), "fma");
                    if b != 0.0 {
                        let q = x / y;
                        let rest = (-q).mul_add(y, x);
                        same(div(a, b, round), round32(to_odd(q, if y > 0.0 { rest } else { -rest }), round), "/");
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
                // Near-cancelling and tie-making addends as well as unrelated ones.
                for c in [all[(i * 3 + j * 17) % all.len()], -(a * b), (a * b).next_up(), f32::from_bits(1), a * 0.5] {
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
            (approximate(-0.0, false, rsqrt), (-inf).to_bits()),
            (approximate(-1.0, false, f64::log2), NAN32),
            (approximate(f32::from_bits(1), true, f64::log2), (-inf).to_bits()),
            (approximate(-149.0, false, f64::exp2), 1),
            (approximate(-149.0, true, f64::exp2), 0),
        ] {
            assert_eq!(got.to_bits(), want, "{got:e}");
        }
        let payload = f64::from_bits(0x7ff0_0000_0000_0abc);
        assert_eq!(add(1.0, payload, down).to_bits(), 0x7ff8_0000_0000_0abc);
        assert_eq!(sub(1.0, payload, Round::Nearest).to_bits(), 0x7ff8_0000_0000_0abc);
        assert_eq!(sub(f64::INFINITY, f64::INFINITY, down).to_bits(), NAN64);
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
}
