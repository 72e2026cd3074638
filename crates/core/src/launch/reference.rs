//! Reference results: sums, block sums and extremes, computed in a simple way on the host.
//!
//! A sum of elements of up to 32 bits is exact; a sum of 64-bit integers wraps in its type. The
//! result takes the width of the other side only in the comparison, so a sum of bytes is not
//! truncated to a byte.

use super::arithmetic::order;
use super::element::{Value, bits, decode, encode};
use super::term::MemoryView;
use crate::base::digest;
use crate::isa::Type;

/// Consecutive elements of a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Region {
    /// The buffer, an index in `Launch::buffers`.
    pub(super) buffer: usize,
    pub(super) element: Type,
    pub(super) first: u64,
    pub(super) count: u64,
}

/// One number computed from many elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reduction {
    /// In index order.
    Sum,
    /// By halves, as [`recursive_sum`] describes.
    RecursiveSum,
    /// The smallest.
    Min,
    /// The largest.
    Max,
    /// 64-bit FNV-1a of the elements' bytes, little-endian.
    Hash,
}

impl Region {
    /// Returns the value of element `index`, counted from the region's first.
    pub(super) fn value(&self, memory: &dyn MemoryView, index: u64) -> Value {
        decode(
            bits(&|w| memory.word(self.buffer, w), self.element, self.first + index),
            self.element,
        )
    }

    /// Returns the elements `from..to` as words if they are contiguous 32-bit integers.
    fn plain<'m>(&self, memory: &'m dyn MemoryView, from: u64, to: u64) -> Option<&'m [u32]> {
        let first = usize::try_from(self.first + from).ok()?;
        let end = usize::try_from(self.first + to).ok()?;
        memory
            .words(self.buffer)?
            .get(first..end)
            .filter(|_| self.element.bits() == 32 && !self.element.is_float())
    }

    /// Extends a 32-bit element to 64 bits by its type.
    fn extend(&self, word: u32) -> u64 {
        if self.element.is_signed() { i64::from(word as i32) as u64 } else { u64::from(word) }
    }
}

impl Reduction {
    /// Returns the reduction of a function's name.
    pub(super) fn named(name: &str) -> Option<Reduction> {
        match name {
            "sum" => Some(Reduction::Sum),
            "recursive_sum" => Some(Reduction::RecursiveSum),
            "min" => Some(Reduction::Min),
            "max" => Some(Reduction::Max),
            "hash" => Some(Reduction::Hash),
            _ => None,
        }
    }

    /// Computes the number. An empty region gives 0.
    pub(super) fn apply(self, region: &Region, memory: &dyn MemoryView) -> Value {
        let values = (0..region.count).map(|i| region.value(memory, i));
        let better = |smaller: bool| {
            move |a: Value, b: Value| {
                if order(b, a).is_some_and(|o| if smaller { o.is_lt() } else { o.is_gt() }) {
                    b
                } else {
                    a
                }
            }
        };
        match self {
            Reduction::Sum => sum(region, memory, 0, region.count),
            Reduction::RecursiveSum => recursive_sum(region, memory),
            Reduction::Min => values.reduce(better(true)).unwrap_or(Value::Int(0)),
            Reduction::Max => values.reduce(better(false)).unwrap_or(Value::Int(0)),
            Reduction::Hash => Value::Int(i128::from(hash(region, memory))),
        }
    }
}

/// Sums the elements `from..to` of a region in index order. Floats are added as doubles.
fn sum(region: &Region, memory: &dyn MemoryView, from: u64, to: u64) -> Value {
    if region.element.is_float() {
        let mut total = 0.0;
        for i in from..to {
            if let Value::Float(v) = region.value(memory, i) {
                total += v;
            }
        }
        return Value::Float(total);
    }
    if let Some(words) = region.plain(memory, from, to) {
        let total = words.iter().fold(0u64, |total, word| total.wrapping_add(region.extend(*word)));
        return whole(total, region.element);
    }
    // At most 2^34 elements of 64 bits: an i128 cannot overflow.
    let mut total = 0i128;
    for i in from..to {
        if let Value::Int(v) = region.value(memory, i) {
            total += v;
        }
    }
    whole(total as u64, region.element)
}

/// Returns the 64-bit FNV-1a hash of the bytes of a region's elements, little-endian.
fn hash(region: &Region, memory: &dyn MemoryView) -> u64 {
    let size = region.element.bytes() as usize;
    digest((0..region.count).flat_map(|i| {
        let word = |w| memory.word(region.buffer, w);
        let element = bits(&word, region.element, region.first + i).to_le_bytes();
        element.into_iter().take(size)
    }))
}

/// Returns the sum of every `size` elements, the results of one thread block each.
/// The last group may be shorter.
pub(super) fn block_sums(
    region: &Region,
    memory: &dyn MemoryView,
    size: u64,
) -> impl Iterator<Item = Value> {
    let size = size.max(1);
    (0..region.count.div_ceil(size)).map(move |block| {
        let from = block * size;
        sum(region, memory, from, from.saturating_add(size).min(region.count))
    })
}

/// Computes the textbook's recursive host sum.
/// It folds the upper half onto the lower until one element is left. If a length is odd, the last
/// element is added to the first, which the textbook omits.
///
/// Needs scratch memory for half of the elements.
fn recursive_sum(region: &Region, memory: &dyn MemoryView) -> Value {
    if region.element.is_float() {
        let get = |i| if let Value::Float(v) = region.value(memory, i) { v } else { 0.0 };
        return Value::Float(halve(region.count, 0.0, get, |a, b| a + b));
    }
    // Integers are added modulo 2^64, in any order.
    sum(region, memory, 0, region.count)
}

/// Halvings whose sums are not kept, so that the scratch has a sixteenth of the elements.
const UNKEPT: u32 = 3;

fn halve<T: Copy>(count: u64, zero: T, get: impl Fn(u64) -> T, add: impl Fn(T, T) -> T) -> T {
    if count < 2 {
        return if count == 1 { get(0) } else { zero };
    }
    let level = (UNKEPT + 1).min(count.ilog2());
    let first = Level { count, get: &get, add: &add };
    let mut scratch: Vec<T> = (0..count >> level).map(|i| first.value(level, i)).collect();
    let mut length = scratch.len();
    while length > 1 {
        let half = length / 2;
        for i in 0..half {
            scratch[i] = add(scratch[i], scratch[i + half]);
        }
        if length % 2 == 1 {
            scratch[0] = add(scratch[0], scratch[length - 1]);
        }
        length = half;
    }
    scratch[0]
}

/// Sums after the first halvings.
struct Level<'a, G, A> {
    count: u64,
    get: &'a G,
    add: &'a A,
}

impl<T: Copy, G: Fn(u64) -> T, A: Fn(T, T) -> T> Level<'_, G, A> {
    /// Element `i` after `level` halvings.
    fn value(&self, level: u32, i: u64) -> T {
        let Some(before) = level.checked_sub(1) else { return (self.get)(i) };
        let (half, length) = (self.count >> level, self.count >> before);
        let sum = (self.add)(self.value(before, i), self.value(before, i + half));
        if i == 0 && length % 2 == 1 {
            return (self.add)(sum, self.value(before, length - 1));
        }
        sum
    }
}

/// Returns an integer total modulo 2^64 as a value: signed for signed elements.
pub(super) fn whole(total: u64, element: Type) -> Value {
    let ty = if element.is_signed() { Type::S64 } else { Type::U64 };
    decode(encode(Value::Int(i128::from(total)), ty).unwrap_or(total), ty)
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Words(Vec<u32>);
    impl MemoryView for Words {
        fn word(&self, _: usize, word: u64) -> u32 {
            self.0[word as usize]
        }
    }

    fn region(element: Type, count: u64) -> Region {
        Region { buffer: 0, element, first: 0, count }
    }

    #[test]
    fn the_recursive_sum_agrees_with_the_plain_sum_for_every_small_length() {
        for count in 0..70 {
            let memory = Words((0..70u32).map(|i| i * i + 1).collect());
            let plain: u32 = memory.0[..count as usize].iter().sum();
            let region = region(Type::U32, count);
            assert_eq!(
                Reduction::RecursiveSum.apply(&region, &memory),
                Value::Int(i128::from(plain)),
                "{count}"
            );
            assert_eq!(
                Reduction::Sum.apply(&region, &memory),
                Value::Int(i128::from(plain)),
                "{count}"
            );
        }
    }

    #[test]
    fn the_recursive_sum_adds_floats_by_halves() {
        // (1e30 + -1e30) + (1 + 1): in index order the ones would be lost in 1e30.
        let memory = Words([1e30f32, 1.0, -1e30, 1.0].map(f32::to_bits).to_vec());
        assert_eq!(
            Reduction::RecursiveSum.apply(&region(Type::F32, 4), &memory),
            Value::Float(2.0)
        );
        assert_eq!(Reduction::Sum.apply(&region(Type::F32, 4), &memory), Value::Float(1.0));
    }

    #[test]
    fn the_recursive_sum_keeps_the_order_of_every_halving() {
        let values: Vec<f32> = (0..200).map(|i| 0.1 / (i as f32 + 0.7)).collect();
        let memory = Words(values.iter().map(|v| v.to_bits()).collect());
        for count in 1..values.len() {
            let mut sums: Vec<f64> = values[..count].iter().map(|&v| f64::from(v)).collect();
            while sums.len() > 1 {
                let (half, last) = (sums.len() / 2, sums[sums.len() - 1]);
                let is_odd = sums.len() % 2 == 1;
                sums = (0..half).map(|i| sums[i] + sums[i + half]).collect();
                sums[0] += if is_odd { last } else { 0.0 };
            }
            let region = region(Type::F32, count as u64);
            assert_eq!(
                Reduction::RecursiveSum.apply(&region, &memory),
                Value::Float(sums[0]),
                "{count}"
            );
        }
    }

    #[test]
    fn words_that_lie_together_give_the_same_sums() {
        struct Together(Words);
        impl MemoryView for Together {
            fn word(&self, buffer: usize, word: u64) -> u32 {
                self.0.word(buffer, word)
            }
            fn words(&self, _: usize) -> Option<&[u32]> {
                Some(&self.0.0)
            }
        }
        let values: Vec<u32> = (0..37u32).map(|i| i.wrapping_mul(0x9e37_79b9)).collect();
        let (apart, together) = (Words(values.clone()), Together(Words(values)));
        for element in [Type::U32, Type::S32, Type::F32, Type::U8] {
            let region = Region { first: 3, ..region(element, 30) };
            for reduction in [Reduction::Sum, Reduction::RecursiveSum] {
                assert_eq!(
                    reduction.apply(&region, &together),
                    reduction.apply(&region, &apart),
                    "{element:?}"
                );
            }
            assert!(
                block_sums(&region, &together, 7).eq(block_sums(&region, &apart, 7)),
                "{element:?}"
            );
        }
    }

    #[test]
    fn sums_are_exact_up_to_32_bits_and_wrap_at_64() {
        let memory = Words(vec![u32::MAX; 4]);
        let sum = |ty, count| Reduction::Sum.apply(&region(ty, count), &memory);
        assert_eq!(sum(Type::U8, 16), Value::Int(16 * 255));
        assert_eq!(sum(Type::S8, 16), Value::Int(-16));
        assert_eq!(sum(Type::U32, 4), Value::Int(4 * 0xffff_ffff));
        assert_eq!(sum(Type::U64, 2), Value::Int(i128::from(u64::MAX - 1)));
        assert_eq!(sum(Type::S64, 2), Value::Int(-2));
    }

    #[test]
    fn block_sums_end_with_a_short_block() {
        let memory = Words((1..=7).collect());
        let sums: Vec<Value> = block_sums(&region(Type::U32, 7), &memory, 3).collect();
        assert_eq!(sums, [6, 15, 7].map(Value::Int));
        assert_eq!(Reduction::Min.apply(&region(Type::U32, 7), &memory), Value::Int(1));
        assert_eq!(Reduction::Max.apply(&region(Type::U32, 7), &memory), Value::Int(7));
    }
}
