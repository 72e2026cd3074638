//! Float arithmetic, for f32 and f64 here and for 16 bits with [`super::half`] (PTX ISA, "Floating Point Instructions").
//!
//! To nearest, the processor's own operations are used: IEEE 754 leaves them no freedom. The other directions go
//! through [`super::exact`]. Approximations (`sin`, `ex2`, ..) are the f64 function of the argument, rounded to f32:
//! more accurate than the hardware's, within the error the manual allows.
//!
//! NaN: every f32 result that is NaN is the canonical `0x7fffffff` (PTX ISA, "Floating-Point Comparisons": payloads are
//! not preserved). PTX does not say which f64 NaN comes out; here it is, as an H200 has it, the second operand's, or the
//! third's, or the first's, made quiet, and `0xfff8000000000000` when no operand is NaN. `neg` and `abs` leave a NaN's sign.

use super::exact::{Exact, F32, F64, Format};
use crate::isa::{FloatMode, Round};
use crate::kernel::TestFn;

/// What all floats have in common.
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
    /// A subnormal becomes a zero of its sign. Of f64 forms only the approximations have `.ftz`.
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
                // By the bits: a compiler may take `is_nan ? NaN : x` for `x`, because to it all NaNs are one.
                if $format.is_nan(result.to_bits64()) { $canonical(operands) } else { result }
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
floats!(f64, u64, F64, chosen_nan, flush64, f64::mul_add);

/// `a * b + c`, rounded once to nearest, without a fused instruction: the baseline x86-64 has none, and a call of the C
/// library a lane costs more than the whole loop does here. The product is exact in f64; the sum is rounded to odd in
/// f64, which makes rounding it again to f32 innocuous (Boldo and Melquiond, "Emulation of FMA and correctly rounded
/// sums", 2008).
#[inline(always)]
fn fma32(a: f32, b: f32, c: f32) -> f32 {
    sum_to_odd(f64::from(a) * f64::from(b), f64::from(c)) as f32
}

/// `p + c`, rounded to odd: rounding it again to a format of at most 51 bits is innocuous.
#[inline(always)]
pub(super) fn sum_to_odd(p: f64, c: f64) -> f64 {
    let sum = p + c;
    // Knuth's two-sum: what the addition lost. Nothing overflows in f64.
    let t = sum - p;
    let lost = (p - (sum - t)) + (c - t);
    let bits = sum.to_bits();
    let away = (lost > 0.0) == (sum > 0.0);
    let odd = if away { bits.wrapping_add(1) } else { bits.wrapping_sub(1) };
    // Infinities and NaN lose NaN, whose magnitude is above nothing.
    let inexact = lost.abs() > 0.0;
    if inexact && bits & 1 == 0 { f64::from_bits(odd) } else { sum }
}

/// A subnormal becomes a zero of its sign.
#[inline(always)]
pub(crate) fn flush32(x: f32) -> f32 {
    let bits = x.to_bits();
    let kept = if bits & 0x7f80_0000 == 0 { 0x8000_0000 } else { u32::MAX };
    f32::from_bits(bits & kept)
}

/// A subnormal becomes a zero of its sign: `rcp.approx.ftz.f64` and `rsqrt.approx.ftz.f64`, the only f64 forms with `.ftz`.
#[inline(always)]
pub(crate) fn flush64(x: f64) -> f64 {
    if x.is_subnormal() { 0.0_f64.copysign(x) } else { x }
}

/// The quieted NaN that an f64 result is: the hardware looks at the second operand first, then the third, then the first.
#[inline(always)]
fn chosen_nan([a, b, c]: [f64; 3]) -> f64 {
    for x in [b, c, a] {
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

/// `a * b` with `.ftz`, which looks at the product before it is rounded: what is below the normal numbers then is a zero,
/// also where rounding would make it the smallest of them (seen on an H200). The product is exact in f64.
#[inline(always)]
pub(crate) fn mul_flushing(a: f32, b: f32, round: Round) -> f32 {
    let product = f64::from(a) * f64::from(b);
    if product.abs() < f64::from(f32::MIN_POSITIVE) { 0.0_f32.copysign(product as f32) } else { mul(a, b, round) }
}

/// `a * b + c` with `.ftz`, as [`mul_flushing`].
#[inline(always)]
pub(crate) fn fma_flushing(a: f32, b: f32, c: f32, round: Round) -> f32 {
    let least = f64::from(f32::MIN_POSITIVE);
    let (p, c64) = (f64::from(a) * f64::from(b), f64::from(c));
    let sum = p + c64;
    // The sum may have been rounded up to the smallest normal number itself.
    let (p, c64) = if sum < 0.0 { (-p, -c64) } else { (p, c64) };
    let small = sum != 0.0 && (sum.abs() < least || (sum.abs() == least && p < least - c64));
    if small { 0.0_f32.copysign(sum as f32) } else { fma(a, b, c, round) }
}

/// `a / b`
#[inline]
pub(crate) fn div<F: Float>(a: F, b: F, round: Round) -> F {
    if round == Round::Nearest || !a.finite() || !b.finite() || b.magnitude().to_bits64() == 0 {
        // Division is a routine of many instructions; what comes out of it is the first NaN.
        return F::canonical(F::div_near(a, b), [b, a, a]);
    }
    rounded(exact(a).over(exact(b)), round)
}

/// The square root.
#[inline]
pub(crate) fn sqrt<F: Float>(a: F, round: Round) -> F {
    if a.nan() || a < F::from_bits64(0) {
        return F::canonical(F::from_bits64(u64::MAX), [a; 3]);
    }
    if round == Round::Nearest || !a.finite() {
        // LLVM makes a bare root of "NaN for negative numbers, else the root", and so the processor's NaN of the canonical
        // one; it cannot where it does not see that both speak of one number.
        return F::sqrt_near(std::hint::black_box(a));
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
    let x = if mode.relu { relu(x) } else { x };
    if mode.sat { x.saturate() } else { x }
}

/// `.relu`: +0 for what is not above 0; NaN stays.
#[inline(always)]
fn relu<F: Float>(x: F) -> F {
    if x.nan() || x > F::from_bits64(0) { x } else { F::from_bits64(0) }
}

/// `.xorsign.abs`: the magnitude chosen, with the product of the operands' signs; a NaN result stays canonical.
#[inline(always)]
pub(crate) fn xorsign<F: Float>(a: F, b: F, choose: impl Fn(F, F) -> F) -> F {
    let chosen = choose(a.magnitude(), b.magnitude());
    let negative = |x: F| F::FORMAT.is_negative(x.to_bits64());
    if negative(a) != negative(b) && !chosen.nan() { chosen.flip() } else { chosen }
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

/// `-a`; a NaN keeps its sign.
#[inline(always)]
pub(crate) fn neg<F: Float>(a: F) -> F {
    F::canonical(if a.nan() { a } else { a.flip() }, [a; 3])
}

/// `|a|`; a NaN keeps its sign.
#[inline(always)]
pub(crate) fn abs<F: Float>(a: F) -> F {
    F::canonical(if a.nan() { a } else { a.magnitude() }, [a; 3])
}

/// `div.approx`: where the reciprocal of `b` is subnormal, the quotient is a zero (PTX ISA, `div`).
pub(crate) fn div_approx(a: f32, b: f32) -> f32 {
    let vanishes = b.is_finite() && b.abs() > 126_f32.exp2();
    if vanishes { mul(a, 0.0_f32.copysign(b), Round::Nearest) } else { div(a, b, Round::Nearest) }
}

/// Whether the value is of the kind that `testp` asks for.
pub(crate) fn is_kind<F: Float>(a: F, kind: TestFn) -> bool {
    let normal = a.finite() && a.magnitude().to_bits64() >= F::FORMAT.least_normal();
    match kind {
        TestFn::Finite => a.finite(),
        TestFn::Infinite => !a.finite() && !a.nan(),
        TestFn::Number => !a.nan(),
        TestFn::NotANumber => a.nan(),
        // Zeros count as normal numbers.
        TestFn::Normal => normal || a.magnitude().to_bits64() == 0,
        TestFn::In(_) => unreachable!("spaces are asked of addresses"),
        TestFn::Subnormal => a.finite() && !normal && a.magnitude().to_bits64() != 0,
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
pub(crate) mod tests;
