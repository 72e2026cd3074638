//! Parser of kernels and device functions (PTX ISA 11.2, 11.4).

use super::{Parsed, Parser};
use crate::diag::{Diagnostic, Span};
use crate::ptx::lexer::TokenKind;
use crate::ptx::tree::{Function, FunctionKind, Item, Name, Variable};

/// Performance-tuning directives, between the parameters and the body.
const PERFORMANCE: [&str; 13] = [
    "maxntid",
    "reqntid",
    "minnctapersm",
    "maxnctapersm",
    "maxnreg",
    "noreturn",
    "abi_preserve",
    "abi_preserve_control",
    "reqnctapercluster",
    "explicitcluster",
    "maxclusterrank",
    "blocksareclusters",
    "pragma",
];

struct Header {
    name: Name,
    returns: Vec<Variable>,
    params: Vec<Variable>,
    performance: Vec<(Name, Vec<u64>)>,
}

impl Parser<'_> {
    /// Parses a function from `.entry` or `.func` (or a misspelling of it).
    pub(super) fn function(&mut self, kind: FunctionKind, linkage: Vec<Name>, start: Span) {
        self.bump();
        let header = self.header(kind);
        if header.is_err() {
            self.skip_header();
        }
        let body = match self.kind() {
            TokenKind::OpenBrace => Some(self.scope()),
            TokenKind::Semicolon => {
                self.bump();
                None
            }
            _ => {
                // A missing body is not reported after a faulty header.
                if header.is_ok() {
                    let message = "expected `{` or `;` after function header";
                    let missing = Diagnostic::error("missing-body", self.gap(), message);
                    self.report(missing.label("missing here"));
                }
                None
            }
        };
        if let Ok(Header { name, returns, params, performance }) = header {
            let span = self.since(start);
            let function =
                Function { kind, linkage, name, returns, params, performance, body, span };
            self.module.items.push(Item::Function(function));
        }
    }

    fn header(&mut self, kind: FunctionKind) -> Parsed<Header> {
        if self.directive() == "attribute" {
            self.attribute()?;
        }
        let mut returns = Vec::new();
        if self.kind() == TokenKind::OpenParen && kind == FunctionKind::Func {
            returns = self.parameters();
        }
        let name = self.identifier("function name")?;
        let params =
            if self.kind() == TokenKind::OpenParen { self.parameters() } else { Vec::new() };
        let performance = self.performance();
        Ok(Header { name, returns, params, performance })
    }

    /// Parses `.maxntid 512, 1, 1 .noreturn ..`.
    pub(super) fn performance(&mut self) -> Vec<(Name, Vec<u64>)> {
        let mut list = Vec::new();
        while self.kind() == TokenKind::Directive && !self.starts_item() {
            let known = PERFORMANCE.contains(&self.directive());
            if !known {
                self.unknown_directive(PERFORMANCE, "between a function header and its body");
            }
            if self.directive() == "pragma" {
                self.ignored_pragma();
                continue;
            }
            let name = self.bump_directive();
            let mut numbers = Vec::new();
            while let TokenKind::Int { value, .. } = self.kind() {
                self.bump();
                numbers.push(value);
                if !self.eat(TokenKind::Comma) {
                    break;
                }
            }
            if known {
                list.push((name, numbers));
            }
        }
        list
    }

    /// Parses `.pragma "..";` outside of a body, and warns that it has no effect.
    pub(super) fn ignored_pragma(&mut self) {
        let start = self.bump().span;
        while self.kind() == TokenKind::Text {
            self.bump();
            self.eat(TokenKind::Comma);
        }
        self.eat(TokenKind::Semicolon);
        let span = self.since(start);
        let message = "`.pragma` outside of a function body has no effect";
        self.report(Diagnostic::warning("ignored-pragma", span, message));
    }

    /// Skips the rest of a faulty header, up to the body or the next item.
    fn skip_header(&mut self) {
        while !self.at_end() && !self.starts_item() {
            if matches!(self.kind(), TokenKind::OpenBrace | TokenKind::Semicolon) {
                return;
            }
            self.bump();
        }
    }
}
