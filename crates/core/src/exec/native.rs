//! Element-wise instructions of machine code (SASS).

mod direct;
mod float;
mod integer;
mod rows;
mod warp;

pub(super) use direct::lane_function;

use super::RegisterFile;
use crate::base::LaneMask;
use crate::kernel::{Native, NativeFn};

/// Applies an element-wise machine instruction to `lanes`.
pub(super) fn native(op: &Native, lanes: LaneMask, registers: &mut RegisterFile) {
    if lanes.is_empty() {
        return;
    }
    let active = lanes;
    // Every lane holds the one value of the uniform datapath.
    let lanes = if op.uniform { LaneMask::FULL } else { lanes };
    match op.f {
        NativeFn::Shuffle(mode) => warp::shuffle(op, mode, lanes, registers),
        NativeFn::Vote(f) => warp::vote(op, f, active, registers),
        NativeFn::Match { all, wide } => warp::matching(op, all, wide, lanes, registers),
        NativeFn::Redux { f, signed } => warp::redux(op, f, signed, active, registers),
        NativeFn::Mov => integer::mov(op, lanes, registers),
        NativeFn::MovPair => integer::mov_pair(op, lanes, registers),
        NativeFn::AddPairs => integer::add_pairs(op, lanes, registers),
        NativeFn::Add => integer::add(op, lanes, registers),
        NativeFn::AddHalves => integer::add_halves(op, lanes, registers),
        NativeFn::Float(f) => float::float(op, f, lanes, registers),
        NativeFn::Add3 { extended } => integer::add3(op, extended, lanes, registers),
        NativeFn::Multiply => integer::multiply(op, lanes, registers),
        NativeFn::MultiplyCarry => integer::multiply_carry(op, lanes, registers),
        NativeFn::MultiplyWide { signed: true } => integer::wide::<true>(op, lanes, registers),
        NativeFn::MultiplyWide { signed: false } => integer::wide::<false>(op, lanes, registers),
        NativeFn::MultiplyHigh { signed: true } => integer::high::<true>(op, lanes, registers),
        NativeFn::MultiplyHigh { signed: false } => integer::high::<false>(op, lanes, registers),
        NativeFn::ShiftAdd { shift } => integer::shift_add(op, shift, lanes, registers),
        NativeFn::ShiftAddHigh { shift, extend } => {
            integer::shift_add_high(op, shift, extend, lanes, registers);
        }
        NativeFn::ShiftLeft { by } => integer::shift_left(op, by, lanes, registers),
        NativeFn::ShiftRight { by, signed } => {
            integer::shift_right(op, by, signed, lanes, registers);
        }
        NativeFn::Funnel(funnel) => integer::funnel(op, funnel, lanes, registers),
        NativeFn::Logic3 { table, and } => integer::logic3(op, table, and, lanes, registers),
        NativeFn::Permute(mode) => integer::permute(op, mode, lanes, registers),
        NativeFn::Select => integer::select(op, lanes, registers),
        NativeFn::CompareIntegers(f) => integer::compare(op, f, lanes, registers),
        NativeFn::MinMax(f) => integer::min_max(op, f, lanes, registers),
        NativeFn::Absolute => integer::absolute(op, lanes, registers),
        NativeFn::CountOnes => integer::count_ones(op, lanes, registers),
        NativeFn::FindLeading { signed, shift } => {
            integer::find_leading(op, signed, shift, lanes, registers);
        }
        NativeFn::Reverse => integer::reverse(op, lanes, registers),
        NativeFn::Mask { wrap } => integer::mask(op, wrap, lanes, registers),
        NativeFn::Extend { signed, wrap } => integer::extend(op, signed, wrap, lanes, registers),
        NativeFn::PredicateLogic3 { tables, third, signs } => {
            integer::predicate_logic3(op, tables, third, signs, lanes, registers);
        }
        NativeFn::PackPredicates { mask, byte } => {
            integer::pack_predicates(op, mask, byte, lanes, registers);
        }
        NativeFn::UnpackPredicates { mask, byte } => {
            integer::unpack_predicates(op, mask, byte, lanes, registers);
        }
        NativeFn::Dot4 { signed } => integer::dot4(op, signed, lanes, registers),
        NativeFn::Dot2 { signed, high } => integer::dot2(op, signed, high, lanes, registers),
        NativeFn::AbsoluteDifference { signed } => {
            integer::absolute_difference(op, signed, lanes, registers);
        }
        NativeFn::AbsoluteDifference4 { signed, sum } => {
            integer::absolute_difference4(op, signed, sum, lanes, registers);
        }
        NativeFn::Saturate(to) => integer::saturate(op, to, lanes, registers),
        NativeFn::PackSaturated(to) => integer::pack_saturated(op, to, lanes, registers),
        NativeFn::InSpace { space, offset } => {
            integer::in_space(op, space, offset, lanes, registers);
        }
        NativeFn::ReadFirst => integer::read_first(op, active, registers),
    }
}
