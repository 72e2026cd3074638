//! Products.

use super::*;

/// Computes `a * b + c`.
#[inline(always)]
pub(in crate::exec::native) fn multiply(
    op: &Native,
    lanes: LaneMask,
    registers: &mut RegisterFile,
) {
    write_ternary(op, lanes, registers, |a, b, c| a.wrapping_mul(b).wrapping_add(c));
}

/// Computes `a * b + c + q` with its carry.
pub(in crate::exec::native) fn multiply_carry(
    op: &Native,
    lanes: LaneMask,
    registers: &mut RegisterFile,
) {
    let [a, b, c] = op.s.map(|source| integer(registers, source));
    let carry = ones(predicate(registers, op.q[0]));
    let product: Values = std::array::from_fn(|lane| a[lane].wrapping_mul(b[lane]));
    let first: Values = std::array::from_fn(|lane| product[lane].wrapping_add(c[lane]));
    if op.p[0].is_some() {
        let mut over: Values = std::array::from_fn(|lane| {
            let sum = first[lane].wrapping_add(carry[lane]);
            u32::from(first[lane] < c[lane]) + u32::from(sum < carry[lane])
        });
        add::count_negated_zero(&mut over, op.s[2], &c);
        let bits = lanes_where(|lane| over[lane] > 0);
        write_predicate(op, 0, lanes, registers, bits);
    }
    write(op, lanes, registers, |lane| first[lane].wrapping_add(carry[lane]));
}

/// Computes `a * b + c + q` in 64 bits, with its carry.
#[inline(always)]
pub(in crate::exec::native) fn wide<const SIGNED: bool>(
    op: &Native,
    lanes: LaneMask,
    registers: &mut RegisterFile,
) {
    if is_plain_product(op, registers) {
        let [a, b, c] = op.s.map(|source| source.row);
        return write_pairs(
            op,
            lanes,
            registers,
            #[inline(always)]
            |rows, lane| {
                product::<SIGNED>(word(rows, a, lane), word(rows, b, lane))
                    .wrapping_add(pair_of(rows, c, lane))
            },
        );
    }
    let sum = product_sum::<SIGNED>(op, lanes, registers);
    write_pair(op, lanes, registers, &sum);
}

/// Computes the high word of `a * b + c + q`, with its carry.
#[inline(always)]
pub(in crate::exec::native) fn high<const SIGNED: bool>(
    op: &Native,
    lanes: LaneMask,
    registers: &mut RegisterFile,
) {
    if is_plain_product(op, registers) {
        let [a, b, c] = op.s.map(|source| source.row);
        return write_words(
            op,
            lanes,
            registers,
            #[inline(always)]
            |rows, lane| {
                let product = product::<SIGNED>(word(rows, a, lane), word(rows, b, lane));
                (product.wrapping_add(pair_of(rows, c, lane)) >> 32) as u32
            },
        );
    }
    let sum = product_sum::<SIGNED>(op, lanes, registers);
    write(op, lanes, registers, |lane| (sum[lane] >> 32) as u32);
}

/// Returns true for a product and sum without modifiers and carries.
#[inline(always)]
fn is_plain_product(op: &Native, registers: &RegisterFile) -> bool {
    op.s.iter().all(|&source| is_plain(source))
        && op.p[0].is_none()
        && predicate(registers, op.q[0]) == 0
}

/// Returns the 64-bit product of two words.
#[inline(always)]
fn product<const SIGNED: bool>(a: u32, b: u32) -> u64 {
    let product = u64::from(a) * u64::from(b);
    if !SIGNED {
        return product;
    }
    // Vector units multiply unsigned words: take off 2^32 times the other for a negative one.
    let of_a = (a as i32 >> 31) as u32 & b;
    let of_b = (b as i32 >> 31) as u32 & a;
    product.wrapping_sub(u64::from(of_a.wrapping_add(of_b)) << 32)
}

/// Returns `a * b + c + q` in 64 bits and writes its carry.
#[inline(never)]
fn product_sum<const SIGNED: bool>(
    op: &Native,
    lanes: LaneMask,
    registers: &mut RegisterFile,
) -> Pairs {
    let mut sum = with_two(op, registers, |a, b| {
        let mut products: Pairs = [0; MAX_LANES];
        for (sum, (&a, &b)) in products.iter_mut().zip(a.iter().zip(b)) {
            *sum = product::<SIGNED>(a, b);
        }
        products
    });
    let c = pair(registers, op.s[2]);
    let carry = predicate(registers, op.q[0]);
    if op.p[0].is_some() {
        let bits = lanes_where(|lane| {
            let (first, one) = sum[lane].overflowing_add(c[lane]);
            let two = first.overflowing_add(u64::from(carry >> lane & 1)).1;
            one | two | (op.s[2].negate && c[lane] == 0)
        });
        write_predicate(op, 0, lanes, registers, bits);
    }
    for (lane, sum) in sum.iter_mut().enumerate() {
        *sum = sum.wrapping_add(c[lane]).wrapping_add(u64::from(carry >> lane & 1));
    }
    sum
}
