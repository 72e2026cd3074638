//! Tolerance between a simulated and an observed buffer.

use simt_core::isa::{Agreement, Type};
use simt_core::kernel::Kernel;
use simt_core::oracle::{self, FirstDifference};
use std::fmt;

/// Widest tolerance of the ISA rows that a program uses. An error of one instruction may reach any
/// buffer.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Tolerance {
    /// Units in the last place.
    pub ulps: u64,
    /// Largest absolute error, as a power of two.
    pub absolute: Option<i32>,
}

impl Tolerance {
    /// Widest tolerance of a kernel's instructions.
    pub fn of(kernel: &Kernel) -> Tolerance {
        kernel.insts.iter().filter_map(|inst| kernel.row(inst)).fold(
            Tolerance::default(),
            |t, row| {
                let wider = |power: i32| Some(t.absolute.map_or(power, |m| m.max(power)));
                match row.agreement {
                    Agreement::Exact => t,
                    Agreement::MaxUlp(n) => Tolerance { ulps: t.ulps.max(n), ..t },
                    Agreement::MaxAbsolute(power) => Tolerance { absolute: wider(power), ..t },
                    Agreement::MaxUlpOrAbsolute(n, power) => {
                        Tolerance { ulps: t.ulps.max(n), absolute: wider(power) }
                    }
                }
            },
        )
    }

    /// Returns true without any tolerance. All elements must agree bit by bit, NaNs included.
    pub fn is_exact(&self) -> bool {
        *self == Tolerance::default()
    }

    /// Returns true if two elements agree.
    pub(super) fn holds(&self, difference: &FirstDifference, element: Type) -> bool {
        let (Some(expected), Some(actual)) = (difference.expected, difference.actual) else {
            return false;
        };
        if expected == actual {
            return true;
        }
        if self.is_exact() {
            return false;
        }
        let near = |power: i32| match element {
            Type::F32 => {
                let of = |bits: u64| f64::from(f32::from_bits(bits as u32));
                (of(expected) - of(actual)).abs() <= f64::from(power).exp2()
            }
            Type::F64 => {
                (f64::from_bits(expected) - f64::from_bits(actual)).abs() <= f64::from(power).exp2()
            }
            _ => false,
        };
        if oracle::is_nan(expected, element) && oracle::is_nan(actual, element) {
            return true;
        }
        oracle::ulps_apart(expected, actual, element).is_some_and(|n| n <= self.ulps)
            || self.absolute.is_some_and(near)
    }
}

impl fmt::Display for Tolerance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.ulps, self.absolute) {
            (0, None) => f.write_str("bit by bit"),
            (n, None) => write!(f, "within {n} ulp"),
            (0, Some(power)) => write!(f, "within 2^{power}"),
            (n, Some(power)) => write!(f, "within {n} ulp or 2^{power}"),
        }
    }
}
