//! Functions for the most frequent machine instructions, chosen once when a program is made.

use super::float::{float, near};
use super::integer;
use super::rows::{lanes_where, with_two};
use super::warp;
use crate::base::LaneMask;
use crate::exec::alu::LaneFunction;
use crate::exec::arith::compare::{Comparison, WithComparison, of_integers, with_comparison};
use crate::exec::lanes::vectorized_lanes;
use crate::exec::{RegisterFile, element_wise};
use crate::isa::{Compare, FloatMode, Type};
use crate::kernel::{CompareIntegers, FloatFn, Native, NativeFn, Op};

/// Modes of the most frequent instructions.
const PLAIN: FloatMode = FloatMode::PLAIN;
const FLUSHING: FloatMode = FloatMode::FLUSHING;

/// Makes a function of a loop over lanes, which is told whether the processor has a fused
/// multiply-add.
macro_rules! fused {
    (|$op:ident, $lanes:ident, $registers:ident, $fused:ident| $body:expr) => {{
        let function: LaneFunction = |op, lanes, registers| {
            vectorized_lanes(
                op,
                lanes,
                registers,
                #[inline(always)]
                |op, lanes, $registers, $fused| {
                    if let Op::Native($op) = op
                        && !lanes.is_empty()
                    {
                        let $lanes = written($op, lanes);
                        $body
                    }
                },
            )
        };
        function
    }};
    ($f:expr) => {
        fused!(|op, lanes, registers, fused| $f(op, lanes, registers, fused))
    };
}

/// Makes a function of one that takes the instruction, its lanes and the registers.
macro_rules! function {
    ($f:expr) => {
        fused!(|op, lanes, registers, _fused| $f(op, lanes, registers))
    };
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
        NativeFn::Shuffle(_) => function!(NativeFn::Shuffle(mode) => |op, lanes, registers| {
            warp::shuffle(op, mode, lanes, registers)
        }),
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
        NativeFn::Permute(_) => function!(NativeFn::Permute(mode) => |op, lanes, registers| {
            integer::permute(op, mode, lanes, registers)
        }),
        NativeFn::MinMax(_) => function!(NativeFn::MinMax(f) => |op, lanes, registers| {
            integer::min_max(op, f, lanes, registers)
        }),
        NativeFn::Select => function!(integer::select),
        NativeFn::CompareIntegers(f) => of_comparison(f),
        NativeFn::Float(f) => of_float(f),
        _ => element_wise,
    }
}

/// Returns the function of an instruction of floats.
fn of_float(f: FloatFn) -> LaneFunction {
    match f {
        FloatFn::Add(Type::F32, PLAIN) => fused!(near::add_single),
        FloatFn::Mul(Type::F32, PLAIN, 0) => fused!(near::multiply_single),
        FloatFn::Fma(Type::F32, PLAIN) => fused!(near::multiply_add_single),
        FloatFn::Add(Type::F32, FLUSHING) => fused!(near::add_flushing),
        FloatFn::Mul(Type::F32, FLUSHING, 0) => fused!(near::multiply_flushing),
        FloatFn::Fma(Type::F32, FLUSHING) => fused!(near::multiply_add_flushing),
        FloatFn::Add(Type::F64, PLAIN) => fused!(near::add_double),
        FloatFn::Mul(Type::F64, PLAIN, _) => fused!(near::multiply_double),
        FloatFn::Fma(Type::F64, PLAIN) => fused!(near::multiply_add_double),
        _ => function!(NativeFn::Float(f) => |op, lanes, registers| {
            float(op, f, lanes, registers)
        }),
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
    let holds = with_two(
        op,
        registers,
        #[inline(always)]
        |a, b| match SIGNED {
            true => lanes_where(|lane| C::holds(a[lane] as i32, b[lane] as i32)),
            false => lanes_where(|lane| C::holds(a[lane], b[lane])),
        },
    );
    integer::write_comparison(op, f.combine, holds, lanes, registers);
}
