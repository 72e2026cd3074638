//! Carry chains: sums, differences and products that read or write the condition code
//! (PTX ISA, "Extended-Precision Integer Arithmetic Instructions").
//!
//! The condition code always holds the carry of a sum. A difference is `a + ~b + 1`, so its carry
//! is *not borrow*, and `subc` adds the carry to `a + ~b`. PTX leaves the result of an `addc` after
//! a `sub.cc` undefined; this is the GPU's behaviour, and nvcc's 128-bit division relies on it.

use super::RegisterFile;
use super::arith::integer::Integer;
use super::lanes::{Cell, Element, fill, set_predicate};
use crate::base::{LaneMask, MAX_LANES};
use crate::isa::Type;
use crate::kernel::{Carry, CarryFn};

/// Executes one link of a chain for `lanes`.
pub(super) fn carry(op: &Carry, lanes: LaneMask, registers: &mut RegisterFile) {
    match op.ty {
        Type::S32 => link::<i32>(op, lanes, registers),
        Type::U64 => link::<u64>(op, lanes, registers),
        Type::S64 => link::<i64>(op, lanes, registers),
        _ => link::<u32>(op, lanes, registers),
    }
}

fn link<T: Integer + Element>(op: &Carry, lanes: LaneMask, registers: &mut RegisterFile) {
    let carry_in = op.carry_in.map_or(0, |p| registers.predicates[usize::from(p.0)]);
    let cell = |source: usize, lane: usize| T::get(T::Cell::row(registers, op.s[source])[lane]);
    let mut carry_out = 0;
    let values: [T::Cell; MAX_LANES] = std::array::from_fn(|lane| {
        let (a, b) = (cell(0, lane), cell(1, lane));
        let carried = carry_in >> lane & 1 == 1;
        let (value, carries) = match op.f {
            CarryFn::Add => a.add_carry(b, carried),
            CarryFn::Sub => a.add_carry(T::from_bits(!b.bits()), carried || op.carry_in.is_none()),
            CarryFn::MadLo => a.mul_lo(b).add_carry(cell(2, lane), carried),
            CarryFn::MadHi => a.mul_hi(b).add_carry(cell(2, lane), carried),
        };
        carry_out |= u32::from(carries) << lane;
        value.put()
    });
    fill(T::Cell::row_mut(registers, op.d), lanes, |lane| values[lane]);
    if let Some(p) = op.carry_out {
        set_predicate(registers, p, lanes, carry_out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::{Predicate, Row};

    /// Adds, subtracts and multiplies 128-bit numbers by 32- or 64-bit words, as compilers do.
    struct Words {
        registers: RegisterFile,
        lanes: LaneMask,
    }

    impl Words {
        fn new() -> Words {
            let registers = RegisterFile {
                narrow: vec![[0; MAX_LANES]; 12].into(),
                wide: vec![[0; MAX_LANES]; 6].into(),
                predicates: vec![0],
                calls: Vec::new(),
                copies: Default::default(),
                vectors: Default::default(),
            };
            Words { registers, lanes: LaneMask(1 << 9) }
        }

        fn put(&mut self, first: usize, value: u128) {
            for i in 0..4 {
                self.registers.narrow[first + i][9] = (value >> (32 * i)) as u32;
            }
            for i in 0..2 {
                self.registers.wide[first / 2 + i][9] = (value >> (64 * i)) as u64;
            }
        }

        fn narrow(&self, first: usize) -> u128 {
            (0..4)
                .fold(0, |all, i| all | u128::from(self.registers.narrow[first + i][9]) << (32 * i))
        }

        fn wide(&self, first: usize) -> u128 {
            (0..2).fold(0, |all, i| all | u128::from(self.registers.wide[first + i][9]) << (64 * i))
        }

        fn link(&mut self, f: CarryFn, ty: Type, d: usize, s: [usize; 3], chain: [bool; 2]) {
            let flag = |there: bool| there.then_some(Predicate(0));
            let s = s.map(|row| Row(row as u16));
            let op = Carry {
                f,
                ty,
                d: Row(d as u16),
                s,
                carry_in: flag(chain[0]),
                carry_out: flag(chain[1]),
            };
            carry(&op, self.lanes, &mut self.registers);
        }
    }

    const NUMBERS: [u128; 8] = [
        0,
        1,
        u32::MAX as u128,
        1 << 32,
        u64::MAX as u128,
        0x8000_0000_0000_0000_ffff_ffff_0000_0001,
        u128::MAX - 1,
        u128::MAX,
    ];

    #[test]
    fn sums_and_differences_of_128_bits() {
        for a in NUMBERS {
            for b in NUMBERS {
                for (f, expected) in
                    [(CarryFn::Add, a.wrapping_add(b)), (CarryFn::Sub, a.wrapping_sub(b))]
                {
                    let mut words = Words::new();
                    words.put(0, a);
                    words.put(4, b);
                    // The result overwrites `b`: a link must read before it writes.
                    for i in 0..4 {
                        let ty = if i % 2 == 0 { Type::U32 } else { Type::S32 };
                        words.link(f, ty, 4 + i, [i, 4 + i, 0], [i > 0, i < 3]);
                    }
                    assert_eq!(words.narrow(4), expected, "{f:?} {a:x} {b:x}");
                    for i in 0..2 {
                        let ty = if i == 0 { Type::U64 } else { Type::S64 };
                        words.link(f, ty, 4 + i, [i, 2 + i, 0], [i > 0, i < 1]);
                    }
                    assert_eq!(words.wide(4), expected, "{f:?} {a:x} {b:x}");
                    assert!(words.registers.narrow[4][8] == 0, "another lane changed");
                }
            }
        }
    }

    /// 64 by 64 bits in 32-bit words, as on machines without `mul.wide`.
    #[test]
    fn a_long_product_by_columns() {
        for a in [0, 1, 0xffff_ffff, 0x1_0000_0001, u64::MAX, 0xdead_beef_0bad_f00d] {
            for b in [0, 1, 0xffff_ffff, 0x8000_0000_0000_0000, u64::MAX, 0x1234_5678_9abc_def0] {
                use CarryFn::{MadHi, MadLo};
                let mut words = Words::new();
                words.put(0, a.into());
                words.put(4, b.into());
                let mut column = |f, d, a, b, chain| words.link(f, Type::U32, d, [a, b, d], chain);
                column(MadLo, 8, 0, 4, [false, false]);
                column(MadHi, 9, 0, 4, [false, false]);
                column(MadLo, 9, 0, 5, [false, true]);
                column(MadHi, 10, 0, 5, [true, false]);
                column(MadLo, 9, 1, 4, [false, true]);
                column(MadHi, 10, 1, 4, [true, true]);
                column(MadHi, 11, 2, 2, [true, false]);
                column(MadLo, 10, 1, 5, [false, true]);
                column(MadHi, 11, 1, 5, [true, false]);
                assert_eq!(words.narrow(8), u128::from(a) * u128::from(b), "{a:x} {b:x}");
            }
        }
    }

    #[test]
    fn the_carry_of_a_product_is_that_of_its_sum() {
        let mut words = Words::new();
        words.put(0, 0xffff_ffff << 32 | 0xffff_ffff);
        words.put(4, u128::MAX);
        // -1 * -1: the high half is 0 signed and 0xfffffffe unsigned.
        for (ty, value, carries) in [(Type::S32, 0, true), (Type::U32, 0xffff_fffe, true)] {
            words.registers.predicates[0] = 1 << 9;
            words.link(CarryFn::MadHi, ty, 8, [0, 1, 4], [true, true]);
            assert_eq!(
                (words.registers.narrow[8][9], words.registers.predicates[0] == 1 << 9),
                (value, carries)
            );
        }
        words.link(CarryFn::MadHi, Type::S32, 8, [0, 1, 4], [false, true]);
        assert_eq!((words.registers.narrow[8][9], words.registers.predicates[0]), (u32::MAX, 0));
    }
}
