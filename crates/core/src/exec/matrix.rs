//! Matrix products of a warp, and moves of 8x8 matrices ([`crate::kernel::Mma`] has the layout).
//!
//! Floats of up to 16 bits and tf32 follow [`super::arith::dot`]. A product of f64 is a chain of
//! fused multiply-adds in ascending `k`, each rounded to nearest. Integer sums are exact; the
//! result wraps or is clamped once. (Recorded on an H200: tests/observations/h200/tensor.txt.)

use super::access::{check, fill_addresses, first_fault_of};
use super::arith::dot::{Factors, Number, Precision, dot};
use super::arith::float;
use super::memory::Words;
use super::{AccessKind, Effect, Env, Fault, FaultKind, MemoryAccess, RegisterFile};
use crate::base::{LaneMask, MAX_LANES};
use crate::isa::{Round, Space};
use crate::kernel::layout::{SHARED_WINDOW, WINDOW_BYTES};
use crate::kernel::{Combine, FactorType, MatrixAccess, MatrixMove, Mma, Row, SumType};

/// Most rows of A.
const M: usize = 16;
/// Columns of B.
const N: usize = 8;
/// Most 4-bit elements of a row of A.
const K: usize = 64;
/// Bytes of a row of an 8x8 matrix.
const ROW_BYTES: u32 = 16;

/// Returns an error unless all lanes of the warp execute the instruction.
pub(super) fn all_lanes(lanes: LaneMask) -> Result<(), Fault> {
    match lanes.lowest() {
        Some(lane) if lanes != LaneMask::FULL => {
            let lanes = LaneMask::FULL - lanes;
            Err(Fault { lane, kind: FaultKind::MissingLanes { lanes } })
        }
        _ => Ok(()),
    }
}

/// Executes a matrix product.
pub(super) fn mma(op: &Mma, lanes: LaneMask, registers: &mut RegisterFile) -> Result<(), Fault> {
    all_lanes(lanes)?;
    if lanes.is_empty() {
        return Ok(());
    }
    match op.sum {
        SumType::F64 => doubles(op, registers),
        SumType::S32 => integers(op, registers),
        SumType::F16 | SumType::F32 => floats(op, registers),
    }
    Ok(())
}

/// Returns row and column of element `h` in register `r` of A.
fn place_in_a(op: &Mma, lane: usize, r: usize, h: usize) -> (usize, usize) {
    let p = op.factors[0].per_register() as usize;
    let (g, t) = (lane / 4, lane % 4);
    let (row, step) = if op.m > 8 { (g + 8 * (r % 2), r / 2) } else { (g, r) };
    (row % M, p * t + h + 4 * p * step)
}

/// Returns row and column of element `h` in register `r` of B.
fn place_in_b(op: &Mma, lane: usize, r: usize, h: usize) -> (usize, usize) {
    let p = op.factors[1].per_register() as usize;
    (p * (lane % 4) + h + 4 * p * r, lane / 4 % N)
}

/// Returns row and column of value `v` of C or D.
fn place_in_c(lane: usize, v: usize) -> (usize, usize) {
    ((lane / 4 + 8 * (v / 2)) % M, 2 * (lane % 4) + v % 2)
}

/// Calls `f` with lane, register and bits of each register of a fragment.
fn each(rows: &[Row], registers: &RegisterFile, mut f: impl FnMut(usize, usize, u32)) {
    for (r, row) in rows.iter().enumerate() {
        for (lane, &bits) in registers.narrow[usize::from(row.0)].iter().enumerate() {
            f(lane, r, bits);
        }
    }
}

/// Computes a product of floats of up to 16 bits, or tf32.
fn floats(op: &Mma, registers: &mut RegisterFile) {
    let k = usize::from(op.k).min(16);
    let mut a = [[Number::default(); 16]; M];
    let mut b = [[Number::default(); 16]; N];
    let bits_of = |ty: FactorType| ty.bits() % 32;
    let [ta, tb] = op.factors;
    each(&op.a, registers, |lane, r, bits| {
        for h in 0..ta.per_register() as usize {
            let (i, k) = place_in_a(op, lane, r, h);
            a[i][k % 16] = Number::factor(bits >> (h as u32 * bits_of(ta)), ta);
        }
    });
    each(&op.b, registers, |lane, r, bits| {
        for h in 0..tb.per_register() as usize {
            let (k, j) = place_in_b(op, lane, r, h);
            b[j][k % 16] = Number::factor(bits >> (h as u32 * bits_of(tb)), tb);
        }
    });
    let (a, b) = (a.map(Factors::of), b.map(Factors::of));
    let precision = Precision::of(op.factors, k);
    let product = |lane: usize, v: usize, c: Number| {
        let (i, j) = place_in_c(lane, v);
        dot(&a[i], &b[j], precision, c)
    };
    write_sums(op, registers, |lane, r, c| match op.sum {
        SumType::F16 => {
            let low = product(lane, 2 * r, Number::half(c));
            let high = product(lane, 2 * r + 1, Number::half(c >> 16));
            high.half() << 16 | low.half()
        }
        _ => product(lane, r, Number::single(c)).single(),
    });
}

/// Writes `sum` of lane, register and bits of C to each register of D.
///
/// All of C is read before any of D is written: their registers may overlap.
fn write_sums(op: &Mma, registers: &mut RegisterFile, sum: impl Fn(usize, usize, u32) -> u32) {
    let results = op.c.iter().enumerate().map(|(r, c)| {
        let c = registers.narrow[usize::from(c.0)];
        std::array::from_fn::<u32, MAX_LANES, _>(|lane| sum(lane, r, c[lane]))
    });
    let results: Vec<[u32; MAX_LANES]> = results.collect();
    for (result, d) in results.iter().zip(op.d.iter().flatten()) {
        registers.narrow[usize::from(d.0)] = *result;
    }
}

/// Returns element `h` of a register, sign-extended for signed types.
pub(super) fn integer(bits: u32, h: usize, ty: FactorType) -> i32 {
    let width = ty.bits();
    let top = (bits >> (h as u32 * width)) << (32 - width);
    if ty.is_signed() { top as i32 >> (32 - width) } else { (top >> (32 - width)) as i32 }
}

/// Computes a product of integers or bits.
fn integers(op: &Mma, registers: &mut RegisterFile) {
    let (mut a, mut b) = ([[0i32; K]; M], [[0i32; K]; N]);
    // Bits stay in words of 32, one element of the matrix each.
    let whole = op.combine != Combine::Multiply;
    let [ta, tb] = op.factors;
    let elements = |ty: FactorType| if whole { 1 } else { ty.per_register() as usize };
    let element = |bits: u32, h: usize, ty: FactorType| {
        if whole { bits as i32 } else { integer(bits, h, ty) }
    };
    let of_bits = Mma { factors: [FactorType::TF32; 2], ..shape_of(op) };
    let layout = if whole { &of_bits } else { op };
    each(&op.a, registers, |lane, r, bits| {
        for h in 0..elements(ta) {
            let (i, k) = place_in_a(layout, lane, r, h);
            a[i][k % K] = element(bits, h, ta);
        }
    });
    each(&op.b, registers, |lane, r, bits| {
        for h in 0..elements(tb) {
            let (k, j) = place_in_b(layout, lane, r, h);
            b[j][k % K] = element(bits, h, tb);
        }
    });
    let k = (usize::from(op.k) / if whole { 32 } else { 1 }).min(K);
    write_sums(op, registers, |lane, r, c| {
        let (i, j) = place_in_c(lane, r);
        add_up(op.combine, op.saturates, &a[i][..k], &b[j][..k], c)
    });
}

/// Returns `c` plus the sum of the elements of `a` and `b`, combined; clamped or wrapped.
pub(super) fn add_up(combine: Combine, saturates: bool, a: &[i32], b: &[i32], c: u32) -> u32 {
    let terms = a.iter().zip(b).map(|(&x, &y)| match combine {
        Combine::Multiply => i64::from(x * y),
        Combine::XorPopc => i64::from((x ^ y).count_ones()),
        Combine::AndPopc => i64::from((x & y).count_ones()),
    });
    let sum = i64::from(c as i32) + terms.sum::<i64>();
    let sum = if saturates { sum.clamp(i32::MIN.into(), i32::MAX.into()) } else { sum };
    sum as u32
}

/// Returns the shape of a product, without its registers.
fn shape_of(op: &Mma) -> Mma {
    Mma { a: Vec::new(), b: Vec::new(), c: Vec::new(), d: None, ..*op }
}

/// Returns a register of f64 values.
fn wide_row(registers: &RegisterFile, row: Row, pairs: bool) -> [f64; MAX_LANES] {
    if !pairs {
        return registers.wide[usize::from(row.0)].map(f64::from_bits);
    }
    let word = |next: u16| &registers.narrow[usize::from(row.0 + next)];
    let (low, high) = (word(0), word(1));
    std::array::from_fn(|l| f64::from_bits(u64::from(high[l]) << 32 | u64::from(low[l])))
}

/// Computes a product of doubles.
fn doubles(op: &Mma, registers: &mut RegisterFile) {
    let (mut a, mut b) = ([[0.0; 16]; M], [[0.0; 16]; N]);
    for (r, &row) in op.a.iter().enumerate() {
        for (lane, x) in wide_row(registers, row, op.pairs).into_iter().enumerate() {
            let (i, k) = place_in_a(op, lane, r, 0);
            a[i][k % 16] = x;
        }
    }
    for (r, &row) in op.b.iter().enumerate() {
        for (lane, x) in wide_row(registers, row, op.pairs).into_iter().enumerate() {
            let (k, j) = place_in_b(op, lane, r, 0);
            b[j][k % 16] = x;
        }
    }
    let k = usize::from(op.k).min(16);
    let sums = op.c.iter().enumerate().map(|(r, &row)| {
        let c = wide_row(registers, row, op.pairs);
        std::array::from_fn::<u64, MAX_LANES, _>(|lane| {
            let (i, j) = place_in_c(lane, r);
            let factors = a[i][..k].iter().zip(&b[j][..k]);
            let chain =
                factors.fold(c[lane], |sum, (&x, &y)| float::fma(x, y, sum, Round::Nearest));
            chain.to_bits()
        })
    });
    // All of C is read before any of D is written: registers of machine code may overlap.
    let sums: Vec<[u64; MAX_LANES]> = sums.collect();
    for (sum, d) in sums.iter().zip(op.d.iter().flatten()) {
        if op.pairs {
            registers.narrow[usize::from(d.0)] = sum.map(|x| x as u32);
            registers.narrow[usize::from(d.0 + 1)] = sum.map(|x| (x >> 32) as u32);
        } else {
            registers.wide[usize::from(d.0)] = *sum;
        }
    }
}

/// Executes `ldmatrix` and `stmatrix`.
pub(super) fn access(
    op: &MatrixAccess,
    lanes: LaneMask,
    registers: &mut RegisterFile,
    env: &mut Env<'_>,
) -> Result<Effect, Fault> {
    all_lanes(lanes)?;
    if lanes.is_empty() {
        return Ok(Effect::Done);
    }
    if op.rows.is_empty() {
        return Ok(Effect::Done);
    }
    fill_addresses(op.address, LaneMask::FULL, registers, env.addresses);
    if op.space == Space::Generic {
        let start = env.shared.start();
        for address in env.addresses.iter_mut() {
            let offset = address.wrapping_sub(SHARED_WINDOW);
            // An address outside of the window stays outside of shared memory.
            *address =
                if offset < WINDOW_BYTES { offset.wrapping_sub(start) } else { *address | 1 << 32 };
        }
    }
    let writes = op.direction == MatrixMove::Store;
    let rows = LaneMask::first_n(8 * op.rows.len().min(4) as u32);
    let bytes = ROW_BYTES.into();
    if check(Space::Shared, rows, bytes, writes, env).is_none() {
        return Err(first_fault_of(Space::Shared, rows, bytes, writes, env));
    }
    let mut changed = false;
    for (matrix, row) in op.rows.iter().enumerate() {
        let Some(row) = *row else { continue };
        // Of rows at one place, an H200 keeps the first of the last matrix.
        for i in (0..8).rev() {
            for j in 0..8 {
                // The element is half of the register of a lane.
                let (g, t) = if op.transposed { (j, i) } else { (i, j) };
                let (lane, half) = (4 * g + t / 2, 16 * (t % 2) as u32);
                let address = env.addresses[(8 * matrix + i) % MAX_LANES] + 2 * j as u64;
                let shift = 8 * (address as u32 & 2);
                let cell = &mut registers.narrow[usize::from(row.0)][lane];
                if writes {
                    let bits = (*cell >> half & 0xffff) << shift;
                    let (old, new) =
                        env.shared.update(lane, address, |word| word & !(0xffff << shift) | bits);
                    changed |= old != new;
                } else {
                    let element = env.shared.load(lane, address) >> shift & 0xffff;
                    *cell = *cell & !(0xffff << half) | element << half;
                }
            }
        }
    }
    Ok(Effect::Access(MemoryAccess {
        space: Space::Shared,
        kind: if writes { AccessKind::Write } else { AccessKind::Read },
        lanes: rows,
        bytes: ROW_BYTES as u8,
        bypass_l1: false,
        changed,
        row: false,
    }))
}

/// Executes `movmatrix`.
pub(super) fn transpose(
    d: Option<Row>,
    a: Row,
    lanes: LaneMask,
    registers: &mut RegisterFile,
) -> Result<(), Fault> {
    all_lanes(lanes)?;
    let a = registers.narrow[usize::from(a.0)];
    if let (Some(d), false) = (d, lanes.is_empty()) {
        registers.narrow[usize::from(d.0)] = std::array::from_fn(|lane| {
            let (column, row) = (lane / 4, 2 * (lane % 4));
            let element = |row: usize| a[(4 * row + column / 2) % MAX_LANES] >> (16 * (column % 2));
            element(row) & 0xffff | element(row + 1) << 16
        });
    }
    Ok(())
}
