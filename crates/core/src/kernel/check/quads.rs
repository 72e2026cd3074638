//! Registers of 128 bits: pairs of registers of 64.
//!
//! `.reg .b128 %q;` declares the halves `%q.lo` and `%q.hi`, which no text can name. A load, store
//! or exchange of 128 bits has them in braces; a move is one of each half.

use crate::ptx::tree::{Instruction, Name, Operand};

/// Suffixes of the halves' names, the lower half first.
pub(super) const HALVES: [&str; 2] = [".lo", ".hi"];

/// Splits the name of a half into the register's and the suffix.
pub(super) fn parts_of(name: &str) -> (&str, &str) {
    let suffix = HALVES.into_iter().find(|suffix| name.ends_with(suffix)).unwrap_or("");
    (name.strip_suffix(suffix).unwrap_or(name), suffix)
}

/// Returns the instructions on halves that an instruction on 128 bits stands for.
///
/// `None` for an instruction on other types.
pub(super) fn on_halves(inst: &Instruction) -> Option<Vec<Instruction>> {
    let mut words = inst.mnemonic.text.split('.');
    let opcode = words.next()?;
    if !words.any(|word| word == "b128") {
        return None;
    }
    match (opcode, &inst.operands[..]) {
        ("mov", [d, a]) => {
            let (d, a) = (halves(d)?, halves(a)?);
            let of = |half: usize| Instruction {
                operands: vec![d[half].clone(), a[half].clone()],
                ..inst.clone()
            };
            let sink = |half: usize| matches!(&d[half], Operand::Name(name) if name.text == "_");
            Some((0..2).filter(|&half| !sink(half)).map(of).collect())
        }
        ("ld" | "ldu" | "st" | "atom", operands) => {
            let mut inst = inst.clone();
            // A cache policy comes last and is a register of 64 bits.
            let hint = inst.mnemonic.text.split('.').any(|word| word == "L2::cache_hint");
            let data = operands.len() - usize::from(hint && operands.len() > 2);
            for operand in &mut inst.operands[..data] {
                if let Operand::Name(name) = operand {
                    let span = name.span;
                    let pair = halves(operand)?;
                    *operand = Operand::Vector(pair.into(), span);
                }
            }
            Some(vec![inst])
        }
        _ => None,
    }
}

/// Returns the halves of a register, or the two parts in braces.
fn halves(operand: &Operand) -> Option<[Operand; 2]> {
    match operand {
        Operand::Name(name) if name.text == "_" => Some([operand.clone(), operand.clone()]),
        Operand::Name(name) => Some(HALVES.map(|suffix| {
            Operand::Name(Name { text: format!("{}{suffix}", name.text), span: name.span })
        })),
        Operand::Vector(parts, _) => parts.clone().try_into().ok(),
        _ => None,
    }
}
