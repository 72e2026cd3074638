//! Printer of operands and initialisers.

use crate::ptx::tree::{Init, Operand};
use std::fmt::{self, Display, Formatter};

/// Joins the items with `, `.
pub(super) fn joined<T: Display>(items: impl IntoIterator<Item = T>) -> String {
    let mut text = String::new();
    for item in items {
        if !text.is_empty() {
            text.push_str(", ");
        }
        text.push_str(&item.to_string());
    }
    text
}

impl Display for Operand {
    /// Prints the operand as canonical PTX.
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Operand::Name(name) => f.write_str(&name.text),
            // Small unsigned numbers need the suffix; large ones are unsigned by their size.
            Operand::Int { value: value @ 0.., unsigned: true, .. } => write!(f, "{value}U"),
            Operand::Int { value, unsigned: true, .. } => write!(f, "0x{value:x}"),
            // A literal 2^63 would be unsigned.
            Operand::Int { value: i64::MIN, .. } => write!(f, "{}-1", i64::MIN + 1),
            Operand::Int { value, .. } => write!(f, "{value}"),
            Operand::Double { bits, .. } => write!(f, "0d{bits:016X}"),
            Operand::Single { bits, .. } => write!(f, "0f{bits:08X}"),
            Operand::Address { base: Some(base), offset: 0, .. } => write!(f, "[{}]", base.text),
            // nvcc writes a plus before the minus.
            Operand::Address { base: Some(base), offset, .. } => {
                write!(f, "[{}+{offset}]", base.text)
            }
            Operand::Address { base: None, offset, .. } => write!(f, "[{offset}]"),
            Operand::Symbol { name, offset, .. } => write!(f, "{}{offset:+}", name.text),
            Operand::Element { name, index, .. } => write!(f, "{}[{index}]", name.text),
            Operand::Not(name, _) => write!(f, "!{}", name.text),
            Operand::Vector(list, _) => write!(f, "{{{}}}", joined(list)),
            Operand::Pair(p, q, _) => write!(f, "{}|{}", p.text, q.text),
            Operand::Coordinates(list, _) => write!(f, "[{}]", joined(list)),
            Operand::List(list, _) => write!(f, "({})", joined(list)),
        }
    }
}

impl Display for Init {
    /// Prints the initialiser as canonical PTX.
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Init::Value(operand) => operand.fmt(f),
            Init::Generic(Operand::Symbol { name, offset, .. }) => {
                write!(f, "generic({}){offset:+}", name.text)
            }
            Init::Generic(operand) => write!(f, "generic({operand})"),
            Init::List(list) => write!(f, "{{{}}}", joined(list)),
        }
    }
}
