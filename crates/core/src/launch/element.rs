//! Elements of a buffer: conversion between values and little-endian words.
//!
//! Buffers are lists of 32-bit words, as device memory is in the simulator. An element of 1, 2, 4
//! or 8 bytes is addressed by its index; its bits are handled as a `u64`.

use crate::exec::{short_bits, short_value};
use crate::isa::Type;

/// A number of the directive language.
/// Integers are exact, from -2^63 to 2^64 - 1; floats are doubles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Value {
    Int(i128),
    Float(f64),
}

impl Value {
    /// Returns the nearest double.
    pub(super) fn as_float(self) -> f64 {
        match self {
            Value::Int(v) => v as f64,
            Value::Float(v) => v,
        }
    }
}

/// Returns the bits of element `index`; `word(w)` is the w-th 32-bit word.
pub(super) fn bits(word: &dyn Fn(u64) -> u32, ty: Type, index: u64) -> u64 {
    match ty.bytes() {
        1 => u64::from(word(index / 4) >> (index % 4 * 8) & 0xff),
        2 => u64::from(word(index / 2) >> (index % 2 * 16) & 0xffff),
        8 => u64::from(word(index * 2)) | u64::from(word(index * 2 + 1)) << 32,
        _ => u64::from(word(index)),
    }
}

/// Decodes the bits of an element.
pub(super) fn decode(bits: u64, ty: Type) -> Value {
    match ty {
        Type::F32 => Value::Float(f64::from(f32::from_bits(bits as u32))),
        Type::F64 => Value::Float(f64::from_bits(bits)),
        Type::F16 | Type::BF16 => Value::Float(short_value(bits as u16, ty == Type::BF16)),
        _ if ty.is_signed() => {
            let unused = 64 - ty.bits();
            Value::Int(i128::from((bits << unused) as i64 >> unused))
        }
        _ => Value::Int(i128::from(bits)),
    }
}

/// Encodes a value as the bits of an element.
/// Integers wrap modulo 2^width, floats round to nearest. `None` for a float in an integer element:
/// the author must choose a rounding.
pub(super) fn encode(value: Value, ty: Type) -> Option<u64> {
    Some(match (value, ty) {
        (v, Type::F16 | Type::BF16) => u64::from(short_bits(v.as_float(), ty == Type::BF16)),
        (Value::Int(v), Type::F32) => u64::from((v as f32).to_bits()),
        (Value::Int(v), Type::F64) => (v as f64).to_bits(),
        (Value::Float(v), Type::F32) => u64::from((v as f32).to_bits()),
        (Value::Float(v), Type::F64) => v.to_bits(),
        (Value::Int(v), _) => v as u64 & mask(ty),
        (Value::Float(_), _) => return None,
    })
}

/// Returns true if an integer fits the type, read as signed or as unsigned.
pub(super) fn fits(value: Value, ty: Type) -> bool {
    match value {
        Value::Int(v) if !ty.is_float() => {
            v >= -(1i128 << (ty.bits() - 1)) && v < 1i128 << ty.bits()
        }
        _ => true,
    }
}

/// Returns the bit mask of an element.
pub(super) fn mask(ty: Type) -> u64 {
    u64::MAX >> (64 - ty.bits().clamp(1, 64))
}

/// Packs elements into little-endian words.
#[derive(Debug, Default)]
pub(super) struct Packer {
    words: Vec<u32>,
    pending: u32,
    filled: u32,
}

/// Returns the number of words of elements; `None` if it is no host size.
fn words_of(elements: u64, ty: Type) -> Option<usize> {
    let bytes = elements.checked_mul(u64::from(ty.bytes()))?;
    usize::try_from(bytes.div_ceil(4)).ok()
}

/// Returns the words of elements that are all 0; `None` if host memory is short.
///
/// They take memory only once they are written.
pub(super) fn zeros(elements: u64, ty: Type) -> Option<Vec<u32>> {
    Packer::with_room(elements, ty)?;
    Some(vec![0; words_of(elements, ty)?])
}

impl Packer {
    /// Reserves room for `elements` of the type; `None` if host memory is short.
    pub(super) fn with_room(elements: u64, ty: Type) -> Option<Packer> {
        let mut words = Vec::new();
        words.try_reserve_exact(words_of(elements, ty)?).ok()?;
        Some(Packer { words, pending: 0, filled: 0 })
    }

    /// Appends one element.
    #[inline]
    pub(super) fn push(&mut self, bits: u64, ty: Type) {
        match ty.bits() {
            64 => self.words.extend([bits as u32, (bits >> 32) as u32]),
            32 => self.words.push(bits as u32),
            narrow => {
                self.pending |= (bits as u32) << self.filled;
                self.filled += narrow;
                if self.filled == 32 {
                    self.words.push(self.pending);
                    (self.pending, self.filled) = (0, 0);
                }
            }
        }
    }

    /// Appends elements of 32 bits.
    pub(super) fn extend(&mut self, words: impl Iterator<Item = u32>) {
        self.words.extend(words);
    }

    /// Returns the words; a partly filled last word is padded with zeros.
    pub(super) fn finish(mut self) -> Vec<u32> {
        if self.filled > 0 {
            self.words.push(self.pending);
        }
        self.words
    }
}

/// Formats an element for reports.
/// Large integers also appear in hexadecimal, because they are often masks.
pub(super) fn show(bits: u64, ty: Type) -> String {
    match decode(bits, ty) {
        Value::Float(v) => format!("{v}"),
        Value::Int(v) if (-0xffff..=0xffff).contains(&v) => format!("{v}"),
        Value::Int(v) => format!("{v} (0x{bits:x})"),
    }
}

/// Formats an element as a number that can be read again.
pub(super) fn number(bits: u64, ty: Type) -> String {
    match decode(bits, ty) {
        Value::Float(v) => format!("{v}"),
        Value::Int(v) => format!("{v}"),
    }
}

/// Formats a value for reports.
pub(super) fn show_value(value: Value) -> String {
    match value {
        Value::Int(v) if v > 0xffff => format!("{v} (0x{v:x})"),
        Value::Int(v) => format!("{v}"),
        Value::Float(v) => format!("{v}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_survive_the_way_through_words() {
        let cases: &[(Type, &[Value])] = &[
            (
                Type::U8,
                &[Value::Int(1), Value::Int(255), Value::Int(0), Value::Int(7), Value::Int(9)],
            ),
            (Type::S8, &[Value::Int(-128), Value::Int(127), Value::Int(-1)]),
            (Type::S16, &[Value::Int(-32768), Value::Int(2), Value::Int(-3)]),
            (Type::U32, &[Value::Int(0xffff_ffff), Value::Int(3)]),
            (Type::S64, &[Value::Int(i128::from(i64::MIN)), Value::Int(-1)]),
            (Type::U64, &[Value::Int(i128::from(u64::MAX))]),
            (Type::F32, &[Value::Float(1.5), Value::Float(-0.25)]),
            (
                Type::F16,
                &[Value::Float(1.5), Value::Float(65504.0), Value::Float(0.000_061_035_156_25)],
            ),
            (Type::BF16, &[Value::Float(1.5), Value::Float(-256.0), Value::Float(3.0)]),
            (Type::F64, &[Value::Float(0.1), Value::Float(f64::INFINITY)]),
        ];
        for (ty, values) in cases {
            let mut packer = Packer::with_room(values.len() as u64, *ty).expect("a few bytes");
            for value in *values {
                packer.push(encode(*value, *ty).expect("same kind"), *ty);
            }
            let words = packer.finish();
            assert_eq!(words.len(), (values.len() * ty.bytes() as usize).div_ceil(4));
            for (i, value) in values.iter().enumerate() {
                assert_eq!(
                    decode(bits(&|w| words[w as usize], *ty, i as u64), *ty),
                    *value,
                    "{ty:?}[{i}]"
                );
            }
        }
    }

    #[test]
    fn integers_wrap_into_the_element_and_floats_do_not_become_integers() {
        assert_eq!(encode(Value::Int(-1), Type::U16), Some(0xffff));
        assert_eq!(encode(Value::Int((1 << 32) + 5), Type::U32), Some(5));
        assert_eq!(encode(Value::Int(3), Type::F32), Some(u64::from(3f32.to_bits())));
        assert_eq!(encode(Value::Float(1.0), Type::U32), None);
        // Rounded once, to nearest: 2049 lies between two numbers of f16, 257 between two of bf16.
        assert_eq!(encode(Value::Int(2049), Type::F16), Some(0x6800));
        assert_eq!(encode(Value::Float(2049.5), Type::F16), Some(0x6801));
        assert_eq!(encode(Value::Int(257), Type::BF16), Some(0x4380));
        assert_eq!(encode(Value::Float(1e6), Type::F16), Some(0x7c00));
        assert!(fits(Value::Int(-128), Type::U8) && fits(Value::Int(255), Type::S8));
        assert!(!fits(Value::Int(256), Type::S8) && !fits(Value::Int(-129), Type::U8));
    }
}
