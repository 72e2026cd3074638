//! The operations of `atom` and `red` (PTX ISA, "Parallel Synchronization and Communication
//! Instructions: atom").

use super::RegisterFile;
use super::access::put;
use super::arith::float::{add, flush32, max, min};
use super::arith::half::{Brain, Half, Short};
use super::memory::Words;
use crate::base::{LaneMask, MAX_LANES};
use crate::isa::{Round, Type};
use crate::kernel::{Atomic, AtomicFn, AtomicForm, AtomicVector, Row};

/// Serves checked lanes in ascending order. Returns true if any byte changed.
pub(super) fn serve(
    memory: &mut impl Words,
    op: &Atomic,
    lanes: LaneMask,
    addresses: &[u64; MAX_LANES],
    global: bool,
    registers: &mut RegisterFile,
) -> bool {
    let sums = op.f == AtomicFn::Add && op.form != AtomicForm::Cast;
    if sums && matches!(op.ty, Type::U32 | Type::S32 | Type::B32) {
        return add_words(memory, op, lanes, addresses, registers);
    }
    let has_c = op.f == AtomicFn::Cas;
    let mut before = [0; MAX_LANES];
    let mut changed = false;
    for lane in lanes.lanes() {
        let lane = lane as usize & (MAX_LANES - 1);
        let b = operand(op, op.b, lane, registers);
        // Only compare-and-swap has `c`; otherwise its row is meaningless.
        let c = if has_c { operand(op, op.c, lane, registers) } else { 0 };
        let address = addresses[lane];
        let (old, new) = match op.ty.bits() {
            64 => memory.update_pair(lane, address, |old| combine(op.f, op.ty, global, old, b, c)),
            32 => {
                let (old, new) = memory.update(lane, address, |old| {
                    combine(op.f, op.ty, global, old.into(), b, c) as u32
                });
                (old.into(), new.into())
            }
            bits => {
                let shift = 8 * (address & 3) as u32;
                let mask = (1u32 << (bits % 32)) - 1;
                let low = u64::from(mask);
                let (old, new) = memory.update(lane, address, |word| {
                    let new = combine(
                        op.f,
                        op.ty,
                        global,
                        (word >> shift & mask).into(),
                        b & low,
                        c & low,
                    ) as u32;
                    word & !(mask << shift) | (new & mask) << shift
                });
                (u64::from(old >> shift & mask), u64::from(new >> shift & mask))
            }
        };
        before[lane] = if op.form == AtomicForm::Cast { u64::from(old == b) } else { old };
        changed |= old != new;
    }
    if let Some(d) = op.d {
        write(op, d, lanes, &before, registers);
    }
    changed
}

/// Returns the lanes whose words ATOMS.CAST compares and swaps. The others have no success.
///
/// It serves the lowest lane of each bank: of 32 words or, for 64 bits, of 16 in each half of the
/// warp. Measured on an H200: `tests/observations/h200/casts`.
pub(super) fn tried(
    op: &Atomic,
    lanes: LaneMask,
    addresses: &[u64; MAX_LANES],
    registers: &mut RegisterFile,
) -> LaneMask {
    let bytes = u64::from(op.ty.bytes());
    let banks = 128 / bytes;
    let mut taken = [0_u32; 2];
    let tried = lanes.lanes().fold(LaneMask::EMPTY, |tried, lane| {
        let half = &mut taken[if op.ty.is_wide() { lane as usize / 16 % 2 } else { 0 }];
        let bank = 1 << (addresses[lane as usize % MAX_LANES] / bytes % banks);
        let is_first = *half & bank == 0;
        *half |= bank;
        if is_first { tried | LaneMask::lane(lane) } else { tried }
    });
    if let Some(d) = op.d {
        write(op, d, lanes - tried, &[0; MAX_LANES], registers);
    }
    tried
}

/// Adds integers to words, the most frequent case of [`serve`]. Returns true if any changed.
fn add_words(
    memory: &mut impl Words,
    op: &Atomic,
    lanes: LaneMask,
    addresses: &[u64; MAX_LANES],
    registers: &mut RegisterFile,
) -> bool {
    let operands = &registers.narrow[usize::from(op.b.0)];
    let mut before = [0; MAX_LANES];
    let mut changed = false;
    for lane in lanes.lanes() {
        let lane = lane as usize & (MAX_LANES - 1);
        let (old, new) =
            memory.update(lane, addresses[lane], |old| old.wrapping_add(operands[lane]));
        before[lane] = old;
        changed |= old != new;
    }
    if let Some(d) = op.d {
        put(registers, d, false, lanes, |lane| before[lane].into());
    }
    changed
}

/// Reads an operand: a narrow row, a wide one, or two narrow ones.
fn operand(op: &Atomic, row: Row, lane: usize, registers: &RegisterFile) -> u64 {
    let row = usize::from(row.0);
    if !op.ty.is_wide() {
        registers.narrow[row][lane].into()
    } else if op.pairs {
        u64::from(registers.narrow[row + 1][lane]) << 32 | u64::from(registers.narrow[row][lane])
    } else {
        registers.wide[row][lane]
    }
}

/// Writes a result to the rows that an operand has.
fn write(
    op: &Atomic,
    d: Row,
    lanes: LaneMask,
    values: &[u64; MAX_LANES],
    registers: &mut RegisterFile,
) {
    let wide = op.ty.is_wide();
    if wide && op.pairs {
        put(registers, Row(d.0 + 1), false, lanes, |lane| values[lane] >> 32);
    }
    put(registers, d, wide && !op.pairs, lanes, |lane| values[lane]);
}

/// Exchanges 128 bits in checked lanes, in ascending order. Returns true if any byte changed.
/// `upper` is the row of the upper half of `c`.
pub(super) fn serve_joint(
    memory: &mut impl Words,
    op: &AtomicVector,
    upper: Row,
    lanes: LaneMask,
    addresses: &[u64; MAX_LANES],
    registers: &mut RegisterFile,
) -> bool {
    let first = &op.first;
    let (d, b) = op.others.first().copied().unwrap_or((None, first.b));
    let swaps = first.f == AtomicFn::Cas;
    let mut before = [[0; MAX_LANES]; 2];
    let mut changed = false;
    for lane in lanes.lanes() {
        let lane = lane as usize & (MAX_LANES - 1);
        let of = |rows: [Row; 2]| rows.map(|row| operand(first, row, lane, registers));
        let given = of([first.b, b]);
        let new = if swaps { of([first.c, upper]) } else { given };
        let at = |half: u64| addresses[lane].wrapping_add(8 * half);
        let old = [0, 1].map(|half| memory.update_pair(lane, at(half), |old| old).0);
        if !swaps || old == given {
            for (half, new) in (0..).zip(new) {
                memory.update_pair(lane, at(half), |_| new);
            }
            changed |= old != new;
        }
        (before[0][lane], before[1][lane]) = (old[0], old[1]);
    }
    for (d, before) in [first.d, d].into_iter().zip(before) {
        if let Some(d) = d {
            write(first, d, lanes, &before, registers);
        }
    }
    changed
}

/// Returns the f64 sum.
/// Global memory adds in place and passes a NaN on unchanged, the operand's before its own. Shared
/// memory is read and written back by an addition whose second operand is the old value.
fn sum64(old: u64, b: u64, global: bool) -> u64 {
    match [b, old].into_iter().find(|&bits| f64::from_bits(bits).is_nan()) {
        Some(nan) if global => nan,
        _ => add(f64::from_bits(b), f64::from_bits(old), Round::Nearest).to_bits(),
    }
}

/// Returns the new value for an old one and the operands.
/// f32 addition flushes subnormals in global memory and not in shared memory (PTX ISA, `atom`).
#[inline(always)]
pub(super) fn combine(f: AtomicFn, ty: Type, global: bool, old: u64, b: u64, c: u64) -> u64 {
    let signed_less = |x: u64, y: u64| {
        if ty.is_wide() { (x as i64) < y as i64 } else { (x as u32 as i32) < y as u32 as i32 }
    };
    let less = |x: u64, y: u64| if ty.is_signed() { signed_less(x, y) } else { x < y };
    match f {
        AtomicFn::Add => match ty {
            Type::F32 => {
                let flush = |x: f32| if global { flush32(x) } else { x };
                let (x, y) = (f32::from_bits(old as u32), f32::from_bits(b as u32));
                flush(add(flush(x), flush(y), Round::Nearest)).to_bits().into()
            }
            Type::F16 => half_sum::<Half>(old, b),
            Type::BF16 => half_sum::<Brain>(old, b),
            Type::F16x2 => {
                half_sum::<Half>(old & 0xffff, b & 0xffff)
                    | half_sum::<Half>(old >> 16, b >> 16) << 16
            }
            Type::BF16x2 => {
                half_sum::<Brain>(old & 0xffff, b & 0xffff)
                    | half_sum::<Brain>(old >> 16, b >> 16) << 16
            }
            Type::F64 => sum64(old, b, global),
            _ => old.wrapping_add(b),
        },
        AtomicFn::Min | AtomicFn::Max if ty.is_float() => {
            let least = f == AtomicFn::Min;
            match ty {
                Type::F16x2 => halves::<Half>(old, b, least),
                Type::BF16x2 => halves::<Brain>(old, b, least),
                Type::BF16 => half_extreme::<Brain>(old, b, least),
                _ => half_extreme::<Half>(old, b, least),
            }
        }
        AtomicFn::Min => {
            if less(b, old) {
                b
            } else {
                old
            }
        }
        AtomicFn::Max => {
            if less(old, b) {
                b
            } else {
                old
            }
        }
        AtomicFn::And => old & b,
        AtomicFn::Or => old | b,
        AtomicFn::Xor => old ^ b,
        AtomicFn::Inc => {
            if old >= b {
                0
            } else {
                old + 1
            }
        }
        AtomicFn::Dec => {
            if old == 0 || old > b {
                b
            } else {
                old - 1
            }
        }
        AtomicFn::Exch => b,
        AtomicFn::Cas => {
            if old == b {
                c
            } else {
                old
            }
        }
    }
}

/// Returns the smaller or larger of two 16-bit floats; a NaN loses.
fn half_extreme<H: Short>(old: u64, b: u64, least: bool) -> u64 {
    let (old, b) = (H::from_bits64(old), H::from_bits64(b));
    if least { min(old, b, false) } else { max(old, b, false) }.to_bits64()
}

/// Returns [`half_extreme`] of both halves.
fn halves<H: Short>(old: u64, b: u64, least: bool) -> u64 {
    half_extreme::<H>(old & 0xffff, b & 0xffff, least)
        | half_extreme::<H>(old >> 16, b >> 16, least) << 16
}

/// Returns the sum of two 16-bit floats, subnormals kept (`.noftz`).
fn half_sum<H: Short>(old: u64, b: u64) -> u64 {
    add(H::from_bits64(old), H::from_bits64(b), Round::Nearest).to_bits64()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_function() {
        use AtomicFn::{Add, And, Cas, Dec, Exch, Inc, Max, Min, Or, Xor};
        use Type::{B32, BF16, BF16x2, F16, F16x2, F32, F64, S32, S64, U32, U64};
        let (f, minus) = (|x: f32| u64::from(x.to_bits()), u64::from(-1i32 as u32));
        for (function, ty, old, b, c, expected) in [
            (Add, U32, 0xffff_ffff, 2, 0, 1),
            (Add, U64, u64::MAX, 2, 0, 1),
            (Add, F32, f(1.5), f(2.0), 0, f(3.5)),
            (Add, F64, 1.5f64.to_bits(), 2f64.to_bits(), 0, 3.5f64.to_bits()),
            (Min, U32, 5, minus, 0, 5),
            (Min, S32, 5, minus, 0, minus),
            (Max, U32, 5, minus, 0, minus),
            (Max, S32, 5, minus, 0, 5),
            (Max, S64, 5, u64::MAX, 0, 5),
            (Min, U64, 5, u64::MAX, 0, 5),
            (And, B32, 12, 10, 0, 8),
            (Or, B32, 12, 10, 0, 14),
            (Xor, B32, 12, 10, 0, 6),
            (Inc, U32, 3, 3, 0, 0),
            (Inc, U32, 2, 3, 0, 3),
            (Dec, U32, 0, 3, 0, 3),
            (Dec, U32, 4, 3, 0, 3),
            (Dec, U32, 3, 3, 0, 2),
            (Add, F16, 0x3c00, 0x0001, 0, 0x3c00),
            (Add, F16, 0x0001, 0x0001, 0, 0x0002),
            (Add, BF16, 0x3f80, 0x4000, 0, 0x4040),
            (Add, F16x2, 0x3c00_8000, 0xbc00_4000, 0, 0x0000_4000),
            (Add, BF16x2, 0x4000_3f80, 0x4040_0000, 0, 0x40a0_3f80),
            (Min, F16, 0x3c00, 0xbc00, 0, 0xbc00),
            (Max, BF16, 0x7fc0, 0x3f80, 0, 0x3f80),
            (Min, F16x2, 0x3c00_4000, 0x4000_3c00, 0, 0x3c00_3c00),
            (Max, BF16x2, 0x3f80_4000, 0x4000_3f80, 0, 0x4000_4000),
            (Exch, B32, 1, 2, 0, 2),
            (Cas, B32, 1, 1, 9, 9),
            (Cas, B32, 1, 2, 9, 1),
        ] {
            // Only the low word counts for 32-bit types.
            let low = if ty.is_wide() { u64::MAX } else { u32::MAX.into() };
            assert_eq!(
                combine(function, ty, true, old, b, c) & low,
                expected,
                "{function:?} {ty:?} {old} {b}"
            );
        }
        assert_eq!(combine(Add, F32, true, 1, f(0.0), 0), 0, "global f32 addition flushes");
        assert_eq!(combine(Add, F32, false, 1, f(0.0), 0), 1, "shared f32 addition does not");
    }
}
