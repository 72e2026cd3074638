//! Conversions: F2F, F2I, I2F, I2FP, FRND, and the packing F2FP and F2IP.

use super::operand::{Lanes, Row};
use crate::base::MAX_LANES;
use crate::exec::arith::convert::{convert as converted, double_to_word};
use crate::exec::arith::fp8;
use crate::isa::{Round, Type};
use crate::kernel::{Convert, Part, Source, TensorConvert};

/// Executes a conversion of one value.
pub(super) fn convert(on: &mut Lanes<'_>, convert: Convert, to: Type, nan_to_zero: bool) {
    let plain = on.op.s[0] == Source::of(on.op.s[0].row);
    if plain && !convert.sat && quick(on, convert, to, nan_to_zero) {
        return;
    }
    let (a, from) = (cells(on, 0, convert.from), convert.from);
    if to == Type::F32 && !convert.sat && !from.is_float() && from.bits() <= 16 {
        // A single holds these exactly.
        return on.write_bits(|l| (extended(a[l], from) as i32 as f32).to_bits());
    }
    let value = |l: usize| {
        if from.is_float() && !to.is_float() && is_nan(a[l], from) {
            let highest = 1_u64 << (to.bits() - 1);
            return extended(if nan_to_zero { 0 } else { highest }, to);
        }
        extended(converted(a[l], convert, to), to)
    };
    if to.is_wide() {
        on.write_pair_each(value);
    } else {
        on.write_bits_each(|l| value(l) as u32);
    }
}

/// Executes the conversions that compiled code has most. Returns false for any other.
fn quick(on: &mut Lanes<'_>, convert: Convert, to: Type, nan_to_zero: bool) -> bool {
    let a = on.raw(0);
    // Integer to f32, rounded up: the beginning of a division.
    let up = |exact: f64| {
        let near = exact as f32;
        if f64::from(near) < exact { near.next_up() } else { near }.to_bits()
    };
    match (convert.from, to, convert.round) {
        (Type::S32, Type::F32, Round::Up) => on.write_function(&a, |a| up(f64::from(a as i32))),
        (Type::U32, Type::F32, Round::Up) => on.write_function(&a, |a| up(f64::from(a))),
        (Type::S32, Type::F32, Round::Nearest) => on.write_bits(|l| (a[l] as i32 as f32).to_bits()),
        (Type::U32, Type::F32, Round::Nearest) => on.write_bits(|l| (a[l] as f32).to_bits()),
        (Type::S32, Type::F64, _) => on.write_pair(|l| f64::from(a[l] as i32).to_bits()),
        (Type::U32, Type::F64, _) => on.write_pair(|l| f64::from(a[l]).to_bits()),
        // Rust's casts truncate, clamp, and turn NaN into 0. Subnormal numbers become 0 anyway.
        (Type::F32, Type::S32, Round::Zero) if nan_to_zero => {
            on.write_function(&a, |a| f32::from_bits(a) as i32 as u32);
        }
        (Type::F32, Type::U32, Round::Zero) if nan_to_zero => {
            on.write_function(&a, |a| f32::from_bits(a) as u32);
        }
        (Type::F64, Type::S32 | Type::U32, round @ (Round::Nearest | Round::Zero)) => {
            let (a, nan) = (on.raw_pair(0), if nan_to_zero { 0 } else { 1 << 31 });
            let (nearest, signed) = (round == Round::Nearest, to == Type::S32);
            on.write_bits(|l| double_to_word(f64::from_bits(a[l]), nearest, signed, nan));
        }
        _ => return false,
    }
    true
}

/// Returns a source as cells of its type: the selected part, with its signs.
fn cells(on: &Lanes<'_>, source: usize, ty: Type) -> Row<u64> {
    let Source { negate, absolute, part, .. } = on.op.s[source];
    let mut values = match ty.is_wide() {
        true => on.raw_pair(source),
        false => on.raw(source).map(u64::from),
    };
    let shift = match part {
        Part::H1 | Part::B2 => 16,
        Part::B1 => 8,
        Part::B3 => 24,
        _ => 0,
    };
    let bits = ty.bits();
    let sign = 1 << (bits - 1);
    for value in &mut values {
        *value = *value >> shift & (u64::MAX >> (64 - bits));
        if ty.is_float() {
            *value &= if absolute { !sign } else { u64::MAX };
            *value ^= if negate { sign } else { 0 };
        }
    }
    values
}

/// Returns true if the bits of a float type are a NaN.
fn is_nan(bits: u64, ty: Type) -> bool {
    match ty {
        Type::F64 => f64::from_bits(bits).is_nan(),
        Type::F32 => f32::from_bits(bits as u32).is_nan(),
        Type::BF16 => bits & 0x7fff > 0x7f80,
        _ => bits & 0x7fff > 0x7c00,
    }
}

/// Extends a signed integer of 8 or 16 bits to a register.
#[inline(always)]
fn extended(value: u64, ty: Type) -> u64 {
    match ty {
        Type::S8 => value as i8 as u64,
        Type::S16 => value as i16 as u64,
        _ => value,
    }
}

/// Executes F2FP and F2IP: two results of 16 bits, or of 8 bits below a half of `c`.
pub(super) fn pack(on: &mut Lanes<'_>, convert: Convert, to: Type) {
    let [a, b] = [0, 1].map(|i| cells(on, i, convert.from));
    let one = |value: u64| converted(value, convert, to) as u32;
    if to.bits() == 16 {
        on.write_bits_each(|l| one(a[l]) << 16 | one(b[l]));
    } else {
        let c = cells(on, 2, Type::U16);
        on.write_bits_each(|l| (c[l] as u32) << 16 | one(a[l]) << 8 | one(b[l]));
    }
}

/// Executes F2FP to or from a small format.
pub(super) fn tensor(on: &mut Lanes<'_>, f: TensorConvert) {
    let ty = match f {
        TensorConvert::FromFp8 { .. } => Type::U16,
        TensorConvert::ToFp8 { halves: true, .. } => Type::U32,
        _ => Type::F32,
    };
    let b = cells(on, 1, ty);
    let a = if f.sources() == 2 { cells(on, 0, ty) } else { b };
    let c = match f {
        TensorConvert::ToFp8 { .. } => cells(on, 2, Type::U16),
        _ => [0; MAX_LANES],
    };
    on.write_bits_each(|l| (c[l] as u32) << 16 | fp8::convert(f, a[l] as u32, b[l] as u32));
}

/// Executes F2FP.MERGE_C.
pub(super) fn merge(on: &mut Lanes<'_>, convert: Convert, to: Type) {
    let (b, c) = (cells(on, 1, convert.from), cells(on, 2, Type::U16));
    on.write_bits_each(|l| (c[l] as u32) << 16 | converted(b[l], convert, to) as u32);
}
