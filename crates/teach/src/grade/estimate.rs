//! Host memory that a program would need, estimated from its text before anything is allocated.
//!
//! An upper bound for variables, frames and registers declared in the text. The assignment declares
//! the buffers. Lexer and parser use memory in proportion to the length of the text, which has its
//! own limit.

use simt_core::ptx::tree::{Item, Module, Registers, Statement, Variable};

/// Host bytes for `threads` threads. Counts module variables, and local memory and registers of
/// each thread.
pub fn footprint(module: &Module, threads: u64) -> u64 {
    let mut sum = Sum::default();
    for item in &module.items {
        match item {
            Item::Variable(variable) => sum.variable(variable),
            Item::Function(function) => {
                function
                    .params
                    .iter()
                    .chain(&function.returns)
                    .for_each(|variable| sum.variable(variable));
                function.body.iter().for_each(|body| sum.statements(body));
            }
            Item::Alias(_) => {}
        }
    }
    sum.shared.saturating_add(sum.each.saturating_mul(threads))
}

/// Bytes per register name while a program is checked.
const BYTES_OF_A_NAME: u64 = 128;

/// Bytes allocated once, and bytes per thread.
#[derive(Default)]
struct Sum {
    shared: u64,
    each: u64,
}

impl Sum {
    fn statements(&mut self, statements: &[Statement]) {
        for statement in statements {
            match statement {
                Statement::Registers(registers) => {
                    let count = names(registers);
                    let bytes = count.saturating_mul(bytes_of(&registers.ty.text));
                    self.each =
                        self.each.saturating_add(bytes.saturating_mul(u64::from(registers.vector)));
                    self.shared = self.shared.saturating_add(count.saturating_mul(BYTES_OF_A_NAME));
                }
                Statement::Variable(variable) => self.variable(variable),
                Statement::Block(inner, _) => self.statements(inner),
                _ => {}
            }
        }
    }

    fn variable(&mut self, variable: &Variable) {
        let elements =
            variable.dims.iter().fold(1u64, |all, dim| all.saturating_mul(dim.unwrap_or(1)));
        let bytes = elements
            .saturating_mul(u64::from(variable.vector))
            .saturating_mul(bytes_of(&variable.ty.text));
        let place = if variable.space.text == "local" { &mut self.each } else { &mut self.shared };
        *place = place.saturating_add(bytes);
    }
}

/// Bytes of an element, from the digits of its type name; 8 if there are none.
fn bytes_of(ty: &str) -> u64 {
    let digits: String = ty.chars().filter(char::is_ascii_digit).take(3).collect();
    digits.parse::<u64>().map_or(8, |bits| (bits / 8).clamp(1, 16))
}

fn names(registers: &Registers) -> u64 {
    registers
        .names
        .iter()
        .fold(0u64, |all, (_, count)| all.saturating_add(u64::from(count.unwrap_or(1))))
}
