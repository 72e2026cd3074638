//! From characters to a syntax tree and back: lexer, parser, printer.
//!
//! Modelled: the grammar of PTX (PTX ISA, chapters 4, 5.4, 11), with every span kept, and recovery from faults so that
//! one reading reports them all. Not modelled: the meaning of any instruction, type or directive, and of the grammar
//! textures, call prototypes and branch-target lists; they are diagnosed as unsupported, never misread.

mod lexer;
mod locations;
mod parser;
mod printer;
mod spans;
pub mod tree;

#[cfg(test)]
mod tests;

use crate::diag::{Diagnostic, Span, first_of_many};

pub use locations::{Location, Locations};
pub use printer::print;
pub use spans::{each_span, same, strip_spans};

/// Parses a file. Never fails: returns the tree of what could be understood, and every error, ordered by place.
///
/// A tree that came with errors is incomplete (faulty statements are left out), so judging it further would report
/// consequences of what is already reported: check [`crate::diag::has_errors`] first.
pub fn parse(text: &str) -> (tree::Module, Vec<Diagnostic>) {
    if u32::try_from(text.len()).is_err() {
        let error = Diagnostic::error("file-too-large", Span::default(), "the file is larger than 4 GiB");
        return (tree::Module::default(), vec![error]);
    }
    let lexed = lexer::lex(text);
    let (module, mut diagnostics) = parser::parse(text, lexed);
    diagnostics.sort_by_key(|d| d.labels.first().map(|l| l.span.start));
    (module, first_of_many(diagnostics))
}
