//! Arithmetic of 16-bit types: one value in the low half of a row, or two side by side.

use super::no_such_form;
use crate::exec::arith::convert::convert;
use crate::exec::arith::float::{abs, add, finish, flushed, max, min, neg, signed, sub, xorsign};
use crate::exec::arith::half::{Brain, Half, Short, multiply, multiply_add};
use crate::exec::arith::integer::Integer;
use crate::exec::arith::mufu;
use crate::exec::lanes::{Element, Lanes};
use crate::isa::{Round, Type};
use crate::kernel::{Convert, LaneFn, LaneOp};

/// The only rounding mode of these forms.
const NEAR: Round = Round::Nearest;

/// Executes an operation on `f16`, `bf16` or a pair.
pub(super) fn short(op: &LaneOp, on: &mut Lanes<'_>) {
    match (op.f, op.ty) {
        (LaneFn::Set { compare, truth, ftz }, _) => super::choose::set(op, compare, truth, ftz, on),
        (LaneFn::Cvt(modifiers), _) => super::cvt(op, modifiers, on),
        (LaneFn::CvtPair(modifiers), _) => convert_pair(op, modifiers, on),
        (_, Type::F16 | Type::F16x2) => floats::<Half>(op, on),
        (_, Type::BF16 | Type::BF16x2) => floats::<Brain>(op, on),
        (_, Type::U16x2) => integers::<u16>(op, on),
        (_, Type::S16x2) => integers::<i16>(op, on),
        (_, other) => no_such_form(other),
    }
}

/// Applies `f` to one value or to both of a pair.
/// Unused sources are row 0, which always exists.
#[inline(always)]
fn each<H: Element<Cell = u32>>(
    &LaneOp { ty, d, s, .. }: &LaneOp,
    on: &mut Lanes<'_>,
    f: impl Fn(H, H, H) -> H,
) {
    if ty.half().is_some() {
        on.ternary_each::<[H; 2], [H; 2], [H; 2], [H; 2]>(d, s, |[a, x], [b, y], [c, z]| {
            [f(a, b, c), f(x, y, z)]
        });
    } else {
        on.ternary_each::<H, H, H, H>(d, s, f);
    }
}

fn floats<H: Short + Element<Cell = u32>>(op: &LaneOp, on: &mut Lanes<'_>) {
    match op.f {
        LaneFn::FAdd(m) => {
            each(op, on, |a: H, b, _| finish(add(flushed(a, m.ftz), flushed(b, m.ftz), NEAR), m))
        }
        LaneFn::FSub(m) => {
            each(op, on, |a: H, b, _| finish(sub(flushed(a, m.ftz), flushed(b, m.ftz), NEAR), m))
        }
        LaneFn::FMul(m) => each(op, on, |a: H, b, _| multiply(a, b, m)),
        LaneFn::Fma(m) => each(op, on, |a: H, b, c| multiply_add(a, b, c, m)),
        LaneFn::FusedProduct { mode: m, sum } => each(op, on, |a: H, b, c| {
            let [a, b, c] = signed(sum, [a, b, c]);
            multiply_add(a, b, c, m)
        }),
        LaneFn::FNeg { ftz } => each(op, on, |a: H, _, _| neg(flushed(a, ftz))),
        LaneFn::FAbs { ftz } => each(op, on, |a: H, _, _| abs(flushed(a, ftz))),
        LaneFn::FMin { ftz, nan, xorsign: signs } => each(op, on, |a: H, b, _| {
            let (a, b) = (flushed(a, ftz), flushed(b, ftz));
            if signs { xorsign(a, b, |a, b| min(a, b, nan)) } else { min(a, b, nan) }
        }),
        LaneFn::FMax { ftz, nan, xorsign: signs } => each(op, on, |a: H, b, _| {
            let (a, b) = (flushed(a, ftz), flushed(b, ftz));
            if signs { xorsign(a, b, |a, b| max(a, b, nan)) } else { max(a, b, nan) }
        }),
        // `.ftz` is MUFU's own: it keeps only what a bf16 shares with an f32.
        LaneFn::Approximate { f, .. } => {
            let f = mufu::function(f);
            each(op, on, |a: H, _, _| mufu::short(a, f));
        }
        _ => no_such_form(op.ty),
    }
}

fn integers<T: Integer + Element<Cell = u32>>(op: &LaneOp, on: &mut Lanes<'_>) {
    let at_least_zero =
        |x: T, relu: bool| if relu && x.is_negative() { T::from_bits(0) } else { x };
    match op.f {
        LaneFn::Add { .. } => each(op, on, |a: T, b, _| a.add(b)),
        LaneFn::Sub { .. } => each(op, on, |a: T, b, _| a.sub(b)),
        LaneFn::Min { relu } => each(op, on, |a: T, b, _| at_least_zero(a.min(b), relu)),
        LaneFn::Max { relu } => each(op, on, |a: T, b, _| at_least_zero(a.max(b), relu)),
        _ => no_such_form(op.ty),
    }
}

/// Executes `cvt` of two values: the first operand goes to the upper half.
fn convert_pair(&LaneOp { ty, d, s, .. }: &LaneOp, modifiers: Convert, on: &mut Lanes<'_>) {
    let to = ty.half().unwrap_or(ty);
    let one = |a: u32| convert(a.into(), modifiers, to) as u32;
    on.binary_each::<u32, u32, u32>(d, s, |a, b| one(a) << 16 | one(b));
}
