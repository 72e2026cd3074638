//! Functions for the most frequent machine instructions, chosen once when a program is made.

use super::float::float;
use super::integer;
use super::rows::{lanes_where, with_two};
use crate::base::LaneMask;
use crate::exec::alu::LaneFunction;
use crate::exec::arith::compare::{Comparison, WithComparison, of_integers, with_comparison};
use crate::exec::lanes::vectorized;
use crate::exec::{RegisterFile, element_wise};
use crate::isa::Compare;
use crate::kernel::{CompareIntegers, Native, NativeFn, Op};

/// Makes a function of one that takes the instruction, its lanes and the registers.
macro_rules! function {
    ($f:expr) => {{
        let function: LaneFunction = |op, lanes, registers| {
            vectorized(
                registers.vectors,
                #[inline(always)]
                move |_| {
                    if let Op::Native(op) = op
                        && !lanes.is_empty()
                    {
                        $f(op, written(op, lanes), registers);
                    }
                },
            )
        };
        function
    }};
    // The variant of the instruction has fields.
    ($variant:pat => |$op:ident, $lanes:ident, $registers:ident| $body:expr) => {
        function!(|$op: &Native, $lanes: LaneMask, $registers: &mut RegisterFile| {
            if let $variant = $op.f {
                $body
            }
        })
    };
}

/// Returns the lanes of the result: every lane holds the one value of the uniform datapath.
#[inline(always)]
fn written(op: &Native, lanes: LaneMask) -> LaneMask {
    if op.uniform { LaneMask::FULL } else { lanes }
}

/// Returns the function that executes an element-wise instruction like this one.
pub(in crate::exec) fn lane_function(op: &Native) -> LaneFunction {
    match op.f {
        NativeFn::Mov => function!(integer::mov),
        NativeFn::Add => function!(integer::add),
        NativeFn::Add3 { extended: false } if op.p == [None; 2] => function!(integer::sum_of_three),
        NativeFn::Multiply => function!(integer::multiply),
        NativeFn::MultiplyWide { signed: true } => function!(integer::wide::<true>),
        NativeFn::MultiplyWide { signed: false } => function!(integer::wide::<false>),
        NativeFn::MultiplyHigh { signed: true } => function!(integer::high::<true>),
        NativeFn::MultiplyHigh { signed: false } => function!(integer::high::<false>),
        NativeFn::ShiftAdd { .. } => {
            function!(NativeFn::ShiftAdd { shift } => |op, lanes, registers| {
                integer::shift_add(op, shift, lanes, registers)
            })
        }
        NativeFn::ShiftAddHigh { .. } => {
            function!(NativeFn::ShiftAddHigh { shift, extend } => |op, lanes, registers| {
                integer::shift_add_high(op, shift, extend, lanes, registers)
            })
        }
        NativeFn::ShiftLeft { .. } => {
            function!(NativeFn::ShiftLeft { by } => |op, lanes, registers| {
                integer::shift_left(op, by, lanes, registers)
            })
        }
        NativeFn::ShiftRight { .. } => {
            function!(NativeFn::ShiftRight { by, signed } => |op, lanes, registers| {
                integer::shift_right(op, by, signed, lanes, registers)
            })
        }
        NativeFn::Funnel(_) => function!(NativeFn::Funnel(f) => |op, lanes, registers| {
            integer::funnel(op, f, lanes, registers)
        }),
        NativeFn::Logic3 { .. } => {
            function!(NativeFn::Logic3 { table, and } => |op, lanes, registers| {
                integer::logic3(op, table, and, lanes, registers)
            })
        }
        NativeFn::Select => function!(integer::select),
        NativeFn::CompareIntegers(f) => of_comparison(f),
        NativeFn::Float(_) => function!(NativeFn::Float(f) => |op, lanes, registers| {
            float(op, f, lanes, registers)
        }),
        _ => element_wise,
    }
}

/// Returns the function of a comparison.
fn of_comparison(f: CompareIntegers) -> LaneFunction {
    struct Choice {
        signed: bool,
    }
    impl WithComparison for Choice {
        type Output = LaneFunction;
        fn run<C: Comparison>(self) -> LaneFunction {
            match self.signed {
                true => function!(compare::<C, true>),
                false => function!(compare::<C, false>),
            }
        }
    }
    if f.extended || matches!(f.compare, Compare::Num | Compare::Nan) {
        return element_wise;
    }
    with_comparison(of_integers(f.compare), Choice { signed: f.signed })
}

/// Compares integers, without those of lower words.
#[inline(always)]
fn compare<C: Comparison, const SIGNED: bool>(
    op: &Native,
    lanes: LaneMask,
    registers: &mut RegisterFile,
) {
    let NativeFn::CompareIntegers(f) = op.f else { return };
    let holds = with_two(op, registers, |a, b| match SIGNED {
        true => lanes_where(|lane| C::holds(a[lane] as i32, b[lane] as i32)),
        false => lanes_where(|lane| C::holds(a[lane], b[lane])),
    });
    integer::write_comparison(op, f.combine, holds, lanes, registers);
}
