//! Element-wise instructions: selection of function, type and rows.
//!
//! The selection happens once per instruction, outside the lane loop, so that each loop is
//! straight-line code for one function at one type. A combination of function and type that the ISA
//! does not have is a bug of `kernel::check`, not of the program.

use super::RegisterFile;
use super::arith::convert::{convert, double_to_word};
use super::arith::fp8;
use super::lanes::Lanes;
use crate::base::LaneMask;
use crate::isa::{Round, Type};
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
mod floats;
mod integers;
mod short;

pub(super) use choose::{is_in, predicate_logic, select, setp, test_value};
pub use direct::{LaneFunction, lane_function};
use floats::{approximations, rounded, signs};
use integers::{integers, logic};

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
            | LaneFn::PackSaturated(_)
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
            | LaneFn::FusedProduct { .. }
            | LaneFn::FDiv(_)
            | LaneFn::Rcp(_)
            | LaneFn::Sqrt(_) => Group::Rounded,
            LaneFn::DivApprox { .. }
            | LaneFn::FusedQuotient { .. }
            | LaneFn::Approximate { .. } => Group::Approximations,
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
    let mut on = Lanes::of(registers, lanes);
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
        (Type::F64, Type::S32 | Type::U32)
            if matches!(modifiers.round, Round::Nearest | Round::Zero) =>
        {
            let (nearest, signed) = (modifiers.round == Round::Nearest, ty == Type::S32);
            return on.unary::<f64, u32>(d, s, |a| double_to_word(a, nearest, signed, 1 << 31));
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
