//! Comparisons, tests and selections: `setp`, `set`, `testp`, `isspacep`, `selp`, `slct`, and logic
//! on predicates.

use super::no_such_form;
use crate::base::LaneMask;
use crate::exec::RegisterFile;
use crate::exec::arith::compare::{Comparison, WithComparison, with_comparison};
use crate::exec::arith::float;
use crate::exec::arith::half::{Brain, Half, Short};
use crate::exec::lanes::{Element, Lanes, fill, predicate, set_predicate, test};
use crate::isa::{BoolOp, Compare, Space, Type};
use crate::kernel::layout::{
    CONST_BASE, GLOBAL_BASE, LOCAL_WINDOW, PARAMETERS, RAISED, SHARED_WINDOW, WINDOW_BYTES,
};
use crate::kernel::{LaneOp, Predicate, PredicateFn, PredicateUse, Row, Setp, TestFn};

/// Executes `set`: `truth` where the comparison holds.
/// The halves of a pair are compared separately.
pub(super) fn set(op: &LaneOp, compare: Compare, truth: u32, ftz: bool, on: &mut Lanes<'_>) {
    let [held, upper] = comparisons(compare, op.ty, ftz, [op.s[0], op.s[1]], on.registers);
    let (low, high) =
        if op.ty.half().is_some() { (truth & 0xffff, truth & 0xffff_0000) } else { (truth, 0) };
    let row = &mut on.registers.narrow[usize::from(op.d.0)];
    let bit = |mask: u32, lane: usize, value: u32| if mask & (1 << lane) != 0 { value } else { 0 };
    fill(row, on.mask, |lane| bit(held, lane, low) | bit(upper, lane, high));
}

/// Executes `slct`: `a` where `c >= 0`, else `b`.
/// A flushed negative subnormal is -0, which is not below 0.
pub(super) fn slct(&LaneOp { ty, d, s, .. }: &LaneOp, float: bool, ftz: bool, on: &mut Lanes<'_>) {
    if float {
        width_type!(ty, T => on.ternary::<T, T, f32, T>(d, s, |a, b, c| {
            if float::flushed(c, ftz) >= 0.0 { a } else { b }
        }));
    } else {
        width_type!(ty, T => on.ternary::<T, T, i32, T>(d, s, |a, b, c| {
            if c >= 0 { a } else { b }
        }));
    }
}

/// Returns the lanes (of all 32) for which `a CMP b` holds.
fn comparison(
    compare: Compare,
    ty: Type,
    ftz: bool,
    a: Row,
    b: Row,
    registers: &RegisterFile,
) -> u32 {
    struct On<'a> {
        ty: Type,
        ftz: bool,
        a: Row,
        b: Row,
        registers: &'a RegisterFile,
    }
    impl WithComparison for On<'_> {
        type Output = u32;
        #[inline(always)]
        fn run<C: Comparison>(self) -> u32 {
            let On { ty, ftz, a, b, registers } = self;
            match ty {
                Type::F32 if ftz => test::<f32>(registers, a, b, |x, y| {
                    C::holds(float::flush32(x), float::flush32(y))
                }),
                Type::F32 => test::<f32>(registers, a, b, C::holds),
                Type::F64 => test::<f64>(registers, a, b, C::holds),
                Type::F16 => halves::<C, Half>(registers, a, b, |x| float::flushed(x, ftz)),
                Type::BF16 => halves::<C, Brain>(registers, a, b, |x| x),
                _ => integer_type!(ty, T => test::<T>(registers, a, b, C::holds)),
            }
        }
    }
    with_comparison(compare, On { ty, ftz, a, b, registers })
}

/// Compares 16-bit floats, widened, in one loop.
#[inline(always)]
fn halves<C: Comparison, H: Short + Element>(
    registers: &RegisterFile,
    a: Row,
    b: Row,
    f: impl Fn(H) -> H,
) -> u32 {
    test::<H>(registers, a, b, |x, y| C::holds(f(x).widen(), f(y).widen()))
}

/// Returns both results of a comparison.
/// They are the comparison and its complement, or for pairs the low and the high half.
fn comparisons(
    compare: Compare,
    ty: Type,
    ftz: bool,
    [a, b]: [Row; 2],
    registers: &RegisterFile,
) -> [u32; 2] {
    match ty {
        Type::F16x2 => pair::<Half>(compare, [a, b], registers, |x| float::flushed(x, ftz)),
        Type::BF16x2 => pair::<Brain>(compare, [a, b], registers, |x| x),
        _ => {
            let held = comparison(compare, ty, ftz, a, b, registers);
            [held, !held]
        }
    }
}

fn pair<H: Short + Element<Cell = u32>>(
    compare: Compare,
    [a, b]: [Row; 2],
    registers: &RegisterFile,
    f: impl Fn(H) -> H,
) -> [u32; 2] {
    struct Values(f64, f64);
    impl WithComparison for Values {
        type Output = bool;
        fn run<C: Comparison>(self) -> bool {
            C::holds(self.0, self.1)
        }
    }
    [0, 1].map(|half| {
        test::<[H; 2]>(registers, a, b, |x, y| {
            with_comparison(compare, Values(f(x[half]).widen(), f(y[half]).widen()))
        })
    })
}

/// Executes `setp`.
pub(in crate::exec) fn setp(op: &Setp, lanes: LaneMask, registers: &mut RegisterFile) {
    let [mut p, mut q] = comparisons(op.compare, op.ty, op.ftz, [op.a, op.b], registers);
    if let Some((combine, c)) = op.combine {
        let c = predicate(registers, c);
        [p, q] = [p, q].map(|x| match combine {
            BoolOp::And => x & c,
            BoolOp::Or => x | c,
            BoolOp::Xor => x ^ c,
        });
    }
    for (result, bits) in [(op.p, p), (op.q, q)] {
        if let Some(result) = result {
            set_predicate(registers, result, lanes, bits);
        }
    }
}

/// Executes `testp` and `isspacep`.
pub(in crate::exec) fn test_value(
    f: TestFn,
    ty: Type,
    p: Predicate,
    a: Row,
    lanes: LaneMask,
    registers: &mut RegisterFile,
) {
    let held = if let TestFn::In(space) = f {
        test::<u64>(registers, a, a, |address, _| is_in(address, space))
    } else {
        float_type!(ty, T => test::<T>(registers, a, a, |x, _| float::is_kind(x, f)))
    };
    set_predicate(registers, p, lanes, held);
}

/// Returns true if a generic address is in a space.
/// The windows of `kernel::layout` decide.
pub(in crate::exec) fn is_in(address: u64, space: Space) -> bool {
    let within = |window: u64| address.wrapping_sub(window) < WINDOW_BYTES;
    let raised = address.wrapping_sub(RAISED) < GLOBAL_BASE;
    let constant = raised || (CONST_BASE..GLOBAL_BASE).contains(&address);
    match space {
        Space::Shared => within(SHARED_WINDOW),
        Space::Local => within(LOCAL_WINDOW),
        Space::Const => constant,
        Space::Param => within(PARAMETERS),
        _ => !constant && !within(SHARED_WINDOW) && !within(LOCAL_WINDOW),
    }
}

/// Executes logic on predicates, 32 lanes at once.
pub(in crate::exec) fn predicate_logic(
    f: PredicateFn,
    a: PredicateUse,
    b: PredicateUse,
    registers: &RegisterFile,
) -> u32 {
    let (a, b) = (predicate(registers, a), predicate(registers, b));
    match f {
        PredicateFn::Mov => a,
        PredicateFn::Not => !a,
        PredicateFn::And => a & b,
        PredicateFn::Or => a | b,
        PredicateFn::Xor => a ^ b,
    }
}

/// Executes `selp`.
pub(in crate::exec) fn select(
    ty: Type,
    d: Row,
    [a, b]: [Row; 2],
    c: PredicateUse,
    lanes: LaneMask,
    registers: &mut RegisterFile,
) {
    let chosen = predicate(registers, c);
    if ty.is_wide() {
        let (a, b) = (registers.wide[usize::from(a.0)], registers.wide[usize::from(b.0)]);
        let d = &mut registers.wide[usize::from(d.0)];
        fill(d, lanes, |l| if chosen & (1 << l) != 0 { a[l] } else { b[l] });
    } else {
        let (a, b) = (registers.narrow[usize::from(a.0)], registers.narrow[usize::from(b.0)]);
        let d = &mut registers.narrow[usize::from(d.0)];
        fill(d, lanes, |l| if chosen & (1 << l) != 0 { a[l] } else { b[l] });
    }
}
