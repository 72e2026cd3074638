//! Slices whose bounds depend on the index of a `for`: one reduction per index, without reading
//! every element again for each one.
//!
//! The previous result is kept. A sum of integers follows its slice in any direction. Any other
//! reduction continues only if its slice grows at the end, in the order in which it would have been
//! computed from scratch.

use super::arithmetic::order;
use super::element::Value;
use super::reference::{Reduction, Region, whole};
use super::term::MemoryView;
use crate::diag::{Diagnostic, Span};

/// Maximum number of elements read by the slices of one formula.
/// Reading them takes some seconds of one host core.
const MOST_READ: u64 = 1 << 30;

/// The slices of one formula while its index runs.
#[derive(Debug, Default)]
pub(super) struct Windows {
    /// Last result of each slice, by its place in the source.
    last: Vec<(Span, Last)>,
    /// Elements read so far.
    read: u64,
}

/// A slice and its result.
#[derive(Clone, Copy, Debug)]
struct Last {
    region: Region,
    value: Value,
}

impl Windows {
    /// Returns the reduction of a slice written at `span`.
    ///
    /// # Errors
    /// Fails if the formula has read more than [`MOST_READ`] elements.
    pub(super) fn reduce(
        &mut self,
        reduction: Reduction,
        region: Region,
        span: Span,
        memory: &dyn MemoryView,
    ) -> Result<Value, Diagnostic> {
        let at = self.last.iter().position(|(known, _)| *known == span);
        let before =
            at.map(|at| self.last[at].1).filter(|last| last.region.buffer == region.buffer);
        let step = before.and_then(|before| Step::new(reduction, before, region));
        self.read = self.read.saturating_add(step.as_ref().map_or(region.count, |step| step.reads));
        if self.read > MOST_READ {
            let message =
                format!("the slices of this formula read more than {MOST_READ} elements in total");
            return Err(Diagnostic::error("too-large", span, message).help(
                "use a sum of integers or a slice that only grows, such as `b[0..i]`: \
                 both reuse the last result",
            ));
        }
        let value = step.map_or_else(
            || reduction.apply(&region, memory),
            |step| step.value(reduction, region, memory),
        );
        let last = Last { region, value };
        match at {
            Some(at) => self.last[at].1 = last,
            None => self.last.push((span, last)),
        }
        Ok(value)
    }
}

/// The update from one slice to the next.
struct Step {
    before: Last,
    /// Elements to read.
    reads: u64,
}

impl Step {
    /// Returns the update to `region` if it reads less than the whole region.
    fn new(reduction: Reduction, before: Last, region: Region) -> Option<Step> {
        let (old_end, end) =
            (before.region.first + before.region.count, region.first + region.count);
        let sums = matches!(reduction, Reduction::Sum | Reduction::RecursiveSum)
            && !region.element.is_float();
        let grows =
            region.first == before.region.first && end >= old_end && before.region.count > 0;
        let reads = before.region.first.abs_diff(region.first) + old_end.abs_diff(end);
        let possible =
            sums || grows && matches!(reduction, Reduction::Sum | Reduction::Min | Reduction::Max);
        (possible && reads < region.count).then_some(Step { before, reads })
    }

    fn value(&self, reduction: Reduction, region: Region, memory: &dyn MemoryView) -> Value {
        let (old, old_end) =
            (self.before.region.first, self.before.region.first + self.before.region.count);
        let (new, new_end) = (region.first, region.first + region.count);
        let all = Region { first: 0, ..region };
        let values = |from: u64, to: u64| (from..to).map(move |i| all.value(memory, i));
        match (reduction, self.before.value) {
            (Reduction::Sum | Reduction::RecursiveSum, Value::Int(total)) => {
                let sum = |from, to| {
                    values(from, to).fold(0u64, |sum, v| match v {
                        Value::Int(v) => sum.wrapping_add(v as u64),
                        Value::Float(_) => sum,
                    })
                };
                let total =
                    (total as u64).wrapping_add(sum(new, old)).wrapping_add(sum(old_end, new_end));
                whole(
                    total.wrapping_sub(sum(old, new)).wrapping_sub(sum(new_end, old_end)),
                    region.element,
                )
            }
            (Reduction::Sum | Reduction::RecursiveSum, Value::Float(total)) => {
                Value::Float(values(old_end, new_end).fold(total, |total, v| total + v.as_float()))
            }
            // Neither goes from one slice to the next: see `Step::new`.
            (Reduction::Hash, _) => reduction.apply(&region, memory),
            (Reduction::Min | Reduction::Max, value) => {
                values(old_end, new_end).fold(value, |best, v| {
                    let better = |o: std::cmp::Ordering| {
                        if reduction == Reduction::Min { o.is_lt() } else { o.is_gt() }
                    };
                    if order(v, best).is_some_and(better) { v } else { best }
                })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isa::Type;

    /// A way to cut slices: its name, and the bounds of the slice for an index.
    type Way = (&'static str, fn(u64) -> (u64, u64));

    struct Words(Vec<u32>);
    impl MemoryView for Words {
        fn word(&self, _: usize, word: u64) -> u32 {
            self.0[word as usize]
        }
    }

    #[test]
    fn a_slice_that_moves_comes_to_what_it_would_alone() {
        let memory = Words((0..64u32).map(|i| i.wrapping_mul(0x9e37_79b9)).collect());
        let ways: [Way; 6] = [
            ("prefix", |i| (0, i)),
            ("suffix", |i| (i, 40)),
            ("moving", |i| (i, i + 5)),
            ("apart", |i| (i % 4 * 9, i % 4 * 9 + 9)),
            ("backwards", |i| (40 - i, 45 - i)),
            ("shrinking", |i| (0, 40 - i)),
        ];
        for ty in [Type::U32, Type::S32, Type::U8, Type::U16, Type::U64, Type::S64] {
            for (name, ends) in ways {
                for reduction in
                    [Reduction::Sum, Reduction::RecursiveSum, Reduction::Min, Reduction::Max]
                {
                    let mut windows = Windows::default();
                    for i in 0..40 {
                        let scale = if ty.bytes() == 8 { 2 } else { 1 };
                        let (low, high) = (ends(i).0 / scale, ends(i).1 / scale);
                        let region =
                            Region { buffer: 0, element: ty, first: low, count: high - low };
                        let found = windows
                            .reduce(reduction, region, Span::new(0, 1), &memory)
                            .expect("little to read");
                        assert_eq!(
                            found,
                            reduction.apply(&region, &memory),
                            "{ty:?} {name} {reduction:?} {i}"
                        );
                    }
                }
            }
        }
        let floats = Words((0..64u32).map(|i| (i as f32 * 1e7 - 3.3).to_bits()).collect());
        let mut windows = Windows::default();
        for i in 0..40 {
            let region = Region { buffer: 0, element: Type::F32, first: 3, count: i };
            let found = windows
                .reduce(Reduction::Sum, region, Span::new(0, 1), &floats)
                .expect("little to read");
            let alone = Reduction::Sum.apply(&region, &floats);
            assert_eq!(found.as_float().to_bits(), alone.as_float().to_bits(), "{i}");
        }
    }

    #[test]
    fn what_would_be_read_for_ever_is_refused() {
        let memory = Words(vec![0; 1]);
        let mut windows = Windows { last: Vec::new(), read: MOST_READ };
        let region = Region { buffer: 0, element: Type::U32, first: 0, count: 1 };
        let refused = windows
            .reduce(Reduction::Max, region, Span::new(0, 1), &memory)
            .expect_err("one too many");
        assert_eq!(refused.code, "too-large");
    }
}
