//! Operands of the recorded instructions: numbers by hash, in eleven styles.

use simt_core::kernel::{FactorType, SumType};

/// Returns a hash of a number (SplitMix64).
pub(in super::super) fn mix(x: u64) -> u64 {
    let x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ x >> 31
}

/// Returns the hash of a tile's results.
pub(in super::super) fn hash(words: &[u32]) -> u32 {
    (words.iter().fold(0, |x, &word| mix(x ^ u64::from(word))) >> 32) as u32
}

/// Format of the elements of a matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    /// Exponent and fraction bits.
    Float(u32, u32),
    Integer,
}

impl Format {
    pub(super) fn of_factor(ty: FactorType) -> Format {
        match ty {
            FactorType::F16 => Format::Float(5, 10),
            FactorType::BF16 => Format::Float(8, 7),
            FactorType::TF32 => Format::Float(8, 23),
            FactorType::F64 => Format::Float(11, 52),
            _ => Format::Integer,
        }
    }

    pub(super) fn of_sum(ty: SumType) -> Format {
        match ty {
            SumType::F16 => Format::Float(5, 10),
            SumType::F32 => Format::Float(8, 23),
            SumType::F64 => Format::Float(11, 52),
            SumType::S32 => Format::Integer,
        }
    }
}

/// Which matrix: A, B or C.
pub(super) const A: u64 = 0;
pub(super) const B: u64 = 1;
pub(super) const C: u64 = 2;

/// Returns the words of a register of matrix `matrix`, whose elements have `format`; those of A
/// have `of_a`.
pub(super) fn register(
    format: Format,
    of_a: Format,
    (tile, matrix): (u64, u64),
    (lane, register): (u64, u64),
) -> Vec<u32> {
    let element = |half| {
        let Format::Float(exponent, fraction) = format else { unreachable!("an integer") };
        element((exponent, fraction), of_a, (tile, matrix), (lane, register, half))
    };
    match format {
        Format::Integer => vec![integer(tile, matrix, lane, register)],
        Format::Float(11, _) => vec![element(0) as u32, (element(0) >> 32) as u32],
        Format::Float(8, 23) => vec![element(0) as u32],
        Format::Float(..) => vec![element(0) as u32 | (element(1) as u32) << 16],
    }
}

fn key(tile: u64, matrix: u64, (lane, register, half): (u64, u64, u64)) -> u64 {
    (((tile * 4 + matrix) * 32 + lane) * 16 + register) * 2 + half
}

/// Returns first exponent and number of exponents of a style.
fn exponents(style: u64, eb: u32, of_a: Format, matrix: u64) -> (i64, i64) {
    let bias = (1 << (eb - 1)) - 1;
    let top = 2 * bias;
    let (is_c, small_a) = (matrix == C, matches!(of_a, Format::Float(5, _)));
    match style {
        1 if eb == 5 => (0, top + 1),
        1 if is_c => (bias - 60, 120),
        1 => (bias - 30, 60),
        2 if is_c && eb == 5 => (0, top + 1),
        2 if is_c => (bias - 30, 60),
        3 | 7 => (bias - 10, 20),
        4 if is_c => (bias - 12, 14),
        5 if matrix == A => (0, 4),
        5 if matrix == B => (bias - 5, 10),
        5 if eb == 5 => (0, 8),
        5 if small_a => (bias - 40, 30),
        5 => (0, 20),
        8 if eb == 5 => (top - 2, 3),
        8 if is_c && small_a => (bias + 26, 8),
        8 if is_c => (top - 4, 5),
        8 if eb == 8 => (bias + 60, 6),
        8 => (bias + 508, 6),
        10 if !is_c => (bias - 7, 14),
        10 if eb == 5 => (0, top + 1),
        10 => (bias - 20, 40),
        _ => (bias - 3, 7),
    }
}

/// Returns an element: narrow, wide, cancelling, tiny, special, sparse, huge or any bits.
fn element(
    (eb, fb): (u32, u32),
    of_a: Format,
    (tile, matrix): (u64, u64),
    (lane, register, half): (u64, u64, u64),
) -> u64 {
    let (style, small) = (tile % 11, eb + fb == 15);
    let mut r = mix(key(tile, matrix, (lane, register, half)));
    let mut flip = 0;
    if style == 4 && matrix != C && r >> 61 != 0 {
        let partner = if small { lane } else { lane & !1 };
        r = mix(key(tile, matrix, (partner, register, 0)));
        flip = if matrix == B { 0 } else { if small { half } else { lane & 1 } };
    }
    let fraction = if style == 10 && matrix != C { 0 } else { r >> 1 & ((1 << fb) - 1) };
    let (sign, choice) = ((r ^ flip) & 1, mix(r));
    let (first, count) = exponents(style, eb, of_a, matrix);
    let bias = (1 << (eb - 1)) - 1;
    let top = 2 * bias as u64;
    let width = eb + fb;
    if style == 9 {
        return choice & (u64::MAX >> (63 - width));
    }
    if style == 6 && choice & 31 == 0 {
        let infinity = (top + 1) << fb;
        return match choice >> 5 & 7 {
            0 => 0,
            1 => 1 << width,
            2 => infinity,
            3 => 1 << width | infinity,
            4 => infinity | fraction | 1,
            5 => sign << width | top << fb | ((1 << fb) - 1),
            6 => sign << width | 1,
            _ => sign << width | (bias as u64) << fb,
        };
    }
    let zero = if matrix == C { choice & 1 != 0 } else { choice & 3 != 0 };
    if style == 7 && zero {
        return sign << width;
    }
    let exponent = (first + ((r >> 53) as i64) % count) as u64;
    sign << width | exponent << fb | fraction
}

/// Returns a register of integers: any bits, extremes, or sums near the ends of the range.
fn integer(tile: u64, matrix: u64, lane: u64, register: u64) -> u32 {
    let r = mix(key(tile, matrix, (lane, register, 0)));
    let word = r as u32;
    match (tile % 4, matrix) {
        (2, A | B) => (0..4).fold(0, |all, b| {
            let byte = 0x00ff_7f80u32 >> (8 * (r >> (2 * b) & 3)) & 255;
            all | byte << (8 * b)
        }),
        (1, C) => 0x7fff_ffff - (word & 0xffff),
        (2, C) => 0x8000_0000 + (word & 0xffff),
        (3, C) => (word & 0xffff).wrapping_sub(0x8000),
        _ => word,
    }
}
