//! Lowering of matrix products and of moves of 8x8 matrices.
//!
//! `wmma.mma` becomes one or two products of the machine's own shapes: a product with 16 or 32
//! columns or 32 rows is two with half of them. With 32 columns, A and B change places, and the
//! results are those of the transposed product.

use super::super::body::{Body, Origin};
use super::super::operands::{Arg, Args, Product, Value, space};
use super::lane;
use crate::isa::{Class, FormMatch, Sem, Type};
use crate::kernel::{
    Combine, Convert, FactorType, LaneFn, MatrixAccess, MatrixMove, Mma, Op, Register, Row, SumType,
};

/// Returns the registers of operand `i`, a fragment.
pub(super) fn fragment(args: &Args, i: usize) -> Vec<Value> {
    match args.args.get(i) {
        Some(Arg::Parts(parts, _)) => parts.iter().flatten().copied().collect(),
        other => unreachable!("isa/ptx.ron: operand {i}: expected fragment, found {other:?}"),
    }
}

/// Returns the rows of values.
fn rows(values: &[Value]) -> Vec<Row> {
    values.iter().map(|value| value.row).collect()
}

/// Returns the registers of values.
fn registers(lists: &[&[Value]]) -> Vec<Register> {
    lists.iter().copied().flatten().filter_map(|value| value.register).collect()
}

/// Lowers `ldmatrix` and `stmatrix`.
pub(super) fn access(m: &FormMatch<'_>, args: &Args) -> Op {
    let direction =
        if m.form.sem == Sem::MatrixLoad { MatrixMove::Load } else { MatrixMove::Store };
    let (list, at) = if direction == MatrixMove::Load { (0, 1) } else { (1, 0) };
    Op::MatrixAccess(Box::new(MatrixAccess {
        direction,
        space: space(m),
        address: args.address(at),
        transposed: m.has("trans"),
        rows: fragment(args, list).iter().map(|value| Some(value.row)).collect(),
    }))
}

impl Body<'_> {
    /// Lowers `mma` and `wmma.mma`.
    pub(super) fn mma(&mut self, m: &FormMatch<'_>, args: &Args, origin: Origin) {
        let product = Product::of(m);
        let [d, a, b, c] = [0, 1, 2, 3].map(|i| fragment(args, i));
        // The machine adds f16 or f32 alone: mixed sums are converted.
        let sum = if product.sums[0] == product.sums[1] { product.sums[0] } else { SumType::F32 };
        let c = if product.sums[1] == sum { c } else { self.widened(&c, origin) };
        let results = if product.sums[0] == sum { d.clone() } else { self.scratches(2 * d.len()) };
        let combine = m
            .pick(&[("xor", Combine::XorPopc), ("and", Combine::AndPopc)])
            .unwrap_or(Combine::Multiply);
        let whole = Mma { combine, saturates: m.has("satfinite"), ..product.mma(sum) };
        let [rows_of_a, columns, _] = product.shape;
        let swapped = columns == 32;
        let (outer, inner, whole) = if swapped {
            let [x, y] = whole.factors;
            (&b, &a, Mma { factors: [y, x], ..whole })
        } else {
            (&a, &b, whole)
        };
        let parts = if rows_of_a.max(columns) > 16 || columns == 16 { 2 } else { 1 };
        let m16 = rows_of_a.max(columns) >= 16;
        // NVIDIA's compiler multiplies tf32 in two steps of four columns of A.
        let steps = if product.wmma && whole.factors[0] == FactorType::TF32 { 2 } else { 1 };
        let k = whole.k / steps as u16;
        let whole = Mma { m: if m16 { 16 } else { 8 }, k, ..whole };
        let [na, nb, nc] = Mma::counts(whole.m, k, whole.factors[0], sum);
        // A result must not replace what a later product reads.
        let aliased = parts > 1
            && d.iter().enumerate().any(|(i, d)| {
                let is = |other: &Value| other.row == d.row;
                a.iter().any(is)
                    || b.iter().any(is)
                    || c.iter().enumerate().any(|(j, c)| i != j && is(c))
            });
        let results = if aliased { self.scratches(results.len()) } else { results };
        for (part, step) in (0..parts).flat_map(|part| (0..steps).map(move |step| (part, step))) {
            // Of 16 columns both parts have the same A; otherwise the same B.
            let (part_a, part_b) = if columns == 16 { (0, part) } else { (part, 0) };
            let slice = |list: &[Value], from: usize, count: usize| -> Vec<Value> {
                list.iter().skip(from).take(count).copied().collect()
            };
            let a = slice(outer, (part_a * steps + step) * na, na);
            let b = slice(inner, (part_b * steps + step) * nb, nb);
            let d = slice(&results, part * nc, nc);
            let c = if step == 0 { slice(&c, part * nc, nc) } else { d.clone() };
            let op =
                Mma { a: rows(&a), b: rows(&b), c: rows(&c), d: Some(rows(&d)), ..whole.clone() };
            let (reads, writes) = (registers(&[&a, &b, &c]), registers(&[&d]));
            self.emit(origin, Op::Mma(Box::new(op)), &reads, &writes);
        }
        if aliased && product.sums[0] == sum {
            let origin = Origin { class: Class::Move, ..origin };
            for (d, result) in d.iter().zip(&results) {
                let op = lane(LaneFn::Mov, d.ty, d.row, &[result.row]);
                self.emit(origin, op, &registers(&[&[*result]]), &registers(&[&[*d]]));
            }
        }
        if product.sums[0] != sum {
            let origin = Origin { class: Class::Convert, ..origin };
            for (d, pair) in d.iter().zip(results.chunks(2)) {
                let [low, high] = [pair[0], pair[1]];
                let convert = LaneFn::CvtPair(Convert::from(Type::F32));
                let op = lane(convert, Type::F16x2, d.row, &[high.row, low.row]);
                self.emit(origin, op, &registers(&[pair]), &registers(&[&[*d]]));
            }
        }
    }

    /// Returns new 32-bit registers.
    fn scratches(&mut self, count: usize) -> Vec<Value> {
        let mut new = || {
            let (row, register) = self.rows.scratch(false);
            Value { row, register: Some(register), ty: Type::B32, bits: None }
        };
        (0..count).map(|_| new()).collect()
    }

    /// Converts pairs of f16 to f32.
    fn widened(&mut self, pairs: &[Value], origin: Origin) -> Vec<Value> {
        let origin = Origin { class: Class::Convert, ..origin };
        let halves = self.scratches(2 * pairs.len());
        let wide = self.scratches(2 * pairs.len());
        for (i, (half, single)) in halves.iter().zip(&wide).enumerate() {
            let pair = &pairs[i / 2..=i / 2];
            let unpack = LaneFn::Unpack { parts: 2, part: (i % 2) as u8 };
            let op = lane(unpack, Type::B32, half.row, &[pair[0].row]);
            self.emit(origin, op, &registers(&[pair]), &registers(&[&[*half]]));
            let convert = LaneFn::Cvt(Convert::from(Type::F16));
            let op = lane(convert, Type::F32, single.row, &[half.row]);
            self.emit(origin, op, &registers(&[&[*half]]), &registers(&[&[*single]]));
        }
        wide
    }
}

/// Returns true for f16 factors, whose `wmma` fragments repeat registers.
pub(super) fn repeats(product: &Product) -> bool {
    product.wmma && product.factors[0] == FactorType::F16
}
