//! Allocation of register file rows.
//!
//! Registers, immediates, special registers and scratch values have rows. Equal immediates share a
//! row, as do equal special registers. Allocation never fails;
//! [`Rows::overflowed`] reports a kernel that needs more rows than a [`Row`] can number.

use crate::isa::Type;
use crate::kernel::{Predicate, PredicateUse, Register, Registers, Row, Special};
use std::collections::BTreeMap;

/// Rows allocated so far.
#[derive(Default)]
pub(super) struct Rows {
    narrow: u32,
    wide: u32,
    predicates: u32,
    narrow_constants: BTreeMap<u32, Row>,
    wide_constants: BTreeMap<u64, Row>,
    specials: BTreeMap<Special, Row>,
    condition_code: Option<Predicate>,
    always_false: Option<Predicate>,
}

/// Returns the next number, or 0 after an overflow.
fn next(counter: &mut u32) -> u16 {
    let number = u16::try_from(*counter).unwrap_or(0);
    *counter = counter.saturating_add(1);
    number
}

impl Rows {
    fn row(&mut self, wide: bool) -> Row {
        Row(next(if wide { &mut self.wide } else { &mut self.narrow }))
    }

    /// Allocates a predicate.
    pub(super) fn predicate(&mut self) -> Predicate {
        Predicate(next(&mut self.predicates))
    }

    /// Returns the condition code of carry chains, an unnamed predicate.
    pub(super) fn condition_code(&mut self) -> Predicate {
        if let Some(code) = self.condition_code {
            return code;
        }
        let code = self.predicate();
        self.condition_code = Some(code);
        code
    }

    /// Returns a constant predicate: one that is never written, or its complement.
    pub(super) fn truth(&mut self, value: bool) -> PredicateUse {
        let predicate = self.always_false.unwrap_or_else(|| self.predicate());
        self.always_false = Some(predicate);
        PredicateUse { predicate, negated: value }
    }

    /// Allocates a row for an unnamed value.
    pub(super) fn scratch(&mut self, wide: bool) -> (Row, Register) {
        let row = self.row(wide);
        (row, if wide { Register::Wide(row) } else { Register::Narrow(row) })
    }

    /// Allocates a declared register.
    pub(super) fn author(&mut self, ty: Type) -> Register {
        if ty == Type::Pred {
            return Register::Predicate(self.predicate());
        }
        self.scratch(ty.is_wide()).1
    }

    /// Returns the row that holds `bits` in every lane.
    pub(super) fn constant(&mut self, bits: u64, wide: bool) -> Row {
        if wide {
            if let Some(&row) = self.wide_constants.get(&bits) {
                return row;
            }
            let row = self.row(true);
            self.wide_constants.insert(bits, row);
            row
        } else {
            let bits = bits as u32;
            if let Some(&row) = self.narrow_constants.get(&bits) {
                return row;
            }
            let row = self.row(false);
            self.narrow_constants.insert(bits, row);
            row
        }
    }

    /// Returns the row of a special register.
    pub(super) fn special(&mut self, special: Special) -> Row {
        if let Some(&row) = self.specials.get(&special) {
            return row;
        }
        let row = self.row(false);
        self.specials.insert(special, row);
        row
    }

    /// Returns true if a kind of row ran out of numbers.
    pub(super) fn overflowed(&self) -> bool {
        [self.narrow, self.wide, self.predicates].into_iter().any(|n| n > u32::from(u16::MAX))
    }

    /// Returns the register file layout; `names` holds the declared registers.
    pub(super) fn finish(self, names: Vec<(String, Register, Type)>) -> Registers {
        let count = |n: u32| u16::try_from(n).unwrap_or(u16::MAX);
        Registers {
            narrow: count(self.narrow),
            wide: count(self.wide),
            predicates: count(self.predicates),
            narrow_constants: self
                .narrow_constants
                .into_iter()
                .map(|(bits, row)| (row, bits))
                .collect(),
            wide_constants: self
                .wide_constants
                .into_iter()
                .map(|(bits, row)| (row, bits))
                .collect(),
            specials: self.specials.into_iter().map(|(special, row)| (row, special)).collect(),
            frame_pointer: None,
            always_false: self.always_false,
            names,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_constants_share_a_row_and_every_row_is_someone_elses() {
        let mut rows = Rows::default();
        let five = rows.constant(5, false);
        assert_eq!(rows.constant(5, false), five);
        let tid = rows.special(Special::Tid(0));
        assert_eq!(rows.special(Special::Tid(0)), tid);
        let Register::Narrow(mine) = rows.author(Type::U16) else {
            panic!("16-bit values are narrow")
        };
        assert!(five != tid && tid != mine && five != mine);
        assert_eq!(rows.constant(5, true), Row(0), "wide rows are numbered apart");
        assert_eq!(rows.finish(Vec::new()).narrow, 3);
    }

    #[test]
    fn running_out_is_noticed() {
        let mut rows = Rows::default();
        for _ in 0..65_535 {
            rows.author(Type::B32);
        }
        assert!(!rows.overflowed());
        rows.author(Type::B32);
        assert!(rows.overflowed());
    }
}
