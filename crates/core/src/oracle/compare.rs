//! Comparison of two memory contents, element by element.

use crate::isa::Type;

/// Required agreement of two results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Agreement {
    /// Equal bits, except that any two NaNs of a float type are equal.
    Exact,
    /// Floats differ by at most this many units in the last place.
    /// Other types have equal bits.
    MaxUlp(u32),
}

/// The first element that differs. A side that ends before it is `None`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FirstDifference {
    /// The element's index.
    pub index: usize,
    /// Expected bits.
    pub expected: Option<u64>,
    /// Actual bits.
    pub actual: Option<u64>,
}

/// Returns the first element of `actual` that disagrees with `expected`.
/// Both are little-endian words holding elements of type `element`.
pub fn compare(
    expected: &[u32],
    actual: &[u32],
    element: Type,
    agreement: Agreement,
) -> Option<FirstDifference> {
    let words = expected.len().max(actual.len());
    let elements = words * 4 / element.bytes().max(1) as usize;
    (0..elements)
        .map(|index| FirstDifference {
            index,
            expected: read(expected, element, index),
            actual: read(actual, element, index),
        })
        .find(|d| match (d.expected, d.actual) {
            (Some(e), Some(a)) => !agree(e, a, element, agreement),
            _ => true,
        })
}

/// Returns the bits of one element, zero-extended.
fn read(words: &[u32], element: Type, index: usize) -> Option<u64> {
    let word = |i: usize| words.get(i).map(|&w| u64::from(w));
    match element.bytes() {
        8 => Some(word(2 * index)? | word(2 * index + 1)? << 32),
        4 => word(index),
        2 => Some(word(index / 2)? >> (16 * (index % 2)) & 0xffff),
        _ => Some(word(index / 4)? >> (8 * (index % 4)) & 0xff),
    }
}

fn agree(expected: u64, actual: u64, element: Type, agreement: Agreement) -> bool {
    if expected == actual {
        return true;
    }
    if !element.is_float() {
        return false;
    }
    match (ulps_apart(expected, actual, element), agreement) {
        (Some(apart), Agreement::MaxUlp(n)) => apart <= u64::from(n),
        (Some(_), Agreement::Exact) => false,
        (None, _) => is_nan(expected, element) && is_nan(actual, element),
    }
}

/// Returns the distance of two floats in representable numbers.
/// Zeros of both signs are one number. `None` if one is a NaN or the type is not a float.
pub fn ulps_apart(a: u64, b: u64, element: Type) -> Option<u64> {
    if !element.is_float() || is_nan(a, element) || is_nan(b, element) {
        return None;
    }
    // Sign and magnitude as one range of integers: adjacent integers are adjacent floats.
    let sign = 1u64 << (element.bits() - 1);
    let line = |x: u64| {
        let magnitude = i128::from(x & (sign - 1));
        if x & sign == 0 { magnitude } else { -magnitude }
    };
    u64::try_from(line(a).abs_diff(line(b))).ok()
}

/// Returns true if the bits are a NaN of a float type.
pub fn is_nan(bits: u64, element: Type) -> bool {
    if !element.is_float() {
        return false;
    }
    let fraction_bits = match element {
        Type::F16 => 10,
        Type::BF16 => 7,
        Type::F32 => 23,
        _ => 52,
    };
    let magnitude = (1u64 << (element.bits() - 1)) - 1;
    bits & magnitude > magnitude >> fraction_bits << fraction_bits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_of_every_size() {
        let expected = [0x0403_0201, 0x0807_0605, 1, 2];
        for (element, word, bit, index) in [
            (Type::U8, 1, 16, 6),
            (Type::S16, 1, 16, 3),
            (Type::B32, 2, 0, 2),
            (Type::U64, 3, 31, 1),
        ] {
            let mut actual = expected;
            assert_eq!(compare(&expected, &actual, element, Agreement::Exact), None);
            actual[word] ^= 1 << bit;
            let found = compare(&expected, &actual, element, Agreement::Exact).unwrap();
            assert_eq!(found.index, index, "{element:?}");
        }
        let short = compare(&expected, &expected[..3], Type::U32, Agreement::Exact);
        assert_eq!(short, Some(FirstDifference { index: 3, expected: Some(2), actual: None }));
    }

    #[test]
    fn floats_agree_within_their_ulps() {
        let bits = |x: f32| x.to_bits();
        for (a, b, ulps, same) in [
            (bits(1.0), bits(1.0) + 2, 2, true),
            (bits(1.0), bits(1.0) + 3, 2, false),
            (bits(0.0), bits(-0.0), 0, true),
            (1, 0x8000_0001, 2, true),
            (1, 0x8000_0001, 1, false),
            (bits(f32::NAN), 0xffff_ffff, 0, true),
            (bits(f32::NAN), bits(f32::INFINITY), 1 << 30, false),
            (bits(f32::MAX), bits(f32::INFINITY), 1, true),
        ] {
            let found = compare(&[a], &[b], Type::F32, Agreement::MaxUlp(ulps));
            assert_eq!(found.is_none(), same, "{a:x} {b:x} {ulps}");
        }
        assert!(compare(&[bits(0.0)], &[bits(-0.0)], Type::F32, Agreement::Exact).is_some());
        assert!(
            compare(&[1], &[2], Type::U32, Agreement::MaxUlp(5)).is_some(),
            "integers have no ulps"
        );
    }
}
