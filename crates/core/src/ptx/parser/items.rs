//! Parser of top-level items (PTX ISA 11.1, 11.5, 11.6).

use super::{Parsed, Parser, Reported};
use crate::diag::{Diagnostic, closest};
use crate::ptx::lexer::TokenKind;
use crate::ptx::tree::{Alias, FunctionKind, Item, Name};

/// Directives that start an item.
const ITEMS: [&str; 16] = [
    "alias",
    "version",
    "target",
    "address_size",
    "file",
    "section",
    "pragma",
    "entry",
    "func",
    "visible",
    "extern",
    "weak",
    "common",
    "global",
    "const",
    "shared",
];

/// Unsupported PTX directives.
const UNSUPPORTED: [&str; 2] = ["tex", "sreg"];

fn function_kind(word: &str) -> Option<FunctionKind> {
    match word {
        "entry" => Some(FunctionKind::Entry),
        "func" => Some(FunctionKind::Func),
        _ => None,
    }
}

impl Parser<'_> {
    /// Parses the complete file.
    pub(super) fn items(&mut self) {
        while !self.at_end() {
            let before = self.at;
            self.lists = 0;
            if self.item().is_err() {
                self.skip_statement(before);
                // Without progress the loop would not end.
                if self.at == before {
                    self.bump();
                }
            }
        }
    }

    fn item(&mut self) -> Parsed<()> {
        let start = self.peek().span;
        match self.kind() {
            TokenKind::Semicolon => {
                self.bump();
                return Ok(());
            }
            TokenKind::Directive => {}
            _ => {
                self.stray();
                return Ok(());
            }
        }
        match self.directive() {
            "version" => self.header_line(Self::version),
            "target" => self.header_line(Self::target),
            "address_size" => self.header_line(Self::address_size),
            "file" => self.header_line(Self::file),
            "section" => self.section()?,
            "pragma" => self.ignored_pragma(),
            "alias" => {
                self.bump();
                let name = self.identifier("function name")?;
                self.expect(TokenKind::Comma, "missing-comma", "`,`", "between the two names")?;
                let target = self.identifier("function name")?;
                self.end_statement()?;
                self.module.items.push(Item::Alias(Alias {
                    name,
                    target,
                    span: self.since(start),
                }));
            }
            "visible" | "extern" | "weak" | "common" | "entry" | "func" | "global" | "const"
            | "shared" | "local" => {
                let linkage = self.linkage();
                match self.function_kind() {
                    Some(kind) => self.function(kind, linkage, start),
                    None => {
                        let variables = self.variables(linkage, start)?;
                        self.module.items.extend(variables.into_iter().map(Item::Variable));
                    }
                }
            }
            "reg" | "param" | "loc" => self.stray(),
            word if UNSUPPORTED.contains(&word) => {
                let error = Diagnostic::error(
                    "unsupported-directive",
                    start,
                    format!("`.{word}` is not supported"),
                );
                return Err(self.report(error));
            }
            _ => match self.function_kind() {
                Some(kind) => self.function(kind, Vec::new(), start),
                None => self.unknown_item(),
            },
        }
        Ok(())
    }

    /// Returns the kind of function that starts here; reports a misspelt directive.
    fn function_kind(&mut self) -> Option<FunctionKind> {
        let word = self.directive();
        if !ITEMS.contains(&word) {
            let guess = closest(word, ITEMS);
            if matches!(guess, Some("entry" | "func")) {
                self.unknown_directive(ITEMS, "at the top level");
            }
            return function_kind(guess?);
        }
        function_kind(word)
    }

    /// Reports and skips a directive that is not a top-level item.
    fn unknown_item(&mut self) {
        self.unknown_directive(ITEMS, "at the top level");
        self.bump();
        // `.vizible .entry`: the rest is valid.
        if ITEMS.contains(&self.directive()) {
            return;
        }
        // `.vershun 9.0`, `.glubal .u32 x;`, `.thing { .. }`: skip the rest as well.
        while !self.peek().after_newline && !self.at_end() && self.kind() != TokenKind::OpenBrace {
            if self.bump().kind == TokenKind::Semicolon {
                return;
            }
        }
        if self.kind() == TokenKind::OpenBrace {
            self.skip_braces();
        }
    }

    /// Parses a header line, which has no `;`. An error skips to the end of the line.
    fn header_line(&mut self, parse: fn(&mut Self) -> Parsed<()>) {
        let start = self.at;
        if parse(self).is_err() {
            while !(self.at_end() || self.peek().after_newline && self.at > start) {
                self.bump();
            }
        }
    }

    /// Reports code outside of a function and skips to the next item.
    fn stray(&mut self) {
        let token = self.peek();
        let found = self.describe(token);
        if token.kind != TokenKind::Bad {
            let error = match token.kind {
                TokenKind::CloseBrace => {
                    Diagnostic::error("unmatched-brace", token.span, "unexpected closing brace `}`")
                        .help("remove it, or add the missing `{` above")
                }
                _ => {
                    let message = format!("{found} outside of a function");
                    let error = Diagnostic::error("outside-function", token.span, message);
                    let last_brace = self.at.checked_sub(1).and_then(|i| self.tokens.get(i));
                    match last_brace.filter(|t| t.kind == TokenKind::CloseBrace) {
                        Some(brace) => error
                            .also(brace.span, "the function ends here")
                            .help("remove this `}` if it closes the function too early"),
                        None => error.help("put it into a kernel: `.visible .entry name() { .. }`"),
                    }
                }
            };
            self.report(error);
        }
        self.bump();
        self.skip_to_item();
    }

    /// Parses `.version 9.0`.
    fn version(&mut self) -> Parsed<()> {
        self.bump();
        let token = self.peek();
        let written = self.word();
        let parts =
            written.split_once('.').and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)));
        let (TokenKind::Double(_), Some(version)) = (token.kind, parts) else {
            return Err(self.missing_in_line("bad-version", "version such as `9.0`"));
        };
        self.bump();
        self.module.version = Some(version);
        Ok(())
    }

    /// Parses `.target sm_90, debug`.
    fn target(&mut self) -> Parsed<()> {
        self.bump();
        let mut words: Vec<Name> = Vec::new();
        loop {
            if self.kind() != TokenKind::Word || self.peek().after_newline && words.is_empty() {
                return Err(self.missing_in_line("bad-target", "target such as `sm_90`"));
            }
            let token = self.bump();
            words.push(self.name_of(token));
            if !self.eat(TokenKind::Comma) {
                break;
            }
        }
        self.module.target = words;
        Ok(())
    }

    /// Parses `.address_size 64`.
    fn address_size(&mut self) -> Parsed<()> {
        self.bump();
        match self.kind() {
            TokenKind::Int { value: value @ (32 | 64), .. } => {
                self.bump();
                self.module.address_size = Some(value as u32);
                Ok(())
            }
            _ => Err(self.missing_in_line("bad-address-size", "`32` or `64`")),
        }
    }

    fn missing_in_line(&mut self, code: &'static str, expected: &str) -> Reported {
        if self.peek().after_newline || self.at_end() {
            let error = Diagnostic::error(code, self.gap(), format!("expected {expected}"));
            return self.report(error.label("missing here"));
        }
        self.unexpected(code, expected)
    }

    /// Parses `.file 1 "name.cu"[, timestamp, size]`.
    fn file(&mut self) -> Parsed<()> {
        self.bump();
        let index = self.small_int("file index")?;
        let path = self.string("file name in quotes")?;
        while self.eat(TokenKind::Comma) {
            if !matches!(self.kind(), TokenKind::Int { .. }) {
                return Err(self.unexpected("missing-number", "number"));
            }
            self.bump();
        }
        self.module.files.push((index, path));
        Ok(())
    }

    /// Parses `.section .debug_str { .. }` as text, without comments.
    pub(super) fn section(&mut self) -> Parsed<()> {
        let first = self.at;
        let start = self.bump().span;
        if !matches!(self.kind(), TokenKind::Directive | TokenKind::Word) {
            return Err(self.unexpected("missing-name", "section name"));
        }
        self.bump();
        if self.kind() != TokenKind::OpenBrace {
            return Err(self.unexpected("missing-body", "`{` after section name"));
        }
        let open = self.peek().span;
        while !matches!(self.kind(), TokenKind::CloseBrace | TokenKind::End) && !self.starts_item()
        {
            self.bump();
        }
        if self.kind() != TokenKind::CloseBrace {
            self.open.push(open);
            self.unclosed_braces();
            return Ok(());
        }
        self.bump();
        let mut text = String::new();
        let mut end = start.start;
        for token in self.tokens.get(first..self.at).unwrap_or_default() {
            if token.after_newline && !text.is_empty() {
                text.push('\n');
            } else if token.span.start > end {
                text.push(' ');
            }
            text.push_str(self.slice(token.span));
            end = token.span.end;
        }
        self.module.sections.push(Name { text, span: self.since(start) });
        Ok(())
    }
}
