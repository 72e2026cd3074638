//! What a result must be: exact bits, or what PTX leaves open.

use simt_core::isa::Type;

use super::exact::{Format, Number};

/// What one result of one lane must be.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Expected {
    /// These bits, zero-extended.
    Bits(u64),
    /// A NaN of the type; PTX does not say which.
    Nan(Type),
    /// A number of the type at most `error` away from `value`.
    Near {
        /// The type of the result.
        ty: Type,
        /// The value in double precision.
        value: f64,
        /// The bound.
        error: f64,
    },
    /// Two results of 16 bits in one register, the low one first.
    Halves(Box<[Expected; 2]>),
    /// PTX says nothing, or the row's bound does not reach here.
    Open,
}

impl Expected {
    /// A predicate, as the programs store it.
    pub(crate) fn truth(holds: bool) -> Expected {
        Expected::Bits(holds.into())
    }

    /// Whether `found` is such a result.
    pub(crate) fn admits(&self, found: u64) -> bool {
        match self {
            Expected::Bits(bits) => *bits == found,
            Expected::Nan(ty) => Format::of(*ty).decode(found) == Number::Nan,
            Expected::Near { ty, value, error } => {
                let found = Format::of(*ty).double(found);
                found == *value || (found - value).abs() <= *error
            }
            Expected::Halves(halves) => halves[0].admits(found & 0xffff) && halves[1].admits(found >> 16),
            Expected::Open => true,
        }
    }
}
