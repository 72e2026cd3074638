//! From tokens to the syntax tree, with every fault reported once.
//!
//! A recursive-descent parser over the token list. A function that parses a piece returns [`Parsed`]: on a fault it has
//! pushed exactly one diagnostic and returns `Err(Reported)`, and the nearest statement, parameter or item recovers.
//! Recovery points are `;`, labels, `}`, statements at the start of a line and the starts of items, so that a fault
//! costs the statement it stands in and nothing else.
//!
//! Where a word stands decides what it is: at the start of a statement a dotted word is a mnemonic, or a label when `:`
//! follows; among operands it is a name, dots included (`%tid.x`). `(` opens an argument list in `call` and an
//! expression elsewhere, `{` opens a scope at the start of a statement and a vector among operands.
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

/// The deepest nesting of scopes, lists and parentheses that is read.
const MOST_NESTED: u32 = 256;

/// A diagnostic has been pushed; the caller recovers.
#[derive(Debug)]
struct Reported;

type Parsed<T> = Result<T, Reported>;

struct Parser<'a> {
    text: &'a str,
    tokens: Vec<Token>,
    /// Index of the next token; never past the end token.
    at: usize,
    diagnostics: Vec<Diagnostic>,
    /// How many errors are among those of the parser itself.
    errors: usize,
    /// Braces open around the next token.
    open: Vec<Span>,
    /// Braces of vectors and initialisers open inside the current statement.
    lists: usize,
    /// Nesting of scopes, expressions and lists.
    depth: u32,
    module: Module,
}

/// Parses lexed text. The diagnostics are the lexer's and the parser's, not yet ordered.
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
