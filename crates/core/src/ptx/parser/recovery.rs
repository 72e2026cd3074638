//! Recovery after syntax errors.

use super::{Parsed, Parser};
use crate::diag::{Diagnostic, Span};
use crate::ptx::lexer::{Token, TokenKind};

/// Directives that start a statement in a function body.
pub(super) const BODY_DIRECTIVES: [&str; 8] =
    ["reg", "param", "shared", "local", "global", "const", "loc", "pragma"];

/// Mnemonics that often have no dot.
const BARE_MNEMONICS: [&str; 6] = ["ret", "exit", "trap", "brkpt", "bra", "call"];

/// Instructions without operands.
const TAKE_NOTHING: [&str; 5] = ["ret", "ret.uni", "exit", "trap", "brkpt"];

/// Returns true if a word is unlikely to be an operand.
///
/// Only recovery depends on it.
pub(super) fn looks_like_mnemonic(word: &str) -> bool {
    BARE_MNEMONICS.contains(&word)
        || word.contains('.') && word.starts_with(|c: char| c.is_ascii_lowercase())
}

impl Parser<'_> {
    /// Returns true if the next tokens start a function or another top-level item.
    pub(super) fn starts_item(&self) -> bool {
        let mut ahead = 0;
        loop {
            let token = self.ahead(ahead);
            if token.kind != TokenKind::Directive {
                return false;
            }
            match self.slice(token.span) {
                ".entry" | ".func" | ".version" | ".target" | ".address_size" | ".file" => {
                    return true;
                }
                ".visible" | ".extern" | ".weak" | ".common" => ahead += 1,
                _ => return false,
            }
        }
    }

    /// Returns true if the next token starts a statement instead of an operand.
    pub(super) fn starts_statement(&self) -> bool {
        match self.kind() {
            TokenKind::At | TokenKind::CloseBrace | TokenKind::End => true,
            TokenKind::Word => {
                self.ahead(1).kind == TokenKind::Colon || looks_like_mnemonic(self.word())
            }
            TokenKind::Directive => {
                BODY_DIRECTIVES.contains(&self.directive()) || self.starts_item()
            }
            _ => false,
        }
    }

    /// Returns true if the first operand is on the line after the mnemonic.
    ///
    /// nvcc puts the callee of a `call.uni` without results there. Otherwise a `;` is missing.
    pub(super) fn operand_on_next_line(&self, mnemonic: &str) -> bool {
        if TAKE_NOTHING.contains(&mnemonic) {
            return false;
        }
        let ahead = |n| self.ahead(n).kind;
        match self.kind() {
            // A callee can have the name of an instruction.
            TokenKind::Word => !self.starts_statement() || ahead(1) == TokenKind::Comma,
            // A vector, not a scope.
            TokenKind::OpenBrace => {
                ahead(1) == TokenKind::Word
                    && matches!(ahead(2), TokenKind::Comma | TokenKind::CloseBrace)
            }
            _ => !self.starts_statement(),
        }
    }

    /// Consumes the `;` of a statement.
    ///
    /// If it is missing and another statement clearly follows, reports the missing `;` and
    /// continues.
    pub(super) fn end_statement(&mut self) -> Parsed<()> {
        if self.eat(TokenKind::Semicolon) {
            return Ok(());
        }
        let next = self.peek();
        let opens =
            matches!(next.kind, TokenKind::Word | TokenKind::Directive | TokenKind::OpenBrace);
        if self.starts_statement() || next.after_newline && opens {
            self.report(
                Diagnostic::error("missing-semicolon", self.gap(), "expected `;` after statement")
                    .label("missing here")
                    .help("end every instruction and declaration with `;`"),
            );
            return Ok(());
        }
        Err(self.unexpected("unexpected-token", "`,` or `;`"))
    }

    /// Skips the rest of the faulty statement that starts at token `from`.
    pub(super) fn skip_statement(&mut self, from: usize) {
        let mut lists = std::mem::take(&mut self.lists);
        while !self.at_end() {
            let next = self.peek();
            let another = next.after_newline && self.at > from && self.starts_statement();
            if another && next.kind != TokenKind::CloseBrace {
                return;
            }
            match next.kind {
                TokenKind::Semicolon => {
                    self.bump();
                    return;
                }
                TokenKind::OpenBrace => lists += 1,
                TokenKind::CloseBrace if lists == 0 || self.closes_scope(next) => return,
                TokenKind::CloseBrace => lists -= 1,
                _ => {}
            }
            self.bump();
        }
    }

    /// Returns true if a `}` is alone on its line, so that it closes a scope.
    fn closes_scope(&self, brace: Token) -> bool {
        brace.after_newline
            && !matches!(self.ahead(1).kind, TokenKind::Semicolon | TokenKind::Comma)
    }

    /// Skips to the next top-level item.
    pub(super) fn skip_to_item(&mut self) {
        while !self.at_end() {
            let next = self.peek();
            let variable =
                next.after_newline && matches!(self.directive(), "global" | "const" | "section");
            if next.after_newline && self.starts_item() || variable {
                return;
            }
            let linkage = matches!(self.directive(), "visible" | "extern" | "weak" | "common");
            if next.after_newline && linkage {
                return;
            }
            self.bump();
        }
    }

    /// Skips a `{ .. }` with its contents, without recursion.
    pub(super) fn skip_braces(&mut self) {
        let mut open = 0usize;
        while !self.at_end() {
            match self.bump().kind {
                TokenKind::OpenBrace => open += 1,
                TokenKind::CloseBrace => open = open.saturating_sub(1),
                _ => {}
            }
            if open == 0 {
                return;
            }
        }
    }

    /// Reports all open braces as unclosed, in one diagnostic.
    pub(super) fn unclosed_braces(&mut self) {
        let open = std::mem::take(&mut self.open);
        let Some(&innermost) = open.last() else { return };
        let place = if self.at_end() { self.gap() } else { self.peek().span };
        let found = self.describe(self.peek());
        let message = match open.len() {
            1 => format!("expected `}}`, found {found}"),
            n => format!("expected `}}`, found {found}: {n} unclosed scopes"),
        };
        let mut error =
            Diagnostic::error("unclosed-brace", place, message).also(innermost, "opened here");
        if let [outermost, _, ..] = *open {
            error = error.also(outermost, "outermost scope opened here");
        }
        self.report(error.help("close the scope with `}`"));
    }

    /// Reports an unknown directive and suggests a similar one.
    pub(super) fn unknown_directive<'s>(
        &mut self,
        known: impl IntoIterator<Item = &'s str>,
        place: &str,
    ) -> Span {
        let token = self.peek();
        let word = self.directive();
        let message = format!("`.{word}` is not a valid directive {place}");
        let mut error = Diagnostic::error("unknown-directive", token.span, message);
        error.help = crate::diag::closest(word, known).map(|c| format!("did you mean `.{c}`?"));
        self.report(error);
        token.span
    }
}
