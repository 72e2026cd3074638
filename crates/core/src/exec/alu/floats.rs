//! Arithmetic of f32 and f64: rounded functions, approximations, signs.

use super::no_such_form;
use crate::exec::arith::float;
use crate::exec::lanes::Lanes;
use crate::isa::{FloatMode, Round, Type};
use crate::kernel::{Approximation, LaneFn, LaneOp};

/// Executes operations that round.
/// Most programs use only those to nearest without `.sat`, which have vectorised loops.
pub(super) fn rounded(&LaneOp { f, ty, d, s }: &LaneOp, on: &mut Lanes<'_>) {
    use float::{add, div, finish, flushed, fma, mul, sqrt, sub};
    const NEAR: Round = Round::Nearest;

    /// One loop for plain operands, one for flushed ones, and one for everything else.
    macro_rules! loops {
        ($mode:expr, $t:ident, $loop:ident, $long:ident, $each:ident, [$($kinds:ty),+],
         |$($x:ident),+; $r:ident| $body:expr) => {{
            let mode: FloatMode = $mode;
            if mode.round != NEAR || mode.sat {
                let $r = mode.round;
                on.$each::<$($kinds),+>(d, s, |$($x: $t),+| {
                    $(let $x = flushed($x, mode.ftz);)+
                    finish($body, mode)
                });
            } else if mode.ftz {
                let $r = NEAR;
                on.$long::<$($kinds),+>(d, s, |$($x: $t),+| {
                    $(let $x = flushed($x, true);)+
                    flushed($body, true)
                });
            } else {
                let $r = NEAR;
                on.$loop::<$($kinds),+>(d, s, |$($x: $t),+| $body);
            }
        }};
    }
    match f {
        LaneFn::FMul(m) if m.ftz => {
            return on.binary_long::<f32, f32, f32>(d, s, |a, b| {
                finish(float::mul_flushing(flushed(a, true), flushed(b, true), m.round), m)
            });
        }
        LaneFn::Fma(m) if m.ftz => {
            return on.ternary_long::<f32, f32, f32, f32>(d, s, |a, b, c| {
                finish(
                    float::fma_flushing(
                        flushed(a, true),
                        flushed(b, true),
                        flushed(c, true),
                        m.round,
                    ),
                    m,
                )
            });
        }
        LaneFn::FusedProduct { mode: m, sum } if m.ftz => {
            return on.ternary_long::<f32, f32, f32, f32>(d, s, |a, b, c| {
                let [a, b, c] = float::signed(sum, [a, b, c]).map(|x| flushed(x, true));
                finish(float::fma_flushing(a, b, c, m.round), m)
            });
        }
        _ => {}
    }
    float_type!(ty, T => match f {
        LaneFn::FAdd(m) => {
            loops!(m, T, binary, binary_long, binary_each, [T, T, T], |a, b; r| add(a, b, r));
        }
        LaneFn::FSub(m) => {
            loops!(m, T, binary, binary_long, binary_each, [T, T, T], |a, b; r| sub(a, b, r));
        }
        LaneFn::FMul(m) => {
            loops!(m, T, binary, binary_long, binary_each, [T, T, T], |a, b; r| mul(a, b, r));
        }
        LaneFn::Fma(m) => {
            loops!(m, T, ternary_long, ternary_long, ternary_each, [T, T, T, T],
                |a, b, c; r| fma(a, b, c, r));
        }
        LaneFn::FusedProduct { mode: m, sum } => {
            loops!(m, T, ternary_long, ternary_long, ternary_each, [T, T, T, T], |a, b, c; r| {
                let [a, b, c] = float::signed(sum, [a, b, c]);
                fma(a, b, c, r)
            });
        }
        LaneFn::FDiv(m) => {
            loops!(m, T, binary_each, binary_each, binary_each, [T, T, T], |a, b; r| div(a, b, r));
        }
        LaneFn::Rcp(m) => {
            let one = <T as float::Float>::one();
            loops!(m, T, unary_each, unary_each, unary_each, [T, T], |a; r| div(one, a, r));
        }
        LaneFn::Sqrt(m) => {
            loops!(m, T, unary_each, unary_each, unary_each, [T, T], |a; r| sqrt(a, r));
        }
        _ => unreachable!("lane_op sends only rounding functions here"),
    });
}

pub(super) fn approximations(&LaneOp { f, ty, d, s }: &LaneOp, on: &mut Lanes<'_>) {
    use crate::exec::arith::approximate::{
        approximate, divide, divide_add, reciprocal, reciprocal_root,
    };
    match (f, ty) {
        (LaneFn::DivApprox { full, ftz }, _) => {
            on.binary_each::<f32, f32, f32>(d, s, |a, b| divide(a, b, full, ftz));
        }
        (LaneFn::FusedQuotient { full, mode, sum }, _) => {
            on.ternary_each::<f32, f32, f32, f32>(d, s, |a, b, c| {
                divide_add(float::signed(sum, [a, b, c]), full, mode)
            });
        }
        (LaneFn::Approximate { f: Approximation::Reciprocal, .. }, Type::F64) => {
            on.unary_each::<f64, f64>(d, s, reciprocal);
        }
        (LaneFn::Approximate { ftz, .. }, Type::F64) => {
            on.unary_each::<f64, f64>(d, s, |a| reciprocal_root(a, ftz));
        }
        (LaneFn::Approximate { f, ftz }, _) => {
            on.unary_each::<f32, f32>(d, s, |a| approximate(f, a, ftz));
        }
        _ => unreachable!("lane_op sends only approximations here"),
    }
}

/// Executes functions that select operands or their signs, without rounding.
pub(super) fn signs(&LaneOp { f, ty, d, s }: &LaneOp, on: &mut Lanes<'_>) {
    use float::{abs, copysign, flushed, max, min, neg};
    float_type!(ty, T => match f {
        LaneFn::FMin { ftz, nan, xorsign: true } => on.binary_each::<T, T, T>(d, s, |a, b| {
            float::xorsign(flushed(a, ftz), flushed(b, ftz), |a, b| min(a, b, nan))
        }),
        LaneFn::FMin { ftz, nan, .. } => {
            on.binary_long::<T, T, T>(d, s, |a, b| min(flushed(a, ftz), flushed(b, ftz), nan));
        }
        LaneFn::FMax { ftz, nan, xorsign: true } => on.binary_each::<T, T, T>(d, s, |a, b| {
            float::xorsign(flushed(a, ftz), flushed(b, ftz), |a, b| max(a, b, nan))
        }),
        LaneFn::FMax { ftz, nan, .. } => {
            on.binary_long::<T, T, T>(d, s, |a, b| max(flushed(a, ftz), flushed(b, ftz), nan));
        }
        LaneFn::FNeg { ftz } => on.unary::<T, T>(d, s, |a| neg(flushed(a, ftz))),
        LaneFn::FAbs { ftz } => on.unary::<T, T>(d, s, |a| abs(flushed(a, ftz))),
        LaneFn::CopySign => on.binary::<T, T, T>(d, s, copysign::<T>),
        _ => unreachable!("lane_op sends only sign functions here"),
    });
}
