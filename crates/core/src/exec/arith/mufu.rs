//! MUFU: the approximated functions of a GPU's special function unit, bit by bit.
//!
//! The unit interpolates (Oberman and Siu, "A High-Performance Area-Efficient Multifunction
//! Interpolator", ARITH 2005): leading bits of the operand choose a segment, the next 17 bits are
//! `x`, and the result is `c0 + c1 x + c2 x^2` and a bias, truncated. Widths, tables and the
//! treatment of operands are those that give the results of an H200 for all 2^32 operands of each
//! function (`tests/observations/h200/mufu.txt`).
//!
//! Subnormal operands count as zeros and subnormal results become zeros, but in `tanh`.

mod tables;

use super::float::NAN32;
use super::half::Short;
use crate::kernel::Approximation;
use tables::{EXPONENTIAL, LOGARITHM, RECIPROCAL, RECIPROCAL_ROOT, ROOT, SINE, TANGENT};

/// The sign of an f32 and of the high word of an f64.
const SIGN: u32 = 1 << 31;
const INFINITY: u32 = 0x7f80_0000;
const ONE: u32 = 0x3f80_0000;
/// Bits of an operand within its segment.
const WITHIN: u32 = 17;

/// Coefficients of a function by segment.
struct Table {
    /// Weight of `c0`, a power of two; `c1` and `c2` have the weight 1.
    shift: u32,
    bias: i64,
    rows: &'static [i32],
}

impl Table {
    /// Returns the function at `x` of 2^17 in a segment.
    #[inline(always)]
    fn at(&self, segment: u32, x: u32) -> i64 {
        let [c0, c1, c2] = self.rows.as_chunks().0[segment as usize].map(i64::from);
        (c0 << self.shift) + self.bias + c1 * i64::from(x) + c2 * i64::from(square(x))
    }

    /// Returns the function of a fraction of `bits` bits. Its leading bits follow `first`.
    #[inline(always)]
    fn of(&self, first: u32, fraction: u32, bits: u32) -> i64 {
        let fraction = fraction << (23 - bits);
        self.at(first + (fraction >> WITHIN), fraction & ((1 << WITHIN) - 1))
    }
}

/// Returns the products of `N` values of low bits, from `bit` on, with the seven highest of 17
/// bits, in units of 2^19. Products of two bits that are less are missing, not rounded.
const fn products<const N: usize>(bit: usize) -> [[u8; 128]; N] {
    let mut sums = [[0; 128]; N];
    let mut at = 0;
    while at < 128 * N {
        let (low, high) = (at / 128, at % 128);
        let mut i = 0;
        while N >> i > 1 {
            if low >> i & 1 == 1 {
                sums[low][high] += (high >> (8 - bit - i)) as u8;
            }
            i += 1;
        }
        at += 1;
    }
    sums
}

static LOW_PRODUCTS: [[u8; 128]; 8] = products(2);
static MIDDLE_PRODUCTS: [[u8; 128]; 16] = products(5);

/// Returns the square of 17 bits in units of 2^19.
///
/// The squarer has no columns below 2^19. All products of the upper eight bits are there, but for
/// the square of the lowest.
#[inline(always)]
fn square(x: u32) -> u32 {
    let (high, upper) = (x >> 9, (x >> 10) as usize);
    let low = LOW_PRODUCTS[(x >> 2 & 7) as usize][upper];
    let middle = MIDDLE_PRODUCTS[(x >> 5 & 15) as usize][upper];
    high * high / 2 + u32::from(low) + u32::from(middle)
}

/// Layout of an operand and of its result: an f32, or the high word of an f64.
#[derive(Clone, Copy)]
struct Layout {
    /// Bits of the fraction.
    fraction: u32,
    /// Exponent of 1.
    bias: i32,
}

const SINGLE: Layout = Layout { fraction: 23, bias: 127 };
const HIGH: Layout = Layout { fraction: 20, bias: 1023 };

impl Layout {
    /// Returns sign, exponent and fraction.
    #[inline(always)]
    fn parts(self, a: u32) -> (u32, i32, u32) {
        let magnitude = a & !SIGN;
        (a & SIGN, (magnitude >> self.fraction) as i32, magnitude & ((1 << self.fraction) - 1))
    }

    /// Exponent of infinities and NaN.
    #[inline(always)]
    fn last(self) -> i32 {
        2 * self.bias + 1
    }

    #[inline(always)]
    fn infinity(self) -> u32 {
        (self.last() as u32) << self.fraction
    }

    /// Returns the number with a mantissa of 24 bits, or of 2^24, truncated.
    /// The exponent is that of the mantissa's highest bit; a subnormal number becomes 0.
    #[inline(always)]
    fn number(self, exponent: i32, mantissa: u32) -> u32 {
        let bits = ((exponent - 1) << self.fraction) + (mantissa >> (23 - self.fraction)) as i32;
        if bits < 1 << self.fraction { 0 } else { bits as u32 }
    }

    #[inline(always)]
    fn reciprocal(self, a: u32) -> u32 {
        let (sign, exponent, fraction) = self.parts(a);
        if exponent == 0 {
            return sign | self.infinity();
        }
        if exponent == self.last() {
            return if fraction == 0 { sign } else { NAN32 };
        }
        // 128 segments: the fraction's last bit has the place of the second lowest of `x`.
        let fraction = fraction << (23 - self.fraction);
        let mantissa = RECIPROCAL.at(fraction >> 16, (fraction & 0xffff) << 1) >> 16;
        sign | self.number(2 * self.bias - 1 - exponent, mantissa as u32)
    }

    #[inline(always)]
    fn reciprocal_root(self, a: u32) -> u32 {
        let (sign, exponent, fraction) = self.parts(a);
        if exponent == self.last() && fraction != 0 {
            return NAN32;
        }
        if exponent == 0 {
            return sign | self.infinity();
        }
        if sign != 0 {
            return NAN32;
        }
        if exponent == self.last() {
            return 0;
        }
        // The biases are odd: an odd exponent is an even power of two.
        let odd_power = exponent as u32 & 1 ^ 1;
        // The table is one unit too low at 1.
        let mantissa = match (odd_power, fraction) {
            (0, 0) => 1 << 24,
            _ => (RECIPROCAL_ROOT.of(64 * odd_power, fraction, self.fraction) >> 16) as u32,
        };
        self.number(self.bias - 1 - ((exponent - self.bias) >> 1), mantissa)
    }
}

/// Returns the float with the value of a fixed-point number, truncated.
#[inline(always)]
fn float(value: u64, fraction: u32) -> u32 {
    if value == 0 {
        return 0;
    }
    let top = value.ilog2();
    let mantissa = if top > 23 { value >> (top - 23) } else { value << (23 - top) };
    ((top + 126 - fraction) << 23) + mantissa as u32
}

fn reciprocal(a: u32) -> u32 {
    SINGLE.reciprocal(a)
}

fn reciprocal_root(a: u32) -> u32 {
    SINGLE.reciprocal_root(a)
}

fn high_reciprocal(a: u32) -> u32 {
    HIGH.reciprocal(a)
}

fn high_reciprocal_root(a: u32) -> u32 {
    HIGH.reciprocal_root(a)
}

fn root(a: u32) -> u32 {
    let (sign, exponent, fraction) = SINGLE.parts(a);
    if exponent == 255 && fraction != 0 {
        return NAN32;
    }
    if exponent == 0 {
        return sign;
    }
    if sign != 0 {
        return NAN32;
    }
    if exponent == 255 {
        return INFINITY;
    }
    let odd_power = exponent as u32 & 1 ^ 1;
    let mantissa = ROOT.of(64 * odd_power, fraction, 23) >> 17;
    SINGLE.number(127 + ((exponent - 127) >> 1), mantissa as u32)
}

fn exponential(a: u32) -> u32 {
    let (sign, exponent, fraction) = SINGLE.parts(a);
    if exponent == 255 && fraction != 0 {
        return NAN32;
    }
    if exponent >= 127 + 8 {
        return if sign == 0 { INFINITY } else { 0 };
    }
    // The operand in fixed point, truncated to 23 bits after the point.
    let mantissa = fraction | 1 << 23;
    let fixed = match exponent {
        127.. => mantissa << (exponent - 127),
        _ => mantissa >> (127 - exponent).min(31),
    };
    let (mut whole, mut fraction) = ((fixed >> 23) as i32, fixed & 0x7f_ffff);
    if sign != 0 {
        // The fraction of a negative operand is the ones' complement, unless it is 0.
        let inexact = fraction != 0;
        whole = -whole - i32::from(inexact);
        fraction = if inexact { fraction ^ 0x7f_ffff } else { 0 };
    }
    if whole >= 128 {
        return INFINITY;
    }
    SINGLE.number(whole + 127, (EXPONENTIAL.of(0, fraction, 23) >> 15) as u32)
}

fn logarithm(a: u32) -> u32 {
    let (sign, exponent, fraction) = SINGLE.parts(a);
    if exponent == 255 && fraction != 0 {
        return NAN32;
    }
    if exponent == 0 {
        return SIGN | INFINITY;
    }
    if sign != 0 {
        return NAN32;
    }
    if exponent == 255 {
        return INFINITY;
    }
    if a == ONE {
        return 0;
    }
    // The sum has 36 bits after the point; the magnitude of a negative one is its ones' complement.
    let whole = (i64::from(exponent) - 127) << 38;
    let sum = (whole + LOGARITHM.of(0, fraction, 23)) >> 2;
    if sum < 0 { SIGN | float(!sum as u64, 36) } else { float(sum as u64, 36) }
}

fn sine(a: u32) -> u32 {
    turn(a, 0, a & SIGN)
}

fn cosine(a: u32) -> u32 {
    turn(a, 1, 0)
}

/// Returns the sine of an angle in turns, and of `quarters` more.
#[inline(always)]
fn turn(a: u32, quarters: u32, sign: u32) -> u32 {
    let (_, exponent, fraction) = SINGLE.parts(a);
    if exponent == 255 {
        return NAN32;
    }
    // Turns in fixed point, truncated to 25 bits after the point: two are the quarter.
    let mantissa = if exponent == 0 { 0 } else { fraction | 1 << 23 };
    let fixed = match exponent {
        125.. => mantissa.checked_shl(exponent as u32 - 125).unwrap_or(0),
        _ => mantissa >> (125 - exponent).min(31),
    };
    let quarter = (fixed >> 23) + quarters;
    let rest = fixed & 0x7f_ffff;
    let rest = if quarter & 1 == 0 { rest } else { rest ^ 0x7f_ffff };
    let sign = sign ^ (quarter & 2) << 30;
    sign | float(SINE.of(0, rest, 23) as u64, 37)
}

fn tangent(a: u32) -> u32 {
    /// First segment and unused low bits of the fraction, by exponent from 2^-8 on.
    const SEGMENTS: [(u32, u32); 11] = [
        (0, 6),
        (1, 6),
        (2, 6),
        (3, 5),
        (5, 5),
        (7, 4),
        (11, 4),
        (15, 4),
        (19, 3),
        (27, 2),
        (43, 3),
    ];
    let (sign, exponent, fraction) = SINGLE.parts(a);
    if exponent < 119 {
        return a;
    }
    let Some((first, unused)) = SEGMENTS.get(exponent as usize - 119) else {
        return if a & !SIGN > INFINITY { NAN32 } else { sign | ONE };
    };
    sign | float(TANGENT.of(*first, fraction >> unused, 23) as u64, 39)
}

/// Returns a function of MUFU on the bits of an f32, or on the high word of an f64.
pub(crate) fn function(f: Approximation) -> fn(u32) -> u32 {
    match f {
        Approximation::Reciprocal => reciprocal,
        Approximation::ReciprocalRoot => reciprocal_root,
        Approximation::Root => root,
        Approximation::Exponential => exponential,
        Approximation::Logarithm => logarithm,
        Approximation::Sine => sine,
        Approximation::Cosine => cosine,
        Approximation::Tangent => tangent,
        Approximation::HighReciprocal => high_reciprocal,
        Approximation::HighReciprocalRoot => high_reciprocal_root,
    }
}

/// Applies a function of MUFU to a 16-bit float: it is that of the f32, truncated.
pub(crate) fn short<H: Short>(a: H, f: fn(u32) -> u32) -> H {
    let result = f64::from(f32::from_bits(f((a.widen() as f32).to_bits())));
    let [unit, least] = [1, H::FORMAT.least_normal()].map(|bits| H::from_bits64(bits).widen());
    let truncated = if result.abs() < least {
        (result / unit).trunc() * unit
    } else {
        // A NaN has all bits.
        let unused = 52 - H::FORMAT.least_normal().trailing_zeros();
        f64::from_bits(result.to_bits() >> unused << unused)
    };
    H::narrow(truncated)
}

#[cfg(test)]
pub(crate) mod tests;
