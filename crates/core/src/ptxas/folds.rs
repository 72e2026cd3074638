//! Peephole folds: instructions whose work a neighbour does for free.
//!
//! Each [`Fold`] is one pattern, observed in sm_75, sm_80 and sm_90 machine code of the kernels in
//! programs/cuda. `x -> y` means that every use of x's result is a y. A folded instruction cannot
//! absorb another one, except where the pattern says "each".
//!
//! - `Moves`: `mov` of a constant, or of a register that is written once. Loop variables are
//!   written twice and keep their moves.
//! - `LaunchConstants`: `mov` of `%ntid` or `%nctaid`, an operand c[0][..].
//! - `MulWideAdd`: `mul.wide` -> 64-bit adds. Each add costs what the product did (IMAD.WIDE), and
//!   the product is free.
//! - `ShiftAdd`: `shl` by a constant -> 32-bit adds. The adds become LEAs.
//! - `MulAdd`: `mul.lo` -> one 32-bit add.
//! - `AddAdd`, `Logic`: two in a row, the first -> the second: IADD3, LOP3.
//! - `AddressOffset`: an add of a constant -> addresses of loads and stores. The constant moves
//!   into the access.
//! - `CallSlots`: `ld.param` and `st.param` of a device function's parameters and of a call's
//!   arguments and results. Values are computed in the registers where the callee expects them. (If
//!   ptxas has to move them after all, the count is too low.)

use std::collections::BTreeSet;

use super::is;
use super::values::Values;
use crate::isa::Type;
use crate::kernel::{
    Address, AddressBase, Inst, Kernel, LaneFn, LaneOp, Op, Register, Row, Special,
};
use crate::spec::Fold;

/// Sets the counts of folded instructions to 0.
pub(super) fn apply(kernel: &Kernel, folds: &[Fold], counts: &mut [u32]) {
    let mut peephole =
        Peephole { kernel, values: Values::new(kernel), counts, absorbed: BTreeSet::new() };
    // Folds apply in the order of the type, not of the file: products absorb adds before adds
    // absorb each other.
    let ordered: BTreeSet<Fold> = folds.iter().copied().collect();
    for fold in ordered {
        for i in 0..kernel.insts.len() {
            if kernel.insts[i].guard.is_none() && peephole.counts[i] > 0 {
                peephole.fold(fold, i);
            }
        }
    }
}

struct Peephole<'a> {
    kernel: &'a Kernel,
    values: Values<'a>,
    counts: &'a mut [u32],
    /// Instructions that have absorbed a neighbour.
    absorbed: BTreeSet<usize>,
}

impl Peephole<'_> {
    fn inst(&self, i: usize) -> &Inst {
        &self.kernel.insts[i]
    }

    fn lane(&self, i: usize) -> Option<&LaneOp> {
        match &self.inst(i).op {
            Op::Lane(op) => Some(op),
            _ => None,
        }
    }

    fn is_constant(&self, row: Row, ty: Type) -> bool {
        let registers = &self.kernel.registers;
        match ty.is_wide() {
            true => registers.wide_constants.iter().any(|(r, _)| *r == row),
            false => registers.narrow_constants.iter().any(|(r, _)| *r == row),
        }
    }

    fn special(&self, row: Row) -> Option<Special> {
        self.kernel.registers.specials.iter().find(|(r, _)| *r == row).map(|&(_, s)| s)
    }

    /// Returns the instructions that use the result of `i`; `None` if none or unknown.
    fn users(&self, i: usize) -> Option<Vec<usize>> {
        let &[result] = self.inst(i).writes.as_slice() else { return None };
        self.values.uses(result, i).filter(|users| !users.is_empty())
    }

    /// Returns true if the instruction is a 32-bit integer add.
    fn is_narrow_add(&self, i: usize) -> bool {
        is(self.inst(i), LaneFn::Add { sat: false })
            && self.lane(i).is_some_and(|op| !op.ty.is_wide())
    }

    fn is_wide_add(&self, i: usize) -> bool {
        is(self.inst(i), LaneFn::Add { sat: false })
            && self.lane(i).is_some_and(|op| op.ty.is_wide())
    }

    fn is_logic(&self, i: usize) -> bool {
        self.lane(i).is_some_and(|op| {
            !op.ty.is_wide() && matches!(op.f, LaneFn::And | LaneFn::Or | LaneFn::Xor)
        })
    }

    fn fold(&mut self, fold: Fold, i: usize) {
        match fold {
            Fold::CallSlots => {
                if matches!(self.inst(i).op, Op::ReadSlot(_) | Op::WriteSlot(_)) {
                    self.counts[i] = 0;
                }
            }
            Fold::Moves => {
                if self.is_alias(i) {
                    self.counts[i] = 0;
                }
            }
            Fold::LaunchConstants => {
                let Some(&LaneOp { f: LaneFn::Mov, s: [row, ..], .. }) = self.lane(i) else {
                    return;
                };
                if matches!(self.special(row), Some(Special::Ntid(_) | Special::Nctaid(_)))
                    && self.has_known_users(i)
                {
                    self.counts[i] = 0;
                }
            }
            Fold::MulWideAdd => {
                if !is(self.inst(i), LaneFn::MulWide) {
                    return;
                }
                let Some(adds) = self.users(i).filter(|u| u.iter().all(|&u| self.is_wide_add(u)))
                else {
                    return;
                };
                for add in adds {
                    self.counts[add] = self.counts[i];
                }
                self.counts[i] = 0;
            }
            Fold::ShiftAdd => {
                let Some(&LaneOp { f: LaneFn::Shl, ty, s: [_, by, ..], .. }) = self.lane(i) else {
                    return;
                };
                let Some(adds) = self.users(i) else { return };
                if !ty.is_wide()
                    && self.is_constant(by, Type::U32)
                    && adds.iter().all(|&a| self.is_narrow_add(a))
                {
                    self.counts[i] = 0;
                    self.absorbed.extend(adds);
                }
            }
            Fold::MulAdd => {
                let narrow =
                    self.lane(i).is_some_and(|op| op.f == LaneFn::MulLo && !op.ty.is_wide());
                self.fold_in(i, narrow, Peephole::is_narrow_add);
            }
            Fold::AddAdd => self.fold_in(i, self.is_narrow_add(i), Peephole::is_narrow_add),
            Fold::Logic => self.fold_in(i, self.is_logic(i), Peephole::is_logic),
            Fold::AddressOffset => {
                let Some(&LaneOp { f: LaneFn::Add { sat: false }, ty, s: [a, b, ..], .. }) =
                    self.lane(i)
                else {
                    return;
                };
                let constant = self.is_constant(a, ty) || self.is_constant(b, ty);
                let &[result] = self.inst(i).writes.as_slice() else { return };
                let Some(users) = self.users(i).filter(|_| constant) else { return };
                if users.iter().all(|&u| only_address(self.inst(u), result)) {
                    self.counts[i] = 0;
                }
            }
        }
    }

    /// Folds `i` into its only user, if that can absorb it.
    fn fold_in(&mut self, i: usize, fits: bool, takes: fn(&Self, usize) -> bool) {
        if !fits || self.absorbed.contains(&i) {
            return;
        }
        if let Some(&[user]) = self.users(i).as_deref()
            && takes(self, user)
            && self.counts[user] > 0
            && self.absorbed.insert(user)
        {
            self.counts[i] = 0;
        }
    }

    /// Returns true if all users of the instruction's result are known.
    fn has_known_users(&self, i: usize) -> bool {
        self.users(i).is_some()
    }

    /// Returns true if the instruction only copies a value that does not change.
    fn is_alias(&self, i: usize) -> bool {
        let Some(&LaneOp { f: LaneFn::Mov, ty, s: [from, ..], .. }) = self.lane(i) else {
            return false;
        };
        if !ty.is_wide() && self.special(from).is_some() {
            return false;
        }
        let register = if ty.is_wide() { Register::Wide(from) } else { Register::Narrow(from) };
        (self.is_constant(from, ty) || self.values.is_written_once(register))
            && self.has_known_users(i)
    }
}

/// Returns true if the instruction reads `register` only as an address.
fn only_address(inst: &Inst, register: Register) -> bool {
    let based = |address: &Address| match address.base {
        AddressBase::Zero | AddressBase::Native(_) => false,
        AddressBase::Narrow(row) => register == Register::Narrow(row),
        AddressBase::Wide(row) => register == Register::Wide(row),
    };
    match &inst.op {
        Op::Load(load) => based(&load.address),
        Op::Store(store) => {
            let stored = |row: &Row| {
                register
                    == if store.access.wide { Register::Wide(*row) } else { Register::Narrow(*row) }
            };
            let count = usize::from(store.access.count).min(store.s.len());
            based(&store.address) && !store.s[..count].iter().any(stored)
        }
        _ => false,
    }
}
