//! Generated programs on a real GPU. The generator and the laws that its programs obey are the
//! core's tests (`crates/core/tests/model`).

mod compiled;
mod device;
#[path = "../../crates/core/tests/model/generator/mod.rs"]
mod generator;

pub(crate) use generator::{Program, any_program, program_in_parts, program_with_copies};
