//! Functions for the most frequent element-wise instructions, chosen once when a program is made.
//!
//! Each is one loop over lanes, which the general functions reach through several selections.

use super::{Group, approximations, choose, cvt, integers, is_short, logic, rounded, signs};
use crate::base::LaneMask;
use crate::exec::arith::bits::{Bytes, Funnel};
use crate::exec::arith::compare::{Comparison, WithComparison, of_integers, with_comparison};
use crate::exec::arith::float::{self, Float};
use crate::exec::arith::half::{Brain, Half};
use crate::exec::arith::integer::Integer;
use crate::exec::lanes::{Lanes, set_predicate, test, vectorized, vectorized_lanes};
use crate::exec::{RegisterFile, element_wise, native};
use crate::isa::{FloatMode, Round, Type};
use crate::kernel::{LaneFn, LaneOp, Op, PrmtMode, Setp};

/// Modes of the most frequent instructions.
const PLAIN: FloatMode = FloatMode::PLAIN;
const FLUSHING: FloatMode = FloatMode::FLUSHING;

/// Effect of an element-wise instruction on lanes, as [`element_wise`].
pub type LaneFunction = fn(&Op, LaneMask, &mut RegisterFile);

/// Returns the function that executes an element-wise instruction like this one.
pub fn lane_function(op: &Op) -> LaneFunction {
    let direct = match op {
        Op::Lane(op) => of_lanes(op),
        Op::Setp(op) => of_setp(op),
        Op::Native(op) => Some(native::lane_function(op)),
        Op::Select { .. } => {
            let function: LaneFunction = |op, lanes, registers| {
                if let &Op::Select { ty, d, a, b, c } = op {
                    choose::select(ty, d, [a, b], c, lanes, registers);
                }
            };
            Some(function)
        }
        _ => None,
    };
    direct.unwrap_or(element_wise)
}

/// Makes a function of loops over lanes.
macro_rules! loops {
    (|$op:pat_param, $mask:ident, $registers:ident| $body:expr) => {
        loops!(|$op, $mask, $registers, _wide| $body)
    };
    (|$op:pat_param, $mask:ident, $registers:ident, $wide:ident| $body:expr) => {{
        let function: LaneFunction = |op: &Op, mask: LaneMask, registers: &mut RegisterFile| {
            vectorized_lanes(
                op,
                mask,
                registers,
                #[inline(always)]
                |op, $mask, $registers, $wide| {
                    if let $op = op {
                        $body
                    }
                },
            )
        };
        function
    }};
}

/// Calls the loop over lanes that visits them one by one, which is faster for a few.
macro_rules! each {
    (unary, $on:ident, $types:tt, $args:tt) => { call!($on unary_each $types $args) };
    (binary, $on:ident, $types:tt, $args:tt) => { call!($on binary_each $types $args) };
    (ternary, $on:ident, $types:tt, $args:tt) => { call!($on ternary_each $types $args) };
}

/// Calls a loop over lanes.
macro_rules! call {
    ($on:ident $loop:ident [$($t:ty),+] ($($args:expr),+)) => { $on.$loop::<$($t),+>($($args),+) };
}

/// Makes a function of one loop over lanes.
macro_rules! one_loop {
    ($loop:ident<$($t:ty),+>, $f:expr) => {{
        let function: LaneFunction = |op: &Op, mask: LaneMask, registers: &mut RegisterFile| {
            let &Op::Lane(LaneOp { d, s, .. }) = op else { return };
            if mask != LaneMask::FULL && mask.is_sparse() {
                let mut on = Lanes::of(registers, mask);
                return each!($loop, on, [$($t),+], (d, s, $f));
            }
            vectorized(
                registers.vectors,
                #[inline(always)]
                move |wide| Lanes { registers, mask, wide }.$loop::<$($t),+>(d, s, $f),
            );
        };
        Some(function)
    }};
}

/// Makes a function of a shift, whose amount is mostly the same in all lanes.
macro_rules! shift {
    ($t:ty, $f:ident) => {{
        Some(loops!(|&Op::Lane(LaneOp { d, s, .. }), mask, registers, wide| {
            let mut on = Lanes { registers, mask, wide };
            match on.uniform(s[1]) {
                Some(by) => on.unary::<$t, $t>(d, s, |a| Integer::$f(a, by)),
                None => on.binary::<$t, u32, $t>(d, s, Integer::$f),
            }
        }))
    }};
}

/// Makes a function of a sum or product of doubles that rounds to nearest.
///
/// `$near` is its result if that is a number, `$f` for any operands.
macro_rules! doubles {
    ($f:ident, $near:expr) => {{
        let function: LaneFunction = |op: &Op, mask: LaneMask, registers: &mut RegisterFile| {
            let &Op::Lane(LaneOp { d, s, .. }) = op else { return };
            vectorized(
                registers.vectors,
                #[inline(always)]
                move |wide| {
                    let mut on = Lanes { registers, mask, wide };
                    if mask != LaneMask::FULL && (mask.is_sparse() || !wide) {
                        return on.binary_each::<f64, f64, f64>(d, s, near!($f));
                    }
                    on.near_doubles(d, s, |a, b, _| $near(a, b), |a, b, _| [a, b, b]);
                },
            );
        };
        Some(function)
    }};
}

/// Makes a lane's function of an operation that rounds to nearest.
macro_rules! near {
    ($f:ident) => {
        |a, b| float::$f(a, b, Round::Nearest)
    };
}

/// Makes a function of one that selects the loop of an instruction.
macro_rules! selection {
    ($select:ident $(, $modifiers:ident)?) => {{
        let function: LaneFunction = |op, mask, registers| {
            if let Op::Lane(op) = op {
                let on = &mut Lanes::of(registers, mask);
                $(let LaneFn::Cvt($modifiers) = op.f else { return };)?
                $select(op, $($modifiers,)? on);
            }
        };
        Some(function)
    }};
}

/// Returns the function of a frequent instruction.
fn of_lanes(op: &LaneOp) -> Option<LaneFunction> {
    if is_short(op.ty) {
        return of_shorts(op);
    }
    match (op.f, op.ty, op.ty.bits()) {
        (LaneFn::Mov, _, 32) => one_loop!(unary<u32, u32>, |a| a),
        (LaneFn::Mov, _, 64) => one_loop!(unary<u64, u64>, |a| a),
        (LaneFn::And, _, 32) => one_loop!(binary<u32, u32, u32>, |a, b| a & b),
        (LaneFn::Or, _, 32) => one_loop!(binary<u32, u32, u32>, |a, b| a | b),
        (LaneFn::Xor, _, 32) => one_loop!(binary<u32, u32, u32>, |a, b| a ^ b),
        (LaneFn::Shl, _, 32) => shift!(u32, shl),
        (LaneFn::Shr, Type::U32 | Type::B32, _) => shift!(u32, shr),
        (LaneFn::Shr, Type::S32, _) => shift!(i32, shr),
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
        (LaneFn::Rem, Type::U32, _) => Some(loops!(|Op::Lane(op), mask, registers, wide| {
            let mut on = Lanes { registers, mask, wide };
            match on.uniform(op.s[1]).filter(|by| by.is_power_of_two()) {
                Some(by) => on.unary::<u32, u32>(op.d, op.s, |a| a & (by - 1)),
                None => integers(op, &mut on),
            }
        })),
        (LaneFn::Prmt(PrmtMode::Index), ..) => {
            Some(loops!(|Op::Lane(op), mask, registers, wide| {
                let mut on = Lanes { registers, mask, wide };
                match on.uniform(op.s[2]).and_then(Bytes::new) {
                    Some(bytes) => on.binary::<u32, u32, u32>(op.d, op.s, |a, b| bytes.of(a, b)),
                    None => logic(op, &mut on),
                }
            }))
        }
        (LaneFn::Shf { .. }, ..) => Some(loops!(|Op::Lane(op), mask, registers, wide| {
            let mut on = Lanes { registers, mask, wide };
            match (on.uniform(op.s[2]), op.f) {
                (Some(by), LaneFn::Shf { left, wrap }) => {
                    let shift = Funnel::new(by, left, wrap);
                    on.binary::<u32, u32, u32>(op.d, op.s, |a, b| shift.of(a, b));
                }
                _ => logic(op, &mut on),
            }
        })),
        (LaneFn::And, _, 64) => one_loop!(binary<u64, u64, u64>, |a, b| a & b),
        (LaneFn::Shl, _, 64) => one_loop!(binary<u64, u32, u64>, Integer::shl),
        (LaneFn::OffsetBy(_), ..) => {
            Some(loops!(|&Op::Lane(LaneOp { f: LaneFn::OffsetBy(offset), d, s, .. }),
                         mask,
                         registers,
                         wide| {
                let mut on = Lanes { registers, mask, wide };
                on.unary::<u64, u64>(d, s, |a| a.wrapping_add_signed(offset));
            }))
        }
        (LaneFn::FAdd(PLAIN), Type::F32, _) => one_loop!(binary<f32, f32, f32>, near!(add)),
        (LaneFn::FSub(PLAIN), Type::F32, _) => one_loop!(binary<f32, f32, f32>, near!(sub)),
        (LaneFn::FMul(PLAIN), Type::F32, _) => one_loop!(binary<f32, f32, f32>, near!(mul)),
        (LaneFn::FAdd(FLUSHING), Type::F32, _) => {
            one_loop!(binary<f32, f32, f32>, float::add_flushing_near)
        }
        (LaneFn::FMul(FLUSHING), Type::F32, _) => {
            one_loop!(binary<f32, f32, f32>, float::mul_flushing_near)
        }
        (LaneFn::FAdd(PLAIN), Type::F64, _) => doubles!(add, |a: f64, b: f64| a + b),
        (LaneFn::FSub(PLAIN), Type::F64, _) => doubles!(sub, |a: f64, b: f64| a - b),
        (LaneFn::FMul(PLAIN), Type::F64, _) => doubles!(mul, |a: f64, b: f64| a * b),
        (LaneFn::FMin { ftz: false, nan: false, xorsign: false }, Type::F32, _) => {
            one_loop!(binary<f32, f32, f32>, float::min_single)
        }
        (LaneFn::FMax { ftz: false, nan: false, xorsign: false }, Type::F32, _) => {
            one_loop!(binary<f32, f32, f32>, float::max_single)
        }
        (LaneFn::FNeg { ftz: false }, Type::F64, _) => one_loop!(unary<f64, f64>, float::neg),
        (LaneFn::FAbs { ftz: false }, Type::F64, _) => one_loop!(unary<f64, f64>, float::abs),
        (LaneFn::Fma(PLAIN), Type::F32, _) => {
            Some(loops!(|&Op::Lane(LaneOp { d, s, .. }), mask, registers, wide| {
                let mut on = Lanes { registers, mask, wide };
                on.ternary_long::<f32, f32, f32, f32>(d, s, |a, b, c| {
                    float::fma_near(a, b, c, wide)
                });
            }))
        }
        (LaneFn::Fma(FLUSHING), Type::F32, _) => {
            Some(loops!(|&Op::Lane(LaneOp { d, s, .. }), mask, registers, wide| {
                let mut on = Lanes { registers, mask, wide };
                on.ternary_long::<f32, f32, f32, f32>(d, s, |a, b, c| {
                    float::fma_flushing_near(a, b, c, wide)
                });
            }))
        }
        (LaneFn::Fma(PLAIN), Type::F64, _) => {
            Some(loops!(|&Op::Lane(LaneOp { d, s, .. }), mask, registers, wide| {
                let mut on = Lanes { registers, mask, wide };
                if !wide {
                    return on.ternary_each::<f64, f64, f64, f64>(d, s, |a, b, c| {
                        float::fma_near(a, b, c, false) // a call for each lane
                    });
                }
                on.near_doubles(d, s, f64::mul_add, |a, b, c| [a, b, c]);
            }))
        }
        (LaneFn::Cvt(_), ..) => selection!(cvt, modifiers),
        _ => match Group::of(op.f) {
            Group::Logic => selection!(logic),
            Group::Integers => selection!(integers),
            Group::Rounded => selection!(rounded),
            Group::Approximations => selection!(approximations),
            Group::Signs => selection!(signs),
            Group::Other => None,
        },
    }
}

/// Returns the function of a sum or product of 16-bit floats without modifiers.
fn of_shorts(op: &LaneOp) -> Option<LaneFunction> {
    macro_rules! shorts {
        ($loop:ident, $f:expr) => {
            match op.ty {
                Type::F16 => short!($loop, Half, $f),
                Type::F16x2 => pairs!($loop, Half, $f),
                Type::BF16 => short!($loop, Brain, $f),
                Type::BF16x2 => pairs!($loop, Brain, $f),
                _ => None,
            }
        };
    }
    macro_rules! short {
        (binary, $H:ident, $f:expr) => { one_loop!(binary<$H, $H, $H>, $f) };
        (ternary, $H:ident, $f:expr) => { one_loop!(ternary<$H, $H, $H, $H>, $f) };
    }
    macro_rules! pairs {
        (binary, $H:ident, $f:expr) => {
            one_loop!(
                binary<[$H; 2], [$H; 2], [$H; 2]>,
                #[inline(always)]
                |[a, x], [b, y]| [$f(a, b), $f(x, y)]
            )
        };
        (ternary, $H:ident, $f:expr) => {
            one_loop!(
                ternary<[$H; 2], [$H; 2], [$H; 2], [$H; 2]>,
                #[inline(always)]
                |[a, x], [b, y], [c, z]| [$f(a, b, c), $f(x, y, z)]
            )
        };
    }
    match op.f {
        LaneFn::FAdd(PLAIN) => shorts!(binary, Float::add_near),
        LaneFn::FSub(PLAIN) => shorts!(binary, near!(sub)),
        LaneFn::FMul(PLAIN) => shorts!(binary, Float::mul_near),
        LaneFn::Fma(PLAIN) => shorts!(ternary, Float::fma_near),
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
    Some(with_comparison(of_integers(op.compare), Choice { signed }))
}

/// Compares 32-bit integers, lane by lane.
fn compare<C: Comparison, const SIGNED: bool>(
    op: &Op,
    lanes: LaneMask,
    registers: &mut RegisterFile,
) {
    vectorized_lanes(
        op,
        lanes,
        registers,
        #[inline(always)]
        |op, lanes, registers, _| {
            if let &Op::Setp(Setp { p: Some(p), a, b, .. }) = op {
                let holds = match SIGNED {
                    true => test::<i32>(registers, a, b, C::holds),
                    false => test::<u32>(registers, a, b, C::holds),
                };
                set_predicate(registers, p, lanes, holds);
            }
        },
    );
}

#[cfg(test)]
mod tests;
