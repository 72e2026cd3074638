//! Arithmetic on pairs of 16-bit floats: HADD2, HMUL2, HFMA2, HMNMX2, VHMNMX, HSET2, HSETP2.

use super::operand::{Lanes, Row};
use super::{NEAR, compared};
use crate::base::MAX_LANES;
use crate::exec::arith::float::{self, Float, NAN32, finish, flushed};
use crate::exec::arith::half::{Brain, Half, Short, multiply, multiply_add};
use crate::exec::lanes::predicate;
use crate::exec::native::rows::values;
use crate::isa::{Compare, FloatMode, Type};
use crate::kernel::{FloatFn, Part, Source};

/// Mode of the most frequent instructions.
const PLAIN: FloatMode = FloatMode::PLAIN;

/// Values of one operand: the low and the high halves.
type Pairs<H> = Row<[H; 2]>;

/// Executes an instruction with a result of two halves.
pub(super) fn half(on: &mut Lanes<'_>, f: FloatFn) {
    match f {
        FloatFn::AddHalves { sat } => add_halves(on, sat),
        FloatFn::Add(Type::BF16x2, _)
        | FloatFn::Mul(Type::BF16x2, ..)
        | FloatFn::Fma(Type::BF16x2, _)
        | FloatFn::MinMax { ty: Type::BF16x2, .. }
        | FloatFn::MinMaxOfThree { ty: Type::BF16x2, .. } => arithmetic::<Brain>(on, f),
        _ => arithmetic::<Half>(on, f),
    }
}

fn arithmetic<H: Short>(on: &mut Lanes<'_>, f: FloatFn) {
    match f {
        FloatFn::Add(_, PLAIN) => plain(on, |[a, b, _]: [H; 3]| H::add_near(a, b)),
        FloatFn::Mul(_, PLAIN, _) => plain(on, |[a, b, _]: [H; 3]| H::mul_near(a, b)),
        FloatFn::Fma(_, PLAIN) => plain(on, |[a, b, c]: [H; 3]| H::fma_near(a, b, c)),
        FloatFn::Add(_, m) => {
            binary(on, |a: H, b| finish(float::add(flushed(a, m.ftz), flushed(b, m.ftz), NEAR), m))
        }
        FloatFn::Mul(_, m, _) => binary(on, |a: H, b| multiply(a, b, m)),
        FloatFn::Fma(_, m) => {
            let [a, b, c] = [0, 1, 2].map(|i| read::<H>(on, i, true));
            write(on, |l, i| multiply_add(a[l][i], b[l][i], c[l][i], m));
        }
        FloatFn::MinMax { ftz, nan, xorsign, .. } => {
            let q = predicate(on.registers, on.op.q[0]);
            let [a, b] = [0, 1].map(|i| read::<H>(on, i, !xorsign));
            write(on, |l, i| {
                let (a, b) = (flushed(a[l][i], ftz), flushed(b[l][i], ftz));
                let choose = match q >> l & 1 != 0 {
                    true => |a: H, b, nan| float::min(a, b, nan),
                    false => |a: H, b, nan| float::max(a, b, nan),
                };
                match xorsign {
                    true => float::xorsign(a, b, |a, b| choose(a, b, nan)),
                    false => choose(a, b, nan),
                }
            });
        }
        FloatFn::MinMaxOfThree { ftz, nan, .. } => {
            let q = predicate(on.registers, on.op.q[0]);
            let [a, b, c] = [0, 1, 2].map(|i| read::<H>(on, i, true));
            write(on, |l, i| {
                let [a, b, c] = [a, b, c].map(|of| flushed(of[l][i], ftz));
                match q >> l & 1 != 0 {
                    true => float::min(float::min(a, b, nan), c, nan),
                    false => float::max(float::max(a, b, nan), c, nan),
                }
            });
        }
        _ => {}
    }
}

/// Writes a function of three sources, of which it may ignore some; computes all lanes.
#[inline(always)]
fn plain<H: Short>(on: &mut Lanes<'_>, f: impl Fn([H; 3]) -> H) {
    let [a, b, c] = [whole::<H>(on, 0), whole::<H>(on, 1), whole::<H>(on, 2)];
    on.write_bits(
        #[inline(always)]
        |l| {
            let half = |cell: u32| H::from_bits64(u64::from(cell & 0xffff));
            let low = f([half(a[l]), half(b[l]), half(c[l])]).to_bits64() as u32;
            let high = f([half(a[l] >> 16), half(b[l] >> 16), half(c[l] >> 16)]).to_bits64() as u32;
            low | high << 16
        },
    );
}

/// Returns a source with both halves selected and signs applied, as the cells of [`read`].
#[inline(always)]
fn whole<H: Short>(on: &Lanes<'_>, source: usize) -> Row<u32> {
    let Source { negate, absolute, part, .. } = on.op.s[source];
    if part == Part::Single {
        return values(|l| {
            let [low, high] = pair::<H>(on.op.s[source], true, on.raw(source)[l]);
            low.to_bits64() as u32 | (high.to_bits64() as u32) << 16
        });
    }
    let kept = if absolute { 0x7fff_7fff } else { u32::MAX };
    let flipped = if negate { 0x8000_8000 } else { 0 };
    let flipped = flipped ^ if part == Part::H0Nh1 { 0x8000_0000 } else { 0 };
    let raw = on.raw(source);
    let signed = |cell: u32| cell & kept ^ flipped;
    match part {
        Part::H0 => values(|l| signed(raw[l] & 0xffff | raw[l] << 16)),
        Part::H1 => values(|l| signed(raw[l] >> 16 | raw[l] & 0xffff_0000)),
        _ => values(|l| signed(raw[l])),
    }
}

fn binary<H: Short>(on: &mut Lanes<'_>, f: impl Fn(H, H) -> H) {
    let [a, b] = [0, 1].map(|i| read::<H>(on, i, true));
    write(on, |l, i| f(a[l][i], b[l][i]));
}

/// Reads a source: selects its halves, and applies its signs if `signs`.
fn read<H: Short>(on: &Lanes<'_>, source: usize, signs: bool) -> Pairs<H> {
    on.raw(source).map(|cell| pair(on.op.s[source], signs, cell))
}

/// Returns the halves of a source in one lane.
#[inline(always)]
fn pair<H: Short>(source: Source, signs: bool, cell: u32) -> [H; 2] {
    let Source { negate, absolute, part, .. } = source;
    let (low, high) = (cell & 0xffff, cell >> 16);
    let halves = match part {
        Part::Single => {
            let truncated = truncated::<H>(f32::from_bits(cell).into()).to_bits64() as u32;
            [truncated, truncated]
        }
        Part::H0 => [low, low],
        Part::H1 => [high, high],
        _ => [low, high],
    };
    let [low, high] = halves.map(|bits| {
        let x = H::from_bits64(bits.into());
        let x = if signs && absolute { x.magnitude() } else { x };
        if signs && negate { x.flip() } else { x }
    });
    [low, if part == Part::H0Nh1 { high.flip() } else { high }]
}

/// Rounds a number towards zero, as HADD2 does with an f32 operand.
///
/// Compilers for sm_75 use it for `cvt.rz.f16.f32`.
#[inline(always)]
fn truncated<H: Short>(x: f64) -> H {
    let nearest = H::narrow(x);
    let beyond = nearest.widen().abs() > x.abs();
    // The next number towards zero has the preceding bits.
    H::from_bits64(nearest.to_bits64() - u64::from(beyond))
}

/// Writes a pair to the active lanes: `value(lane, half)`.
fn write<H: Short>(on: &mut Lanes<'_>, value: impl Fn(usize, usize) -> H) {
    let bits = |l, half| value(l, half).to_bits64() as u32;
    on.write_bits_each(|l| bits(l, 0) | bits(l, 1) << 16);
}

/// Executes HADD2.F32, which converts from f16 when an operand is -0.
fn add_halves(on: &mut Lanes<'_>, sat: bool) {
    let [a, b] = [0, 1].map(|i| read::<Half>(on, i, true));
    on.write_bits_each(|l| {
        let sum = (a[l][0].widen() + b[l][0].widen()) as f32;
        let sum = if sat { sum.saturate() } else { sum };
        if sum.is_nan() { NAN32 } else { sum.to_bits() }
    });
}

/// Returns the lanes (of all 32) where the comparison holds: of the low and of the high halves.
pub(super) fn comparison(on: &Lanes<'_>, ty: Type, compare: Compare, ftz: bool) -> [u32; 2] {
    match ty {
        Type::BF16x2 => of_halves::<Brain>(on, compare, ftz),
        _ => of_halves::<Half>(on, compare, ftz),
    }
}

fn of_halves<H: Short>(on: &Lanes<'_>, compare: Compare, ftz: bool) -> [u32; 2] {
    let [a, b] = [0, 1].map(|i| read::<H>(on, i, true));
    [0, 1].map(|half| {
        let values = |pairs: &Pairs<H>| -> [f64; MAX_LANES] {
            pairs.map(|pair| flushed(pair[half], ftz).widen())
        };
        compared(compare, &values(&a), &values(&b))
    })
}
