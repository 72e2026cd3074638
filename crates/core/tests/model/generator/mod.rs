//! Random structured programs. The tests of the command line include this folder by its path.

mod asynchronous;
mod collectives;
mod functions;
mod print;
mod program;
mod strategy;

pub(crate) use program::Program;
pub(crate) use strategy::{program as any_program, program_in_parts, program_with_copies};
