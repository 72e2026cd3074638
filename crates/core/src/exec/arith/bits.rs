//! Bit fields, counts, permutations and three-input logic (PTX ISA, "Integer Arithmetic" and "Logic
//! and Shift").

use super::integer::Integer;
use crate::kernel::{Narrow, PrmtMode};

/// Returns a mask of the low `n` bits, all ones from 64 on.
#[inline(always)]
fn low(n: u32) -> u64 {
    if n >= 64 { u64::MAX } else { (1 << n) - 1 }
}

/// Returns the position and length of a bit field, clamped.
/// At 32 bits only their low bytes count, as in the manual. At 64 bits the hardware has no such
/// instruction and uses shifts, so larger values are clamped to the width.
#[inline(always)]
fn field_bounds<T: Integer>(position: u32, length: u32) -> (u32, u32) {
    if T::BITS == 64 {
        (position.min(64), length.min(64))
    } else {
        (position & 0xff, length & 0xff)
    }
}

/// Returns `bfe`: `c` bits of `a` from bit `b` on.
/// Bits past the top, and the extension of a signed field, are the field's highest existing bit (0
/// for an empty or unsigned field).
#[inline(always)]
pub(crate) fn bfe<T: Integer>(a: T, b: u32, c: u32, signed: bool) -> T {
    let (position, length) = field_bounds::<T>(b, c);
    let bits = a.bits();
    let field = if position >= T::BITS { 0 } else { bits >> position & low(length) };
    if !signed || length == 0 {
        return T::from_bits(field);
    }
    let top = (position + length - 1).min(T::BITS - 1);
    let sign = bits >> top & 1 == 1;
    let present = length.min(T::BITS.saturating_sub(position));
    T::from_bits(if sign { field | !low(present) } else { field })
}

/// Returns `bfi`: `b` with a bit field replaced by the low bits of `a`.
/// The field has `length` bits from `position` on. Bits past the top are dropped.
#[inline(always)]
pub(crate) fn bfi<T: Integer>(a: T, b: T, position: u32, length: u32) -> T {
    let (position, length) = field_bounds::<T>(position, length);
    if position >= T::BITS {
        return b;
    }
    let field = low(length) << position;
    T::from_bits(b.bits() & !field | (a.bits() << position) & field)
}

/// Returns `bfind`: position of the highest bit that differs from the sign.
/// `shift` counts from the top instead. All ones if there is no such bit.
#[inline(always)]
pub(crate) fn bfind<T: Integer>(a: T, shift: bool) -> u32 {
    let bits = if a.is_negative() { !a.bits() & low(T::BITS) } else { a.bits() };
    match bits.checked_ilog2() {
        None => u32::MAX,
        Some(position) if shift => T::BITS - 1 - position,
        Some(position) => position,
    }
}

/// Returns `shf`: the upper (`left`) or lower word of `{b, a}` shifted by `c`.
#[inline(always)]
pub(crate) fn shf(a: u32, b: u32, c: u32, left: bool, wrap: bool) -> u32 {
    Funnel::new(c, left, wrap).of(a, b)
}

/// Shift of a pair of words by one amount.
#[derive(Clone, Copy)]
pub(crate) struct Funnel {
    /// Shift to the right that puts the result into the lower word.
    right: u32,
}

impl Funnel {
    /// Returns the shift of `shf` by `c`.
    #[inline(always)]
    pub(crate) fn new(c: u32, left: bool, wrap: bool) -> Funnel {
        let amount = if wrap { c & 31 } else { c.min(32) };
        Funnel { right: if left { 32 - amount } else { amount } }
    }

    /// Returns the upper or lower word of the shifted pair `{b, a}`.
    #[inline(always)]
    pub(crate) fn of(self, a: u32, b: u32) -> u32 {
        ((u64::from(b) << 32 | u64::from(a)) >> self.right) as u32
    }
}

/// Returns `lop3`: the `a`, `b` and `c` bits index the table.
#[inline(always)]
pub(crate) fn lop3(a: u32, b: u32, c: u32, table: u8) -> u32 {
    let mut result = 0;
    for row in 0..8 {
        if table >> row & 1 == 1 {
            result |= (if row & 4 == 0 { !a } else { a })
                & (if row & 2 == 0 { !b } else { b })
                & (if row & 1 == 0 { !c } else { c });
        }
    }
    result
}

/// Returns `dp4a`: `c` plus the sum of the products of bytes of `a` and `b`.
/// `signed` selects the operands with signed bytes.
#[inline(always)]
pub(crate) fn dp4a(a: u32, b: u32, c: u32, signed: [bool; 2]) -> u32 {
    let part = |word: u32, i: u32, signed: bool| {
        let byte = (word >> (8 * i)) as u8;
        if signed { i32::from(byte as i8) } else { i32::from(byte) }
    };
    (0..4)
        .fold(c, |sum, i| sum.wrapping_add((part(a, i, signed[0]) * part(b, i, signed[1])) as u32))
}

/// Returns `dp2a`: `c` plus the products of the halves of `a` with bytes of `b`.
/// The bytes are the upper or lower two of `b`.
#[inline(always)]
pub(crate) fn dp2a(a: u32, b: u32, c: u32, signed: [bool; 2], hi: bool) -> u32 {
    let half = |i: u32| {
        let half = (a >> (16 * i)) as u16;
        if signed[0] { i32::from(half as i16) } else { i32::from(half) }
    };
    let byte = |i: u32| {
        let byte = (b >> (8 * (i + if hi { 2 } else { 0 }))) as u8;
        if signed[1] { i32::from(byte as i8) } else { i32::from(byte) }
    };
    (0..2).fold(c, |sum, i| sum.wrapping_add((half(i) * byte(i)) as u32))
}

/// Returns `vabsdiff4`: the bytes' absolute differences, packed or summed with `c`.
#[inline(always)]
pub(crate) fn absdiff4(a: u32, b: u32, c: u32, signed: [bool; 2], add: bool) -> u32 {
    let part = |word: u32, i: u32, signed: bool| {
        let byte = (word >> (8 * i)) as u8;
        if signed { i32::from(byte as i8) } else { i32::from(byte) }
    };
    let difference = |i: u32| part(a, i, signed[0]).abs_diff(part(b, i, signed[1]));
    if add {
        (0..4).fold(c, |sum, i| sum.wrapping_add(difference(i)))
    } else {
        (0..4).fold(0, |all, i| all | (difference(i) & 0xff) << (8 * i))
    }
}

/// Returns a signed integer clamped to a narrower type.
#[inline(always)]
pub(crate) fn clamp(value: u32, Narrow { bits, signed }: Narrow) -> u32 {
    let (least, most) = match signed {
        true => (-1 << (bits - 1), (1 << (bits - 1)) - 1),
        false => (0, (1 << bits) - 1),
    };
    (value as i32).clamp(least, most) as u32
}

/// Returns `cvt.pack`: two signed integers clamped to a narrower type, below `c`.
#[inline(always)]
pub(crate) fn pack_saturated(a: u32, b: u32, c: u32, to: Narrow) -> u32 {
    let part = |value| clamp(value, to) & ((1 << to.bits) - 1);
    let above = c.checked_shl(2 * u32::from(to.bits)).unwrap_or(0);
    above | part(a) << to.bits | part(b)
}

/// Returns `fns`: the position of the `|offset|`th set bit from `base` up.
/// A negative offset counts down; 0 tests `base` itself.
#[inline(always)]
pub(crate) fn fns(mask: u32, base: u32, offset: u32) -> u32 {
    let offset = offset as i32;
    if offset == i32::MIN {
        return 0; // its magnitude overflows; the result of an H200's routine
    }
    // The bits in the search direction, and the number to skip.
    let (mut candidates, skip) = match offset {
        _ if base > 31 => (0, 0),
        0 => (mask & 1 << base, 0),
        1.. => (mask & u32::MAX << base, offset.unsigned_abs() - 1),
        _ => (mask & u32::MAX >> (31 - base), offset.unsigned_abs() - 1),
    };
    let next = |bits: u32| {
        if offset < 0 { 31u32.wrapping_sub(bits.leading_zeros()) } else { bits.trailing_zeros() }
    };
    for _ in 0..skip.min(32) {
        if candidates == 0 {
            break;
        }
        candidates &= !(1 << next(candidates));
    }
    if candidates == 0 { u32::MAX } else { next(candidates) }
}

/// Returns `szext`: the low `width` bits, sign-extended or zero-extended.
#[inline(always)]
pub(crate) fn szext(a: u32, width: u32, signed: bool, wrap: bool) -> u32 {
    let width = if wrap { width & 31 } else { width.min(32) };
    match width {
        0 => 0,
        _ if signed => (((a << (32 - width)) as i32) >> (32 - width)) as u32,
        _ => a << (32 - width) >> (32 - width),
    }
}

/// Returns `bmsk`: `width` ones from `position` up; ones past the top are dropped.
#[inline(always)]
pub(crate) fn bmsk(position: u32, width: u32, wrap: bool) -> u32 {
    let (position, width) =
        if wrap { (position & 31, width & 31) } else { (position.min(32), width.min(32)) };
    ((low(width) << position) & 0xffff_ffff) as u32
}

/// Returns `prmt`: four bytes selected from the eight of `{b, a}`.
#[inline(always)]
pub(crate) fn prmt(a: u32, b: u32, c: u32, mode: PrmtMode) -> u32 {
    let bytes = (u64::from(b) << 32 | u64::from(a)).to_le_bytes();
    if mode == PrmtMode::Index {
        let pick = |i: u32| {
            let selector = c >> (4 * i);
            let byte = bytes[(selector & 7) as usize];
            // The fourth bit replicates the byte's sign.
            if selector & 8 == 0 { byte } else { (byte as i8 >> 7) as u8 }
        };
        return u32::from_le_bytes([pick(0), pick(1), pick(2), pick(3)]);
    }
    // The manual's table, lowest result byte first.
    let s = (c & 3) as usize;
    let chosen = match mode {
        PrmtMode::Index | PrmtMode::F4e => [s, s + 1, s + 2, s + 3],
        PrmtMode::B4e => [s, (s + 7) % 8, (s + 6) % 8, (s + 5) % 8],
        PrmtMode::Rc8 => [s; 4],
        PrmtMode::Ecl => [s, s.max(1), s.max(2), 3],
        PrmtMode::Ecr => [0, s.min(1), s.min(2), s],
        PrmtMode::Rc16 => [s % 2 * 2, s % 2 * 2 + 1, s % 2 * 2, s % 2 * 2 + 1],
    };
    u32::from_le_bytes(chosen.map(|i| bytes[i]))
}

/// Permutation of bytes (`prmt`) by a selector that is the same in all lanes.
#[derive(Clone, Copy)]
pub(crate) struct Bytes {
    /// Place of each byte of the result in its word, in bits.
    shifts: [u32; 4],
    /// Bits of the byte in the first operand, or none.
    in_low: [u32; 4],
    /// The same in the second one.
    in_high: [u32; 4],
}

impl Bytes {
    /// Returns the permutation of a selector, unless it replicates signs.
    pub(crate) fn new(selector: u32) -> Option<Bytes> {
        let mut bytes = Bytes { shifts: [0; 4], in_low: [0; 4], in_high: [0; 4] };
        for i in 0..4 {
            let at = selector >> (4 * i) & 7;
            bytes.shifts[i] = at % 4 * 8;
            let word = if at < 4 { &mut bytes.in_low } else { &mut bytes.in_high };
            word[i] = 0xff << bytes.shifts[i];
        }
        (selector & 0x8888 == 0).then_some(bytes)
    }

    /// Returns the result of two operands.
    #[inline(always)]
    pub(crate) fn of(self, low: u32, high: u32) -> u32 {
        let byte =
            |i: usize| (low & self.in_low[i] | high & self.in_high[i]) >> self.shifts[i] << (8 * i);
        byte(0) | byte(1) | byte(2) | byte(3)
    }
}

#[cfg(test)]
mod tests;
