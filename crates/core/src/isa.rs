//! The instruction set: one row per instruction form, in `isa/ptx.ron`.
//!
//! A row says how a form is written, what its operands are, what it means ([`Sem`]), what a machine prices ([`Class`])
//! and how closely a GPU must agree. It never says how long anything takes: machine files price classes.
//! Source of forms and meanings: NVIDIA's PTX ISA manual; each row names its section there.

mod class;
mod form;
mod load;
mod lookup;
mod reference;
mod sem;
mod types;

pub use class::{Class, Unit};
pub use form::{Agreement, Form, FormMatch, Group, Isa, OperandForm, OperandKind, Slot, TypeRef};
pub use lookup::LookupError;
pub use sem::Sem;
pub use types::{BoolOp, Compare, FloatMode, Round, Space, Type};
