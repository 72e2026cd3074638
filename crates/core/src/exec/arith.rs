//! Arithmetic on scalars: pure functions, testable without a machine.

pub(super) mod approximate;
pub(super) mod bits;
pub(super) mod compare;
pub(super) mod convert;
pub(super) mod dot;
pub(super) mod exact;
pub(super) mod float;
pub(super) mod fp8;
pub(super) mod half;
pub(super) mod integer;
pub(super) mod mufu;
