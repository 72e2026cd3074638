//! Tests of lexer, parser and printer.

mod faults;
mod laws;
mod programs;
mod trees;
