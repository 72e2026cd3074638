//! Logic, shifts, bit fields and integer arithmetic.

use super::no_such_form;
use crate::exec::arith::bits;
use crate::exec::arith::integer::{self, Integer};
use crate::exec::lanes::Lanes;
use crate::exec::mbarrier;
use crate::isa::Type;
use crate::kernel::{LaneFn, LaneOp};

pub(super) fn logic(&LaneOp { f, ty, d, s }: &LaneOp, on: &mut Lanes<'_>) {
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
        LaneFn::PackSaturated(to) => {
            on.ternary_each::<u32, u32, u32, u32>(d, s, |a, b, c| {
                bits::pack_saturated(a, b, c, to)
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
        LaneFn::PendingCount => on.unary::<u64, u32>(d, s, mbarrier::pending_count),
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

pub(super) fn integers(&LaneOp { f, ty, d, s }: &LaneOp, on: &mut Lanes<'_>) {
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
