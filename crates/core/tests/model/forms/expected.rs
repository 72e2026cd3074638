//! Expected results: exact bits, or what PTX leaves open.

use simt_core::isa::Type;

use super::exact::{Format, Number};

/// Expected result of one lane.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Expected {
    /// These bits, zero-extended.
    Bits(u64),
    /// A NaN of the type; PTX leaves open which one.
    Nan(Type),
    /// A number of the type within `error` of `value`.
    Near {
        /// Type of the result.
        ty: Type,
        /// Value in double precision.
        value: f64,
        /// Bound.
        error: f64,
    },
    /// Two 16-bit results in one register, the low one first.
    Halves(Box<[Expected; 2]>),
    /// Unspecified by PTX, or outside the row's bound.
    Open,
}

impl Expected {
    /// Returns a predicate as the programs store it.
    pub(crate) fn truth(holds: bool) -> Expected {
        Expected::Bits(holds.into())
    }

    /// Returns true if `found` is an admissible result.
    pub(crate) fn admits(&self, found: u64) -> bool {
        match self {
            Expected::Bits(bits) => *bits == found,
            Expected::Nan(ty) => Format::of(*ty).decode(found) == Number::Nan,
            Expected::Near { ty, value, error } => {
                let found = Format::of(*ty).double(found);
                found == *value || (found - value).abs() <= *error
            }
            Expected::Halves(halves) => {
                halves[0].admits(found & 0xffff) && halves[1].admits(found >> 16)
            }
            Expected::Open => true,
        }
    }
}
