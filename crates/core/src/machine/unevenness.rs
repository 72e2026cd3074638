//! Differences between the SMs of a GPU that start or end together.

use crate::base::SmId;

/// Returns how much later than on the first SM data arrive on an SM at a cold launch.
///
/// On an H200 the slowest SM of a launch is some hundred cycles late, the average one little: the
/// twelfth power of a fraction that takes every value below 1 once.
pub(super) fn lateness(sm: SmId, spread: u32) -> u32 {
    (f64::from(spread) * unevenness(sm).powi(12)) as u32
}

/// Returns a fraction below 1 that differs between SMs and takes every value once.
pub(super) fn unevenness(sm: SmId) -> f64 {
    const SMS: u32 = 132;
    f64::from(sm.0 % SMS * 61 % SMS) / f64::from(SMS)
}
