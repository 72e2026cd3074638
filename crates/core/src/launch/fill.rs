//! Contents of buffers and expected values: sequences to words.
//!
//! `random(seed, lo..hi)` is SplitMix64 (Steele, Lea, Flood, "Fast Splittable Pseudorandom Number
//! Generators", OOPSLA 2014), addressed by index: element `i` depends only on the seed and `i`, so
//! any program can compute it. `lcg(seed)` is the generator of a typical one-line host loop in C.

use super::column::Values;
use super::element::{Packer, Value, encode, fits, mask, zeros};
use super::expression::Expr;
use super::plan::{Each, Sequence, SequenceKind};
use super::reference::{Region, block_sums};
use super::term::{Initial, Scope, bind, integer, region, value};
use crate::diag::{Diagnostic, Span};
use crate::isa::Type;

/// Returns little-endian elements for a directive, from the file of a path.
///
/// The command line decides which paths are allowed, and how a file is read.
pub type Files<'a> = &'a dyn Fn(&str, Wanted) -> Result<Vec<u8>, String>;

/// Elements that a directive takes from a file.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// Element type.
    pub element: Type,
    /// Number of elements.
    pub count: u64,
    /// Where they come from.
    pub from: Origin,
}

/// Origin of elements in a file.
#[derive(Clone, Debug)]
pub enum Origin {
    /// `file("..")`: the file's data.
    Data,
    /// `result("..")`: what the program in the file leaves in a buffer.
    Result {
        /// Name of the buffer.
        buffer: String,
        /// Constants of the directives, which replace those of the program.
        constants: Vec<(String, i64)>,
    },
}

impl Wanted {
    /// Returns the bytes of the elements.
    pub fn bytes(&self) -> u64 {
        self.count.saturating_mul(u64::from(self.element.bytes()))
    }
}

/// The destination of a sequence: `count` elements of a type, from index `first`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) element: Type,
    pub(super) first: u64,
    pub(super) count: u64,
}

impl Place {
    /// Returns the place of a region's elements.
    pub(super) fn of(region: &Region) -> Place {
        Place { element: region.element, first: region.first, count: region.count }
    }
}

/// Returns the words of a sequence at a place.
pub(super) fn words(
    sequence: &Sequence,
    place: Place,
    scope: &Scope<'_>,
    files: Files<'_>,
) -> Result<Vec<u32>, Diagnostic> {
    let Place { element, first, count } = place;
    let span = sequence.span;
    let mut packer = Packer::with_room(count, element).ok_or_else(|| no_memory(span))?;
    let length = |found: u64, what: &str| {
        if found == count {
            return Ok(());
        }
        let message = format!(
            "expected {count} element{}, found {found} {what}",
            if count == 1 { "" } else { "s" }
        );
        Err(Diagnostic::error("wrong-length", span, message))
    };
    match &sequence.kind {
        SequenceKind::Fill(value) => return same(exact(value, element, scope)?, place, span),
        SequenceKind::List(values) => {
            length(values.len() as u64, "in the list")?;
            for value in values {
                packer.push(exact(value, element, scope)?, element);
            }
        }
        SequenceKind::Iota(start, step) => {
            let start = start.as_ref().map_or(Ok(Value::Int(0)), |e| value(e, scope))?;
            let step = step.as_ref().map_or(Ok(Value::Int(1)), |e| value(e, scope))?;
            for i in 0..count {
                packer.push(wrapped(along(start, step, i), element, span)?, element);
            }
        }
        SequenceKind::Random { seed, low, high } => {
            random(&mut packer, place, [seed, low, high], scope)?
        }
        SequenceKind::Lcg(seed) => {
            let mut state = integer(seed, scope)? as u32;
            for _ in 0..first {
                state = lcg(state);
            }
            let drawn = std::iter::repeat_with(|| {
                state = lcg(state);
                state >> 8 & 0xffff
            });
            let drawn = drawn.take(count as usize);
            if element.is_float() {
                for value in drawn {
                    packer.push(wrapped(Value::Int(value.into()), element, span)?, element);
                }
            } else if element.bits() == 32 {
                packer.extend(drawn);
            } else {
                drawn.for_each(|value| packer.push(u64::from(value) & mask(element), element));
            }
        }
        SequenceKind::File { path, result } => {
            let size = element.bytes().max(1) as usize;
            let from = match result {
                None => Origin::Data,
                Some(buffer) => {
                    Origin::Result { buffer: buffer.clone(), constants: scope.constants.to_vec() }
                }
            };
            let bytes = files(&path.text, Wanted { element, count, from }).map_err(|reason| {
                let verb = if result.is_some() { "run" } else { "read" };
                let message = format!("cannot {verb} `{}`: {reason}", path.text);
                Diagnostic::error("file", path.span, message)
            })?;
            if bytes.len() % size != 0 {
                let message = format!(
                    "expected a multiple of {size} bytes in the file, found {}",
                    bytes.len()
                );
                return Err(Diagnostic::error("wrong-length", span, message));
            }
            length((bytes.len() / size) as u64, "in the file")?;
            for chunk in bytes.chunks_exact(size) {
                let bits = chunk.iter().rev().fold(0u64, |bits, byte| bits << 8 | u64::from(*byte));
                packer.push(bits, element);
            }
        }
        SequenceKind::BlockSum { buffer, size } => {
            let Some(summed) = region(buffer, scope)? else {
                let message = "expected a buffer or slice as the argument of `block_sum`";
                return Err(Diagnostic::error("type-mismatch", buffer.span(), message));
            };
            let size = integer(size, scope)?;
            let Some(size) = u64::try_from(size).ok().filter(|s| *s > 0) else {
                return Err(Diagnostic::error(
                    "out-of-range",
                    span,
                    format!("expected at least 1 element per block, found {size}"),
                ));
            };
            length(summed.count.div_ceil(size), "in the block sums")?;
            for sum in block_sums(&summed, &Initial(scope.buffers), size) {
                packer.push(wrapped(sum, element, span)?, element);
            }
        }
        SequenceKind::Formula { value: formula, each: None } => {
            let Some(copied) = region(formula, scope)? else {
                return same(exact(formula, element, scope)?, place, span);
            };
            length(copied.count, "on the right side")?;
            for i in 0..count {
                let value = copied.value(&Initial(scope.buffers), i);
                packer.push(wrapped(value, element, span)?, element);
            }
        }
        SequenceKind::Formula { value: formula, each: Some(each) } => {
            if let Some((low, high)) = &each.range {
                let span = low.span().to(high.span());
                return Err(Diagnostic::error(
                    "directive-syntax",
                    span,
                    "expected `for i` without a range: the left side is a whole buffer",
                )
                .help("write `buffer[i]` or a slice on the left side"));
            }
            let term = bind(formula, &with_index(each, scope)?)?;
            let indices = i128::from(first)..i128::from(first + count);
            for value in Values::new(&term, &Initial(scope.buffers), indices) {
                packer.push(wrapped(value?, element, formula.span())?, element);
            }
        }
    }
    Ok(packer.finish())
}

/// Returns the scope inside `for i`; the index must not shadow another name.
pub(super) fn with_index<'a>(each: &'a Each, scope: &Scope<'a>) -> Result<Scope<'a>, Diagnostic> {
    let name = each.variable.text.as_str();
    let taken = scope.constants.iter().any(|(n, _)| n == name)
        || scope.buffers.iter().any(|b| b.name == name);
    if taken {
        let message = format!("index `{name}` shadows a constant or buffer of that name");
        return Err(Diagnostic::error("duplicate-name", each.variable.span, message));
    }
    Ok(Scope { variable: Some(name), ..*scope })
}

/// Returns the bits of one given value, which must fit the element.
pub(super) fn exact(expr: &Expr, element: Type, scope: &Scope<'_>) -> Result<u64, Diagnostic> {
    let value = value(expr, scope)?;
    if !fits(value, element) {
        let message =
            format!("{} does not fit in `{}`", super::element::show_value(value), element.name());
        return Err(Diagnostic::error("out-of-range", expr.span(), message));
    }
    wrapped(value, element, expr.span())
}

/// Returns the bits of a computed value; integers wrap into the element.
pub(super) fn wrapped(value: Value, element: Type, span: Span) -> Result<u64, Diagnostic> {
    encode(value, element).ok_or_else(|| {
        let message =
            format!("expected an integer for `{}`, found a floating-point value", element.name());
        Diagnostic::error("type-mismatch", span, message)
    })
}

/// Repeats the same bits `count` times.
fn same(bits: u64, place: Place, span: Span) -> Result<Vec<u32>, Diagnostic> {
    if bits == 0 {
        return zeros(place.count, place.element).ok_or_else(|| no_memory(span));
    }
    let mut packer =
        Packer::with_room(place.count, place.element).ok_or_else(|| no_memory(span))?;
    if place.element.bits() == 32 {
        packer.extend(std::iter::repeat_n(bits as u32, place.count as usize));
    } else {
        (0..place.count).for_each(|_| packer.push(bits, place.element));
    }
    Ok(packer.finish())
}

pub(super) fn no_memory(span: Span) -> Diagnostic {
    Diagnostic::error("too-large", span, "not enough host memory")
}

/// Returns `start + step * i`.
/// Counts are below 2^34 and absolute values below 2^64, so the product fits an i128.
fn along(start: Value, step: Value, i: u64) -> Value {
    match (start, step) {
        (Value::Int(a), Value::Int(d)) => Value::Int(a + d * i128::from(i)),
        (a, d) => Value::Float(a.as_float() + d.as_float() * i as f64),
    }
}

fn random(
    packer: &mut Packer,
    place: Place,
    [seed, low, high]: [&Expr; 3],
    scope: &Scope<'_>,
) -> Result<(), Diagnostic> {
    let Place { element, count, .. } = place;
    let span = low.span().to(high.span());
    let empty = || {
        Diagnostic::error("out-of-range", span, "the range is empty")
            .help("raise the upper end: `lo..hi` excludes `hi`")
    };
    let seed = integer(seed, scope)? as u64;
    if element.is_float() {
        let (low, high) = (value(low, scope)?.as_float(), value(high, scope)?.as_float());
        if low.partial_cmp(&high) != Some(std::cmp::Ordering::Less) {
            return Err(empty());
        }
        for i in 0..count {
            let unit = (split_mix(seed, i) >> 11) as f64 / (1u64 << 53) as f64;
            packer.push(wrapped(Value::Float(low + (high - low) * unit), element, span)?, element);
        }
        return Ok(());
    }
    let (low_value, high_value) = (integer(low, scope)?, integer(high, scope)?);
    if low_value >= high_value {
        return Err(empty());
    }
    if !fits(Value::Int(low_value), element) || !fits(Value::Int(high_value - 1), element) {
        let message = format!("{low_value}..{high_value} does not fit in `{}`", element.name());
        return Err(Diagnostic::error("out-of-range", span, message));
    }
    let width = (high_value - low_value) as u128;
    if width > 1 << 64 {
        return Err(Diagnostic::error(
            "out-of-range",
            span,
            "expected a range of at most 2^64 values",
        ));
    }
    // The upper half of a 64 x 64-bit product is below `width`, and nearly uniform for widths far
    // below 2^64. Every sum fits the element, so its low bits are the element's.
    let (start, mask) = (low_value as u64, mask(element));
    let drawn = |i| start.wrapping_add(((u128::from(split_mix(seed, i)) * width) >> 64) as u64);
    if element.bits() == 32 {
        packer.extend((0..count).map(|i| drawn(i) as u32));
    } else {
        (0..count).for_each(|i| packer.push(drawn(i) & mask, element));
    }
    Ok(())
}

/// Returns the next state of the linear congruential generator.
/// Source: Press et al., "Numerical Recipes in C", 2nd edition, section 7.1.
const fn lcg(state: u32) -> u32 {
    state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223)
}

/// Returns output `index` of SplitMix64 started with `seed`.
pub(super) fn split_mix(seed: u64, index: u64) -> u64 {
    let mut z = seed.wrapping_add(index.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_generator_is_splitmix64() {
        // The first outputs of the reference implementation for seed 1234567.
        let outputs: Vec<u64> = (0..5).map(|i| split_mix(1_234_567, i)).collect();
        assert_eq!(
            outputs,
            [
                6_457_827_717_110_365_317,
                3_203_168_211_198_807_973,
                9_817_491_932_198_370_423,
                4_593_380_528_125_082_431,
                16_408_922_859_458_223_821
            ]
        );
    }
}
