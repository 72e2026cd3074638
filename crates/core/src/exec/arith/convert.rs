//! `cvt`: every pair of types (PTX ISA, "Data Movement and Conversion Instructions: cvt").
//!
//! Float to integer clamps to the result's range. NaN becomes 0 if the source is f16 or f32 and the
//! result has at most 32 bits; otherwise only the result's highest bit is set, as in the manual's
//! notes on `cvt`. Float NaNs follow [`nan`], as on an H200.

use super::exact::{BF16, Exact, F16, F32, F64, Format};
use super::float::{NAN32, flush32};
use super::half::{Brain, Half, NAN16, Short};
use crate::isa::{Round, Type};
use crate::kernel::Convert;

/// Truncates a cell to the bits of a type, sign-extended for signed types.
#[inline(always)]
pub(crate) fn integer_value(cell: u64, ty: Type) -> i128 {
    let shift = 64 - ty.bits();
    if ty.is_signed() {
        i128::from((cell << shift) as i64 >> shift)
    } else {
        i128::from(cell << shift >> shift)
    }
}

/// Converts the bits of a `convert.from` to the bits of a `to`, both zero-extended.
pub(crate) fn convert(cell: u64, convert: Convert, to: Type) -> u64 {
    let from = convert.from;
    match (from.is_float(), to.is_float()) {
        (false, false) => {
            let value = integer_value(cell, from);
            let value = if convert.sat { clamp(value, to) } else { value };
            value as u64 & (u64::MAX >> (64 - to.bits()))
        }
        (false, true) => {
            let value = integer_value(cell, from);
            let near = convert.round == Round::Nearest;
            let bits = match (to, from.is_signed()) {
                (Type::F32, true) if near => (value as i64 as f32).to_bits().into(),
                (Type::F32, false) if near => (value as u64 as f32).to_bits().into(),
                (Type::F64, true) if near => (value as i64 as f64).to_bits(),
                (Type::F64, false) if near => (value as u64 as f64).to_bits(),
                _ => Exact::integer(value < 0, value.unsigned_abs() as u64)
                    .round(format(to), convert.round),
            };
            finish(bits, convert, to)
        }
        (true, false) => float_to_integer(cell, convert, to),
        (true, true) => float_to_float(cell, convert, to),
    }
}

/// Clamps to the range of an integer type.
fn clamp(value: i128, to: Type) -> i128 {
    let (lowest, highest) = if to.is_signed() {
        (-(1i128 << (to.bits() - 1)), (1 << (to.bits() - 1)) - 1)
    } else {
        (0, (1 << to.bits()) - 1)
    };
    value.clamp(lowest, highest)
}

fn format(ty: Type) -> Format {
    match ty {
        Type::F16 => F16,
        Type::BF16 => BF16,
        Type::F32 => F32,
        Type::F64 => F64,
        _ => unreachable!("{} has no float format", ty.name()),
    }
}

/// Returns the operand as f64, which represents every smaller float.
/// `.ftz` flushes f32, except in conversions to f16.
fn value(cell: u64, convert: Convert, to: Type) -> f64 {
    let flushes = convert.ftz && to != Type::F16;
    match convert.from {
        Type::F64 => f64::from_bits(cell),
        Type::F32 => {
            let x = f32::from_bits(cell as u32);
            f64::from(if flushes { flush32(x) } else { x })
        }
        Type::BF16 => Brain(cell as u16).widen(),
        _ => Half(cell as u16).widen(),
    }
}

/// Rounds to an integral value.
#[inline(always)]
pub(crate) fn integral(x: f64, round: Round) -> f64 {
    match round {
        Round::Nearest => x.round_ties_even(),
        Round::Zero => x.trunc(),
        Round::Down => x.floor(),
        Round::Up => x.ceil(),
    }
}

fn float_to_integer(cell: u64, convert: Convert, to: Type) -> u64 {
    let x = value(cell, convert, to);
    if x.is_nan() {
        let indefinite = convert.from == Type::F64 || to.bits() == 64;
        return if indefinite { 1 << (to.bits() - 1) } else { 0 };
    }
    // Casts clamp to the range of their type.
    let (whole, all) = (integral(x, convert.round), u64::MAX >> (64 - to.bits()));
    let highest = (all >> 1) as i64;
    let bits = match to.is_signed() {
        true => (whole as i64).clamp(-highest - 1, highest) as u64,
        false => (whole as u64).min(all),
    };
    bits & all
}

/// Converts a double to an i32 or (`signed` is false) a u32, in a form that vectorises. It is
/// rounded to nearest or to zero and clamped; NaN becomes `nan`.
#[inline(always)]
pub(crate) fn double_to_word(x: f64, nearest: bool, signed: bool, nan: u32) -> u32 {
    /// Sums with it have no fraction.
    const WHOLE: f64 = (3_u64 << 51) as f64;
    let (lowest, highest) =
        if signed { (-2147483649.0, 2147483648.0) } else { (-1.0, 4294967296.0) };
    let near = x.max(lowest).min(highest);
    let whole = if nearest { near + WHOLE - WHOLE } else { near };
    let bits = if signed { whole as i32 as u32 } else { whole as u32 };
    if x.is_nan() { nan } else { bits }
}

fn float_to_float(cell: u64, convert: Convert, to: Type) -> u64 {
    let from = format(convert.from);
    if from.is_nan(cell) {
        return finish(nan(cell, convert, to), convert, to);
    }
    let x = value(cell, convert, to);
    let x = if convert.integral { integral(x, convert.round) } else { x };
    let bits = match to {
        // What the processor rounds to nearest, or need not round.
        Type::F64 => x.to_bits(),
        Type::F32 if convert.from != Type::F64 || convert.round == Round::Nearest => {
            (x as f32).to_bits().into()
        }
        _ if x.is_infinite() => {
            let sign = if x < 0.0 { 1 << (to.bits() - 1) } else { 0 };
            sign | format(to).infinity()
        }
        _ => Exact::decode(F64, x.to_bits()).round(format(to), convert.round),
    };
    finish(bits, convert, to)
}

/// Returns the result NaN of a NaN operand.
/// It is canonical in f16, bf16 and f32. From or to f64, the sign and the part of the payload that
/// fits are kept. A conversion that changes nothing copies the NaN.
fn nan(cell: u64, convert: Convert, to: Type) -> u64 {
    let from = convert.from;
    let plain = !convert.integral && !convert.ftz;
    // The cell's bits aligned to the top of an f64's fraction, quiet.
    let wide = |cell: u64, bits: u32, fraction: u32| {
        cell >> (bits - 1) << 63
            | 0x7ff8_0000_0000_0000
            | (cell & ((1 << fraction) - 1)) << (52 - fraction)
    };
    let narrow = |bits: u32, fraction: u32, infinity: u64| {
        cell >> 63 << (bits - 1)
            | infinity
            | 1 << (fraction - 1)
            | (cell & ((1 << 52) - 1)) >> (52 - fraction)
    };
    match (from, to) {
        (Type::F64, Type::F64) | (Type::F32, Type::F32) if plain => cell,
        (Type::F64, Type::F64) => cell | 1 << 51,
        (Type::F64, Type::F32) => narrow(32, 23, 0x7f80_0000),
        (Type::F64, Type::F16) => narrow(16, 10, 0x7c00),
        (Type::F64, Type::BF16) => narrow(16, 7, 0x7f80),
        (Type::BF16, Type::F32) if plain => cell << 16,
        (_, Type::F16 | Type::BF16) => NAN16.into(),
        (_, Type::F32) => NAN32.into(),
        (Type::F32, _) if convert.ftz => wide(NAN32.into(), 32, 23),
        (Type::F32, _) => wide(cell, 32, 23),
        (Type::BF16, _) => wide(cell, 16, 7),
        _ => wide(cell, 16, 10),
    }
}

/// Applies `.ftz`, `.relu`, `.satfinite` and `.sat` to a float result.
fn finish(bits: u64, convert: Convert, to: Type) -> u64 {
    if !(convert.ftz | convert.satfinite | convert.relu | convert.sat) {
        return bits;
    }
    let bits = if convert.ftz && to == Type::F32 {
        flush32(f32::from_bits(bits as u32)).to_bits().into()
    } else {
        bits
    };
    let format = format(to);
    let infinite = format.is_infinite(bits);
    let bits = if convert.satfinite && infinite { bits - 1 } else { bits };
    let bits =
        if convert.relu && !format.is_nan(bits) && format.is_negative(bits) { 0 } else { bits };
    if !convert.sat {
        return bits;
    }
    let one = Exact::integer(false, 1).round(format, Round::Nearest);
    // Positive floats have the order of their bits.
    if format.is_nan(bits) || format.is_negative(bits) { 0 } else { bits.min(one) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exec::arith::float::tests::{DIRECTIONS, samples, samples32, samples64};
    use Round::{Down, Nearest, Up, Zero};

    fn plain(from: Type, round: Round) -> Convert {
        Convert { round, ..Convert::from(from) }
    }

    #[test]
    fn what_the_processor_rounds_is_rounded_exactly() {
        let of = |from, to, cell| convert(cell, plain(from, Nearest), to);
        for x in samples64().into_iter().filter(|x| !x.is_nan()) {
            let want = match x.is_infinite() {
                true => u64::from((x as f32).to_bits()),
                false => Exact::decode(F64, x.to_bits()).round(F32, Nearest),
            };
            assert_eq!(of(Type::F64, Type::F32, x.to_bits()), want, "{x:e}");
        }
        let words = samples(9).take(500).enumerate().map(|(i, x)| x >> (i % 64));
        for cell in words.chain([0, 1, u64::MAX, 1 << 63, i64::MAX as u64]) {
            for from in [Type::S32, Type::U32, Type::S64, Type::U64] {
                let value = integer_value(cell, from);
                let exact = Exact::integer(value < 0, value.unsigned_abs() as u64);
                for (to, format) in [(Type::F32, F32), (Type::F64, F64)] {
                    assert_eq!(of(from, to, cell), exact.round(format, Nearest), "{value}");
                }
            }
        }
    }

    #[test]
    fn integers_truncate_extend_and_clamp() {
        for (from, cell, to, plainly, clamped) in [
            (Type::S32, 0xffff_ff7f, Type::S8, 0x7f, 0x80),
            (Type::S32, 0xffff_ffff, Type::U8, 0xff, 0),
            (Type::U32, 0x1ff, Type::U8, 0xff, 0xff),
            (Type::U32, 0x180, Type::S8, 0x80, 0x7f),
            (Type::S8, 0x80, Type::S64, 0xffff_ffff_ffff_ff80, 0xffff_ffff_ffff_ff80),
            (Type::S8, 0xabcd_0080, Type::U32, 0xffff_ff80, 0),
            (Type::U16, 0xffff, Type::S64, 0xffff, 0xffff),
            (Type::U64, u64::MAX, Type::S64, u64::MAX, i64::MAX as u64),
            (Type::S64, 1 << 63, Type::U64, 1 << 63, 0),
            (Type::S64, 1 << 40, Type::S32, 0, 0x7fff_ffff),
        ] {
            assert_eq!(convert(cell, plain(from, Zero), to), plainly, "{from:?} {to:?} {cell:x}");
            let sat = Convert { sat: true, ..plain(from, Zero) };
            assert_eq!(convert(cell, sat, to), clamped, "sat {from:?} {to:?} {cell:x}");
        }
    }

    #[test]
    fn floats_to_integers() {
        for (x, round, to, expected) in [
            (2.5, Nearest, Type::S32, 2),
            (3.5, Nearest, Type::S32, 4),
            (-2.5, Zero, Type::S32, -2i64 as u32 as u64),
            (-2.5, Down, Type::S32, -3i64 as u32 as u64),
            (-2.5, Up, Type::S32, -2i64 as u32 as u64),
            (2.1, Up, Type::U8, 3),
            (-0.9, Zero, Type::U32, 0),
            (-7.0, Zero, Type::U32, 0),
            (300.0, Zero, Type::U8, 255),
            (-300.0, Zero, Type::S8, 0x80),
            (1e30, Zero, Type::S32, 0x7fff_ffff),
            (1e30, Zero, Type::U64, u64::MAX),
            (f64::NEG_INFINITY, Zero, Type::S64, 1 << 63),
            (f64::INFINITY, Zero, Type::U16, 0xffff),
            (f64::NAN, Zero, Type::S32, 0x8000_0000),
            (f64::NAN, Zero, Type::U64, 1 << 63),
        ] {
            assert_eq!(
                convert(x.to_bits(), plain(Type::F64, round), to),
                expected,
                "{x} {round:?} {to:?}"
            );
        }
        let nan = f32::NAN.to_bits().into();
        assert_eq!(convert(nan, plain(Type::F32, Zero), Type::S32), 0);
        assert_eq!(convert(nan, plain(Type::F32, Zero), Type::S64), 1 << 63);
        assert_eq!(convert(0x7e00, plain(Type::F16, Zero), Type::U32), 0);
        assert_eq!(convert(0xc500, plain(Type::F16, Zero), Type::S16), 0xfffb);
    }

    #[test]
    fn casts_of_the_language_agree() {
        for x in samples64() {
            let numbers = plain(Type::F64, Zero);
            if !x.is_nan() {
                assert_eq!(convert(x.to_bits(), numbers, Type::S64) as i64, x as i64, "{x:e}");
                assert_eq!(convert(x.to_bits(), numbers, Type::U32) as u32, x as u32, "{x:e}");
                assert_eq!(convert(x.to_bits(), numbers, Type::S8) as u8 as i8, x as i8, "{x:e}");
                for x in [x, x.clamp(-2e9, 4.3e9) + 0.5, (x % 100.0).round() + 0.5] {
                    let word = |round, signed| double_to_word(x, round == Nearest, signed, 1 << 31);
                    for round in [Nearest, Zero] {
                        let of = |to| convert(x.to_bits(), plain(Type::F64, round), to) as u32;
                        assert_eq!(word(round, true), of(Type::S32), "{x:e} {round:?}");
                        assert_eq!(word(round, false), of(Type::U32), "{x:e} {round:?}");
                    }
                }
                let narrow = convert(x.to_bits(), plain(Type::F64, Nearest), Type::F32);
                assert_eq!(narrow as u32, (x as f32).to_bits(), "{x:e}");
            }
        }
        for x in samples32().into_iter().filter(|x| !x.is_nan()) {
            let wide = convert(x.to_bits().into(), plain(Type::F32, Nearest), Type::F64);
            assert_eq!(wide, f64::from(x).to_bits(), "{x:e}");
        }
        for x in samples(9).take(2000) {
            let x = x >> (x % 60);
            assert_eq!(
                convert(x, plain(Type::U64, Nearest), Type::F32) as u32,
                (x as f32).to_bits(),
                "{x}"
            );
            assert_eq!(
                convert(x, plain(Type::S64, Nearest), Type::F64),
                (x as i64 as f64).to_bits(),
                "{x}"
            );
        }
    }

    /// Integers to f32 in each direction: the exact integer lies between down and up, which are
    /// adjacent.
    #[test]
    fn integers_to_floats_round_in_their_direction() {
        for x in samples(10).take(2000) {
            let x = (x as i64) >> (x % 60);
            let [near, zero, down, up] = DIRECTIONS.map(|r| {
                f32::from_bits(convert(x as u64, plain(Type::S64, r), Type::F32) as u32) as i128
            });
            let x = i128::from(x);
            assert!(down <= x && x <= up && (down == up) == (down == x), "{x}");
            assert_eq!(zero, if x < 0 { up } else { down }, "{x}");
            assert!((near - x).abs() <= (x - down).min(up - x), "{x}");
        }
    }

    #[test]
    fn floats_to_floats() {
        let bits32 = |x: f32| u64::from(x.to_bits());
        let integral = |round| Convert { integral: true, ..plain(Type::F32, round) };
        for (x, round, expected) in [
            (2.5f32, Nearest, 2.0f32),
            (-0.4, Nearest, -0.0),
            (-0.4, Down, -1.0),
            (0.4, Up, 1.0),
            (-7.9, Zero, -7.0),
            (f32::NEG_INFINITY, Up, f32::NEG_INFINITY),
        ] {
            assert_eq!(
                convert(bits32(x), integral(round), Type::F32),
                bits32(expected),
                "{x} {round:?}"
            );
        }
        let sat = Convert { sat: true, ..plain(Type::F32, Nearest) };
        for (x, expected) in [
            (-1.0, 0.0),
            (-0.0, 0.0),
            (f32::NAN, 0.0),
            (0.25, 0.25),
            (2.0, 1.0),
            (f32::INFINITY, 1.0),
        ] {
            assert_eq!(convert(bits32(x), sat, Type::F32), bits32(expected), "{x}");
        }
        let ftz = Convert { ftz: true, ..plain(Type::F32, Nearest) };
        assert_eq!(convert(0x8000_0001, ftz, Type::F32), 0x8000_0000);
        assert_eq!(convert(0x8000_0001, ftz, Type::F64), (-0.0f64).to_bits());
        let shrink = Convert { ftz: true, ..plain(Type::F64, Nearest) };
        assert_eq!(convert(1e-40f64.to_bits(), shrink, Type::F32), 0);
        assert_eq!(
            convert(1e300f64.to_bits(), plain(Type::F64, Zero), Type::F32),
            bits32(f32::MAX)
        );
        assert_eq!(
            convert(1e300f64.to_bits(), plain(Type::F64, Up), Type::F32),
            bits32(f32::INFINITY)
        );
        assert_eq!(convert(bits32(1.0), plain(Type::F32, Nearest), Type::F16), 0x3c00);
        assert_eq!(convert(bits32(f32::NAN), plain(Type::F32, Nearest), Type::F16), 0x7fff);
        assert_eq!(
            convert(0xfc00, plain(Type::F16, Nearest), Type::F32),
            bits32(f32::NEG_INFINITY)
        );
        for (x, round, to, expected) in [
            (1.0, Nearest, Type::BF16, 0x3f80),
            (-3.0, Nearest, Type::BF16, 0xc040),
            (1.0 + 1.0 / 256.0, Nearest, Type::BF16, 0x3f80), // a tie
            (1.0 + 3.0 / 256.0, Nearest, Type::BF16, 0x3f82), // a tie
            (1.0 + 1.0 / 256.0, Up, Type::BF16, 0x3f81),
            (f32::MAX, Nearest, Type::BF16, 0x7f80),
            (f32::MAX, Zero, Type::BF16, 0x7f7f),
            (f32::NAN, Zero, Type::BF16, 0x7fff),
            (70000.0, Nearest, Type::F16, 0x7c00),
        ] {
            assert_eq!(
                convert(bits32(x), plain(Type::F32, round), to),
                expected,
                "{x} {round:?} {to:?}"
            );
        }
        let finite = Convert { satfinite: true, ..plain(Type::F32, Nearest) };
        let relu = Convert { relu: true, ..plain(Type::F32, Nearest) };
        for (x, modified, expected) in [
            (70000.0, finite, 0x7bff),
            (f32::NEG_INFINITY, finite, 0xfbff),
            (f32::NAN, finite, 0x7fff),
            (-1.0, relu, 0),
            (-0.0, relu, 0),
            (f32::NAN, relu, 0x7fff),
            (1.0, relu, 0x3c00),
            (-70000.0, Convert { relu: true, ..finite }, 0),
        ] {
            assert_eq!(convert(bits32(x), modified, Type::F16), expected, "{x} {modified:?}");
        }
        assert_eq!(convert(0xbf80, plain(Type::BF16, Nearest), Type::F32), bits32(-1.0));
        assert_eq!(convert(0x3f80, plain(Type::BF16, Nearest), Type::F16), 0x3c00);
        assert_eq!(convert(0x4248, plain(Type::F16, Nearest), Type::BF16), 0x4049);
        assert_eq!(convert(0xc2c9, plain(Type::BF16, Zero), Type::S32), -100i32 as u32 as u64);
    }
}
