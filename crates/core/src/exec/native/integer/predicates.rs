//! Instructions on predicates.

use super::shift::table_of;
use super::*;
use crate::exec::lanes::set_predicate;
use crate::kernel::{Predicate, PredicateUse};

/// First uniform predicate.
const UNIFORM: u16 = 8;

/// Applies two truth tables to three predicates.
pub(in crate::exec::native) fn predicate_logic3(
    op: &Native,
    tables: [u8; 2],
    third: PredicateUse,
    signs: u8,
    lanes: LaneMask,
    registers: &mut RegisterFile,
) {
    let [x, y, z]: [u32; 3] = std::array::from_fn(|i| {
        if signs >> i & 1 == 1 {
            let values = integer(registers, op.s[i]);
            return lanes_where(|lane| values[lane] >> 31 == 1);
        }
        predicate(registers, if i == 2 { third } else { op.q[i] })
    });
    for (i, table) in tables.into_iter().enumerate() {
        let rows = std::array::from_fn(|row| (u32::from(table) >> row & 1).wrapping_neg());
        write_predicate(op, i, lanes, registers, table_of(&rows, x, y, z));
    }
}

/// Packs predicates into a byte.
pub(in crate::exec::native) fn pack_predicates(
    op: &Native,
    mask: u8,
    byte: u8,
    lanes: LaneMask,
    registers: &mut RegisterFile,
) {
    let a = integer(registers, op.s[0]);
    let first = if op.uniform { UNIFORM } else { 0 };
    let mut packed = [0; MAX_LANES];
    for i in (0..7).filter(|i| mask >> i & 1 == 1) {
        let bits = registers.predicates[usize::from(first + i)];
        for (lane, packed) in packed.iter_mut().enumerate() {
            *packed |= u32::from(bits & 1 << lane != 0) << i;
        }
    }
    let at = u32::from(byte & 3) * 8;
    let keep = !(u32::from(mask) << at);
    write(op, lanes, registers, |lane| a[lane] & keep | packed[lane] << at);
}

/// Unpacks predicates from a byte.
pub(in crate::exec::native) fn unpack_predicates(
    op: &Native,
    mask: u8,
    byte: u8,
    lanes: LaneMask,
    registers: &mut RegisterFile,
) {
    let a = integer(registers, op.s[0]);
    let first = if op.uniform { UNIFORM } else { 0 };
    for i in (0..7).filter(|i| mask >> i & 1 == 1) {
        let bit = 1 << (u32::from(byte & 3) * 8 + u32::from(i));
        let bits = lanes_where(|lane| a[lane] & bit != 0);
        set_predicate(registers, Predicate(first + i), lanes, bits);
    }
}
