//! Buffers that are variables of the module: `//! buffer coef: f32[16] = ..` beside
//! `__constant__ float coef[16]`.

use super::Buffer;
use super::plan::BufferPlan;
use super::resolve::Signature;
use crate::diag::Diagnostic;
use crate::isa::{Space, Type};
use crate::kernel::{StaticVariable, plain_name};

impl<'a> Signature<'a> {
    /// Returns the variable of a name in the file or in the CUDA source.
    ///
    /// `None` if several have that name in the source.
    pub(super) fn variable(&self, name: &str) -> Option<&'a StaticVariable> {
        let exact = self.variables.iter().find(|v| v.name == name);
        let mut plain = self.variables.iter().filter(|v| plain_name(&v.name) == name);
        exact.or_else(|| plain.next().filter(|_| plain.next().is_none()))
    }
}

/// A buffer whose size is not that of its variable.
pub(super) fn other_size(plan: &BufferPlan, bytes: u64, variable: &StaticVariable) -> Diagnostic {
    let (name, size) = (&plan.name.text, variable.bytes.len() as u64);
    let message = format!("expected the {size} bytes of variable `{name}`, found {bytes} bytes");
    let (element, width) = (plan.element.name(), u64::from(plan.element.bytes()));
    let help = if size.is_multiple_of(width) {
        format!("write `{name}: {element}[{}]`, or choose another name", size / width)
    } else {
        format!("write `{name}: u8[{size}]`, or choose another name")
    };
    Diagnostic::error("wrong-length", plan.count.span(), message).help(help)
}

/// Returns a buffer for each `__device__` variable that no buffer stands for, so that its content
/// outlives a launch.
pub(super) fn kept_variables(buffers: &[Buffer], variables: &[StaticVariable]) -> Vec<Buffer> {
    let is_taken = |variable: &StaticVariable| {
        buffers.iter().any(|buffer| buffer.mapped && buffer.address == variable.address)
    };
    let kept = variables.iter().filter(|variable| {
        variable.space == Space::Global && !variable.bytes.is_empty() && !is_taken(variable)
    });
    let buffer = |variable: &StaticVariable| Buffer {
        name: variable.name.clone(),
        address: variable.address,
        bytes: variable.bytes.len() as u64,
        reach: variable.bytes.len() as u64,
        element: Type::B8,
        words: words_of(&variable.bytes),
        lent: None,
        unset: None,
        mapped: true,
        writable: true,
    };
    kept.map(buffer).collect()
}

/// Converts bytes to little-endian words, zero-filled to a whole word.
pub(super) fn words_of(bytes: &[u8]) -> Vec<u32> {
    let word = |chunk: &[u8]| chunk.iter().rev().fold(0, |word, &b| word << 8 | u32::from(b));
    bytes.chunks(4).map(word).collect()
}
