//! What a result must be: exact bits, or what PTX leaves open.

use simt_sim::isa::Type;

use super::exact::{Format, Number};

/// What one result of one lane must be.
#[derive(Clone, Copy, Debug, PartialEq)]
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
    /// PTX says nothing, or the row's bound does not reach here.
    Open,
}

impl Expected {
    /// A predicate, as the programs store it.
    pub(crate) fn truth(holds: bool) -> Expected {
        Expected::Bits(holds.into())
    }

    /// Whether `found` is such a result.
    pub(crate) fn admits(self, found: u64) -> bool {
        match self {
            Expected::Bits(bits) => bits == found,
            Expected::Nan(ty) => Format::of(ty).decode(found) == Number::Nan,
            Expected::Near { ty, value, error } => {
                let found = double(ty, found);
                found == value || (found - value).abs() <= error
            }
            Expected::Open => true,
        }
    }
}

/// The bits of an f32 or f64 as a double.
fn double(ty: Type, bits: u64) -> f64 {
    if ty == Type::F64 { f64::from_bits(bits) } else { f32::from_bits(bits as u32).into() }
}
