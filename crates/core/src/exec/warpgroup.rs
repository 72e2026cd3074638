//! Matrix products of warpgroups ([`crate::kernel::GroupMma`] has the layouts).
//!
//! Each warp computes its sixteen rows when it executes the instruction. PTX leaves open when a
//! product reads shared memory and writes registers before it is waited for, so a program cannot
//! rely on another time. Sums are those of a warp's products ([`super::arith::dot`]).

use super::access::{check, first_fault_of};
use super::arith::dot::{Factors, Number, Precision, dot};
use super::lanes::{predicate, vectorized};
use super::matrix::{add_up, all_lanes, integer};
use super::memory::Words;
use super::{Effect, Env, Fault, FaultKind, RegisterFile};
use crate::base::{LaneMask, MAX_LANES};
use crate::isa::Space;
use crate::kernel::{
    Accumulate, Combine, Descriptor, FactorType, GROUP_ROW_BYTES, GROUP_WARPS, GroupFactor,
    GroupMma, SumType, WARPGROUP_COMPLETE,
};

/// Rows of A of a warp.
const M: usize = 16;
/// Words of a row of A, and of a column of B.
const WORDS: usize = GROUP_ROW_BYTES / 4;
/// Bytes that a swizzle moves together.
const PIECE: u32 = 16;

/// Words of a row of A, or of a column of B.
type Line = [u32; WORDS];

/// Place of a matrix in shared memory.
#[derive(Clone, Copy, Debug)]
struct Place {
    start: u32,
    leading: u32,
    stride: u32,
    base: u32,
    /// Bytes from a row of a core matrix to the next.
    width: u32,
    transposed: bool,
}

impl Place {
    fn of(bits: u64, transposed: bool) -> Place {
        let field = |at: u32| (bits >> at & 0x3fff) as u32 * PIECE;
        Place {
            start: field(0),
            leading: field(16),
            stride: field(32),
            base: (bits >> 49 & 7) as u32,
            width: [16, 128, 64, 32][(bits >> 62) as usize],
            transposed,
        }
    }

    /// Returns the address of a piece.
    ///
    /// A K-major row has two pieces; `part` is 0 or 1. A piece of a transposed matrix holds the
    /// elements of eight rows, from `row` on, at `k = part`.
    fn piece(&self, row: u32, part: u32) -> u32 {
        let &Place { start, leading, stride, base, width, transposed } = self;
        let swizzled = width > PIECE;
        let offset = match (transposed, swizzled) {
            (false, false) => row / 8 * stride + row % 8 * PIECE + part * leading,
            (false, true) => row / 8 * stride + row % 8 * width + part * PIECE,
            (true, false) => row / 8 * stride + part % 8 * PIECE + part / 8 * leading,
            (true, true) => {
                let at = 2 * row;
                at / width * leading + at % width + part % 8 * width + part / 8 * stride
            }
        };
        let address = start + offset;
        let exchange = (address >> 7).wrapping_sub(base) & (width / PIECE - 1);
        address ^ exchange << 4
    }

    /// Returns the pieces of `count` rows from `first` on: the parts of each row, or if transposed
    /// of eight rows.
    fn pieces(self, first: u32, count: u32) -> impl Iterator<Item = u32> {
        let (step, parts) = if self.transposed { (8, 16) } else { (1, 2) };
        let rows = (first..first + count).step_by(step);
        rows.flat_map(move |row| (0..parts).map(move |part| self.piece(row, part)))
    }
}

/// Reads `count` rows from `first` on, and adds the addresses of their pieces to the log.
fn read(
    descriptor: Descriptor,
    transposed: bool,
    (first, count): (u32, u32),
    op: &GroupMma,
    registers: &RegisterFile,
    env: &mut Env<'_>,
) -> Result<Vec<Line>, Fault> {
    let row = usize::from(descriptor.row.0);
    let bits = if descriptor.pair {
        u64::from(registers.narrow[row + 1][0]) << 32 | u64::from(registers.narrow[row][0])
    } else {
        registers.wide[row][0]
    };
    let place = Place::of(bits, transposed);
    let pieces: Vec<u64> = place
        .pieces(first, count)
        .map(|address| u64::from(address.wrapping_sub(op.shared_base)))
        .collect();
    let mut lines = vec![[0; WORDS]; count as usize];
    for (batch, addresses) in pieces.chunks(MAX_LANES).enumerate() {
        let lanes = LaneMask::first_n(addresses.len() as u32);
        env.addresses[..addresses.len()].copy_from_slice(addresses);
        let bytes = PIECE.into();
        if check(Space::Shared, lanes, bytes, false, env).is_none() {
            return Err(first_fault_of(Space::Shared, lanes, bytes, false, env));
        }
        for (i, &address) in addresses.iter().enumerate() {
            let words: [u32; 4] =
                std::array::from_fn(|word| env.shared.load(0, address + 4 * word as u64));
            let piece = MAX_LANES * batch + i;
            if transposed {
                let (row, k) = (piece / 16 * 8, piece % 16);
                for (word, pair) in words.iter().zip(lines[row..row + 8].chunks_exact_mut(2)) {
                    for (half, line) in pair.iter_mut().enumerate() {
                        let element = word >> (16 * half) & 0xffff;
                        line[k / 2] |= element << (16 * (k % 2));
                    }
                }
            } else {
                let words_of_line = &mut lines[piece / 2][4 * (piece % 2)..];
                words_of_line[..4].copy_from_slice(&words);
            }
        }
        env.system.pieces.push((*env.addresses, lanes));
    }
    Ok(lines)
}

/// Returns the rows of A that a warp holds in registers.
fn held(rows: &[crate::kernel::Row; 4], registers: &RegisterFile) -> Vec<Line> {
    let mut lines = vec![[0; WORDS]; M];
    for (r, row) in rows.iter().enumerate() {
        for (lane, &bits) in registers.narrow[usize::from(row.0)].iter().enumerate() {
            lines[lane / 4 + 8 * (r % 2)][lane % 4 + 4 * (r / 2)] = bits;
        }
    }
    lines
}

/// Executes one warp's part of a matrix product of a warpgroup.
pub(super) fn product(
    op: &GroupMma,
    lanes: LaneMask,
    registers: &mut RegisterFile,
    env: &mut Env<'_>,
) -> Result<Effect, Fault> {
    all_lanes(lanes)?;
    if lanes.is_empty() {
        return Ok(Effect::Done);
    }
    let place = registers.narrow[usize::from(op.place.0)][0];
    if place & WARPGROUP_COMPLETE == 0 {
        return Err(Fault { lane: 0, kind: FaultKind::MissingWarps });
    }
    env.system.pieces.clear();
    let [transposed_a, transposed_b] = op.transposed;
    let a = match &op.a {
        GroupFactor::Registers(rows) => held(rows, registers),
        GroupFactor::Shared(a) => {
            let rows = (M as u32 * (place % GROUP_WARPS), M as u32);
            read(*a, transposed_a, rows, op, registers, env)?
        }
    };
    let b = read(op.b, transposed_b, (0, op.columns.into()), op, registers, env)?;
    let adds = match op.adds {
        Accumulate::Always => true,
        Accumulate::Never => false,
        Accumulate::If(p) => predicate(registers, p) & 1 != 0,
    };
    // All of C is read before any of D is written: their registers may overlap.
    let c: Vec<[u32; MAX_LANES]> =
        op.c.iter()
            .map(|row| if adds { registers.narrow[usize::from(row.0)] } else { [0; MAX_LANES] })
            .collect();
    let d = match op.sum {
        SumType::S32 => integers(op, &a, &b, &c),
        _ => vectorized(
            registers.vectors,
            #[inline(always)]
            |_| floats(op, &a, &b, &c),
        ),
    };
    for (values, row) in d.iter().zip(&op.d) {
        registers.narrow[usize::from(row.0)] = *values;
    }
    Ok(Effect::MatrixRead)
}

/// Returns row of A and column of B of value `v` of a lane.
fn place_of(lane: usize, v: usize) -> (usize, usize) {
    (lane / 4 + 8 * (v / 2 % 2), 8 * (v / 4) + 2 * (lane % 4) + v % 2)
}

/// Returns a row as factors of a float type.
fn factors(line: &Line, ty: FactorType, negated: bool) -> Factors {
    let (per, bits) = (ty.per_register(), ty.bits() % 32);
    let numbers = line.iter().flat_map(|&word| (0..per).map(move |h| word >> (h * bits)));
    Factors::of(numbers.map(|bits| Number::factor(bits, ty).negated_if(negated)))
}

/// Computes a product of floats.
#[inline(always)]
fn floats(op: &GroupMma, a: &[Line], b: &[Line], c: &[[u32; MAX_LANES]]) -> Vec<[u32; MAX_LANES]> {
    let [ta, tb] = op.factors;
    let [negated_a, negated_b] = op.negated;
    let a: Vec<Factors> = a.iter().map(|line| factors(line, ta, negated_a)).collect();
    let b: Vec<Factors> = b.iter().map(|line| factors(line, tb, negated_b)).collect();
    let precision = Precision::of(op.factors, WORDS * ta.per_register() as usize);
    let sum = |lane: usize, v: usize, c: Number| {
        let (i, j) = place_of(lane, v);
        dot(&a[i % M], &b[j], precision, c)
    };
    let value = |r: usize, lane: usize, c: u32| match op.sum {
        SumType::F16 => {
            let low = sum(lane, 2 * r, Number::half(c));
            let high = sum(lane, 2 * r + 1, Number::half(c >> 16));
            high.half() << 16 | low.half()
        }
        _ => sum(lane, r, Number::single(c)).single(),
    };
    let rows = c.iter().enumerate();
    rows.map(|(r, c)| std::array::from_fn(|lane| value(r, lane, c[lane]))).collect()
}

/// Computes a product of integers or bits.
fn integers(
    op: &GroupMma,
    a: &[Line],
    b: &[Line],
    c: &[[u32; MAX_LANES]],
) -> Vec<[u32; MAX_LANES]> {
    let whole = op.combine != Combine::Multiply;
    let elements = |lines: &[Line], ty: FactorType| -> Vec<Vec<i32>> {
        let of = |line: &Line| match whole {
            true => line.iter().map(|&word| word as i32).collect(),
            false => line.iter().flat_map(|&w| (0..4).map(move |h| integer(w, h, ty))).collect(),
        };
        lines.iter().map(of).collect()
    };
    let (a, b) = (elements(a, op.factors[0]), elements(b, op.factors[1]));
    let value = |r: usize, lane: usize, c: u32| {
        let (i, j) = place_of(lane, r);
        add_up(op.combine, op.saturates, &a[i % M], &b[j], c)
    };
    let rows = c.iter().enumerate();
    rows.map(|(r, c)| std::array::from_fn(|lane| value(r, lane, c[lane]))).collect()
}
