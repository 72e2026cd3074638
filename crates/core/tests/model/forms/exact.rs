//! Exact real arithmetic with one rounding: a fixed-point number as wide as the range of products
//! of doubles (Kulisch's accumulator), and rounding as defined in IEEE 754-2019, 4.3. Simple on
//! purpose.

use simt_core::isa::Type;

/// A binary float format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Format {
    /// Significant bits, including the hidden one.
    pub(crate) precision: i32,
    /// Exponent of the largest numbers; also the bias.
    pub(crate) most: i32,
}

/// binary16
pub(crate) const F16: Format = Format { precision: 11, most: 15 };
/// bfloat16
pub(crate) const BF16: Format = Format { precision: 8, most: 127 };
/// binary32
pub(crate) const F32: Format = Format { precision: 24, most: 127 };
/// binary64
pub(crate) const F64: Format = Format { precision: 53, most: 1023 };

impl Format {
    /// Returns the format of a type.
    pub(crate) fn of(ty: Type) -> Format {
        match ty.name() {
            "f16" | "f16x2" => F16,
            "bf16" | "bf16x2" => BF16,
            "f64" => F64,
            _ => F32,
        }
    }

    /// Returns the sign bit.
    pub(crate) fn sign(self) -> u64 {
        self.infinity() + (1 << (self.precision - 1))
    }

    /// Returns the bits of plus infinity.
    pub(crate) fn infinity(self) -> u64 {
        (2 * self.most as u64 + 1) << (self.precision - 1)
    }

    /// Returns the bits of one.
    pub(crate) fn one(self) -> u64 {
        (self.most as u64) << (self.precision - 1)
    }

    /// Decodes bits.
    pub(crate) fn decode(self, bits: u64) -> Number {
        let negative = bits & self.sign() != 0;
        let magnitude = bits & (self.sign() - 1);
        if magnitude >= self.infinity() {
            return if magnitude == self.infinity() {
                Number::Infinite(negative)
            } else {
                Number::Nan
            };
        }
        let hidden = 1u64 << (self.precision - 1);
        let (field, fraction) = ((magnitude / hidden) as i32, magnitude % hidden);
        let lowest = 2 - self.most - self.precision;
        let (significand, exponent) =
            if field == 0 { (fraction, lowest) } else { (fraction + hidden, lowest + field - 1) };
        Number::Finite(Real { negative, significand: significand.into(), exponent, more: false })
    }

    /// Returns the value as a double, which represents every number of every format here.
    pub(crate) fn double(self, bits: u64) -> f64 {
        let sign = |negative| if negative { -1.0 } else { 1.0 };
        match self.decode(bits) {
            Number::Nan => f64::NAN,
            Number::Infinite(negative) => f64::INFINITY * sign(negative),
            Number::Finite(real) => f64::from_bits(real.round(F64, b'n')),
        }
    }

    /// Returns true for the bits of a subnormal number.
    pub(crate) fn is_subnormal(self, bits: u64) -> bool {
        let magnitude = bits & (self.sign() - 1);
        magnitude != 0 && magnitude < 1 << (self.precision - 1)
    }
}

/// Value of a float.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Number {
    Nan,
    Infinite(bool),
    Finite(Real),
}

/// `significand * 2^exponent` with a sign, plus, if `more`, something between 0 and `2^exponent`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Real {
    pub(crate) negative: bool,
    pub(crate) significand: u128,
    pub(crate) exponent: i32,
    pub(crate) more: bool,
}

/// Returns the rounding direction of a PTX name: `rn rz rm rp`.
pub(crate) fn direction(word: Option<&str>) -> u8 {
    word.and_then(|w| w.as_bytes().get(1).copied()).unwrap_or(b'n')
}

/// Returns true if `kept + part` of one unit rounds up to `kept + 1`; `half` compares the part with
/// one half.
fn rounds_up(
    direction: u8,
    negative: bool,
    odd: bool,
    part: bool,
    half: std::cmp::Ordering,
) -> bool {
    match direction {
        b'n' => half.is_gt() || half.is_eq() && odd,
        b'm' => negative && part,
        b'p' => !negative && part,
        _ => false,
    }
}

impl Real {
    /// Converts an integer.
    pub(crate) fn integer(value: i128) -> Real {
        Real { negative: value < 0, significand: value.unsigned_abs(), exponent: 0, more: false }
    }

    /// Rounds the magnitude to a multiple of `2^quantum`, in such units.
    pub(crate) fn units(self, quantum: i32, direction: u8) -> u128 {
        let shift = quantum - self.exponent;
        if shift <= 0 {
            assert!(!self.more, "the lost part lies below the last unit");
            return self.significand << -shift;
        }
        let (kept, rest, half) = if shift > 127 {
            (0, self.significand, u128::MAX)
        } else {
            (self.significand >> shift, self.significand & ((1 << shift) - 1), 1 << (shift - 1))
        };
        let part = rest != 0 || self.more;
        let half = rest.cmp(&half).then(self.more.cmp(&false));
        kept + u128::from(rounds_up(direction, self.negative, kept & 1 == 1, part, half))
    }

    /// Rounds to a float in a direction.
    pub(crate) fn round(self, format: Format, direction: u8) -> u64 {
        let sign = if self.negative { format.sign() } else { 0 };
        if self.significand == 0 {
            return sign;
        }
        let leading = self.exponent + self.significand.ilog2() as i32;
        let quantum = leading.max(1 - format.most) - (format.precision - 1);
        let units = self.units(quantum, direction);
        // Consecutive bit patterns are consecutive numbers, so a carry into the exponent is
        // correct.
        let patterns = (quantum + format.precision - 2 + format.most) as u128;
        let bits = (patterns << (format.precision - 1)) + units;
        if leading > format.most || bits >= format.infinity().into() {
            let outwards =
                rounds_up(direction, self.negative, true, true, std::cmp::Ordering::Greater);
            return sign | (format.infinity() - u64::from(!outwards));
        }
        sign | bits as u64
    }

    /// Multiplies; factors have at most 64 bits.
    pub(crate) fn times(self, other: Real) -> Real {
        Real {
            negative: self.negative != other.negative,
            significand: self.significand * other.significand,
            exponent: self.exponent + other.exponent,
            more: false,
        }
    }

    /// Adds. An exact zero of unlike signs is -0 only when rounding down.
    pub(crate) fn plus(self, other: Real, direction: u8) -> Real {
        if self.significand == 0 && other.significand == 0 {
            let negative =
                if self.negative == other.negative { self.negative } else { direction == b'm' };
            return Real { negative, ..self };
        }
        let mut sum = Accumulator::default();
        sum.add(self);
        sum.add(other);
        let real = sum.value();
        if real.significand == 0 { Real { negative: direction == b'm', ..real } } else { real }
    }

    /// Divides numbers of at most 53 bits, to more than 60 bits; the divisor is not zero.
    pub(crate) fn over(self, divisor: Real) -> Real {
        let up = |r: Real, to: u32| {
            let by = to - (128 - r.significand.leading_zeros());
            (r.significand << by, r.exponent - by as i32)
        };
        if self.significand == 0 {
            return Real { negative: self.negative != divisor.negative, ..self };
        }
        let ((a, ea), (b, eb)) = (up(self, 120), up(divisor, 56));
        Real {
            negative: self.negative != divisor.negative,
            significand: a / b,
            exponent: ea - eb,
            more: a % b != 0,
        }
    }

    /// Returns the square root of a number of at most 53 bits, to more than 58 bits; not negative
    /// unless zero.
    pub(crate) fn root(self) -> Real {
        if self.significand == 0 {
            return self;
        }
        let by = self.significand.leading_zeros() as i32 - 2;
        let by = by - (self.exponent - by).rem_euclid(2);
        let significand = self.significand << by;
        let root = significand.isqrt();
        Real {
            significand: root,
            exponent: (self.exponent - by) / 2,
            more: root * root != significand,
            ..self
        }
    }
}

/// Limbs below and above the binary point: products of doubles range from 2^-2148 to 2^2048.
const LIMBS: usize = 70;
const POINT: i32 = 2200;

/// A fixed-point number in two's complement, wide enough for every sum of products of doubles.
struct Accumulator([u64; LIMBS]);

impl Default for Accumulator {
    fn default() -> Accumulator {
        Accumulator([0; LIMBS])
    }
}

impl Accumulator {
    fn add(&mut self, term: Real) {
        let place = (term.exponent + POINT) as usize;
        let (limb, shift) = (place / 64, place % 64);
        let mut parts = [0u64; 3];
        for (i, half) in
            [term.significand as u64, (term.significand >> 64) as u64].into_iter().enumerate()
        {
            let shifted = u128::from(half) << shift;
            parts[i] |= shifted as u64;
            parts[i + 1] |= (shifted >> 64) as u64;
        }
        let mut carry = false;
        for i in limb..LIMBS {
            let part = parts.get(i - limb).copied().unwrap_or(0);
            let step = if term.negative { u64::overflowing_sub } else { u64::overflowing_add };
            let (value, first) = step(self.0[i], part);
            let (value, second) = step(value, carry.into());
            self.0[i] = value;
            carry = first || second;
            if !carry && i >= limb + 2 {
                break;
            }
        }
    }

    /// Returns the number with about its leading 120 bits.
    fn value(mut self) -> Real {
        let negative = self.0[LIMBS - 1] >> 63 == 1;
        if negative {
            let mut carry = true;
            for limb in &mut self.0 {
                (*limb, carry) = (!*limb).overflowing_add(carry.into());
            }
        }
        let Some(top) = (0..LIMBS).rev().find(|&i| self.0[i] != 0) else {
            return Real { negative: false, significand: 0, exponent: 0, more: false };
        };
        let leading = top as i32 * 64 + self.0[top].ilog2() as i32;
        let lowest = (leading - 119).max(0) as usize;
        let limb = |i: usize| u128::from(self.0.get(i).copied().unwrap_or(0));
        let (first, shift) = (lowest / 64, lowest % 64);
        let mut significand = limb(first) >> shift | limb(first + 1) << (64 - shift);
        if shift > 0 {
            significand |= limb(first + 2) << (128 - shift);
        }
        let more = self.0[..first].iter().any(|&l| l != 0) || limb(first) & ((1 << shift) - 1) != 0;
        Real { negative, significand, exponent: lowest as i32 - POINT, more }
    }
}

/// The processor rounds to nearest, too.
#[test]
fn rounding_to_nearest_agrees_with_the_processor() {
    use super::inputs::{Source, tuples};
    let f64s = Source { ty: Type::F64, amount: false };
    for x in tuples(&[f64s; 3], 11) {
        let [a, b, c] = [x[0], x[1], x[2]].map(f64::from_bits);
        let [Number::Finite(p), Number::Finite(q), Number::Finite(r)] =
            [x[0], x[1], x[2]].map(|b| F64.decode(b))
        else {
            continue;
        };
        let near = |r: Real| r.round(F64, b'n');
        assert_eq!(near(p.times(q)), (a * b).to_bits(), "{a:e} * {b:e}");
        assert_eq!(near(p.plus(q, b'n')), (a + b).to_bits(), "{a:e} + {b:e}");
        assert_eq!(
            near(p.times(q).plus(r, b'n')),
            a.mul_add(b, c).to_bits(),
            "{a:e} * {b:e} + {c:e}"
        );
        assert_eq!(p.round(F32, b'n'), u64::from((a as f32).to_bits()), "{a:e}");
        if b != 0.0 {
            assert_eq!(near(p.over(q)), (a / b).to_bits(), "{a:e} / {b:e}");
        }
        if a >= 0.0 {
            assert_eq!(near(p.root()), a.sqrt().to_bits(), "sqrt {a:e}");
        }
    }
}
