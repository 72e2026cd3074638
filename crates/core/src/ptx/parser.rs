//! Recursive-descent parser from tokens to the syntax tree.
//!
//! A parsing function returns [`Parsed`]. On an error it has pushed exactly one diagnostic and
//! returns `Err(Reported)`, and the enclosing statement, parameter or item recovers. Recovery
//! points are `;`, labels, `}`, statements at the start of a line and the starts of items, so that
//! an error costs only the statement that contains it.
//!
//! The position of a word decides its meaning. At the start of a statement a dotted word is a
//! mnemonic, or a label if `:` follows; among operands it is a name, including its dots (`%tid.x`).
//! `(` opens an argument list in `call` and an expression elsewhere. `{` opens a scope at the start
//! of a statement and a vector among operands.
//!
//! Nested text recurses, so its depth is limited to [`MOST_NESTED`].

mod cursor;
mod expressions;
mod functions;
mod items;
mod operands;
mod recovery;
mod statements;
mod variables;

use super::lexer::{Lexed, Token};
use super::tree::Module;
use crate::diag::{Diagnostic, Span};

/// Maximum nesting depth of scopes, lists and parentheses.
const MOST_NESTED: u32 = 256;

/// Error whose diagnostic has been pushed; the caller recovers.
#[derive(Debug)]
struct Reported;

type Parsed<T> = Result<T, Reported>;

struct Parser<'a> {
    text: &'a str,
    tokens: Vec<Token>,
    /// Index of the next token; never past the end token.
    at: usize,
    diagnostics: Vec<Diagnostic>,
    /// Number of errors reported by the parser, without those of the lexer.
    errors: usize,
    /// Open braces around the next token.
    open: Vec<Span>,
    /// Number of open vector and initialiser braces in the current statement.
    lists: usize,
    /// Nesting depth of scopes, expressions and lists.
    depth: u32,
    module: Module,
}

/// Parses lexed text. The diagnostics include those of the lexer and are unordered.
pub(super) fn parse(text: &str, lexed: Lexed) -> (Module, Vec<Diagnostic>) {
    let module = Module { directives: lexed.directives, ..Module::default() };
    let mut parser = Parser {
        text,
        tokens: lexed.tokens,
        at: 0,
        diagnostics: lexed.diagnostics,
        errors: 0,
        open: Vec::new(),
        lists: 0,
        depth: 0,
        module,
    };
    parser.items();
    (parser.module, parser.diagnostics)
}
