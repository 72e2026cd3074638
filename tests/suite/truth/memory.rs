//! Loads, stores and atomics, each thread in its own place, so that no result depends on an order.
pub(super) fn programs() -> Vec<(&'static str, String)> { vec![] }
