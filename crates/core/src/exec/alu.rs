//! Element-wise instructions: selection of function, type and rows.
//!
//! The selection happens once per instruction, outside the lane loop, so that each loop is
//! straight-line code for one function at one type. A combination of function and type that the ISA
//! does not have is a bug of `kernel::check`, not of the program.

use super::RegisterFile;
use super::arith::convert::convert;
use super::arith::integer::Integer;
use super::arith::{bits, float, fp8, integer};
use super::lanes::Lanes;
use crate::base::LaneMask;
use crate::isa::{FloatMode, Round, Type};
use crate::kernel::{Convert, LaneFn, LaneOp, TensorConvert};

/// Runs `$body` with `$t` bound to the integer type `$ty`; bits count as unsigned.
macro_rules! integer_type {
    ($ty:expr, $t:ident => $body:expr) => {
        match $ty {
            Type::U32 | Type::B32 => {
                type $t = u32;
                $body
            }
            Type::S32 => {
                type $t = i32;
                $body
            }
            Type::U64 | Type::B64 => {
                type $t = u64;
                $body
            }
            Type::S64 => {
                type $t = i64;
                $body
            }
            Type::U16 | Type::B16 => {
                type $t = u16;
                $body
            }
            Type::S16 => {
                type $t = i16;
                $body
            }
            Type::U8 | Type::B8 => {
                type $t = u8;
                $body
            }
            Type::S8 => {
                type $t = i8;
                $body
            }
            other => no_such_form(other),
        }
    };
}

/// As `integer_type`, for f32 and f64.
macro_rules! float_type {
    ($ty:expr, $t:ident => $body:expr) => {
        match $ty {
            Type::F32 => {
                type $t = f32;
                $body
            }
            Type::F64 => {
                type $t = f64;
                $body
            }
            other => no_such_form(other),
        }
    };
}

/// As `integer_type`, by width alone.
macro_rules! width_type {
    ($ty:expr, $t:ident => $body:expr) => {
        match $ty.bits() {
            8 => {
                type $t = u8;
                $body
            }
            16 => {
                type $t = u16;
                $body
            }
            32 => {
                type $t = u32;
                $body
            }
            _ => {
                type $t = u64;
                $body
            }
        }
    };
}

mod choose;
mod direct;
mod short;

pub(super) use choose::{is_in, predicate_logic, select, setp, test_value};
pub use direct::{LaneFunction, lane_function};

#[cold]
fn no_such_form(ty: Type) -> ! {
    unreachable!("the ISA has no form of this function for {}", ty.name())
}

/// Functions with a common selection of loops.
#[derive(Clone, Copy)]
enum Group {
    Logic,
    Integers,
    Rounded,
    Approximations,
    Signs,
    /// Functions with loops of their own.
    Other,
}

impl Group {
    /// Returns the group of a function.
    #[inline(always)]
    fn of(f: LaneFn) -> Group {
        match f {
            LaneFn::Mov
            | LaneFn::OffsetBy(_)
            | LaneFn::And
            | LaneFn::Or
            | LaneFn::Xor
            | LaneFn::Not
            | LaneFn::Cnot
            | LaneFn::Lop3(_)
            | LaneFn::Dp4a { .. }
            | LaneFn::Dp2a { .. }
            | LaneFn::AbsDiff4 { .. }
            | LaneFn::Fns
            | LaneFn::Szext { .. }
            | LaneFn::Bmsk { .. }
            | LaneFn::Shl
            | LaneFn::Shr
            | LaneFn::Shf { .. }
            | LaneFn::Popc
            | LaneFn::PendingCount
            | LaneFn::Clz
            | LaneFn::Bfind { .. }
            | LaneFn::Brev
            | LaneFn::Bfe
            | LaneFn::Bfi
            | LaneFn::Prmt(_) => Group::Logic,
            LaneFn::Add { .. }
            | LaneFn::Sub { .. }
            | LaneFn::MulLo
            | LaneFn::MulHi
            | LaneFn::MulWide
            | LaneFn::MadLo
            | LaneFn::MadHi { .. }
            | LaneFn::MadWide
            | LaneFn::Mul24 { .. }
            | LaneFn::Mad24 { .. }
            | LaneFn::Sad
            | LaneFn::Div
            | LaneFn::Rem
            | LaneFn::Abs
            | LaneFn::Neg
            | LaneFn::Min { .. }
            | LaneFn::Max { .. } => Group::Integers,
            LaneFn::FAdd(_)
            | LaneFn::FSub(_)
            | LaneFn::FMul(_)
            | LaneFn::Fma(_)
            | LaneFn::FDiv(_)
            | LaneFn::Rcp(_)
            | LaneFn::Sqrt(_) => Group::Rounded,
            LaneFn::DivApprox { .. }
            | LaneFn::Rsqrt { .. }
            | LaneFn::Sin { .. }
            | LaneFn::Cos { .. }
            | LaneFn::Ex2 { .. }
            | LaneFn::Lg2 { .. }
            | LaneFn::Tanh => Group::Approximations,
            LaneFn::FMin { .. }
            | LaneFn::FMax { .. }
            | LaneFn::FNeg { .. }
            | LaneFn::FAbs { .. }
            | LaneFn::CopySign => Group::Signs,
            LaneFn::Set { .. }
            | LaneFn::Slct { .. }
            | LaneFn::Cvt(_)
            | LaneFn::CvtPair(_)
            | LaneFn::Tensor(_)
            | LaneFn::Pack { .. }
            | LaneFn::Unpack { .. } => Group::Other,
        }
    }
}

/// Applies an element-wise function to `lanes`.
pub(super) fn lane_op(op: &LaneOp, lanes: LaneMask, registers: &mut RegisterFile) {
    let mut on = Lanes { registers, mask: lanes };
    if is_short(op.ty) {
        return short::short(op, &mut on);
    }
    match (Group::of(op.f), op.f) {
        (Group::Logic, _) => logic(op, &mut on),
        (Group::Integers, _) => integers(op, &mut on),
        (Group::Rounded, _) => rounded(op, &mut on),
        (Group::Approximations, _) => approximations(op, &mut on),
        (Group::Signs, _) => signs(op, &mut on),
        (_, LaneFn::Set { compare, truth, ftz }) => choose::set(op, compare, truth, ftz, &mut on),
        (_, LaneFn::Slct { float, ftz }) => choose::slct(op, float, ftz, &mut on),
        (_, LaneFn::Cvt(modifiers)) => cvt(op, modifiers, &mut on),
        (_, LaneFn::Tensor(f)) => tensor(op, f, &mut on),
        (_, LaneFn::Pack { parts }) => pack(op, parts, &mut on),
        (_, LaneFn::Unpack { parts, part }) => unpack(op, parts, part, &mut on),
        _ => no_such_form(op.ty),
    }
}

/// Returns true for floats of 16 bits and pairs of 16-bit values.
fn is_short(ty: Type) -> bool {
    matches!(ty, Type::F16 | Type::BF16) || ty.half().is_some()
}

/// Converts to or from a small format; the low half of a pair is the last source.
fn tensor(&LaneOp { d, s, .. }: &LaneOp, f: TensorConvert, on: &mut Lanes<'_>) {
    if f.sources() == 2 {
        on.binary_each::<u32, u32, u32>(d, s, |a, b| fp8::convert(f, a, b));
    } else {
        on.unary_each::<u32, u32>(d, s, |a| fp8::convert(f, a, a));
    }
}

/// Packs `parts` narrow values side by side.
fn pack(&LaneOp { ty, d, s, .. }: &LaneOp, parts: u8, on: &mut Lanes<'_>) {
    match (ty.bits(), parts) {
        (64, 2) => on.binary::<u32, u32, u64>(d, s, |a, b| u64::from(a) | u64::from(b) << 32),
        (64, _) => on.pack_four(d, s),
        (_, 2) => on.binary::<u16, u16, u32>(d, s, |a, b| u32::from(a) | u32::from(b) << 16),
        _ => on.pack_bytes(d, s),
    }
}

/// Extracts part `part` of a value cut into `parts`.
fn unpack(&LaneOp { ty, d, s, .. }: &LaneOp, parts: u8, part: u8, on: &mut Lanes<'_>) {
    let shift = ty.bits() / u32::from(parts.max(1)) * u32::from(part);
    match (ty.bits(), parts) {
        (64, 2) => on.unary::<u64, u32>(d, s, |a| (a >> shift) as u32),
        (64, _) => on.unary::<u64, u16>(d, s, |a| (a >> shift) as u16),
        (_, 2) => on.unary::<u32, u16>(d, s, |a| (a >> shift) as u16),
        _ => on.unary::<u32, u8>(d, s, |a| (a >> shift) as u8),
    }
}

fn logic(&LaneOp { f, ty, d, s }: &LaneOp, on: &mut Lanes<'_>) {
    match f {
        LaneFn::Mov => width_type!(ty, T => on.unary::<T, T>(d, s, |a| a)),
        LaneFn::OffsetBy(offset) => on.unary::<u64, u64>(d, s, |a| a.wrapping_add_signed(offset)),
        LaneFn::And => width_type!(ty, T => on.binary::<T, T, T>(d, s, |a, b| a & b)),
        LaneFn::Or => width_type!(ty, T => on.binary::<T, T, T>(d, s, |a, b| a | b)),
        LaneFn::Xor => width_type!(ty, T => on.binary::<T, T, T>(d, s, |a, b| a ^ b)),
        LaneFn::Not => width_type!(ty, T => on.unary::<T, T>(d, s, |a| !a)),
        LaneFn::Cnot => width_type!(ty, T => on.unary::<T, T>(d, s, |a| T::from(a == 0))),
        LaneFn::Lop3(table) => {
            on.ternary::<u32, u32, u32, u32>(d, s, |a, b, c| bits::lop3(a, b, c, table))
        }
        LaneFn::Dp4a { signed } => {
            on.ternary::<u32, u32, u32, u32>(d, s, |a, b, c| bits::dp4a(a, b, c, signed))
        }
        LaneFn::Dp2a { signed, hi } => {
            on.ternary_each::<u32, u32, u32, u32>(d, s, |a, b, c| bits::dp2a(a, b, c, signed, hi));
        }
        LaneFn::AbsDiff4 { signed, add } => {
            on.ternary_each::<u32, u32, u32, u32>(d, s, |a, b, c| {
                bits::absdiff4(a, b, c, signed, add)
            });
        }
        LaneFn::Fns => on.ternary_each::<u32, u32, u32, u32>(d, s, bits::fns),
        LaneFn::Szext { wrap } => {
            let signed = ty.is_signed();
            on.binary::<u32, u32, u32>(d, s, |a, b| bits::szext(a, b, signed, wrap));
        }
        LaneFn::Bmsk { wrap } => on.binary::<u32, u32, u32>(d, s, |a, b| bits::bmsk(a, b, wrap)),
        LaneFn::Shl => width_type!(ty, T => on.binary::<T, u32, T>(d, s, T::shl)),
        LaneFn::Shr => integer_type!(ty, T => on.binary::<T, u32, T>(d, s, T::shr)),
        LaneFn::Shf { left, wrap } => {
            on.ternary::<u32, u32, u32, u32>(d, s, |a, b, c| bits::shf(a, b, c, left, wrap));
        }
        LaneFn::PendingCount => on.unary::<u64, u32>(d, s, super::mbarrier::pending_count),
        LaneFn::Popc => width_type!(ty, T => on.unary::<T, u32>(d, s, T::count_ones)),
        LaneFn::Clz => width_type!(ty, T => on.unary::<T, u32>(d, s, T::leading_zeros)),
        LaneFn::Bfind { shift } => {
            integer_type!(ty, T => on.unary::<T, u32>(d, s, |a| bits::bfind(a, shift)))
        }
        LaneFn::Brev => width_type!(ty, T => on.unary::<T, T>(d, s, T::reverse_bits)),
        LaneFn::Bfe => {
            let signed = ty.is_signed();
            integer_type!(ty, T => {
                on.ternary_long::<T, u32, u32, T>(d, s, |a, b, c| bits::bfe(a, b, c, signed));
            });
        }
        LaneFn::Bfi => width_type!(ty, T => on.quaternary::<T>(d, s, bits::bfi)),
        LaneFn::Prmt(mode) => {
            on.ternary_each::<u32, u32, u32, u32>(d, s, |a, b, c| bits::prmt(a, b, c, mode))
        }
        _ => unreachable!("lane_op sends only logic here"),
    }
}

fn integers(&LaneOp { f, ty, d, s }: &LaneOp, on: &mut Lanes<'_>) {
    match f {
        LaneFn::Add { sat: true } => on.binary::<i32, i32, i32>(d, s, i32::saturating_add),
        LaneFn::Sub { sat: true } => on.binary::<i32, i32, i32>(d, s, i32::saturating_sub),
        // The low bits of sums and products do not depend on the sign.
        LaneFn::Add { sat: false } => {
            width_type!(ty, T => on.binary::<T, T, T>(d, s, Integer::add))
        }
        LaneFn::Sub { sat: false } => {
            width_type!(ty, T => on.binary::<T, T, T>(d, s, Integer::sub))
        }
        LaneFn::MulLo => width_type!(ty, T => on.binary::<T, T, T>(d, s, Integer::mul_lo)),
        LaneFn::MadLo => {
            width_type!(ty, T => on.ternary::<T, T, T, T>(d, s, |a, b, c| a.mul_lo(b).add(c)))
        }
        LaneFn::MulHi => integer_type!(ty, T => on.binary::<T, T, T>(d, s, Integer::mul_hi)),
        LaneFn::MadHi { sat: true } => on.ternary::<i32, i32, i32, i32>(d, s, integer::mad_hi_sat),
        LaneFn::MadHi { sat: false } => {
            integer_type!(ty, T => on.ternary::<T, T, T, T>(d, s, |a, b, c| a.mul_hi(b).add(c)));
        }
        LaneFn::MulWide => match ty {
            Type::U16 => on.binary::<u16, u16, u32>(d, s, Integer::mul_wide),
            Type::S16 => on.binary::<i16, i16, i32>(d, s, Integer::mul_wide),
            Type::U32 => on.binary::<u32, u32, u64>(d, s, Integer::mul_wide),
            Type::S32 => on.binary::<i32, i32, i64>(d, s, Integer::mul_wide),
            other => no_such_form(other),
        },
        LaneFn::MadWide => match ty {
            Type::U16 => on.ternary::<u16, u16, u32, u32>(d, s, Integer::mad_wide),
            Type::S16 => on.ternary::<i16, i16, i32, i32>(d, s, Integer::mad_wide),
            Type::U32 => on.ternary::<u32, u32, u64, u64>(d, s, Integer::mad_wide),
            Type::S32 => on.ternary::<i32, i32, i64, i64>(d, s, Integer::mad_wide),
            other => no_such_form(other),
        },
        LaneFn::Mul24 { hi } => {
            let signed = ty.is_signed();
            on.binary::<u32, u32, u32>(d, s, |a, b| integer::mul24(a, b, signed, hi));
        }
        LaneFn::Mad24 { hi } => {
            let signed = ty.is_signed();
            on.ternary::<u32, u32, u32, u32>(d, s, |a, b, c| {
                integer::mul24(a, b, signed, hi).wrapping_add(c)
            });
        }
        LaneFn::Sad => integer_type!(ty, T => on.ternary::<T, T, T, T>(d, s, Integer::sad)),
        // Index arithmetic mostly divides by a uniform value; 32 divisions are slower than any
        // other instruction.
        LaneFn::Div | LaneFn::Rem
            if ty == Type::U32
                && let Some(by) = on.uniform(s[1]).and_then(integer::Divisor::new) =>
        {
            match f {
                LaneFn::Div => on.unary::<u32, u32>(d, s, |a| by.quotient(a)),
                _ => on.unary::<u32, u32>(d, s, |a| by.remainder(a)),
            }
        }
        LaneFn::Div => integer_type!(ty, T => on.binary_each::<T, T, T>(d, s, Integer::div)),
        LaneFn::Rem => integer_type!(ty, T => on.binary_each::<T, T, T>(d, s, Integer::rem)),
        LaneFn::Abs => integer_type!(ty, T => on.unary::<T, T>(d, s, Integer::abs)),
        LaneFn::Neg => integer_type!(ty, T => on.unary::<T, T>(d, s, Integer::neg)),
        LaneFn::Min { relu: true } => on.binary::<i32, i32, i32>(d, s, |a, b| a.min(b).max(0)),
        LaneFn::Max { relu: true } => on.binary::<i32, i32, i32>(d, s, |a, b| a.max(b).max(0)),
        LaneFn::Min { .. } => integer_type!(ty, T => on.binary::<T, T, T>(d, s, Ord::min)),
        LaneFn::Max { .. } => integer_type!(ty, T => on.binary::<T, T, T>(d, s, Ord::max)),
        _ => unreachable!("lane_op sends only integer arithmetic here"),
    }
}

/// Executes operations that round.
/// Most programs use only those to nearest without `.sat`, which have vectorised loops.
fn rounded(&LaneOp { f, ty, d, s }: &LaneOp, on: &mut Lanes<'_>) {
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

fn approximations(&LaneOp { f, ty, d, s }: &LaneOp, on: &mut Lanes<'_>) {
    use float::{Float, approximate, div_approx, flushed};
    match (f, ty) {
        (LaneFn::DivApprox { ftz }, _) => on.binary_each::<f32, f32, f32>(d, s, |a, b| {
            flushed(div_approx(flushed(a, ftz), flushed(b, ftz)), ftz)
        }),
        (LaneFn::Rsqrt { ftz }, Type::F64) => {
            on.unary_each::<f64, f64>(d, s, |a| {
                let a = flushed(a, ftz);
                flushed(f64::canonical(float::rsqrt(a), [a; 3]), ftz)
            });
        }
        (LaneFn::Rsqrt { ftz }, _) => {
            on.unary_each::<f32, f32>(d, s, |a| approximate(a, ftz, float::rsqrt))
        }
        (LaneFn::Sin { ftz }, _) => {
            on.unary_each::<f32, f32>(d, s, |a| approximate(a, ftz, f64::sin))
        }
        (LaneFn::Cos { ftz }, _) => {
            on.unary_each::<f32, f32>(d, s, |a| approximate(a, ftz, f64::cos))
        }
        (LaneFn::Ex2 { ftz }, _) => {
            on.unary_each::<f32, f32>(d, s, |a| approximate(a, ftz, f64::exp2))
        }
        (LaneFn::Lg2 { ftz }, _) => {
            on.unary_each::<f32, f32>(d, s, |a| approximate(a, ftz, f64::log2))
        }
        (LaneFn::Tanh, _) => on.unary_each::<f32, f32>(d, s, |a| approximate(a, false, f64::tanh)),
        _ => unreachable!("lane_op sends only approximations here"),
    }
}

/// Executes functions that select operands or their signs, without rounding.
fn signs(&LaneOp { f, ty, d, s }: &LaneOp, on: &mut Lanes<'_>) {
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

/// Executes `cvt`.
/// Extensions, truncations, and the conversions most common in compiled code have their own loops.
fn cvt(&LaneOp { ty, d, s, .. }: &LaneOp, modifiers: Convert, on: &mut Lanes<'_>) {
    let from = modifiers.from;
    if !from.is_float() && !ty.is_float() && !modifiers.sat {
        return width_type!(ty, D => integer_type!(from, A => on.unary::<A, D>(d, s, |a| a as D)));
    }
    let nearest = modifiers == Convert::from(from);
    match (from, ty) {
        (Type::S32, Type::F32) if nearest => return on.unary::<i32, f32>(d, s, |a| a as f32),
        (Type::U32, Type::F32) if nearest => return on.unary::<u32, f32>(d, s, |a| a as f32),
        (Type::S32, Type::F64) if nearest => return on.unary::<i32, f64>(d, s, f64::from),
        (Type::U32, Type::F64) if nearest => return on.unary::<u32, f64>(d, s, f64::from),
        // Rust's casts truncate, clamp, and turn NaN into 0, as `.rzi` does.
        (Type::F32, Type::S32) if modifiers.round == Round::Zero && !modifiers.ftz => {
            return on.unary::<f32, i32>(d, s, |a| a as i32);
        }
        (Type::F32, Type::U32) if modifiers.round == Round::Zero && !modifiers.ftz => {
            return on.unary::<f32, u32>(d, s, |a| a as u32);
        }
        _ => {}
    }
    let dear = |a: u64| convert(a, modifiers, ty);
    match (from.is_wide(), ty.is_wide()) {
        (false, false) => {
            on.unary_each::<u32, u32>(d, s, |a| dear(u64::from(a) & low(from)) as u32)
        }
        (false, true) => on.unary_each::<u32, u64>(d, s, |a| dear(u64::from(a) & low(from))),
        (true, false) => on.unary_each::<u64, u32>(d, s, |a| dear(a) as u32),
        (true, true) => on.unary_each::<u64, u64>(d, s, dear),
    }
}

/// Returns the mask of the bits that a value of this type occupies in its cell.
fn low(ty: Type) -> u64 {
    u64::MAX >> (64 - ty.bits())
}
