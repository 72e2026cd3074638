//! Lexer, parser and printer of PTX text.
//!
//! Supports the grammar of PTX (PTX ISA, chapters 4, 5.4, 11), keeps every span, and recovers from
//! syntax errors so that one pass reports them all. Instructions, types and directives have no
//! meaning here. Textures are reported as unsupported.

mod lexer;
mod link;
mod locations;
mod parser;
mod printer;
mod spans;
pub mod tree;

#[cfg(test)]
mod tests;

use crate::diag::{Diagnostic, Span, first_of_many};

pub use link::{link, undefined};
pub use locations::{Location, Locations};
pub use printer::print;
pub use spans::{each_span, same, strip_spans};

/// Parses a file. Returns the syntax tree and all errors, in source order.
///
/// With errors, the tree lacks the faulty statements, and checking it would report consequential
/// errors: check [`crate::diag::has_errors`] first.
pub fn parse(text: &str) -> (tree::Module, Vec<Diagnostic>) {
    if u32::try_from(text.len()).is_err() {
        let error =
            Diagnostic::error("file-too-large", Span::default(), "the file is larger than 4 GiB");
        return (tree::Module::default(), vec![error]);
    }
    let lexed = lexer::lex(text);
    if let Some(error) = cuda_source(text, &lexed) {
        return (tree::Module::default(), vec![error]);
    }
    let (module, mut diagnostics) = parser::parse(text, lexed);
    diagnostics.sort_by_key(|d| d.labels.first().map(|l| l.span.start));
    (module, first_of_many(diagnostics))
}

/// Returns the `//!` lines of a text in another language, as the lexer reads them from PTX.
pub fn directives(text: &str) -> Vec<tree::Name> {
    let mut found = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        if let Some(after) = line.trim_start().strip_prefix("//!") {
            let from = start + line.len() - after.trim_start().len();
            let text = after.trim();
            let span = Span::new(from, from + text.len());
            found.push(tree::Name { text: text.to_owned(), span });
        }
        start += line.len();
    }
    found
}

/// Returns the `//!` lines before the first line of code.
///
/// CUDA C++ uses `//!` for documentation of functions, too.
pub fn leading_directives(text: &str) -> Vec<tree::Name> {
    let mut end = 0;
    for line in text.split_inclusive('\n') {
        if !(line.trim().is_empty() || line.trim_start().starts_with("//")) {
            break;
        }
        end += line.len();
    }
    directives(text.get(..end).unwrap_or_default())
}

/// Returns an error if the text is CUDA C++, instead of one error per line of it.
fn cuda_source(text: &str, lexed: &lexer::Lexed) -> Option<Diagnostic> {
    if !text.contains("__global__") {
        return None;
    }
    let slice = |span: Span| text.get(span.start as usize..span.end as usize);
    let word = lexed.tokens.iter().find(|token| slice(token.span) == Some("__global__"))?;
    let error = Diagnostic::error("cuda-source", word.span, "this is CUDA C++, not PTX");
    Some(error.help("give the file a name that ends in .cu, so that nvcc or NVRTC compiles it"))
}
