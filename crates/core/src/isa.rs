//! Instruction set: one row per instruction form, in `isa/ptx.ron`.
//!
//! A row has the syntax of a form, its operands, its meaning ([`Sem`]), its class ([`Class`]) and
//! the required agreement with a GPU. It has no latencies: machine files have them per class. Forms
//! and meanings follow NVIDIA's PTX ISA; each row names its section.

mod class;
mod form;
mod load;
mod lookup;
mod opcode;
mod reference;
mod sem;
mod types;

pub use class::{Class, Unit};
pub use form::{Agreement, Form, FormMatch, Group, Isa, OperandForm, OperandKind, Slot, TypeRef};
pub use lookup::LookupError;
pub use opcode::{ControlWord, Opcode, OpcodeGroup, Pipe, opcode, opcodes};
pub use sem::Sem;
pub use types::{BoolOp, Compare, FloatMode, Round, Space, Type};
