//! `cvt` between all types (PTX ISA, "Data Movement and Conversion Instructions: cvt").
//!
//! NaN becomes 0 for integers of up to 32 bits from f16 or f32, else only the integer's top bit is
//! set.

use simt_core::isa::{FormMatch, Type};

use super::elementwise::Oracle;
use super::exact::{Format, Number, Real, direction};
use super::expected::Expected;
use super::float::Modes;
use super::integer::{clamp, value, wrap};

/// Rounds a real to an integer.
fn integral(real: Real, direction: u8) -> i128 {
    let units = if real.exponent > 70 && real.significand != 0 {
        i128::MAX as u128
    } else {
        real.units(0, direction)
    };
    if real.negative { -(units as i128) } else { units as i128 }
}

/// Returns the oracle of a `cvt.pack`, whose first type is that of the parts.
fn packed(m: &FormMatch<'_>) -> Option<Oracle> {
    let types = ["u16", "s16", "u8", "s8", "u4", "s4", "u2", "s2"];
    let name = types.into_iter().find(|name| m.has(name))?;
    let bits: u32 = name[1..].parse().ok()?;
    let (low, high) = match name.starts_with('s') {
        true => (-(1 << (bits - 1)), (1 << (bits - 1)) - 1),
        false => (0, (1 << bits) - 1),
    };
    let part = move |x| (value(Type::S32, x).clamp(low, high) & ((1 << bits) - 1)) as u64;
    Some(Box::new(move |x| {
        let above = x.get(2).map_or(0, |c| c << (2 * bits));
        vec![Expected::Bits((above | part(x[0]) << bits | part(x[1])) & 0xffff_ffff)]
    }))
}

/// Returns the oracle of a `cvt`.
pub(crate) fn oracle(m: &FormMatch<'_>) -> Option<Oracle> {
    if m.form.opcode != "cvt" {
        return None;
    }
    if m.has("pack") {
        return packed(m);
    }
    let (to, from, sat) = (m.ty(), m.second_type(), m.has("sat"));
    let to_integral =
        m.words.iter().flatten().copied().find(|w| ["rni", "rzi", "rmi", "rpi"].contains(w));
    let to_integral = to_integral.map(|word| direction(Some(word)));
    let modes = Modes::of(m, to);
    // `.ftz` applies to f32 only, on either side; an H200 keeps subnormals in conversions to f16.
    let source = Modes {
        ftz: m.has("ftz") && from.name() == "f32" && to.name() != "f16",
        ..Modes::of(m, from)
    };
    let modes = Modes { ftz: modes.ftz && to.name() == "f32", ..modes };
    let decode = move |bits| Format::of(from).decode(source.flush(bits));
    Some(match (from.is_float(), to.is_float()) {
        (false, false) => Box::new(move |x| {
            let v = value(from, x[0]);
            vec![Expected::Bits(wrap(to, if sat { clamp(to, v) } else { v }))]
        }),
        (false, true) => Box::new(move |x| {
            let real = Real::integer(value(from, x[0]));
            vec![modes.finish(real.round(modes.format, modes.direction))]
        }),
        (true, false) => {
            let rounding = to_integral.unwrap_or(b'n');
            Box::new(move |x| {
                vec![Expected::Bits(match decode(x[0]) {
                    Number::Nan if from.bits() == 64 || to.bits() == 64 => 1 << (to.bits() - 1),
                    Number::Nan => 0,
                    Number::Infinite(negative) => {
                        wrap(to, clamp(to, if negative { i128::MIN } else { i128::MAX }))
                    }
                    Number::Finite(real) => wrap(to, clamp(to, integral(real, rounding))),
                })]
            })
        }
        (true, true) => {
            // A bf16 is the upper half of an f32, NaN or not.
            let widened = from.name() == "bf16" && to.name() == "f32" && !m.has("ftz");
            let same = to == from;
            Box::new(move |x| {
                let real = match decode(x[0]) {
                    // An f64's NaN keeps its sign and the top of its payload.
                    Number::Nan if ((same || from.bits() == 64) || widened) && !sat => {
                        return vec![Expected::Nan(to)];
                    }
                    Number::Nan => return vec![modes.no_number()],
                    Number::Infinite(negative) => {
                        let sign = if negative { modes.format.sign() } else { 0 };
                        return vec![modes.finish(modes.format.infinity() | sign)];
                    }
                    Number::Finite(real) => real,
                };
                let real = match to_integral {
                    // From 2^60 on, every f32 and f64 is an integer.
                    Some(direction) if real.exponent < 60 => {
                        let whole = real.units(0, direction);
                        Real { significand: whole, exponent: 0, ..real }
                    }
                    _ => real,
                };
                vec![modes.finish(real.round(modes.format, modes.direction))]
            })
        }
    })
}
