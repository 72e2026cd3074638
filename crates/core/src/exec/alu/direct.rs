//! Functions for the most frequent element-wise instructions, chosen once when a program is made.
//!
//! Each is one loop over lanes, which the general functions reach through several selections.

use super::integers;
use crate::base::LaneMask;
use crate::exec::arith::compare::{Comparison, WithComparison, with_comparison};
use crate::exec::arith::integer::Integer;
use crate::exec::lanes::{Lanes, set_predicate, test};
use crate::exec::{RegisterFile, element_wise};
use crate::isa::Type;
use crate::kernel::{LaneFn, LaneOp, Op, Setp};

/// Effect of an element-wise instruction on lanes, as [`element_wise`].
pub type LaneFunction = fn(&Op, LaneMask, &mut RegisterFile);

/// Returns the function that executes an element-wise instruction like this one.
pub fn lane_function(op: &Op) -> LaneFunction {
    let direct = match op {
        Op::Lane(op) => of_lanes(op),
        Op::Setp(op) => of_setp(op),
        _ => None,
    };
    direct.unwrap_or(element_wise)
}

/// Makes a function of one loop over lanes.
macro_rules! one_loop {
    ($loop:ident<$($t:ty),+>, $f:expr) => {{
        let function: LaneFunction = |op: &Op, mask: LaneMask, registers: &mut RegisterFile| {
            if let &Op::Lane(LaneOp { d, s, .. }) = op {
                Lanes { registers, mask }.$loop::<$($t),+>(d, s, $f);
            }
        };
        Some(function)
    }};
}

/// Returns the function of a frequent instruction.
fn of_lanes(op: &LaneOp) -> Option<LaneFunction> {
    if matches!(op.ty, Type::F16 | Type::BF16) || op.ty.half().is_some() {
        return None;
    }
    match (op.f, op.ty, op.ty.bits()) {
        (LaneFn::Mov, _, 32) => one_loop!(unary<u32, u32>, |a| a),
        (LaneFn::Mov, _, 64) => one_loop!(unary<u64, u64>, |a| a),
        (LaneFn::And, _, 32) => one_loop!(binary<u32, u32, u32>, |a, b| a & b),
        (LaneFn::Or, _, 32) => one_loop!(binary<u32, u32, u32>, |a, b| a | b),
        (LaneFn::Xor, _, 32) => one_loop!(binary<u32, u32, u32>, |a, b| a ^ b),
        (LaneFn::Shl, _, 32) => one_loop!(binary<u32, u32, u32>, Integer::shl),
        (LaneFn::Shr, Type::U32 | Type::B32, _) => {
            one_loop!(binary<u32, u32, u32>, Integer::shr)
        }
        (LaneFn::Shr, Type::S32, _) => one_loop!(binary<i32, u32, i32>, Integer::shr),
        (LaneFn::Add { sat: false }, _, 32) => one_loop!(binary<u32, u32, u32>, Integer::add),
        (LaneFn::Add { sat: false }, _, 64) => one_loop!(binary<u64, u64, u64>, Integer::add),
        (LaneFn::Sub { sat: false }, _, 32) => one_loop!(binary<u32, u32, u32>, Integer::sub),
        (LaneFn::MulLo, _, 32) => one_loop!(binary<u32, u32, u32>, Integer::mul_lo),
        (LaneFn::MadLo, _, 32) => {
            one_loop!(ternary<u32, u32, u32, u32>, |a, b, c| Integer::add(a.mul_lo(b), c))
        }
        (LaneFn::MulWide, Type::U32, _) => one_loop!(binary<u32, u32, u64>, Integer::mul_wide),
        (LaneFn::MulWide, Type::S32, _) => one_loop!(binary<i32, i32, i64>, Integer::mul_wide),
        (LaneFn::MadWide, Type::U32, _) => {
            one_loop!(ternary<u32, u32, u64, u64>, Integer::mad_wide)
        }
        (LaneFn::MadWide, Type::S32, _) => {
            one_loop!(ternary<i32, i32, i64, i64>, Integer::mad_wide)
        }
        (LaneFn::Div | LaneFn::Rem, Type::U32, _) => {
            let function: LaneFunction = |op, mask, registers| {
                if let Op::Lane(op) = op {
                    integers(op, &mut Lanes { registers, mask });
                }
            };
            Some(function)
        }
        _ => None,
    }
}

/// Returns the function of a comparison of 32-bit integers with one result.
fn of_setp(op: &Setp) -> Option<LaneFunction> {
    /// Comparison of unsigned or signed integers.
    struct Choice {
        signed: bool,
    }
    impl WithComparison for Choice {
        type Output = LaneFunction;
        fn run<C: Comparison>(self) -> LaneFunction {
            if self.signed { compare::<C, true> } else { compare::<C, false> }
        }
    }
    if op.combine.is_some() || op.q.is_some() {
        return None;
    }
    let signed = match op.ty {
        Type::U32 | Type::B32 => false,
        Type::S32 => true,
        _ => return None,
    };
    Some(with_comparison(op.compare, Choice { signed }))
}

/// Compares 32-bit integers, lane by lane.
fn compare<C: Comparison, const SIGNED: bool>(
    op: &Op,
    lanes: LaneMask,
    registers: &mut RegisterFile,
) {
    if let &Op::Setp(Setp { p: Some(p), a, b, .. }) = op {
        let holds = if SIGNED {
            test::<i32>(registers, a, b, C::holds)
        } else {
            test::<u32>(registers, a, b, C::holds)
        };
        set_predicate(registers, p, lanes, holds);
    }
}
