//! The instruction set: one row per instruction form, in `isa/ptx.ron`.

mod class;
mod types;

pub use class::{Class, Unit};
pub use types::{BoolOp, Compare, FloatMode, Round, Space, Type};
