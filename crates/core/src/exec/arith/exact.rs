//! Correct rounding in any direction, in software.
//!
//! The simulator never changes the processor's rounding mode. A result that is not rounded to
//! nearest is computed as an integer times a power of two, exact except for a sticky lowest bit,
//! and rounded once by [`Exact::round`]. The same rounding converts to f16. (IEEE 754-2019 sections
//! 4.3 and 6.3.)

use crate::isa::Round;

/// A binary interchange format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Format {
    /// Significant bits, including the hidden one.
    precision: u32,
    /// Exponent bias; also the largest exponent.
    bias: i32,
}

/// binary16
pub(crate) const F16: Format = Format { precision: 11, bias: 15 };
/// bfloat16: the upper half of binary32
pub(crate) const BF16: Format = Format { precision: 8, bias: 127 };
/// binary32
pub(crate) const F32: Format = Format { precision: 24, bias: 127 };
/// binary64
pub(crate) const F64: Format = Format { precision: 53, bias: 1023 };

impl Format {
    /// Returns the sign bit.
    const fn sign(self) -> u64 {
        self.infinity() + (1 << (self.precision - 1))
    }

    /// Returns positive infinity.
    pub(crate) const fn infinity(self) -> u64 {
        (2 * self.bias as u64 + 1) << (self.precision - 1)
    }

    /// Returns the smallest positive normal number.
    pub(crate) const fn least_normal(self) -> u64 {
        1 << (self.precision - 1)
    }

    /// Returns true if the bits encode NaN.
    pub(crate) const fn is_nan(self, bits: u64) -> bool {
        bits & (self.sign() - 1) > self.infinity()
    }

    /// Returns true if the bits encode infinity of either sign.
    pub(crate) const fn is_infinite(self, bits: u64) -> bool {
        bits & (self.sign() - 1) == self.infinity()
    }

    /// Returns true if the sign bit is set.
    pub(crate) const fn is_negative(self, bits: u64) -> bool {
        bits & self.sign() != 0
    }
}

/// `(-1)^negative * magnitude * 2^exponent`.
/// If a value has more bits than fit, the lowest bit of `magnitude` is sticky: set if any lower bit
/// was lost. At least 60 significant bits are above a sticky bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Exact {
    negative: bool,
    magnitude: u128,
    exponent: i32,
}

/// Shifts right; lost bits are ORed into the lowest one.
fn jam(value: u128, by: u32) -> u128 {
    match by {
        0 => value,
        1..=127 => (value >> by) | u128::from(value << (128 - by) != 0),
        _ => u128::from(value != 0),
    }
}

impl Exact {
    /// Returns an integer.
    pub(crate) fn integer(negative: bool, magnitude: u64) -> Exact {
        Exact { negative, magnitude: magnitude.into(), exponent: 0 }
    }

    /// Returns `magnitude * 2^exponent`, or its negative.
    pub(crate) fn scaled(negative: bool, magnitude: u64, exponent: i32) -> Exact {
        Exact { negative, magnitude: magnitude.into(), exponent }
    }

    /// Decodes a finite number of the given format.
    pub(crate) fn decode(format: Format, bits: u64) -> Exact {
        let fraction_bits = format.precision - 1;
        let biased = ((bits & (format.sign() - 1)) >> fraction_bits) as i32;
        let fraction = bits & ((1 << fraction_bits) - 1);
        let hidden = if biased == 0 { 0 } else { 1 << fraction_bits };
        Exact {
            negative: format.is_negative(bits),
            magnitude: u128::from(fraction | hidden),
            exponent: biased.max(1) - format.bias - fraction_bits as i32,
        }
    }

    /// Returns the same value with its leading one at bit `top`.
    /// Zero stays zero; `top` must be at or above the leading one.
    fn normalised(self, top: u32) -> Exact {
        let shift = (self.magnitude.leading_zeros() as i32 - 127 + top as i32).max(0) as u32;
        if self.magnitude == 0 {
            return self;
        }
        Exact { magnitude: self.magnitude << shift, exponent: self.exponent - shift as i32, ..self }
    }

    /// Returns the product; exact for factors of at most 64 bits.
    pub(crate) fn times(self, other: Exact) -> Exact {
        Exact {
            negative: self.negative != other.negative,
            magnitude: self.magnitude * other.magnitude,
            exponent: self.exponent + other.exponent,
        }
    }

    /// Returns the sum.
    /// An exact zero from opposite signs is -0 when rounding down, else +0, hence `round`.
    pub(crate) fn plus(self, other: Exact, round: Round) -> Exact {
        let zero_sign =
            if self.negative == other.negative { self.negative } else { round == Round::Down };
        match (self.magnitude, other.magnitude) {
            (0, 0) => return Exact { negative: zero_sign, ..self },
            (0, _) => return other,
            (_, 0) => return self,
            _ => {}
        }
        let (a, b) = (self.normalised(125), other.normalised(125));
        let (large, small) = if a.exponent >= b.exponent { (a, b) } else { (b, a) };
        let aligned = jam(small.magnitude, (large.exponent - small.exponent) as u32);
        if large.negative == small.negative {
            return Exact { magnitude: large.magnitude + aligned, ..large };
        }
        if large.magnitude == aligned {
            return Exact { negative: zero_sign, magnitude: 0, exponent: 0 };
        }
        Exact {
            negative: if large.magnitude > aligned { large.negative } else { small.negative },
            magnitude: large.magnitude.abs_diff(aligned),
            exponent: large.exponent,
        }
    }

    /// Returns the quotient; `divisor` is nonzero and has at most 53 bits.
    pub(crate) fn over(self, divisor: Exact) -> Exact {
        let (a, b) = (self.normalised(126), divisor.normalised(52));
        let (quotient, rest) = (a.magnitude / b.magnitude, a.magnitude % b.magnitude);
        Exact {
            negative: self.negative != divisor.negative,
            magnitude: quotient | u128::from(rest != 0),
            exponent: a.exponent - b.exponent,
        }
    }

    /// Returns the square root of a nonnegative number, or of -0, whose root is -0.
    pub(crate) fn root(self) -> Exact {
        let mut a = self.normalised(125);
        if a.exponent % 2 != 0 {
            a = Exact { magnitude: a.magnitude << 1, exponent: a.exponent - 1, ..a };
        }
        let root = a.magnitude.isqrt();
        Exact {
            negative: self.negative,
            magnitude: root << 1 | u128::from(root * root != a.magnitude),
            exponent: a.exponent / 2 - 1,
        }
    }

    /// Returns the bits of the nearest number in the given direction.
    /// Overflow gives infinity or the largest finite number, depending on the direction; underflow
    /// gives subnormals and signed zero.
    pub(crate) fn round(self, format: Format, round: Round) -> u64 {
        let sign = if self.negative { format.sign() } else { 0 };
        if self.magnitude == 0 {
            return sign;
        }
        let fraction_bits = format.precision as i32 - 1;
        let exponent = self.exponent + 127 - self.magnitude.leading_zeros() as i32;
        // Weight of the result's last bit: 2^quantum.
        let quantum = exponent.max(1 - format.bias) - fraction_bits;
        let mut shift = quantum - self.exponent;
        let (kept, rest, half) = if shift <= 0 {
            (self.magnitude << -shift, 0, 1)
        } else {
            // Far below the last bit only a sticky bit matters; keep the shift inside the word.
            let magnitude = if shift > 120 {
                jam(self.magnitude, (shift - 120) as u32)
            } else {
                self.magnitude
            };
            shift = shift.min(120);
            (magnitude >> shift, magnitude & ((1 << shift) - 1), 1 << (shift - 1))
        };
        let up = match round {
            Round::Nearest => rest > half || rest == half && kept & 1 == 1,
            Round::Zero => false,
            Round::Down => self.negative && rest != 0,
            Round::Up => !self.negative && rest != 0,
        };
        let kept = kept as u64 + u64::from(up);
        // Adding the significand to the exponent field carries a rounded-up significand into the
        // next exponent, and leaves the field of a subnormal at zero.
        let field = (quantum + fraction_bits + format.bias - 1) as u64;
        if exponent > format.bias || (field << fraction_bits) + kept >= format.infinity() {
            let to_infinity = match round {
                Round::Nearest => true,
                Round::Zero => false,
                Round::Down => self.negative,
                Round::Up => !self.negative,
            };
            return sign | (format.infinity() - u64::from(!to_infinity));
        }
        sign | ((field << fraction_bits) + kept)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exec::arith::float::tests::{DIRECTIONS, samples32, samples64};

    fn finite64() -> impl Iterator<Item = (f64, f64)> {
        let all: Vec<f64> = samples64().into_iter().filter(|x| x.is_finite()).collect();
        let other = all.clone();
        all.into_iter().enumerate().flat_map(move |(i, a)| {
            let other = other.clone();
            (0..40).map(move |j| (a, other[(i * 7 + j * 31) % other.len()]))
        })
    }

    fn decode(x: f64) -> Exact {
        Exact::decode(F64, x.to_bits())
    }

    /// For rounding to nearest, the processor is the independent reference.
    #[test]
    fn nearest_agrees_with_the_processor() {
        for (a, b) in finite64() {
            let near = |e: Exact| e.round(F64, Round::Nearest);
            assert_eq!(near(decode(a).times(decode(b))), (a * b).to_bits(), "{a:e} * {b:e}");
            assert_eq!(
                near(decode(a).plus(decode(b), Round::Nearest)),
                (a + b).to_bits(),
                "{a:e} + {b:e}"
            );
            if b != 0.0 {
                assert_eq!(near(decode(a).over(decode(b))), (a / b).to_bits(), "{a:e} / {b:e}");
            }
            if b >= 0.0 {
                assert_eq!(near(decode(b).root()), b.sqrt().to_bits(), "sqrt {b:e}");
            }
            let c = a.next_up() * -b;
            if c.is_finite() {
                let fused = decode(a).times(decode(b)).plus(decode(c), Round::Nearest);
                assert_eq!(near(fused), a.mul_add(b, c).to_bits(), "{a:e} * {b:e} + {c:e}");
            }
            assert_eq!(
                decode(a).round(F32, Round::Nearest) as u32,
                (a as f32).to_bits(),
                "f64 to f32 of {a:e}"
            );
        }
    }

    /// Down and up enclose nearest and are equal or adjacent; zero is the inner one.
    #[test]
    fn directions_bracket_the_exact_value() {
        for (a, b) in finite64() {
            let mut results = vec![
                DIRECTIONS.map(|r| decode(a).times(decode(b)).round(F64, r)),
                DIRECTIONS.map(|r| decode(a).plus(decode(b), r).round(F64, r)),
            ];
            if b != 0.0 {
                results.push(DIRECTIONS.map(|r| decode(a).over(decode(b)).round(F64, r)));
            }
            for bits in results {
                let [near, zero, down, up] = bits.map(f64::from_bits);
                assert!(down <= near && near <= up, "{a:e} {b:e}: {down:e} {near:e} {up:e}");
                assert!(
                    down == up || down.next_up() == up,
                    "{a:e} {b:e}: {down:e} {up:e} are not adjacent"
                );
                let inner = if down.abs() < up.abs() { down } else { up };
                assert_eq!(zero.abs(), inner.abs(), "{a:e} {b:e}");
            }
        }
    }

    /// Inexactness is tested with an exact error term, independent of the code under test: in the
    /// middle of the range, `fma(a, b, -(a*b))` is the exact error of the product.
    #[test]
    fn products_round_to_the_side_of_their_error_term() {
        let mut seen = [0; 3];
        for (a, b) in finite64()
            .filter(|(a, b)| (1e-60..1e60).contains(&a.abs()) && (1e-60..1e60).contains(&b.abs()))
        {
            let near = a * b;
            let error = a.mul_add(b, -near);
            let down = f64::from_bits(decode(a).times(decode(b)).round(F64, Round::Down));
            let up = f64::from_bits(decode(a).times(decode(b)).round(F64, Round::Up));
            let (lower, upper) = match error.partial_cmp(&0.0) {
                Some(std::cmp::Ordering::Less) => (near.next_down(), near),
                Some(std::cmp::Ordering::Greater) => (near, near.next_up()),
                _ => (near, near),
            };
            assert_eq!((down, up), (lower, upper), "{a:e} * {b:e}");
            seen[usize::from(error < 0.0) + 2 * usize::from(error > 0.0)] += 1;
        }
        assert!(seen.iter().all(|&n| n > 10), "all three cases must occur: {seen:?}");
    }

    #[test]
    fn every_f16_survives_a_round_trip_through_f32() {
        for bits in 0..=u16::MAX {
            let bits = u64::from(bits);
            if F16.is_nan(bits) || F16.is_infinite(bits) {
                continue;
            }
            let wide = Exact::decode(F16, bits).round(F32, Round::Zero);
            for round in DIRECTIONS {
                assert_eq!(Exact::decode(F32, wide).round(F16, round), bits, "0x{bits:04x}");
            }
        }
    }

    #[test]
    fn f16_results_are_the_right_neighbours() {
        for x in samples32().into_iter().filter(|x| x.is_finite()) {
            let value = |r| f16_value(Exact::decode(F32, x.to_bits().into()).round(F16, r) as u16);
            let (down, up) = (value(Round::Down), value(Round::Up));
            let x = f64::from(x);
            assert!(down <= x && x <= up, "{x:e} is not in {down:e}..{up:e}");
            assert!((down == up) == (down == x), "{x:e}");
            let near = value(Round::Nearest);
            if down.is_finite() && up.is_finite() {
                assert!(
                    (near - x).abs() <= (down - x).abs().min((up - x).abs()),
                    "{x:e} -> {near:e}"
                );
            }
        }
        assert_eq!(
            Exact::decode(F32, 65519.0f32.to_bits().into()).round(F16, Round::Nearest),
            0x7bff
        );
        assert_eq!(
            Exact::decode(F32, 65520.0f32.to_bits().into()).round(F16, Round::Nearest),
            0x7c00
        );
        assert_eq!(Exact::decode(F32, 1e9f32.to_bits().into()).round(F16, Round::Zero), 0x7bff);
    }

    /// Returns the value of a binary16 by its definition.
    fn f16_value(bits: u16) -> f64 {
        let (exponent, fraction) = (i32::from(bits >> 10 & 31), f64::from(bits & 1023));
        let magnitude = match exponent {
            0 => fraction * 2f64.powi(-24),
            31 => f64::INFINITY,
            _ => (1024.0 + fraction) * 2f64.powi(exponent - 25),
        };
        if bits >> 15 == 1 { -magnitude } else { magnitude }
    }
}
