//! Float arithmetic: exact reals, rounded once (PTX ISA, "Floating Point Instructions").
//!
//! A NaN result is the canonical one of f32; PTX leaves open which f64 NaN results, and which NaN
//! `neg` and `abs` return for NaN. `.ftz` applies to operands and to the rounded result; `.sat`
//! turns NaN and -0 into +0.

use simt_core::isa::{FormMatch, Type};

use super::elementwise::Oracle;
use super::exact::{Format, Number, Real, direction};
use super::expected::Expected;

/// Modifiers of a float mnemonic.
#[derive(Clone, Copy)]
pub(crate) struct Modes {
    pub(crate) ty: Type,
    pub(crate) format: Format,
    pub(crate) direction: u8,
    pub(crate) ftz: bool,
    pub(crate) sat: bool,
    pub(crate) nan: bool,
    /// `.relu`: negative results become 0; `.satfinite`: infinity becomes the largest number.
    pub(crate) relu: bool,
    pub(crate) satfinite: bool,
}

impl Modes {
    /// Returns the modifiers of a mnemonic with values of type `ty`.
    pub(crate) fn of(m: &FormMatch<'_>, ty: Type) -> Modes {
        let round =
            m.words.iter().flatten().copied().find(|w| ["rn", "rz", "rm", "rp"].contains(w));
        let format = Format::of(ty);
        Modes {
            ty,
            format,
            direction: direction(round),
            ftz: m.has("ftz"),
            sat: m.has("sat"),
            nan: m.has("NaN"),
            relu: m.has("relu"),
            satfinite: m.has("satfinite"),
        }
    }

    /// Applies `.ftz` to an operand or result.
    pub(crate) fn flush(self, bits: u64) -> u64 {
        if self.ftz && self.format.is_subnormal(bits) { bits & self.format.sign() } else { bits }
    }

    fn decode(self, bits: u64) -> Number {
        self.format.decode(self.flush(bits))
    }

    /// Finishes a result that is a number or infinite, given by its bits.
    pub(crate) fn finish(self, bits: u64) -> Expected {
        let mut bits = self.flush(bits);
        if self.relu && bits & self.format.sign() != 0 {
            bits = 0;
        }
        if self.satfinite && bits & (self.format.sign() - 1) == self.format.infinity() {
            bits -= 1;
        }
        if !self.sat {
            return Expected::Bits(bits);
        }
        Expected::Bits(if bits & self.format.sign() != 0 { 0 } else { bits.min(self.format.one()) })
    }

    /// Finishes a NaN result.
    pub(crate) fn no_number(self) -> Expected {
        match self.ty.bits() {
            _ if self.sat => Expected::Bits(0),
            16 => Expected::Bits(0x7fff),
            32 => Expected::Bits(0x7fff_ffff),
            _ => Expected::Nan(self.ty),
        }
    }

    fn infinite(self, negative: bool) -> Expected {
        self.finish(self.format.infinity() | if negative { self.format.sign() } else { 0 })
    }

    fn round(self, real: Real) -> Expected {
        self.finish(real.round(self.format, self.direction))
    }

    /// Computes `a * b + c`, or the plain product without an addend.
    fn fused(self, a: Number, b: Number, c: Option<Number>) -> Expected {
        use Number::{Finite, Infinite, Nan};
        let product = match (a, b) {
            (Nan, _) | (_, Nan) => Nan,
            (Infinite(_), Finite(z)) | (Finite(z), Infinite(_)) if z.significand == 0 => Nan,
            (Infinite(s), Infinite(t)) => Infinite(s != t),
            (Infinite(s), Finite(x)) | (Finite(x), Infinite(s)) => Infinite(s != x.negative),
            (Finite(x), Finite(y)) => Finite(x.times(y)),
        };
        match c.map_or(product, |c| self.added(product, c)) {
            // On an H200, `.ftz` of a product applies before rounding.
            Finite(real) if self.ftz && self.format.is_subnormal(real.round(self.format, b'z')) => {
                self.finish(if real.negative { self.format.sign() } else { 0 })
            }
            result => self.number(result),
        }
    }

    fn sum(self, a: Number, b: Number) -> Expected {
        self.number(self.added(a, b))
    }

    fn added(self, a: Number, b: Number) -> Number {
        use Number::{Finite, Infinite, Nan};
        match (a, b) {
            (Nan, _) | (_, Nan) => Nan,
            (Infinite(s), Infinite(t)) if s != t => Nan,
            (Infinite(s), _) | (_, Infinite(s)) => Infinite(s),
            (Finite(x), Finite(y)) => Finite(x.plus(y, self.direction)),
        }
    }

    fn quotient(self, a: Number, b: Number) -> Expected {
        use Number::{Finite, Infinite, Nan};
        self.number(match (a, b) {
            (Nan, _) | (_, Nan) | (Infinite(_), Infinite(_)) => Nan,
            (Infinite(s), Finite(x)) => Infinite(s != x.negative),
            (Finite(x), Infinite(s)) => {
                Finite(Real { negative: s != x.negative, ..Real::integer(0) })
            }
            (Finite(x), Finite(y)) if y.significand == 0 && x.significand == 0 => Nan,
            (Finite(x), Finite(y)) if y.significand == 0 => Infinite(x.negative != y.negative),
            (Finite(x), Finite(y)) => Finite(x.over(y)),
        })
    }

    fn root(self, a: Number) -> Expected {
        match a {
            Number::Finite(x) if x.significand == 0 || !x.negative => self.round(x.root()),
            Number::Infinite(false) => self.infinite(false),
            _ => self.no_number(),
        }
    }

    fn number(self, x: Number) -> Expected {
        match x {
            Number::Nan => self.no_number(),
            Number::Infinite(negative) => self.infinite(negative),
            Number::Finite(real) => self.round(real),
        }
    }

    /// `min` or `max`: -0 is less than +0; NaN gives the other operand, or NaN with `.NaN`.
    fn extreme(self, a: u64, b: u64, largest: bool) -> Expected {
        let (a, b) = (self.flush(a), self.flush(b));
        let is_nan = |bits| self.format.decode(bits) == Number::Nan;
        // Sign and magnitude as ordered integers; -0 is directly before +0.
        let key = |bits: u64| {
            let magnitude = (bits & (self.format.sign() - 1)) as i128;
            if bits & self.format.sign() != 0 { -magnitude - 1 } else { magnitude }
        };
        match (is_nan(a), is_nan(b)) {
            (true, true) => self.no_number(),
            (true, false) | (false, true) if self.nan => self.no_number(),
            (true, false) => Expected::Bits(b),
            (false, true) => Expected::Bits(a),
            _ => Expected::Bits(if (key(a) < key(b)) == largest { b } else { a }),
        }
    }
}

/// Returns the oracle of a float mnemonic that rounds exactly, selects, or changes signs.
pub(crate) fn oracle(m: &FormMatch<'_>) -> Option<Oracle> {
    let ty = m.ty();
    if !ty.is_float() || m.has("approx") || m.has("full") {
        return None;
    }
    let modes = Modes::of(m, ty);
    let sign = modes.format.sign();
    let number = move |bits| modes.decode(bits);
    let is_nan = move |bits| modes.format.decode(bits) == Number::Nan;
    let one = Number::Finite(Real::integer(1));
    fn of(f: impl Fn(&[u64]) -> Expected + 'static) -> Option<Oracle> {
        Some(Box::new(move |x| vec![f(x)]))
    }
    let signed =
        move |x: u64, bits: u64| if is_nan(x) { Expected::Nan(ty) } else { Expected::Bits(bits) };
    match m.form.opcode.as_str() {
        "add" => of(move |x| modes.sum(number(x[0]), number(x[1]))),
        // NaN stays NaN, so subtraction only flips the sign bit.
        "sub" => of(move |x| modes.sum(number(x[0]), number(x[1] ^ sign))),
        "mul" => of(move |x| modes.fused(number(x[0]), number(x[1]), None)),
        "fma" if m.has("oob") => of(move |x| match [x[0], x[1]].map(|x| x & !sign) {
            [0x7ff7, _] | [_, 0x7ff7] => Expected::Bits(0),
            _ => modes.fused(number(x[0]), number(x[1]), Some(number(x[2]))),
        }),
        "fma" | "mad" => of(move |x| modes.fused(number(x[0]), number(x[1]), Some(number(x[2])))),
        "div" => of(move |x| modes.quotient(number(x[0]), number(x[1]))),
        "rcp" => of(move |x| modes.quotient(one, number(x[0]))),
        "sqrt" => of(move |x| modes.root(number(x[0]))),
        "min" | "max" => {
            let largest = m.form.opcode == "max";
            if !m.has("xorsign") {
                return of(move |x| modes.extreme(x[0], x[1], largest));
            }
            // Of the magnitudes; a number gets the sign of the product.
            of(move |x| match modes.extreme(x[0] & !sign, x[1] & !sign, largest) {
                Expected::Bits(bits) if !is_nan(bits) => {
                    Expected::Bits(bits | (x[0] ^ x[1]) & sign)
                }
                nan => nan,
            })
        }
        "neg" => of(move |x| signed(x[0], modes.flush(x[0]) ^ sign)),
        "abs" => of(move |x| signed(x[0], modes.flush(x[0]) & !sign)),
        "copysign" => of(move |x| Expected::Bits(x[0] & sign | x[1] & (sign - 1))),
        _ => None,
    }
}
