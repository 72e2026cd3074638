//! Float arithmetic for f32 and f64, and with [`super::half`] for 16 bits (PTX ISA, "Floating Point
//! Instructions").
//!
//! Rounding to nearest uses the processor's own operations: IEEE 754 defines them exactly. The
//! other directions use [`super::exact`]. Approximations (`sin`, `ex2`, ..) are in
//! [`super::approximate`].
//!
//! NaN: every f32 NaN result is the canonical `0x7fffffff` (PTX ISA, "Floating-Point Comparisons":
//! payloads are not preserved). PTX does not define f64 NaN results. As on an H200, the result is
//! the second operand's NaN, or the third's, or the first's, made quiet, and `0xfff8000000000000`
//! if no operand is NaN. `neg` and `abs` keep a NaN's sign.

mod flushing;

pub(crate) use flushing::{
    add_flushing_near, fma_flushing, fma_flushing_near, mul_flushing, mul_flushing_near,
};

use super::exact::{Exact, F32, F64, Format};
use crate::isa::{FloatMode, Round};
use crate::kernel::{FusedSum, TestFn};

/// Operations common to all floats.
pub(crate) trait Float: Copy + PartialOrd {
    /// The format, for exact arithmetic.
    const FORMAT: Format;
    /// Decodes the bits of this format, zero-extended.
    fn from_bits64(bits: u64) -> Self;
    /// Returns the bits of this format, zero-extended.
    fn to_bits64(self) -> u64;
    /// Returns true for NaN.
    fn nan(self) -> bool;
    /// Returns true if the value is neither NaN nor infinite.
    fn finite(self) -> bool;
    /// Returns the value with its sign flipped, even for NaN.
    fn flip(self) -> Self;
    /// Returns the value without its sign, even for NaN.
    fn magnitude(self) -> Self;
    /// Returns `result`, or the NaN that replaces it for these operands.
    fn canonical(result: Self, operands: [Self; 3]) -> Self;
    /// Replaces a subnormal by a zero of its sign.
    /// Of the f64 forms only the approximations have `.ftz`.
    fn flush(self) -> Self;
    /// Clamps to [0, 1]; NaN and -0 become +0.
    fn saturate(self) -> Self;
    /// Returns `a + b`, rounded to nearest.
    fn add_near(a: Self, b: Self) -> Self;
    /// Returns `a * b`, rounded to nearest.
    fn mul_near(a: Self, b: Self) -> Self;
    /// Returns `a * b + c`, rounded to nearest.
    fn fma_near(a: Self, b: Self, c: Self) -> Self;
    /// Returns `a * b + c` of finite numbers, rounded in a direction.
    fn fma_directed(a: Self, b: Self, c: Self, round: Round) -> Self {
        exact_fma(a, b, c, round)
    }
    /// As [`Float::fma_near`], by the processor's instruction if there is one for the type.
    #[inline(always)]
    fn fused(self, b: Self, c: Self) -> Self {
        Self::fma_near(self, b, c)
    }
    /// Returns `a / b`, rounded to nearest.
    fn div_near(a: Self, b: Self) -> Self;
    /// Returns the square root, rounded to nearest.
    fn sqrt_near(a: Self) -> Self;
    /// Returns one.
    fn one() -> Self;
    /// Returns the smaller of two zeros, the negative one.
    fn min_zero(a: Self, b: Self) -> Self;
    /// Returns the larger of two zeros, the positive one.
    fn max_zero(a: Self, b: Self) -> Self;
}

macro_rules! floats {
    ($t:ident, $bits:ident, $format:expr, $canonical:expr, $flush:expr, $fma:expr,
     $directed:expr) => {
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
                // Tests the bits: a compiler may replace `is_nan ? NaN : x` by `x`, since it treats
                // all NaNs as one.
                if $format.is_nan(result.to_bits64()) { $canonical(operands) } else { result }
            }
            #[inline(always)]
            fn flush(self) -> $t {
                $flush(self)
            }
            #[inline(always)]
            fn saturate(self) -> $t {
                // NaN and -0 fail the first comparison.
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
            fn fma_directed(a: $t, b: $t, c: $t, round: Round) -> $t {
                $directed(a, b, c, round)
            }
            #[inline(always)]
            fn fused(self, b: $t, c: $t) -> $t {
                self.mul_add(b, c)
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

/// NaN result of every f32 instruction.
pub(crate) const NAN32: u32 = 0x7fff_ffff;
/// NaN result of an f64 instruction without a NaN operand.
pub(crate) const NAN64: u64 = 0xfff8_0000_0000_0000;

floats!(f32, u32, F32, |_| f32::from_bits(NAN32), flush32, fma32, directed_fma32);
floats!(f64, u64, F64, canonical_double, flush64, f64::mul_add, exact_fma);

/// Returns `a * b + c`, rounded once to nearest, without a fused instruction.
///
/// The x86-64 baseline has none, and a call of the C library per lane costs more than the whole
/// loop does here. The product is exact in f64. The sum is rounded to odd in f64, which makes the
/// second rounding to f32 innocuous (Boldo and Melquiond, "Emulation of FMA and correctly rounded
/// sums", 2008).
#[inline(always)]
fn fma32(a: f32, b: f32, c: f32) -> f32 {
    sum_to_odd(f64::from(a) * f64::from(b), f64::from(c)) as f32
}

/// Returns `a * b + c` of finite numbers, rounded in a direction.
fn directed_fma32(a: f32, b: f32, c: f32, round: Round) -> f32 {
    let (sum, lost) = two_sum(f64::from(a) * f64::from(b), f64::from(c));
    if sum == 0.0 {
        return exact_fma(a, b, c, round); // the sign of a zero
    }
    // `sum + lost` is exact. If the nearest single differs from `sum`, `lost` is too small to
    // matter.
    let near = sum as f32;
    let wide = f64::from(near);
    let is_above = wide > sum || (wide == sum && lost < 0.0);
    let is_below = wide < sum || (wide == sum && lost > 0.0);
    let down = round == Round::Down || round == Round::Zero && sum > 0.0;
    match (down, is_above, is_below) {
        (true, true, _) => near.next_down(),
        (false, _, true) => near.next_up(),
        _ => near,
    }
}

/// Defines sums of one float type.
macro_rules! sums {
    ($($float:ident $bits:literal: $to_odd:ident, $two_sum:ident;)+) => {$(
        /// Returns `p + c`, rounded to odd.
        #[doc = concat!("A second rounding to a format of at most ", $bits, " bits is then innocuous.")]
        #[inline(always)]
        pub(super) fn $to_odd(p: $float, c: $float) -> $float {
            let (sum, lost) = $two_sum(p, c);
            let bits = sum.to_bits();
            let away = (lost > 0.0) == (sum > 0.0);
            let odd = if away { bits.wrapping_add(1) } else { bits.wrapping_sub(1) };
            // For infinities and NaN, `lost` is NaN and the comparison is false.
            let inexact = lost.abs() > 0.0;
            if inexact && bits & 1 == 0 { $float::from_bits(odd) } else { sum }
        }

        /// Returns `p + c` and the error of this addition (Knuth), if nothing overflows.
        #[inline(always)]
        fn $two_sum(p: $float, c: $float) -> ($float, $float) {
            let sum = p + c;
            let t = sum - p;
            (sum, (p - (sum - t)) + (c - t))
        }
    )+};
}
sums! {
    f64 51: sum_to_odd, two_sum;
    f32 22: sum_to_odd32, two_sum32;
}

/// Replaces a subnormal by a zero of its sign.
#[inline(always)]
pub(crate) fn flush32(x: f32) -> f32 {
    let bits = x.to_bits();
    let kept = if bits & 0x7f80_0000 == 0 { 0x8000_0000 } else { u32::MAX };
    f32::from_bits(bits & kept)
}

/// Replaces a subnormal by a zero of its sign.
/// For `rcp.approx.ftz.f64` and `rsqrt.approx.ftz.f64`, the only f64 forms with `.ftz`.
#[inline(always)]
pub(crate) fn flush64(x: f64) -> f64 {
    if x.is_subnormal() { 0.0_f64.copysign(x) } else { x }
}

/// Returns true if the bits of an f64 encode NaN.
#[inline(always)]
pub(crate) fn is_nan_double(bits: u64) -> bool {
    F64.is_nan(bits)
}

/// Returns the quieted NaN of an f64 result.
/// The hardware tests the second operand first, then the third, then the first.
#[inline(always)]
pub(crate) fn canonical_double([a, b, c]: [f64; 3]) -> f64 {
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

fn exact_fma<F: Float>(a: F, b: F, c: F, round: Round) -> F {
    rounded(exact(a).times(exact(b)).plus(exact(c), round), round)
}

/// Returns `a + b`.
#[inline]
pub(crate) fn add<F: Float>(a: F, b: F, round: Round) -> F {
    if round == Round::Nearest || !a.finite() || !b.finite() {
        return F::canonical(F::add_near(a, b), [a, b, b]);
    }
    rounded(exact(a).plus(exact(b), round), round)
}

/// Returns `a - b`.
#[inline]
pub(crate) fn sub<F: Float>(a: F, b: F, round: Round) -> F {
    // A NaN keeps its sign: only numbers are flipped.
    add(a, if b.nan() { b } else { b.flip() }, round)
}

/// Returns `a * b`.
#[inline]
pub(crate) fn mul<F: Float>(a: F, b: F, round: Round) -> F {
    if round == Round::Nearest || !a.finite() || !b.finite() {
        return F::canonical(F::mul_near(a, b), [a, b, b]);
    }
    rounded(exact(a).times(exact(b)), round)
}

/// Returns `a * b + c`, rounded once.
#[inline]
pub(crate) fn fma<F: Float>(a: F, b: F, c: F, round: Round) -> F {
    if round == Round::Nearest || !a.finite() || !b.finite() || !c.finite() {
        return F::canonical(F::fma_near(a, b, c), [a, b, c]);
    }
    F::fma_directed(a, b, c, round)
}

/// Returns `a * b + c`, rounded once to nearest. `fused` is true if the processor has an
/// instruction for it, with equal results.
#[inline(always)]
pub(crate) fn fma_near<F: Float>(a: F, b: F, c: F, fused: bool) -> F {
    F::canonical(if fused { a.fused(b, c) } else { F::fma_near(a, b, c) }, [a, b, c])
}

/// Returns an f32 result: NaN is the canonical one.
#[inline(always)]
pub(crate) fn canonical_single(result: f32) -> f32 {
    f32::canonical(result, [result; 3])
}

/// Returns `a / b`.
#[inline]
pub(crate) fn div<F: Float>(a: F, b: F, round: Round) -> F {
    if round == Round::Nearest || !a.finite() || !b.finite() || b.magnitude().to_bits64() == 0 {
        // Division is a routine of many instructions; its result is the first NaN.
        return F::canonical(F::div_near(a, b), [b, a, a]);
    }
    rounded(exact(a).over(exact(b)), round)
}

/// Returns the square root.
#[inline]
pub(crate) fn sqrt<F: Float>(a: F, round: Round) -> F {
    if a.nan() || a < F::from_bits64(0) {
        return F::canonical(F::from_bits64(u64::MAX), [a; 3]);
    }
    if round == Round::Nearest || !a.finite() {
        // LLVM folds "NaN for negative numbers, else the root" into a bare root, and so turns the
        // canonical NaN into the processor's. `black_box` hides that both use the same number.
        return F::sqrt_near(std::hint::black_box(a));
    }
    rounded(exact(a).root(), round)
}

/// Applies `.ftz` to an operand or a result.
#[inline(always)]
pub(crate) fn flushed<F: Float>(x: F, ftz: bool) -> F {
    if ftz { x.flush() } else { x }
}

/// Applies `.ftz` and `.sat` to a result. Flushing tests the rounded result.
#[inline(always)]
pub(crate) fn finish<F: Float>(x: F, mode: FloatMode) -> F {
    let x = flushed(x, mode.ftz);
    let x = if mode.relu { relu(x) } else { x };
    if mode.sat { x.saturate() } else { x }
}

/// Applies `.relu`: numbers not above 0 become +0; NaN stays.
#[inline(always)]
fn relu<F: Float>(x: F) -> F {
    if x.nan() || x > F::from_bits64(0) { x } else { F::from_bits64(0) }
}

/// Returns `.xorsign.abs`: the selected magnitude with the product of the signs.
/// A NaN result stays canonical.
#[inline(always)]
pub(crate) fn xorsign<F: Float>(a: F, b: F, choose: impl Fn(F, F) -> F) -> F {
    let chosen = choose(a.magnitude(), b.magnitude());
    let negative = |x: F| F::FORMAT.is_negative(x.to_bits64());
    if negative(a) != negative(b) && !chosen.nan() { chosen.flip() } else { chosen }
}

/// Returns the smaller value; -0 is smaller than +0.
/// A NaN loses to a number unless `nan`.
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

/// Returns the larger value; +0 is larger than -0.
/// A NaN loses to a number unless `nan`.
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

/// As [`min`] of numbers and NaN without modifiers, in a form that vectorises.
#[inline(always)]
pub(crate) fn min_single(a: f32, b: f32) -> f32 {
    choose_single(a, b, a.to_bits() | b.to_bits(), a < b)
}

/// As [`max`] of numbers and NaN without modifiers, in a form that vectorises.
#[inline(always)]
pub(crate) fn max_single(a: f32, b: f32) -> f32 {
    choose_single(a, b, a.to_bits() & b.to_bits(), a > b)
}

/// Returns `a` if `first` holds or `b` is NaN, else `b`; of equal operands, which may be zeros of
/// both signs, the bits `equal`; of two NaN the canonical one.
#[inline(always)]
fn choose_single(a: f32, b: f32, equal: u32, first: bool) -> f32 {
    let number = if first | b.is_nan() { a.to_bits() } else { b.to_bits() };
    let bits = if a == b { equal } else { number };
    f32::from_bits(if a.is_nan() & b.is_nan() { NAN32 } else { bits })
}

/// Applies the NaN rules of min and max to their choice between numbers.
#[inline(always)]
fn choose<F: Float>(a: F, b: F, nan: bool, number: F) -> F {
    match (a.nan(), b.nan()) {
        (false, false) => number,
        (true, false) if !nan => b,
        (false, true) if !nan => a,
        _ => F::canonical(if a.nan() { a } else { b }, [a, b, b]),
    }
}

/// Returns `-a`; a NaN keeps its sign.
#[inline(always)]
pub(crate) fn neg<F: Float>(a: F) -> F {
    F::canonical(if a.nan() { a } else { a.flip() }, [a; 3])
}

/// Returns the operands of the fused multiply-add that computes `sum`.
#[inline(always)]
pub(crate) fn signed<F: Float>(sum: FusedSum, [a, b, c]: [F; 3]) -> [F; 3] {
    match sum {
        FusedSum::Add => [a, b, c],
        FusedSum::Sub => [a, b, neg(c)],
        FusedSum::From => [neg(a), b, c],
    }
}

/// Returns `|a|`; a NaN keeps its sign.
#[inline(always)]
pub(crate) fn abs<F: Float>(a: F) -> F {
    F::canonical(if a.nan() { a } else { a.magnitude() }, [a; 3])
}

/// Returns true if the value is of the given kind of `testp`.
pub(crate) fn is_kind<F: Float>(a: F, kind: TestFn) -> bool {
    let normal = a.finite() && a.magnitude().to_bits64() >= F::FORMAT.least_normal();
    match kind {
        TestFn::Finite => a.finite(),
        TestFn::Infinite => !a.finite() && !a.nan(),
        TestFn::Number => !a.nan(),
        TestFn::NotANumber => a.nan(),
        // Zeros count as normal numbers.
        TestFn::Normal => normal || a.magnitude().to_bits64() == 0,
        TestFn::In(_) => unreachable!("space tests apply to addresses"),
        TestFn::Subnormal => a.finite() && !normal && a.magnitude().to_bits64() != 0,
    }
}

/// Returns the sign of `a` with the magnitude of `b`.
#[inline(always)]
pub(crate) fn copysign<F: Float>(a: F, b: F) -> F {
    if F::FORMAT.is_negative(a.to_bits64()) { b.magnitude().flip() } else { b.magnitude() }
}

#[cfg(test)]
pub(crate) mod tests;
