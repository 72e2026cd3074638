//! Float instructions of machine code: f32 and f64.
//!
//! Arithmetic is that of PTX ([`arith::float`](crate::exec::arith::float)); only operands differ.

mod approximate;
mod convert;
mod half;
pub(super) mod near;
mod operand;

use super::rows::lanes_where;
use crate::base::LaneMask;
use crate::exec::RegisterFile;
use crate::exec::arith::compare::{Comparison, WithComparison, with_comparison};
use crate::exec::arith::exact::{Exact, F32, F64};
use crate::exec::arith::float::{self, finish, flush32, flushed};
use crate::exec::lanes::{predicate, set_predicate};
use crate::isa::{BoolOp, Compare, FloatMode, Round, Type};
use crate::kernel::{FloatFn, Native};
use operand::{Lanes, Operand, bits};

/// Rounding to nearest.
const NEAR: Round = Round::Nearest;

/// Applies a float instruction to `lanes`. The most frequent ones have functions of their own
/// ([`near`]).
pub(super) fn float(op: &Native, f: FloatFn, lanes: LaneMask, registers: &mut RegisterFile) {
    let on = &mut Lanes { op, lanes, registers };
    match f {
        FloatFn::Add(Type::F32, mode) => add::<f32>(on, mode),
        FloatFn::Add(Type::F64, mode) => add::<f64>(on, mode),
        FloatFn::Mul(Type::F32, mode, 0) => multiply_single(on, mode),
        FloatFn::Mul(Type::F32, mode, scale) => multiply_scaled(on, mode, scale),
        FloatFn::Mul(Type::F64, mode, _) => multiply_double(on, mode),
        FloatFn::Fma(Type::F32, mode) => multiply_add_single(on, mode),
        FloatFn::Fma(Type::F64, mode) => multiply_add_double(on, mode),
        FloatFn::Select { ftz } => select(on, ftz),
        FloatFn::MinMax { ty: Type::F32, ftz, nan, xorsign } => min_max(on, ftz, nan, xorsign),
        FloatFn::SetPredicate { ty, compare, combine, ftz } => {
            let [held, second] = match ty {
                Type::F32 => comparison::<f32>(on, compare, ftz),
                Type::F64 => comparison::<f64>(on, compare, ftz),
                _ => half::comparison(on, ty, compare, ftz),
            };
            let q = predicate(on.registers, op.q[0]);
            set_predicates(on, [held, second].map(|bits| combined(bits, combine, q)));
        }
        FloatFn::Set { ty, compare, combine, ftz, truth } => {
            let [low, high] = match ty {
                Type::F32 => [comparison::<f32>(on, compare, ftz)[0], 0],
                _ => half::comparison(on, ty, compare, ftz),
            };
            let q = predicate(on.registers, op.q[0]);
            let pair = ty.half().is_some();
            let low = combined(low, combine, q);
            let high = if pair { combined(high, combine, q) } else { low };
            let (low_truth, high_truth) = (truth & 0xffff, truth & 0xffff_0000);
            let bit = |mask: u32, lane: usize, value| if mask >> lane & 1 != 0 { value } else { 0 };
            on.write_bits(|lane| bit(low, lane, low_truth) | bit(high, lane, high_truth));
        }
        FloatFn::Choose { larger } => choose(on, larger),
        FloatFn::DivideCheck => divide_check(on),
        FloatFn::Approximate(f, ty) => approximate::approximate(on, f, ty),
        FloatFn::Convert { convert, to, nan_to_zero } => {
            convert::convert(on, convert, to, nan_to_zero);
        }
        FloatFn::Pack { convert, to } => convert::pack(on, convert, to),
        FloatFn::Tensor(f) => convert::tensor(on, f),
        FloatFn::Merge { convert, to } => convert::merge(on, convert, to),
        // The others are arithmetic on pairs of 16-bit floats.
        _ => half::half(on, f),
    }
}

fn add<F: Operand>(on: &mut Lanes<'_>, mode: FloatMode) {
    let [a, b] = [0, 1].map(|i| F::read(on, i));
    F::write_each(on, |l| {
        finish(float::add(flushed(a[l], mode.ftz), flushed(b[l], mode.ftz), mode.round), mode)
    });
}

fn multiply_single(on: &mut Lanes<'_>, mode: FloatMode) {
    let [a, b] = [0, 1].map(|i| f32::read(on, i));
    f32::write_each(on, |l| match mode.ftz {
        true => finish(float::mul_flushing(flush32(a[l]), flush32(b[l]), mode.round), mode),
        false => finish(float::mul(a[l], b[l], mode.round), mode),
    });
}

/// Executes FMUL with a scale.
fn multiply_scaled(on: &mut Lanes<'_>, mode: FloatMode, scale: i8) {
    let [a, b] = [0, 1].map(|i| f32::read(on, i));
    let factor = f64::from(scale).exp2();
    f32::write_each(on, |l| {
        // The product of two f32 is exact in f64, and so is its scaling.
        let [a, b] = [a[l], b[l]].map(|x| flushed(x, mode.ftz));
        let product = f64::from(a) * f64::from(b) * factor;
        if !product.is_finite() {
            return finish(float::mul(a, b, NEAR), mode);
        }
        if mode.ftz && product.abs() < f64::from(f32::MIN_POSITIVE) {
            return finish(0.0_f32.copysign(product as f32), mode);
        }
        let bits = Exact::decode(F64, product.to_bits()).round(F32, mode.round);
        finish(f32::from_bits(bits as u32), mode)
    });
}

fn multiply_double(on: &mut Lanes<'_>, mode: FloatMode) {
    let [a, b] = [0, 1].map(|i| f64::read(on, i));
    f64::write_each(on, |l| float::mul(a[l], b[l], mode.round));
}

fn multiply_add_single(on: &mut Lanes<'_>, mode: FloatMode) {
    let [a, b, c] = [0, 1, 2].map(|i| f32::read(on, i));
    f32::write_each(on, |l| match mode.ftz {
        true => {
            let [a, b, c] = [a[l], b[l], c[l]].map(flush32);
            finish(float::fma_flushing(a, b, c, mode.round), mode)
        }
        false => finish(float::fma(a[l], b[l], c[l], mode.round), mode),
    });
}

/// Executes DFMA.
fn multiply_add_double(on: &mut Lanes<'_>, mode: FloatMode) {
    let [a, b, c] = [0, 1, 2].map(|i| f64::read(on, i));
    f64::write_each(on, |l| float::fma(a[l], b[l], c[l], mode.round));
}

/// Executes FSEL. Without `.FTZ` it moves bits, for example halves of an f64.
fn select(on: &mut Lanes<'_>, ftz: bool) {
    let [a, b] = [0, 1].map(|i| bits(on, i));
    let q = predicate(on.registers, on.op.q[0]);
    let chosen = |l: usize| if q >> l & 1 != 0 { a[l] } else { b[l] };
    if ftz {
        on.write_bits(|l| flush32(f32::from_bits(chosen(l))).to_bits());
    } else {
        on.write_bits(chosen);
    }
}

fn min_max(on: &mut Lanes<'_>, ftz: bool, nan: bool, xorsign: bool) {
    let q = predicate(on.registers, on.op.q[0]);
    let smaller = |l: usize| q >> l & 1 != 0;
    if xorsign {
        // The listing shows the operands as `|x|`; their signs count nevertheless.
        let [a, b] = [0, 1].map(|i| on.raw(i).map(|x| flushed(f32::from_bits(x), ftz)));
        f32::write_each(on, |l| match smaller(l) {
            true => float::xorsign(a[l], b[l], |a, b| float::min(a, b, nan)),
            false => float::xorsign(a[l], b[l], |a, b| float::max(a, b, nan)),
        });
        return;
    }
    let [a, b] = [0, 1].map(|i| f32::read(on, i).map(|x| flushed(x, ftz)));
    match q {
        u32::MAX => f32::write(on, |l| float::min(a[l], b[l], nan)),
        0 => f32::write(on, |l| float::max(a[l], b[l], nan)),
        _ => f32::write_each(on, |l| match smaller(l) {
            true => float::min(a[l], b[l], nan),
            false => float::max(a[l], b[l], nan),
        }),
    }
}

/// Returns the lanes (of all 32) where the comparison of `a` and `b` holds, and the others.
fn comparison<F: Operand>(on: &Lanes<'_>, compare: Compare, ftz: bool) -> [u32; 2] {
    let [mut a, mut b] = [0, 1].map(|i| F::read(on, i));
    if ftz {
        (a, b) = (a.map(F::flush), b.map(F::flush));
    }
    let held = compared(compare, &a, &b);
    [held, !held]
}

/// Returns the lanes where `a compare b` holds.
fn compared<F: PartialOrd + Copy>(
    compare: Compare,
    a: &operand::Row<F>,
    b: &operand::Row<F>,
) -> u32 {
    struct On<'a, F>(&'a operand::Row<F>, &'a operand::Row<F>);
    impl<F: PartialOrd + Copy> WithComparison for On<'_, F> {
        type Output = u32;
        #[inline(always)]
        fn run<C: Comparison>(self) -> u32 {
            lanes_where(|l| C::holds(self.0[l], self.1[l]))
        }
    }
    with_comparison(compare, On(a, b))
}

/// Combines a comparison with the predicate source.
fn combined(held: u32, combine: BoolOp, q: u32) -> u32 {
    match combine {
        BoolOp::And => held & q,
        BoolOp::Or => held | q,
        BoolOp::Xor => held ^ q,
    }
}

/// Writes both predicate results.
fn set_predicates(on: &mut Lanes<'_>, results: [u32; 2]) {
    for (p, bits) in on.op.p.into_iter().zip(results) {
        if let Some(p) = p {
            set_predicate(on.registers, p, on.lanes, bits);
        }
    }
}

/// Executes DSETP.MIN and DSETP.MAX.
///
/// A number wins against NaN. Of two NaNs the second operand is the result.
fn choose(on: &mut Lanes<'_>, larger: bool) {
    let [a, b] = [0, 1].map(|i| f64::read(on, i));
    let q = predicate(on.registers, on.op.q[0]);
    let (mut first, mut nan) = (0_u32, 0_u32);
    for (l, (&a, &b)) in a.iter().zip(&b).enumerate() {
        let wins = match larger {
            _ if a == b => a.is_sign_negative() != larger,
            true => a > b,
            false => a < b,
        };
        first |= u32::from(wins || (b.is_nan() && !a.is_nan())) << l;
        nan |= u32::from(a.is_nan() && b.is_nan()) << l;
    }
    set_predicates(on, [first & q, nan & q]);
}

/// Executes FCHK.
///
/// The fast path of a division is a reciprocal and five multiply-adds in f32. It rounds correctly
/// unless an operand, the quotient or a residual comes near the ends of the exponents. The bounds
/// are those published for sm_120; this project has not measured them.
fn divide_check(on: &mut Lanes<'_>) {
    let [a, b] = [0, 1].map(|i| f32::read(on, i));
    let mut slow = 0_u32;
    for (l, (a, b)) in a.iter().zip(&b).enumerate() {
        let [a, b] = [a, b].map(|x| (x.to_bits() >> 23 & 0xff) as i32);
        let fast =
            (25..=254).contains(&a) && (2..=251).contains(&b) && (-124..=126).contains(&(a - b));
        slow |= u32::from(!fast) << l;
    }
    set_predicates(on, [slow; 2]);
}
