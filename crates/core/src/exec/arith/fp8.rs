//! Conversions to and from 8-bit floats, and to tf32 (PTX ISA, "Data Movement and Conversion
//! Instructions: cvt").
//!
//! NaN is `0x7f` in both 8-bit formats and `0x7fffe000` in tf32. `.rna` is a sequence of integer
//! instructions on an H200, which truncates a NaN; `.satfinite` subtracts one unit from it and from
//! infinity. (Recorded on an H200: tests/observations/h200/tensor.txt.)

use super::half::{Half, NAN16, Short};
use crate::kernel::{Fp8, TensorConvert, Tf32Round};

/// Low bits that tf32 lacks.
const LOW: u32 = 0x1fff;
/// Infinity of f32.
const INFINITY: u32 = 0x7f80_0000;

/// Returns the result of a conversion.
///
/// `a` and `b` are the sources, `b` that of the low half; of one source both are the same.
pub(crate) fn convert(f: TensorConvert, a: u32, b: u32) -> u32 {
    match f {
        TensorConvert::ToFp8 { format, halves, relu } => {
            let [high, low] = match halves {
                true => [a >> 16, a].map(|half| Half(half as u16).widen()),
                false => [a, b].map(|bits| f64::from(f32::from_bits(bits))),
            };
            to_fp8(high, format, relu) << 8 | to_fp8(low, format, relu)
        }
        TensorConvert::FromFp8 { format, relu } => {
            from_fp8(a >> 8 & 0xff, format, relu) << 16 | from_fp8(a & 0xff, format, relu)
        }
        TensorConvert::ToTf32 { round, relu, satfinite } => to_tf32(a, round, relu, satfinite),
    }
}

/// Returns the nearest 8-bit float, at most the largest one.
fn to_fp8(x: f64, format: Fp8, relu: bool) -> u32 {
    if x.is_nan() {
        return 0x7f;
    }
    if relu && x.is_sign_negative() {
        return 0;
    }
    let sign = u32::from(x.is_sign_negative()) << 7;
    let (fraction_bits, bias, largest) = match format {
        Fp8::E4M3 => (3, 7, 0x7e),
        Fp8::E5M2 => (2, 15, 0x7b),
    };
    // The exponent of f64; subnormal sources are far below the least result.
    let exponent = ((x.to_bits() >> 52 & 0x7ff) as i32 - 1023).max(1 - bias).min(32);
    let unit = f64::from_bits(((1023 + exponent - fraction_bits) as u64) << 52);
    let units = (x.abs() / unit).round_ties_even() as u32;
    // A carry out of the fraction raises the exponent field.
    let field = (exponent + bias - 1) as u32;
    sign | (field << fraction_bits).saturating_add(units).min(largest)
}

/// Returns the f16 of an 8-bit float.
fn from_fp8(bits: u32, format: Fp8, relu: bool) -> u32 {
    let (sign, magnitude) = (bits & 0x80, bits & 0x7f);
    let nan = match format {
        Fp8::E4M3 => magnitude == 0x7f,
        Fp8::E5M2 => magnitude > 0x7c,
    };
    if nan {
        return NAN16.into();
    }
    if relu && sign != 0 {
        return 0;
    }
    let value = match (format, magnitude) {
        (Fp8::E5M2, _) => magnitude << 8,
        (Fp8::E4M3, 0) => 0,
        // A subnormal has units of 2^-9, which are normal numbers of f16.
        (Fp8::E4M3, 1..8) => {
            let top = magnitude.ilog2();
            (top + 6) << 10 | (magnitude << (10 - top) & 0x3ff)
        }
        (Fp8::E4M3, _) => (magnitude << 7) + (8 << 10),
    };
    sign << 8 | value
}

fn to_tf32(bits: u32, round: Tf32Round, relu: bool, satfinite: bool) -> u32 {
    let finite = |bits: u32| bits & !(1 << 31) < INFINITY;
    let rounded = match round {
        Tf32Round::Away => {
            let sum = if finite(bits) { bits + 0x1000 } else { bits };
            let kept = sum & !LOW;
            return if satfinite && !finite(kept) { kept - 0x2000 } else { kept };
        }
        _ if bits & !(1 << 31) > INFINITY => return 0x7fff_e000,
        Tf32Round::Nearest => (bits + 0xfff + (bits >> 13 & 1)) & !LOW,
        Tf32Round::Zero => bits & !LOW,
    };
    if relu && bits >> 31 != 0 { 0 } else { rounded }
}
